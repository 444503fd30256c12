//! pcap files (draft-ietf-opsawg-pcap): a header, then packets, in the byte order of who wrote them.

use crate::error::grouped;
use crate::info::{FileInfo, Interface, Resolution};
use crate::link::LinkType;
use crate::record::{Fault, Framing, MAX_PACKET, MAX_SNAP, Record, bring};
use crate::window::Window;
use wire::{Notes, Time};

pub(crate) const HEADER: usize = 24;

pub(crate) struct Pcap {
    big_endian: bool,
    /// Nanoseconds in one tick of the record's fraction.
    tick: u32,
    /// Bytes of a record's header: 16, or 24 in the "modified" format of Linux patches.
    record_header: usize,
    swapped_lengths: Swapped,
    link: u16,
    fcs: u8,
    longest: u32,
}

/// Files before version 2.3, and some of 2.3, hold the lengths in the other order.
#[derive(Clone, Copy, PartialEq)]
enum Swapped {
    No,
    Yes,
    IfLarger,
}

#[inline(always)]
fn u32_at(b: &[u8], at: usize, big: bool) -> u32 {
    let word = [b[at], b[at + 1], b[at + 2], b[at + 3]];
    if big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}

/// Byte order, tick and record header by the magic number.
pub(crate) fn magic(head: &[u8]) -> Option<(bool, u32, usize)> {
    let m = head.first_chunk::<4>()?;
    Some(match (u32::from_be_bytes(*m), u32::from_le_bytes(*m)) {
        (0xa1b2_c3d4, _) => (true, 1000, 16),
        (_, 0xa1b2_c3d4) => (false, 1000, 16),
        (0xa1b2_3c4d, _) => (true, 1, 16),
        (_, 0xa1b2_3c4d) => (false, 1, 16),
        (0xa1b2_cd34, _) => (true, 1000, 24),
        (_, 0xa1b2_cd34) => (false, 1000, 24),
        _ => return None,
    })
}

impl Pcap {
    /// Reads the file header; the window stands at its first byte.
    pub fn start(window: &mut Window, file: &mut FileInfo) -> Result<Pcap, Fault> {
        bring(window, HEADER as u64)?;
        let h = window.available();
        let Some((big, tick, record_header)) = magic(h) else {
            return Err(Fault::Nonsense { at: 0, why: "the magic number is not that of pcap".into() });
        };
        let half = |at: usize| {
            let b = [h[at], h[at + 1]];
            if big { u16::from_be_bytes(b) } else { u16::from_le_bytes(b) }
        };
        let (major, minor) = (half(4), half(6));
        if major != 2 {
            let why = format!("pcap version {major}.{minor} is not read, only 2");
            return Err(Fault::Nonsense { at: 4, why });
        }
        let snap = u32_at(h, 16, big);
        let link = u32_at(h, 20, big);
        // draft-ietf-opsawg-pcap §4: bit 26 says that bits 28..31 count the FCS in units of 2 bytes.
        let fcs = if link & (1 << 26) != 0 { (link >> 28) as u8 * 2 } else { 0 };
        let resolution = Resolution::Decimal(if tick == 1 { 9 } else { 6 });
        file.interfaces.push(Interface {
            name: None,
            link: LinkType(link as u16),
            snap: (snap > 0 && snap < MAX_SNAP).then_some(snap),
            resolution,
            dropped: None,
        });
        window.consume(HEADER);
        Ok(Pcap {
            big_endian: big,
            tick,
            record_header,
            swapped_lengths: match minor {
                0..=2 => Swapped::Yes,
                3 => Swapped::IfLarger,
                _ => Swapped::No,
            },
            link: link as u16,
            fcs,
            longest: snap.clamp(MAX_SNAP, MAX_PACKET),
        })
    }

    #[cold]
    fn unswap(&self, captured: u32, wire_len: u32) -> (u32, u32) {
        // A captured length cannot be above the wire length: 2.3 was written in both orders, and some who
        // wrote 2.2 had them right already.
        match self.swapped_lengths {
            Swapped::Yes | Swapped::IfLarger if captured > wire_len => (wire_len, captured),
            _ => (captured, wire_len),
        }
    }

    #[cold]
    fn too_long(&self, captured: u32) -> Fault {
        let (long, most) = (grouped(captured.into()), grouped(self.longest.into()));
        let why = format!("a packet of {long} bytes was announced, where at most {most} can be");
        Fault::Nonsense { at: 8, why }
    }
}

/// A file that was never written to its end, or that was made to be long: each 16 bytes of it would be a packet of no
/// bytes at time 0. A few such packets are packets.
#[cold]
fn only_zeros(window: &mut Window) -> bool {
    const MANY: usize = 4096;
    window.want(MANY) >= MANY && window.available()[..MANY].iter().all(|byte| *byte == 0)
}

impl Framing for Pcap {
    #[inline(always)]
    fn next(&mut self, window: &mut Window, _file: &mut FileInfo) -> Result<Option<Record>, Fault> {
        let head = self.record_header;
        if window.held() < head {
            match window.want(head) {
                0 => return Ok(None),
                have if have < head => return Err(Fault::Short { needs: head as u64 }),
                _ => {}
            }
        }
        let Some(h) = window.available().first_chunk::<16>() else {
            return Err(Fault::Short { needs: head as u64 });
        };
        let words = |big| [u32_at(h, 0, big), u32_at(h, 4, big), u32_at(h, 8, big), u32_at(h, 12, big)];
        let [seconds, fraction, mut captured, mut wire_len] =
            if self.big_endian { words(true) } else { words(false) };
        if self.swapped_lengths != Swapped::No {
            (captured, wire_len) = self.unswap(captured, wire_len);
        }
        if captured > self.longest {
            return Err(self.too_long(captured));
        }
        if wire_len == 0 && seconds == 0 && captured == 0 && only_zeros(window) {
            let why = "nothing but zeros: a disk was full, or the file was not written to its end".into();
            return Err(Fault::Nonsense { at: 0, why });
        }
        let total = head as u64 + u64::from(captured);
        bring(window, total)?;
        let time = Time(i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * i64::from(self.tick));
        Ok(Some(Record {
            time,
            link: self.link,
            fcs: self.fcs,
            wire_len,
            captured,
            head,
            total,
            notes: Notes(0),
            interface: 0,
            options: (0, 0),
        }))
    }
}
