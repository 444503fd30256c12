//! Data passes that was sent before: a packet that is late, or a retransmission, which is to be explained.

use super::account::{Ended, RepairSeen};
use super::arrival::{LATE, PlacedPacket};
use super::ledger::{Repeated, Resend};
use super::repair::{PathTiming, RetransmittedSegment, Verdict};
use super::*;
use crate::Fate;
use crate::assumptions::AT_ONCE;
use crate::fault::TripAt;
use crate::waits::Released;

/// Why it was sent again, and for how long the retransmission timer had run then.
struct Explained {
    verdict: Verdict,
    timer_ran: Span,
}

impl Stream {
    pub(super) fn old_data<S: Sink>(
        &mut self,
        p: &PlacedPacket,
        repairs_unseen: bool,
        ctx: &mut Context<'_, S>,
    ) -> (PacketClass, Option<Cause>) {
        if let Some(trip) = ctx.config.trip {
            trip.check(TripAt::Resends, &p.packet.tuple);
        }
        let sent_before = p.end <= self.sent_up_to;
        if !repairs_unseen && !sent_before && self.fills_hole_in_time(p, ctx) {
            self.limits.reordered += 1;
            self.end_gap(p, None, true, ctx);
            return (PacketClass::Reordered, None);
        }
        self.ledger.follow();
        let by_timer = self.repairs_missing_at_most(p, ctx);
        let explained = self.explain(p, repairs_unseen, ctx);
        let verdict = explained.verdict;
        if let Some(n) = by_timer.filter(|_| verdict.cause == Cause::Timeout) {
            self.arrivals.ids.had_repairs_before(n);
        }
        let resent = Some((verdict.cause, verdict.backoff));
        self.end_gap(p, resent, verdict.trigger == Trigger::Ack, ctx);
        self.note_repair_release(p, &verdict, ctx);
        self.resend(p, repairs_unseen, explained, ctx);
        if p.end > self.next {
            // The rest of it is new.
            self.ledger.append_rest(&p.passing(ctx.view.peer_packets), self.next);
            self.next = p.end;
        }
        (PacketClass::Retransmission, Some(verdict.cause))
    }

    /// Something is sent again: an ACK let it go, or a timer that ran out.
    fn note_repair_release<S: Sink>(
        &mut self,
        p: &PlacedPacket,
        verdict: &Verdict,
        ctx: &mut Context<'_, S>,
    ) {
        let view = &ctx.view;
        self.released = match verdict.trigger {
            Trigger::Ack => Release::Ack,
            Trigger::TimerRto | Trigger::TimerProbe => Release::Timer,
            Trigger::Unrepaired => Release::Unknown,
        };
        if view.sent - self.last.sent > crate::rounds::WAIT {
            // Nothing was owed before a FIN, unless the other host's data had stopped in the middle: what comes to an end
            // there waits for a timer of that host.
            if p.packet.seg.payload == 0 {
                let (side, owed) = if view.answers == Answers::Unfinished {
                    (1 - ctx.side, Wait::Timer)
                } else {
                    (ctx.side, Wait::Nothing)
                };
                ctx.waits.charge(side, owed, self.last.fin);
            }
            let before = self.last.seen.map(|_| self.last.sent);
            let closed =
                (self.window.zero_since.is_some() && self.released == Release::Timer).then_some(Wait::Closed);
            let released = Released {
                at: view.sent,
                loop_delay: view.sender_loop,
                side: ctx.side,
                by: self.released,
                instead: closed,
                message: None,
                aside: false,
            };
            ctx.waits.on_released(&released, before);
        }
    }

    /// A packet that only came late: sent before the one that revealed the gap.
    fn fills_hole_in_time<S: Sink>(&mut self, p: &PlacedPacket, ctx: &Context<'_, S>) -> bool {
        let Some(seg) = self.ledger.find(p.start) else { return false };
        if !seg.hole || seg.copies > 0 || p.end > seg.end {
            return false;
        }
        let late = p.packet.time - seg.first_time;
        let step = p.packet.ip_id.wrapping_sub(seg.ip_id) as i16;
        let clocks = (p.ts != 0 && seg.first_ts != 0).then(|| p.ts.wrapping_sub(seg.first_ts) as i32);
        let round = self.account.round(&ctx.view);
        // If the IP identification did not change, the host does not count its packets in it, and it says nothing
        // about order.
        let counted = p.packet.ip_id != 0 && seg.ip_id != 0 && (1..2000).contains(&step.unsigned_abs());
        let in_time = match counted {
            true => step < 0,
            // A retransmission leaves at least a round trip after the packet that revealed the hole, so its timestamp
            // (RFC 7323 §4.1) is not older; a packet with an older one is a late original.
            false if clocks.is_some_and(|c| c < 0) => true,
            false => clocks.is_none_or(|c| c == 0) && late < round.scale(0.7).max(LATE),
        };
        if in_time {
            self.ledger.fill(p.start, p.end);
        }
        in_time
    }

