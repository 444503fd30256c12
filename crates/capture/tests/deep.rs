//! Headers inside headers, thousands of them in one frame: no walk goes so deep, and none takes long.

mod common;

use capture::{LinkType, Options};
use common::{Scratch, ethernet, pcap, read_all, tuple};

/// As much as a capture holds of one packet (libpcap's MAXIMUM_SNAPLEN).
const LONGEST: usize = 262_144;
const FRAMES: usize = 20;
/// A walk that went down to the last header would need megabytes.
const STACK: usize = 256 << 10;

/// IPv4 whose length is left to the frame, so that more than 65,535 bytes can follow.
fn ip(protocol: u8) -> Vec<u8> {
    let mut header = common::ip(&tuple(), protocol, &[]);
    header[2..4].fill(0);
    header
}

fn udp(port: u16) -> Vec<u8> {
    [&ip(17)[..], &[0, 1], &port.to_be_bytes(), &[0; 4]].concat()
}

fn nests() -> Vec<(&'static str, Vec<u8>)> {
    let ether = |kind| ethernet(kind, &[]);
    let on_ip = |unit: Vec<u8>| (0x0800, unit);
    let all = [
        ("VLAN", (0x8100, vec![0, 1, 0x81, 0])),
        ("Ethernet", (0x6558, ether(0x6558))),
        ("LLC", (4, vec![0xaa, 0xaa, 3, 0, 0, 0, 0, 4])),
        ("bridged Ethernet", (4, [&[0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 1, 0, 0][..], &ether(100)].concat())),
        ("PPP", (0x880b, vec![0x0f, 0, 0x88, 0x0b])),
        ("PPPoE", (0x8864, vec![0x11, 0, 0, 0, 0xff, 0xff, 0x0f, 0, 0x88, 0x64])),
        ("MPLS", (0x8847, [&[0, 0, 1, 64, 0, 0, 0, 0][..], &ether(0x8847)].concat())),
        ("IP in IP", on_ip(ip(4))),
        ("GRE", on_ip([ip(47), vec![0, 0, 8, 0]].concat())),
        ("GRE with Ethernet", on_ip([ip(47), vec![0, 0, 0x65, 0x58], ether(0x0800)].concat())),
        ("VXLAN", on_ip([udp(4789), vec![8, 0, 0, 0, 0, 0, 1, 0], ether(0x0800)].concat())),
        ("Geneve", on_ip([udp(6081), vec![0, 0, 0x65, 0x58, 0, 0, 1, 0], ether(0x0800)].concat())),
        ("GTP", on_ip([udp(2152), vec![0x30, 255, 0xff, 0xff, 0, 0, 0, 1]].concat())),
    ];
    let frame = |(kind, unit): (u16, Vec<u8>)| ethernet(kind, &unit.repeat((LONGEST - 14) / unit.len()));
    all.map(|(name, nest)| (name, frame(nest))).into()
}

#[test]
fn headers_inside_headers_end_the_walk_and_nothing_else() {
    let dir = Scratch::new("deep");
    for (name, frame) in nests() {
        let good = common::segment(&tuple(), 1, 10);
        let mut frames = vec![frame; FRAMES];
        frames.push(ethernet(0x0800, &good));
        let path = dir.file("a.pcap", &pcap(LinkType::ETHERNET, &frames));
        let read = move || read_all(&[path], &Options::default());
        let walker = std::thread::Builder::new().stack_size(STACK).spawn(read).expect("a thread");
        let (packets, info) = walker.join().unwrap_or_else(|_| panic!("{name}"));
        assert_eq!((info.packets, packets.len()), (FRAMES as u64 + 1, 1), "{name}");
        assert_eq!(info.damage, None, "{name}");
    }
}

#[test]
fn eight_tunnels_in_each_other_are_walked_through() {
    let ether = |kind| ethernet(kind, &[]);
    let tagged = [ether(0x8100), vec![0, 1, 8, 0]].concat();
    let vxlan = [udp(4789), vec![8, 0, 0, 0, 0, 0, 1, 0], tagged.clone()].concat();
    let frame = [tagged, vxlan.repeat(7), common::segment(&tuple(), 1, 10)].concat();
    let dir = Scratch::new("eight");
    let path = dir.file("a.pcap", &pcap(LinkType::ETHERNET, &[frame]));
    let (packets, _) = read_all(&[path], &Options::default());
    assert_eq!(packets.len(), 1);
}
