//! A connection whose hosts mostly follow the protocol, and sometimes do what no host does.

use super::packet::{Datagram, Header, Ip, v4, v6};
use crate::choices::Choices;

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const PSH: u8 = 8;
const ACK: u8 = 16;
const ECE: u8 = 64;
const CWR: u8 = 128;

const SECOND: i64 = 1_000_000_000;

/// A datagram, and the nanoseconds since its predecessor.
pub type Timed = (i64, Datagram);

pub struct Flow {
    v6: bool,
    hosts: [[u8; 4]; 2],
    ports: [u16; 2],
    /// Initial numbers, and the next of each side.
    iss: [u32; 2],
    next: [u32; 2],
    una: u32,
    mss: u32,
    sack: bool,
    stamped: bool,
    stamps: [u32; 2],
    stamp_step: u32,
    shifts: [u8; 2],
    id: u16,
    step: u32,
    holes: Vec<(u32, u32)>,
    out: Vec<Timed>,
}

impl Flow {
    pub fn new(c: &mut Choices) -> Flow {
        let iss = [number(c), number(c)];
        let host = c.pick(&[[10, 0, 0, 1], [10, 0, 0, 2], [0; 4]]);
        let host = if host == [0; 4] { c.bits::<u32>().to_be_bytes() } else { host };
        let port = c.pick(&[1000, 2000, 0]);
        Flow {
            v6: c.in_256(38),
            hosts: [host, [10, 0, 0, 99]],
            ports: [if port == 0 { c.bits() } else { port }, 80],
            iss,
            next: iss.map(|n| n.wrapping_add(1)),
            una: iss[0].wrapping_add(1),
            mss: c.pick(&[1448, 1448, 1448, 536, 1, 2, 8948, 65_000]),
            sack: !c.in_256(77),
            stamped: !c.in_256(77),
            stamps: [number(c), c.bits()],
            stamp_step: c.pick(&[1, 1, 0, 4, 1000, u32::MAX]),
            shifts: [0, 1].map(|_| c.pick(&[7, 0, 2, 14, 15, 255])),
            id: 0,
            step: c.pick(&[1_000_000, 1_000_000, 1_000, 100_000, 20_000_000]),
            holes: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Packets of the connection: `most` or a few more, while there are decisions.
    pub fn packets(mut self, c: &mut Choices, most: usize) -> Vec<Timed> {
        self.open(c);
        let nasty = c.pick(&[0, 5, 26, 128]);
        let loss = c.pick(&[3, 0, 13, 77]);
        while self.out.len() < most && !c.is_over() {
            match () {
                () if c.in_256(nasty) => self.does_what_no_host_does(c),
                () if c.in_256(128) => self.sends(c, loss),
                () => self.answers(c),
            }
        }
        if c.in_256(102) {
            let [next, back] = self.next;
            self.put(c, 0, next, back, FIN | ACK, 0);
            self.put(c, 1, back, next.wrapping_add(1), FIN | ACK, 0);
            self.put(c, 0, next.wrapping_add(1), back.wrapping_add(1), ACK, 0);
        }
        self.out
    }

    fn open(&mut self, c: &mut Choices) {
        match c.below(20) {
            0..14 => {
                self.syn(c, 0, false);
                self.syn(c, 1, true);
                let [next, back] = self.next;
                self.put(c, 0, next, back, ACK, 0);
            }
            14..16 => {
                [(0, false), (1, false), (0, true), (1, true)].iter().for_each(|(s, a)| self.syn(c, *s, *a))
            }
            16 => (0..c.below(20)).for_each(|_| self.syn(c, 0, false)),
            _ => {}
        }
    }

    /// A time between two packets.
    fn span(&self, c: &mut Choices) -> i64 {
        i64::from(c.below(self.step + 1))
    }

    fn options(&self, side: usize, sack: &[(u32, u32)]) -> Vec<u8> {
        let mut o = Vec::new();
        if self.stamped {
            o.extend([1, 1, 8, 10]);
            o.extend(self.stamps[side].to_be_bytes());
            o.extend(self.stamps[1 - side].to_be_bytes());
        }
        if !sack.is_empty() {
            o.extend([1, 1, 5, 2 + 8 * sack.len() as u8]);
            for (left, right) in sack {
                o.extend(left.to_be_bytes());
                o.extend(right.to_be_bytes());
            }
        }
        o
    }

    fn datagram(&mut self, c: &mut Choices, side: usize, header: &Header, payload: u32) -> Datagram {
        self.id = self.id.wrapping_add(1);
        let body = header.bytes();
        let (from, to) = (self.hosts[side], self.hosts[1 - side]);
        if self.v6 {
            let extensions = if c.in_256(26) { c.pick(&[0, 0, 1, 3, 20]) } else { 0 };
            return v6(c, from, to, &body, payload, extensions);
        }
        let fragment = if c.in_256(8) { c.pick(&[0x4000, 0, 0x2000, 0x1fff]) } else { 0x4000 };
        v4(Ip { id: self.id, fragment, protocol: 6, ecn: 0 }, from, to, &body, payload)
    }

    fn header(&self, side: usize, seq: u32, ack: u32, flags: u8, window: u16, options: Vec<u8>) -> Header {
        Header { ports: (self.ports[side], self.ports[1 - side]), seq, ack, flags, window, options }
    }

    fn put(&mut self, c: &mut Choices, side: usize, seq: u32, ack: u32, flags: u8, payload: u32) {
        self.put_with(c, side, seq, ack, flags, payload, 500, &[]);
    }

    #[allow(clippy::too_many_arguments)] // what a packet is made of
    fn put_with(
        &mut self,
        c: &mut Choices,
        side: usize,
        seq: u32,
        ack: u32,
        flags: u8,
        payload: u32,
        window: u16,
        sack: &[(u32, u32)],
    ) {
        let header = self.header(side, seq, ack, flags, window, self.options(side, sack));
        let datagram = self.datagram(c, side, &header, payload);
        let after = self.span(c);
        self.out.push((after, datagram));
    }

    /// An ACK of the data.
    fn ack(&mut self, c: &mut Choices, of: u32, window: u16, sack: &[(u32, u32)]) {
        let back = self.next[1];
        self.put_with(c, 1, back, of, ACK, 0, window, sack);
    }

    fn syn(&mut self, c: &mut Choices, side: usize, answers: bool) {
        let mut o = vec![2, 4];
        o.extend((self.mss as u16).to_be_bytes());
        if self.sack {
            o.extend([4, 2]);
        }
        if self.stamped {
            o.extend([8, 10]);
            o.extend(self.stamps[side].to_be_bytes());
            o.extend(if answers { self.stamps[1 - side] } else { 0 }.to_be_bytes());
        }
        o.extend([1, 3, 3, self.shifts[side]]);
        let flags = if answers { SYN | ACK } else { SYN };
        let ack = if answers { self.iss[1 - side].wrapping_add(1) } else { 0 };
        let payload = if c.in_256(26) { c.pick(&[100, self.mss]) } else { 0 };
        let header = self.header(side, self.iss[side], ack, flags, 65_535, o);
        let datagram = self.datagram(c, side, &header, payload);
        let after = self.span(c);
        self.out.push((after, datagram));
    }

    fn sends(&mut self, c: &mut Choices, loss: u32) {
        for _ in 0..c.pick(&[1, 1, 2, 10]) {
            self.stamps[0] = self.stamps[0].wrapping_add(self.stamp_step);
            let [next, back] = self.next;
            match c.in_256(loss) {
                true => self.holes.push((next, self.mss)),
                false => {
                    let push = if c.in_256(51) { PSH } else { 0 };
                    self.put(c, 0, next, back, ACK | push, self.mss);
                }
            }
            self.next[0] = next.wrapping_add(self.mss);
        }
    }

    fn answers(&mut self, c: &mut Choices) {
        self.stamps[1] = self.stamps[1].wrapping_add(self.stamp_step);
        let [next, back] = self.next;
        if let Some(&(start, len)) = self.holes.first()
            && c.in_256(180)
        {
            if c.in_256(128) {
                let behind = (start.wrapping_add(len), next);
                let tells = self.sack && next.wrapping_sub(behind.0) as i32 > 0;
                return self.ack(c, start, 500, if tells { std::slice::from_ref(&behind) } else { &[] });
            }
            self.put(c, 0, start, back, ACK, len);
            if c.in_256(205) {
                self.holes.remove(0);
            }
            return;
        }
        let out = next.wrapping_sub(self.una);
        self.una = match out as i32 > 0 && c.in_256(102) {
            true => self.una.wrapping_add(c.below(out)),
            false => next,
        };
        let window = c.pick(&[500, 500, 500, 0, 1, 65_535]);
        self.ack(c, self.una, window, &[]);
    }

    fn does_what_no_host_does(&mut self, c: &mut Choices) {
        let [next, back] = self.next;
        let (una, mss) = (self.una, self.mss);
        let beyond = |n: u32| next.wrapping_add(n);
        match c.below(30) {
            0 => {
                let far = c.pick(&[1 << 31, (1 << 31) - 1, 1 << 30, (1u32 << 30).wrapping_neg(), 100_000]);
                let payload = c.pick(&[0, 1, mss]);
                self.put(c, 0, beyond(far), back, ACK, payload);
            }
            1 => {
                let far =
                    c.pick(&[1, mss, 1 << 30, 1 << 31, 5u32.wrapping_neg(), (1u32 << 30).wrapping_neg()]);
                self.ack(c, beyond(far), 500, &[]);
            }
            2 => {
                let (left, right) =
                    (c.pick(&[0, 1, 1 << 30]), c.pick(&[10u32.wrapping_neg(), 2000, 1 << 31]));
                self.ack(c, una, 500, &[(beyond(left), beyond(right))]);
            }
            3 => self.ack(c, una, 500, &[(next, una)]),
            4 => {
                let below = |n: u32| una.wrapping_sub(n);
                self.ack(c, una, 500, &[(below(5000), below(100)), (below(2), una.wrapping_add(7))]);
            }
            5 => {
                let blocks: Vec<(u32, u32)> = (0..if self.stamped { 3 } else { 4 })
                    .map(|_| {
                        let near = |c: &mut Choices| una.wrapping_add(c.below(200_000)).wrapping_sub(100_000);
                        (near(c), near(c))
                    })
                    .collect();
                self.ack(c, una, 500, &blocks);
            }
            6 => self.ack(c, una, 0, &[]),
            7 => {
                let payload = c.pick(&[0, 1]);
                self.put(c, 0, next.wrapping_sub(1), back, ACK, payload);
            }
            8 => {
                let (side, flags) = (c.below(2) as usize, c.pick(&[RST, RST | ACK]));
                self.put_with(c, side, next, back, flags, 0, 0, &[]);
            }
            9 => {
                let payload = c.pick(&[0, mss]);
                self.put(c, 0, next, back, FIN | ACK, payload);
            }
            10 => self.put(c, 1, back, next, FIN | ACK, 0),
            11 => self.syn(c, 0, false),
            12 => self.syn(c, 1, true),
            13 => {
                let back = c.pick(&[1, 1000, 1 << 30, 1 << 31]);
                self.stamps[0] = self.stamps[0].wrapping_sub(back);
            }
            14 => {
                let year = 365 * 86_400 * SECOND;
                let jump = c.pick(&[-1_000_000, -SECOND, 10 * SECOND, 1_000 * SECOND, year, -year]);
                self.put(c, 0, next, back, ACK, 1);
                if let Some(last) = self.out.last_mut() {
                    last.0 = jump;
                }
            }
            15 => {
                self.put(c, 0, next, back, ACK, 65_000);
                self.next[0] = beyond(65_000);
            }
            16 => {
                let after = c.pick(&[0, 1, 1000]);
                let again = self.out.last().map(|(_, datagram)| (after, datagram.clone()));
                self.out.extend(again);
            }
            17 => {
                // The same ports once more.
                let fresh = [c.pick(&[0, 1, 2]), 2];
                self.iss = [
                    match fresh[0] {
                        0 => next,
                        1 => self.iss[0],
                        _ => c.bits(),
                    },
                    c.bits(),
                ];
                self.next = self.iss.map(|n| n.wrapping_add(1));
                self.una = self.next[0];
                self.syn(c, 0, false);
                self.syn(c, 1, true);
            }
            18 => {
                for _ in 0..=c.below(7) {
                    let back = self.next[1];
                    self.put(c, 1, back, next, ACK, mss);
                    self.next[1] = back.wrapping_add(mss);
                }
            }
            19 => {
                let out = next.wrapping_sub(una).min(1 << 20);
                let (at, payload) =
                    (una.wrapping_add(c.below(out.max(1))), c.pick(&[1, 3, 2 * mss, mss + 1]));
                self.put(c, 0, at, back, ACK, payload);
            }
            20 => self.mss = c.pick(&[1, 7, 536, 1448]),
            21 => self.next[0] = beyond(c.pick(&[1, mss, 1_000_000, 1 << 30])),
            22 => {
                let at = una.wrapping_sub(1 + c.below(100_000));
                self.put(c, 0, at, back, ACK, mss);
            }
            23 => {
                let (flags, payload) = (c.bits(), c.pick(&[0, mss]));
                self.put(c, 0, next, back, flags, payload);
            }
            24 => {
                let (flags, window, payload) = (c.bits(), c.pick(&[0, 1, 65_535]), c.pick(&[0, mss]));
                self.put_with(c, 1, back, una, flags, payload, window, &[]);
            }
            25 => {
                for k in 0..=c.below(11) {
                    self.put(c, 0, una, back, ACK, mss);
                    if let Some(last) = self.out.last_mut() {
                        last.0 = 200_000_000 << k.min(9);
                    }
                }
            }
            26 => {
                for k in 0..=c.below(11) {
                    let block = (una.wrapping_add(mss), una.wrapping_add(mss.wrapping_mul(2 + k)));
                    let blocks: &[(u32, u32)] = if self.sack { std::slice::from_ref(&block) } else { &[] };
                    self.ack(c, una, 500, blocks);
                }
            }
            27 => {
                // Options that are none, behind a header length that may be wrong.
                let (length, count) = (c.pick(&[0, 4, 5, 15, 6]), c.below(41) as usize);
                let junk = c.bytes(count).to_vec();
                let header = self.header(0, next, back, ACK, 5, junk);
                let mut body = header.bytes();
                body[12] = length << 4;
                let ip = Ip { id: self.id, fragment: 0x4000, protocol: 6, ecn: 0 };
                let after = self.span(c);
                self.out.push((after, v4(ip, self.hosts[0], self.hosts[1], &body, 0)));
            }
            28 => {
                let quoted =
                    [&self.ports[0].to_be_bytes()[..], &self.ports[1].to_be_bytes(), &una.to_be_bytes()]
                        .concat();
                let ip = Ip { id: 0, fragment: 0x4000, protocol: 6, ecn: 0 };
                let quoted = v4(ip, self.hosts[0], self.hosts[1], &quoted, 1472);
                let (code, mtu) = (c.pick(&[1, 3, 4, 13]), c.pick(&[0u16, 68, 1400, 65_535]));
                let icmp = [&[3, code, 0, 0, 0, 0][..], &mtu.to_be_bytes(), &quoted.bytes].concat();
                let after = self.span(c);
                self.out.push((after, v4(Ip { protocol: 1, ..ip }, [1; 4], self.hosts[0], &icmp, 0)));
            }
            _ => {
                self.put(c, 1, back, una, ACK | ECE, 0);
                self.put(c, 0, next, back, ACK | CWR, 1);
                if let Some((_, datagram)) = self.out.last_mut().filter(|_| !self.v6) {
                    datagram.bytes[1] = 3;
                }
            }
        }
    }
}

/// A number near an edge of the number space, or anywhere.
fn number(c: &mut Choices) -> u32 {
    match c.below(8) {
        0 => 0,
        1 => u32::MAX,
        2 => u32::MAX - 3000,
        3 => u32::MAX - 100_000,
        4 => 0x7fff_ffff,
        _ => c.bits(),
    }
}
