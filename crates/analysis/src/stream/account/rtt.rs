//! Round trips: from ACKs of data sent once (Karn's rule), and from echoed timestamps (RFC 7323 §4).

use super::Account;
use crate::assumptions::MIN_RTO;
use crate::distribution::Accumulator;
use crate::prefetch;
use crate::rows::{FlowId, RttKind, RttRow, Summary, Vantage};
use crate::sink::Sink;
use crate::timers::smoothed::Smoothed;
use std::collections::VecDeque;
use wire::{Span, Time};

/// Samples kept; eight a round trip at most.
const RECENT: usize = 64;

/// An answer that the receiver delays comes so much later, as a rule.
const DELAYED: Span = Span::from_millis(50);

/// A segment lives for two minutes (RFC 9293 §3.4.1); a host may sleep meanwhile, but not for days.
const LONGEST: Span = Span::from_secs(86_400);

/// What was captured out of order, or while the capture's clock was set, is none.
#[inline(always)]
pub fn is_round_trip(sample: Span) -> bool {
    (Span::ZERO..=LONGEST).contains(&sample)
}

/// Answers on an empty path differ by less than this part of a round trip.
const SPREAD: i64 = 32;

/// Smoothed as in RFC 6298 §2; the floor of the RTO is Linux's 200 ms above SRTT.
#[derive(Clone, Debug)]
pub struct Rtt {
    ack: Accumulator,
    timestamps: Accumulator,
    min: Span,
    largest: Span,
    smoothed: Smoothed,
    /// The handshake's; 0 if none was seen.
    handshake: Span,
    /// Samples of the last while, a few each round trip: what the round trip was when a copy left.
    recent: VecDeque<(Time, Span)>,
}

impl Default for Rtt {
    fn default() -> Rtt {
        Rtt {
            ack: Accumulator::default(),
            timestamps: Accumulator::default(),
            min: Span::MAX,
            largest: Span::ZERO,
            smoothed: Smoothed::default(),
            handshake: Span::ZERO,
            recent: VecDeque::new(),
        }
    }
}

impl Rtt {
    /// As if new, with the room it has.
    pub fn clear(&mut self) {
        let mut recent = std::mem::take(&mut self.recent);
        recent.clear();
        *self = Rtt { recent, ..Rtt::default() };
    }
    /// A sample follows soon.
    #[inline(always)]
    pub fn warm(&self) {
        if let Some(sample) = self.recent.back() {
            prefetch::lines(sample, 0, 1);
        }
    }
    pub fn take_ack(&mut self, sample: Span, now: Time) {
        if !is_round_trip(sample) {
            return;
        }
        self.ack.add(sample.as_secs());
        self.take(sample);
        let step = Span::from_millis(1).max(self.srtt() / 8);
        if self.recent.back().is_none_or(|(t, _)| now - *t >= step) {
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back((now, sample));
        }
    }
    /// The last sample taken by `when`, if that is not too long ago to be known still.
    pub fn at(&self, when: Time) -> Option<Span> {
        self.recent.iter().rev().find(|(t, _)| *t <= when).map(|(_, rtt)| *rtt)
    }
    pub fn take_timestamps(&mut self, sample: Span) {
        if is_round_trip(sample) {
            self.timestamps.add(sample.as_secs());
        }
    }
    /// Only a hint (the handshake's round trip): steers, but is no row of its own.
    pub fn hint(&mut self, sample: Span) {
        if self.min().is_none() && is_round_trip(sample) {
            self.take(sample);
            self.handshake = sample;
        }
    }
    fn take(&mut self, r: Span) {
        self.min = self.min.min(r);
        self.largest = self.largest.max(r);
        self.smoothed.on_rtt(r);
    }
    /// No answer comes sooner: some take another way through a host than all that were timed.
    pub fn soonest(&self) -> Span {
        self.min().map_or(Span::ZERO, |min| min - min / SPREAD)
    }
    /// The least round trip seen, `None` before the first.
    pub fn min(&self) -> Option<Span> {
        (self.min != Span::MAX).then_some(self.min)
    }
    /// No answer to what left is longer under way, but for losses.
    pub fn longest_answer(&self) -> Span {
        self.largest.max(self.srtt() * 2) + DELAYED
    }
    /// 0 before the first sample.
    pub fn srtt(&self) -> Span {
        self.smoothed.srtt().unwrap_or(Span::ZERO)
    }
    /// What a sender would wait: SRTT + max(200 ms, 4 RTTVAR); 1 s before the first sample (RFC 6298 §2.1).
    pub fn rto(&self) -> Span {
        if self.min().is_none() {
            return Span::from_secs(1);
        }
        self.srtt() + MIN_RTO.max(self.smoothed.rttvar() * 4)
    }
    pub fn by_ack(&self) -> Summary {
        self.ack.summary()
    }
    /// The least round trip that echoed timestamps told.
    pub fn least_by_timestamps(&self) -> Option<Span> {
        self.timestamps.min().map(Span::from_secs_f64)
    }
    pub fn by_timestamps(&self) -> Summary {
        self.timestamps.summary()
    }
}

