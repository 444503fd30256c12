//! Data passes: new, sent again, or out of its order.

use super::account::{Ended, Left};
use super::arrival::{Kind, Known, PlacedPacket};
use super::ledger::MOST_OUTSTANDING;
use super::repair::PacketAfterRto;
use super::*;
use crate::Fate;
use crate::assumptions::MIN_RTO_SEEN;
use crate::waits::Released;
use wire::Flags;

/// Neither a timer nor a gap is shorter than this.
pub const SHORTEST_WAIT: Span = Span::from_millis(2);
/// Data that follows on other data so soon ends no wait.
#[inline(always)]
pub fn close(config: &Config) -> Span {
    SHORTEST_WAIT.min(config.idle.unwrap_or(SHORTEST_WAIT))
}

impl Stream {
    /// A packet with payload or FIN passes. False if it is a second sight of one that passed before, or a probe.
    pub fn on_data<S: Sink>(&mut self, packet: &Packet, fate: Fate, ctx: &mut Context<'_, S>) -> bool {
        let seg = &packet.seg;
        let mut start = self.place(seg.seq);
        if seg.flags.has(Flags::SYN) {
            start += 1; // data on a SYN (RFC 7413) follows it
        }
        let end = start + u64::from(seg.payload) + u64::from(seg.flags.has(Flags::FIN));
        let piece = PlacedPacket { packet, start, end, fate, ts: seg.timestamps.map_or(0, |t| t.val) };
        self.last_time = packet.time;
        if self.agreed.mss == 0 {
            self.agreed.mss = USUAL_MSS;
        }
        self.window.edge_before = self.window.edge;
        self.hear_acks(&piece, ctx);
        let kind = self.classify(&piece, ctx);
        if !matches!(kind, Kind::New | Kind::Again | Kind::BeforeFirstSeen) {
            self.set_aside(kind, packet, ctx.view.peer_packets);
            return kind == Kind::Late;
        }
        let expected = self.next;
        if kind == Kind::BeforeFirstSeen {
            self.base = start - 1;
            self.limits.reordered += 1;
        }
        self.arrivals.note(&piece, self.next);
        self.count(packet);
        self.limits.reordered += u64::from(fate == Fate::Late);
        let waited = ctx.view.sent - self.last.sent;
        let in_turn = start == self.next && waited < SHORTEST_WAIT;
        self.note_id(&piece, in_turn && !self.is_asked(), waited, &ctx.view);
        self.arrivals.note_lost_acks(packet);
        self.note_lost_repair(&piece, ctx);
        if self.arrivals.ids.skipped > 0 {
            self.tell_repairs_from_data(&piece, waited, ctx);
        }
        if ctx.view.at.is_remote() {
            self.note_spacing(&piece, ctx.view.sender_loop);
            self.repair.note_stamps(ctx.view.tsval_granularity, self.agreed.sack_permitted);
            self.account.silences.note(packet.time, self.last.seen, start > expected);
        }
        let repairs_unseen = self.unseen_tail(&piece, ctx);
        let class = match () {
            () if start >= self.next => self.new_data(&piece, ctx),
            () if kind == Kind::BeforeFirstSeen => (PacketClass::Reordered, None),
            () => self.old_data(&piece, repairs_unseen, ctx),
        };
        if ctx.config.wanted.intervals {
            let (flow_state, new) = (flow_state!(self), class.0 == PacketClass::Ordinary);
            self.account.data_in_interval(packet.time, seg.payload, new, &flow_state, ctx);
        }
        self.note_packet(&piece, class, ctx);
        self.last.note(packet, ctx.view.sent, end >= self.next);
        if !ctx.view.at.is_remote() {
            self.window.edge = self.una.saturating_add(self.window.now);
        }
        if seg.flags.has(Flags::FIN) {
            self.fin_end = Some(end);
        }
        self.account.note_flight(self.flight());
        if self.may_advance(packet.time) {
            self.advance(packet.time, ctx);
        }
        if kind == Kind::Again || start > expected {
            self.keep_in_bounds(packet.time, ctx);
        }
        true
    }

    /// Is this new data that follows on what was sent before it sooner than any timer could send it, and is numbered as
    /// expected? Asked at the sender, of a packet with payload and neither SYN nor FIN.
    #[inline(always)]
    pub fn goes_on_with(&self, packet: &Packet) -> bool {
        let (seg, waited) = (&packet.seg, packet.time - self.last.sent);
        let Some(unwrap) = self.unwrap else { return false };
        unwrap.peek(seg.seq) == self.next
            && (2..=self.agreed.mss).contains(&seg.payload)
            && waited < MIN_RTO_SEEN
            && self.arrivals.ids.expect(packet.ip_id)
            && self.ledger.len() < MOST_OUTSTANDING
            && self.acks_in_flight.is_empty()
    }

