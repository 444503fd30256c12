//! Tahoe: a fast retransmit is a timeout without back-off.

use super::core::{Core, LastCut};
use super::window::CutTo;
use super::{Ack, Why};
use wire::Time;

pub(super) fn receive(c: &mut Core, now: Time, ack: &Ack) {
    let mut why = Why::GoBackN;
    if ack.cumulative > c.last_ack {
        c.advance(now, ack.cumulative, ack.echo);
        c.open();
        c.grow_from_syn();
    } else if ack.cumulative == c.last_ack {
        c.dupacks += 1;
        if c.dupacks == c.dupthresh {
            if c.may_fast_retransmit() {
                fast_retransmit(c, now);
                why = Why::FastRetransmit;
            }
        } else if c.dupacks < c.dupthresh && c.spec.limited_transmit {
            c.send_one(now);
        }
    }
    if ack.cumulative >= c.last_ack || c.spec.burst_on_old_acks {
        c.send_much(now, false, why, c.spec.max_burst_packets);
    }
}

fn fast_retransmit(c: &mut Core, now: Time) {
    c.recover = c.highest_sent;
    c.last_cut = LastCut::DupAcks;
    c.slow_down(CutTo::One);
    c.restart_timer(now);
    c.go_back();
}

impl Core {
    /// `bugFix_`: no second fast retransmit for the packets of one loss, which `recover` bounds. Packet 0 may always
    /// be fast retransmitted (`bugfix_ss_`).
    pub(super) fn may_fast_retransmit(&self) -> bool {
        self.highest_ack > self.recover
            || !self.spec.bug_fix
            || (self.spec.bug_fix_first_window && self.highest_ack == 0)
    }
}
