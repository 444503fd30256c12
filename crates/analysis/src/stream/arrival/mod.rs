//! What is this packet: new, sent before, doubled on its way, overtaken, a probe? Told by sequence, timestamp and IP
//! identification, beside those of what came before.

mod identification;

use super::facts::{Agreed, FlowState};
use super::ledger::{CopySeen, Outstanding};
use crate::Fate;
use crate::assumptions::MIN_RTO_SEEN;
use crate::short_connections::folded;
pub use identification::IpIdCounter;
use wire::{Flags, Packet, Seq, Span, Time};

/// A packet that is late by at most this much counts as reordered, however short the round trip.
pub const LATE: Span = Span::from_millis(3);

/// Packets missing at one time that show a host to send on other connections count for so many.
const AN_EVENT: u32 = 4;

/// A data packet, placed in its stream.
#[derive(Clone, Copy)]
pub struct PlacedPacket<'a> {
    pub packet: &'a Packet,
    pub start: u64,
    pub end: u64,
    pub fate: Fate,
    pub ts: u32,
}

impl PlacedPacket<'_> {
    /// As the ledger takes it in.
    #[inline(always)]
    pub fn passing(&self, heard: u32) -> CopySeen {
        CopySeen::new(self.packet, (self.start, self.end), self.ts, heard, self.fate)
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
    /// Below the highest sequence number seen: a reordered original or a retransmission.
    Again,
    /// From before the first that was seen: the capture began within this flight, and its packets are out of order.
    BeforeFirstSeen,
    WindowProbe,
    KeepAlive,
    /// A FIN without data that repeats no data: it had been acknowledged, or it is sent to acknowledge something.
    FinAgain,
    /// The same packet, captured at two places.
    CapturedTwice,
    /// The same packet, duplicated by the network; without IP identifications also a late original.
    Doubled,
    /// An original that arrives after its own retransmission.
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

/// The newest timestamp of the sender, the offset where data with it begins, and when it was first seen.
#[derive(Clone, Copy, Debug, Default)]
struct Tick {
    ts: u32,
    from: u64,
    began: Time,
}

/// Data in order with nothing outstanding, before which the numbers of packets are missing.
#[derive(Clone, Copy, Debug, Default)]
struct Skipping {
    end: u64,
    seen: Time,
    /// More are missing than ACKs can have been lost; and than a timer can have tried in vain to send.
    missing: u32,
    data: u32,
}

/// What came before.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Arrivals {
    pub ids: IpIdCounter,
    /// Packets of the other host that had been seen when this host's last packet came.
    heard: u32,
    skipping: Skipping,
    /// Data was missing in the sequence, so the path loses packets.
    loses: bool,
    /// When the host was last seen to have sent packets on other connections.
    elsewhere: Option<Time>,
    /// What the sender itself acknowledged last.
    last_acked: Option<Seq>,
    /// The TTL of the latest new or retransmitted data packet; a duplicate with another one was captured behind a
    /// router.
    ttl: u8,
    tick: Tick,
}

impl Arrivals {
    /// What is it? It is taken in as far as its IP identification tells that it is no repair.
    pub fn classify(
        &mut self,
        p: &PlacedPacket,
        flow_state: &FlowState<'_>,
        known: impl FnOnce() -> Known,
    ) -> Kind {
        match () {
            () if is_probe_of_the_window(p, flow_state) => Kind::WindowProbe,
            () if is_keep_alive(p, flow_state) => Kind::KeepAlive,
            () if p.start >= flow_state.next => Kind::New,
            () if self.is_fin_again(p, flow_state) => Kind::FinAgain,
            () => self.classify_old(p, flow_state, &known()),
        }
    }

    fn classify_old(&mut self, p: &PlacedPacket, flow_state: &FlowState<'_>, known: &Known) -> Kind {
        if comes_before_the_first(p, flow_state.agreed, known) {
            return Kind::BeforeFirstSeen;
        }
        self.twice(p, known).or_else(|| self.older(p, flow_state, known)).unwrap_or(Kind::Again)
    }