    /// Takes it, up to what released it. [`Stream::on_data`] would do the same, and let leave what became certain by it.
    #[inline(always)]
    pub fn begin_next_data<'a>(&mut self, packet: &'a Packet) -> PlacedPacket<'a> {
        let (seg, start) = (&packet.seg, self.next);
        if let Some(unwrap) = &mut self.unwrap {
            unwrap.reach(start);
        }
        let (end, ts) = (start + u64::from(seg.payload), seg.timestamps.map_or(0, |t| t.val));
        let piece = PlacedPacket { packet, start, end, fate: Fate::Unknown, ts };
        self.last_time = packet.time;
        self.window.edge_before = self.window.edge;
        self.arrivals.note_expected(&piece, start);
        self.account.on_packet(packet, 1);
        self.last.note_size(seg);
        self.repair.bound(start);
        piece
    }

    /// How long its sender has sent no data before it.
    #[inline(always)]
    pub fn waited(&self, packet: &Packet) -> Span {
        packet.time - self.last.sent
    }

    /// Its sender has sent nothing for as long as a timer may take.
    #[inline(never)]
    pub fn next_data_after_a_pause<S: Sink>(&mut self, p: &PlacedPacket, ctx: &mut Context<'_, S>) {
        self.note_in_order(p, self.waited(p.packet), &ctx.view);
        self.data_after_a_pause(p, ctx);
    }

    /// Its sender has sent other data just before it.
    #[inline(always)]
    pub fn next_data_at_once(&mut self, packet: &Packet) {
        self.repair.on_more_data(packet.time, self.flight());
    }

    #[inline(always)]
    pub fn end_next_data(&mut self, p: &PlacedPacket, heard: u32) {
        let flight = self.append(p, 1, heard);
        self.last.note(p.packet, p.packet.time, true);
        self.window.edge = self.una.saturating_add(self.window.now);
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
    fn note_spacing(&mut self, p: &PlacedPacket, turn: Span) {
        let gap = p.packet.time - self.last.seen.unwrap_or(p.packet.time);
        let (seen, overtaken) = (p.packet.time, self.arrivals.was_overtaken(p, &self.agreed));
        let next = PacketAfterRto { start: p.start, seen, overtaken, spacing: self.spacing };
        if p.start >= self.next && !self.agreed.sack_permitted {
            self.repair.see_new_data_after_rto(&next, turn.min(self.turn_at_most));
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
    fn classify<S: Sink>(&mut self, p: &PlacedPacket, ctx: &Context<'_, S>) -> Kind {
        let known = || Known {
            outstanding: self.ledger.find(p.start),
            base: self.base,
            acked_before: self.acked_before.zip(self.unwrap).map(|(ack, unwrap)| unwrap.peek(ack)),
            first_data: self.account.first_data(),
            rtt_min: self.account.rtt().min(),
            round: self.account.round(&ctx.view),
            may_hold_twice: ctx.config.may_hold_twice,
        };
        self.arrivals.classify(p, &flow_state!(self), known)
    }

    /// Neither new data nor a retransmission: counted, and no more.
    fn set_aside(&mut self, kind: Kind, packet: &Packet, heard: u32) {
        if matches!(kind, Kind::WindowProbe | Kind::KeepAlive | Kind::FinAgain) {
            self.arrivals.note_set_aside(packet);
        }
        match kind {
            Kind::WindowProbe => self.note_window_probe(packet.time, heard),
            Kind::KeepAlive => self.account.counts.keep_alives += 1,
            Kind::FinAgain => {}
            Kind::CapturedTwice => self.limits.captured_twice += 1,
            Kind::Doubled => self.limits.duplicated += 1,
            Kind::Late => self.limits.reordered += 1,
            Kind::New | Kind::Again | Kind::BeforeFirstSeen => {}
        }
    }

    /// The window is closed, and its sender probes it, having seen so many packets of the receiver's host.
    #[cold]
    fn note_window_probe(&mut self, now: Time, heard: u32) {
        self.settle_probe(heard);
        self.account.counts.window_probes += 1;
        (self.window.probed, self.window.probe_waits) = (now, Some(heard));
    }

    /// The last probe had no answer if the receiver's host has sent nothing since. `heard`: so many packets of its so far.
    pub(super) fn settle_probe(&mut self, heard: u32) {
        let unanswered = self.window.probe_waits.take() == Some(heard);
        self.account.counts.window_probes_unanswered += u64::from(unanswered);
    }

    pub(super) fn count(&mut self, packet: &Packet) {
        let seg = &packet.seg;
        if seg.payload == 0 {
            return; // a bare FIN is no data
        }
        self.account.on_packet(packet, self.agreed.segments(seg.payload));
        self.last.note_size(seg);
        self.limits.super_packets += u64::from(seg.payload > self.agreed.mss);
    }

    /// ACKs that the sender had heard when it sent this packet: those up to the timestamp that it echoes, or
    /// those that have had the time; but none that asks for what lies beyond, since below SND.UNA nothing is sent.
    fn hear_acks<S: Sink>(&mut self, p: &PlacedPacket, ctx: &Context<'_, S>) {
        self.heard_news = false;
        if self.acks_in_flight.is_empty() && self.window.update.is_none() {
            return; // as ever, at the sender
        }
        self.bound_turn_by_repair(p, ctx);
        let turn = ctx.view.sender_loop.min(self.turn_at_most);
        let by = ctx.view.sent - turn.scale(0.95);
        let echo = p.packet.seg.timestamps.map(|t| t.ecr);
        let is_heard = |ts: Option<u32>, time: Time| match (ts, echo) {
            (Some(ts), Some(echo)) => (ts.wrapping_sub(echo) as i32) <= 0,
            _ => time <= by,
        };
        if let Some(update) = self.window.update.take_if(|u| is_heard(u.ts, u.time)) {
            self.heard_news = true;
            self.window.edge = self.window.edge.max(update.edge);
        }
        while let Some(ack) = self.acks_in_flight.front() {
            if !is_heard(ack.ts, ack.time) || ack.ack > p.start {
                return;
            }
            if let Some(news) = self.acks_in_flight.pop_front() {
                self.heard_news = true;
                self.heard_up_to = self.heard_up_to.max(news.sacked_up_to);
                self.window.edge = self.window.edge.max(news.edge);
                self.repair.on_ack(&news, news.time + turn, self.next);
            }
        }
    }

    /// Without SACK a repair that does not go on where the one before it ended begins where an ACK says: the sender has heard
    /// that ACK, so its way there and the repair's way here took no longer together. No packet is missing between the two
    /// repairs.
    fn bound_turn_by_repair<S: Sink>(&mut self, p: &PlacedPacket, ctx: &Context<'_, S>) {
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
        self.ledger.add_steps(self.acks_in_flight.len() / 2);
        let first = self.acks_in_flight.iter().find(|a| a.ack == p.start);
        if let Some(first) = first.filter(|a| !a.duplicate) {
            self.turn_at_most = self.turn_at_most.min(ctx.view.sent - first.time);
        }
    }

    /// A bare ACK from one below what is acknowledged is a keep-alive too, or a probe of a closed window. Some hosts probe with
    /// one that is numbered as the next data would be, and says nothing new: a timer sent it.
    #[inline(always)]
    pub fn on_bare_ack_from_sender(
        &mut self,
        packet: &Packet,
        heard: u32,
        at: Vantage,
        by_timer: impl Fn() -> bool,
    ) {
        let Some(unwrap) = self.unwrap else { return };
        if packet.seg.flags.has(Flags::RST.with(Flags::SYN).with(Flags::FIN)) {
            return;
        }
        let seq = unwrap.peek(packet.seg.seq);
        // It bears SND.NXT (RFC 9293 §3.10.7.4): nothing had been sent beyond what was seen, and acknowledged.
        let no_data_missing = seq == self.next && self.una == self.next;
        self.arrivals.note_bare(packet, heard, no_data_missing);
        if seq > self.next + 1 && at.is_remote() {
            self.reveal_tail(packet, seq);
        }
        let below = seq + 1 == self.una && self.una == self.next && self.has_data();
        // A window that takes no segment is as good as closed (RFC 9293 §3.8.6.2.1).
        if self.window.now == 0 || below && self.window.now < u64::from(self.agreed.mss) {
            let at_next = seq == self.next && self.has_data() && packet.seg.sack.is_empty();
            if below || at_next && by_timer() {
                self.note_window_probe(packet.time, heard);
            }
        } else if below {
            self.account.counts.keep_alives += 1;
        }
    }

    fn new_data<S: Sink>(
        &mut self,
        p: &PlacedPacket,
        ctx: &mut Context<'_, S>,
    ) -> (PacketClass, Option<Cause>) {
        if p.start > self.next {
            self.arrivals.note_hole();
            self.reveal_hole(p);
        }
        self.repair.bound(p.start);
        if ctx.view.at.is_remote() {
            self.repair.see_recovery(self.agreed.segments(p.packet.seg.payload));
            if self.agreed.timestamps {
                self.repair.note_passed_over();
            }
        }
        // Within one tick of its sender's clock data left at different times, too, as ACKs tell that were heard in between.
        let heard_since = || self.heard_news && self.last.silence(p.packet.time) > crate::rounds::WAIT;
        if ctx.view.sent - self.last.sent > crate::rounds::WAIT || heard_since() {
            self.note_release(p.packet, &ctx.view, ctx.waits, ctx.side);
        }
        ctx.waits.on_bytes(ctx.side, p.packet.seg.payload);
        if ctx.view.sent - self.last.sent < close(ctx.config) {
            self.repair.on_more_data(ctx.view.sent, self.flight());
        } else {
            self.data_after_a_pause(p, ctx);
        }
        self.append(p, self.agreed.segments(p.packet.seg.payload), ctx.view.peer_packets);
        (PacketClass::Ordinary, None)
    }

    /// New data leaves that did not follow at once on the data before it: what let it go?
    pub fn note_release(&mut self, packet: &Packet, view: &View, waits: &mut Waits, side: usize) {
        let flow_state = flow_state!(self);
        let before = flow_state.last.seen.map(|_| flow_state.last.sent);
        // The ACK of a handshake that is on its way lets nothing go but the first data.
        let heard_all = self.acks_in_flight.is_empty() || !self.has_data();
        let idle = self.next == self.una && heard_all;
        let left = Left { packet, at: view.sent, view, heard: self.heard_news, idle };
        if self.account.left_together(&left, &flow_state) {
            return;
        }
        self.account.note_burst(&left, &flow_state, self.spacing);
        let (by, instead) = self.account.release(&left, &flow_state, self.spacing);
        let by_ack = by == Release::Ack && view.sender_loop == Span::ZERO;
        let answered = by_ack.then_some(view.sent - flow_state.last_news);
        // No window kept it back, wherever it is seen: it was all that was left.
        let all_there_was = by == Release::Ack && idle && left.is_small(&flow_state);
        let in_round = if all_there_was { Release::Write } else { by };
        let waited = (flow_state.last.sent, view.sent);
        self.account.wait_in_round(waited, in_round, answered, view.sender_loop);
        if packet.seg.payload == 0 {
            return;
        }
        let (message, loop_delay) = match by {
            // The part that it answers was under way until it left.
            Release::Message if view.answers == Answers::Part => (Some(view.sent), Span::ZERO),
            Release::Message => (Some(view.peer_data_at), view.answer_loop),
            _ => (None, view.sender_loop),
        };
        let aside = view.peer_goes_on;
        let released = Released { at: view.sent, loop_delay, side, by, instead, message, aside };
        self.released = by;
        waits.on_released(&released, before);
    }

    /// Puts it behind what is outstanding; gives what is in flight then.
    #[inline(always)]
    fn append(&mut self, p: &PlacedPacket, segments: u32, heard: u32) -> u64 {
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
    fn data_after_a_pause<S: Sink>(&mut self, p: &PlacedPacket, ctx: &mut Context<'_, S>) {
        let (timing, flight) = (self.timing(&ctx.view), self.flight());
        let by_ack = ctx.view.sent - self.repair.last_news() <= timing.tolerance;
        let waited = self.last.silence(p.packet.time);
        // What ACKs make room for, a sender whose window is full uses at once.
        let room = self.repair.unanswered() > u64::from(self.agreed.mss);
        let flow_state = flow_state!(self);
        let may_probe = self.agreed.sack_permitted
            && self.account.acks() > 0
            && !room
            && flow_state.limit() != Limit::Application;
        let head = self.ledger.head_time().unwrap_or(p.packet.time);
        let probe = self.repair.on_new_data(ctx.view.sent, flight, may_probe, head, &timing);
        let ended = Ended { resent: None, probe, by_ack, syn: self.syn_time };
        self.account.note_gap(p.packet, &ended, &flow_state, ctx);
        if probe {
            let row = self.probe_row(p, true, waited, &timing);
            self.account.on_probe(row, &self.agreed, ctx);
        }
    }

    fn note_packet<S: Sink>(
        &mut self,
        p: &PlacedPacket,
        class: (PacketClass, Option<Cause>),
        ctx: &mut Context<'_, S>,
    ) {
        if ctx.config.wanted.packets {
            let mut row = self.packet_row(p.packet, true);
            row.seq = self.relative(p.start);
            row.class = class.0;
            row.cause = class.1;
            row.release = Some(self.released);
            ctx.sink.packet(row);
        }
    }
}
