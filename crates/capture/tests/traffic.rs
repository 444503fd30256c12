//! All frames count, whatever they carry: by kind, and in bins of time.

mod common;

use capture::{Error, Kind, LinkType, NewPacket, Tally, Traffic, Writer, traffic};
use common::{Scratch, ethernet, ip, pcap, segment, tuple, tuple6, udp};
use wire::{Span, Time};

const MS: i64 = 1_000_000;

fn scratch() -> Scratch {
    Scratch::new(&format!("traffic-{}", std::thread::current().name().unwrap_or("test").replace("::", "-")))
}

fn count(link: LinkType, frames: &[Vec<u8>]) -> Traffic {
    let dir = scratch();
    traffic(&[dir.file("a.pcap", &pcap(link, frames))], Span(MS), None, |_| true)
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Frames of the same bytes at these times, ms.
fn at(times: &[i64]) -> Vec<u8> {
    let mut w = Writer::pcap(Vec::new(), LinkType::ETHERNET, 0).unwrap();
    let data = ethernet(0x0800, &segment(&tuple(), 1, 46));
    for t in times {
        let time = Time(1_700_000_000_000_000_000 + t * MS);
        w.packet(&NewPacket { time, data: &data, ..NewPacket::default() }).unwrap();
    }
    w.finish().unwrap()
}

fn llc(payload: &[u8]) -> Vec<u8> {
    ethernet(payload.len() as u16, payload)
}

#[test]
fn frames_of_ethernet_count_as_what_their_outermost_headers_say() {
    let (four, six) = (tuple(), tuple6());
    let spanning_tree = llc(&[0x42, 0x42, 3, 0, 0, 0, 0, 0]);
    let icmp6_behind_options = {
        let mut bytes = ip(&six, 0, &[58, 0, 5, 2, 0, 0, 1, 0]);
        bytes.extend([143, 0, 0, 0]);
        bytes[5] += 4;
        bytes
    };
    let fragment = {
        let mut bytes = ip(&four, 17, &[0; 64]);
        bytes[7] = 4; // 32 bytes into its datagram
        bytes
    };
    let gre = [&[0, 0, 8, 0][..], &segment(&four, 1, 10)].concat();
    let snap = [&[0xaa, 0xaa, 3, 0, 0, 0, 8, 6][..], &[0; 28]].concat();
    let cases = [
        ("TCP", ethernet(0x0800, &segment(&four, 1, 100)), Kind::Ipv4Tcp),
        (
            "a VLAN's TCP",
            ethernet(0x8100, &[&[0, 5, 8, 0][..], &segment(&four, 1, 9)].concat()),
            Kind::Ipv4Tcp,
        ),
        ("UDP", ethernet(0x0800, &ip(&four, 17, &udp(53, &[0; 20]))), Kind::Ipv4Udp),
        ("a later fragment", ethernet(0x0800, &fragment), Kind::Ipv4Udp),
        (
            "TCP in VXLAN is UDP",
            {
                let inner =
                    [&[8, 0, 0, 0, 0, 0, 7, 0][..], &ethernet(0x0800, &segment(&four, 1, 9))].concat();
                ethernet(0x0800, &ip(&four, 17, &udp(4789, &inner)))
            },
            Kind::Ipv4Udp,
        ),
        ("ICMP", ethernet(0x0800, &ip(&four, 1, &[8, 0, 0, 0])), Kind::Ipv4Icmp),
        ("GRE, whatever is in it", ethernet(0x0800, &ip(&four, 47, &gre)), Kind::Ipv4Other),
        ("IPv6 TCP", ethernet(0x86dd, &segment(&six, 1, 100)), Kind::Ipv6Tcp),
        ("IPv6 UDP", ethernet(0x86dd, &ip(&six, 17, &udp(53, &[0; 20]))), Kind::Ipv6Udp),
        ("ICMPv6 behind options", ethernet(0x86dd, &icmp6_behind_options), Kind::Ipv6Icmp),
        ("OSPFv3", ethernet(0x86dd, &ip(&six, 89, &[0; 16])), Kind::Ipv6Other),
        ("ARP", ethernet(0x0806, &[0; 28]), Kind::Arp),
        ("ARP in SNAP", llc(&snap), Kind::Arp),
        ("spanning tree", spanning_tree, Kind::Llc),
        ("Cisco's discovery in SNAP", llc(&[0xaa, 0xaa, 3, 0, 0, 0x0c, 0x20, 0, 1, 2]), Kind::Llc),
        ("LLDP", ethernet(0x88cc, &[0; 30]), Kind::Other),
        ("an IP header that cannot be", ethernet(0x0800, &[0x41; 40]), Kind::Unread),
    ];
    for (name, frame, kind) in cases {
        let found = count(LinkType::ETHERNET, std::slice::from_ref(&frame));
        let one = Tally { packets: 1, bytes: frame.len() as u64 };
        assert_eq!((found.of(kind), found.total), (one, one), "{name}: {:?}", found.kinds);
    }
}

#[test]
fn other_link_types_lead_to_the_same_kinds() {
    let four = segment(&tuple(), 1, 100);
    let cooked = |kind: [u8; 2], rest: &[u8]| [&[0, 0, 0, 1, 0, 6][..], &[0; 8], &kind, rest].concat();
    let cases = [
        ("raw IP", 101, four.clone(), Kind::Ipv4Tcp),
        ("Linux cooked", 113, cooked([8, 0], &four), Kind::Ipv4Tcp),
        ("Linux cooked, ARP", 113, cooked([8, 6], &[0; 28]), Kind::Arp),
        ("Linux cooked, LLC", 113, cooked([0, 4], &[0x42, 0x42, 3, 0]), Kind::Llc),
        ("BSD loopback", 0, [&[2, 0, 0, 0][..], &four].concat(), Kind::Ipv4Tcp),
        ("PPP", 9, [&[0xff, 3, 0, 0x21][..], &four].concat(), Kind::Ipv4Tcp),
        ("PPP's own control", 9, vec![0xff, 3, 0xc0, 0x21, 1, 1, 0, 4], Kind::Other),
        ("802.11, a beacon", 105, [&[0x80, 0][..], &[0; 38]].concat(), Kind::Other),
        ("Bluetooth, which is not read", 187, vec![0; 40], Kind::Unread),
    ];
    for (name, link, frame, kind) in cases {
        let found = count(LinkType(link), &[frame]);
        assert_eq!(found.of(kind).packets, 1, "{name}: {:?}", found.kinds);
        let said = found.warnings.join(" ");
        assert_eq!(said.contains("not read"), kind == Kind::Unread, "{name}: {said}");
    }
}

#[test]
fn bins_begin_at_the_first_frame_and_hold_every_one() {
    let dir = scratch();
    let found =
        traffic(&[dir.file("a.pcap", &at(&[0, 1, 9, 10, 11, 35]))], Span(10 * MS), None, |_| true).unwrap();
    let packets: Vec<u64> = found.bins.iter().map(|b| b.packets).collect();
    assert_eq!(packets, [3, 2, 0, 1]);
    let frame = ethernet(0x0800, &segment(&tuple(), 1, 46)).len() as u64;
    assert!(found.bins.iter().all(|b| b.bytes == b.packets * frame), "{:?}", found.bins);
    assert_eq!(found.bins.iter().map(|b| b.bytes).sum::<u64>(), found.total.bytes);
}

#[test]
fn a_frame_from_before_the_first_moves_the_beginning() {
    let dir = scratch();
    let found =
        traffic(&[dir.file("a.pcap", &at(&[100, 75, 101, 130]))], Span(10 * MS), None, |_| true).unwrap();
    let packets: Vec<u64> = found.bins.iter().map(|b| b.packets).collect();
    assert_eq!(packets, [1, 0, 0, 2, 0, 0, 1]);
    assert_eq!(found.origin, Some(Time(1_700_000_000_000_000_000 + 70 * MS)));
}

#[test]
fn more_bins_than_memory_should_hold_are_refused_with_the_mend() {
    let dir = scratch();
    for times in [[0, 86_400_000], [86_400_000, 0]] {
        let file = dir.file("a.pcap", &at(&times));
        match traffic(&[file], Span(MS), None, |_| true) {
            Err(e @ Error::TooManyBins { .. }) => {
                let said =
                    "the packets lie 86400 s apart, more than 4,194,304 bins of 0.001 s: choose a longer bin";
                assert_eq!(e.to_string(), said);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_came_before_a_cut_counts_and_the_cut_is_told() {
    let dir = scratch();
    let whole = at(&[0, 1, 2]);
    let found = traffic(&[dir.file("a.pcap", &whole[..whole.len() - 10])], Span(MS), None, |_| true).unwrap();
    assert!((2..=3).contains(&found.total.packets));
    assert!(found.warnings.iter().any(|w| w.contains("cut off")), "{:?}", found.warnings);
}

#[test]
fn it_stops_when_told() {
    let dir = scratch();
    let times: Vec<i64> = (0..40_000).collect();
    let found = traffic(&[dir.file("a.pcap", &at(&times))], Span(MS), None, |_| false).unwrap();
    assert!(found.interrupted && found.total.packets < 40_000);
}

#[test]
fn interfaces_that_lost_more_than_can_be_counted_lost_as_much_as_can_be() {
    let mut w = Writer::pcapng(Vec::new()).unwrap();
    for _ in 0..2 {
        let interface = w.interface(None, LinkType::ETHERNET, 0).unwrap();
        w.statistics(interface, Time(0), u64::MAX).unwrap();
    }
    let dir = scratch();
    let path = dir.file("lost.pcapng", &w.finish().unwrap());
    let warnings = traffic(&[path], Span(MS), None, |_| true).unwrap().warnings;
    assert_eq!(
        warnings,
        ["the capture lost 18,446,744,073,709,551,615 packets, by its own count: they are in no bin"]
    );
}
