//! What packet filters log: the packet behind what they say of it.

use crate::decode::{Found, Walk};
use crate::layers::Rest;

/// The packet itself, among Linux's attributes (NFULA_PAYLOAD).
const PAYLOAD: u16 = 9;

impl Walk<'_> {
    /// Linux's NFLOG: family, version and number of the log, then attributes in the order of bytes of the host that
    /// captured, each padded to four bytes (tcpdump.org/linktypes/LINKTYPE_NFLOG.html).
    pub fn nflog(&mut self, r: Rest) -> Option<Found> {
        let mut rest = r.behind(4)?;
        loop {
            let h = rest.bytes.first_chunk::<4>()?;
            // Attributes have numbers from 1 to 255: where the first byte is none, a big-endian host wrote it.
            let word = if h[2] == 0 { u16::from_be_bytes } else { u16::from_le_bytes };
            let (length, kind) = (word([h[0], h[1]]), word([h[2], h[3]]));
            if length < 4 {
                return Some(Found::NonIp);
            }
            if kind == PAYLOAD {
                return self.ip(rest.behind(4)?);
            }
            rest = rest.behind(usize::from(length).next_multiple_of(4))?;
        }
    }

    /// OpenBSD's pflog: a header that says how long it is, padded to four bytes, then the packet
    /// (tcpdump.org/linktypes/LINKTYPE_PFLOG.html).
    pub fn pflog(&mut self, r: Rest) -> Option<Found> {
        let length = usize::from(*r.bytes.first()?);
        self.ip(r.behind(length.next_multiple_of(4))?)
    }
}
