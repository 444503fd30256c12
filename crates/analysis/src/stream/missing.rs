//! Data that must have been sent and has not been seen here: holes, and tails that were lost as a whole.

use super::account::Ended;
use super::arrival::{PlacedPacket, unit};
use super::data::SHORTEST_WAIT;
use super::repair::PathTiming;
use super::*;
use crate::Fate;
use crate::assumptions::{MIN_RTO, MIN_RTO_RFC6298, MIN_RTO_SEEN, probe_not_before};

/// Repairs that may have been lost besides, each sent by a timer that doubles.
const ATTEMPTS: u64 = 16;

/// Of the packets that a host sends on other connections in a wait, a time as long as this part of it shows one in four times
/// (Poisson's law); in less than that nothing is expected to show.
const FOLLOWED: i64 = 4;

/// More than these are not sent before the first ACK: ten segments (RFC 6928), and the handshake's ACK.
const FIRST_WINDOW: u32 = 12;

/// Linux's. It counts the packets of each connection by themselves; Windows, whose TTL begins at 128, counts those of
/// other connections in the same row (Klein and Pinkas, "From IP ID to Device ID", 2019): what is missing after a
/// silence may be of any.
const TTL_OF_ONE_COUNTER_A_CONNECTION: u8 = 64;

impl Stream {
    /// Data from beyond a gap: what lies between was sent before it and has not been seen.
    pub(super) fn reveal_hole(&mut self, p: &PlacedPacket) {
        self.ledger.reveal(self.next, &p.passing(0));
        self.next = p.start;
    }

    /// A packet without data bears SND.NXT (RFC 9293 section 3.10.7.4). Where data arrives, one that is numbered beyond the
    /// highest seen tells that what lies between was sent, and has not come. One number more may be that of a FIN.
    #[cold]
    pub(super) fn reveal_tail(&mut self, packet: &Packet, start: u64) {
        let fits = !self.window.known || start <= self.una + self.window.max;
        if !self.has_data() || self.fin_end.is_some() || !fits {
            return;
        }
        let ts = packet.seg.timestamps.map_or(0, |t| t.val);
        self.arrivals.note_hole();
        self.reveal_hole(&PlacedPacket { packet, start, end: start, fate: Fate::Unknown, ts });
    }

    /// Data beyond the highest seen that must have been sent by now, by the sender's own count of its packets. An upper
    /// bound: repairs that were lost are among them.
    pub(super) fn owed_bytes(&self, at: Vantage) -> u64 {
        match at {
            Vantage::Receiver | Vantage::Middle if self.arrivals.ids.are_counted() => {
                let unit = u64::from(self.last.largest.clamp(1, self.agreed.mss.max(1)));
                let at_most = self.sent_at_most.saturating_sub(self.next);
                at_most.min(u64::from(self.arrivals.ids.owed()) * unit)
            }
            _ => 0,
        }
    }

