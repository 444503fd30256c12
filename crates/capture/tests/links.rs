//! Every link type, tag and tunnel leads to the same segment; what is no TCP is counted as what it is.

mod common;

use capture::{Info, LinkType, Options, Tunnel};
use common::{Scratch, ethernet, header, ip, pcap, read_all, segment, tcp, tuple, tuple6, udp};
use wire::{Flags, Notes, Packet, Segment};

const SEQ: u32 = 4242;

fn v4() -> Vec<u8> {
    segment(&tuple(), SEQ, 100)
}
fn v6() -> Vec<u8> {
    segment(&tuple6(), SEQ, 100)
}
fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}
/// Ethernet with the datagram inside, as tunnels carry it.
fn inner() -> Vec<u8> {
    ethernet(0x0800, &v4())
}

fn read(link: LinkType, frames: &[Vec<u8>]) -> (Vec<Packet>, Info) {
    let unique = std::thread::current().name().unwrap_or("test").replace("::", "-");
    let dir = Scratch::new(&unique);
    read_all(
        &[dir.file("a.pcap", &pcap(link, frames))],
        &Options { verify_checksums: true, ..Options::default() },
    )
}

#[test]
fn every_link_type_leads_to_the_segment() {
    let sll = |kind: u8, rest: &[u8]| join(&[&[0, kind, 0, 1, 0, 6], &[0; 8], &[8, 0], rest]);
    let sll2 = |kind: u8, rest: &[u8]| join(&[&[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, kind, 6], &[0; 8], rest]);
    let nflog = |bytes: fn(u16) -> [u8; 2]| join(&[&bytes(v4().len() as u16 + 4), &bytes(9)]);
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let (none, received, sent) = (Notes(0), Notes::INBOUND, Notes::OUTBOUND);
    let cases: Vec<(&str, u16, Vec<u8>, Notes)> = vec![
        ("Ethernet", 1, inner(), none),
        ("Ethernet, IPv6", 1, ethernet(0x86dd, &v6()), none),
        ("802.3 with SNAP", 1, join(&[&[0; 12], &[0, 8 + 164], &snap, &v4()]), none),
        ("VLAN", 1, ethernet(0x8100, &join(&[&[0, 5, 8, 0], &v4()])), none),
        ("QinQ", 1, ethernet(0x88a8, &join(&[&[0, 5, 0x81, 0, 0, 6, 8, 0], &v4()])), none),
        (
            "three tags",
            1,
            ethernet(0x9100, &join(&[&[0, 5, 0x81, 0, 0, 6, 0x81, 0, 0, 7, 0x86, 0xdd], &v6()])),
            none,
        ),
        ("E-TAG", 1, ethernet(0x893f, &join(&[&[0, 1, 0, 2, 0, 0, 8, 0], &v4()])), none),
        ("FabricPath", 1, ethernet(0x8903, &join(&[&[0, 0x40], &inner()])), none),
        ("MPLS", 1, ethernet(0x8847, &join(&[&[0, 1, 1, 64], &v4()])), none),
        (
            "MPLS, three labels, IPv6",
            1,
            ethernet(0x8847, &join(&[&[0, 1, 0, 64, 0, 2, 0, 64, 0, 3, 1, 64], &v6()])),
            none,
        ),
        ("MPLS pseudowire", 1, ethernet(0x8847, &join(&[&[0, 1, 1, 64, 0, 0, 0, 0], &inner()])), none),
        ("PPPoE", 1, ethernet(0x8864, &join(&[&[0x11, 0, 0, 9, 0, 166, 0, 0x21], &v4()])), none),
        ("PPPoE, IPv6", 1, ethernet(0x8864, &join(&[&[0x11, 0, 0, 9, 0, 186, 0, 0x57], &v6()])), none),
        (
            "VLAN and PPPoE",
            1,
            ethernet(0x8100, &join(&[&[0, 5, 0x88, 0x64, 0x11, 0, 0, 9, 0, 166, 0, 0x21], &v4()])),
            none,
        ),
        ("cooked, to us", 113, sll(0, &v4()), received),
        ("cooked, for another", 113, sll(3, &v4()), none),
        ("cooked, from us", 113, sll(4, &v4()), sent),
        ("cooked v2, to us", 276, sll2(0, &v4()), received),
        ("cooked v2, from us", 276, sll2(4, &v4()), sent),
        ("raw IP", 101, v4(), none),
        ("raw IP, IPv6", 101, v6(), none),
        ("raw 12", 12, v4(), none),
        ("raw 14", 14, v4(), none),
        ("IPv4", 228, v4(), none),
        ("IPv6", 229, v6(), none),
        ("null, little-endian", 0, join(&[&[2, 0, 0, 0], &v4()]), none),
        ("null, big-endian", 0, join(&[&[0, 0, 0, 2], &v4()]), none),
        ("null, Darwin's IPv6", 0, join(&[&[30, 0, 0, 0], &v6()]), none),
        ("null, FreeBSD's IPv6", 0, join(&[&[0, 0, 0, 28], &v6()]), none),
        ("loop", 108, join(&[&[0, 0, 0, 24], &v6()]), none),
        ("PPP", 9, join(&[&[0xff, 3, 0, 0x21], &v4()]), none),
        ("PPP, compressed fields", 9, join(&[&[0x21], &v4()]), none),
        ("PPP in HDLC", 50, join(&[&[0xff, 3, 0, 0x57], &v6()]), none),
        ("PPP link, Cisco's HDLC", 50, join(&[&[0x0f, 0, 8, 0], &v4()]), none),
        ("PPPoE link", 51, join(&[&[0x11, 0, 0, 9, 0, 166, 0, 0x21], &v4()]), none),
        ("pppd, received", 166, join(&[&[0, 3, 0, 0x21], &v4()]), received),
        ("pppd, sent", 166, join(&[&[1, 3, 0, 0x21], &v4()]), sent),
        ("PPP with direction", 204, join(&[&[1, 0xff, 3, 0, 0x21], &v4()]), sent),
        ("FDDI", 10, join(&[&[0x50], &[0; 12], &snap, &v4()]), none),
        ("Token Ring", 6, join(&[&[0x10, 0x40], &[0; 12], &snap, &v4()]), none),
        (
            "Token Ring, routed",
            6,
            join(&[&[0x10, 0x40], &[0; 6], &[0x80, 0, 0, 0, 0, 0], &[4, 0, 0, 0], &snap, &v4()]),
            none,
        ),
        ("ATM", 11, join(&[&snap, &v4()]), none),
        ("ATM, bridged", 11, join(&[&[0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 7, 0, 0], &inner()]), none),
        ("Cisco HDLC", 104, join(&[&[0x0f, 0, 0x86, 0xdd], &v6()]), none),
        ("IP over InfiniBand", 242, join(&[&[0; 40], &[0x86, 0xdd, 0, 0], &v6()]), none),
        (
            "NFLOG",
            239,
            join(&[
                &[2, 0, 0, 30],
                &[8, 0, 1, 0, 8, 0, 0, 0],
                &[7, 0, 10, 0, b'u', b'p', 0, 0],
                &nflog(u16::to_le_bytes),
                &v4(),
            ]),
            none,
        ),
        (
            "NFLOG of a big-endian host",
            239,
            join(&[&[10, 0, 0, 30], &[0, 8, 0, 1, 8, 0, 0, 0], &nflog(u16::to_be_bytes), &v4()]),
            none,
        ),
        ("pflog", 117, join(&[&[61, 2], &[0; 62], &v4()]), none),
        (
            "Apple PKTAP",
            258,
            join(&[&[40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], &[0; 24], &[2, 0, 0, 0], &inner()]),
            sent,
        ),
    ];
    for (name, link, frame, notes) in cases {
        let (packets, info) = read(LinkType(link), std::slice::from_ref(&frame));
        assert_eq!(packets.len(), 1, "{name}: {info:?}");
        let p = &packets[0];
        let ends = if p.tuple.src.host.is_v4() { tuple() } else { tuple6() };
        assert_eq!((p.tuple, p.seg), (ends, header(SEQ, 100)), "{name}");
        assert_eq!((p.number, p.wire_len, p.ttl), (1, frame.len() as u32, 64), "{name}");
        assert_eq!(p.notes, notes, "{name}");
        assert_eq!(info.checksums_verified, Some(1), "{name}");
        assert!(LinkType(link).is_supported() && LinkType(link).name().is_some(), "{name}");
    }
}

