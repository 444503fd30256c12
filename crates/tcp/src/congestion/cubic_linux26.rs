//! CUBIC as Linux 2.6.32 has it: integers, segments, jiffies.

mod hystart;

use super::{AckFacts, LossFacts, Window, WindowRule, aimd::count_acks};
use hystart::HyStart;
use params::keys::{Kind, flag, key};
use wire::{Span, Time};

params::words! {
    /// What changed in 2.6.39.
    #[derive(Default)]
    pub enum Since {
        #[default]
        V2_6_29 = "2.6.29", "HyStart in jiffies, by a sixteenth of the RTT (2.6.29 to 2.6.38)";
        V2_6_39 = "2.6.39", "HyStart in milliseconds, by an eighth; before any loss the window grows by 5% in a round trip at least \
             (2.6.39 to 3.19)";
    }
}

params::params! {
    /// Linux 2.6.32's CUBIC: beta 717/1024, integer arithmetic in jiffies.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "cubic-linux-2.6", "Linux 2.6.32's CUBIC, in its integers." {
        hystart: bool = flag("hystart", "Slow start ends early, by the train of ACKs or by their delay (HyStart).").default("true");
        since: Since = key("since", Kind::Choice(Since::WORDS), "Whose HyStart, and growth before any loss.").default("2.6.29");
    }
}

/// CUBIC 2.3 of Linux 2.6.32, read there (`tcp_cubic.c`). What differs from RFC 9438: beta 717/1024 of cwnd (not of FlightSize); the curve is
/// looked at again only when cwnd has changed or after a 32nd of a second; the growth is counted in ACKs, scaled by
/// the measured number of segments an ACK acknowledges; a timeout forgets everything.
///
/// Not as there: the cube root is exact (the kernel's is 0.2% off in the mean), and the cube of the time saturates
/// where the kernel's 64 bits wrap (347 s into one epoch).
#[derive(Clone, Copy, Debug)]
pub(super) struct CubicLinux26 {
    hystart: Option<HyStart>,
    /// The same since 2.6.39, and what it holds round trips against.
    later: Option<(super::hystart::HyStart, Option<Span>)>,
    since: Since,
    /// One segment more for this many ACKs.
    every: u32,
    /// ACKs towards the next segment (`snd_cwnd_cnt`).
    counted: u32,
    /// Segments.
    last_max: u32,
    /// Window and time (jiffies) when the curve was last looked at.
    looked: (u32, i64),
    /// Segments: the curve's plateau.
    origin: u32,
    /// From the epoch's start to the plateau, 1/1024 s.
    k: u64,
    /// Smallest RTT, jiffies times 8; 0 before a sample.
    delay_min8: u32,
    /// Jiffies.
    epoch: Option<i64>,
    /// ACKs, and the window that Reno would have, since the epoch's start.
    acks: u32,
    reno: u32,
    /// Segments an ACK acknowledges, times 16.
    ratio16: u32,
    /// A timeout's loss is not repaired before this is acknowledged.
    loss_end: u64,
}

/// Jiffies a second. 250 in Ubuntu 10.04's generic kernel (CONFIG_HZ=250), which paper `interruption` used.
const HZ: i64 = 250;
const JIFFY_NS: i64 = 1_000_000_000 / HZ;
/// The curve's time is counted in 1/1024 s (BICTCP_HZ).
const TIME_BITS: u32 = 10;
/// Out of `BETA_SCALE`.
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// C, out of 1024, times 10 for the RTT of 100 ms that the constants are made for.
const C_SCALED: u64 = 41 * 10;
/// (W_max - cwnd) times this is K cubed.
const K_CUBED: u64 = (1 << (10 + 3 * TIME_BITS)) / C_SCALED;
/// ACKs for one segment of Reno's growth, times 8, for each segment of window.
const RENO_ACKS8: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);

/// ACKs for one segment, at most, before any loss.
const LEAST_GROWTH: u64 = 20;

fn jiffies(t: Time) -> i64 {
    t.0.div_euclid(JIFFY_NS)
}

impl CubicLinux26 {
    /// Sets `every` from the curve, for a window of `cwnd` segments.
    fn look(&mut self, cwnd: u32, now: i64) {
        self.acks = self.acks.saturating_add(1);
        if self.looked.0 == cwnd && now - self.looked.1 <= HZ / 32 {
            return;
        }
        self.looked = (cwnd, now);
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.start_epoch(cwnd, now),
        };
        let target = self.curve(now - epoch);
        let every = if target > u64::from(cwnd) {
            u64::from(cwnd) / (target - u64::from(cwnd))
        } else {
            100 * u64::from(cwnd)
        };
        let every = match self.since {
            Since::V2_6_39 if self.last_max == 0 => every.min(LEAST_GROWTH),
            _ => every,
        };
        let every = every.min(self.reno_growth(cwnd));
        let every = (every << 4) / u64::from(self.ratio16.max(1));
        self.every = every.clamp(1, u64::from(u32::MAX)) as u32;
    }

    fn start_epoch(&mut self, cwnd: u32, now: i64) -> i64 {
        self.epoch = Some(now);
        self.acks = 1;
        self.reno = cwnd;
        self.origin = self.last_max.max(cwnd);
        self.k = cube_root(K_CUBED * u64::from(self.origin - cwnd));
        now
    }

    /// Segments, one RTT from `elapsed` jiffies after the epoch's start.
    fn curve(&self, elapsed: i64) -> u64 {
        let t = ((elapsed + i64::from(self.delay_min8 >> 3)).max(0) as u64).saturating_mul(1 << TIME_BITS)
            / HZ as u64;
        let offset = u128::from(t.abs_diff(self.k).min(1 << 38));
        let delta = (u128::from(C_SCALED) * offset * offset * offset) >> (10 + 3 * TIME_BITS);
        let delta = delta.min(u128::from(u32::MAX)) as u64;
        if t < self.k { u64::from(self.origin).saturating_sub(delta) } else { u64::from(self.origin) + delta }
    }

    /// An RTT sample may say nothing of the path: the queue is still short in the first second of an epoch.
    fn counts(&self, now: Time) -> bool {
        self.epoch.is_none_or(|epoch| jiffies(now) - epoch >= HZ)
    }

    /// ACKs for one segment more, if the window is to keep up with what Reno's would be by now.
    fn reno_growth(&mut self, cwnd: u32) -> u64 {
        let each = ((u64::from(cwnd) * RENO_ACKS8) >> 3).max(1);
        let grown = (u64::from(self.acks).saturating_sub(1)) / each;
        self.acks -= (grown * each) as u32;
        self.reno = self.reno.saturating_add(grown as u32);
        if self.reno > cwnd { u64::from(cwnd / (self.reno - cwnd)) } else { u64::MAX >> 4 }
    }
}

