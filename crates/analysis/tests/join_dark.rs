//! The path goes dark and stays so: the receiver's capture ends with the last packet that came, and does not say whether
//! it went on. What the sender's side hears from then on does.

mod join_support;

use analysis::join::Side;
use analysis::rows::Vantage;
use analysis::{Analyzer, Config, Fate, Rows};
use join_support::synthetic::{MSS, Path, Story, upload};
use join_support::{join, lost};
use std::collections::BTreeSet;
use wire::{Flags, Packet, Span, Time};

/// A path of 20 ms there and back on which nothing gets through from this packet of the sender's on.
fn dark_from(nth: usize) -> (Story, Time) {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    let dark = story.captures[0].iter().filter(|p| p.seg.payload > 0).nth(nth).unwrap().time;
    let outward = |p: &Packet| p.tuple == upload();
    // Both ways nothing that leaves later arrives; the receiver's packets are told by when they come here.
    let came_by = dark + Span::from_millis(10);
    story.captures[1].retain(|p| p.time < if outward(p) { came_by } else { dark });
    story.captures[0].retain(|p| outward(p) || p.time < came_by);
    number(&mut story.captures[0]);
    (story, dark)
}

fn number(capture: &mut [Packet]) {
    capture.iter_mut().enumerate().for_each(|(i, p)| p.number = i as u64 + 1);
}

/// Data that left at `from` or later, and so long before the end of the sender's capture that its answer would have come.
fn data_since(story: &Story, from: Time, unanswered_for: Span) -> BTreeSet<u64> {
    let end = story.captures[0].last().unwrap().time - unanswered_for;
    let data = story.captures[0].iter().filter(|p| p.seg.payload > 0 && (from..=end).contains(&p.time));
    data.map(|p| p.number).collect()
}

/// The longest that an ACK is put off (RFC 8985 §7.2), and the way there and back.
fn longest_answer() -> Span {
    Span::from_millis(200 + 20)
}

#[test]
fn what_nobody_answers_to_the_end_is_lost_with_its_repairs() {
    let (story, dark) = dark_from(2000);
    let mut joined = join(&story.captures);
    let gone = data_since(&story, dark, longest_answer());
    assert!(gone.len() > 900, "{}", gone.len());
    assert_eq!(lost(&joined, Side::Sender), gone);
    assert_eq!(joined.sender.not_captured, 0);
    // One burst, as long as it was, of what the sender gave up and of what it had not come to.
    let config = Config { vantage: Some(Vantage::Both), ..Config::default() };
    let mut analyzer = Analyzer::new(config, Rows::default());
    for p in &story.captures[0] {
        analyzer.push_with_fate(p, joined.fate(p));
    }
    let (_, rows) = analyzer.finish();
    let bursts: Vec<_> = rows.bursts.iter().map(|b| b.lost_copies).collect();
    assert_eq!(bursts, [Some(gone.len() as u32)]);
}

#[test]
fn what_left_so_late_that_its_answer_was_still_to_come_stays_unknown() {
    let (mut story, dark) = dark_from(2000);
    let end = dark + Span::from_millis(300);
    story.captures[0].retain(|p| p.time <= end);
    let mut joined = join(&story.captures);
    let gone = data_since(&story, dark, longest_answer());
    assert!((60..100).contains(&gone.len()), "{}", gone.len());
    assert_eq!(lost(&joined, Side::Sender), gone);
    let last = *story.captures[0].last().unwrap();
    assert_eq!((last.tuple, joined.fate(&last)), (upload(), Fate::Unknown));
}

/// The sender hears from the receiver: that one's capture was stopped.
#[test]
fn one_answer_from_after_the_end_leaves_all_unknown() {
    let (mut story, dark) = dark_from(2000);
    let ack = *story.captures[0].iter().rfind(|p| p.tuple != upload()).unwrap();
    for other_connection in [false, true] {
        let mut late = Packet { time: dark + Span::from_millis(700), ip_id: ack.ip_id + 1, ..ack };
        late.seg.ack = late.seg.ack + MSS;
        if other_connection {
            (late.tuple.src.port, late.tuple.dst.port, late.seg.flags) =
                (81, 999, Flags::SYN.with(Flags::ACK));
        }
        let at = story.captures[0].partition_point(|p| p.time < late.time);
        let mut captures = story.captures.clone();
        captures[0].insert(at, late);
        number(&mut captures[0]);
        assert_eq!(lost(&join(&captures), Side::Sender), BTreeSet::new(), "{other_connection}");
    }
    // A stranger's packet tells nothing.
    let mut stranger = Packet { time: dark + Span::from_millis(700), ..ack };
    stranger.tuple.src.host = wire::Host::v4([10, 9, 9, 9]);
    let at = story.captures[0].partition_point(|p| p.time < stranger.time);
    story.captures[0].insert(at, stranger);
    number(&mut story.captures[0]);
    assert_eq!(lost(&join(&story.captures), Side::Sender), data_since(&story, dark, longest_answer()));
}

/// A timer that doubles goes on for long after the other capture has been read to its end.
#[test]
fn a_timers_copies_long_after_the_end_are_lost_too() {
    let (mut story, dark) = dark_from(2000);
    let head = *story.captures[0].iter().find(|p| p.seg.payload > 0 && p.time >= dark).unwrap();
    story.captures[0].retain(|p| p.time < dark + Span::from_millis(50));
    for (i, after) in [2, 6, 14, 30, 62].into_iter().enumerate() {
        let time = dark + Span::from_secs(after);
        story.captures[0].push(Packet { time, ip_id: head.ip_id.wrapping_add(7000 + i as u16), ..head });
    }
    number(&mut story.captures[0]);
    let joined = join(&story.captures);
    let gone = data_since(&story, dark, longest_answer());
    assert_eq!(lost(&joined, Side::Sender), gone);
    assert_eq!((joined.sender.outside, gone.len()), (1, 50 + 4), "but for the last of all");
}

/// Nobody answers an ACK: nothing is known of those that the receiver sent after the sender's capture had ended.
#[test]
fn acks_from_after_the_end_of_the_senders_capture_stay_unknown() {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    let end = story.captures[0][3000].time;
    story.captures[0].retain(|p| p.time < end);
    story.captures[1].retain(|p| p.tuple != upload() || p.time < end + Span::from_millis(10));
    number(&mut story.captures[1]);
    let joined = join(&story.captures);
    assert_eq!((joined.receiver.lost.len(), joined.sender.lost.len()), (0, 0));
    assert!(joined.receiver.outside > 900, "{}", joined.receiver.outside);
}