#[test]
fn every_tunnel_leads_to_the_segment() {
    let outer = |protocol, payload: &[u8]| ethernet(0x0800, &ip(&tuple(), protocol, payload));
    let outer6 = |protocol, payload: &[u8]| ethernet(0x86dd, &ip(&tuple6(), protocol, payload));
    let gtp_length = (v4().len() as u16).to_be_bytes();
    let gtp =
        |first: u8, extension: &[u8]| join(&[&[first, 255], &gtp_length, &[0, 0, 0, 1], extension, &v4()]);
    let vxlan = join(&[&[8, 0, 0, 0, 0, 0, 1, 0], &inner()]);
    let geneve = join(&[&[1, 0, 0x65, 0x58, 0, 0, 1, 0], &[0; 4], &inner()]);
    let erspan = join(&[&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1], &[0x10, 0, 0, 0, 0, 0, 0, 0], &inner()]);
    let erspan3 = |frame: u8, last: u8, mirrored: &[u8]| {
        let head = [0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, frame << 2, last];
        join(&[&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1], &head, mirrored])
    };
    let gpe = |next: u8, payload: &[u8]| join(&[&[0x0c, 0, 0, next, 0, 0, 1, 0], payload]);
    let capwap = |words: u8, binding: u8, frame: &[u8]| {
        join(&[&[0, words << 3, binding, 0, 0, 0, 0, 0], &vec![0; usize::from(words) * 4 - 8], frame])
    };
    let station =
        |control: [u8; 2]| join(&[&control, &[0; 20], &[0x76, 0x30], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &v4()]);
    let cases: Vec<(&str, Tunnel, Vec<u8>)> = vec![
        ("GRE", Tunnel::Gre, outer(47, &join(&[&[0, 0, 8, 0], &v4()]))),
        ("GRE with all fields", Tunnel::Gre, outer(47, &join(&[&[0xb0, 0, 0x86, 0xdd], &[0; 12], &v6()]))),
        (
            "GRE, Ethernet inside",
            Tunnel::Gre,
            outer6(47, &join(&[&[0x20, 0, 0x65, 0x58], &[0; 4], &inner()])),
        ),
        (
            "PPTP",
            Tunnel::Gre,
            outer(47, &join(&[&[0x30, 0x81, 0x88, 0x0b], &[0; 12], &[0xff, 3, 0, 0x21], &v4()])),
        ),
        ("ERSPAN", Tunnel::Erspan, outer(47, &erspan)),
        ("ERSPAN III", Tunnel::Erspan, outer(47, &erspan3(0, 0, &inner()))),
        ("ERSPAN III of an IP packet", Tunnel::Erspan, outer(47, &erspan3(2, 0, &v6()))),
        (
            "ERSPAN III with a platform's header",
            Tunnel::Erspan,
            outer(47, &erspan3(0, 1, &join(&[&[0; 8], &inner()]))),
        ),
        ("VXLAN", Tunnel::Vxlan, outer(17, &udp(4789, &vxlan))),
        ("VXLAN over IPv6", Tunnel::Vxlan, outer6(17, &udp(8472, &vxlan))),
        ("Geneve", Tunnel::Geneve, outer(17, &udp(6081, &geneve))),
        ("GTP-U", Tunnel::Gtp, outer(17, &udp(2152, &gtp(0x30, &[])))),
        ("GTP-U with a sequence number", Tunnel::Gtp, outer(17, &udp(2152, &gtp(0x32, &[0, 1, 0, 0])))),
        (
            "GTP-U with extensions",
            Tunnel::Gtp,
            outer(17, &udp(2152, &gtp(0x34, &[0, 0, 0, 0x85, 1, 0, 0, 0x40, 2, 0, 0, 0, 0, 0, 0, 0]))),
        ),
        ("VXLAN-GPE, Ethernet", Tunnel::Vxlan, outer(17, &udp(4790, &gpe(3, &inner())))),
        ("VXLAN-GPE, IPv6", Tunnel::Vxlan, outer(17, &udp(4790, &gpe(2, &v6())))),
        ("CAPWAP, Ethernet", Tunnel::Capwap, outer(17, &udp(5247, &capwap(2, 0x02, &inner())))),
        ("CAPWAP, 802.11", Tunnel::Capwap, outer(17, &udp(5247, &capwap(4, 0x03, &station([8, 1]))))),
        (
            "CAPWAP, 802.11 as Cisco has it",
            Tunnel::Capwap,
            outer6(17, &udp(5247, &capwap(4, 0x03, &station([1, 8])))),
        ),
        ("IP in IP", Tunnel::IpInIp, outer(4, &v4())),
        ("6in4", Tunnel::IpInIp, outer(41, &v6())),
        ("4in6", Tunnel::IpInIp, outer6(4, &v4())),
        (
            "VXLAN in GRE in IPv6",
            Tunnel::Vxlan,
            outer6(47, &join(&[&[0, 0, 8, 0], &ip(&tuple(), 17, &udp(4789, &vxlan))])),
        ),
    ];
    for (name, tunnel, frame) in cases {
        let (packets, info) = read(LinkType::ETHERNET, &[frame]);
        assert_eq!(packets.len(), 1, "{name}: {info:?}");
        assert_eq!(packets[0].seg, header(SEQ, 100), "{name}");
        assert_eq!(packets[0].notes, Notes::TUNNELLED, "{name}");
        assert!(info.tunnels_seen().any(|t| t == (tunnel, 1)), "{name}: {:?}", info.tunnels);
    }
}

