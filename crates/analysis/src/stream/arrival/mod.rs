//! What is this packet: new, sent before, doubled on its way, overtaken, a probe? Told by sequence, timestamp and IP
//! identification, beside those of what came before.

mod identification;
#[cfg(test)]
mod tests;

use super::facts::{Agreed, Stand};
use super::ledger::{Outstanding, Passing};
use crate::Fate;
use crate::short_connections::folded;
pub use identification::Ids;
use wire::{Flags, Packet, Seq, Span, Time};

/// How late a packet may be on any path and still only be late.
pub const LATE: Span = Span::from_millis(3);

/// A data packet, placed in its stream.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    pub packet: &'a Packet,
    pub start: u64,
    pub end: u64,
    pub fate: Fate,
    pub ts: u32,
}

impl Piece<'_> {
    /// As the ledger takes it in.
    #[inline(always)]
    pub fn passing(&self, heard: u32) -> Passing {
        Passing::new(self.packet, (self.start, self.end), self.ts, heard, self.fate)
    }
    fn fins(&self) -> bool {
        self.packet.seg.flags.has(Flags::FIN)
    }
}

/// What a packet with data turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Beyond all that was seen.
    New,
    /// From below that: overtaken, or sent again.
    Again,
    /// From before the first that was seen: the capture began within this flight, and its packets are out of order.
    Early,
    WindowProbe,
    KeepAlive,
    /// The same packet, captured at two places, or doubled by the network.
    CapturedTwice,
    Doubled,
    /// Data that came already, in a packet that its own repair has overtaken.
    Late,
}

/// What a packet from below the highest is held against, beside how the stream stands.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What of it is outstanding, where it begins.
    pub outstanding: Option<Outstanding>,
    /// Offset of the byte before the first seen, and what was acknowledged before any was.
    pub base: u64,
    pub acked_before: Option<u64>,
    pub first_data: Option<Time>,
    /// The least round trip as it shows here, and as the sender has it.
    pub rtt_min: Option<Span>,
    pub round: Span,
    /// A packet may stand in the capture twice.
    pub may_hold_twice: bool,
}

/// The newest timestamp of the sender, when it was first seen, and where its data began.
#[derive(Clone, Copy, Debug, Default)]
struct Tick {
    ts: u32,
    from: u64,
    began: Time,
}

/// What came before.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Arrivals {
    pub ids: Ids,
    /// What the sender itself acknowledged last.
    last_acked: Option<Seq>,
    /// Of what was sent first; a copy with another one has passed a router since.
    ttl: u8,
    tick: Tick,
}

impl Arrivals {
    /// What is it? It is taken in as far as its IP identification tells that it is no repair.
    pub fn classify(&mut self, p: &Piece, stand: &Stand<'_>, known: impl FnOnce() -> Known) -> Kind {
        match () {
            () if is_probe_of_the_window(p, stand) => Kind::WindowProbe,
            () if is_keep_alive(p, stand) => Kind::KeepAlive,
            () if p.start >= stand.next => Kind::New,
            () => self.classify_old(p, stand, &known()),
        }
    }

    fn classify_old(&mut self, p: &Piece, stand: &Stand<'_>, known: &Known) -> Kind {
        if comes_before_the_first(p, stand.agreed, known) {
            return Kind::Early;
        }
        self.twice(p, known).or_else(|| self.older(p, stand, known)).unwrap_or(Kind::Again)
    }

    /// New data leaves, or a repair: the sender's clock is followed, up to `next` before this one.
    #[inline(always)]
    pub fn note(&mut self, p: &Piece, next: u64) {
        if self.tick.ts == 0 || (p.ts.wrapping_sub(self.tick.ts) as i32) > 0 {
            self.tick = Tick { ts: p.ts, from: next, began: p.packet.time };
        }
        if p.packet.seg.payload > 0 {
            self.ttl = p.packet.ttl;
        }
    }

    /// New data with the number expected does.
    #[inline(always)]
    pub fn note_expected(&mut self, p: &Piece, next: u64) {
        self.note(p, next);
        self.ids.take_expected(p.packet.ip_id);
        self.ids.note_highest(p.packet.ip_id);
        self.last_acked = Some(p.packet.seg.ack);
    }

    /// A packet without data comes from the sender.
    #[inline(always)]
    pub fn note_bare(&mut self, packet: &Packet) {
        self.ids.note(packet.ip_id, 1, Some(0));
        self.last_acked = Some(packet.seg.ack);
    }

