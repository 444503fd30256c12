//! Frames of 802.11, bare or with what drivers put before them, lead to the segments in them.

mod common;

use capture::{Info, LinkType, Options, Tunnel};
use common::{Scratch, header, pcap, read_all, segment, tuple, tuple6};
use wire::Packet;

const SEQ: u32 = 4242;
const DATA: u8 = 0x08;
const QOS: u8 = 0x88;
const BOTH: u8 = 3;
const PROTECTED: u8 = 0x40;
const HTC: u8 = 0x80;
const AGGREGATED: [u8; 2] = [0x80, 0];

fn read(link: u16, frames: &[Vec<u8>]) -> (Vec<Packet>, Info) {
    let unique = std::thread::current().name().unwrap_or("test").replace("::", "-");
    let dir = Scratch::new(&unique);
    read_all(&[dir.file("a.pcap", &pcap(LinkType(link), frames))], &Options::default())
}

/// A frame's header with what follows the addresses, and its body.
fn frame(kind: u8, flags: u8, rest: &[u8], body: &[u8]) -> Vec<u8> {
    let addresses = if flags & BOTH == BOTH { 6 } else { 0 };
    [&[kind, flags, 0, 0][..], &[2; 18], &[0x50, 0x01], &vec![2; addresses], rest, body].concat()
}
fn llc(kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
    [&[0xaa, 0xaa, 3, 0, 0, 0][..], &kind, payload].concat()
}
fn v4(seq: u32) -> Vec<u8> {
    llc([8, 0], &segment(&tuple(), seq, 100))
}
fn v6(seq: u32) -> Vec<u8> {
    llc([0x86, 0xdd], &segment(&tuple6(), seq, 100))
}
fn subframe(body: &[u8], last: bool) -> Vec<u8> {
    let mut all = [&[2; 12][..], &(body.len() as u16).to_be_bytes(), body].concat();
    all.resize(if last { all.len() } else { all.len().next_multiple_of(4) }, 0);
    all
}

#[test]
fn every_header_before_a_frame_leads_to_the_segment() {
    let plain = frame(DATA, 1, &[], &v4(SEQ));
    let radiotap = |fields: &[u8], frame: &[u8]| {
        let length = (fields.len() as u16 + 4).to_le_bytes();
        [&[0, 0][..], &length, fields, frame].concat()
    };
    let with_fcs = [&plain[..], &[0xde, 0xad, 0xbe, 0xef]].concat();
    let clock_and_flags = [&[3, 0, 0, 0x80, 0, 0, 0, 0], &[0; 4][..], &[9; 8], &[0x10]].concat();
    let prism = [&[0x44, 0, 0, 0, 144, 0, 0, 0][..], &[0; 136], &plain].concat();
    let avs = [&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64][..], &[0; 56], &plain].concat();
    let common = [&[2, 0, 20, 0][..], &[0; 8], &[1, 0], &[0; 10]].concat();
    let ppi = [&[0, 0, 32, 0, 105, 0, 0, 0][..], &common, &with_fcs].concat();
    let cases = [
        ("bare", 105, plain.clone()),
        ("IPv6", 105, frame(DATA, 2, &[], &v6(SEQ))),
        ("four addresses", 105, frame(DATA, BOTH, &[], &v4(SEQ))),
        ("QoS", 105, frame(QOS, 1, &[6, 0], &v4(SEQ))),
        ("QoS, four addresses", 105, frame(QOS, BOTH, &[6, 0], &v4(SEQ))),
        ("QoS with HT control", 105, frame(QOS, 1 | HTC, &[6, 0, 1, 2, 3, 4], &v4(SEQ))),
        ("repeated", 105, frame(QOS, 1 | 8, &[6, 0], &v4(SEQ))),
        ("decrypted, bit left", 105, frame(QOS, 1 | PROTECTED, &[6, 0], &v4(SEQ))),
        (
            "decrypted, header left",
            105,
            frame(QOS, 1 | PROTECTED, &[6, 0], &[&[7; 8][..], &v4(SEQ)].concat()),
        ),
        ("radiotap without fields", 127, radiotap(&[0, 0, 0, 0], &plain)),
        ("radiotap, FCS", 127, radiotap(&[2, 0, 0, 0, 0x10], &with_fcs)),
        ("radiotap, two words, clock before flags, FCS", 127, radiotap(&clock_and_flags, &with_fcs)),
        ("radiotap, padded", 127, radiotap(&[2, 0, 0, 0, 0x20], &frame(QOS, 1, &[6, 0, 0, 0], &v4(SEQ)))),
        ("Prism", 119, prism),
        ("AVS in Prism's type", 119, avs.clone()),
        ("AVS", 163, avs),
        ("PPI, FCS", 192, ppi),
        ("PPI around raw IP", 192, [&[0, 0, 8, 0, 101, 0, 0, 0], &segment(&tuple(), SEQ, 100)[..]].concat()),
    ];
    for (name, link, frame) in cases {
        let (packets, info) = read(link, std::slice::from_ref(&frame));
        assert_eq!(packets.len(), 1, "{name}: {info:?}");
        let p = &packets[0];
        let ends = if p.tuple.src.host.is_v4() { tuple() } else { tuple6() };
        assert_eq!((p.tuple, p.seg, p.number), (ends, header(SEQ, 100), 1), "{name}");
        assert!(LinkType(link).is_supported() && LinkType(link).name().is_some(), "{name}");
    }
}