#[test]
fn what_only_looks_like_a_tunnel_is_udp() {
    let frame = |port, payload: &[u8]| ethernet(0x0800, &ip(&tuple(), 17, &udp(port, payload)));
    let frames = [
        frame(4789, &[8; 40]),
        frame(2152, &[0x30; 60]),
        frame(6081, b"hello"),
        frame(53, &[0; 30]),
        frame(4789, &[]),
        frame(4790, &[0; 60]),
        frame(5247, &[0x01; 60]),
        frame(5247, &[0; 60]),
    ];
    let (packets, info) = read(LinkType::ETHERNET, &frames);
    assert!(packets.is_empty());
    assert_eq!((info.others.udp, info.tunnels), (8, [0; 10]));
}

#[test]
fn headers_nested_without_end_are_malformed() {
    let mut datagram = v4();
    for _ in 0..20 {
        datagram = ip(&tuple(), 4, &datagram);
    }
    let (packets, info) = read(LinkType::RAW, &[datagram]);
    assert!(packets.is_empty());
    assert!(info.malformed.first.unwrap().3.contains("inside each other"));
}

#[test]
fn a_jumbogram_is_as_long_as_its_option_says_but_not_absurdly() {
    let jumbo = |length: u32| {
        let option = [&[6, 0, 0xc2, 4], &length.to_be_bytes()[..], &tcp(&tuple6(), SEQ, 100)].concat();
        let mut datagram = ip(&tuple6(), 0, &option);
        datagram[4..6].fill(0);
        datagram
    };
    let (packets, info) = read(LinkType::RAW, &[jumbo(8 + 44 + 100_000), jumbo(u32::MAX)]);
    assert_eq!((packets.len(), info.jumbo), (1, 1));
    assert_eq!((packets[0].seg.payload, packets[0].notes), (100_000, Notes::JUMBO));
    assert_eq!(info.malformed.first.unwrap().3, "an IP datagram of 4294967287 bytes");
}

