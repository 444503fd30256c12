//! CUBIC, RFC 9438: the window is a cubic function of the time since the last loss.

use super::{AckFacts, LossFacts, Window, WindowRule, part_of_flight};
use params::keys::{BIG, flag, key, number_above, number_between};
use wire::{Span, Time};

params::params! {
    /// RFC 9438.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "cubic", "CUBIC (RFC 9438)." {
        c: f64 = key("c", number_above(0.0, BIG), "How fast the window grows (C).").default("0.4");
        beta: f64 = key("beta", number_between(0.0, 1.0), "Share of the window that a loss leaves.").default("0.7");
        fast_convergence: bool = flag("fast_convergence", "RFC 9438, section 4.7.").default("true");
        tcp_friendly: bool = flag("tcp_friendly", "At least what Reno would have (RFC 9438, section 4.3).")
            .default("true");
    }
}

/// In segments and seconds as the RFC has it; fractions of a byte are kept until they make one.
///
/// HyStart++ is no part of it here (§4.10 leaves the choice of the slow start). The increase is per ACK, as §4.4
/// and §4.5 have it, not per acknowledged segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    tcp_friendly: bool,
    /// Segments; 0 before the first loss.
    w_max: f64,
    /// cwnd when ssthresh was last set, segments; 0 before.
    cwnd_prior: f64,
    /// The last loss was found by a timeout (§4.8).
    after_timeout: bool,
    epoch: Option<Epoch>,
    /// What cwnd would have beyond whole bytes, 0 ..< 1.
    fraction: f64,
}

/// One stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch, moved on by the times in which cwnd was not what limited.
    start: Time,
    /// The last ACK of this stage.
    seen: Time,
    /// Seconds.
    k: f64,
    /// Segments.
    origin: f64,
    w_est: f64,
}

impl Cubic {
    /// §4.2 (2); §4.8 and §4.10: after a timeout, and before any loss, the curve starts at its plateau.
    fn start(&mut self, cwnd: f64, now: Time) -> Epoch {
        let origin = if self.after_timeout { cwnd } else { self.w_max.max(cwnd) };
        self.after_timeout = false;
        let k = libm::cbrt((origin - cwnd) / self.c);
        Epoch { start: now, seen: now, k, origin, w_est: cwnd }
    }

    /// §4.3 (4): alpha, 1 once W_est has come back to where the loss was.
    fn alpha(&self, w_est: f64) -> f64 {
        if w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) }
    }
}

impl Epoch {
    /// §4.2 (1), `t` in seconds since the epoch's start.
    fn w_cubic(&self, c: f64, t: f64) -> f64 {
        let d = t - self.k;
        c * d * d * d + self.origin
    }
}

impl WindowRule for Cubic {
    type Params = Params;

    fn new(&Params { c, beta, fast_convergence, tcp_friendly }: &Params) -> Cubic {
        Cubic {
            c: if c > 0.0 && c.is_finite() { c } else { 0.4 },
            beta: if beta > 0.0 && beta < 1.0 { beta } else { 0.7 },
            fast_convergence,
            tcp_friendly,
            w_max: 0.0,
            cwnd_prior: 0.0,
            after_timeout: false,
            epoch: None,
            fraction: 0.0,
        }
    }

    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32) {
        let smss = f64::from(w.smss);
        let cwnd = (f64::from(w.cwnd) + self.fraction) / smss;
        let mut e = match self.epoch {
            Some(e) => e,
            None => self.start(cwnd, a.now),
        };
        e.seen = a.now;
        e.w_est += self.alpha(e.w_est) * f64::from(acked) / smss / cwnd;
        let t = (a.now - e.start).as_secs();
        let grown = if self.tcp_friendly && e.w_cubic(self.c, t) < e.w_est {
            // §4.3; W_est starts at cwnd, but may lag behind it where another stage was left early.
            e.w_est.max(cwnd)
        } else {
            // §4.2: the target is where the curve will be an RTT from now, at most half as much again.
            let rtt = a.srtt.or(a.rtt).unwrap_or(Span::ZERO).as_secs();
            let target = e.w_cubic(self.c, t + rtt).clamp(cwnd, 1.5 * cwnd);
            // §4.4, §4.5.
            cwnd + (target - cwnd) / cwnd
        };
        self.epoch = Some(e);
        let bytes = grown * smss;
        w.cwnd = w.cwnd.max(bytes as u32);
        self.fraction = (bytes - f64::from(w.cwnd)).clamp(0.0, 0.999_999);
    }

    /// §4.2: t must not include times in which cwnd was not updated because the application limited.
    fn rest(&mut self, a: &AckFacts) {
        if let Some(e) = &mut self.epoch {
            e.start += a.now - e.seen;
            e.seen = a.now;
        }
    }

    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        let cwnd = f64::from(w.cwnd) / f64::from(w.smss);
        // §4.7, before the reduction: leave room for a newcomer.
        self.w_max =
            if self.fast_convergence && cwnd < self.w_max { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        // §4.6, §4.8.
        self.cwnd_prior = cwnd;
        self.after_timeout = l.timeout;
        self.epoch = None;
        self.fraction = 0.0;
        part_of_flight(l, self.beta, w.smss)
    }

    fn after_idle(&mut self, _w: &mut Window, now: Time) {
        if let Some(e) = &mut self.epoch {
            e.start += now - e.seen;
            e.seen = now;
        }
    }
}

#[cfg(test)]
mod tests;
