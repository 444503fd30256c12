//! pcapng files (draft-ietf-opsawg-pcapng): sections of blocks, each section in its own byte order.

use crate::error::grouped;
use crate::info::{FileInfo, Interface, Resolution};
use crate::link::LinkType;
use crate::record::{Fault, Framing, MAX_PACKET, MAX_SNAP, Record, bring};
use crate::window::Window;
use wire::{Notes, Time};

pub(crate) const SECTION: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Each is kept, so a file of nothing else must not fill the memory.
const MAX_INTERFACES: usize = 1 << 16;

/// How an interface counts time.
#[derive(Clone, Copy)]
enum Ticks {
    Multiply(i64),
    Divide(u64),
    Shift(u8),
}

impl Ticks {
    fn of(resolution: Resolution) -> Ticks {
        match resolution {
            Resolution::Decimal(n @ 0..=9) => Ticks::Multiply(10i64.pow(u32::from(9 - n))),
            // 10^19 is the largest power in 64 bits; a finer clock than that has run 1 s at most.
            Resolution::Decimal(n) => Ticks::Divide(10u64.pow(u32::from(n - 9).min(19))),
            Resolution::Binary(n) => Ticks::Shift(n),
        }
    }
    #[inline]
    fn nanos(self, ticks: u64) -> i64 {
        match self {
            Ticks::Multiply(1) => ticks.min(i64::MAX as u64) as i64,
            Ticks::Multiply(k) => (ticks.min(i64::MAX as u64) as i64).saturating_mul(k),
            Ticks::Divide(k) => (ticks / k) as i64,
            Ticks::Shift(n) => {
                ((u128::from(ticks) * 1_000_000_000) >> n.min(127)).min(i64::MAX as u128) as i64
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Described {
    link: u16,
    snap: u32,
    ticks: Ticks,
    /// if_tsoffset, nanoseconds.
    offset: i64,
    /// Its place in [`FileInfo::interfaces`], over all sections.
    index: u32,
}

pub(crate) struct Pcapng {
    pub big_endian: bool,
    /// Of this section.
    interfaces: Vec<Described>,
    /// What a simple packet is given for its time: that of the packet before it.
    last: Time,
    /// Simple packets met: they carry no time.
    pub timeless: u64,
}

#[inline]
fn u32_at(b: &[u8], at: usize, big: bool) -> u32 {
    let word = [b[at], b[at + 1], b[at + 2], b[at + 3]];
    if big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}
fn u16_at(b: &[u8], at: usize, big: bool) -> u16 {
    let word = [b[at], b[at + 1]];
    if big { u16::from_be_bytes(word) } else { u16::from_le_bytes(word) }
}
fn u64_at(b: &[u8], at: usize, big: bool) -> u64 {
    let (a, z) = (u64::from(u32_at(b, at, big)), u64::from(u32_at(b, at + 4, big)));
    if big { a << 32 | z } else { z << 32 | a }
}

/// The options of a block, each a code and a value (draft-ietf-opsawg-pcapng §3.5).
pub(crate) fn each_option(mut rest: &[u8], big: bool, mut f: impl FnMut(u16, &[u8])) {
    while rest.len() >= 4 {
        let (code, len) = (u16_at(rest, 0, big), usize::from(u16_at(rest, 2, big)));
        let Some(value) = rest.get(4..4 + len) else { return };
        if code == 0 {
            return;
        }
        f(code, value);
        rest = rest.get(4 + len.next_multiple_of(4)..).unwrap_or(&[]);
    }
}

impl Pcapng {
    /// The window stands at the first section header, which `next` reads.
    pub fn start(window: &mut Window) -> Result<Pcapng, Fault> {
        bring(window, 12)?;
        Ok(Pcapng { big_endian: false, interfaces: Vec::new(), last: Time::ZERO, timeless: 0 })
    }

    #[cold]
    fn section(&mut self, window: &mut Window, file: &mut FileInfo) -> Result<(), Fault> {
        bring(window, 28)?;
        let h = window.available();
        self.big_endian = match (u32_at(h, 8, true), u32_at(h, 8, false)) {
            (BYTE_ORDER, _) => true,
            (_, BYTE_ORDER) => false,
            (other, _) => {
                let why = format!("the section's byte-order magic is {other:#010x}, not 0x1a2b3c4d");
                return Err(Fault::Nonsense { at: 8, why });
            }
        };
        let (major, minor) = (u16_at(h, 12, self.big_endian), u16_at(h, 14, self.big_endian));
        if major != 1 {
            let why = format!("pcapng version {major}.{minor} is not read, only 1");
            return Err(Fault::Nonsense { at: 12, why });
        }
        self.interfaces.clear();
        file.sections += 1;
        Ok(())
    }

    #[cold]
    fn interface(&mut self, block: &[u8], file: &mut FileInfo) -> Result<(), Fault> {
        let big = self.big_endian;
        if block.len() < 20 {
            return Err(Fault::Nonsense { at: 4, why: "an interface description is too short".into() });
        }
        if file.interfaces.len() >= MAX_INTERFACES {
            let why = format!("more than {} interfaces were described", grouped(MAX_INTERFACES as u64));
            return Err(Fault::Nonsense { at: 0, why });
        }
        let (link, snap) = (u16_at(block, 8, big), u32_at(block, 12, big));
        let mut resolution = Resolution::Decimal(6);
        let mut offset = 0i64;
        let mut name = None;
        each_option(&block[16..block.len() - 4], big, |code, value| match (code, value) {
            (2, text) => name = Some(String::from_utf8_lossy(text).trim_end_matches('\0').to_string()),
            (9, &[r, ..]) if r & 0x80 != 0 => resolution = Resolution::Binary(r & 0x7f),
            (9, &[r, ..]) => resolution = Resolution::Decimal(r),
            (14, v) if v.len() >= 8 => offset = (u64_at(v, 0, big) as i64).saturating_mul(1_000_000_000),
            _ => {}
        });
        let index = file.interfaces.len() as u32;
        self.interfaces.push(Described { link, snap, ticks: Ticks::of(resolution), offset, index });
        file.interfaces.push(Interface {
            name,
            link: LinkType(link),
            snap: (snap > 0 && snap < MAX_SNAP).then_some(snap),
            resolution,
            dropped: None,
        });
        Ok(())
    }

    /// Interface statistics: the counters are cumulative, the last block counts.
    #[cold]
    fn statistics(&mut self, block: &[u8], file: &mut FileInfo) {
        let big = self.big_endian;
        if block.len() < 24 {
            return;
        }
        let Some(of) = self.interfaces.get(u32_at(block, 8, big) as usize) else { return };
        let (mut by_interface, mut by_system) = (None, None);
        each_option(&block[20..block.len() - 4], big, |code, v| match code {
            5 if v.len() >= 8 => by_interface = Some(u64_at(v, 0, big)),
            7 if v.len() >= 8 => by_system = Some(u64_at(v, 0, big)),
            _ => {}
        });
        if by_interface.is_some() || by_system.is_some() {
            let sum = by_interface.unwrap_or(0).saturating_add(by_system.unwrap_or(0));
            file.interfaces[of.index as usize].dropped = Some(sum);
        }
    }

    /// Direction and drop count of a packet with options.
    #[cold]
    fn packet_options(&self, options: &[u8], index: u32, file: &mut FileInfo) -> Notes {
        let big = self.big_endian;
        let mut notes = Notes(0);
        each_option(options, big, |code, v| match code {
            2 if v.len() >= 4 => match u32_at(v, 0, big) & 3 {
                1 => notes.add(Notes::INBOUND),
                2 => notes.add(Notes::OUTBOUND),
                _ => {}
            },
            // Packets lost since the one before, on this interface: a sum, where ISB has a total.
            4 if v.len() >= 8 => {
                if let Some(i) = file.interfaces.get_mut(index as usize) {
                    i.dropped = Some(i.dropped.unwrap_or(0).saturating_add(u64_at(v, 0, big)));
                }
            }
            _ => {}
        });
        notes
    }

    /// A block that is no packet: read for what it says, and passed over.
    #[cold]
    fn other_block(
        &mut self,
        kind: u32,
        total: u64,
        window: &mut Window,
        file: &mut FileInfo,
    ) -> Result<(), Fault> {
        match kind {
            SECTION => self.section(window, file)?,
            INTERFACE | STATISTICS => {
                bring(window, total)?;
                let block = &window.available()[..total.min(window.capacity() as u64) as usize];
                match kind {
                    INTERFACE => self.interface(block, file)?,
                    _ => self.statistics(block, file),
                }
            }
            _ => {}
        }
        match window.skip(total) {
            0 => Ok(()),
            missing => Err(Fault::Short { needs: missing }),
        }
    }

    #[inline(always)]
    fn packet(
        &mut self,
        kind: u32,
        total: u64,
        window: &mut Window,
        file: &mut FileInfo,
    ) -> Result<Record, Fault> {
        let big = self.big_endian;
        let head = match kind {
            SIMPLE_PACKET => 12,
            _ => 28,
        };
        if total < head as u64 + 4 {
            let why = format!("a packet block of {total} bytes is too short");
            return Err(Fault::Nonsense { at: 4, why });
        }
        bring(window, total)?;
        let b = window.available();
        let id = match kind {
            ENHANCED_PACKET => u32_at(b, 8, big),
            OLD_PACKET => u32::from(u16_at(b, 8, big)),
            _ => 0,
        };
        let Some(&of) = self.interfaces.get(id as usize) else {
            let why = format!("its interface {id} was not described before it");
            return Err(Fault::Nonsense { at: 8, why });
        };
        let (time, captured, wire_len) = match kind {
            SIMPLE_PACKET => {
                self.timeless += 1;
                let wire_len = u32_at(b, 8, big);
                let snap = if of.snap == 0 { u32::MAX } else { of.snap };
                // The block itself is the limit where the snap length is not kept to.
                (self.last, wire_len.min(snap).min((total - 16) as u32), wire_len)
            }
            _ => {
                let ticks = u64::from(u32_at(b, 12, big)) << 32 | u64::from(u32_at(b, 16, big));
                let time = Time(of.ticks.nanos(ticks).saturating_add(of.offset)).within_reach();
                (time, u32_at(b, 20, big), u32_at(b, 24, big))
            }
        };
        let end = head as u64 + u64::from(captured);
        if end + 4 > total {
            let (long, room) = (grouped(captured.into()), grouped(total - 4 - head as u64));
            let why = format!("a packet of {long} bytes was announced in a block with room for {room}");
            return Err(Fault::Nonsense { at: 20.min(head as u64), why });
        }
        self.last = time;
        let whole = b.len() as u64 >= total;
        if whole && u64::from(u32_at(b, total as usize - 4, big)).next_multiple_of(4) != total {
            let trailer = grouped(u32_at(b, total as usize - 4, big).into());
            let why = format!("the block's two lengths, {} and {trailer}, differ", grouped(total));
            return Err(Fault::Nonsense { at: total - 4, why });
        }
        let options_at = end.next_multiple_of(4);
        let mut record = Record {
            time,
            link: of.link,
            fcs: 0,
            wire_len,
            captured,
            head,
            total,
            notes: Notes(0),
            interface: of.index,
            options: (0, 0),
        };
        if kind != SIMPLE_PACKET && whole && options_at + 8 <= total {
            record.options = (options_at as usize, total as usize - 4);
            record.notes = self.packet_options(&b[record.options.0..record.options.1], of.index, file);
        }
        Ok(record)
    }
}

impl Framing for Pcapng {
    #[inline(always)]
    fn next(&mut self, window: &mut Window, file: &mut FileInfo) -> Result<Option<Record>, Fault> {
        loop {
            if window.available().len() < 12 {
                match window.want(12) {
                    0 => return Ok(None),
                    have if have < 12 => return Err(Fault::Short { needs: 12 }),
                    _ => {}
                }
            }
            let h = window.available();
            let kind = u32_at(h, 0, self.big_endian);
            // The section header is the same in both orders, and says which one its own length is in.
            let big = if kind == SECTION { u32_at(h, 8, true) == BYTE_ORDER } else { self.big_endian };
            let total = u32_at(h, 4, big);
            if !(12..=MAX_PACKET).contains(&total) {
                let why = format!("a block of {} bytes was announced", grouped(total.into()));
                return Err(Fault::Nonsense { at: 4, why });
            }
            // Some writers leave the padding out of the length.
            let total = u64::from(total).next_multiple_of(4);
            match kind {
                ENHANCED_PACKET | SIMPLE_PACKET | OLD_PACKET => {
                    return self.packet(kind, total, window, file).map(Some);
                }
                _ => self.other_block(kind, total, window, file)?,
            }
        }
    }
}
