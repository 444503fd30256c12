//! Data passes: new, sent again, or out of its order.

use super::account::Ended;
use super::ledger::MOST_OUTSTANDING;
use super::repair::{Next, State};
use super::*;
use crate::Fate;
use crate::short_connections::folded;
use wire::Flags;

/// A data packet, placed in its stream.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
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
}

/// Neither a timer nor a gap is shorter than this.
const SHORTEST_WAIT: Span = Span::from_millis(2);
/// Data that follows on other data so soon ends no wait.
#[inline(always)]
fn close(config: &Config) -> Span {
    SHORTEST_WAIT.min(config.idle.unwrap_or(SHORTEST_WAIT))
}

/// How late a packet may be on any path and still only be late.
pub(super) const LATE: Span = Span::from_millis(3);

impl Stream {
    /// A packet with payload or FIN passes.
    pub fn on_data<S: Sink>(&mut self, packet: &Packet, fate: Fate, around: &mut Surroundings<'_, S>) {
        let seg = &packet.seg;
        let mut start = self.place(seg.seq);
        if seg.flags.has(Flags::SYN) {
            start += 1; // data on a SYN (RFC 7413) follows it
        }
        let end = start + u64::from(seg.payload) + u64::from(seg.flags.has(Flags::FIN));
        let piece = Piece { packet, start, end, fate, ts: seg.timestamps.map_or(0, |t| t.val) };
        self.last_time = packet.time;
        if self.agreed.mss == 0 {
            self.agreed.mss = USUAL_MSS;
        }
        self.hear_acks(&piece, around);
        if self.is_probe_of_the_window(&piece) || self.is_keep_alive(&piece) {
            return;
        }
        let expected = self.next;
        let early = start < self.next && self.comes_before_the_first(&piece);
        let again = start < self.next && !early;
        if again
            && (self.came_twice(&piece, around.config.may_hold_twice) || self.was_sent_before(&piece, around))
        {
            return;
        }
        self.note_tick(&piece);
        self.count(packet);
        self.limits.reordered += u64::from(fate == Fate::Late);
        let in_turn = start == self.next && around.view.sent - self.last.sent < SHORTEST_WAIT;
        let waited = around.view.sent - self.last.sent;
        self.note_id(&piece, in_turn && !self.repair.is_asked(), waited);
        self.note_lost_acks(packet);
        self.note_lost_repair(&piece, around);
        if self.ids.skipped > 0 {
            // Of data never seen before one was the first copy, and what had filled the window was data.
            let own = u32::from(piece.start >= self.next).max(self.data_missing(&piece, waited));
            let repairs = self.repairs_missing(&piece, waited, around);
            self.ids.accounted_for(u64::from(repairs.min(self.ids.owed().saturating_sub(own))));
        }
        if matches!(around.view.at, Vantage::Receiver | Vantage::Middle) {
            self.note_spacing(&piece);
        }
        let repairs_unseen = self.unseen_tail(&piece, around);
        let class = match () {
            () if start >= self.next => self.new_data(&piece, around),
            () if early => (PacketClass::Reordered, None),
            () => self.old_data(&piece, repairs_unseen, around),
        };
        if around.config.wanted.intervals {
            let (stand, new) = (stand!(self), class.0 == PacketClass::Ordinary);
            self.account.data_in_interval(packet.time, seg.payload, new, &stand, around);
        }
        self.note_packet(&piece, class, around);
        self.last.note(packet, around.view.sent);
        if seg.flags.has(Flags::FIN) {
            self.fin_end = Some(end);
        }
        self.account.note_flight(self.flight());
        if self.may_advance(packet.time) {
            self.advance(packet.time, around);
        }
        if again || start > expected {
            self.keep_in_bounds(packet.time, around);
        }
    }

    /// Is this new data that follows at once on what was sent before it, and is numbered as expected? Asked at the
    /// sender, of a packet with payload and neither SYN nor FIN.
    #[inline(always)]
    pub fn goes_on_with(&self, packet: &Packet, config: &Config) -> bool {
        let (seg, waited) = (&packet.seg, packet.time - self.last.sent);
        let Some(unwrap) = self.unwrap else { return false };
        unwrap.peek(seg.seq) == self.next
            && (2..=self.agreed.mss).contains(&seg.payload)
            && waited < close(config)
            && self.ids.expect(packet.ip_id)
            && self.ledger.len() < MOST_OUTSTANDING
            && self.on_the_way.is_empty()
    }

