//! The clocks of a sender that is seen to send: RACK's reordering timer (RFC 8985 §6.2), its own pace, and the RTO. What
//! none of them let go an ACK did.

use super::{Attempt, Pace, Repair, SOON};
use crate::rows::Trigger;
use wire::{Span, Time};

/// No timer is late by more, but for the wheel of Linux (since 4.8), whose steps are an eighth of the wait at most.
const LATE: Span = Span::from_millis(12);

/// RACK's view of what was delivered, as Linux has it (tcp_rack_advance).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rack {
    /// When the copy left that left last of those delivered, and where it ends (RFC 8985 §6.2 step 2).
    pub newest: (Time, u64),
    /// RACK.rtt: of what the last ACK told, what advances after what is SACKed.
    pub rtt: Span,
}

/// The pace of a sender that does not wait for ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rhythm {
    /// When what left last together began to leave, and how many packets that were.
    began: Time,
    packets: u32,
    /// How long a packet took, the last time that no ACK let the next go.
    each: Span,
}

impl Rhythm {
    /// A packet leaves; `last` is when the one before it did.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, last: Time, news: Time, trigger: Trigger) {
        if now - last < SOON {
            self.packets += 1;
        } else {
            self.begin(now, news, trigger);
        }
    }
    fn begin(&mut self, now: Time, news: Time, trigger: Trigger) {
        let by_timer = matches!(trigger, Trigger::TimerRto | Trigger::TimerProbe);
        if by_timer && self.each >= SOON && now - self.began < self.each * i64::from(self.packets) {
            // Before its turn: the next waits for that one's time, too (Linux: tcp_wstamp_ns).
            self.packets += 1;
            return;
        }
        if now - news > SOON && self.packets > 0 && !by_timer {
            self.each = (now - self.began) / i64::from(self.packets);
        }
        (self.began, self.packets) = (now, 1);
    }
    /// By its pace the next packet leaves now.
    pub(super) fn is_due(&self, now: Time) -> bool {
        let takes = self.each * i64::from(self.packets);
        let off = now - self.began - takes;
        self.each >= SOON && Span(off.0.abs()) <= Span::from_millis(1).max(takes / 16)
    }
}

impl Repair {
    /// What an ACK tells of when copies left, where they are seen to leave.
    pub fn note_rack(&mut self, newest: (Time, u64), rtt: Span) {
        self.rack = Rack { newest: self.rack.newest.max(newest), rtt };
    }
    /// What left last of all that was delivered, and where it ends.
    pub fn newest(&self) -> (Time, u64) {
        self.rack.newest
    }

    /// Its kind times each copy (RFC 8985), and its RTO is Linux's or longer.
    pub(super) fn is_timed(&self) -> bool {
        self.age.recent() || self.age.probes()
    }

    /// The RTO that its timer may have been set with, since when round trips were told without setting it anew.
    fn own_rto(&self, pace: &Pace) -> Span {
        pace.rto.min(self.timer.rto_then)
    }
    /// An ACK that does not advance is about to be taken in; so long is the RTO before it.
    pub fn note_rto(&mut self, rto: Span) {
        self.timer.rto_then = self.timer.rto_then.min(rto);
    }
    /// RACK's timer may be due, and the RTO is not: the sender has the one. The least round trip may have been less when
    /// that timer was set.
    pub(super) fn only_reordering_is_due(&self, a: &Attempt, pace: &Pace) -> bool {
        !self.rto_is_due(a, pace) && self.reordering_is_due(a, a.reordering.max(pace.srtt / 4))
    }
    /// The RTO is due: since an ACK set it, or since the head left, as while a probe's or RACK's timer is pending
    /// (tcp_rearm_rto). After a timeout every ACK sets it.
    pub(super) fn rto_is_due(&self, a: &Attempt, pace: &Pace) -> bool {
        let rto = self.own_rto(pace);
        let (left, set) = (a.now - a.previous, a.now - a.previous.max(self.timer.start));
        let from_head = left <= rto + LATE.max(rto / 8);
        set >= rto.scale(0.95) || left >= rto.scale(0.95) && from_head
    }

    /// It was told of: what left later has arrived.
    pub(super) fn is_told(&self, a: &Attempt) -> bool {
        match self.rack.newest {
            (time, end) if time == a.previous && time == self.newest_delivered => end > a.end,
            _ => self.newest_delivered >= a.previous,
        }
    }

    /// RACK's timer is due: all that left before the newest that was delivered is lost (Linux: tcp_rack_detect_loss waits
    /// for the last of them). For what is out of order it waits for `most` at most.
    pub(super) fn reordering_is_due(&self, a: &Attempt, most: Span) -> bool {
        let at = a.last_before + self.rack.rtt;
        let latest = at + most;
        let wait = latest - self.last_news;
        a.last_before > Time::FAR_PAST
            && a.now >= at - Span::from_millis(1)
            && a.now <= latest + LATE.max(wait / 8)
    }
    pub(super) fn pace_is_due(&self, now: Time) -> bool {
        self.rhythm.is_due(now)
    }

    /// It was found lost when the last ACK came, or before, and a repair has begun that had no room to send it.
    pub(super) fn is_found_lost(&self, a: &Attempt) -> bool {
        a.sack_permitted
            && self.is_timed()
            && self.is_told(a)
            && a.previous + self.rack.rtt + a.reordering <= self.last_news
    }
}