    /// A gap in the sending ends, if there was one: with something `resent`, or late.
    fn end_gap<S: Sink>(
        &mut self,
        p: &PlacedPacket,
        resent: Option<(Cause, u32)>,
        by_ack: bool,
        ctx: &mut Context<'_, S>,
    ) {
        let ended = Ended { resent, probe: false, by_ack, syn: self.syn_time };
        self.account.note_gap(p.packet, &ended, &flow_state!(self), ctx);
    }

    /// As far as is known; where no handshake was seen, whoever has timestamps (RFC 7323) is taken to have SACK
    /// (RFC 2018) too: a stack with only one of them is rare.
    pub(super) fn likely_has_sack(&self) -> bool {
        self.agreed.sack_permitted || self.agreed.timestamps && !self.agreed.sack_known
    }

    /// ACKs have asked for a repair of the first segment not acknowledged.
    pub(super) fn is_asked(&self) -> bool {
        self.repair.is_asked()
    }

    fn explain<S: Sink>(&mut self, p: &PlacedPacket, unseen: bool, ctx: &mut Context<'_, S>) -> Explained {
        let timing = self.timing(&ctx.view);
        let overtaken = self.arrivals.was_overtaken(p, &self.agreed);
        let at = self.ledger.find(p.start);
        let una = self.repair.una();
        let highest = self.next.max(self.sent_up_to).max(self.next + self.owed_bytes(ctx.view.at));
        let lost = self.repair.lost_repair().filter(|_| p.start <= una);
        let before = at.map_or(Time::FAR_PAST, |s| s.last_time);
        let attempt = RetransmittedSegment {
            now: ctx.view.sent,
            head: p.start <= una && (!overtaken || p.start == una),
            start: p.start,
            end: p.end,
            acknowledged: p.end <= self.una,
            // A tail that was never seen may have ended in a short segment.
            tail: p.end + (highest - self.next).min(u64::from(self.agreed.mss)) >= highest,
            previous: lost.map_or(before, |t| t.max(before)),
            previous_was_resend: lost.is_some() || at.is_some_and(|s| s.copies_in_all > 1),
            sacked_above: self.ledger.sacked_bytes() > 0,
            untold: p.end > self.sacked_up_to.max(self.una),
            sack_permitted: self.likely_has_sack(),
            unseen,
            missing: self.arrivals.ids.are_counted().then_some(self.arrivals.ids.skipped),
            duplicates_in_flight: self.acks_in_flight.iter().filter(|a| a.duplicate && a.ack == una).count()
                as u32,
            acks_seen: self.account.acks() > 0 || self.acked_before.is_some(),
            next: highest,
            ts: p.ts,
            one_segment: self.agreed.mid_stream || p.packet.seg.payload <= self.agreed.mss,
            seen: p.packet.time,
            last_before: self.last_before(p, una, &timing, &ctx.view),
            reordering: if self.dsack_seen { timing.srtt } else { timing.least / 4 },
            overtaken,
        };
        self.ledger.add_steps(self.acks_in_flight.len() / 2);
        let timer_start = self.repair.timer_start();
        let verdict = self.repair.explain(&attempt, &timing);
        if let Some(observed) = &verdict.observed {
            ctx.sink.observed(p.packet.number, observed);
        }
        if verdict.cause == Cause::Timeout {
            self.mark_acks_lost(ctx.view.sent - ctx.view.sender_loop * 2);
            // Where copies can be lost on their way here, an attempt may be missing: nothing to compare with.
            let elsewhere = ctx.view.at.is_remote();
            let waited = (!elsewhere).then_some(ctx.view.sent - timer_start);
            self.account.on_timeout(p.packet.time, verdict.backoff, waited, &self.agreed);
        }
        Explained { verdict, timer_ran: ctx.view.sent - timer_start }
    }

    /// When the last left of what RACK may be waiting for as the first segment leaves again, and no ACK lets it go.
    fn last_before(&self, p: &PlacedPacket, una: u64, timing: &PathTiming, view: &View) -> Time {
        let waits = timing.judge().sees_it_send()
            && p.start <= una
            && self.ledger.sacked_bytes() > 0
            && view.sent - self.repair.last_news() > AT_ONCE;
        let last = if waits { self.ledger.last_before(self.repair.newest()) } else { None };
        last.unwrap_or(Time::FAR_PAST)
    }

    /// ACKs that passed before and had no effect on the sender until its timer fired were lost on their way to it.
    fn mark_acks_lost(&mut self, before: Time) {
        while let Some(lost) = self.acks_in_flight.pop_front_if(|a| a.time < before) {
            self.repair.on_lost_ack(&lost);
        }
    }

