//! One-way agents' packets as captures hold them: with headers that they would have had.

mod support;

use sim::Rows;
use support::{run, scenario};
use wire::{Flags, Packet};

/// What the sender's node saw: a transfer over a link that loses packets 0 and 7, and the first ACK.
fn seen(stack: &str) -> Vec<Packet> {
    let text = format!(
        "name = \"t\"\nduration = \"60s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\n\
         between = [\"a\", \"b\"]\nrate = \"1Mbps\"\ndelay = \"20ms\"\n\
         [[link.channel]]\nname = \"there\"\nkind = \"list\"\npackets = [0, 8]\ndirection = \"forward\"\n\
         [[link.channel]]\nname = \"back\"\nkind = \"list\"\npackets = [0]\ndirection = \"back\"\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"{stack}\"\n\
         workload = {{ kind = \"file\", size = \"100kB\" }}\n\
         [record]\ncapture = [\"a\"]\nretransmissions = true\n"
    );
    let (_, rows): (_, Rows) = run(&scenario(&text), 1);
    rows.packets.into_iter().map(|(_, p)| p).collect()
}

const STACKS: [&str; 7] =
    ["ns2.35-tahoe", "ns2.35-reno", "ns2.35-newreno", "ns2.35-sack", "ns2.35-vegas", "ns2-reno", "ns2-vegas"];

/// Whatever is acknowledged had left before, and no byte is left out in between.
#[test]
fn the_sequence_space_has_no_hole() {
    for stack in STACKS {
        let (mut next, mut packets) = (None, 0);
        for p in seen(stack) {
            if p.seg.payload > 0 || p.seg.flags.has(Flags::SYN) && !p.seg.flags.has(Flags::ACK) {
                let reached = next.unwrap_or(p.seg.seq.0);
                assert!(p.seg.seq.0 <= reached, "{stack}: {} follows {reached}", p.seg.seq.0);
                next = Some(reached.max(p.seg.seq.0 + p.seg.seq_len()));
                packets += 1;
            } else {
                assert!(Some(p.seg.ack.0) <= next, "{stack}: {:?} acknowledges what was not sent", p.seg);
            }
        }
        assert!(packets > 100, "{stack}: {packets} packets");
    }
}

/// ns-2.35's first packet is a SYN, sent again where it was lost, and the sink's answers to it are SYN-ACKs.
#[test]
fn what_stands_for_the_syn_is_one() {
    for stack in &STACKS[..4] {
        let packets = seen(stack);
        let syns: Vec<&Packet> = packets.iter().filter(|p| p.seg.flags.has(Flags::SYN)).collect();
        let acked: Vec<bool> = syns.iter().map(|p| p.seg.flags.has(Flags::ACK)).collect();
        // Lost, answered by an ACK that is lost, answered.
        assert_eq!(acked, [false, false, false, true], "{stack}");
        assert_eq!(packets[3], *syns[3], "{stack}: they come first");
        assert!(syns.iter().all(|p| p.seg.payload == 0 && p.seg.window_scale.is_some()), "{stack}");
        assert_eq!(syns[3].seg.ack.0, packets[4].seg.seq.0, "{stack}: data follow at once");
        assert_eq!(syns[0].seg.sack_permitted, *stack == "ns2.35-sack");
    }
    assert!(seen("ns2-reno").iter().all(|p| !p.seg.flags.has(Flags::SYN)));
}
