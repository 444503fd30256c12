//! The retransmission timer: when it was started, how long it runs, and what follows when it fires.

use super::{PathTiming, RetransmittedSegment, SenderModel, State};
use crate::assumptions::{MIN_RTO, MIN_RTO_RFC6298};
use wire::{Span, Time};

/// The maximum RTO: 60 s (RFC 6298 §2.5) or 120 s (Linux).
const LONGEST: [Span; 2] = [Span::from_secs(60), Span::from_secs(120)];

/// How much earlier or later than one second a timer with a floor of one second fires, with ticks of up to 10 ms.
const OFF: (Span, Span) = (Span::from_millis(10), Span::from_millis(15));

/// The wait was one second, at most `less` shorter or `more` longer.
fn is_near_a_second(waited: Span, less: Span, more: Span) -> bool {
    (MIN_RTO_RFC6298 - less..=MIN_RTO_RFC6298 + more).contains(&waited)
}

/// The wait shows a floor of one second: an RTO from RTT samples would come this close to it only by chance.
fn is_exactly_a_second(waited: Span) -> bool {
    is_near_a_second(waited, OFF.0, OFF.1)
}

/// The wait of such a timer that fired once, or up to three times with doubling (RFC 6298 §5.5).
fn is_of_a_second(waited: Span) -> bool {
    [0, 2, 6].into_iter().any(|before| is_exactly_a_second(waited - Span::from_secs(before)))
}

/// The timer has reached its maximum and doubles no further (RFC 6298 §5.5).
fn is_longest(waited: Span) -> bool {
    LONGEST.into_iter().any(|most| (most.scale(0.99)..most.scale(1.01)).contains(&waited))
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    /// When it was last restarted for certain.
    pub(super) start: Time,
    /// The least RTO since the cumulative ACK last moved, where there were RTT samples since.
    pub(super) rto_then: Span,
    /// The backed-off RTO, kept while only retransmitted segments are acknowledged, which give no RTT sample (Karn's rule,
    /// RFC 6298 §3 and §5.5). 0 once that is over.
    pub(super) doubled: Span,
    /// Timeouts in a row without progress; the same number, kept when progress is made.
    pub(super) expiries: u32,
    pub(super) firings: u32,
    /// When it last fired.
    pub(super) fired_at: Time,
    /// The RTO, as the last first timeout of a row showed it.
    pub(super) wait: Span,
    /// The shortest silence that a timeout ended.
    pub(super) least_wait: Span,
}

impl Default for Timer {
    fn default() -> Timer {
        Timer {
            start: Time::FAR_PAST,
            rto_then: Span::MAX,
            doubled: Span::ZERO,
            expiries: 0,
            firings: 0,
            fired_at: Time::FAR_PAST,
            wait: Span::MAX,
            least_wait: Span::MAX,
        }
    }
}

impl SenderModel {
    /// How often the timer had fired unseen, if it fired at `now`: each time it doubles (RFC 6298 §5.5).
    pub fn attempts_by(&self, now: Time, last_sent: Time, timing: &PathTiming) -> u32 {
        let waited = now - self.timer.start.max(last_sent - timing.srtt);
        let backed_off = f64::from(1u32 << self.timer.expiries.min(16));
        let doublings = |rto: Span| (waited.as_secs() / (rto.as_secs().max(1e-3) * backed_off) + 1.0).log2();
        let misfit = |n: f64| if n < 1.0 { 1.0 - n } else { (n - n.round()).abs() };
        // The RTO is that of the timeout before, or has the floor of one second of RFC 6298 §2.4, or that of Linux and most
        // others, 200 ms above SRTT. A sender whose timer fired sooner has no floor of one second, and a stack since RFC
        // 6928 only if it shows one.
        let shows_none = self.era.since_2013() && !self.is_a_second(waited, now, timing);
        let has_none = self.timer.least_wait < MIN_RTO_RFC6298.scale(0.8) || shows_none;
        let slow = self.timer.least_wait >= MIN_RTO_RFC6298.scale(0.8) && is_of_a_second(waited);
        let floor = if has_none { MIN_RTO } else { MIN_RTO_RFC6298 };
        let known = match self.timer.expiries == 0 && self.timer.doubled > Span::ZERO {
            true => Some(self.timer.doubled),
            false => (self.timer.wait < Span::MAX).then(|| timing.rto.max(self.timer.wait)),
        };
        let waits =
            [known.unwrap_or(timing.rto), timing.rto, timing.rto.max(floor), MIN_RTO.max(timing.srtt)];
        let better = |n: f64, m: f64| if misfit(m) + 0.2 < misfit(n) { m } else { n };
        let waits = if slow { waits.map(|w| w.max(MIN_RTO_RFC6298)) } else { waits };
        let n = waits.into_iter().map(doublings).reduce(better).unwrap_or(1.0);
        // The wait may be measured a little short: the packet that started the timer may have passed here earlier or later.
        (n + 0.2).max(1.0) as u32 - 1
    }

