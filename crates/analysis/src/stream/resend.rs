//! Data passes that was sent before: a packet that is late, or a retransmission, which is to be explained.

use super::account::{Ended, RepairSeen};
use super::arrival::{LATE, Piece};
use super::ledger::{Repeated, Resend};
use super::repair::{Attempt, Pace, Verdict};
use super::*;
use crate::Fate;
use crate::assumptions::AT_ONCE;
use crate::fault::TripAt;

/// Why it was sent again, and for how long the retransmission timer had run then.
struct Explained {
    verdict: Verdict,
    timer_ran: Span,
}

impl Stream {
    pub(super) fn old_data<S: Sink>(
        &mut self,
        p: &Piece,
        repairs_unseen: bool,
        around: &mut Surroundings<'_, S>,
    ) -> (PacketClass, Option<Cause>) {
        if let Some(trip) = around.config.trip {
            trip.check(TripAt::Resends, &p.packet.tuple);
        }
        let sent_before = p.end <= self.sent_up_to;
        if !repairs_unseen && !sent_before && self.fills_hole_in_time(p, around) {
            self.limits.reordered += 1;
            self.end_gap(p, None, true, around);
            return (PacketClass::Reordered, None);
        }
        self.ledger.follow();
        let by_timer = self.repairs_missing_at_most(p, around);
        let explained = self.explain(p, repairs_unseen, around);
        let verdict = explained.verdict;
        if let Some(n) = by_timer.filter(|_| verdict.cause == Cause::Timeout) {
            self.arrivals.ids.had_repairs_before(n);
        }
        let resent = Some((verdict.cause, verdict.backoff));
        self.end_gap(p, resent, verdict.trigger == Trigger::Ack, around);
        self.resend(p, repairs_unseen, explained, around);
        if p.end > self.next {
            // The rest of it is new.
            self.ledger.append_rest(&p.passing(around.view.heard), self.next);
            self.next = p.end;
        }
        (PacketClass::Retransmission, Some(verdict.cause))
    }

