//! IP fragments of TCP segments: the first one's header waits until the last one tells the length.

use std::collections::VecDeque;
use wire::ip::Fragment;
use wire::{Host, Packet, Span, Time};

/// Datagrams that wait at the same time; the oldest gives way.
const MOST: usize = 128;
/// Capture time after which a datagram's rest is not waited for. Fragments leave a host back to back: on a
/// modem's 9.6 kb/s a datagram of 1500 bytes takes 1.3 s.
const PATIENCE: Span = Span::from_secs(2);

/// Source, destination, identification (RFC 791 §3.2); the protocol is TCP.
pub(crate) type Key = (Host, Host, u32);

/// One fragment: its place, the bytes of it, and the TCP header's length if it is the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub place: Fragment,
    pub len: u32,
    pub header: u32,
}

struct Waiting {
    key: Key,
    since: Time,
    /// The first fragment as a packet, and its TCP header's length.
    first: Option<(Packet, u32)>,
    /// Payload of the datagram, once the last fragment was seen.
    total: Option<u32>,
    covered: u32,
    /// The furthest byte seen.
    extent: u32,
    wire_len: u32,
}

impl Waiting {
    /// The segment, as long as is known.
    fn segment(&self) -> Option<Packet> {
        let (mut packet, header) = self.first?;
        packet.seg.payload = self.total.unwrap_or(self.extent).saturating_sub(header);
        packet.wire_len = self.wire_len;
        Some(packet)
    }
}

#[derive(Default)]
pub(crate) struct Fragments {
    waiting: Vec<Waiting>,
    /// Given up, with the length known so far.
    pub late: VecDeque<Packet>,
}

impl Fragments {
    /// Takes a fragment; the whole segment if it was the last that was missing. The segment then has the time
    /// and number of this fragment, since only now all of it has passed.
    pub fn add(&mut self, key: Key, piece: Piece, packet: &Packet) -> Option<Packet> {
        self.expire(packet.time);
        let at = match self.waiting.iter().rposition(|w| w.key == key) {
            Some(at) => at,
            None => {
                if self.waiting.len() >= MOST {
                    let oldest = self.waiting.remove(0);
                    self.late.extend(oldest.segment());
                }
                self.waiting.push(Waiting {
                    key,
                    since: packet.time,
                    first: None,
                    total: None,
                    covered: 0,
                    extent: 0,
                    wire_len: 0,
                });
                self.waiting.len() - 1
            }
        };
        let w = &mut self.waiting[at];
        let end = piece.place.offset + piece.len;
        if piece.place.offset == 0 && w.first.is_none() {
            w.first = Some((*packet, piece.header));
        }
        if !piece.place.more {
            w.total = Some(end);
        }
        w.covered = w.covered.saturating_add(piece.len);
        w.extent = w.extent.max(end);
        w.wire_len = w.wire_len.saturating_add(packet.wire_len);
        if w.total.is_none_or(|t| w.covered < t) {
            return None;
        }
        let whole = w.segment()?;
        self.waiting.remove(at);
        Some(Packet { time: packet.time, number: packet.number, ..whole })
    }

    /// Gives up datagrams that have waited too long.
    #[inline]
    pub fn expire(&mut self, now: Time) {
        if self.waiting.first().is_some_and(|w| now - w.since > PATIENCE) {
            self.drop_older_than(now);
        }
    }

    #[cold]
    fn drop_older_than(&mut self, now: Time) {
        let late = &mut self.late;
        self.waiting.retain(|w| {
            let keep = now - w.since <= PATIENCE;
            if !keep {
                late.extend(w.segment());
            }
            keep
        });
    }

    /// At the end of the capture nothing more comes.
    pub fn finish(&mut self) {
        self.drop_older_than(Time::FAR_FUTURE);
    }
}