impl Account {
    /// A full round trip, told by the receiver's own timestamps coming back through the sender.
    pub fn round_trip(&mut self, sample: Span, una: u64, next: u64) {
        self.rtt.take_timestamps(sample);
        if is_round_trip(sample) {
            self.rtt_in_round(sample);
            self.timers.on_rtt(sample, una, next);
        }
    }
    /// The handshake's, which steers and is no row of its own.
    pub fn rtt_hint(&mut self, sample: Span) {
        self.rtt.hint(sample);
    }
    /// From a copy of data sent once, up to `end`, to the ACK that is the first to report it.
    #[inline(always)]
    pub fn on_rtt(&mut self, sample: Span, now: Time, end: u64, at: Vantage, una: u64, next: u64) {
        if !is_round_trip(sample) {
            return;
        }
        self.samples.take(sample, end, RttKind::Ack);
        self.rtt.take_ack(sample, now);
        if !at.is_remote() {
            self.rtt_in_round(sample);
        }
        match at {
            Vantage::Receiver => {}
            at if at.is_remote() => self.timers.on_rtt(sample, una, next),
            _ => self.timers.on_any_rtt(sample),
        }
    }
    /// At the sender: the one round trip that Linux takes from an ACK.
    #[inline(always)]
    pub fn on_own_rtt(&mut self, sample: Span, una: u64, next: u64) {
        if self.timers.linux().is_none() && self.rtt.handshake > Span::ZERO {
            self.timers.on_own_rtt(self.rtt.handshake, 0, una);
        }
        if is_round_trip(sample) {
            self.timers.on_own_rtt(sample, una, next);
            self.rtt.min = self.rtt.min.min(sample);
        }
    }
    /// The RTO that Linux would set now.
    pub fn own_rto(&self) -> Span {
        self.timers.linux().map_or(Span::MAX, |(_, rto)| rto)
    }
    /// From a copy to the ACK up to `ack` that echoes its timestamp.
    #[inline(always)]
    pub fn on_echo(&mut self, sample: Span, ack: u64) {
        self.rtt.take_timestamps(sample);
        self.samples.take(sample, ack, RttKind::Timestamps);
    }
    /// An ACK with news is about to be taken in: are the round trips that it tells wanted, each as a row?
    pub fn want_rtts(&mut self, wanted: bool) {
        self.samples.wanted = wanted;
    }
    /// A row of one round trip.
    pub fn rtt_row(&self, row: RttRow, sink: &mut impl Sink) {
        if is_round_trip(row.rtt) {
            sink.rtt(row);
        }
    }
    /// The rows of the round trips that the last ACK told; offsets in them count from `base`.
    pub fn rtt_rows(&mut self, flow: FlowId, time: Time, base: u64, sink: &mut impl Sink) {
        for (rtt, end, kind) in self.samples.taken.drain(..) {
            let seq = end.saturating_sub(base);
            sink.rtt(RttRow { flow, time, seq, rtt, kind });
        }
    }
}
