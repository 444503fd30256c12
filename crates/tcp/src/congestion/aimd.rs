//! AIMD, the window rule of RFC 5681: one SMSS per RTT up, half down.

use super::{AckFacts, LossFacts, Window, WindowRule};
use crate::stack::AimdCount;

/// Congestion avoidance by additive increase (RFC 5681 §3.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Aimd {
    /// What a loss leaves of FlightSize; RFC 5681 (4): a half.
    beta: f64,
    count: AimdCount,
    /// Bytes or segments, as `count` says, towards the next SMSS.
    counted: u32,
}

impl Aimd {
    pub(super) fn new(beta: f64, count: AimdCount) -> Aimd {
        Aimd { beta: beta.clamp(0.0, 1.0), count, counted: 0 }
    }
}

impl WindowRule for Aimd {
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
            // RFC 5681 (3), in integers: at least one byte, so that large windows still grow.
            AimdCount::PerAck => {
                let growth = u64::from(w.smss) * u64::from(w.smss) / u64::from(w.cwnd.max(1));
                w.cwnd = w.cwnd.saturating_add(growth.max(1) as u32);
            }
        }
    }

    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        self.counted = 0;
        // RFC 5681 (4).
        ((f64::from(l.flight) * self.beta) as u32).max(w.smss.saturating_mul(2))
    }
}