#[test]
fn what_is_no_tcp_is_counted_as_what_it_is() {
    let frames = [
        ethernet(0x0806, &[0; 28]),
        ethernet(0x0800, &ip(&tuple(), 17, &udp(53, &[0; 20]))),
        ethernet(0x0800, &ip(&tuple(), 1, &[0; 20])),
        ethernet(0x86dd, &ip(&tuple6(), 58, &[0; 20])),
        ethernet(0x0800, &ip(&tuple(), 132, &[0; 20])),
        ethernet(0x88cc, &[0; 40]),
        ethernet(60, &[0x42, 0x42, 3, 0, 0, 0]), // spanning tree
        inner()[..40].to_vec(),
        ethernet(0x0800, &[0x51; 40]),
        inner(),
    ];
    let mut file = pcap(LinkType::ETHERNET, &frames);
    let record = 24 + frames[..7].iter().map(|f| f.len() + 16).sum::<usize>();
    file[record + 12] = 166; // the eighth was cut by the snap length
    let dir = Scratch::new("no_tcp");
    let (packets, info) = read_all(&[dir.file("a.pcap", &file)], &Options::default());
    let o = info.others;
    assert_eq!((o.arp, o.udp, o.icmp, o.other_ip, o.non_ip, o.truncated), (1, 1, 2, 1, 2, 1));
    let (file, packet, byte, why) = info.malformed.first.clone().unwrap();
    assert!(file.ends_with("a.pcap"));
    assert_eq!((packet, why.as_str()), (9, "IP version 5, where 4 or 6 can be"));
    assert_eq!(byte as usize, record + 16 + 40);
    assert_eq!((packets.len(), info.packets), (1, 10));
    assert_eq!(packets[0].number, 10, "other protocols count in a packet's number");
    assert!(info.warnings.iter().any(|w| w.contains("cut by the snap length")), "{:?}", info.warnings);
}

