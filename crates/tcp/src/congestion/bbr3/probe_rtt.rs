//! The smallest RTT, and the state in which it is measured anew (draft-ietf-ccwg-bbr, section 5.3.4).

use super::{Ack, Bbr3, LEAST_CWND, State};
use crate::congestion::Driving;
use crate::congestion::units::us;
use wire::Time;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rtt {
    pub(super) min_us: Option<u64>,
    min_at: Time,
    /// Of the time since the last ProbeRTT.
    probed_us: Option<u64>,
    probed_at: Time,
    /// ProbeRTT may end then, once a round trip has passed.
    ends: Option<Time>,
    round_done: bool,
}

impl Rtt {
    pub(super) fn new(min_us: Option<u64>, now: Time) -> Rtt {
        Rtt { min_us, min_at: now, probed_us: min_us, probed_at: now, ..Rtt::default() }
    }
}

impl Bbr3 {
    /// UpdateMinRTT, CheckProbeRTT. Returns cwnd.
    pub(super) fn note_rtt(&mut self, mut cwnd: u32, a: &Ack<'_>, d: &mut Driving<'_>) -> u32 {
        let r = &mut self.rtt;
        let old = a.now > r.probed_at + self.params.probe_rtt_interval;
        if let Some(rtt) = a.s.rtt.map(us)
            && (r.probed_us.is_none_or(|least| rtt < least) || old)
        {
            (r.probed_us, r.probed_at) = (Some(rtt), a.now);
        }
        let expired = a.now > r.min_at + self.params.min_rtt_window;
        let smaller = r.probed_us.is_some_and(|new| r.min_us.is_none_or(|least| new < least));
        if smaller || expired {
            (r.min_us, r.min_at) = (r.probed_us, r.probed_at);
        }
        if self.state != State::ProbeRtt && old && !self.restarted {
            self.save_cwnd(cwnd);
            self.state = State::ProbeRtt;
            self.rtt.ends = None;
            self.stop_feedback();
        }
        if self.state == State::ProbeRtt {
            d.limit_to_application = true;
            cwnd = self.probe_rtt(cwnd, a);
        }
        self.restarted &= a.s.delivered.is_none_or(|n| n == 0);
        cwnd
    }

    /// HandleProbeRTT.
    fn probe_rtt(&mut self, cwnd: u32, a: &Ack<'_>) -> u32 {
        if self.rtt.ends.is_none() {
            if a.in_flight <= self.probe_rtt_cwnd() {
                self.rtt.ends = Some(a.now + self.params.probe_rtt_time);
                self.rtt.round_done = false;
                self.begin_round();
            }
            return cwnd;
        }
        self.rtt.round_done |= self.rounds.began;
        if self.rtt.round_done { self.end_probe_rtt(cwnd, a.now) } else { cwnd }
    }

    /// CheckProbeRTTDone, ExitProbeRTT.
    pub(super) fn end_probe_rtt(&mut self, cwnd: u32, now: Time) -> u32 {
        if self.rtt.ends.is_none_or(|ends| now <= ends) {
            return cwnd;
        }
        self.rtt.probed_at = now;
        self.bounds.forget_short_term();
        if self.full {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
        cwnd.max(self.prior_cwnd)
    }

    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(State::ProbeRtt.gains().1).max(LEAST_CWND)
    }
}
