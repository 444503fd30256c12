//! A segment seen: when, between whom, and what the layers around it tell.

use crate::Time;
use crate::addr::Tuple;
use crate::checksum;
use crate::segment::Segment;
use serde::{Deserialize, Serialize};

/// What was odd or telling about a packet as it was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes(pub u16);

impl Notes {
    /// IPv4 total length was 0 (offloaded super-packet, BIG TCP): the length comes from the frame.
    pub const ZERO_IP_LENGTH: Notes = Notes(1);
    /// An IPv6 jumbogram (RFC 2675).
    pub const JUMBO: Notes = Notes(1 << 1);
    /// The capture says this host sent it (Linux cooked packet type, pcapng flags, BSD direction).
    pub const OUTBOUND: Notes = Notes(1 << 2);
    /// The capture says this host received it.
    pub const INBOUND: Notes = Notes(1 << 3);
    /// Put together from the first of several IP fragments.
    pub const FRAGMENTED: Notes = Notes(1 << 4);
    /// Came inside a tunnel (GRE, VXLAN, GTP-U, IP in IP).
    pub const TUNNELLED: Notes = Notes(1 << 5);
    /// The TCP checksum was verified over the whole segment, and is wrong.
    pub const BAD_CHECKSUM: Notes = Notes(1 << 6);
    /// The TCP checksum is that of the pseudo-header alone: left for the network card to finish.
    pub const PARTIAL_CHECKSUM: Notes = Notes(1 << 8);
    /// The IP ECN field (RFC 3168 §5), two bits.
    pub const ECN: Notes = Notes(3 << Notes::ECN_SHIFT);
    const ECN_SHIFT: u32 = 9;
    /// Bits that will be no notes: whoever keeps packets may keep something of their own there.
    pub const SPARE: Notes = Notes(7 << 13);

    /// What the IP ECN field says: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced (RFC 3168 §5).
    pub fn ecn(self) -> u8 {
        ((self.0 & Notes::ECN.0) >> Notes::ECN_SHIFT) as u8
    }
    /// The same with this ECN field.
    #[must_use]
    pub fn with_ecn(self, field: u8) -> Notes {
        Notes(self.0 & !Notes::ECN.0 | u16::from(field & 3) << Notes::ECN_SHIFT)
    }
    pub fn has(self, any: Notes) -> bool {
        self.0 & any.0 != 0
    }
    pub fn with(self, more: Notes) -> Notes {
        Notes(self.0 | more.0)
    }
    pub fn add(&mut self, more: Notes) {
        self.0 |= more.0;
    }
}

/// One TCP segment as a vantage point saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    pub time: Time,
    /// Its place in the capture, counting from 1, other protocols included.
    pub number: u64,
    pub tuple: Tuple,
    pub seg: Segment,
    /// Bytes on the wire, as the capture gives them (link header included).
    pub wire_len: u32,
    /// IPv4 identification, 0 for IPv6.
    pub ip_id: u16,
    /// The TCP checksum field as captured.
    pub checksum: u16,
    /// TTL or hop limit.
    pub ttl: u8,
    pub notes: Notes,
}

impl Packet {
    /// Is the checksum field that of the pseudo-header alone?
    #[inline]
    pub fn has_partial_checksum(&self) -> bool {
        self.has_partial_checksum_between(checksum::hosts(&self.tuple))
    }

    /// The same where the sum of its hosts is known.
    #[inline]
    pub fn has_partial_checksum_between(&self, hosts: u16) -> bool {
        let tcp_len = self.seg.payload + u32::from(self.seg.header_len);
        self.notes.has(Notes::PARTIAL_CHECKSUM)
            || self.checksum == checksum::pseudo_header_between(hosts, tcp_len)
    }
}