    /// New data or a retransmission leaves: its timestamp is recorded if it is newer. `next` is the highest offset
    /// sent before this packet.
    #[inline(always)]
    pub fn note(&mut self, p: &PlacedPacket, next: u64) {
        if self.tick.ts == 0 || (p.ts.wrapping_sub(self.tick.ts) as i32) > 0 {
            self.tick = Tick { ts: p.ts, from: next, began: p.packet.time };
        }
        if p.packet.seg.payload > 0 {
            self.ttl = p.packet.ttl;
        }
    }

    /// New data with the expected IP identification leaves the sender.
    #[inline(always)]
    pub fn note_expected(&mut self, p: &PlacedPacket, next: u64) {
        self.note(p, next);
        self.ids.take_expected(p.packet.ip_id);
        self.ids.note_highest(p.packet.ip_id);
        self.last_acked = Some(p.packet.seg.ack);
    }

    /// A packet that is neither new data nor a repair comes from the sender, which numbers it, too.
    pub fn note_set_aside(&mut self, packet: &Packet) {
        self.ids.note(packet.ip_id, 1, Some(0));
    }

    /// A packet without data comes from the sender. `heard`: so many packets of the other host have been seen.
    #[inline(always)]
    pub fn note_bare(&mut self, packet: &Packet, heard: u32, no_data_missing: bool) {
        self.ids.note(packet.ip_id, 1, Some(0));
        self.last_acked = Some(packet.seg.ack);
        if no_data_missing && self.ids.skipped_while_counting() > 0 {
            self.spent_elsewhere(packet.time, heard);
        }
        self.heard = heard;
    }

    /// The packets missing right before this one carried no data. ACKs that were lost may be among them, one for each packet of
    /// the other host since; the rest was sent on other connections.
    #[cold]
    fn spent_elsewhere(&mut self, now: Time, heard: u32) {
        let acks = heard.wrapping_sub(self.heard);
        if self.ids.skipped > acks {
            self.elsewhere = Some(now);
        }
        self.ids.spent_elsewhere(acks);
    }

    /// Data comes in order; `alone`: nothing else is outstanding. If packets that are missing before it carried data, a timer has sent this
    /// one: it is alone until its ACK has been to the sender (RFC 5681 §3.1, RFC 8985 §7.3), which takes `turn` from here, and
    /// then the rest of the data is sent again. If more follows sooner, they were sent on other connections; if nothing follows
    /// for as long as a timer waits, on a path that has lost nothing else, they may have been. `waited`: since the data before it.
    /// True if they were.
    pub fn note_in_order(
        &mut self,
        p: &PlacedPacket,
        alone: bool,
        heard: u32,
        turn: Span,
        waited: Span,
    ) -> bool {
        let before = std::mem::take(&mut self.skipping);
        let now = p.packet.time;
        let follows = before.end == p.start && before.missing > 0;
        let gap = now - before.seen;
        let soon = follows && gap < turn / 2;
        let n = match gap {
            _ if soon => before.missing,
            _ if follows && gap > turn + MIN_RTO_SEEN && !self.loses => before.data.min(2),
            _ => 0,
        };
        if n > 0 {
            self.elsewhere = Some(before.seen);
            // One event may have another reason, above all on a path that loses packets.
            self.ids.were_elsewhere(n.min(if self.loses { 1 } else { AN_EVENT }));
        }
        let missing = match alone {
            true => self.ids.skipped_while_counting().saturating_sub(heard.wrapping_sub(self.heard)),
            false => 0,
        };
        // RFC 6298 §5.5: each attempt takes twice as long as the one before.
        let attempts = (waited.0.max(0) / MIN_RTO_SEEN.0 + 1).ilog2();
        let data = missing.saturating_sub(attempts);
        self.skipping = Skipping { end: p.end, seen: now, missing, data };
        self.heard = heard;
        soon || n > 0 && self.ids.are_of_many_connections()
    }

    /// Data comes from beyond a gap.
    pub fn note_hole(&mut self) {
        self.loses = true;
    }

    /// How long this host has been followed, up to `until`, without a packet on another connection; `begun` is when it was
    /// first seen.
    pub fn followed(&self, begun: Time, until: Time) -> Span {
        until - self.elsewhere.map_or(begun, |t| t.max(begun))
    }