    /// The sender acknowledges more than in its last packet: the packet missing before this one may have been a bare ACK.
    pub fn note_lost_acks(&mut self, packet: &Packet) {
        if self.ids.skipped > 0 && self.last_acked.is_some_and(|a| a != packet.seg.ack) {
            self.ids.were_no_data();
        }
        self.last_acked = Some(packet.seg.ack);
    }

    /// What was sent after it came before it.
    pub fn was_overtaken(&self, p: &Piece, agreed: &Agreed) -> bool {
        self.ids.are_counted()
            && self.ids.was_overtaken(p.packet.ip_id, agreed.segments(p.packet.seg.payload))
    }

    /// The same packet once more: captured on two interfaces, or doubled on the way. A retransmission is a new
    /// packet, with an IP identification of its own where the host counts them.
    fn twice(&self, p: &Piece, known: &Known) -> Option<Kind> {
        let seg = known.outstanding?;
        if seg.copies == 0 || folded(seg.checksum) != folded(p.packet.checksum) {
            return None;
        }
        let soon = p.packet.time - seg.last_time;
        let same_packet = match (seg.ip_id, p.packet.ip_id) {
            (0, 0) => seg.last_ts == p.ts && soon < known.rtt_min.unwrap_or(Span::from_millis(1)) / 2,
            (a, b) => a == b && soon < Span::from_secs(2),
        };
        // A router has passed it on since: one packet, seen at two places.
        let elsewhere = p.packet.ttl != self.ttl;
        let captured = known.may_hold_twice && (elsewhere || soon < Span::from_millis(1));
        same_packet.then_some(if captured { Kind::CapturedTwice } else { Kind::Doubled })
    }

    /// Data that is here already, in a packet older than the newest: doubled on the way, or overtaken by its own
    /// repair. A retransmission is newer than all that its sender had sent until then, and than the data above it, if
    /// it was overtaken itself.
    fn older(&mut self, p: &Piece, stand: &Stand<'_>, known: &Known) -> Option<Kind> {
        let fills = known.outstanding.is_some_and(|s| s.hole);
        if fills || p.end > stand.next {
            return None;
        }
        let id = p.packet.ip_id;
        if self.ids.are_counted() && id != 0 {
            let above = (stand.next - p.end).div_ceil(unit(p, stand));
            let come = self.ids.has_come(id);
            if !self.ids.is_behind(id) || !come && self.ids.is_of_a_repair(id, above) {
                return None;
            }
            self.ids.note(id, 1, Some(0));
            return Some(if come { Kind::Doubled } else { Kind::Late });
        }
        let tick = &self.tick;
        let older = p.ts.wrapping_sub(tick.ts) as i32;
        // RFC 7323 §4.1: the clock does not run backwards. Within a tick, nothing is repaired sooner than a
        // round trip after it was sent.
        let soon = || p.packet.time - tick.began < known.round.scale(0.7);
        let before = older < 0 || older == 0 && p.start >= tick.from && soon();
        (p.ts != 0 && tick.ts != 0 && before).then_some(Kind::Doubled)
    }
}

/// How much a segment carries that was not seen: a sender of small messages fills none.
pub fn unit(p: &Piece, stand: &Stand<'_>) -> u64 {
    u64::from(stand.last.largest.max(p.packet.seg.payload).clamp(1, stand.agreed.mss.max(1)))
}

/// One byte or none from below the window's edge, while the window is shut (RFC 9293 §3.8.6.1).
fn is_probe_of_the_window(p: &Piece, stand: &Stand<'_>) -> bool {
    let payload = p.packet.seg.payload;
    let repeats = p.start < stand.next || stand.una < stand.next;
    stand.window.now == 0 && payload <= 1 && p.end <= stand.next + 1 && !p.fins() && (repeats || payload > 0)
}

/// A byte that is long acknowledged, sent to hear whether the other end is alive (RFC 9293 §3.8.4).
fn is_keep_alive(p: &Piece, stand: &Stand<'_>) -> bool {
    let one_below = p.start + 1 == stand.next && p.end <= stand.next && stand.una == stand.next;
    one_below && p.packet.seg.payload <= 1 && !p.fins() && stand.last.payload > 1
}

/// Data that was not seen and not acknowledged before, as early as the first.
fn comes_before_the_first(p: &Piece, agreed: &Agreed, known: &Known) -> bool {
    if !agreed.mid_stream || p.end > known.base + 1 {
        return false;
    }
    let acked = known.acked_before.is_some_and(|ack| ack >= p.end);
    let since = p.packet.time - known.first_data.unwrap_or(p.packet.time);
    let soon = known.rtt_min.unwrap_or(Span::ZERO).scale(0.7).max(LATE);
    !acked && since <= soon
}
