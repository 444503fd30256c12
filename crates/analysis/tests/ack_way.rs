//! ACKs on their way: those that something holds back, loops of them, and SACK blocks of data that nobody sent.

mod story;

use analysis::rows::Vantage;
use story::{MSS, Story, opened};

/// A segment every 10 ms, each answered 40 ms later by an ACK that was sent 20 ms after the segment.
fn answered_each(mut t: Story, n: u32, came: impl Fn(u64) -> u64) -> Story {
    let mut events: Vec<(u64, u32, bool)> = Vec::new();
    for k in 0..n {
        let sent = 100 + 10 * u64::from(k);
        events.push((sent, k, true));
        events.push((came(sent + 40), k, false));
    }
    events.sort_by_key(|(at, k, data)| (*at, !data, *k));
    for (at, k, data) in events {
        let acked = 100 + 10 * k + 20;
        t = if data { t.at(at).data(1 + k * MSS, MSS) } else { t.at(at).ack(1 + (k + 1) * MSS).left(acked) };
    }
    t
}

#[test]
fn acks_that_come_together_though_they_were_sent_apart_were_held() {
    for period in [50, 80, 120] {
        let t = opened(Vantage::Sender).stamped();
        let told = answered_each(t, 200, |at| at.div_ceil(period) * period).ends();
        let groups = 2000 / period;
        let held = told.flow.ack_way.held;
        // The first of each group comes at a time of its own; the clock of the timestamps is known after a few of them.
        assert!((140..=200 - groups).contains(&held), "every {period} ms: {held}");
    }
}

#[test]
fn acks_that_come_as_they_were_sent_were_not_held() {
    for late in [0, 5, 400] {
        // A path that takes longer and longer spreads them.
        let t = opened(Vantage::Sender).stamped();
        let told = answered_each(t, 200, |at| at + at * late / 2000).ends();
        assert_eq!(told.flow.ack_way.held, 0, "{late}");
    }
    // Without timestamps nothing tells a held ACK from data that was held.
    let told = answered_each(opened(Vantage::Sender), 200, |at| at.div_ceil(80) * 80).ends();
    assert_eq!(told.flow.ack_way.held, 0);
}

#[test]
fn two_hosts_that_answer_each_others_acks_are_in_a_loop() {
    for n in [4, 20, 60] {
        let mut t = opened(Vantage::Sender).at(30).data(1, MSS).at(50).ack(1 + MSS).at(60).data(1 + MSS, MSS);
        t = t.at(80).ack(1 + 2 * MSS);
        for k in 0..n {
            t = t.at(100 + 20 * k).bare(1 + 2 * MSS).at(110 + 20 * k).ack(1 + 2 * MSS);
        }
        let looped = t.ends().flow.ack_way.looped;
        assert_eq!(looped > 0, n > 4, "{n}: {looped}");
        assert!(n == 4 || looped + 2 >= n, "{n}: {looped}");
    }
}

#[test]
fn a_closed_window_that_both_hosts_talk_of_without_a_pause_is_a_loop_and_one_that_is_probed_is_none() {
    let looped = |every_us: u64| {
        let mut t = opened(Vantage::Sender).at(30).data(1, MSS).at(50).window(0).ack(1 + MSS);
        for k in 0..50 {
            let at = 60_000 + k * every_us;
            t = t.at_us(at).bare(1 + MSS).at_us(at + every_us / 2).ack(1 + MSS);
        }
        t.ends().flow.ack_way.looped
    };
    assert!(looped(160) >= 45, "{}", looped(160));
    assert_eq!((looped(100_000), looped(500_000)), (0, 0));
}

#[test]
fn keep_alives_and_duplicate_acks_are_no_loop() {
    let mut t = opened(Vantage::Sender).at(30).data(1, MSS).at(50).ack(1 + MSS);
    for k in 1..40 {
        t = t.at(1000 * k).keep_alive(MSS).at(1000 * k + 20).ack(1 + MSS);
    }
    assert_eq!(t.ends().flow.ack_way.looped, 0);
    let mut t = opened(Vantage::Sender);
    for k in 0..40u32 {
        t = t.at(60 + u64::from(k)).data(1 + k * MSS, MSS);
    }
    for k in 0..40 {
        t = t.at(110 + k).ack(1);
    }
    assert_eq!(t.ends().flow.ack_way.looped, 0);
}

/// Twenty segments of which the first is lost; a firewall numbers the data anew by `by` and leaves the blocks as they were.
fn renumbered(by: u32) -> u64 {
    let mut t = opened(Vantage::Sender).sack_permitted().window(60_000);
    for k in 0..20u32 {
        t = t.at(30).data(1 + k * MSS, MSS);
    }
    for k in 1..20u32 {
        t = t
            .at(50 + u64::from(k))
            .sack(1, &[((1 + MSS).wrapping_add(by), (1 + (k + 1) * MSS).wrapping_add(by))]);
    }
    t.at(90).data(1, MSS).at(110).ack(1 + 20 * MSS).ends().flow.ack_way.sack_of_nothing
}

#[test]
fn blocks_of_another_numbering_are_of_data_that_nobody_sent() {
    for by in [1_000_000, 0x2000_0000, 0x7000_0000, 0x9000_0000, u32::MAX - 1_000_000] {
        assert_eq!(renumbered(by), 19, "{by:#x}");
    }
    assert_eq!(renumbered(0), 0);
}

#[test]
fn a_block_of_what_arrived_twice_is_of_data_that_was_sent() {
    let mut t = opened(Vantage::Sender).sack_permitted();
    for k in 0..20u32 {
        t = t.at(30 + u64::from(k)).data(1 + k * MSS, MSS).at(50 + u64::from(k)).ack(1 + (k + 1) * MSS);
    }
    t = t.at(300).data(1, MSS).at(320).sack(1 + 20 * MSS, &[(1, 1 + MSS)]);
    assert_eq!(t.ends().flow.ack_way.sack_of_nothing, 0);
}
