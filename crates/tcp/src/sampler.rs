//! Samples, taken once and shared: of the RTT by the timer, the window rule and the receive window, and of the delivery
//! rate ([`rate`]) by window rules that go by it.

pub mod rate;

use crate::sender::board::Acked;
use wire::{Span, Time};

/// The timestamp clock of RFC 7323 §4.1: ticks since the start, and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    tick: Span,
    /// The value last asked for holds from here to one tick later: no division in between.
    from: Time,
    value: u32,
}

impl Clock {
    pub(crate) fn new(tick: Span) -> Clock {
        Clock { tick: tick.max(Span(1)), from: Time::FAR_PAST, value: 0 }
    }

    #[inline(always)]
    pub(crate) fn value(&mut self, now: Time) -> u32 {
        if now < self.from || now - self.from >= self.tick {
            self.turn(now);
        }
        self.value
    }

    #[cold]
    fn turn(&mut self, now: Time) {
        let ticks = now.0.div_euclid(self.tick.0);
        self.value = ticks as u32;
        self.from = Time(ticks * self.tick.0);
    }

    /// The time since the clock read `then`, in whole ticks; `None` if that is no reading of the last half range.
    #[inline(always)]
    pub(crate) fn since(&mut self, then: u32, now: Time) -> Option<Span> {
        let ticks = self.value(now).wrapping_sub(then) as i32;
        (ticks >= 0).then(|| self.tick * i64::from(ticks))
    }
}

/// TCP_TS_HZ: the timestamps of Linux count milliseconds.
const LINUX_STAMP: Span = Span::from_millis(1);

/// What an ACK says about the path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// For the timer: of the oldest data acknowledged, so that delayed ACKs count (RFC 7323 §4.3).
    pub(crate) rto: Option<Span>,
    pub(crate) from_timestamp: bool,
    /// For window rules: of the newest data acknowledged, exact; `None` where it is ambiguous (Karn).
    pub(crate) exact: Option<Span>,
    /// Of the timestamp, where the stack takes it in the place of such ([`Samples::Exact`]).
    pub(crate) stamped: Option<Span>,
}

/// Which samples the timer wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Samples {
    /// Of timestamps; without them, of what was acknowledged, if none of it was resent.
    #[default]
    Stamped,
    /// Of timestamps; without them, of the oldest segment acknowledged, if it was sent once.
    Oldest,
    /// Of the segments' own times; of timestamps only where those are ambiguous.
    Exact,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampler {
    /// [`Span::MAX`] before the first sample: an option of two words would be read back whole before both are stored.
    min_rtt: Span,
}

impl Default for Sampler {
    fn default() -> Sampler {
        Sampler { min_rtt: Span::MAX }
    }
}

impl Sampler {
    #[inline]
    pub(crate) fn take(&mut self, acked: &Acked, echoed: Option<Span>, now: Time, which: Samples) -> Sample {
        if which == Samples::Exact {
            return self.take_exact(acked, None, echoed, now);
        }
        let of_oldest = which == Samples::Oldest;
        let exact = (acked.segments > 0 && !acked.resent).then(|| now - acked.newest_sent);
        if let Some(rtt) = exact {
            self.note(rtt);
        }
        match echoed {
            Some(rtt) => Sample { rto: Some(rtt), from_timestamp: true, exact, stamped: None },
            None => {
                let clear = if of_oldest { acked.oldest_once } else { exact.is_some() };
                let rto = clear.then(|| now - acked.oldest_sent);
                Sample { rto, from_timestamp: false, exact, stamped: None }
            }
        }
    }

    /// As Linux has it (tcp_clean_rtx_queue, tcp_ack_update_rtt): of originals only. The timer takes the oldest that was
    /// acknowledged, else the oldest SACKed; window rules the newest SACKed, else the newest acknowledged. The timestamp
    /// stands in where there is none.
    pub(crate) fn take_exact(
        &mut self,
        acked: &Acked,
        sacked: Option<(Time, Time)>,
        echoed: Option<Span>,
        now: Time,
    ) -> Sample {
        let clear = acked.original && !acked.resent;
        let oldest = clear.then_some(acked.oldest_original).or(sacked.map(|(first, _)| first));
        let newest = sacked.map(|(_, last)| last).or(clear.then_some(acked.newest_original));
        // A stamp of this very tick says one tick (tcp_rtt_tsopt_us).
        let stamped = echoed.map(|rtt| rtt.max(LINUX_STAMP));
        let (rto, exact) = (oldest.map(|sent| now - sent), newest.map(|sent| now - sent));
        if let Some(rtt) = exact.or(stamped) {
            self.note(rtt);
        }
        Sample { rto: rto.or(stamped), from_timestamp: rto.is_none(), exact, stamped }
    }

    /// Also of the handshake.
    #[inline]
    pub(crate) fn note(&mut self, rtt: Span) {
        self.min_rtt = self.min_rtt.min(rtt);
    }
    #[inline]
    pub(crate) fn min_rtt(&self) -> Option<Span> {
        (self.min_rtt < Span::MAX).then_some(self.min_rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_counts_ticks_and_wraps() {
        let mut c = Clock::new(Span::from_millis(10));
        assert_eq!(c.value(Time(9_999_999)), 0);
        assert_eq!(c.value(Time(10_000_000)), 1);
        assert_eq!(c.since(0, Time(35_000_000)), Some(Span::from_millis(30)));
        assert_eq!(c.since(9, Time(35_000_000)), None, "a reading of the future");
        let late = Time((i64::from(u32::MAX) + 3) * 10_000_000);
        assert_eq!(c.since(u32::MAX, late), Some(Span::from_millis(30)));
    }

    #[test]
    fn karn_forbids_samples_of_what_was_resent() {
        let mut s = Sampler::default();
        let acked = Acked { segments: 2, oldest_sent: Time(100), newest_sent: Time(150), ..Acked::default() };
        let sample = s.take(&acked, None, Time(200), Samples::Stamped);
        assert_eq!((sample.rto, sample.exact), (Some(Span(100)), Some(Span(50))));
        let resent = Acked { resent: true, ..acked };
        assert_eq!(s.take(&resent, None, Time(210), Samples::Stamped).rto, None);
        // RFC 6298 §3: with timestamps there is no ambiguity.
        assert_eq!(s.take(&resent, Some(Span(7)), Time(210), Samples::Stamped).rto, Some(Span(7)));
        assert_eq!(s.min_rtt(), Some(Span(50)));
        // ns-3.20: a segment behind the oldest may have been resent, the oldest itself may not.
        assert_eq!(s.take(&resent, None, Time(210), Samples::Oldest).rto, None);
        let once = Acked { oldest_once: true, ..resent };
        assert_eq!(s.take(&once, None, Time(210), Samples::Oldest).rto, Some(Span(110)));
    }
}