#[test]
fn a_link_type_that_is_not_read_is_named_once() {
    let (packets, info) = read(LinkType(187), &[vec![0; 60], vec![0; 60]]);
    assert!(packets.is_empty());
    let said: Vec<_> = info.warnings.iter().filter(|w| w.contains("187")).collect();
    assert_eq!(said, ["2 packets of link type 187 (Bluetooth HCI H4) left out: it is not read"]);
    assert!(info.nothing().unwrap().ends_with("2 of link type 187 (Bluetooth HCI H4), which is not read)"));
}

#[test]
fn the_length_comes_from_ip_and_never_from_padding_or_the_snap_length() {
    let mut padded = ethernet(0x0800, &ip(&tuple(), 6, &tcp(&tuple(), SEQ, 0)));
    padded.extend([0xee; 20]); // the link's padding
    let whole = ethernet(0x0800, &segment(&tuple(), SEQ, 1000));
    let mut w = capture::Writer::pcap(Vec::new(), LinkType::ETHERNET, 96).unwrap();
    for (data, wire_len) in [(&padded[..], padded.len()), (&whole[..96], whole.len())] {
        let wire_len = wire_len as u32;
        w.packet(&capture::NewPacket { data, wire_len, ..Default::default() }).unwrap();
    }
    let dir = Scratch::new("length");
    let options = Options { verify_checksums: true, ..Options::default() };
    let (packets, info) = read_all(&[dir.file("a.pcap", &w.finish().unwrap())], &options);
    assert_eq!([packets[0].seg.payload, packets[1].seg.payload], [0, 1000]);
    assert_eq!(
        (info.checksums_verified, info.checksums_bad),
        (Some(1), 0),
        "only what was captured whole is verified"
    );
    assert_eq!(info.snap(), Some(96));
}

#[test]
fn an_ip_length_of_zero_takes_the_length_from_the_frame() {
    // Linux writes 0 for super-packets beyond 65,535 bytes (BIG TCP)
    let big = ethernet(0x0800, &segment(&tuple(), SEQ, 100_000));
    let mut big6 = ethernet(0x86dd, &v6());
    big6[18..20].fill(0);
    let (packets, info) = read(LinkType::ETHERNET, &[big, big6]);
    assert_eq!([packets[0].seg.payload, packets[1].seg.payload], [100_000, 100]);
    assert!(packets.iter().all(|p| p.notes == Notes::ZERO_IP_LENGTH));
    assert_eq!(info.zero_ip_length, 2);
}

#[test]
fn a_wrong_checksum_is_noted_and_one_left_for_the_card_is_not() {
    let good = inner();
    let mut bad = good.clone();
    *bad.last_mut().unwrap() ^= 1;
    let mut zero = good.clone();
    zero[50..52].fill(0);
    let mut partial = good.clone();
    let length = v4().len() as u32 - 20;
    partial[50..52].copy_from_slice(&wire::checksum::pseudo_header(&tuple(), length).to_be_bytes());
    let (packets, info) = read(LinkType::ETHERNET, &[good.clone(), bad.clone(), zero, partial, good.clone()]);
    let noted: Vec<bool> = packets.iter().map(|p| p.notes.has(Notes::BAD_CHECKSUM)).collect();
    assert_eq!(noted, [false, true, false, false, false]);
    assert_eq!((info.checksums_verified, info.checksums_bad), (Some(3), 1));
    let said = "1 of the 3 segments whose TCP checksum could be verified failed: the host";
    assert!(info.warnings.iter().any(|w| w.starts_with(said)), "{:?}", info.warnings);
    let (_, info) = read(LinkType::ETHERNET, &[good, bad.clone(), bad]);
    let said = "2 of the 3 segments whose TCP checksum could be verified failed: too many for damage";
    assert!(info.warnings.iter().any(|w| w.starts_with(said)), "{:?}", info.warnings);
}

