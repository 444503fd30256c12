//! The retransmission timer: when it was started, how long it waits, and what follows when it fires.

use super::{Attempt, Pace, Repair, State};
use crate::assumptions::{MIN_RTO, MIN_RTO_RFC6298};
use wire::{Span, Time};

/// The longest that timers wait: 60 s (RFC 6298 §2.5) or 120 s (Linux); so near to one a wait is the longest.
const LONGEST: [Span; 2] = [Span::from_secs(60), Span::from_secs(120)];

/// How much earlier or later than after a second a timer with such a floor fires, seen through ticks of 10 ms at most.
const OFF: (Span, Span) = (Span::from_millis(10), Span::from_millis(15));

/// About a second was waited: so much less or more at most.
fn is_near_a_second(waited: Span, less: Span, more: Span) -> bool {
    (MIN_RTO_RFC6298 - less..=MIN_RTO_RFC6298 + more).contains(&waited)
}

/// A floor of a second shows: what is reckoned from round trips comes so near to one by chance only.
fn is_exactly_a_second(waited: Span) -> bool {
    is_near_a_second(waited, OFF.0, OFF.1)
}

/// So long such a timer takes to fire once, or up to three times, doubling (§5.5).
fn is_of_a_second(waited: Span) -> bool {
    [0, 2, 6].into_iter().any(|before| is_exactly_a_second(waited - Span::from_secs(before)))
}

/// A timer that fired after `waited` waits no longer: what it has doubled to is the longest (RFC 6298 §5.5).
fn is_longest(waited: Span) -> bool {
    LONGEST.into_iter().any(|most| (most.scale(0.99)..most.scale(1.01)).contains(&waited))
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    /// When it was last (re)started for sure.
    pub(super) start: Time,
    /// The least RTO since the cumulative ACK last moved, where round trips were told since.
    pub(super) rto_then: Span,
    /// How long it waits next while nothing but repeated segments is acknowledged, of which no round trip is taken
    /// (Karn's rule, RFC 6298 §3): what has doubled stays so (§5.5). 0 once that is over.
    pub(super) doubled: Span,
    /// How often it fired in a row without progress; the same, kept when progress is made.
    pub(super) expiries: u32,
    pub(super) firings: u32,
    /// When it last fired.
    pub(super) fired_at: Time,
    /// How long it waits, as its last first expiry showed.
    pub(super) wait: Span,
    /// The shortest silence that it ended.
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

impl Repair {
    /// How often the timer has fired in vain until `now`, if it did now: it doubles (RFC 6298 §5.5).
    pub fn attempts_by(&self, now: Time, last_sent: Time, pace: &Pace) -> u32 {
        let waited = now - self.timer.start.max(last_sent - pace.srtt);
        let backed_off = f64::from(1u32 << self.timer.expiries.min(16));
        let doublings = |rto: Span| (waited.as_secs() / (rto.as_secs().max(1e-3) * backed_off) + 1.0).log2();
        let misfit = |n: f64| if n < 1.0 { 1.0 - n } else { (n - n.round()).abs() };
        // As long as before; else RFC 6298 §2.4 has a floor of a second, Linux and most others one of 200 ms and SRTT.
        // A sender whose timer has fired sooner has no floor of a second, nor has any since RFC 6928 without showing it.
        let shows_none = self.age.recent() && !self.is_a_second(waited, now, pace);
        let has_none = self.timer.least_wait < MIN_RTO_RFC6298.scale(0.8) || shows_none;
        let slow = self.timer.least_wait >= MIN_RTO_RFC6298.scale(0.8) && is_of_a_second(waited);
        let floor = if has_none { MIN_RTO } else { MIN_RTO_RFC6298 };
        let known = match self.timer.expiries == 0 && self.timer.doubled > Span::ZERO {
            true => Some(self.timer.doubled),
            false => (self.timer.wait < Span::MAX).then(|| pace.rto.max(self.timer.wait)),
        };
        let waits = [known.unwrap_or(pace.rto), pace.rto, pace.rto.max(floor), MIN_RTO.max(pace.srtt)];
        let better = |n: f64, m: f64| if misfit(m) + 0.2 < misfit(n) { m } else { n };
        let waits = if slow { waits.map(|w| w.max(MIN_RTO_RFC6298)) } else { waits };
        let n = waits.into_iter().map(doublings).reduce(better).unwrap_or(1.0);
        // The wait may come out a little short: what started the timer passed here earlier or later than is thought.
        (n + 0.2).max(1.0) as u32 - 1
    }

    /// Whether a timer with a floor of one second (RFC 6298 §2.4) that has run for `waited` fires now, seen at the
    /// receiver: the ACK that started it and the packet that it sent may each have been a round trip on their way. A
    /// retransmission that was lost may have started it anew after that.
    fn is_a_second(&self, waited: Span, now: Time, pace: &Pace) -> bool {
        let off = pace.srtt.min(MIN_RTO_RFC6298.scale(0.1));
        let near = |waited| is_near_a_second(waited, off, off);
        near(waited) || waited > MIN_RTO_RFC6298 && near(self.silent(now))
    }

    /// Its timer's copy came last, and so many packets are missing behind that: how often has the timer fired in vain? Until
    /// the copy is answered it sends nothing else; then two segments (RFC 5681 §3.1), unless an ACK of more may have told it
    /// that the timeout was needless (RFC 3522, RFC 5682).
    pub fn attempts_told(&self, start: u64, missing: Option<u32>, stamped: bool) -> Option<u32> {
        let may_undo = start > self.resent.end && (self.age.recent() || stamped);
        if !self.is_timers() || may_undo {
            return None;
        }
        let others = if start < self.resent.end { 0 } else { 2 };
        missing.map(|n| n.saturating_sub(others))
    }

    /// The timer has fired.
    pub(super) fn enter_loss(&mut self, a: &Attempt, pace: &Pace) {
        let judge = pace.judge();
        let repairs = judge.was_repairing(self, a);
        let waited = a.now - self.timer.start.max(a.previous);
        let lost = judge.unseen_firings(self, a, pace);
        // It fired so often unseen before, and waited twice as long each time.
        let all = 2i64 << lost;
        let once = waited / (all - 1);
        // With timestamps every ACK tells a round trip (RFC 7323 §4).
        self.timer.doubled = match a.ts {
            0 if is_longest(waited) => waited,
            0 => once * all,
            _ => Span::ZERO,
        };
        if self.timer.expiries == 0 && judge.saw_timer_begin(self, a) {
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
            State::Loss { first_ts, .. } if self.timer.expiries > 0 || self.age.recent() => first_ts,
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
