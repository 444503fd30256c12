//! Frames around datagrams, and a file around frames.

use super::packet::{Datagram, Ip, v4};
use crate::choices::Choices;

const SECOND: i64 = 1_000_000_000;

struct Frame {
    time: i64,
    bytes: Vec<u8>,
    wire_len: u32,
}

pub fn write(c: &mut Choices, packets: &[(i64, Datagram)]) -> Vec<u8> {
    let snap = c.pick(&[128, 68, 96, 262_144]);
    let kind = c.pick(&[0, 0, 0, 0, 1, 2, 3, 4, 5]);
    let padded = c.in_256(77);
    let epoch = c.pick(&[1_700_000_000, 1_700_000_000, 0, 0xffff_ffff]) * SECOND;
    let frames: Vec<Frame> = packets
        .iter()
        .map(|(time, datagram)| {
            let mut bytes = frame(c, datagram, kind);
            let wire_len = (bytes.len() - datagram.bytes.len()) as u32 + datagram.wire_len;
            if padded && wire_len < 3000 {
                bytes.resize(wire_len as usize, 0);
            }
            bytes.truncate(snap);
            Frame { time: time + epoch, bytes, wire_len }
        })
        .collect();
    let order = Order { big: c.in_256(51) };
    if c.in_256(154) {
        pcap(c, order, snap as u32, &frames)
    } else {
        Blocks::new(c, order, snap as u32).all(c, &frames)
    }
}

fn frame(c: &mut Choices, datagram: &Datagram, kind: u32) -> Vec<u8> {
    let ethernet =
        |kind: [u8; 2], body: &[u8]| [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &kind, body].concat();
    let ip = &datagram.bytes;
    let own = if datagram.v6 { [0x86, 0xdd] } else { [8, 0] };
    let around = |protocol: u8, body: &[u8]| {
        v4(Ip { protocol, ..Ip::default() }, [5, 0, 0, 1], [5, 0, 0, 2], body, 0).bytes
    };
    match kind {
        1 => {
            let mut tags = Vec::new();
            for _ in 0..=c.below(8) {
                tags.extend(c.pick(&[[0x81, 0x00], [0x88, 0xa8], [0x91, 0x00]]));
                tags.extend((c.below(4096) as u16).to_be_bytes());
            }
            tags.extend(own);
            let (kind, rest) = tags.split_at(2);
            ethernet([kind[0], kind[1]], &[rest, ip].concat())
        }
        2 => {
            // VXLAN in GRE in IP.
            let inner = [&[8, 0, 0, 0, 0, 0, 7, 0][..], &ethernet(own, ip)].concat();
            let length = (8 + inner.len() as u16).to_be_bytes();
            let udp = [&[0x15, 0xb3, 0x12, 0xb5][..], &length, &[0, 0], &inner].concat();
            let gre = [&[0, 0, 8, 0][..], &around(17, &udp)].concat();
            ethernet([8, 0], &around(4, &around(47, &gre)))
        }
        3 => {
            let mut body = around(if datagram.v6 { 41 } else { 4 }, ip);
            for _ in 0..c.below(39) {
                body = around(4, &body);
            }
            ethernet([8, 0], &body)
        }
        4 => {
            let labels = 1 + c.below(5);
            let mut body = Vec::new();
            for k in 0..labels {
                let bottom = if k + 1 == labels { 0x100 } else { 0 };
                body.extend((c.below(1 << 20) << 12 | bottom | 64).to_be_bytes());
            }
            body.extend(ip);
            ethernet([0x88, 0x47], &body)
        }
        5 => {
            let length = (ip.len() as u16 + 2).to_be_bytes();
            let protocol = if datagram.v6 { [0, 0x57] } else { [0, 0x21] };
            ethernet([0x88, 0x64], &[&[0x11, 0, 0, 1][..], &length, &protocol, ip].concat())
        }
        _ => ethernet(own, ip),
    }
}

/// The byte order of a file.
#[derive(Clone, Copy)]
struct Order {
    big: bool,
}

impl Order {
    fn two(self, n: u16) -> [u8; 2] {
        if self.big { n.to_be_bytes() } else { n.to_le_bytes() }
    }
    fn four(self, n: u32) -> [u8; 4] {
        if self.big { n.to_be_bytes() } else { n.to_le_bytes() }
    }
    fn eight(self, n: u64) -> [u8; 8] {
        if self.big { n.to_be_bytes() } else { n.to_le_bytes() }
    }
}

fn pcap(c: &mut Choices, order: Order, snap: u32, frames: &[Frame]) -> Vec<u8> {
    let nano = c.in_256(128);
    let mut out = Vec::new();
    out.extend(order.four(if nano { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }));
    out.extend(order.two(2));
    out.extend(order.two(4));
    out.extend([0; 8]);
    out.extend(order.four(snap));
    out.extend(order.four(1));
    for f in frames {
        let fraction = f.time.rem_euclid(SECOND) / if nano { 1 } else { 1000 };
        out.extend(order.four(f.time.div_euclid(SECOND) as u32));
        out.extend(order.four(fraction as u32));
        out.extend(order.four(f.bytes.len() as u32));
        out.extend(order.four(f.wire_len));
        out.extend(&f.bytes);
    }
    out
}

