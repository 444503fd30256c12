//! A TCP segment as a value: its header, no payload.

use crate::seq::Seq;
use serde::{Deserialize, Serialize};

/// The flag byte of the TCP header (RFC 9293 §3.1, RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flags(pub u8);

impl Flags {
    pub const FIN: Flags = Flags(0x01);
    pub const SYN: Flags = Flags(0x02);
    pub const RST: Flags = Flags(0x04);
    pub const PSH: Flags = Flags(0x08);
    pub const ACK: Flags = Flags(0x10);
    pub const URG: Flags = Flags(0x20);
    pub const ECE: Flags = Flags(0x40);
    pub const CWR: Flags = Flags(0x80);

    pub fn has(self, any: Flags) -> bool {
        self.0 & any.0 != 0
    }
    pub fn with(self, more: Flags) -> Flags {
        Flags(self.0 | more.0)
    }
    pub fn without(self, some: Flags) -> Flags {
        Flags(self.0 & !some.0)
    }
}

/// The timestamps option (RFC 7323 §3): the sender's clock, and the receiver's that it echoes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    pub val: u32,
    pub ecr: u32,
}

/// Up to four SACK blocks in the order sent (RFC 2018 §3); each is `[left, right)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    count: u8,
    blocks: [(Seq, Seq); 4],
}

impl SackBlocks {
    pub const NONE: SackBlocks = SackBlocks { count: 0, blocks: [(Seq(0), Seq(0)); 4] };

    /// Adds a block; a fifth is dropped, since 40 bytes of options have room for four.
    pub fn push(&mut self, left: Seq, right: Seq) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = (left, right);
            self.count += 1;
        }
    }
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A TCP header as a value. `payload` is the length in bytes; the bytes themselves never come this far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub seq: Seq,
    pub ack: Seq,
    /// Payload length in bytes, by the IP length; up to 4 GiB for jumbograms.
    pub payload: u32,
    /// The window field as sent, not scaled.
    pub window: u16,
    pub flags: Flags,
    /// Maximum segment size (SYN only; RFC 9293 §3.2).
    pub mss: Option<u16>,
    /// Window scale (SYN only; RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// SACK permitted (SYN only; RFC 2018 §2).
    pub sack_permitted: bool,
    /// The capture cut the options off: what is absent here may have been there.
    pub options_cut: bool,
    /// Length of the header as sent, options included, bytes.
    pub header_len: u8,
    pub timestamps: Option<Timestamps>,
    pub sack: SackBlocks,
}

impl Segment {
    /// The sequence space it takes: payload, SYN and FIN (RFC 9293 §3.4).
    pub fn seq_len(&self) -> u32 {
        // A damaged header can claim a payload of any length.
        let flags = u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN));
        self.payload.saturating_add(flags)
    }
}
