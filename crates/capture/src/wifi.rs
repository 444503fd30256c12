//! 802.11 as a radio hears it: the headers that drivers put before a frame, the frame's own, and what is in it.
//! Where the frame is a data frame that nobody encrypted, that is LLC with SNAP, or several of these (A-MSDU).

use crate::decode::{Found, Walk, Wrong};
use crate::layers::{Rest, be16};
use crate::link::LinkType;

/// 802.11's frame check sequence, of which a driver says whether it is there.
const FCS: u32 = 4;
/// LLC with SNAP, and the organisation of RFC 1042.
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
/// CCMP's and TKIP's header (IEEE 802.11-2020 §12.5), which a driver that decrypts may leave in the frame.
const CIPHER_HEADER: usize = 8;

fn le16(b: &[u8], at: usize) -> Option<u16> {
    b.get(at..at + 2).map(|w| u16::from_le_bytes([w[0], w[1]]))
}
fn le32(b: &[u8], at: usize) -> Option<u32> {
    b.get(at..)?.first_chunk::<4>().map(|w| u32::from_le_bytes(*w))
}

/// What stands before a frame says of it.
#[derive(Clone, Copy, Default)]
struct Radio {
    fcs: bool,
    /// Padded between header and data to a multiple of four bytes.
    padded: bool,
    /// The check sequence was wrong: any bit may be.
    damaged: bool,
    /// The two bytes of frame control may be the other way round.
    either_order: bool,
}