#[test]
fn a_frame_that_the_card_may_have_put_together_is_called_good_or_nothing() {
    let large = |fill: u8| {
        let mut frame = ethernet(0x0800, &segment(&tuple(), 7, 4000));
        *frame.last_mut().unwrap() ^= fill;
        frame
    };
    let (packets, info) = read(LinkType::ETHERNET, &[large(0), large(1)]);
    assert!(packets.iter().all(|p| !p.notes.has(Notes::BAD_CHECKSUM)));
    assert_eq!((info.checksums_verified, info.checksums_bad), (Some(1), 0));
}

#[test]
fn congestion_experienced_is_that_of_the_innermost_header() {
    let mark = |mut datagram: Vec<u8>| {
        datagram[1] |= 3;
        datagram
    };
    let frames = [
        ethernet(0x0800, &mark(v4())),
        ethernet(0x0800, &mark(ip(&tuple(), 4, &v4()))),
        ethernet(0x0800, &ip(&tuple(), 4, &mark(v4()))),
    ];
    let (packets, _) = read(LinkType::ETHERNET, &frames);
    let fields: Vec<u8> = packets.iter().map(|p| p.notes.ecn()).collect();
    assert_eq!(fields, [3, 0, 3]);
}

#[test]
fn the_fast_way_and_the_long_way_come_to_the_same() {
    // A cooked frame takes the long way, Ethernet the fast one.
    let cooked = join(&[&[0, 3, 0, 1, 0, 6], &[0; 8], &[8, 0], &v4()]);
    let (fast, _) = read(LinkType::ETHERNET, &[inner()]);
    let (long, _) = read(LinkType::LINUX_SLL, &[cooked]);
    assert_eq!(fast[0], Packet { wire_len: fast[0].wire_len, ..long[0] });
}

#[test]
fn ipv4_options_and_ipv6_extension_headers_are_walked_over() {
    let mut options = v4();
    options[0] = 0x46;
    options[2..4].copy_from_slice(&((v4().len() + 4) as u16).to_be_bytes());
    options.splice(20..20, [1, 1, 1, 0]);
    let extended = ip(
        &tuple6(),
        0,
        &join(&[&[60, 0, 1, 4, 0, 0, 0, 0], &[6, 0, 1, 4, 0, 0, 0, 0], &tcp(&tuple6(), SEQ, 100)]),
    );
    let (packets, _) = read(LinkType::RAW, &[options, extended]);
    assert_eq!(packets.len(), 2);
    assert!(packets.iter().all(|p| p.seg == header(SEQ, 100)));
}

#[test]
fn zeros_that_fill_the_shortest_frame_are_padding_unless_they_are_pushed() {
    // IEEE 802.3 §3.2.8. A box on the way counted the padding as a part of the IP datagram (nDPI's issue 1946).
    let frame = |flags: Flags, payload: &[u8]| {
        let seg = Segment { flags, header_len: 20, payload: payload.len() as u32, ..Segment::default() };
        let mut bytes = Vec::new();
        wire::tcp::write(&mut bytes, &tuple(), &seg);
        ethernet(0x0800, &ip(&tuple(), 6, &join(&[&bytes, payload])))
    };
    let pushed = Flags::ACK.with(Flags::PSH);
    let frames = [
        frame(Flags::ACK, &[0; 6]),
        frame(Flags::ACK, &[]),
        frame(pushed, &[0; 6]),
        frame(Flags::ACK, &[0, 0, 0, 0, 0, 1]),
        frame(Flags::ACK, &[0; 5]),
        frame(Flags::ACK, &[0; 7]),
    ];
    assert_eq!(frames[0].len(), 60);
    let (packets, _) = read(LinkType::ETHERNET, &frames);
    let payloads: Vec<u32> = packets.iter().map(|p| p.seg.payload).collect();
    assert_eq!(payloads, [0, 0, 6, 6, 5, 7]);
}