#[test]
fn each_segment_of_an_aggregate_is_given_and_the_frame_is_one() {
    let arp = llc([8, 6], &[0; 28]);
    let bodies: Vec<Vec<u8>> = (0..9).map(|i| if i == 4 { arp.clone() } else { v4(SEQ + 100 * i) }).collect();
    let aggregate: Vec<u8> = bodies.iter().enumerate().flat_map(|(i, b)| subframe(b, i == 8)).collect();
    // Batches hold seven: the aggregate's eight segments do not fit one.
    let frames = [frame(QOS, 1, &AGGREGATED, &aggregate), frame(DATA, 1, &[], &v4(SEQ + 900))];
    let (packets, info) = read(105, &frames);
    let seqs: Vec<u32> = packets.iter().map(|p| p.seg.seq.0 - SEQ).collect();
    assert_eq!(seqs, [0, 100, 200, 300, 500, 600, 700, 800, 900]);
    assert!(packets.iter().all(|p| p.seg.payload == 100 && p.tuple == tuple()));
    let numbers: Vec<u64> = packets.iter().map(|p| p.number).collect();
    assert_eq!(numbers, [1, 1, 1, 1, 1, 1, 1, 1, 2]);
    assert_eq!((info.packets, info.tcp_packets, info.selected), (2, 9, 9));
}

#[test]
fn an_aggregate_that_is_cut_gives_what_is_whole() {
    let whole = [subframe(&v4(SEQ), false), subframe(&v4(SEQ + 100), true)].concat();
    for cut in 0..whole.len() {
        let (packets, _) = read(105, &[frame(QOS, 1, &AGGREGATED, &whole[..cut])]);
        assert!(packets.len() <= 2, "cut at {cut}");
        assert!(packets.iter().all(|p| p.seg.payload == 100), "cut at {cut}");
    }
    let arp_first = [subframe(&llc([8, 6], &[0; 28]), false), subframe(&v6(SEQ), true)].concat();
    let (packets, info) = read(105, &[frame(QOS, 1, &AGGREGATED, &arp_first)]);
    assert_eq!((packets.len(), info.others.arp), (1, 0));
}

#[test]
fn what_is_no_readable_data_is_counted_as_what_it_is() {
    let damaged = [&[0, 0, 9, 0, 2, 0, 0, 0, 0x50][..], &frame(DATA, 1, &[], &v4(SEQ))].concat();
    let mut second = frame(DATA, 1, &[], &[7; 60]);
    second[22] |= 1;
    let bare = [
        frame(0x80, 0, &[], &[0; 40]),                   // beacon
        vec![0xd4, 0, 0, 0, 2, 2, 2, 2, 2, 2],           // acknowledgement
        frame(0x48, 1, &[], &[]),                        // null data
        frame(0xc8, 1, &[0, 0], &[]),                    // QoS null
        frame(QOS, 1 | PROTECTED, &[0, 0], &[0x5a; 80]), // encrypted
        frame(DATA, 1 | PROTECTED, &[], &[0x5a; 80]),
        second,
        frame(DATA, 1, &[], &llc([8, 6], &[0; 28])),
    ];
    let (packets, info) = read(105, &bare);
    let o = info.others;
    assert!(packets.is_empty());
    assert_eq!((o.non_ip, o.encrypted, o.fragments, o.arp), (4, 2, 1, 1), "{info:?}");
    let said = info.warnings.join("\n");
    assert!(said.contains("2 frames left out, encrypted by 802.11"), "{said}");
    assert!(info.nothing().unwrap().contains("2 encrypted by 802.11"), "{:?}", info.nothing());

    let (packets, info) = read(127, &[damaged]);
    assert!(packets.is_empty());
    assert_eq!(info.malformed.first.unwrap().3, "a radio frame whose check sequence is wrong");
    assert_eq!(info.tunnels[Tunnel::Vlan as usize], 0);
}

#[test]
fn no_cut_and_no_length_is_too_odd() {
    let mut state = 1u64;
    for n in 0..4000u32 {
        let link = [105, 119, 127, 163, 192][n as usize % 5];
        let bytes: Vec<u8> = (0..n % 97)
            .map(|i| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let byte = (state >> 56) as u8;
                // Lengths near the truth, and frames that are data, come up often enough.
                match (i, byte % 3) {
                    (2, 0) => 8,
                    (3, _) => 0,
                    (8, 1) => QOS,
                    _ => byte,
                }
            })
            .collect();
        read(link, &[bytes]);
    }
}
