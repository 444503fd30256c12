//! A filter as the kernel's packet sockets take it: classic BPF (Documentation/networking/filter.rst), on packets that
//! begin with their IP header.

use super::filter::{Expr, Side, TCP, Test, UDP, mask4, mask6};
use std::net::IpAddr;

/// Code, jump if true, jump if false, value.
pub type Line = (u16, u8, u8, u32);

/// BPF_MAXINSNS.
pub const LONGEST: usize = 4096;

const LOAD_WORD: u16 = 0x20;
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE: u16 = 0x30;
/// Behind the header, whose length is in X.
const LOAD_HALF_BEHIND: u16 = 0x48;
/// X becomes the length of an IPv4 header.
const HEADER_LENGTH: u16 = 0xb1;
const AND: u16 = 0x54;
const SHIFT_RIGHT: u16 = 0x74;
const GO: u16 = 0x05;
const IS: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const ANY_BIT: u16 = 0x45;
const ANSWER: u16 = 0x06;
/// What is no byte of the packet (SKF_AD_OFF).
const BESIDE: u32 = -0x1000i32 as u32;
const ETHERTYPE: u32 = BESIDE;
const DIRECTION: u32 = BESIDE + 4;
const INTERFACE: u32 = BESIDE + 8;
/// In every namespace.
const LOOPBACK: u32 = 1;
const OUTGOING: u32 = libc::PACKET_OUTGOING as u32;
const IPV4: u32 = 0x0800;
const IPV6: u32 = 0x86dd;

/// A place that is known once all before it is written.
type Label = usize;

#[derive(Default)]
struct Program {
    lines: Vec<Line>,
    places: Vec<usize>,
    /// Lines that are jumps to a label.
    jumps: Vec<(usize, Label)>,
}

/// A program that keeps `snap` bytes of each packet that is chosen, and nothing of others. On the loopback interface
/// each packet is seen as it leaves and as it comes: the latter is kept.
pub fn compile(expr: Option<&Expr>, snap: u32) -> Vec<Line> {
    let mut p = Program::default();
    let (keep, no, other) = (p.label(), p.label(), p.label());
    p.line(LOAD_WORD, INTERFACE);
    let elsewhere = p.label();
    p.unless(IS, LOOPBACK, elsewhere);
    p.line(LOAD_WORD, DIRECTION);
    p.when(IS, OUTGOING, no);
    p.place(elsewhere);
    p.line(LOAD_WORD, ETHERTYPE);
    let ip = p.label();
    p.when(IS, IPV4, ip);
    p.unless(IS, IPV6, other);
    p.place(ip);
    match expr {
        Some(expr) => p.expr(expr, keep, no),
        None => p.go(keep),
    }
    p.place(keep);
    p.line(ANSWER, snap);
    p.place(other);
    p.place(no);
    p.line(ANSWER, 0);
    p.finish()
}

impl Program {
    fn label(&mut self) -> Label {
        self.places.push(0);
        self.places.len() - 1
    }
    fn place(&mut self, label: Label) {
        self.places[label] = self.lines.len();
    }
    fn line(&mut self, code: u16, value: u32) {
        self.lines.push((code, 0, 0, value));
    }
    fn go(&mut self, to: Label) {
        self.jumps.push((self.lines.len(), to));
        self.line(GO, 0);
    }
    /// A conditional jump reaches 255 lines; the one behind it reaches everything.
    fn when(&mut self, code: u16, value: u32, to: Label) {
        self.lines.push((code, 0, 1, value));
        self.go(to);
    }
    fn unless(&mut self, code: u16, value: u32, to: Label) {
        self.lines.push((code, 1, 0, value));
        self.go(to);
    }
    fn finish(mut self) -> Vec<Line> {
        for (at, label) in self.jumps {
            self.lines[at].3 = (self.places[label] - at - 1) as u32;
        }
        self.lines
    }

    fn expr(&mut self, expr: &Expr, yes: Label, no: Label) {
        match expr {
            Expr::And(a, b) => {
                let both = self.label();
                self.expr(a, both, no);
                self.place(both);
                self.expr(b, yes, no);
            }
            Expr::Or(a, b) => {
                let other = self.label();
                self.expr(a, yes, other);
                self.place(other);
                self.expr(b, yes, no);
            }
            Expr::Not(a) => self.expr(a, no, yes),
            Expr::Is(test) => self.test(*test, yes, no),
        }
    }

    fn version(&mut self) {
        self.line(LOAD_BYTE, 0);
        self.line(SHIFT_RIGHT, 4);
    }

    fn test(&mut self, test: Test, yes: Label, no: Label) {
        match test {
            Test::Version(version) => {
                self.version();
                self.when(IS, version.into(), yes);
            }
            Test::Carries { protocol, version } => {
                for (is, at) in [(4, 9), (6, 6)] {
                    if version.is_none_or(|v| v == is) {
                        let next = self.label();
                        self.version();
                        self.unless(IS, is.into(), next);
                        self.line(LOAD_BYTE, at);
                        self.when(IS, protocol.into(), yes);
                        self.place(next);
                    }
                }
            }
            Test::Net { side, network, bits } => self.net(side, network, bits, yes, no),
            Test::Ports { side, first, last } => self.ports(side, (first, last), yes, no),
        }
        self.go(no);
    }

