//! Two captures between which packets are cut, merged or rewritten: offloads, the MSS, options of SYNs.

mod join_support;

use analysis::join::{Side, Warning};
use join_support::synthetic::{MSS, Path, Story, upload};
use join_support::{is_exact, join, lost, warned};
use wire::{Flags, Packet, Span};

fn zero_timestamps(p: &mut Packet) {
    p.seg.timestamps = Some(wire::Timestamps { val: 1, ecr: 1 });
}

/// What segmentation offload shows at the sender: runs of new data, up to ten segments, in one packet.
fn offload(story: &mut Story) {
    let mut merged: Vec<(Packet, Vec<u64>)> = Vec::new();
    for p in &story.captures[0] {
        if p.tuple == upload() && p.seg.payload > 0 {
            let fits = |(m, parts): &&mut (Packet, Vec<u64>)| {
                m.tuple == p.tuple
                    && m.seg.seq + m.seg.payload == p.seg.seq
                    && m.ip_id.wrapping_add(parts.len() as u16) == p.ip_id
                    && parts.len() < 10
            };
            if let Some((m, parts)) =
                merged.iter_mut().rev().find(|(m, _)| m.tuple == upload()).as_mut().filter(|m| fits(m))
            {
                m.seg.payload += p.seg.payload;
                parts.push(p.number);
                continue;
            }
        }
        merged.push((*p, vec![p.number]));
    }
    story.captures[0] = merged.iter().map(|(p, _)| *p).collect();
}

#[test]
fn super_packets_at_one_side_are_compared_by_their_segments() {
    // segments of one super-packet carry one time stamp
    let mut story = Path { rewrite: |p| zero_timestamps(p), ..Path::default() }.story();
    story.captures[0].iter_mut().for_each(zero_timestamps);
    let bytes_lost = story.lost[0].len() as u64 * u64::from(MSS);
    offload(&mut story);
    assert!(story.captures[0].iter().any(|p| p.seg.payload > 5 * MSS));
    let joined = join(&story.captures);
    assert_eq!(joined.sender.lost.iter().map(|l| u64::from(l.bytes)).sum::<u64>(), bytes_lost);
    assert_eq!(lost(&joined, Side::Receiver), story.lost[1]);
    assert!(warned(&joined, |w| matches!(w, Warning::Offloads { side: Side::Sender, .. })));
}
/// Neither end sends timestamps, and the ends allow segments of different sizes: both send the smaller one.
#[test]
fn super_packets_are_cut_at_the_smaller_mss_where_no_timestamps_are_sent() {
    let rewrite = |p: &mut Packet| p.seg.timestamps = None;
    let mut story =
        Path { packets: 9, lost_one_in: 0, repeats_one_in: 0, rewrite, ..Path::default() }.story();
    story.captures[0].iter_mut().for_each(rewrite);
    for p in story.captures.iter_mut().flatten().filter(|p| p.seg.flags == wire::Flags::SYN) {
        p.seg.mss = Some(MSS as u16);
    }
    offload(&mut story);
    assert_eq!(story.captures[0].iter().filter(|p| p.seg.payload == 9 * MSS).count(), 1);
    let joined = is_exact(&story);
    assert_eq!(joined.receiver.not_captured + joined.sender.not_captured, 0);
}

/// What is said of packets counts packets: a super-packet is one, however many pieces of it were lost or came too early.
#[test]
fn a_super_packet_counts_once() {
    let mut story =
        Path { lost_one_in: 0, repeats_one_in: 0, rewrite: zero_timestamps, ..Path::default() }.story();
    story.captures[0].iter_mut().for_each(zero_timestamps);
    offload(&mut story);
    let whole = story.captures[1].clone();
    // The second and the fourth segment of one super-packet are lost.
    let big = story.captures[0].iter().filter(|p| p.seg.payload == 10 * MSS).nth(20).copied().unwrap();
    let gone = [big.seg.seq + MSS, big.seg.seq + 3 * MSS];
    story.captures[1].retain(|p| !gone.contains(&p.seg.seq) || p.seg.payload == 0);
    let joined = join(&story.captures);
    assert_eq!((joined.sender.lost.len(), joined.sender.lost_packets()), (2, 1));
    // The receiver's capture begins a minute after the first packets of the sender's.
    let first = 300;
    let from = story.captures[0][first].time;
    story.captures[1] = whole;
    story.captures[1].retain(|p| p.time >= from + Span::from_millis(10));
    story.captures[0][..first].iter_mut().for_each(|p| p.time = p.time - Span::from_secs(60));
    let joined = join(&story.captures);
    assert_eq!(joined.sender.lost, []);
    let outside = joined.sender.outside as usize;
    assert!((first..first + 25).contains(&outside), "{outside}");
}

/// What a router or a firewall may do to a SYN that passes it.
#[test]
fn options_that_a_syn_loses_on_its_way_are_told() {
    let story = Path { packets: 200, ..Path::default() }.story();
    assert!(!warned(&join(&story.captures), |w| matches!(w, Warning::Rewritten { .. })));
    type Change = fn(&mut Packet);
    let change: [(Change, &str); 3] = [
        (|p| p.seg.mss = Some(1380), "MSS 1460 became 1380"),
        (|p| p.seg.mss = None, "the MSS was taken out"),
        (|p| p.seg.timestamps = None, "the timestamps option was taken out"),
    ];
    for (change, said) in change {
        // The SYN on its way to the receiver's side, then the SYN-ACK on its way to the sender's, then both.
        for sides in [vec![1], vec![0], vec![0, 1]] {
            let mut captures = story.captures.clone();
            for &side in &sides {
                let arrives = |p: &&mut Packet| {
                    p.seg.flags.has(Flags::SYN) && p.seg.flags.has(Flags::ACK) == (side == 0)
                };
                captures[side].iter_mut().filter(arrives).for_each(&change);
            }
            let joined = join(&captures);
            let told: Vec<String> = joined.warnings.iter().map(Warning::to_string).collect();
            let directions = if sides.len() == 1 { "1 direction" } else { "2 directions" };
            assert!(told.iter().any(|w| w.contains(said) && w.contains(directions)), "{sides:?}: {told:?}");
        }
    }
}
