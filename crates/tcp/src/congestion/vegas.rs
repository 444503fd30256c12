//! Vegas: keeps a few segments of its own in the queue, judged by the RTT, once per round trip.

use super::aimd::{Aimd, AimdCount};
use super::{AckFacts, LossFacts, Window, WindowRule, part_of_flight};
use params::keys::{BIG, key, number};
use wire::{Span, Time};

params::params! {
    /// Brakmo and Peterson 1995; thresholds in segments.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "vegas", "From the delay (Brakmo and Peterson 1995)." {
        alpha: f64 = key("alpha", number(0.0, BIG), "Segments queued below which the window grows.").default("2");
        beta: f64 = key("beta", number(0.0, BIG), "Segments queued above which it shrinks.").default("4");
        gamma: f64 = key("gamma", number(0.0, BIG), "Segments queued that end slow start.").default("1");
    }
}

/// Brakmo and Peterson 1995: Diff = cwnd (1 - BaseRTT / RTT), segments. Below alpha the window grows by one segment
/// per round trip, above beta it shrinks by one, and slow start ends above gamma.
///
/// Thresholds are parameters: 1, 3, 1 in ns-2; 2, 4, 1 in Linux, which besides divides by BaseRTT instead of RTT.
/// As in Linux: the RTT is the smallest of the round trip (delayed ACKs wait), a round with fewer than three
/// samples grows as Reno would, and so does everything from a loss until what was then outstanding is acknowledged.
/// The window never falls below 2 segments. As in the paper, slow start doubles in every other round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    reno: Aimd,
    base_rtt: Option<Span>,
    /// Of the round trip under way.
    least: Span,
    samples: u32,
    /// It ends when data beyond this is acknowledged; `None` until it has begun.
    round_end: Option<u64>,
    /// Not judged before this is acknowledged.
    loss_end: u64,
    /// Slow start grows in every other round trip: in between the RTT of the grown window shows.
    growing: bool,
}

/// Fewer say nothing: they may all be of delayed ACKs.
const SAMPLES_NEEDED: u32 = 3;

impl Vegas {
    fn begin_round(&mut self, nxt: u64) {
        self.round_end = Some(nxt);
        self.least = Span::MAX;
        self.samples = 0;
    }

    fn round_is_over(&self, una: u64) -> bool {
        self.round_end.is_some_and(|end| una > end)
    }

    /// Once per round trip: whether the window is set for this ACK.
    fn judge(&mut self, w: &mut Window, base: Span) -> bool {
        let cwnd = f64::from(w.cwnd) / f64::from(w.smss);
        let kept = base.0 as f64 / self.least.0.max(1) as f64;
        let slow_start = w.cwnd <= w.ssthresh;
        match verdict(cwnd * (1.0 - kept), slow_start, self) {
            Verdict::LeaveSlowStart => {
                // What the path carries, and one segment more for what rounding takes.
                let target = (cwnd * kept) as u32 + 1;
                w.cwnd = w.cwnd.min(target.saturating_mul(w.smss));
                w.ssthresh = w.ssthresh.min(w.cwnd.saturating_sub(w.smss));
            }
            Verdict::Grow if slow_start => {
                self.growing = !self.growing;
                return false;
            }
            Verdict::Grow => w.cwnd = w.cwnd.saturating_add(w.smss),
            Verdict::Shrink => {
                w.cwnd = w.cwnd.saturating_sub(w.smss);
                w.ssthresh = w.ssthresh.min(w.cwnd.saturating_sub(w.smss));
            }
            Verdict::Stay => {}
        }
        w.cwnd = w.cwnd.max(w.smss.saturating_mul(2));
        // A later slow start should get near the present window.
        w.ssthresh = w.ssthresh.max(w.cwnd / 4 * 3);
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    LeaveSlowStart,
    Grow,
    Shrink,
    Stay,
}

/// `diff`: segments that wait in the queue.
fn verdict(diff: f64, slow_start: bool, v: &Vegas) -> Verdict {
    match slow_start {
        true if diff > v.gamma => Verdict::LeaveSlowStart,
        true => Verdict::Grow,
        false if diff > v.beta => Verdict::Shrink,
        false if diff < v.alpha => Verdict::Grow,
        false => Verdict::Stay,
    }
}

impl WindowRule for Vegas {
    type Params = Params;

    fn new(&Params { alpha, beta, gamma }: &Params) -> Vegas {
        Vegas {
            alpha,
            beta,
            gamma,
            reno: Aimd::halving(AimdCount::Bytes),
            base_rtt: None,
            least: Span::MAX,
            samples: 0,
            round_end: None,
            loss_end: 0,
            growing: true,
        }
    }

    fn measure(&mut self, _w: &mut Window, a: &AckFacts, _open: bool) {
        let Some(rtt) = a.rtt else { return };
        let rtt = rtt.max(Span(1));
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        self.least = self.least.min(rtt);
        self.samples = self.samples.saturating_add(1);
        if self.round_end.is_none() && a.una >= self.loss_end {
            self.begin_round(a.nxt);
        }
    }

    fn in_slow_start(&self, w: &Window) -> bool {
        w.cwnd <= w.ssthresh && (self.growing || self.round_end.is_none())
    }

    /// Between judgements the window stands; after a loss it grows as Reno's.
    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32) {
        if self.round_end.is_none() {
            self.reno.avoid(w, a, acked);
        }
    }

    fn at_round_end(&mut self, w: &mut Window, a: &AckFacts) -> bool {
        if !self.round_is_over(a.una) {
            return false;
        }
        let slow_start = w.cwnd <= w.ssthresh;
        let set = match self.base_rtt {
            Some(base) if self.samples >= SAMPLES_NEEDED => self.judge(w, base),
            _ if slow_start => {
                self.growing = true;
                false
            }
            _ => {
                self.reno.avoid(w, a, a.acked);
                true
            }
        };
        self.begin_round(a.nxt);
        set
    }

    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        self.round_end = None;
        self.loss_end = l.nxt;
        self.growing = true;
        self.reno.ssthresh(w, l);
        part_of_flight(l, 0.5, w.smss)
    }

    fn after_idle(&mut self, _w: &mut Window, _now: Time) {
        self.base_rtt = None;
        self.round_end = None;
    }
}

#[cfg(test)]
mod tests;