    /// Takes in the identification of a data packet, and what it tells of how its host counts. `in_turn`: new
    /// data, right behind what was sent just before it.
    pub(super) fn note_id(&mut self, p: &PlacedPacket, in_turn: bool, waited: Span, view: &View) {
        let (id, segments) = (p.packet.ip_id, self.agreed.segments(p.packet.seg.payload));
        let counted = self.arrivals.ids.are_counted();
        if p.start >= self.next && self.arrivals.ids.is_behind(id) && self.arrivals.ids.has_come(id) {
            self.arrivals.ids.count_otherwise();
        }
        if p.end > self.next {
            // A super-packet's segments are numbered one by one; a bare FIN has a number as well.
            self.arrivals.ids.note_highest(id.wrapping_add((segments.max(1) - 1) as u16));
        }
        let hole =
            if p.start > self.next { (p.start - self.next).div_ceil(unit(p, &flow_state!(self))) } else { 0 };
        let hole = if waited < MIN_RTO_SEEN {
            let hole = u32::try_from(hole).unwrap_or(u32::MAX);
            // While losses are repaired, what is missing may be repairs that were lost, too: that tells nothing.
            let repairs = self.repair.repairs() || self.is_asked() || self.ledger.sacked_bytes() > 0;
            (!(repairs && self.arrivals.ids.missing_before(id).is_some_and(|n| n > hole))).then_some(hole)
        } else {
            // Where more waits to be sent a timer's wait shows losses, and so few missing numbers that it counts.
            let more_waits = segments == 1
                && p.packet.seg.payload >= self.last.largest.max(self.agreed.mss / 2)
                && !p.packet.seg.flags.has(Flags::PSH);
            more_waits.then(|| self.arrivals.ids.missing_before(id)).flatten()
        };
        self.arrivals.ids.note(id, segments, hole);
        self.note_in_order(p, waited, view);
        let one_row = p.packet.ttl > TTL_OF_ONE_COUNTER_A_CONNECTION || self.arrivals.ids.are_of_one_row();
        // Data that goes on in order after a shorter wait repeats none: no timer is as short (RFC 8985 §7.2: a lone
        // segment's probe waits for a delayed ACK), and no ACK can have told of a loss with nothing beyond it.
        let in_order = p.start == self.next && waited >= SHORTEST_WAIT && !self.is_asked();
        let behind_a_wait = p.start == self.next && waited >= MIN_RTO_SEEN && p.packet.seg.payload > 0;
        let spent = match self.last.seen.filter(|_| behind_a_wait) {
            Some(last) => self.may_be_spent_elsewhere(last, waited),
            None => false,
        };
        if one_row && (waited >= MIN_RTO_SEEN || in_order) || spent {
            self.arrivals.ids.were_no_data();
        }
        if self.arrivals.ids.skipped > 0 {
            // New data leaves in its order: packets that did not come cannot have reached beyond this.
            let unseen = u64::from(self.arrivals.ids.skipped) * unit(p, &flow_state!(self));
            let before = self.arrivals.ids.owed() > self.arrivals.ids.skipped;
            let at_most = if before { self.sent_at_most.max(self.next) } else { self.next } + unseen;
            self.sent_at_most = at_most.min(self.right_edge(p, waited).max(self.next));
            // After a timeout repairs go upwards: what is missing behind the last one went on with it.
            self.arrivals.ids.accounted_for(
                u64::from(self.arrivals.ids.skipped)
                    .min(self.repair.left_to_repair().div_ceil(unit(p, &flow_state!(self)))),
            );
        }
        if !counted || self.arrivals.ids.skipped == 0 {
            return;
        }
        if u64::from(self.arrivals.ids.skipped) > self.can_be_missing(p, waited) {
            self.arrivals.ids.are_shared();
            self.sent_up_to = 0;
        } else if in_turn {
            // No repair comes so soon after what was sent before the data that it repeats.
            self.arrivals.ids.spent_elsewhere(0);
        }
    }

    /// Takes in data that is in order, and that no ACK asked for.
    pub(super) fn note_in_order(&mut self, p: &PlacedPacket, waited: Span, view: &View) {
        if p.start == self.next && !self.is_asked() {
            let alone = self.ledger.is_empty();
            if self.arrivals.note_in_order(p, alone, view.peer_packets, view.sender_loop, waited) {
                self.arrivals.ids.owe(0);
                self.sent_up_to = 0;
            }
        }
    }

    /// Packets are missing behind a wait that began at `last`. Had the host sent them on other connections, at a rate of so many
    /// in such a wait, it might have sent some in the time before, too, in which none is missing; was that too short to show?
    fn may_be_spent_elsewhere(&self, last: Time, waited: Span) -> bool {
        let skipped = i64::from(self.arrivals.ids.skipped.min(ATTEMPTS as u32));
        let begun = self.syn_time.or(self.account.first_data()).unwrap_or(last);
        skipped > 0 && self.arrivals.followed(begun, last) * skipped * FOLLOWED < waited
    }

    /// Nothing is sent beyond the window that goes with what the sender knows to be acknowledged (RFC 9293 §3.8.6): what a
    /// timer repeats is the first that it does not (RFC 6298 §5.4).
    fn right_edge(&self, p: &PlacedPacket, waited: Span) -> u64 {
        let by_timer = p.start <= self.repair.una() && waited >= MIN_RTO_SEEN;
        let una = if by_timer { p.start } else { self.una };
        if self.window.known && self.window.max > 0 { una + self.window.max } else { u64::MAX }
    }

