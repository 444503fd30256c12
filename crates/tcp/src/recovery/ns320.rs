//! ns-3.20's TcpTahoe, TcpReno and TcpNewReno, to the byte (`rto/ns320.rs` has the whole reading of that sender).
//!
//! It keeps no record of repairs: exactly the third duplicate since SND.UNA moved acts, whatever was sent before,
//! and every timeout halves. The count of duplicates survives a timeout.

use super::{Facts, Habits};
use crate::congestion::Window;
use crate::stack;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ns320 {
    variant: stack::Ns320,
    /// At the last ACK cwnd changed twice, and this was its value in between, bytes.
    step: Option<u32>,
}

pub(super) fn habits(variant: stack::Ns320) -> Habits {
    // TcpTahoe: slow start at the third duplicate, and half of cwnd rather than of FlightSize.
    let tahoe = variant == stack::Ns320::Tahoe;
    Habits {
        slow_start: tahoe,
        ends_at_any_advance: variant == stack::Ns320::Reno,
        reduces_cwnd: tahoe,
        remembers_repairs: false,
        enters_with_one_segment: true,
        fast_retransmit_restarts_timer: false,
        last_ack_grows: true,
    }
}

impl Ns320 {
    pub(super) fn new(variant: stack::Ns320) -> Ns320 {
        Ns320 { variant, step: None }
    }

    pub(super) fn enter(&mut self, w: &mut Window, dupthresh: u32) {
        w.cwnd = w.ssthresh.saturating_add(dupthresh.saturating_mul(w.smss));
    }

    pub(super) fn on_ack(&mut self, w: &mut Window, f: &Facts) {
        if f.acked > 0 {
            // Partial deflation (RFC 6582 §3.2 (5)) by two assignments, of which its traces have both.
            w.cwnd = w.cwnd.saturating_sub(f.acked);
            self.step = Some(w.cwnd);
        }
        if f.acked > 0 || f.duplicate {
            w.cwnd = w.cwnd.saturating_add(w.smss);
        }
    }

    /// The window rule lets the result grow by this same ACK.
    pub(super) fn exit(&mut self, w: &mut Window, f: &Facts) {
        w.cwnd = match self.variant {
            // FlightSize as it was before this ACK.
            stack::Ns320::NewReno => w.ssthresh.min((f.flight + f.acked).saturating_add(w.smss)),
            stack::Ns320::Reno | stack::Ns320::Tahoe => w.ssthresh,
        };
        self.step = Some(w.cwnd);
    }

    pub(super) fn take_step(&mut self) -> Option<u32> {
        self.step.take()
    }
}
