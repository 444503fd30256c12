//! Packets as bytes, while the net carries their numbers; and what a link may know of them.

use instant::Time;
use links::{Class, Ecn};
use wire::{Endpoint, Packet, Tuple, ip, tcp};

/// A packet's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameId(pub u32);

/// Room for an Ethernet frame of the hosts' MTU, 1500 bytes.
pub const ROOM: usize = 2048;
const CHUNK: usize = 512;

/// All packets that the bridge holds.
#[derive(Default)]
pub struct Frames {
    chunks: Vec<Box<[u8]>>,
    /// Length of each, and how often the net carries it.
    facts: Vec<(u16, u16)>,
    free: Vec<FrameId>,
}

impl Frames {
    pub fn take(&mut self) -> FrameId {
        if let Some(id) = self.free.pop() {
            return id;
        }
        let first = self.facts.len() as u32;
        self.chunks.push(vec![0; CHUNK * ROOM].into_boxed_slice());
        self.facts.resize(self.facts.len() + CHUNK, (0, 0));
        self.free.extend((first + 1..first + CHUNK as u32).rev().map(FrameId));
        FrameId(first)
    }
    fn at(id: FrameId) -> (usize, usize) {
        (id.0 as usize / CHUNK, id.0 as usize % CHUNK * ROOM)
    }
    pub fn room(&mut self, id: FrameId) -> &mut [u8] {
        let (chunk, at) = Frames::at(id);
        &mut self.chunks[chunk][at..at + ROOM]
    }
    /// Several at once, which must all differ.
    pub fn rooms(&mut self, ids: &[FrameId]) -> Vec<&mut [u8]> {
        let mut order: Vec<(FrameId, usize)> = ids.iter().copied().zip(0..).collect();
        order.sort_unstable_by_key(|(id, _)| id.0);
        let mut found: Vec<Option<&mut [u8]>> = ids.iter().map(|_| None).collect();
        let mut wanted = order.into_iter().peekable();
        for (chunk, bytes) in self.chunks.iter_mut().enumerate() {
            let mut rest: &mut [u8] = bytes;
            let mut cut = 0;
            while let Some((id, place)) = wanted.next_if(|(id, _)| Frames::at(*id).0 == chunk) {
                let (_, at) = Frames::at(id);
                let (_, tail) = std::mem::take(&mut rest).split_at_mut(at - cut);
                let (room, tail) = tail.split_at_mut(ROOM);
                found[place] = Some(room);
                (rest, cut) = (tail, at + ROOM);
            }
        }
        found.into_iter().flatten().collect()
    }
    /// The net carries it from now on.
    pub fn keep(&mut self, id: FrameId, len: usize) {
        self.facts[id.0 as usize] = (len as u16, 1);
    }
    pub fn another(&mut self, id: FrameId) {
        self.facts[id.0 as usize].1 += 1;
    }
    pub fn bytes(&self, id: FrameId) -> &[u8] {
        let (chunk, at) = Frames::at(id);
        &self.chunks[chunk][at..at + usize::from(self.facts[id.0 as usize].0)]
    }
    /// The net carries it once less.
    pub fn release(&mut self, id: FrameId) {
        let uses = &mut self.facts[id.0 as usize].1;
        *uses = uses.saturating_sub(1);
        if *uses == 0 {
            self.free.push(id);
        }
    }
    /// How often the net carries it.
    pub fn uses(&self, id: FrameId) -> u16 {
        self.facts[id.0 as usize].1
    }
    /// A queue set "congestion experienced" (RFC 3168 section 5): the header's checksum follows (RFC 1624).
    pub fn mark(&mut self, id: FrameId) {
        let ip = &mut self.room(id)[ETHERNET..];
        let before = u16::from_be_bytes([ip[0], ip[1]]);
        ip[1] |= 3;
        let after = u16::from_be_bytes([ip[0], ip[1]]);
        let old = u16::from_be_bytes([ip[10], ip[11]]);
        let mut sum = u32::from(!old) + u32::from(!before) + u32::from(after);
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        ip[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    }
}

pub const ETHERNET: usize = 14;
/// IP's number for it.
pub const TCP: u8 = 6;
const UDP: u8 = 17;
pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;

/// What the headers of an IPv4 packet say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    pub from: u32,
    pub to: u32,
    pub protocol: u8,
    /// The whole IP packet, bytes.
    pub len: u32,
    pub ip_id: u16,
    pub ecn: u8,
    /// Zero where the protocol has none.
    pub ports: (u16, u16),
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub payload: u32,
}

