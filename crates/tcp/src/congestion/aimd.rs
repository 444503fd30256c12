//! AIMD, the window rule of RFC 5681: one SMSS per RTT up, half down.

use super::{AckFacts, LossFacts, Window, WindowRule, half_in_segments, part_of_flight};
use crate::stack::AimdCount;

/// Congestion avoidance by additive increase (RFC 5681 §3.1), in one of the ways in which stacks count it.
///
/// `PerAck` is ns-3.20's, too, whose traces confirm it to the byte: slow start while cwnd < ssthresh adds one
/// segment at each ACK that advances, however much it acknowledges; at and above ssthresh each adds
/// SMSS * SMSS / cwnd, cut to whole bytes, at least 1. ns-3.20's Reno and NewReno halve FlightSize (highest byte
/// sent less the highest acknowledged), its Tahoe halves cwnd: who wants that passes cwnd as the flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aimd {
    /// What a loss leaves of FlightSize; RFC 5681 (4): a half.
    beta: f64,
    count: AimdCount,
    /// Bytes, segments or ACKs, as `count` says, towards the next SMSS.
    counted: u32,
}

impl Aimd {
    pub(super) fn new(beta: f64, count: AimdCount) -> Aimd {
        Aimd { beta: if beta > 0.0 && beta < 1.0 { beta } else { 0.5 }, count, counted: 0 }
    }
    /// As Linux 2.6's other rules fall back on it.
    pub(super) fn linux26() -> Aimd {
        Aimd::new(0.5, AimdCount::Acks)
    }
}

/// Linux before 2015 (`tcp_cong_avoid_ai`): counts ACKs up to `every`, and the next one adds a segment.
pub(super) fn count_acks(counted: &mut u32, every: u32, w: &mut Window) {
    if *counted >= every {
        *counted = 0;
        w.cwnd = w.cwnd.saturating_add(w.smss);
    } else {
        *counted += 1;
    }
}

impl WindowRule for Aimd {
    fn in_slow_start(&self, w: &Window) -> bool {
        match self.count {
            // Linux before 4.3 had slow start where they are equal.
            AimdCount::Acks => w.cwnd <= w.ssthresh,
            _ => w.cwnd < w.ssthresh,
        }
    }

    #[inline(always)]
    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32) {
        match self.count {
            // RFC 3465 §2.1: a window's worth of acknowledged bytes earns one SMSS, however few ACKs carried them.
            AimdCount::Bytes => {
                self.counted = self.counted.saturating_add(acked);
                if self.counted >= w.cwnd {
                    self.counted -= w.cwnd;
                    w.cwnd = w.cwnd.saturating_add(w.smss);
                }
            }
            AimdCount::Segments => {
                let cwnd = (w.cwnd / w.smss).max(1);
                self.counted = self.counted.saturating_add(a.segments);
                if self.counted >= cwnd {
                    let grown = self.counted / cwnd;
                    self.counted %= cwnd;
                    w.cwnd = w.cwnd.saturating_add(grown.saturating_mul(w.smss));
                }
            }
            AimdCount::Acks => {
                let cwnd = w.cwnd / w.smss;
                count_acks(&mut self.counted, cwnd, w);
            }
            // RFC 5681 (3), in integers: at least one byte, so that large windows still grow.
            AimdCount::PerAck => {
                let growth = u64::from(w.smss) * u64::from(w.smss) / u64::from(w.cwnd.max(1));
                w.cwnd = w.cwnd.saturating_add(growth.max(1) as u32);
            }
        }
    }

    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        self.counted = 0;
        match self.count {
            AimdCount::Segments | AimdCount::Acks if self.beta == 0.5 => half_in_segments(w),
            _ => part_of_flight(l, self.beta, w.smss),
        }
    }
}