    /// A packet that only came late: sent before the one that revealed the gap.
    fn fills_hole_in_time<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) -> bool {
        let Some(seg) = self.ledger.find(p.start) else { return false };
        if !seg.hole || seg.copies > 0 || p.end > seg.end {
            return false;
        }
        let late = p.packet.time - seg.first_time;
        let step = p.packet.ip_id.wrapping_sub(seg.ip_id) as i16;
        let clocks = (p.ts != 0 && seg.first_ts != 0).then(|| p.ts.wrapping_sub(seg.first_ts) as i32);
        let round = self.account.round(&around.view);
        // A step of 0 is a host that does not count.
        let counted = p.packet.ip_id != 0 && seg.ip_id != 0 && (1..2000).contains(&step.unsigned_abs());
        let in_time = match counted {
            true => step < 0,
            // A repair leaves after what revealed the gap, a round trip at least (RFC 7323 §4.1: by its clock, too).
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
        p: &Piece,
        resent: Option<(Cause, u32)>,
        by_ack: bool,
        around: &mut Surroundings<'_, S>,
    ) {
        let ended = Ended { resent, probe: false, by_ack, syn: self.syn_time };
        self.account.note_gap(p.packet, &ended, &stand!(self), around);
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

    fn explain<S: Sink>(&mut self, p: &Piece, unseen: bool, around: &mut Surroundings<'_, S>) -> Explained {
        let pace = self.pace(&around.view);
        let overtaken = self.arrivals.was_overtaken(p, &self.agreed);
        let at = self.ledger.find(p.start);
        let una = self.repair.una();
        let highest = self.next.max(self.sent_up_to).max(self.next + self.owed_bytes(around.view.at));
        let lost = self.repair.lost_repair().filter(|_| p.start <= una);
        let before = at.map_or(Time::FAR_PAST, |s| s.last_time);
        let attempt = Attempt {
            now: around.view.sent,
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
            duplicates_on_the_way: self.on_the_way.iter().filter(|a| a.duplicate && a.ack == una).count()
                as u32,
            acks_seen: self.account.acks() > 0 || self.acked_before.is_some(),
            next: highest,
            ts: p.ts,
            one_segment: self.agreed.mid_stream || p.packet.seg.payload <= self.agreed.mss,
            seen: p.packet.time,
            last_before: self.last_before(p, una, &pace, &around.view),
            reordering: if self.dsack_seen { pace.srtt } else { pace.least / 4 },
            overtaken,
        };
        self.ledger.add_steps(self.on_the_way.len() / 2);
        let timer_start = self.repair.timer_start();
        let verdict = self.repair.explain(&attempt, &pace);
        if let Some(observed) = &verdict.observed {
            around.sink.observed(p.packet.number, observed);
        }
        if verdict.cause == Cause::Timeout {
            self.lose_acks(around.view.sent - around.view.turn * 2);
            // Where copies can be lost on their way here, an attempt may be missing: nothing to compare with.
            let elsewhere = around.view.at.is_away();
            let waited = (!elsewhere).then_some(around.view.sent - timer_start);
            self.account.on_timeout(p.packet.time, verdict.backoff, waited, &self.agreed);
        }
        Explained { verdict, timer_ran: around.view.sent - timer_start }
    }

    /// When the last left of what RACK may be waiting for as the first segment leaves again, and no ACK lets it go.
    fn last_before(&self, p: &Piece, una: u64, pace: &Pace, view: &View) -> Time {
        let waits = pace.judge().sees_it_send()
            && p.start <= una
            && self.ledger.sacked_bytes() > 0
            && view.sent - self.repair.last_news() > AT_ONCE;
        let last = if waits { self.ledger.last_before(self.repair.newest()) } else { None };
        last.unwrap_or(Time::FAR_PAST)
    }

    /// ACKs that passed before and were not heard until a timer fired never will be.
    fn lose_acks(&mut self, before: Time) {
        while let Some(lost) = self.on_the_way.pop_front_if(|a| a.time < before) {
            self.repair.on_lost_ack(&lost);
        }
    }

    /// Takes the copy in: in the ledger and in its episode.
    fn resend<S: Sink>(
        &mut self,
        p: &Piece,
        repairs_unseen: bool,
        Explained { verdict, timer_ran }: Explained,
        around: &mut Surroundings<'_, S>,
    ) {
        let segments = self.agreed.segments(p.packet.seg.payload);
        let payload_end = p.start + u64::from(p.packet.seg.payload);
        self.account.count_resent(segments, payload_end.min(self.next).saturating_sub(p.start));
        self.last_repair = around.view.sent;
        let since = |t: Time| (p.packet.time - t).max(Span::ZERO); // the capture's clock may have gone back
        let silence = self.last.silence(p.packet.time);
        let (flight, limit) = (self.flight(), stand!(self).limit());
        let silence_before = if around.view.at.is_away() { self.last.waited() } else { Span::ZERO };
        let repeated = self.repeat(p, around.view.heard, repairs_unseen, verdict.cause);
        let trouble = self.account.counts.trouble();
        trouble.most_copies = trouble.most_copies.max(repeated.copy);
        let (needless, lost) = self.fate_if_acknowledged(p, &repeated, around.view.at);
        let previous = repeated.previous.map(|(t, ..)| t);
        let mut resend = Resend {
            packet: p.packet.number,
            silence,
            since_previous: previous.map(since).into(),
            rtt_before: previous.and_then(|t| self.account.rtt().at(t)).into(),
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
        resend.episode = self.account.on_repair(&seen, &around.view, self.id, &self.agreed);
        if verdict.cause == Cause::Probe {
            let pace = self.pace(&around.view);
            let row = self.probe_row(p, false, silence, &pace);
            self.account.on_probe(row, &self.agreed, around);
        }
        self.ledger.note_resend(resend);
    }

    /// It repeats what is outstanding.
    fn repeat(&mut self, p: &Piece, heard: u32, repairs_unseen: bool, cause: Cause) -> Repeated {
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
    fn fate_if_acknowledged(&self, p: &Piece, repeated: &Repeated, at: Vantage) -> (Needless, Option<bool>) {
        if repeated.bytes > 0 || p.end > self.una {
            return (Needless::default(), None);
        }
        let seen = matches!(at, Vantage::Receiver | Vantage::Both);
        let lost = match p.fate {
            Fate::Unknown | Fate::Here | Fate::PartlyLost(_) => None,
            fate => Some(fate == Fate::Lost),
        };
        (Needless::Yes(if seen { Proof::Seen } else { Proof::EarlyAck }), lost)
    }

    pub(super) fn probe_row(&self, p: &Piece, new_data: bool, after: Span, pace: &Pace) -> ProbeRow {
        ProbeRow {
            flow: self.id,
            packet: p.packet.number,
            time: p.packet.time,
            new_data,
            known: pace.judge().sees_it_send() && self.repair.has_shown_before(),
            after,
            seq_start: self.relative(p.start),
            seq_end: self.relative(p.end),
        }
    }
}