    fn net(&mut self, side: Side, network: IpAddr, bits: u8, yes: Label, no: Label) {
        let (version, source, bytes) = if network.is_ipv4() { (4, 12, 4) } else { (6, 8, 16) };
        let (words, masks): (Vec<u32>, Vec<u32>) = match network {
            IpAddr::V4(a) => (vec![u32::from(a)], vec![mask4(bits)]),
            IpAddr::V6(a) => {
                let parts = |n: u128| (0..4).map(|k| (n >> (96 - 32 * k)) as u32).collect();
                (parts(u128::from(a)), parts(mask6(bits)))
            }
        };
        self.version();
        self.unless(IS, version, no);
        for at in sides(side, source, bytes) {
            let next = self.label();
            for (k, (word, mask)) in (0..).zip(words.iter().zip(&masks)) {
                if *mask == 0 {
                    continue;
                }
                self.line(LOAD_WORD, at + 4 * k);
                self.line(AND, *mask);
                self.unless(IS, word & mask, next);
            }
            self.go(yes);
            self.place(next);
        }
    }

    fn ports(&mut self, side: Side, (first, last): (u16, u16), yes: Label, no: Label) {
        let carries = |p: &mut Program, at: u32| {
            let has = p.label();
            p.line(LOAD_BYTE, at);
            p.when(IS, TCP.into(), has);
            p.unless(IS, UDP.into(), no);
            p.place(has);
        };
        let within = |p: &mut Program| {
            let next = p.label();
            p.unless(AT_LEAST, first.into(), next);
            p.unless(AT_LEAST, u32::from(last) + 1, yes);
            p.place(next);
        };
        let v6 = self.label();
        self.version();
        self.unless(IS, 4, v6);
        carries(self, 9);
        // Behind the first fragment there are no ports.
        self.line(LOAD_HALF, 6);
        self.when(ANY_BIT, 0x1fff, no);
        self.line(HEADER_LENGTH, 0);
        for at in sides(side, 0, 2) {
            self.line(LOAD_HALF_BEHIND, at);
            within(self);
        }
        self.go(no);
        self.place(v6);
        carries(self, 6);
        for at in sides(side, 40, 2) {
            self.line(LOAD_HALF, at);
            within(self);
        }
    }
}