    /// Takes it. [`Stream::on_data`] would do the same, and let leave what became certain by it.
    #[inline(always)]
    pub fn on_next_data(&mut self, packet: &Packet, heard: u32) {
        let (seg, start) = (&packet.seg, self.next);
        if let Some(unwrap) = &mut self.unwrap {
            unwrap.reach(start);
        }
        let (end, ts) = (start + u64::from(seg.payload), seg.timestamps.map_or(0, |t| t.val));
        let piece = Piece { packet, start, end, fate: Fate::Unknown, ts };
        self.last_time = packet.time;
        if packet.time - self.last.sent > crate::rounds::WAIT {
            self.account.wait_in_round(packet, packet.time, Span::ZERO, &stand!(self));
        }
        self.note_tick(&piece);
        self.account.on_packet(packet, 1);
        self.ttl = packet.ttl;
        self.last.largest = self.last.largest.max(seg.payload);
        self.ids.take_expected(packet.ip_id);
        self.ids.note_highest(packet.ip_id);
        self.last_acked = Some(seg.ack);
        self.repair.bound(start);
        self.repair.on_more_data(packet.time, self.flight());
        let flight = self.append(&piece, 1, heard);
        self.last.note(packet, packet.time);
        self.account.note_flight(flight);
    }

    fn place(&mut self, seq: Seq) -> u64 {
        match &mut self.unwrap {
            Some(u) => u.offset(seq),
            None => {
                // Begun before the capture: the first byte seen is byte 1.
                let mut unwrap = Unwrapper::new(seq);
                let at = unwrap.offset(seq);
                self.base = at - 1;
                self.agreed.mid_stream = true;
                self.start_at(unwrap, at);
                at
            }
        }
    }

