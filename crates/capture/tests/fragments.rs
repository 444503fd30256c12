//! A segment in IP fragments is one segment, as long as the whole datagram.

mod common;

use capture::{Info, LinkType, NewPacket, Options, Writer};
use common::{Scratch, header, ip, read_all, segment, tcp, tuple, tuple6, udp};
use wire::{Notes, Packet, Time};

/// IPv4 fragments of a TCP segment of 3000 bytes: `cuts` are offsets in the IP payload.
fn fragments(id: u16, cuts: &[usize]) -> Vec<Vec<u8>> {
    let payload = tcp(&tuple(), 9, 3000);
    let ends = cuts.iter().skip(1).copied().chain([payload.len()]);
    let pieces = cuts.iter().zip(ends).map(|(&from, to)| {
        let mut f = ip(&tuple(), 6, &payload[from..to]);
        let more = if to < payload.len() { 0x2000 } else { 0 };
        f[4..6].copy_from_slice(&id.to_be_bytes());
        f[6..8].copy_from_slice(&((from as u16 / 8) | more).to_be_bytes());
        f
    });
    pieces.collect()
}

/// Reads frames, each with its time in milliseconds.
fn read(name: &str, frames: &[(i64, &[u8])]) -> (Vec<Packet>, Info) {
    let mut w = Writer::pcap(Vec::new(), LinkType::RAW, 0).unwrap();
    for (ms, data) in frames {
        w.packet(&NewPacket { time: Time(ms * 1_000_000), data, ..NewPacket::default() }).unwrap();
    }
    let dir = Scratch::new(name);
    read_all(&[dir.file("a.pcap", &w.finish().unwrap())], &Options::default())
}

#[test]
fn fragments_in_any_order_are_one_segment_when_the_last_has_come() {
    let f = fragments(7, &[0, 1480, 2960]);
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let frames: Vec<(i64, &[u8])> =
            order.iter().enumerate().map(|(t, &i)| (t as i64, &f[i][..])).collect();
        let (packets, info) = read("any_order", &frames);
        assert_eq!(packets.len(), 1, "{order:?}");
        let p = &packets[0];
        assert_eq!((p.seg, p.number, p.time), (header(9, 3000), 3, Time(2_000_000)), "{order:?}");
        assert_eq!(p.notes, Notes::FRAGMENTED);
        assert_eq!((info.others.fragments, info.tcp_packets, info.reassembled), (2, 1, 1));
    }
}

#[test]
fn a_segment_whose_end_never_comes_has_the_length_known_so_far() {
    let f = fragments(7, &[0, 1480, 2960]);
    let later = segment(&tuple(), 5000, 10);
    let (packets, info) = read("never_comes", &[(0, &f[0]), (1, &f[1]), (5000, &later)]);
    let seen = |p: &Packet| (p.number, p.seg.payload, p.notes.has(Notes::FRAGMENTED));
    let mut all: Vec<_> = packets.iter().map(seen).collect();
    all.sort();
    assert_eq!(all, [(1, 2960 - 44, true), (3, 10, false)]);
    assert_eq!((info.packets, info.tcp_packets, info.others.fragments), (3, 2, 1));
}

#[test]
fn datagrams_are_told_apart_by_their_identification() {
    let (a, b) = (fragments(1, &[0, 1480]), fragments(2, &[0, 800]));
    let (packets, _) = read("told_apart", &[(0, &a[0]), (0, &b[0]), (0, &b[1]), (0, &a[1])]);
    assert_eq!(packets.iter().map(|p| (p.number, p.ip_id)).collect::<Vec<_>>(), [(3, 2), (4, 1)]);
}

#[test]
fn fragments_of_ipv6_are_put_together_too() {
    let payload = tcp(&tuple6(), 9, 2000);
    let piece = |from: usize, to: usize, more: u16| {
        let place = (from as u16 | more).to_be_bytes();
        ip(&tuple6(), 44, &[&[6, 0], &place[..], &[0, 0, 1, 1], &payload[from..to]].concat())
    };
    let (first, last) = (piece(0, 1232, 1), piece(1232, payload.len(), 0));
    let (packets, _) = read("ipv6", &[(0, &last), (0, &first)]);
    assert_eq!(packets.len(), 1);
    assert_eq!(packets[0].seg, header(9, 2000));
}

#[test]
fn the_first_fragment_of_a_tunnel_holds_all_that_is_needed() {
    let inner = common::ethernet(0x0800, &segment(&tuple(), 9, 1400));
    let datagram = udp(4789, &[&[8, 0, 0, 0, 0, 0, 1, 0], &inner[..]].concat());
    let mut first = ip(&tuple(), 17, &datagram[..800]);
    first[6] = 0x20;
    let mut last = ip(&tuple(), 17, &datagram[800..]);
    last[6..8].copy_from_slice(&100u16.to_be_bytes());
    let (packets, info) = read("tunnel", &[(0, &first), (0, &last)]);
    assert_eq!(packets.len(), 1);
    assert_eq!(packets[0].seg, header(9, 1400));
    assert_eq!(info.others.fragments, 1);
}

#[test]
fn a_flood_of_first_fragments_takes_no_memory_and_loses_nothing() {
    let mut frames = Vec::new();
    for id in 0..2000u16 {
        frames.push(fragments(id, &[0, 1480]).remove(0));
    }
    let frames: Vec<(i64, &[u8])> = frames.iter().map(|f| (0, &f[..])).collect();
    let (packets, info) = read("flood", &frames);
    assert_eq!((packets.len(), info.tcp_packets, info.others.fragments), (2000, 2000, 0));
}

#[test]
fn fragments_beyond_a_datagram_are_malformed() {
    let mut f = fragments(7, &[0, 1480]).remove(1);
    f[6..8].copy_from_slice(&0x1fff_u16.to_be_bytes());
    let (packets, info) = read("beyond", &[(0, &f)]);
    assert_eq!((packets.len(), info.malformed.count), (0, 1));
}
