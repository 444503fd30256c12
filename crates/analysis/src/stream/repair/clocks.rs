//! The clocks of a sender that is seen to send: RACK's reordering timer (RFC 8985 §6.2), its pacing, and the RTO. An ACK
//! triggered every retransmission that none of the three explains.

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

/// The pacing of a sender whose packets do not wait for ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacing {
    /// When the last burst began to leave, and how many packets it had.
    began: Time,
    packets: u32,
    /// The time between two packets, measured when no ACK had triggered the second.
    interval: Span,
}

impl Pacing {
    /// A packet leaves; `last` is when the one before it did, `news` when the last ACK came.
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
        if by_timer && self.interval >= SOON && now - self.began < self.interval * i64::from(self.packets) {
            // A timer's packet does not wait for its turn, and the next packet waits for both (Linux: tcp_wstamp_ns).
            self.packets += 1;
            return;
        }
        if now - news > SOON && self.packets > 0 && !by_timer {
            self.interval = (now - self.began) / i64::from(self.packets);
        }
        (self.began, self.packets) = (now, 1);
    }
    /// Pacing lets the next packet leave now.
    pub(super) fn is_due(&self, now: Time) -> bool {
        let takes = self.interval * i64::from(self.packets);
        let off = now - self.began - takes;
        self.interval >= SOON && Span(off.0.abs()) <= Span::from_millis(1).max(takes / 16)
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
}
