//! NewReno (RFC 2582 and its revisions): an acknowledgement that advances within the lost window repairs the next
//! hole and stays in recovery.

use super::core::{Core, LastCut};
use super::{Ack, Why, reno};
use wire::{Span, Time};

#[derive(Clone, Debug, Default)]
pub(super) struct NewReno {
    /// A partial acknowledgement of this recovery has set the timer.
    had_partial: bool,
    /// Hoe's estimate of ssthresh, from the first three acknowledgements.
    start: StartUp,
}

#[derive(Clone, Debug, Default)]
struct StartUp {
    acks: u32,
    rtt: Span,
    second: Time,
}

/// Most that leaves at one duplicate acknowledgement.
const DUPACK_BURST: u32 = 2;

pub(super) fn receive(c: &mut Core, r: &mut NewReno, now: Time, ack: &Ack) {
    r.start.on_ack(c, now);
    if ack.cumulative > c.last_ack {
        if ack.cumulative >= c.recover || c.last_cut != LastCut::DupAcks {
            full_ack(c, r, now, ack);
        } else {
            partial_ack(c, r, now, ack);
        }
    } else if ack.cumulative == c.last_ack {
        let less_careful = c.spec.newreno_less_careful && c.highest_ack == c.recover;
        let may = c.may_fast_retransmit() || less_careful;
        let inflated = reno::duplicate(c, now, may);
        // Hoe: a new packet for every second duplicate.
        if inflated && c.spec.newreno_hoe && c.dupacks % 2 == 1 {
            let next = c.next;
            c.next += 1;
            c.output(now, next, Why::GoBackN);
        }
    }
    if ack.cumulative >= c.last_ack || c.spec.burst_on_old_acks {
        if c.dupacks == 0 {
            c.send_much(now, false, Why::GoBackN, c.spec.max_burst_packets);
        } else if c.dupacks >= c.dupthresh && !c.spec.newreno_hoe {
            c.send_much(now, false, Why::GoBackN, Some(DUPACK_BURST));
        }
    }
}

fn full_ack(c: &mut Core, r: &mut NewReno, now: Time, ack: &Ack) {
    if c.inflation > 0 {
        c.inflation = 0;
        if c.last_cut == LastCut::DupAcks {
            c.last_cut = LastCut::Exited;
        }
        if c.spec.newreno_exit_by_flight {
            let outstanding = c.highest_sent - ack.cumulative + 1;
            c.cwnd = c.ssthresh.min(outstanding) as f64;
        }
    }
    r.had_partial = false;
    c.advance(now, ack.cumulative, ack.echo);
    c.open();
    c.grow_from_syn();
}

fn partial_ack(c: &mut Core, r: &mut NewReno, now: Time, ack: &Ack) {
    if !c.spec.newreno_partial_deflation {
        c.inflation = 0;
    }
    // RFC 2582 §4, "impatient": only the first sets the timer, so that a window with many losses times out.
    if !c.spec.newreno_impatient || !r.had_partial {
        r.had_partial = true;
        c.renew_timer(now, ack.cumulative);
    }
    if c.spec.newreno_partial_deflation {
        deflate(c, ack.cumulative - c.last_ack);
    }
    c.last_ack = ack.cumulative;
    c.highest_ack = ack.cumulative;
    c.next = c.next.max(ack.cumulative + 1);
    // An RTT with retransmissions in it is no sample, but ends the back-off.
    if c.take_timed(ack.cumulative).is_some() {
        c.rto.end_backoff();
    }
    c.output(now, c.last_ack + 1, Why::PartialAck);
}

/// By what was acknowledged, less the packet that is sent now; inflation stays at least 1, as it marks recovery.
fn deflate(c: &mut Core, acked: i64) {
    if c.inflation > acked {
        c.inflation -= acked - 1;
    } else {
        c.cwnd -= (acked - c.inflation) as f64;
        c.inflation = 1;
    }
    // Without `bug_fix` a fast retransmit after a timeout may have left half a packet.
    c.cwnd = c.cwnd.max(1.0);
}

impl StartUp {
    /// The first acknowledgement gives the RTT, the second and third the bandwidth: their product is ssthresh
    /// (J. Hoe, SIGCOMM 1996), where it is lower.
    fn on_ack(&mut self, c: &mut Core, now: Time) {
        self.acks = self.acks.saturating_add(1);
        match self.acks {
            1 => self.rtt = now - c.first_sent,
            2 => self.second = now,
            3 if c.spec.newreno_hoe && now > self.second => {
                let estimate = (self.rtt.as_secs() / (now - self.second).as_secs()) as i64;
                c.ssthresh = c.ssthresh.min(estimate);
            }
            _ => {}
        }
    }
}