    /// No more packets can have been lost before this one.
    fn can_be_missing(&self, p: &PlacedPacket, waited: Span) -> u64 {
        let payload = (self.account.counts.bytes / self.account.counts.packets.max(1)).max(1);
        // A FIN of its own ends the data: only itself can have been sent before.
        let is_end = p.packet.seg.payload == 0;
        let window = (self.window.known && self.window.max > 0).then_some(self.window.max / payload);
        // cwnd begins with a few segments, and grows by one for each that is acknowledged at most (RFC 5681 §3.1).
        let grown = self.syn_time.map(|_| u64::from(FIRST_WINDOW) + self.account.counts.segments);
        let most = window.into_iter().chain(grown).chain(is_end.then_some(1)).min();
        // A timer may have fired meanwhile, and all of it was lost again.
        let times = if waited < MIN_RTO { 1 } else { 3 };
        most.map_or(u64::MAX, |n| n * times + ATTEMPTS)
    }

    /// Packets are missing before this one: as far as they were repairs that were lost too, they were no data of their own.
    pub(super) fn tell_repairs_from_data<S: Sink>(
        &mut self,
        p: &PlacedPacket,
        waited: Span,
        ctx: &Context<'_, S>,
    ) {
        let passed_over = self.repairs_passed_over(p, waited);
        let repairs = self.repairs_missing(p, waited, ctx).max(passed_over);
        // One of them was the first copy if this data was never seen before.
        let own = u32::from(p.start >= self.next);
        let ids = &mut self.arrivals.ids;
        ids.accounted_for(u64::from(repairs.min(ids.owed().saturating_sub(own))));
    }

    /// Of the packets missing before this one so many were repairs that were lost.
    fn repairs_missing<S: Sink>(&self, p: &PlacedPacket, waited: Span, ctx: &Context<'_, S>) -> u32 {
        // What the slow start before it went on with has been accounted for.
        let went_on = self.repair.left_to_repair().div_ceil(unit(p, &flow_state!(self)));
        let others = u64::from(self.arrivals.ids.skipped).saturating_sub(went_on) as u32;
        let by_timer = self.attempts_missing(p, waited, ctx).min(others);
        // What was asked for and comes without a wait was not lost before.
        let comes = p.start <= self.repair.una() && waited < MIN_RTO_SEEN;
        let due = if comes { 0 } else { self.repair.repair_due() };
        // A repair, and not the first that the timer sends.
        let above = (self.repair.una() + 1..self.next).contains(&p.start);
        by_timer + due + u32::from(above && waited >= MIN_RTO_SEEN)
    }

    /// Of the packets missing right before this one no more were repairs, if a timer sent it.
    pub(super) fn repairs_missing_at_most<S: Sink>(
        &self,
        p: &PlacedPacket,
        ctx: &Context<'_, S>,
    ) -> Option<u64> {
        if self.arrivals.ids.skipped == 0 || p.start > self.repair.una() || !ctx.view.at.is_remote() {
            return None;
        }
        let holes = match self.ledger.sacked_bytes() {
            0 => 0,
            _ => self.flight().div_ceil(unit(p, &flow_state!(self))),
        };
        let by_timer = self.attempts_missing(p, ctx.view.sent - self.last.sent, ctx);
        self.repair.repairs_at_most(holes, self.likely_has_sack()).map(|n| n + u64::from(by_timer))
    }

    /// So often the timer fired in vain since the last data came, if it fired for what comes now.
    fn attempts_missing<S: Sink>(&self, p: &PlacedPacket, waited: Span, ctx: &Context<'_, S>) -> u32 {
        let missing = (waited >= MIN_RTO_SEEN).then_some(self.arrivals.ids.skipped);
        self.repair.attempts_told(p.start, missing, p.ts != 0).unwrap_or_else(|| {
            self.repair.attempts_by(ctx.view.sent, self.last.sent, &self.timing(&ctx.view))
        })
    }