impl Headers {
    /// `None` for what is no IPv4 packet in an Ethernet frame, or is cut off within its headers.
    pub fn read(frame: &[u8]) -> Option<Headers> {
        let word = |b: &[u8], at: usize| Some(u16::from_be_bytes([*b.get(at)?, *b.get(at + 1)?]));
        let long = |b: &[u8], at: usize| {
            Some(u32::from_be_bytes([*b.get(at)?, *b.get(at + 1)?, *b.get(at + 2)?, *b.get(at + 3)?]))
        };
        if word(frame, 12)? != 0x0800 {
            return None;
        }
        let ip = &frame[ETHERNET..];
        let header = usize::from(ip.first()? & 15) * 4;
        let len = u32::from(word(ip, 2)?);
        if ip[0] >> 4 != 4 || header < 20 || (len as usize) < header || ip.len() < len as usize {
            return None;
        }
        let mut found = Headers {
            from: long(ip, 12)?,
            to: long(ip, 16)?,
            protocol: ip[9],
            len,
            ip_id: word(ip, 4)?,
            ecn: ip[1] & 3,
            payload: len - header as u32,
            ..Headers::default()
        };
        // A later fragment has no ports.
        let first = word(ip, 6)? & 0x1fff == 0;
        let body = &ip[header..len as usize];
        match found.protocol {
            TCP if first => {
                found.ports = (word(body, 0)?, word(body, 2)?);
                (found.seq, found.ack) = (long(body, 4)?, long(body, 8)?);
                found.flags = *body.get(13)?;
                let offset = u32::from(body[12] >> 4) * 4;
                found.payload = (body.len() as u32).checked_sub(offset)?;
            }
            UDP if first => {
                found.ports = (word(body, 0)?, word(body, 2)?);
                found.payload = (body.len() as u32).saturating_sub(8);
            }
            _ => {}
        }
        Some(found)
    }

    pub fn class(&self) -> Class {
        match self.payload {
            0 if self.protocol == TCP && self.flags & (SYN | FIN | RST) == 0 => Class::Ack,
            0 => Class::Other,
            _ => Class::Data,
        }
    }

    pub fn ecn(&self) -> Ecn {
        Ecn::of_field(self.ecn)
    }
}

/// What a capture that took it at `time` shows of a frame; `None` if it is none of TCP's.
pub fn segment(frame: &[u8], time: Time) -> Option<Packet> {
    let packet = frame.get(ETHERNET..)?;
    let header = ip::parse(packet).ok()?;
    let len = header.payload_len.filter(|_| header.protocol == TCP && header.fragment.is_none())?;
    let found = tcp::parse(packet.get(header.payload_at..header.payload_at + len as usize)?, len).ok()?;
    Some(Packet {
        time,
        tuple: Tuple {
            src: Endpoint { host: header.src, port: found.src_port },
            dst: Endpoint { host: header.dst, port: found.dst_port },
        },
        seg: found.seg,
        wire_len: frame.len() as u32,
        ip_id: header.id,
        checksum: found.checksum,
        ttl: header.ttl,
        ..Packet::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{checksum, ip};

    /// A TCP segment with `payload` bytes, as a frame.
    fn frame(flags: u8, payload: usize, ecn: u8) -> Vec<u8> {
        let mut f = vec![0; 12];
        f.extend([8, 0]);
        let hosts = [wire::Host::v4([10, 0, 0, 1]), wire::Host::v4([10, 0, 0, 2])];
        let header = ip::Header { src: hosts[0], dst: hosts[1], protocol: TCP, id: 77, ttl: 64, ecn };
        ip::write(&mut f, &header, 20 + payload as u32);
        f[24..26].fill(0);
        let sum = header_sum(&f[14..34]);
        f[24..26].copy_from_slice(&sum.to_be_bytes());
        f.extend([0x04, 0x01, 0x13, 0x89, 0, 0, 0, 9, 0, 0, 0, 5, 0x50, flags, 1, 0, 0, 0, 0, 0]);
        f.extend(vec![7; payload]);
        f
    }
    fn header_sum(header: &[u8]) -> u16 {
        let mut sum: u32 = header.chunks(2).map(|c| u32::from(u16::from_be_bytes([c[0], c[1]]))).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        let _ = checksum::pseudo_header;
        !(sum as u16)
    }

    #[test]
    fn headers_are_read_and_classed() {
        let h = Headers::read(&frame(0x10, 100, 0)).unwrap();
        assert_eq!((h.from, h.to, h.ports), (0x0a00_0001, 0x0a00_0002, (1025, 5001)));
        assert_eq!((h.len, h.payload, h.seq, h.ack, h.ip_id), (140, 100, 9, 5, 77));
        assert_eq!(h.class(), Class::Data);
        assert_eq!(Headers::read(&frame(0x10, 0, 0)).unwrap().class(), Class::Ack);
        assert_eq!(Headers::read(&frame(0x11, 0, 0)).unwrap().class(), Class::Other);
        for cut in 0..54 {
            assert_eq!(Headers::read(&frame(0x10, 0, 0)[..cut]), None, "cut at {cut}");
        }
    }

    #[test]
    fn a_mark_leaves_a_valid_checksum() {
        let mut frames = Frames::default();
        let id = frames.take();
        let bytes = frame(0x10, 10, 2);
        frames.room(id)[..bytes.len()].copy_from_slice(&bytes);
        frames.keep(id, bytes.len());
        frames.mark(id);
        assert_eq!(frames.bytes(id)[15] & 3, 3);
        assert_eq!(header_sum(&frames.bytes(id)[14..34]), 0);
    }

    #[test]
    fn rooms_come_in_the_order_asked_and_places_are_used_again() {
        let mut frames = Frames::default();
        let mut ids: Vec<FrameId> = (0..1200).map(|_| frames.take()).collect();
        ids.reverse();
        for (k, room) in frames.rooms(&ids).into_iter().enumerate() {
            room[0] = k as u8;
        }
        for (k, id) in ids.iter().enumerate() {
            frames.keep(*id, 1);
            assert_eq!(frames.bytes(*id), [k as u8]);
        }
        frames.another(ids[3]);
        frames.release(ids[3]);
        assert_ne!(frames.take(), ids[3]);
        frames.release(ids[3]);
        assert_eq!(frames.take(), ids[3]);
    }
}
