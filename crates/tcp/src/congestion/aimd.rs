//! AIMD, the window rule of RFC 5681: one SMSS per RTT up, half down.

use super::{AckFacts, LossFacts, Window, WindowRule, half_in_segments, part_of_flight};
use params::keys::{Kind, key, number_between};

params::words! {
    /// How an RTT's worth of acknowledgements is counted.
    pub enum AimdCount {
        /// RFC 3465: one SMSS for each window's worth of acknowledged bytes.
        Bytes = "bytes", "one SMSS for each window's worth of acknowledged bytes (RFC 3465)";
        /// Linux since 2015: one segment for cwnd segments acknowledged.
        Segments = "segments", "one segment for cwnd segments acknowledged (Linux since 2015)";
        /// Linux before: one segment for cwnd + 1 ACKs, however much they acknowledge.
        Acks = "acks", "one segment for cwnd + 1 ACKs, however much they acknowledge (Linux before 2015)";
        /// RFC 5681 (3): SMSS * SMSS / cwnd at each ACK, at least one byte (BSD, ns-3.20).
        PerAck = "per-ack", "SMSS * SMSS / cwnd at each ACK, at least one byte (RFC 5681 (3))";
    }
}

params::params! {
    /// RFC 5681 §3.1; half down (or `beta`).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "aimd", "One SMSS up in each RTT, half down (RFC 5681, section 3.1)." {
        beta: f64 = key("beta", number_between(0.0, 1.0), "Share of the window that a loss leaves.").default("0.5");
        count: AimdCount = key("count", Kind::Choice(AimdCount::WORDS), "How an RTT's worth is counted.").default("bytes");
    }
}

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
    /// As RFC 5681 has it: half down.
    pub(super) fn halving(count: AimdCount) -> Aimd {
        Aimd::new(&Params { beta: 0.5, count })
    }
    /// As Linux 2.6's other rules fall back on it.
    pub(super) fn linux26() -> Aimd {
        Aimd::halving(AimdCount::Acks)
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
    type Params = Params;

    fn new(&Params { beta, count }: &Params) -> Aimd {
        Aimd { beta: if beta > 0.0 && beta < 1.0 { beta } else { 0.5 }, count, counted: 0 }
    }

    fn in_slow_start(&self, w: &Window) -> bool {
        match self.count {
            // Linux before 4.3 had slow start where they are equal.
            AimdCount::Acks => w.cwnd <= w.ssthresh,
            _ => w.cwnd < w.ssthresh,
        }
    }

    fn counts_segments(&self) -> bool {
        self.count == AimdCount::Segments
    }

    #[inline(always)]
    fn avoid(&mut self, w: &mut Window, _a: &AckFacts, acked: u32) {
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
                let cwnd = w.segments().max(1);
                self.counted = self.counted.saturating_add(acked.div_ceil(w.smss));
                if self.counted >= cwnd {
                    let grown = self.counted / cwnd;
                    self.counted %= cwnd;
                    w.cwnd = w.cwnd.saturating_add(grown.saturating_mul(w.smss));
                }
            }
            AimdCount::Acks => {
                let cwnd = w.segments();
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