    /// Of the packets missing before a repair so many were repairs of holes that SACKs had told of. Repairs go upwards (RFC
    /// 6675 §4, NextSeg): those of what lies open between the last that came and this one were sent in between; or those
    /// of all from the lowest hole on, if they have begun again.
    fn repairs_passed_over(&mut self, p: &PlacedPacket, waited: Span) -> u32 {
        if !self.agreed.sack_permitted || p.start >= self.next {
            return 0;
        }
        let mut most = u64::from(self.arrivals.ids.skipped);
        let timers = waited >= MIN_RTO_SEEN && p.start <= self.repair.una();
        let (from, to) = match self.repair.repairs_before_timer().filter(|_| timers) {
            // What was asked for before the timer fired was sent before it, each by an ACK (RFC 9937).
            Some((from, acks)) => {
                most = most.min(acks);
                (from, self.heard_up_to)
            }
            None => (self.repair.repairs_after(p.start), p.start.min(self.heard_up_to)),
        };
        let (from, unit) = (from.max(self.una), unit(p, &flow_state!(self)));
        if from < to { (self.ledger.open_between(from, to, most * unit) / unit) as u32 } else { 0 }
    }

    /// New data comes without a gap, and the host sent something before it that did not: while a repair is asked for,
    /// that was it.
    pub(super) fn note_lost_repair<S: Sink>(&mut self, p: &PlacedPacket, ctx: &Context<'_, S>) {
        let missing =
            self.arrivals.ids.skipped > 0 && self.arrivals.ids.are_counted() && p.start >= self.next;
        if missing
            && self.is_asked()
            && u64::from(self.arrivals.ids.skipped)
                > (p.start - self.next).div_ceil(unit(p, &flow_state!(self)))
        {
            self.repair.on_lost_repair(ctx.view.sent);
        }
    }

    /// The first data comes after a timer's wait, and the host's packets right before it, of which all but the
    /// handshake's ACK can only have been data, did not come. Too few have come to know that it counts them, but
    /// numbers so near to the SYN's are no accident.
    fn opened_by_timer<S: Sink>(&mut self, p: &PlacedPacket, ctx: &Context<'_, S>) -> bool {
        // If the handshake's ACK has passed before, the sender has waited since then.
        let acked = ctx.view.established.filter(|t| *t < p.packet.time).unwrap_or(Time::FAR_PAST);
        let waited = ctx.view.sent - self.repair.last_news().max(acked);
        let silent = waited >= MIN_RTO_SEEN && self.repair.last_news() > Time::FAR_PAST;
        if !silent
            || p.packet.seg.payload == 0
            || p.start != self.base + 1
            || self.arrivals.ids.skipped > FIRST_WINDOW
            || self.may_be_spent_elsewhere(ctx.view.established.unwrap_or(p.packet.time), waited)
        {
            return false;
        }
        let ack = u32::from(ctx.view.established == Some(p.packet.time));
        let timing = PathTiming { rto: Span::from_secs(1), ..self.timing(&ctx.view) }; // RFC 6298 §2.1
        let attempts = self.repair.attempts_by(ctx.view.sent, self.repair.last_news(), &timing);
        let data = self.arrivals.ids.skipped.saturating_sub(ack + attempts);
        self.arrivals.ids.owe(data);
        self.sent_up_to = p.start + u64::from(data) * unit(p, &flow_state!(self));
        data > 0
    }

