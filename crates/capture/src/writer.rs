//! Writing captures: pcapng with comments, directions and drop counts, or plain pcap; both in nanoseconds.

use crate::link::LinkType;
use std::io::{self, Write};
use wire::{Notes, Time};

/// An option's length has 16 bits; a comment is cut so that the next multiple of 4 fits.
const MAX_COMMENT: usize = 65_532;

/// A packet to be written.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewPacket<'a> {
    /// What [`Writer::interface`] gave.
    pub interface: u32,
    pub time: Time,
    pub data: &'a [u8],
    /// Its length on the wire; 0 is that of `data`.
    pub wire_len: u32,
    /// [`Notes::INBOUND`] and [`Notes::OUTBOUND`] are written, others have no place in a capture.
    pub notes: Notes,
    /// What Wireshark shows as packet comments.
    pub comments: &'a [&'a str],
}

/// Writes a capture. In pcap, interfaces beyond the first, comments, directions and statistics have no place
/// and are left out.
pub struct Writer<W: Write> {
    out: W,
    pcap: bool,
    interfaces: u32,
    /// The block that is put together.
    block: Vec<u8>,
    /// A packet's options, encoded; kept so that a packet costs no allocation.
    options: Vec<u8>,
}

fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    block.extend(code.to_le_bytes());
    block.extend((value.len() as u16).to_le_bytes());
    block.extend(value);
    pad(block);
}

fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

/// As much of `text` as an option holds.
pub(crate) fn fitting(text: &str) -> &[u8] {
    let mut end = text.len().min(MAX_COMMENT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text.as_bytes()[..end]
}

fn high_low(nanos: i64) -> [u8; 8] {
    // A pcapng time counts from 1970 on; what is before is put there.
    let t = nanos.max(0) as u64;
    let mut b = [0; 8];
    b[..4].copy_from_slice(&((t >> 32) as u32).to_le_bytes());
    b[4..].copy_from_slice(&(t as u32).to_le_bytes());
    b
}

impl<W: Write> Writer<W> {
    /// A pcapng file of one section (draft-ietf-opsawg-pcapng).
    pub fn pcapng(out: W) -> io::Result<Writer<W>> {
        Self::pcapng_about(out, None)
    }

    /// The same with a comment on the file as a whole.
    pub(crate) fn pcapng_about(out: W, about: Option<&str>) -> io::Result<Writer<W>> {
        let mut w = Writer { out, pcap: false, interfaces: 0, block: Vec::new(), options: Vec::new() };
        w.begin(0x0a0d_0d0a);
        w.block.extend(0x1a2b_3c4d_u32.to_le_bytes());
        w.block.extend([1, 0, 0, 0]);
        w.block.extend(u64::MAX.to_le_bytes()); // the section's length is not given
        if let Some(about) = about {
            option(&mut w.block, 1, fitting(about));
        }
        option(&mut w.block, 4, concat!("rexmit ", env!("CARGO_PKG_VERSION")).as_bytes());
        w.end_options();
        w.finish_block()?;
        Ok(w)
    }

    /// A pcap file of one link type with nanosecond times. A snap length of 0 is written as libpcap's 262144.
    pub fn pcap(mut out: W, link: LinkType, snap: u32) -> io::Result<Writer<W>> {
        let mut h = Vec::with_capacity(24);
        h.extend(0xa1b2_3c4d_u32.to_le_bytes());
        h.extend([2, 0, 4, 0]);
        h.extend([0; 8]);
        h.extend(if snap == 0 { crate::record::MAX_SNAP } else { snap }.to_le_bytes());
        h.extend(u32::from(link.0).to_le_bytes());
        out.write_all(&h)?;
        Ok(Writer { out, pcap: true, interfaces: 1, block: Vec::new(), options: Vec::new() })
    }

    /// Describes an interface, and gives its number. A snap length of 0 is none.
    pub fn interface(&mut self, name: Option<&str>, link: LinkType, snap: u32) -> io::Result<u32> {
        if self.pcap {
            return Ok(0);
        }
        self.begin(1);
        self.block.extend(link.0.to_le_bytes());
        self.block.extend([0, 0]);
        self.block.extend(snap.to_le_bytes());
        if let Some(name) = name {
            option(&mut self.block, 2, fitting(name));
        }
        option(&mut self.block, 9, &[9]); // if_tsresol: 10^-9 s
        self.end_options();
        self.finish_block()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    pub fn packet(&mut self, p: &NewPacket) -> io::Result<()> {
        let mut options = std::mem::take(&mut self.options);
        options.clear();
        for text in p.comments {
            option(&mut options, 1, fitting(text));
        }
        let direction = u32::from(p.notes.has(Notes::INBOUND)) | u32::from(p.notes.has(Notes::OUTBOUND)) << 1;
        if direction != 0 {
            option(&mut options, 2, &direction.to_le_bytes());
        }
        let done = self.packet_in_parts(p, p.data.len() as u32, &options, |out| out.write_all(p.data));
        self.options = options;
        done
    }

    /// A packet whose `captured` bytes `body` writes, so that it need not be in memory as a whole; `options`
    /// are encoded already, without their end.
    pub(crate) fn packet_in_parts(
        &mut self,
        p: &NewPacket,
        captured: u32,
        options: &[u8],
        body: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        let wire_len = if p.wire_len == 0 { captured } else { p.wire_len };
        self.block.clear();
        if self.pcap {
            let nanos = p.time.0.max(0) as u64;
            self.block.extend(((nanos / 1_000_000_000) as u32).to_le_bytes());
            self.block.extend(((nanos % 1_000_000_000) as u32).to_le_bytes());
            self.block.extend(captured.to_le_bytes());
            self.block.extend(wire_len.to_le_bytes());
            self.out.write_all(&self.block)?;
            return body(&mut self.out);
        }
        let padding = captured.next_multiple_of(4) - captured;
        let options_len = if options.is_empty() { 0 } else { options.len() as u32 + 4 };
        let total = 32 + captured + padding + options_len;
        self.block.extend(6u32.to_le_bytes());
        self.block.extend(total.to_le_bytes());
        self.block.extend(p.interface.to_le_bytes());
        self.block.extend(high_low(p.time.0));
        self.block.extend(captured.to_le_bytes());
        self.block.extend(wire_len.to_le_bytes());
        self.out.write_all(&self.block)?;
        body(&mut self.out)?;
        self.block.clear();
        self.block.resize(padding as usize, 0);
        if !options.is_empty() {
            self.block.extend(options);
            self.end_options();
        }
        self.block.extend(total.to_le_bytes());
        self.out.write_all(&self.block)
    }

    /// How many packets `interface` lost until `time` (interface statistics, isb_ifdrop).
    pub fn statistics(&mut self, interface: u32, time: Time, dropped: u64) -> io::Result<()> {
        if self.pcap {
            return Ok(());
        }
        self.begin(5);
        self.block.extend(interface.to_le_bytes());
        self.block.extend(high_low(time.0));
        option(&mut self.block, 5, &dropped.to_le_bytes());
        self.end_options();
        self.finish_block()
    }

    /// Hands on what is buffered, so that it outlives this process.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes, and gives back what was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend([0; 4]);
    }

    fn end_options(&mut self) {
        self.block.extend([0; 4]);
    }

    /// Puts the length at both ends, and writes the block.
    fn finish_block(&mut self) -> io::Result<()> {
        let total = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&total);
        self.block.extend(total);
        self.out.write_all(&self.block)
    }
}