/// A pcapng file (draft-ietf-opsawg-pcapng), block by block.
struct Blocks {
    order: Order,
    snap: u32,
    interfaces: u32,
    /// Of each interface.
    resolutions: Vec<u8>,
    out: Vec<u8>,
}

impl Blocks {
    fn new(c: &mut Choices, order: Order, snap: u32) -> Blocks {
        Blocks { order, snap, interfaces: c.pick(&[1, 1, 2, 300]), resolutions: Vec::new(), out: Vec::new() }
    }
    fn all(mut self, c: &mut Choices, frames: &[Frame]) -> Vec<u8> {
        self.section(c);
        frames.iter().for_each(|f| self.frame(c, f));
        self.out
    }
    fn block(&mut self, kind: u32, parts: &[&[u8]]) {
        let mut body = parts.concat();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = self.order.four(body.len() as u32 + 12);
        self.out.extend(self.order.four(kind));
        self.out.extend(length);
        self.out.extend(body);
        self.out.extend(length);
    }
    fn options(&self, all: &[(u16, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (code, value) in all {
            out.extend(self.order.two(*code));
            out.extend(self.order.two(value.len() as u16));
            out.extend(*value);
            out.resize(out.len().next_multiple_of(4), 0);
        }
        out.extend([0; 4]);
        out
    }
    fn section(&mut self, c: &mut Choices) {
        let head = [&self.order.four(0x1a2b_3c4d)[..], &self.order.two(1), &[0, 0], &[0xff; 8]].concat();
        let application = self.options(&[(4, b"<script>alert(1)</script>\x1b[31m")]);
        let options = if c.in_256(77) { application } else { Vec::new() };
        self.block(0x0a0d_0d0a, &[&head, &options]);
        self.resolutions.clear();
        for _ in 0..self.interfaces {
            let odd = c.in_256(77);
            let resolution =
                if odd { c.pick(&[6, 9, 3, 0, 0x80 | 10, 0x80 | 20, 0x80 | 63, 127, 255, 19]) } else { 6 };
            let shift = self.order.eight(c.pick(&[1, -1, 1 << 62, -(1 << 62), SECOND]) as u64);
            let mut options: Vec<(u16, &[u8])> = vec![(9, std::slice::from_ref(&resolution))];
            if c.in_256(51) {
                options.push((14, &shift));
            }
            if c.in_256(51) {
                options.push((2, b"eth0\n<b>"));
            }
            let options = self.options(&options);
            let head = [&self.order.two(1)[..], &[0, 0], &self.order.four(self.snap)].concat();
            self.resolutions.push(resolution);
            self.block(1, &[&head, &options]);
        }
    }
    fn frame(&mut self, c: &mut Choices, f: &Frame) {
        let interface = c.below(self.interfaces);
        let resolution = self.resolutions.get(interface as usize).copied().unwrap_or(6);
        let ns = i128::from(f.time);
        let units = match resolution {
            0x80.. => (ns << (resolution & 0x7f).min(60)) / i128::from(SECOND),
            10.. => ns * 10i128.pow(u32::from(resolution - 9).min(18)),
            _ => ns / 10i128.pow(9 - u32::from(resolution)),
        } as u64;
        let time = [self.order.four((units >> 32) as u32), self.order.four(units as u32)].concat();
        let lengths = [self.order.four(f.bytes.len() as u32), self.order.four(f.wire_len)].concat();
        let mut data = f.bytes.clone();
        data.resize(data.len().next_multiple_of(4), 0);
        let number = self.order.four(interface);
        match c.below(64) {
            0 => {
                let drops = self.order.four(c.bits());
                let odd = self.options(&[(1, b"<img src=x onerror=alert(1)>\n\x1b]0;x\x07"), (2, &drops)]);
                self.block(6, &[&number, &time, &lengths, &data, &odd]);
            }
            1..4 => self.block(3, &[&self.order.four(f.wire_len), &f.bytes]),
            4 => self.section(c),
            5 => {
                let counts = [0, 100, u64::MAX];
                let (seen, dropped) = (self.order.eight(c.pick(&counts)), self.order.eight(c.pick(&counts)));
                let options = self.options(&[(4, &seen), (5, &dropped)]);
                self.block(5, &[&number, &time, &options]);
            }
            6 => {
                let (kind, n) = (c.pick(&[4, 10, 0xbad, 0x8000_0001]), c.below(40) as usize);
                let junk = c.bytes(n);
                self.block(kind, &[junk]);
            }
            7 => {
                let drops = self.order.two(c.bits());
                self.block(2, &[&self.order.two(interface as u16), &drops, &time, &lengths, &data]);
            }
            _ => self.block(6, &[&number, &time, &lengths, &data]),
        }
    }
}
