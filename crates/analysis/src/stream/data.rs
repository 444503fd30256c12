//! Data passes: new, sent again, or out of its order.

use super::account::Ended;
use super::arrival::{Kind, Known, Piece};
use super::ledger::MOST_OUTSTANDING;
use super::repair::Next;
use super::*;
use crate::Fate;
use wire::Flags;

/// Neither a timer nor a gap is shorter than this.
pub(super) const SHORTEST_WAIT: Span = Span::from_millis(2);
/// Data that follows on other data so soon ends no wait.
#[inline(always)]
fn close(config: &Config) -> Span {
    SHORTEST_WAIT.min(config.idle.unwrap_or(SHORTEST_WAIT))
}

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
        self.window.edge_before = self.window.edge;
        self.hear_acks(&piece, around);
        let kind = self.classify(&piece, around);
        if !matches!(kind, Kind::New | Kind::Again | Kind::Early) {
            return self.set_aside(kind, packet.time);
        }
        let expected = self.next;
        if kind == Kind::Early {
            self.base = start - 1;
            self.limits.reordered += 1;
        }
        self.arrivals.note(&piece, self.next);
        self.count(packet);
        self.limits.reordered += u64::from(fate == Fate::Late);
        let waited = around.view.sent - self.last.sent;
        let in_turn = start == self.next && waited < SHORTEST_WAIT;
        self.note_id(&piece, in_turn && !self.is_asked(), waited);
        self.arrivals.note_lost_acks(packet);
        self.note_lost_repair(&piece, around);
        if self.arrivals.ids.skipped > 0 {
            self.tell_repairs_from_data(&piece, waited, around);
        }
        if around.view.at.is_away() {
            self.note_spacing(&piece, around.view.turn);
            self.repair.note_stamps(around.view.stamp, self.agreed.sack_permitted);
            self.account.silences.note(packet.time, self.last.seen, start > expected);
        }
        let repairs_unseen = self.unseen_tail(&piece, around);
        let class = match () {
            () if start >= self.next => self.new_data(&piece, around),
            () if kind == Kind::Early => (PacketClass::Reordered, None),
            () => self.old_data(&piece, repairs_unseen, around),
        };
        if around.config.wanted.intervals {
            let (stand, new) = (stand!(self), class.0 == PacketClass::Ordinary);
            self.account.data_in_interval(packet.time, seg.payload, new, &stand, around);
        }
        self.note_packet(&piece, class, around);
        self.last.note(packet, around.view.sent, end >= self.next);
        if seg.flags.has(Flags::FIN) {
            self.fin_end = Some(end);
        }
        self.account.note_flight(self.flight());
        if self.may_advance(packet.time) {
            self.advance(packet.time, around);
        }
        if kind == Kind::Again || start > expected {
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
            && self.arrivals.ids.expect(packet.ip_id)
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
        self.arrivals.note_expected(&piece, start);
        self.account.on_packet(packet, 1);
        self.last.largest = self.last.largest.max(seg.payload);
        self.repair.bound(start);
        self.repair.on_more_data(packet.time, self.flight());
        let flight = self.append(&piece, 1, heard);
        self.last.note(packet, packet.time, true);
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

    /// Packets that were sent together come as close to each other as the narrowest link lets them.
    fn note_spacing(&mut self, p: &Piece, turn: Span) {
        let gap = p.packet.time - self.last.seen.unwrap_or(p.packet.time);
        let (seen, overtaken) = (p.packet.time, self.arrivals.was_overtaken(p, &self.agreed));
        let next = Next { start: p.start, seen, overtaken, spacing: self.spacing };
        if p.start >= self.next && !self.agreed.sack_permitted {
            self.repair.see_new_behind_timer(&next, turn.min(self.turn_at_most));
        }
        if let Some(turn) = self.repair.after_timeout(&next).filter(|_| p.ts == 0) {
            self.turn_at_most = self.turn_at_most.min(turn);
        }
        let payload = p.packet.seg.payload;
        let full = payload == self.last.payload && payload >= self.last.largest;
        if full && gap > Span::ZERO && self.arrivals.ids.skipped == 0 && self.arrivals.ids.are_counted() {
            self.spacing = self.spacing.min(gap);
        }
    }

    /// What is this packet?
    fn classify<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) -> Kind {
        let known = || Known {
            outstanding: self.ledger.find(p.start),
            base: self.base,
            acked_before: self.acked_before.zip(self.unwrap).map(|(ack, unwrap)| unwrap.peek(ack)),
            first_data: self.account.first_data(),
            rtt_min: self.account.rtt().min(),
            round: self.account.round(&around.view),
            may_hold_twice: around.config.may_hold_twice,
        };
        self.arrivals.classify(p, &stand!(self), known)
    }

    /// Neither new data nor a retransmission: counted, and no more.
    fn set_aside(&mut self, kind: Kind, now: Time) {
        match kind {
            Kind::WindowProbe => self.note_window_probe(now),
            Kind::KeepAlive => self.account.counts.keep_alives += 1,
            Kind::CapturedTwice => self.limits.captured_twice += 1,
            Kind::Doubled => self.limits.duplicated += 1,
            Kind::Late => self.limits.reordered += 1,
            Kind::New | Kind::Again | Kind::Early => {}
        }
    }

    fn note_window_probe(&mut self, now: Time) {
        self.account.counts.window_probes += 1;
        self.window.probed = now;
    }

    pub(super) fn count(&mut self, packet: &Packet) {
        let seg = &packet.seg;
        if seg.payload == 0 {
            return; // a bare FIN is no data
        }
        self.account.on_packet(packet, self.agreed.segments(seg.payload));
        self.last.largest = self.last.largest.max(seg.payload);
        self.limits.super_packets += u64::from(seg.payload > self.agreed.mss);
    }

    /// ACKs that the sender had heard when it sent this packet: those up to the timestamp that it echoes, or
    /// those that have had the time; but none that asks for what lies beyond, since below SND.UNA nothing is sent.
    fn hear_acks<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) {
        if self.on_the_way.is_empty() {
            return; // as ever, at the sender
        }
        self.bound_turn_by_repair(p, around);
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
                self.heard_up_to = self.heard_up_to.max(news.sacked_up_to);
                self.window.edge = self.window.edge.max(news.edge);
                self.repair.on_ack(&news, news.time + turn, self.next);
            }
        }
    }

    /// Without SACK a repair that does not go on where the one before it ended begins where an ACK says: the sender has heard
    /// that ACK, so its way there and the repair's way here took no longer together. No packet is missing between the two
    /// repairs.
    fn bound_turn_by_repair<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) {
        let repairs = self.repair.repairs() && self.repair.una() < p.start && p.start < self.next;
        if p.packet.seg.timestamps.is_some()
            || self.agreed.sack_permitted
            || !repairs
            || self.repair.goes_on_at(p.start)
            || !self.arrivals.ids.are_counted()
            || self.arrivals.ids.missing_before(p.packet.ip_id) != Some(0)
        {
            return;
        }
        self.ledger.add_steps(self.on_the_way.len() / 2);
        let first = self.on_the_way.iter().find(|a| a.ack == p.start);
        if let Some(first) = first.filter(|a| !a.duplicate) {
            self.turn_at_most = self.turn_at_most.min(around.view.sent - first.time);
        }
    }

    /// A bare ACK from one below what is acknowledged is a keep-alive too.
    #[inline(always)]
    pub fn on_bare_ack_from_sender(&mut self, packet: &Packet) {
        let Some(unwrap) = self.unwrap else { return };
        if packet.seg.flags.has(Flags::RST.with(Flags::SYN).with(Flags::FIN)) {
            return;
        }
        self.arrivals.note_bare(packet);
        if unwrap.peek(packet.seg.seq) + 1 == self.una && self.una == self.next && self.has_data() {
            match self.window.now {
                0 => self.note_window_probe(packet.time),
                _ => self.account.counts.keep_alives += 1,
            }
        }
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
        if around.view.at.is_away() {
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
        let pace = self.pace(&around.view);
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
