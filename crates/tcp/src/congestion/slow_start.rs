//! Slow start: the window grows by what each ACK acknowledges, up to ssthresh.

use super::hystart_pp::HyStartPlusPlus;
use super::{AckFacts, Window};
use crate::stack::SlowStartKind;

#[derive(Clone, Debug)]
pub(super) struct SlowStart {
    kind: SlowStartKind,
    /// Boxed, as few stacks have it.
    plus: Option<Box<HyStartPlusPlus>>,
}

impl SlowStart {
    pub(super) fn new(kind: SlowStartKind) -> SlowStart {
        let plus = matches!(kind, SlowStartKind::HyStartPlusPlus { .. });
        SlowStart { kind, plus: plus.then(Box::default) }
    }

    /// Grows the window and returns the bytes that are left to congestion avoidance.
    #[inline]
    pub(super) fn on_ack(&mut self, w: &mut Window, a: &AckFacts, acked: u32) -> u32 {
        match self.kind {
            // Before RFC 3465: one SMSS at each ACK (RFC 5681 (2) without its min), which may overshoot
            // ssthresh by less than one SMSS.
            SlowStartKind::PerAck => {
                w.cwnd = w.cwnd.saturating_add(w.smss);
                0
            }
            // RFC 5681 (2): cwnd += min(N, SMSS), with RFC 3465 §2.2 in place of SMSS L * SMSS. Growth ends at
            // ssthresh; the rest of the ACK counts in congestion avoidance.
            SlowStartKind::Bytes { limit } | SlowStartKind::HyStartPlusPlus { limit } => {
                let most = if limit == 0 { u32::MAX } else { limit.saturating_mul(w.smss) };
                let mut growth = acked.min(most);
                if let Some(plus) = &mut self.plus {
                    growth = plus.on_ack(w, a, growth);
                }
                let room = w.ssthresh.saturating_sub(w.cwnd);
                if growth <= room {
                    w.cwnd = w.cwnd.saturating_add(growth);
                    return 0;
                }
                w.cwnd = w.ssthresh;
                growth - room
            }
        }
    }
}