fn later_hystart() -> (super::hystart::HyStart, Option<Span>) {
    (super::hystart::HyStart::new(super::hystart::Clock::Milliseconds), None)
}

/// Times 8, rounded up as `usecs_to_jiffies` does.
fn delay8(rtt: Span) -> u32 {
    let delay8 = ((rtt.0.clamp(0, 1 << 40) + JIFFY_NS - 1) / JIFFY_NS) << 3;
    (delay8 as u32).max(1)
}

/// The largest integer whose cube is at most `n`.
pub(super) fn cube_root(n: u64) -> u64 {
    let mut root = libm::cbrt(n as f64) as u64;
    let cube = |x: u64| u128::from(x) * u128::from(x) * u128::from(x);
    while cube(root) > u128::from(n) {
        root -= 1;
    }
    while cube(root + 1) <= u128::from(n) {
        root += 1;
    }
    root
}

impl WindowRule for CubicLinux26 {
    type Params = Params;

    fn new(p: &Params) -> CubicLinux26 {
        CubicLinux26 {
            hystart: (p.hystart && p.since == Since::V2_6_29).then(HyStart::new),
            later: (p.hystart && p.since == Since::V2_6_39).then(later_hystart),
            since: p.since,
            every: 0,
            counted: 0,
            last_max: 0,
            looked: (0, i64::MIN / 4),
            origin: 0,
            k: 0,
            delay_min8: 0,
            epoch: None,
            acks: 0,
            reno: 0,
            ratio16: 2 << 4,
            loss_end: 0,
        }
    }

    fn measure(&mut self, w: &mut Window, a: &AckFacts, open: bool) {
        if open && a.una >= self.loss_end {
            // A running mean over 16 ACKs.
            self.ratio16 =
                (self.ratio16 - (self.ratio16 >> 4)).saturating_add(a.segments).min(u32::from(u16::MAX));
        }
        let Some(rtt) = a.rtt else { return };
        if !self.counts(a.now) {
            return;
        }
        let delay8 = delay8(rtt);
        if self.delay_min8 == 0 || delay8 < self.delay_min8 {
            self.delay_min8 = delay8;
        }
        if let Some((hystart, smallest)) = &mut self.later {
            let least = smallest.map_or(rtt, |s| s.min(rtt));
            *smallest = Some(least);
            if w.cwnd <= w.ssthresh {
                hystart.on_ack(w, a, rtt, least);
            }
        }
    }

    /// Where HyStart looks: slow start may end here.
    fn at_round_end(&mut self, w: &mut Window, a: &AckFacts) -> bool {
        let counts = self.counts(a.now);
        if let Some(hystart) = &mut self.hystart
            && w.cwnd <= w.ssthresh
        {
            let now = jiffies(a.now);
            if let Some(rtt) = a.rtt.filter(|_| counts) {
                hystart.on_sample(w, now, delay8(rtt), self.delay_min8);
            }
            hystart.on_ack(a, now);
        }
        false
    }

    fn in_slow_start(&self, w: &Window) -> bool {
        w.cwnd <= w.ssthresh
    }

    fn avoid(&mut self, w: &mut Window, a: &AckFacts, _acked: u32) {
        self.look(w.segments().max(1), jiffies(a.now));
        count_acks(&mut self.counted, self.every, w);
    }

    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        let cwnd = w.segments();
        let part = |of: u64, scale: u64| (u64::from(cwnd) * of / scale) as u32;
        // Fast convergence.
        let last_max = if cwnd < self.last_max { part(BETA_SCALE + BETA, 2 * BETA_SCALE) } else { cwnd };
        if l.timeout {
            *self = CubicLinux26 {
                hystart: self.hystart.as_ref().map(|_| HyStart::begin(jiffies(l.now), l.nxt)),
                later: self.later.as_ref().map(|(hystart, _)| (hystart.after_timeout(l), None)),
                loss_end: l.nxt,
                ..CubicLinux26::new(&Params { hystart: false, since: self.since })
            };
        } else {
            self.last_max = last_max;
            self.epoch = None;
            self.counted = 0;
        }
        part(BETA, BETA_SCALE).max(2).saturating_mul(w.smss)
    }
}

#[cfg(test)]
mod tests;