    /// Takes the copy in: in the ledger and in its episode.
    fn resend<S: Sink>(
        &mut self,
        p: &PlacedPacket,
        repairs_unseen: bool,
        Explained { verdict, timer_ran }: Explained,
        ctx: &mut Context<'_, S>,
    ) {
        let segments = self.agreed.segments(p.packet.seg.payload);
        let payload_end = p.start + u64::from(p.packet.seg.payload);
        self.account.count_resent(segments, payload_end.min(self.next).saturating_sub(p.start));
        self.last_repair = ctx.view.sent;
        let since = |t: Time| (p.packet.time - t).max(Span::ZERO); // the capture's clock may have gone back
        let silence = self.last.silence(p.packet.time);
        let (flight, limit) = (self.flight(), flow_state!(self).limit());
        let silence_before = if ctx.view.at.is_remote() { self.last.waited() } else { Span::ZERO };
        let repeated = self.repeat(p, ctx.view.peer_packets, repairs_unseen, verdict.cause);
        let trouble = self.account.counts.trouble();
        trouble.most_copies = trouble.most_copies.max(repeated.copy);
        let (needless, lost) = self.fate_if_acknowledged(p, &repeated, ctx.view.at);
        let previous = repeated.previous.map(|(t, ..)| t);
        let mut resend = Resend {
            packet: p.packet.number,
            silence,
            since_previous: previous.map(since).into(),
            rtt_before: previous.and_then(|t| self.rtt_at(t, ctx.view.at)).into(),
            timer_ran_us: u32::try_from(timer_ran.0.max(0) / 1000).unwrap_or(u32::MAX),
            segments,
            backoff: verdict.backoff,
            episode: 0,
            copy: repeated.copy.try_into().unwrap_or(u16::MAX),
            cause: verdict.cause,
            other_candidate: verdict.other,
            evidence: verdict.evidence,
            trigger: verdict.trigger,
            needless,
            lost,
        };
        let (now, start, end) = (p.packet.time, p.start, p.end);
        let (una, next) = (self.una, self.next);
        let (resent, repeated) = (&resend, &repeated);
        let seen = RepairSeen { now, start, end, resent, repeated, una, next, flight, limit, silence_before };
        resend.episode = self.account.on_repair(&seen, &ctx.view, self.id, &self.agreed);
        if verdict.cause == Cause::Probe {
            let timing = self.timing(&ctx.view);
            let row = self.probe_row(p, false, silence, &timing);
            self.account.on_probe(row, &self.agreed, ctx);
        }
        self.ledger.note_resend(resend);
    }

    /// The round trip when a copy left. Where data arrives, from data to its ACK is the host's own turn-around.
    fn rtt_at(&self, when: Time, at: Vantage) -> Option<Span> {
        self.account.rtt().at(when).filter(|_| at != Vantage::Receiver)
    }

    /// It repeats what is outstanding.
    fn repeat(&mut self, p: &PlacedPacket, heard: u32, repairs_unseen: bool, cause: Cause) -> Repeated {
        let (ids, of_head) = (&mut self.arrivals.ids, p.start <= self.una);
        self.ledger.repeat(&p.passing(heard), self.una, |age| {
            // A hole made this moment has no age.
            if repairs_unseen || cause == Cause::Timeout {
                return;
            }
            if of_head {
                ids.begins_repair();
            }
            ids.filled_after(age);
        })
    }

    /// What was acknowledged before it left was repeated needlessly, beyond doubt. Was it, and was this copy lost?
    fn fate_if_acknowledged(
        &self,
        p: &PlacedPacket,
        repeated: &Repeated,
        at: Vantage,
    ) -> (Needless, Option<bool>) {
        if repeated.bytes > 0 || p.end > self.una {
            return (Needless::default(), None);
        }
        let seen = matches!(at, Vantage::Receiver | Vantage::Both);
        let lost = match p.fate {
            Fate::Unknown | Fate::SeenArriving | Fate::PartlyLost(_) => None,
            fate => Some(fate == Fate::Lost),
        };
        (Needless::Yes(if seen { Proof::Seen } else { Proof::EarlyAck }), lost)
    }

    pub(super) fn probe_row(
        &self,
        p: &PlacedPacket,
        new_data: bool,
        after: Span,
        timing: &PathTiming,
    ) -> ProbeRow {
        ProbeRow {
            flow: self.id,
            packet: p.packet.number,
            time: p.packet.time,
            new_data,
            known: timing.judge().sees_it_send() && self.repair.has_shown_before(),
            after,
            seq_start: self.relative(p.start),
            seq_end: self.relative(p.end),
        }
    }
}
