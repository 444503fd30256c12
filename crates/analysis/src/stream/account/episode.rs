//! Episodes: bursts whose repair overlaps, from the first lost copy to the ACK that ends the repair.

use super::delivery::Delivery;
use crate::prefetch;
use crate::rows::*;
use crate::stream::ledger::{Ordinal, Repeated, Resend};
use std::collections::VecDeque;
use wire::{Span, Time};

#[derive(Clone, Debug)]
struct Episode {
    row: EpisodeRow,
    recover: u64,
    /// The repair that opened it or extended it last: what was sent from there on and is lost is a later burst.
    extended_at: Ordinal,
    first_repair: Ordinal,
    last_timeout_una: Option<u64>,
    intermittent: bool,
    delivered_before: u64,
    rate_bytes_per_s: Option<f64>,
    first_trigger: Trigger,
    /// Every copy before this one must be settled before its losses are known.
    settled_by: Ordinal,
    /// The first burst's own start and trigger, once known.
    first_burst: Option<Time>,
    lost_unknown: bool,
    /// All that it sent again had been acknowledged here.
    acknowledged: bool,
    /// By then it is over, though nothing may follow that shows it.
    over_by: Time,
}

/// A repair, as the episodes see it.
#[derive(Clone, Copy, Debug)]
pub struct RepairSeen<'a> {
    pub now: Time,
    pub start: u64,
    pub end: u64,
    /// What is known of it, but for its episode, and of the copies before it.
    pub resent: &'a Resend,
    pub repeated: &'a Repeated,
    pub una: u64,
    pub next: u64,
    /// How things stood before it left.
    pub flight: u64,
    pub limit: Limit,
    /// Before the data that came last, where data arrives.
    pub silence_before: Span,
}

impl RepairSeen<'_> {
    /// The copy it replaces: when it was sent, where in order, and whether the data had been sent but that once.
    fn previous(&self) -> (Time, Ordinal, bool) {
        self.repeated.previous.unwrap_or((self.now, self.repeated.ordinal.saturating_sub(1), false))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Episodes {
    open: Option<Box<Episode>>,
    ended: VecDeque<Box<Episode>>,
    count: u32,
}

impl Episodes {
    /// As if new, with the room it has.
    pub fn clear(&mut self) {
        self.open = None;
        self.ended.clear();
        self.count = 0;
    }
    /// An ACK follows soon.
    #[inline(always)]
    pub fn warm(&self) {
        if let Some(e) = &self.open {
            prefetch::lines(&e.recover, 0, 1);
        }
    }
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }
    pub fn any_ended(&self) -> bool {
        !self.ended.is_empty()
    }
    pub fn idle(&self) -> bool {
        self.open.is_none() && self.ended.is_empty()
    }
    /// What those that ended take.
    pub fn bytes(&self) -> u64 {
        (self.ended.len() * size_of::<Episode>()) as u64
    }
    pub fn count(&self) -> u32 {
        self.count
    }

    /// A repair leaves; returns the episode it belongs to.
    pub fn on_repair(&mut self, r: &RepairSeen, delivery: &mut Delivery, rtt_min: Span, flow: FlowId) -> u32 {
        if self.open.is_none() {
            let (rate, before) = delivery.episode_starts(r.previous().0, r.now, rtt_min);
            self.open = Some(Box::new(Episode::new(self.count, flow, r, rate, before)));
            self.count += 1;
        }
        let Some(e) = self.open.as_mut() else { return 0 };
        e.on_repair(r);
        e.row.number
    }

    /// A tail-loss probe with new data belongs to the episode that is open, if one is.
    pub fn on_probe(&mut self) {
        if let Some(e) = self.open.as_mut() {
            e.row.probes += 1;
        }
    }

    /// The cumulative ACK moved; true if an episode ended.
    pub fn on_ack(&mut self, una: u64, now: Time, next: Ordinal, delivery: &mut Delivery) -> bool {
        let Some(mut e) = self.open.take_if(|e| una >= e.recover) else { return false };
        e.end(now, next, delivery);
        self.ended.push_back(e);
        true
    }

    /// An ACK repeats what had been acknowledged here before all that was sent again came: it answers that, and what the
    /// sender makes of it is here a round trip later.
    #[inline]
    pub fn on_answer(&mut self, una: u64, now: Time, round: Span) {
        if let Some(e) = self.open.as_mut().filter(|e| e.acknowledged && una >= e.recover) {
            e.over_by = e.over_by.min(now + round);
        }
    }

    /// At the sender: all that the open one sent again had been acknowledged, and what is repaired now was first sent
    /// later. Nothing was missing in between, and no ACK of anything new ended it: it was over with its last repair.
    pub fn ends_before(&mut self, r: &RepairSeen, delivery: &mut Delivery) -> bool {
        let Some((sent, ..)) = r.repeated.previous else { return false };
        let over = |e: &mut Box<Episode>| e.acknowledged && r.start >= e.recover && e.row.last_repair < sent;
        let Some(mut e) = self.open.take_if(over) else { return false };
        e.over_by = e.row.last_repair;
        e.end(r.now, r.repeated.ordinal, delivery);
        self.ended.push_back(e);
        true
    }

    /// They are numbered one by one, and leave in that order.
    fn of_number(&mut self, number: u32) -> Option<&mut Episode> {
        if let Some(open) = self.open.as_deref_mut().filter(|e| e.row.number == number) {
            return Some(open);
        }
        let first = self.ended.front()?.row.number;
        self.ended.get_mut(number.checked_sub(first)? as usize).map(|e| &mut **e)
    }

    /// A burst became certain.
    pub fn on_burst(&mut self, b: &BurstRow) {
        if let Some(e) = b.episode.and_then(|number| self.of_number(number)) {
            e.on_burst(b);
        }
    }

    /// A retransmission turned out needless.
    pub fn on_needless(&mut self, number: Option<u32>, segments: u32) {
        if let Some(e) = number.and_then(|number| self.of_number(number)) {
            e.row.needless = e.row.needless.saturating_add(segments);
        }
    }

    /// Episodes that ended and whose every copy is settled (`settled`: the oldest that is not).
    pub fn take_certain(&mut self, settled: Ordinal, burst_open: bool, mut each: impl FnMut(EpisodeRow)) {
        while let Some(e) = self.ended.front() {
            if e.settled_by > settled || (burst_open && e.settled_by + 1 > settled) {
                return;
            }
            if let Some(e) = self.ended.pop_front() {
                each(e.row());
            }
        }
    }

    /// The stream ends at `now`.
    pub fn finish(&mut self, now: Time, una: u64, delivered: u64, mut each: impl FnMut(EpisodeRow)) {
        for e in self.ended.drain(..) {
            each(e.row());
        }
        if let Some(mut e) = self.open.take() {
            // An ACK that was lost beyond is said again, which moves nothing here: that repair is over all the same.
            e.row.end = (e.acknowledged && una >= e.recover).then_some(e.ends(now));
            e.close(now, Ordinal::MAX, delivered);
            each(e.row());
        }
    }
}

