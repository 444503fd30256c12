//! What released each packet of new data, where data arrives: each as a timeline of a path of 40 ms.

mod story;

use analysis::rows::{Release, Vantage};
use story::{MSS, Story, opened};

/// What passes where data arrives, in order of time: a segment with its timestamp and what it echoes, or an ACK.
enum Passes {
    Data { sent_ms: u32, heard_ms: u32, len: u32, more: bool },
    Ack { ms: u32, upto: u32 },
}

/// The story of these events, and what each segment of new data was released by.
fn released(mut events: Vec<(u64, Passes)>) -> Vec<Release> {
    events.sort_by_key(|(at, what)| (*at, matches!(what, Passes::Ack { .. })));
    let mut t: Story = opened(Vantage::Receiver).stamped();
    let (mut next, mut id) = (1, 100);
    for (at, what) in events {
        t = t.at_us(at);
        t = match what {
            Passes::Data { sent_ms, heard_ms, len, more } => {
                (next, id, t) = (next + len, id + 1, t.id(id));
                let t = if more { t.amid_data(next - len, len) } else { t.data(next - len, len) };
                t.left(sent_ms).echoing(heard_ms)
            }
            Passes::Ack { ms, upto } => t.ack(1 + upto).left(ms),
        };
    }
    let rows = t.ends().rows;
    rows.packets.iter().filter(|p| p.data && p.len > 0).filter_map(|p| p.release).collect()
}

fn share(told: &[Release], of: Release) -> f64 {
    told.iter().filter(|r| **r == of).count() as f64 / told.len() as f64
}

/// Pairs of segments that leave every `every` µs and take 300 µs each on the slowest link; each pair is acknowledged as it
/// comes.
fn pairs(n: u64, every: u64) -> Vec<(u64, Passes)> {
    let mut events = Vec::new();
    for k in 0..n {
        let left = 100_000 + k * every;
        let came = left + 20_000;
        // The last ACK that had reached the sender left 20 ms before the pair, or more.
        let heard = (left - 20_000 - 300) / every * every;
        let heard = if left < 140_300 { 0 } else { heard };
        for second in [0, 1] {
            let [sent_ms, heard_ms] = [left, heard].map(|us| (us / 1000) as u32);
            let more = Passes::Data { sent_ms, heard_ms, len: MSS, more: true };
            events.push((came + second * 300, more));
        }
        events.push((
            came + 300,
            Passes::Ack { ms: ((came + 300) / 1000) as u32, upto: (k as u32 + 1) * 2 * MSS },
        ));
    }
    events
}

#[test]
fn pairs_at_equal_distances_leave_at_the_senders_pace() {
    for every in [3_000, 5_000, 8_000] {
        let told = released(pairs(200, every));
        // The sender's clock is known after a tenth of a second, and the pace after eight pairs.
        let known = share(&told[120..], Release::Pace);
        assert!(known > 0.95, "every {every} µs: {known:.2}");
    }
}

#[test]
fn pairs_that_come_as_close_as_the_link_lets_them_do_not() {
    let told = released(pairs(200, 600));
    assert!(share(&told, Release::Pace) < 0.05, "{:.2}", share(&told, Release::Pace));
}

#[test]
fn small_messages_behind_each_other_left_as_they_were_written() {
    // A message of 500 bytes every 7 ms, each acknowledged: some are always outstanding.
    let mut events = Vec::new();
    for k in 0..200u64 {
        let left = 100_000 + k * 7_000;
        let came = left + 20_000;
        let [sent_ms, heard_ms] = [left, left - 20_000].map(|us| (us / 1000) as u32);
        events.push((came, Passes::Data { sent_ms, heard_ms, len: 500, more: false }));
        events.push((came, Passes::Ack { ms: (came / 1000) as u32, upto: (k as u32 + 1) * 500 }));
    }
    let told = released(events);
    assert!(share(&told, Release::Write) > 0.95, "{:.2}", share(&told, Release::Write));
}
