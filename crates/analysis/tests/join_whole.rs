//! Two captures that lack nothing, of a run that ended while packets were inside the network.

mod join_support;

use analysis::join::{Joiner, Side};
use analysis::rows::Vantage;
use analysis::{Analyzer, Config, Fate, Rows};
use join_support::synthetic::{MS, Path, Story, upload};
use wire::{Packet, Span};

/// A transfer without losses of which the network holds the `held`th data packet until after the end, although its
/// sender repairs it: the held copy and its repair in the sender's capture, the repair alone in the receiver's.
fn held_and_repaired(held: usize) -> (Story, Packet) {
    let mut story = Path { packets: 300, lost_one_in: 0, ..Path::default() }.story();
    let copy = *story.captures[0].iter().filter(|p| p.seg.payload > 0).nth(held).unwrap();
    story.captures[1].retain(|p| p.seg.payload == 0 || p.ip_id != copy.ip_id);
    for (side, after) in [(0, 100 * MS), (1, 110 * MS)] {
        let time = copy.time + Span(after);
        let capture = &mut story.captures[side];
        let at = capture.partition_point(|p| p.time < time);
        capture.insert(at, Packet { time, ip_id: copy.ip_id ^ 0x8000, ..copy });
        for (i, p) in capture.iter_mut().enumerate() {
            p.number = i as u64 + 1;
        }
    }
    let copy = *story.captures[0].iter().find(|p| p.ip_id == copy.ip_id && p.seg.payload > 0).unwrap();
    (story, copy)
}

/// The fate of `copy`, and how many copies the analysis says were lost, if so much is told of the end.
fn told(story: &Story, copy: &Packet, under_way: &[(Side, Packet)]) -> (Fate, u64) {
    let mut joiner = Joiner::of_complete_captures(story.captures[0][0].time);
    for side in Side::BOTH {
        joiner.push(side, &story.captures[side as usize]);
    }
    let end = story.captures[1].last().unwrap().time;
    let mut joined = joiner.finish_complete(end, under_way);
    let fate = joined.fate(copy);
    let config = Config { vantage: Some(Vantage::Both), ..Config::default() };
    let mut analyzer = Analyzer::new(config, Rows::default());
    for p in &story.captures[0] {
        analyzer.push_with_fate(p, joined.fate(p));
    }
    let (_, rows) = analyzer.finish();
    let flow = rows.flows.into_iter().find(|f| f.sender == upload().src).unwrap();
    (fate, flow.lost_copies.unwrap())
}

#[test]
fn a_copy_inside_the_network_at_the_end_is_not_lost_although_it_was_repaired() {
    let (story, copy) = held_and_repaired(200);
    assert_eq!(told(&story, &copy, &[(Side::Receiver, copy)]), (Fate::UnderWay, 0));
    assert_eq!(told(&story, &copy, &[]), (Fate::Lost, 1), "a copy that is nowhere");
}