    /// Whether a timer with a floor of one second (RFC 6298 §2.4) that has run for `waited` fires now, seen at the
    /// receiver: the ACK that started it and the packet that it sent may each have been a round trip on their way. A
    /// retransmission that was lost may have started it anew after that.
    fn is_a_second(&self, waited: Span, now: Time, timing: &PathTiming) -> bool {
        let off = timing.srtt.min(MIN_RTO_RFC6298.scale(0.1));
        let near = |waited| is_near_a_second(waited, off, off);
        near(waited) || waited > MIN_RTO_RFC6298 && near(self.silent(now))
    }

    /// How often the timer had fired unseen, where a timeout's packet came last and `missing` packets are missing behind it.
    /// Until that packet is acknowledged the sender sends nothing else, then two segments (RFC 5681 §3.1), unless an ACK may
    /// have shown it that the timeout was spurious (RFC 3522, RFC 5682).
    pub fn attempts_told(&self, start: u64, missing: Option<u32>, stamped: bool) -> Option<u32> {
        let may_undo = start > self.trace.end && (self.era.since_2013() || stamped);
        if !self.is_timers() || may_undo {
            return None;
        }
        let others = if start < self.trace.end { 0 } else { 2 };
        missing.map(|n| n.saturating_sub(others))
    }

    /// The timer has fired.
    pub(super) fn enter_loss(&mut self, a: &RetransmittedSegment, timing: &PathTiming) {
        let judge = timing.judge();
        let repairs = judge.was_repairing(self, a);
        let waited = a.now - self.timer.start.max(a.previous);
        let lost = judge.unseen_timeouts(self, a, timing);
        // It had fired `lost` times unseen, and waited twice as long each time.
        let all = 2i64 << lost;
        let once = waited / (all - 1);
        // With timestamps every ACK gives an RTT sample (RFC 7323 §4).
        self.timer.doubled = match a.ts {
            0 if is_longest(waited) => waited,
            0 => once * all,
            _ => Span::ZERO,
        };
        if self.timer.expiries == 0 && judge.saw_timer_start(self, a) {
            self.timer.least_wait = self.timer.least_wait.min(waited);
            self.timer.wait = once;
        }
        // RFC 8985 §7.2: with more than one segment in flight a probe would have come long before.
        let due = self.probes_now() && !(a.head && a.tail) && self.last_news > Time::FAR_PAST;
        if due && a.sack_permitted && !self.probing.outstanding() {
            self.probing.miss();
        }
        // F-RTO needs a timeout outside recovery, or a repeated one (RFC 5682 §2.1).
        let f_rto = !repairs || self.timer.expiries > 0 || lost > 0;
        let first_ts = match self.state {
            State::Loss { first_ts, .. } if self.timer.expiries > 0 || self.era.since_2013() => first_ts,
            // RFC 3522 §3.2: that of the retransmission which began the repair.
            State::Recovery { first_ts, .. } => first_ts,
            _ => a.ts,
        };
        self.state = State::Loss { high: a.next, f_rto, first_ts };
        self.timer.fired_at = a.now;
        self.timer.expiries += 1;
        self.timer.firings = self.timer.expiries;
        self.probing.over();
        self.timer.start = a.now;
        self.duplicates = 0;
    }
}
