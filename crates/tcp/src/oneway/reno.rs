//! Reno: the window is inflated by duplicate acknowledgements until one advances.

use super::core::{Core, LastCut};
use super::window::CutTo;
use super::{Ack, Why};
use wire::Time;

pub(super) fn receive(c: &mut Core, now: Time, ack: &Ack) {
    if ack.cumulative > c.last_ack {
        if c.last_cut == LastCut::DupAcks {
            c.last_cut = LastCut::Exited;
        }
        c.inflation = 0;
        c.advance(now, ack.cumulative, ack.echo);
        c.open();
        c.grow_from_syn();
    } else if ack.cumulative == c.last_ack {
        // Still in recovery, a counter that starts anew is reason enough, `bugFix_` or not.
        let may = c.may_fast_retransmit() || c.last_cut == LastCut::DupAcks;
        duplicate(c, now, may);
    }
    let valid = ack.cumulative >= c.last_ack || c.spec.burst_on_old_acks;
    if valid && (c.dupacks == 0 || c.dupacks >= c.dupthresh) {
        c.send_much(now, false, Why::GoBackN, c.spec.max_burst_packets);
    }
}

/// One more duplicate acknowledgement; `may` there be a fast retransmit. True if it inflated the window.
pub(super) fn duplicate(c: &mut Core, now: Time, may: bool) -> bool {
    c.dupacks += 1;
    let unclean = !c.spec.clean_exit;
    if c.dupacks == c.dupthresh {
        if may {
            fast_retransmit(c, now);
        }
        if unclean {
            c.inflation = c.dupthresh;
        }
    } else if c.dupacks > c.dupthresh && (unclean || c.last_cut == LastCut::DupAcks) {
        c.inflation += 1;
        return true;
    } else if c.dupacks < c.dupthresh && c.spec.limited_transmit {
        c.send_one(now);
    }
    false
}

fn fast_retransmit(c: &mut Core, now: Time) {
    c.recover = c.highest_sent;
    c.last_cut = LastCut::DupAcks;
    c.slow_down(CutTo::Half);
    c.restart_timer(now);
    c.output(now, c.last_ack + 1, Why::FastRetransmit);
    c.inflation = c.dupthresh;
}

pub(super) fn on_timeout(c: &mut Core, now: Time) -> Why {
    c.inflation = 0;
    c.dupacks = 0;
    c.on_timeout(now)
}
