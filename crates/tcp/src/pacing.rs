//! When may it be sent? Data leaves in bursts of a few segments, each as long after the one before as that takes at the
//! pacing rate.
//!
//! As Linux paces inside TCP (tcp_update_skb_after_send, tcp_pacing_check, tcp_tso_autosize): a burst is what segmentation
//! offload is handed, about a millisecond's worth, two segments at least; the first ten segments are not paced, and
//! time in which nothing left makes up for half of a burst at most.

use crate::packet::{LINUX, Packets};
use wire::{Span, Time};

/// So many segments leave before pacing begins.
const UNPACED: u64 = 10;

#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    on: bool,
    /// Bytes a second; 0 before it is known: no limit.
    rate: u64,
    /// Below this rate a burst may be one segment, bytes a second (BBR).
    single_below: u64,
    /// Nothing leaves before (tcp_wstamp_ns).
    next: Time,
    segments: u64,
    burst: Burst,
}

/// What leaves at one moment, as one packet that is cut up below TCP.
#[derive(Clone, Copy, Debug)]
struct Burst {
    at: Time,
    /// When it was due, and how long before that the one before had been paid for.
    from: Time,
    credit: Span,
    bytes: u64,
    /// Segments that it has room for.
    left: u32,
}

impl Pacing {
    pub fn new(on: bool) -> Pacing {
        let (at, from) = (Time::FAR_PAST, Time::FAR_PAST);
        Pacing {
            on,
            rate: 0,
            single_below: 0,
            next: Time::ZERO,
            segments: 0,
            burst: Burst { at, from, credit: Span::ZERO, bytes: 0, left: 0 },
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Bytes a second; 0 where there is no limit.
    pub fn rate(&self) -> u64 {
        self.rate
    }
    pub fn set_rate(&mut self, bytes_per_s: u64) {
        self.rate = bytes_per_s.max(1);
    }
    /// A burst may be one segment below this rate.
    pub fn single_below(&mut self, bytes_per_s: u64) {
        self.single_below = bytes_per_s;
    }

    /// When the next burst leaves, at the earliest.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Until when the next segment has to wait, if it has to.
    #[inline]
    pub(crate) fn waits(&self, now: Time) -> Option<Time> {
        let joins = self.burst.left > 0 && self.burst.at == now;
        (self.on && !joins && self.next > now).then_some(self.next)
    }

    /// The burst has as many segments as were meant for it.
    pub(crate) fn is_burst_full(&self) -> bool {
        self.burst.left == 0
    }

    /// A capture shows when the next burst leaves: the sender that was captured had paid for what went before by then.
    pub(crate) fn follow(&mut self, at: Time) {
        self.next = at;
    }

    /// A capture shows a segment of the burst at hand so little later: the segments of one have times of their own there.
    pub(crate) fn burst_goes_on(&mut self, now: Time, within: Span) {
        let late = now - self.burst.at;
        if self.burst.left > 0 && late > Span::ZERO && late <= within {
            self.burst.at = now;
        }
    }

    /// Segments of about a millisecond's data.
    pub fn goal(&self, smss: u32) -> u32 {
        self.bursts().in_a_millisecond(self.rate, smss).min(127)
    }

    fn bursts(&self) -> Packets {
        let least_segments = if self.rate < self.single_below { 1 } else { LINUX.least_segments };
        Packets { least_segments, ..LINUX }
    }

    /// A segment leaves, as one of so many of a packet that are still to leave; where that is not known, `cwnd` in segments:
    /// a burst is half of it at most. True where it is the first of its packet.
    pub(crate) fn sent(
        &mut self,
        now: Time,
        bytes: u32,
        smss: u32,
        cwnd: u32,
        min_rtt: Option<Span>,
        packet: Option<u32>,
    ) -> bool {
        if !self.on {
            return false;
        }
        let begins = self.burst.left == 0 || self.burst.at != now;
        if begins {
            let from = self.next.max(now);
            let left = packet
                .unwrap_or_else(|| self.bursts().segments(self.rate, smss, min_rtt).min((cwnd / 2).max(1)));
            self.burst = Burst { at: now, from, credit: from - self.next, bytes: 0, left };
        }
        self.segments += 1;
        let burst = &mut self.burst;
        burst.left -= 1;
        burst.bytes += u64::from(bytes);
        self.next = burst.from;
        if self.rate > 0 && self.segments >= UNPACED {
            let takes = Span((burst.bytes * 1_000_000_000 / self.rate) as i64);
            self.next = burst.from + (takes - burst.credit.min(Span(takes.0 / 2)));
        }
        begins
    }
}

#[cfg(test)]
mod tests;