/// Where source and destination are, as wanted.
fn sides(side: Side, source: u32, bytes: u32) -> Vec<u32> {
    match side {
        Side::Src => vec![source],
        Side::Dst => vec![source + bytes],
        Side::Either => vec![source, source + bytes],
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter::{Facts, parse};
    use super::*;

    /// What a packet socket does with a program: how many bytes of the packet it gets.
    fn answer(program: &[Line], packet: &[u8], interface: u32, direction: u32) -> u32 {
        let (mut at, mut a, mut x) = (0, 0u32, 0u32);
        loop {
            let (code, yes, no, k) = program[at];
            at += 1;
            let bytes = |from: u32, n: usize| {
                let part = packet.get(from as usize..from as usize + n)?;
                Some(part.iter().fold(0u32, |all, b| all << 8 | u32::from(*b)))
            };
            let version = packet.first().map_or(0, |b| b >> 4);
            let beside = match k {
                ETHERTYPE => Some(if version == 6 { IPV6 } else { IPV4 }),
                DIRECTION => Some(direction),
                INTERFACE => Some(interface),
                _ => None,
            };
            let loaded = match code {
                LOAD_WORD => beside.or_else(|| bytes(k, 4)),
                LOAD_HALF => bytes(k, 2),
                LOAD_BYTE => bytes(k, 1),
                LOAD_HALF_BEHIND => bytes(x + k, 2),
                HEADER_LENGTH => bytes(k, 1),
                _ => Some(a),
            };
            // What lies behind the packet's end is not loaded: the program ends there.
            let Some(loaded) = loaded else { return 0 };
            let jump = |is: bool| usize::from(if is { yes } else { no });
            match code {
                AND => a &= k,
                SHIFT_RIGHT => a >>= k,
                HEADER_LENGTH => x = (loaded & 15) * 4,
                GO => at += k as usize,
                IS => at += jump(a == k),
                AT_LEAST => at += jump(a >= k),
                ANY_BIT => at += jump(a & k != 0),
                ANSWER => return k,
                _ => a = loaded,
            }
        }
    }

    fn v4(
        src: [u8; 4],
        dst: [u8; 4],
        protocol: u8,
        ports: (u16, u16),
        fragment: u16,
        options: u8,
    ) -> Vec<u8> {
        let mut p = vec![0x45 + options, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
        p[6..8].copy_from_slice(&fragment.to_be_bytes());
        p.extend(src);
        p.extend(dst);
        p.resize(20 + usize::from(options) * 4, 1);
        p.extend([ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat());
        p.resize(p.len() + 16, 0);
        p
    }

    fn v6(src: u128, dst: u128, protocol: u8, ports: (u16, u16)) -> Vec<u8> {
        let mut p = vec![0x60, 0, 0, 0, 0, 20, protocol, 64];
        p.extend(src.to_be_bytes());
        p.extend(dst.to_be_bytes());
        p.extend([ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat());
        p.resize(p.len() + 16, 0);
        p
    }

    const DB8: u128 = 0x2001_0db8_0000_0000_0000_0000_0000_0001;

    fn packets() -> Vec<Vec<u8>> {
        let (a, b) = ([10, 0, 0, 1], [192, 0, 2, 7]);
        let mut all = Vec::new();
        for protocol in [1, 6, 17, 58] {
            for ports in [(80, 40_000), (40_000, 443), (65_535, 0), (443, 80)] {
                for (src, dst) in [(a, b), (b, a), ([10, 255, 0, 1], [172, 16, 0, 1])] {
                    all.push(v4(src, dst, protocol, ports, 0, 0));
                    all.push(v4(src, dst, protocol, ports, 0x2000, 5));
                    all.push(v4(src, dst, protocol, ports, 7, 0));
                }
                all.push(v6(DB8, 1, protocol, ports));
                all.push(v6(1, DB8 + (1 << 64), protocol, ports));
            }
        }
        all
    }

    #[test]
    fn the_kernel_chooses_what_the_expression_says() {
        let mut chosen = 0;
        for text in [
            "tcp",
            "ip6",
            "icmp or icmp6",
            "host 10.0.0.1",
            "src host 192.0.2.7 and tcp",
            "net 10.0.0.0/8 and not net 10.255.0.0/16",
            "net 0.0.0.0/0",
            "dst net 2001:db8::/64",
            "host 2001:db8::1 or host 2001:db8:0:1::1",
            "port 80 or 443",
            "tcp src port 443 && ! ( host 10.0.0.1 || udp )",
            "portrange 65535-65535",
            "udp portrange 0-100",
            "src 10.0.0.1 or 192.0.2.7",
            "not port 80",
        ] {
            let expr = parse(text).unwrap_or_else(|e| panic!("{e}"));
            let program = compile(Some(&expr), 128);
            for packet in packets() {
                let facts = Facts::of(&packet).expect("a packet");
                let kept = answer(&program, &packet, 2, 0);
                assert_eq!(kept, if expr.matches(&facts) { 128 } else { 0 }, "{text}: {facts:?}");
                chosen += u32::from(kept > 0);
            }
        }
        assert!(chosen > 100, "{chosen}");
    }

    #[test]
    fn on_loopback_each_packet_is_kept_once() {
        let program = compile(None, 96);
        let packet = v4([127, 0, 0, 1], [127, 0, 0, 1], 6, (1, 2), 0, 0);
        assert_eq!(answer(&program, &packet, LOOPBACK, OUTGOING), 0);
        assert_eq!(answer(&program, &packet, LOOPBACK, 0), 96);
        assert_eq!(answer(&program, &packet, 2, OUTGOING), 96);
    }

    #[test]
    fn a_long_expression_jumps_as_far_as_it_must() {
        let all: Vec<String> = (1..200).map(|n| format!("host 10.0.0.{n}")).collect();
        let expr = parse(&all.join(" or ")).expect("an expression");
        let program = compile(Some(&expr), 1);
        assert!(program.len() > 1000 && program.len() < LONGEST, "{}", program.len());
        let last = v4([10, 0, 0, 199], [1, 1, 1, 1], 6, (1, 2), 0, 0);
        assert_eq!(answer(&program, &last, 2, 0), 1);
        let none = v4([10, 0, 0, 200], [1, 1, 1, 1], 6, (1, 2), 0, 0);
        assert_eq!(answer(&program, &none, 2, 0), 0);
    }

    #[test]
    fn what_is_no_expression_is_told_with_what_is_allowed() {
        for (text, part) in [
            ("", "it is empty"),
            ("prot 80", "\"prot\" is not known; did you mean \"port\"?"),
            ("host example.org", "names are not looked up"),
            ("port 70000", "ports are numbers up to 65535"),
            ("net 10.0.0.0/40", "ends with / and 0 to 32"),
            ("tcp and", "something is missing after \"and\""),
            ("(tcp", "a ) is missing"),
            ("tcp)", "a ) without its ("),
            ("tcp udp", "\"udp\" follows without and or or"),
            ("portrange 9-3", "ends before it begins"),
            ("or tcp", "it begins with \"or\""),
        ] {
            let told = parse(text).expect_err(text).to_string();
            assert!(told.contains(part) && told.contains("allowed: host ADDRESS"), "{told}");
        }
        assert!(parse(&"(".repeat(1000)).is_err());
        assert!(parse(&"not ".repeat(300)).is_err());
    }
}