    /// Data in order, and yet not new: packets that carried it before were lost on their way here. Hosts that
    /// count their packets in the IP identification show that: more are missing than there are holes. True if so.
    pub(super) fn unseen_tail<S: Sink>(&mut self, p: &PlacedPacket, ctx: &mut Context<'_, S>) -> bool {
        if p.start < self.next {
            return false;
        }
        let unit = unit(p, &flow_state!(self));
        if p.start > self.next {
            self.arrivals.ids.were_data((p.start - self.next).div_ceil(unit));
        }
        if !ctx.view.at.is_remote() {
            return false;
        }
        if !self.has_data() {
            return false; // what a host that only acknowledges has lost before its FIN may well be an ACK
        }
        let srtt = self.account.srtt(&ctx.view);
        let lately = ctx.view.sent - self.last_repair < srtt * 2
            || self.repair.left_to_repair() > 0
            || self.repair.is_timers();
        // Nothing tells a sender of the loss of all that it had sent last but its timer, or a probe, which goes out while
        // nothing is known to be missing (RFC 8985 §7.2).
        let waited = ctx.view.sent - self.last.sent;
        let silence = match self.agreed.sack_permitted && self.repair.probes_now() {
            true => MIN_RTO.min(probe_not_before(srtt, false)),
            false => MIN_RTO,
        };
        let new = self.arrivals.ids.skipped > 0 && waited >= silence.scale(0.9);
        if !new && self.arrivals.ids.skipped > 0 {
            let hole = u32::try_from((p.start - self.next).div_ceil(unit)).unwrap_or(u32::MAX);
            self.arrivals.ids.accounted_for(u64::from(self.arrivals.ids.skipped.saturating_sub(hole)));
        }
        // Repairs go upwards: what leaves a gap behind it, with nothing missing that might have filled it, is new, and
        // nothing above it had been sent.
        if p.start > self.next && !new && self.arrivals.ids.skipped == 0 {
            self.arrivals.ids.owe(0);
        }
        let counted = self.arrivals.ids.are_counted();
        if counted && p.start >= self.sent_at_most {
            self.arrivals.ids.owe(0);
        }
        let owed = match self.ledger.is_empty() && (new || lately) {
            _ if !counted => 0,
            true => self.arrivals.ids.owed(),
            // While something else is missing, too, only what was data for sure. Who times each copy (RFC 8985 §6.2) has
            // been told of what left before a repair all at once.
            false if self.repair.is_recent() && self.arrivals.ids.data() > 0 => self.arrivals.ids.owed(),
            false => self.arrivals.ids.data(),
        };
        // What it repeats had left before it.
        let owed = owed.saturating_sub(self.arrivals.ids.missing_after(p.packet.ip_id));
        if owed > 0 {
            self.sent_up_to = (p.start + u64::from(owed) * unit).min(self.sent_at_most);
        } else if !lately && self.arrivals.ids.skipped == 0 {
            self.arrivals.ids.owe(0); // what was missing was no data: ACKs, or repairs lost in vain
        }
        if counted && self.arrivals.ids.owed() == 0 {
            self.sent_up_to = 0;
        }
        if p.start < self.sent_up_to || self.account.counts.packets == 1 && self.opened_by_timer(p, ctx) {
            if p.start > self.next {
                self.reveal_hole(p);
            }
            self.bound_wait_of_timer(p, ctx);
            self.arrivals.ids.were_data(self.agreed.segments(p.packet.seg.payload).into());
            let sent = if self.last.seen.is_some() { self.last.sent } else { p.packet.time };
            let due = self.last.seen.unwrap_or(p.packet.time);
            self.ledger.reveal_earlier(&p.passing(ctx.view.peer_packets), sent, due);
            self.next = p.end;
            return true;
        }
        false
    }

    /// A timer sends this data again, and so many packets are missing before it. It has waited for one RTO behind the first of
    /// them, and twice as long behind each further one (RFC 6298 §5.5), but no longer: until the first one left the sender was
    /// waiting for something else.
    fn bound_wait_of_timer<S: Sink>(&mut self, p: &PlacedPacket, ctx: &mut Context<'_, S>) {
        let copies = self.arrivals.ids.skipped.clamp(1, ATTEMPTS as u32);
        let once = self.timing(&ctx.view).rto.max(MIN_RTO_RFC6298);
        let left = ctx.view.sent - once * ((1 << copies) - 1);
        let Some(seen) = self.last.seen.filter(|_| self.ledger.is_empty() && left > self.last.sent) else {
            return;
        };
        let view = View { sent: left, ..ctx.view };
        let mut then = Context {
            view,
            config: ctx.config,
            sink: &mut *ctx.sink,
            origin: ctx.origin,
            waits: &mut *ctx.waits,
            side: ctx.side,
            tuple: ctx.tuple,
        };
        let ended = Ended { resent: None, probe: false, by_ack: false, syn: self.syn_time };
        self.account.note_gap(p.packet, &ended, &flow_state!(self), &mut then);
        self.repair.on_more_data(left, 0);
        (self.last.seen, self.last.sent) = (Some(seen + (left - self.last.sent)), left);
    }
}
