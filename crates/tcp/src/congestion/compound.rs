//! Compound TCP: Reno's window and beside it one that grows while the queue is short.

use super::aimd::{Aimd, AimdCount};
use super::{AckFacts, LossFacts, Window, WindowRule};
use params::keys::{BIG, key, number, number_above, number_between};
use wire::{Span, Time};

params::params! {
    /// draft-sridharan-tcpm-ctcp.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "compound", "A loss window and a delay window (draft-sridharan-tcpm-ctcp)." {
        alpha: f64 = key("alpha", number_above(0.0, BIG), "Growth of the delay window.").default("0.125");
        beta: f64 = key("beta", number_between(0.0, 1.0), "What a loss takes.").default("0.5");
        eta: f64 = key("eta", number(0.0, BIG), "What queueing takes.").default("1");
        k: f64 = key("k", number(0.0, 1.0), "Power of the growth.").default("0.75");
        gamma: f64 = key("gamma", number(0.0, BIG), "Segments queued above which the delay window shrinks.")
            .default("30");
    }
}

/// draft-sridharan-tcpm-ctcp-02 §3: win = cwnd + dwnd. `Window::cwnd` is win; dwnd is kept here.
///
/// Once per round trip in congestion avoidance, with Diff = win (1 - baseRTT / RTT) in segments:
/// dwnd += max(alpha win^k - 1, 0) where Diff < gamma, dwnd -= eta Diff otherwise. cwnd grows by one SMSS per round
/// trip of all of win. A loss leaves win (1 - beta) at most, dwnd making up what cwnd / 2 lacks; a timeout leaves no
/// dwnd. RTT is the mean of the round trip's samples. gamma is not tuned, and no least window is asked for:
/// below 16 segments the law with alpha = 1/8, k = 3/4 gives nothing anyway.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compound {
    alpha: f64,
    beta: f64,
    eta: f64,
    k: f64,
    gamma: f64,
    /// The loss window's growth.
    reno: Aimd,
    /// Bytes, part of `Window::cwnd`.
    dwnd: u32,
    base_rtt: Option<Span>,
    /// Of the round trip under way.
    rtt_sum: Span,
    samples: i64,
    /// It ends when data beyond this is acknowledged.
    round_end: Option<u64>,
}

impl Compound {
    fn begin_round(&mut self, nxt: u64) {
        self.round_end = Some(nxt);
        self.rtt_sum = Span::ZERO;
        self.samples = 0;
    }

    /// The draft's delay-based control law: what dwnd changes by in this round trip, segments.
    fn change(&self, win: f64, base: Span, rtt: Span) -> f64 {
        let diff = win * (1.0 - base.0 as f64 / rtt.0.max(1) as f64);
        if diff < self.gamma {
            (self.alpha * libm::pow(win, self.k) - 1.0).max(0.0)
        } else {
            -self.eta * diff
        }
    }

    fn end_round(&mut self, w: &mut Window, base: Span) {
        let smss = f64::from(w.smss);
        let change = self.change(f64::from(w.cwnd) / smss, base, self.rtt_sum / self.samples);
        let dwnd = (f64::from(self.dwnd) + change * smss).max(0.0) as u32;
        let loss_window = w.cwnd - self.dwnd;
        w.cwnd = loss_window.saturating_add(dwnd);
        self.dwnd = w.cwnd - loss_window;
    }

    /// Others set win, too (recovery, restart): the loss window keeps at least one SMSS of it.
    fn fit(&mut self, w: &Window) {
        self.dwnd = self.dwnd.min(w.cwnd.saturating_sub(w.smss));
    }
}

impl WindowRule for Compound {
    type Params = Params;

    fn new(&Params { alpha, beta, eta, k, gamma }: &Params) -> Compound {
        Compound {
            alpha,
            beta: beta.clamp(0.0, 1.0),
            eta,
            k,
            gamma,
            reno: Aimd::halving(AimdCount::Bytes),
            dwnd: 0,
            base_rtt: None,
            rtt_sum: Span::ZERO,
            samples: 0,
            round_end: None,
        }
    }

    fn measure(&mut self, _w: &mut Window, a: &AckFacts, _open: bool) {
        let Some(rtt) = a.rtt else { return };
        let rtt = rtt.clamp(Span(1), Span::from_secs(3600));
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        if self.samples < 1 << 20 {
            self.rtt_sum += rtt;
            self.samples += 1;
        }
    }

    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32) {
        self.fit(w);
        self.reno.avoid(w, a, acked);
        if self.round_end.is_none_or(|end| a.una > end) {
            if let (Some(base), Some(_)) = (self.base_rtt, self.round_end)
                && self.samples > 0
            {
                self.end_round(w, base);
            }
            self.begin_round(a.nxt);
        }
    }

    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        self.reno.ssthresh(w, l);
        self.fit(w);
        self.round_end = None;
        // As RFC 5681 (4), by what was in flight rather than by a window that was not used.
        let win = w.cwnd.min(l.flight.max(w.smss));
        let used = f64::from(win) / f64::from(w.cwnd.max(1));
        let loss_window = (f64::from(w.cwnd - self.dwnd) * used) as u32 / 2;
        let left = ((f64::from(win) * (1.0 - self.beta)) as u32).saturating_sub(loss_window);
        self.dwnd = if l.timeout { 0 } else { left };
        loss_window.saturating_add(left).max(w.smss.saturating_mul(2))
    }

    fn on_recovery_end(&mut self, w: &mut Window, _now: Time) {
        self.fit(w);
    }

    fn after_idle(&mut self, w: &mut Window, _now: Time) {
        self.fit(w);
        self.round_end = None;
    }
}

#[cfg(test)]
mod tests;