    /// The sender acknowledges more than in its last packet: the packet missing before this one may have been a bare ACK.
    pub fn note_lost_acks(&mut self, packet: &Packet) {
        if self.ids.skipped > 0 && self.last_acked.is_some_and(|a| a != packet.seg.ack) {
            self.ids.were_no_data();
        }
        self.last_acked = Some(packet.seg.ack);
    }

    /// What was sent after it came before it.
    pub fn was_overtaken(&self, p: &PlacedPacket, agreed: &Agreed) -> bool {
        self.ids.are_counted()
            && self.ids.was_overtaken(p.packet.ip_id, agreed.segments(p.packet.seg.payload))
    }

    /// Is it a bare FIN that this host has sent before, and that repeats no data? A host that goes on acknowledging after its
    /// FIN may send the FIN with each ACK, as it does when both ends close at once (RFC 9293 §3.6).
    fn is_fin_again(&self, p: &PlacedPacket, flow_state: &FlowState<'_>) -> bool {
        let acknowledges = |a: Seq| (p.packet.seg.ack.0.wrapping_sub(a.0) as i32) > 0;
        p.packet.seg.payload == 0
            && p.fins()
            && (p.end <= flow_state.una || self.last_acked.is_some_and(acknowledges))
    }

    /// The same packet once more: captured on two interfaces, or doubled on the way. A retransmission is a new
    /// packet, with an IP identification of its own where the host counts them.
    fn twice(&self, p: &PlacedPacket, known: &Known) -> Option<Kind> {
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
    fn older(&mut self, p: &PlacedPacket, flow_state: &FlowState<'_>, known: &Known) -> Option<Kind> {
        let fills = known.outstanding.is_some_and(|s| s.hole);
        if fills || p.end > flow_state.next {
            return None;
        }
        let id = p.packet.ip_id;
        let come = self.ids.has_come(id);
        // Of what an offloading host hands over as one, it is not known how many numbers it takes.
        let same = || come && self.ids.ascend() && flow_state.last.largest <= flow_state.agreed.mss;
        if id != 0 && (self.ids.are_counted() || same()) {
            let above = (flow_state.next - p.end).div_ceil(unit(p, flow_state));
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
pub fn unit(p: &PlacedPacket, flow_state: &FlowState<'_>) -> u64 {
    u64::from(flow_state.last.largest.max(p.packet.seg.payload).clamp(1, flow_state.agreed.mss.max(1)))
}

/// One byte or none from below the window's edge, while the window is shut (RFC 9293 §3.8.6.1).
fn is_probe_of_the_window(p: &PlacedPacket, flow_state: &FlowState<'_>) -> bool {
    let payload = p.packet.seg.payload;
    let repeats = p.start < flow_state.next || flow_state.una < flow_state.next;
    flow_state.window.now == 0
        && payload <= 1
        && p.end <= flow_state.next + 1
        && !p.fins()
        && (repeats || payload > 0)
}

/// A byte that is long acknowledged, sent to hear whether the other end is alive (RFC 9293 §3.8.4).
fn is_keep_alive(p: &PlacedPacket, flow_state: &FlowState<'_>) -> bool {
    let one_below =
        p.start + 1 == flow_state.next && p.end <= flow_state.next && flow_state.una == flow_state.next;
    // The last byte alone may be repeated because its ACK was lost; not by a sender that has heard of the ACK, as the
    // timestamp that it echoes shows (RFC 7323 §4).
    let known = p.ts != 0 && flow_state.last_news > flow_state.last.sent;
    one_below && p.packet.seg.payload <= 1 && !p.fins() && (flow_state.last.payload != 1 || known)
}

/// Data that was not seen and not acknowledged before, as early as the first.
fn comes_before_the_first(p: &PlacedPacket, agreed: &Agreed, known: &Known) -> bool {
    if !agreed.mid_stream || p.end > known.base + 1 {
        return false;
    }
    let acked = known.acked_before.is_some_and(|ack| ack >= p.end);
    let since = p.packet.time - known.first_data.unwrap_or(p.packet.time);
    let soon = known.rtt_min.unwrap_or(Span::ZERO).scale(0.7).max(LATE);
    !acked && since <= soon
}