impl Walk<'_> {
    /// Radiotap (radiotap.org): a length, a word or more of what is present, then the fields, each aligned to its size.
    pub fn radiotap(&mut self, r: Rest) -> Option<Found> {
        let length = usize::from(le16(r.bytes, 2)?);
        let first = le32(r.bytes, 4)?;
        let mut at = 8;
        let mut present = first;
        while present >> 31 == 1 {
            present = le32(r.bytes, at)?;
            at += 4;
        }
        if r.bytes[0] != 0 || length < at {
            return Some(Found::NonIp);
        }
        // The clock comes first if it is there, eight bytes; then the flags.
        if first & 1 != 0 {
            at = at.next_multiple_of(8) + 8;
        }
        let flags = if first & 2 != 0 && at < length { *r.bytes.get(at)? } else { 0 };
        let radio = Radio {
            fcs: flags & 0x10 != 0,
            padded: flags & 0x20 != 0,
            damaged: flags & 0x40 != 0,
            ..Radio::default()
        };
        self.wifi(radio, r.behind(length)?)
    }

    /// The header of Prism's drivers, whose length is in the host's order, or AVS's, whose is in network order.
    pub fn prism(&mut self, r: Rest) -> Option<Found> {
        let word = r.bytes.get(4..)?.first_chunk::<4>()?;
        let avs = r.bytes.starts_with(&[0x80, 0x21, 0x10]);
        let little = u32::from_le_bytes(*word);
        let length = if avs || little > 0xffff { u32::from_be_bytes(*word) } else { little };
        self.wifi(Radio::default(), r.behind(length as usize)?)
    }

    /// Per-packet information (PPI): fields before a frame of any link type, which is named.
    pub fn ppi(&mut self, r: Rest) -> Option<Found> {
        let length = usize::from(le16(r.bytes, 2)?);
        let link = LinkType(u16::try_from(le32(r.bytes, 4)?).unwrap_or(u16::MAX));
        if link != LinkType::IEEE802_11 {
            return if link == LinkType::PPI {
                Some(Found::NonIp)
            } else {
                self.frame(link, r.behind(length)?)
            };
        }
        let (mut at, mut radio) = (8, Radio::default());
        while at + 4 <= length {
            let (kind, size) = (le16(r.bytes, at)?, usize::from(le16(r.bytes, at + 2)?));
            // 802.11-Common: a clock, then flags
            if kind == 2 && size >= 10 {
                let flags = le16(r.bytes, at + 12)?;
                (radio.fcs, radio.damaged) = (flags & 1 != 0, flags & 4 != 0);
            }
            at += 4 + size;
        }
        self.wifi(radio, r.behind(length)?)
    }

    /// 802.11 with nothing before it.
    pub fn bare_wifi(&mut self, r: Rest) -> Option<Found> {
        self.wifi(Radio::default(), r)
    }

    /// Sent on in a tunnel of an access point. Cisco's swap the bytes of frame control.
    pub fn wired_wifi(&mut self, r: Rest) -> Option<Found> {
        self.wifi(Radio { either_order: true, ..Radio::default() }, r)
    }

    /// A frame (IEEE 802.11-2020 §9.2.3).
    fn wifi(&mut self, radio: Radio, mut r: Rest) -> Option<Found> {
        if self.too_deep() {
            return Some(Found::Malformed(Wrong::TooManyLayers));
        }
        if radio.damaged {
            return Some(Found::Malformed(Wrong::FrameCheck));
        }
        if radio.fcs {
            r.wire = r.wire.saturating_sub(FCS);
            r.bytes = &r.bytes[..r.bytes.len().min(r.wire as usize)];
        }
        let [mut first, mut flags] = *r.bytes.first_chunk::<2>()?;
        if radio.either_order && first & 0xf != 8 {
            (first, flags) = (flags, first);
        }
        // Version 0, type 2 is data; its subtypes from 4 on without data have the third bit set.
        if first & 0xf != 8 || first & 0x40 != 0 {
            return Some(Found::NonIp);
        }
        let (qos, four_addresses) = (first & 0x80 != 0, flags & 3 == 3);
        let mut length = if four_addresses { 30 } else { 24 };
        let mut aggregated = false;
        if qos {
            aggregated = *r.bytes.get(length)? & 0x80 != 0;
            length += 2;
            // +HTC: the high-throughput control field
            length += if flags & 0x80 != 0 { 4 } else { 0 };
        }
        if radio.padded {
            length = length.next_multiple_of(4);
        }
        let fragment = le16(r.bytes, 22)? & 0xf;
        let mut data = r.behind(length)?;
        if flags & 0x40 != 0 {
            // Encrypted, or the driver decrypted it and left the bit.
            data = match [0, CIPHER_HEADER]
                .into_iter()
                .find(|n| data.bytes.get(*n..).is_some_and(|b| b.starts_with(&SNAP)))
            {
                Some(n) if !aggregated => data.behind(n)?,
                _ => return Some(Found::Encrypted),
            };
        }
        // Where bytes may be swapped those of the number may be, too; and who sends frames on has put them together.
        if fragment > 0 && !radio.either_order {
            return Some(Found::Fragment);
        }
        match aggregated {
            true => self.amsdu(data),
            false => self.llc(data),
        }
    }

    /// An A-MSDU (§9.3.2.2.2): two addresses, a length, LLC; each but the last padded to four bytes.
    fn amsdu(&mut self, mut r: Rest) -> Option<Found> {
        let (mut found, before) = (None, self.packet);
        while r.wire >= 14 {
            let Some(head) = r.bytes.first_chunk::<14>() else { break };
            let length = u32::from(be16(head, 12));
            let Some(mut inner) = r.behind(14) else { break };
            if length > inner.wire {
                break;
            }
            inner.wire = length;
            inner.bytes = &inner.bytes[..inner.bytes.len().min(length as usize)];
            let kept = self.packet;
            self.packet = before;
            match self.llc(inner) {
                // The first segment is the frame's; those behind it wait beside it.
                Some(Found::Tcp) if found == Some(Found::Tcp) => {
                    self.another();
                    self.packet = kept;
                }
                Some(Found::Tcp) => found = Some(Found::Tcp),
                other => {
                    self.packet = kept;
                    found = found.or(other);
                }
            }
            let Some(next) = r.behind((14 + length as usize).next_multiple_of(4)) else { break };
            r = next;
        }
        found
    }
}