impl Episode {
    fn new(number: u32, flow: FlowId, r: &RepairSeen, rate: Option<f64>, before: u64) -> Episode {
        Episode {
            row: EpisodeRow {
                flow,
                number,
                start: r.previous().0,
                first_repair: r.now,
                flight_bytes: r.flight,
                sent_after_loss_bytes: r.next.saturating_sub(r.start),
                limit: r.limit,
                silence: Some(r.resent.silence),
                silence_before: r.silence_before,
                rate_before_bps: rate.map(|x| x * 8.0),
                ..EpisodeRow::default()
            },
            recover: r.next,
            extended_at: r.repeated.ordinal,
            first_repair: r.repeated.ordinal,
            last_timeout_una: None,
            intermittent: false,
            delivered_before: before,
            rate_bytes_per_s: rate,
            first_trigger: r.resent.trigger,
            settled_by: Ordinal::MAX,
            first_burst: None,
            lost_unknown: false,
            acknowledged: true,
            over_by: Time::FAR_FUTURE,
        }
    }

    fn on_repair(&mut self, r: &RepairSeen) {
        let (_, previous, first_time) = r.previous();
        self.row.last_repair = r.now;
        self.row.retransmissions = self.row.retransmissions.saturating_add(r.resent.segments);
        self.acknowledged &= r.start < r.una;
        self.over_by = Time::FAR_FUTURE;
        if previous >= self.extended_at {
            // What it replaces was sent after the repair had begun: a later burst, which extends the episode.
            self.recover = self.recover.max(r.next);
            self.extended_at = r.repeated.ordinal;
        }
        match r.resent.cause {
            Cause::Timeout => {
                // One segment a timeout (paper `interruption`, Fig. 11): progress since the last one, this
                // segment not sent again yet, and lost in the burst that began the episode.
                let progress = self.last_timeout_una.is_some_and(|una| r.una > una);
                if progress && first_time && previous < self.first_repair {
                    self.intermittent = true;
                }
                self.last_timeout_una = Some(r.una);
                self.row.max_backoff = self.row.max_backoff.max(r.resent.backoff.min(self.row.timeouts));
                self.row.timeouts += 1;
            }
            Cause::Probe => self.row.probes += 1,
            _ => {}
        }
    }

    fn on_burst(&mut self, b: &BurstRow) {
        self.row.bursts += 1;
        self.row.lost_segments = self.row.lost_segments.saturating_add(b.lost_segments);
        match b.lost_copies {
            Some(n) => self.row.lost_copies = Some(self.row.lost_copies.unwrap_or(0).saturating_add(n)),
            None => self.lost_unknown = true,
        }
        if self.first_burst.is_none_or(|t| b.start < t) {
            self.first_burst = Some(b.start);
            self.first_trigger = b.trigger;
            self.row.silence = b.silence;
        }
    }

    fn end(&mut self, now: Time, next: Ordinal, delivery: &mut Delivery) {
        self.row.end = Some(self.ends(now));
        self.close(now, next, delivery.bytes());
        delivery.episode_ends(now);
    }

    /// When it is over, if that shows at `now`.
    fn ends(&self, now: Time) -> Time {
        self.over_by.min(now).max(self.row.start)
    }

    fn close(&mut self, now: Time, next: Ordinal, delivered: u64) {
        self.settled_by = next;
        self.row.delivered_bytes = delivered.saturating_sub(self.delivered_before);
        let took = self.row.end.unwrap_or(now).max(self.row.start) - self.row.start;
        self.row.cost = self
            .rate_bytes_per_s
            .filter(|r| *r > 0.0)
            .map(|r| took - Span::from_secs_f64(self.row.delivered_bytes as f64 / r));
    }

    fn row(mut self) -> EpisodeRow {
        let lost = self.row.bursts > 0;
        self.row.trigger = self.first_trigger;
        self.row.kind = match self.first_trigger {
            _ if !lost && self.row.end.is_some() => EpisodeKind::Needless,
            _ if self.intermittent => EpisodeKind::Intermittent,
            Trigger::Ack => EpisodeKind::Ack,
            Trigger::TimerRto => EpisodeKind::TimerRto,
            Trigger::TimerProbe => EpisodeKind::TimerProbe,
            Trigger::Unrepaired => EpisodeKind::Unrepaired,
        };
        if self.lost_unknown {
            self.row.lost_copies = None;
        } else {
            self.row.lost_copies.get_or_insert(0);
        }
        self.row
    }
}
