//! Timers and pacing of a sender whose packets are seen as they leave: RACK's reordering timer (RFC 8985 §6.2), pacing, and
//! the RTO. An ACK triggered every retransmission that none of the three explains.

use super::{PathTiming, RetransmittedSegment, SOON, SenderModel};
use crate::rows::Trigger;
use wire::{Span, Time};

/// No timer is late by more, except in Linux's timer wheel (since 4.8), whose steps are up to an eighth of the wait.
const LATE: Span = Span::from_millis(12);

/// RACK's view of what was delivered, as Linux has it (tcp_rack_advance).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rack {
    /// When the newest of the delivered copies left, and where it ends (RFC 8985 §6.2 step 2).
    pub newest: (Time, u64),
    /// RACK.rtt of the last ACK: what it acknowledges cumulatively is taken in after what it SACKs, as in Linux.
    pub rtt: Span,
}

/// The pacing of a sender, measured from bursts that no ACK triggered.
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
            // A timer's packet is not paced, and the next packet waits for both (Linux: tcp_wstamp_ns).
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

impl SenderModel {
    /// Takes in what an ACK shows of RACK's state.
    pub fn note_rack(&mut self, newest: (Time, u64), rtt: Span) {
        self.rack = Rack { newest: self.rack.newest.max(newest), rtt };
    }
    /// When the newest delivered copy left, and where it ends.
    pub fn newest(&self) -> (Time, u64) {
        self.rack.newest
    }

    /// The least RTO that the running timer may have been set with: RTT samples since then did not restart it.
    fn own_rto(&self, timing: &PathTiming) -> Span {
        timing.rto.min(self.timer.rto_then)
    }
    /// An ACK that acknowledges nothing new is about to give an RTT sample; `rto` is the RTO before it.
    pub fn note_rto(&mut self, rto: Span) {
        self.timer.rto_then = self.timer.rto_then.min(rto);
    }
    /// RACK's timer may be due and the RTO is not, which shows that the sender has RACK. The minimum RTT may have been smaller
    /// when that timer was set.
    pub(super) fn only_reordering_is_due(&self, a: &RetransmittedSegment, timing: &PathTiming) -> bool {
        !self.rto_is_due(a, timing) && self.reordering_is_due(a, a.reordering.max(timing.srtt / 4))
    }
    /// The RTO is due, counted from the ACK that restarted it, or from when the first segment left, as Linux does while a
    /// probe's or RACK's timer is pending (tcp_rearm_rto). After a timeout every ACK restarts it.
    pub(super) fn rto_is_due(&self, a: &RetransmittedSegment, timing: &PathTiming) -> bool {
        let rto = self.own_rto(timing);
        let (since_sent, since_restart) = (a.now - a.previous, a.now - a.previous.max(self.timer.start));
        let within_timer_error = since_sent <= rto + LATE.max(rto / 8);
        since_restart >= rto.scale(0.95) || since_sent >= rto.scale(0.95) && within_timer_error
    }

    /// ACKs show the copy before this one to be lost, because a copy that left later has been delivered.
    pub(super) fn is_found_lost(&self, a: &RetransmittedSegment) -> bool {
        match self.rack.newest {
            (time, end) if time == a.previous && time == self.newest_delivered => end > a.end,
            _ => self.newest_delivered >= a.previous,
        }
    }

    /// RACK's timer is due: everything that left before the newest delivered copy is lost (Linux: tcp_rack_detect_loss waits
    /// for the last of it). `most`: the longest reordering window.
    pub(super) fn reordering_is_due(&self, a: &RetransmittedSegment, most: Span) -> bool {
        let at = a.last_before + self.rack.rtt;
        let latest = at + most;
        let wait = latest - self.last_news;
        a.last_before > Time::FAR_PAST
            && a.now >= at - Span::from_millis(1)
            && a.now <= latest + LATE.max(wait / 8)
    }
}