    /// Data that is here already, in a packet older than the newest: doubled on the way, or overtaken by its own
    /// repair. A retransmission is newer than all that its sender had sent until then, and than the data above it, if
    /// it was overtaken itself.
    fn was_sent_before<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) -> bool {
        let fills = self.ledger.find(p.start).is_some_and(|s| s.hole);
        if fills || p.end > self.next {
            return false;
        }
        let id = p.packet.ip_id;
        if self.ids.are_counted() && id != 0 {
            let above = (self.next - p.end).div_ceil(self.unit(p));
            if !self.ids.is_behind(id) || !self.ids.has_come(id) && self.ids.is_of_a_repair(id, above) {
                return false;
            }
            match self.ids.has_come(id) {
                true => self.limits.duplicated += 1,
                false => self.limits.reordered += 1,
            }
            self.ids.note(id, 1, Some(0));
            return true;
        }
        let round = self.account.round(&around.view);
        let older = p.ts.wrapping_sub(self.tick.ts) as i32;
        // RFC 7323 §4.1: the clock does not run backwards. Within a tick, nothing is repaired sooner than a
        // round trip after it was sent.
        let before = older < 0
            || older == 0 && p.start >= self.tick.from && p.packet.time - self.tick.began < round.scale(0.7);
        if p.ts == 0 || self.tick.ts == 0 || !before {
            return false;
        }
        self.limits.duplicated += 1;
        true
    }

    /// What was sent after it came before it.
    pub(super) fn was_overtaken(&self, p: &Piece) -> bool {
        self.ids.are_counted()
            && self.ids.was_overtaken(p.packet.ip_id, self.agreed.segments(p.packet.seg.payload))
    }

    /// Packets that were sent together come as close to each other as the narrowest link lets them.
    fn note_spacing(&mut self, p: &Piece) {
        let gap = p.packet.time - self.last.seen.unwrap_or(p.packet.time);
        let (seen, overtaken) = (p.packet.time, self.was_overtaken(p));
        let next = Next { start: p.start, seen, overtaken, spacing: self.spacing };
        if let Some(turn) = self.repair.after_timeout(&next).filter(|_| p.ts == 0) {
            self.turn_at_most = self.turn_at_most.min(turn);
        }
        let payload = p.packet.seg.payload;
        let full = payload == self.last.payload && payload >= self.last.largest;
        if full && gap > Span::ZERO && self.ids.skipped == 0 && self.ids.are_counted() {
            self.spacing = self.spacing.min(gap);
        }
    }

    /// Follows the sender's clock.
    #[inline(always)]
    fn note_tick(&mut self, p: &Piece) {
        if self.tick.ts == 0 || (p.ts.wrapping_sub(self.tick.ts) as i32) > 0 {
            let echo = p.packet.seg.timestamps.map_or(0, |t| t.ecr);
            let unprompted = echo == self.tick.echo && echo != 0 && p.ts.wrapping_sub(self.tick.ts) >= 2;
            self.tick = Tick { ts: p.ts, echo, unprompted, from: self.next, began: p.packet.time };
        }
    }

    /// The capture began within this flight, and its first packets are out of order: data that was not seen and
    /// not acknowledged before, as early as the first.
    fn comes_before_the_first(&mut self, p: &Piece) -> bool {
        let Some(unwrap) = self.unwrap.filter(|_| self.agreed.mid_stream) else { return false };
        let acked = self.acked_before.is_some_and(|ack| unwrap.peek(ack) >= p.end);
        let since = p.packet.time - self.account.first_data().unwrap_or(p.packet.time);
        let soon = self.account.rtt().min().unwrap_or(Span::ZERO).scale(0.7).max(LATE);
        if p.end > self.base + 1 || acked || since > soon {
            return false;
        }
        self.base = p.start - 1;
        self.limits.reordered += 1;
        true
    }

    pub(super) fn count(&mut self, packet: &Packet) {
        let seg = &packet.seg;
        if seg.payload == 0 {
            return; // a bare FIN is no data
        }
        self.account.on_packet(packet, self.agreed.segments(seg.payload));
        self.ttl = packet.ttl;
        self.last.largest = self.last.largest.max(seg.payload);
        self.limits.super_packets += u64::from(seg.payload > self.agreed.mss);
    }

    /// ACKs that the sender had heard when it sent this packet: those up to the timestamp that it echoes, or
    /// those that have had the time; but none that asks for what lies beyond, since below SND.UNA nothing is sent.
    fn hear_acks<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) {
        if self.on_the_way.is_empty() {
            return; // as ever, at the sender
        }
        self.bound_turn(p, around);
        let turn = around.view.turn.min(self.turn_at_most);
        let by = around.view.sent - turn.scale(0.95);
        let echo = p.packet.seg.timestamps.map(|t| t.ecr);
        while let Some(ack) = self.on_the_way.front() {
            let heard = match (ack.ts, echo) {
                (Some(ts), Some(echo)) => (ts.wrapping_sub(echo) as i32) <= 0,
                _ => ack.time <= by,
            };
            if !heard || ack.ack > p.start {
                return;
            }
            if let Some(news) = self.on_the_way.pop_front() {
                self.repair.note_heard(news.ack, news.time + turn);
                self.repair.on_ack(&news, news.time + turn, self.next);
            }
        }
    }

    /// What three duplicate ACKs asked for comes, for the first time, and nothing had been sent again for long: the first
    /// of those ACKs has been heard, and its way there and back took no longer. A handshake may have taken longer.
    fn bound_turn<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) {
        if p.packet.seg.timestamps.is_some() || p.start >= self.next || self.repair.state != State::Open {
            return;
        }
        self.ledger.add_steps(self.on_the_way.len() / 2);
        let hole = self.ledger.find(p.start);
        let mut asks = self.on_the_way.iter().filter(|a| a.ack == p.start);
        let Some(first) = asks.next() else { return };
        if asks.count() >= 3
            && hole.is_some_and(|s| s.hole && s.copies == 0)
            && self.repair.last_resent() + around.view.turn < first.time
        {
            self.turn_at_most = self.turn_at_most.min(around.view.sent - first.time);
        }
    }

    /// One byte or none from below the window's edge, while the window is shut (RFC 9293 §3.8.6.1).
    fn is_probe_of_the_window(&mut self, p: &Piece) -> bool {
        let probe = self.window.now == 0 && p.packet.seg.payload <= 1 && p.end <= self.next + 1;
        let repeats = p.start < self.next || self.una < self.next;
        if !probe || p.packet.seg.flags.has(Flags::FIN) || (!repeats && p.packet.seg.payload == 0) {
            return false;
        }
        self.account.counts.window_probes += 1;
        true
    }

    /// A byte that is long acknowledged, sent to hear whether the other end is alive (RFC 9293 §3.8.4).
    fn is_keep_alive(&mut self, p: &Piece) -> bool {
        let one_below = p.start + 1 == self.next && p.end <= self.next && self.una == self.next;
        if !one_below
            || p.packet.seg.payload > 1
            || p.packet.seg.flags.has(Flags::FIN)
            || self.last.payload <= 1
        {
            return false;
        }
        self.account.counts.keep_alives += 1;
        true
    }

    /// A bare ACK from one below what is acknowledged is a keep-alive too.
    #[inline(always)]
    pub fn on_bare_ack_from_sender(&mut self, packet: &Packet) {
        let Some(unwrap) = self.unwrap else { return };
        if packet.seg.flags.has(Flags::RST.with(Flags::SYN).with(Flags::FIN)) {
            return;
        }
        self.ids.note(packet.ip_id, 1, Some(0));
        self.last_acked = Some(packet.seg.ack);
        if unwrap.peek(packet.seg.seq) + 1 == self.una
            && self.una == self.next
            && self.account.first_data().is_some()
        {
            match self.window.now {
                0 => self.account.counts.window_probes += 1,
                _ => self.account.counts.keep_alives += 1,
            }
        }
    }

    /// The same packet once more: captured on two interfaces, or doubled on the way. A retransmission is a new
    /// packet, with an IP identification of its own where the host counts them.
    fn came_twice(&mut self, p: &Piece, by_capture: bool) -> bool {
        let Some(seg) = self.ledger.find(p.start) else { return false };
        if seg.copies == 0 || folded(seg.checksum) != folded(p.packet.checksum) {
            return false;
        }
        let soon = p.packet.time - seg.last_time;
        let same_packet = match (seg.ip_id, p.packet.ip_id) {
            (0, 0) => {
                seg.last_ts == p.ts && soon < self.account.rtt().min().unwrap_or(Span::from_millis(1)) / 2
            }
            (a, b) => a == b && soon < Span::from_secs(2),
        };
        if !same_packet {
            return false;
        }
        // A router has passed it on since: one packet, seen at two places.
        let elsewhere = p.packet.ttl != self.ttl;
        match by_capture && (elsewhere || soon < Span::from_millis(1)) {
            true => self.limits.captured_twice += 1,
            false => self.limits.duplicated += 1,
        }
        true
    }

    fn new_data<S: Sink>(
        &mut self,
        p: &Piece,
        around: &mut Surroundings<'_, S>,
    ) -> (PacketClass, Option<Cause>) {
        if p.start > self.next {
            self.reveal_hole(p);
        }
        self.repair.bound(p.start);
        if matches!(around.view.at, Vantage::Receiver | Vantage::Middle) {
            self.repair.note_flight(p.end, false);
            self.repair.see_recovery(self.agreed.segments(p.packet.seg.payload));
            if self.agreed.timestamps {
                self.repair.note_passed_over();
            }
        }
        if around.view.sent - self.last.sent > crate::rounds::WAIT {
            self.account.wait_in_round(p.packet, around.view.sent, around.view.turn, &stand!(self));
        }
        let flight = self.flight();
        if around.view.sent - self.last.sent < close(around.config) {
            self.repair.on_more_data(around.view.sent, flight);
        } else {
            self.data_after_a_pause(p, flight, around);
        }
        self.append(p, self.agreed.segments(p.packet.seg.payload), around.view.heard);
        (PacketClass::Ordinary, None)
    }

    /// Puts it behind what is outstanding; gives what is in flight then.
    #[inline(always)]
    fn append(&mut self, p: &Piece, segments: u32, heard: u32) -> u64 {
        self.repair.note_new_segments(segments);
        self.repair.note_opening(p.end, self.agreed.mss);
        self.ledger.append(&p.passing(heard));
        if p.packet.seg.payload > 0 {
            (self.fin_end, self.fin_told) = (None, false); // what was taken for a FIN unseen was a byte
        }
        self.next = p.end;
        if self.ledger.len() > MOST_OUTSTANDING {
            // The ACKs are missing from the capture: what happened to the oldest segment will not be known.
            self.limits.unfilled_gaps += u64::from(self.ledger.forget_oldest());
        }
        let flight = self.flight();
        self.account.on_new_data(p.packet, p.end, flight, &self.agreed);
        flight
    }

    /// New data after the sender has waited: for an ACK, the application, or a timer.
    fn data_after_a_pause<S: Sink>(&mut self, p: &Piece, flight: u64, around: &mut Surroundings<'_, S>) {
        let pace = self.account.pace(&around.view);
        let by_ack = around.view.sent - self.repair.last_news() <= pace.tolerance;
        let waited = self.last.silence(p.packet.time);
        // What ACKs make room for, a sender whose window is full uses at once.
        let room = self.repair.unanswered() > u64::from(self.agreed.mss);
        let stand = stand!(self);
        let may_probe = self.agreed.sack_permitted
            && self.account.acks() > 0
            && !room
            && stand.limit() != Limit::Application;
        let head = self.ledger.head_time().unwrap_or(p.packet.time);
        let probe = self.repair.on_new_data(around.view.sent, flight, may_probe, head, &pace);
        let ended = Ended { resent: None, probe, by_ack, syn: self.syn_time };
        self.account.note_gap(p.packet, &ended, &stand, around);
        if probe {
            let row = self.probe_row(p, true, waited, &pace);
            self.account.on_probe(row, &self.agreed, around);
        }
    }

    fn note_packet<S: Sink>(
        &mut self,
        p: &Piece,
        class: (PacketClass, Option<Cause>),
        around: &mut Surroundings<'_, S>,
    ) {
        if around.config.wanted.packets {
            let mut row = self.packet_row(p.packet, true);
            row.seq = self.relative(p.start);
            row.class = class.0;
            row.cause = class.1;
            around.sink.packet(row);
        }
    }
}
