//! CUBIC as Linux 6 has it: integers, segments, jiffies, with HyStart.

use super::cubic_linux26::cube_root;
use super::hystart::{self, HyStart};
use super::{AckFacts, LossFacts, Window, WindowRule};
use crate::sampler::rate::Progress;
use params::keys::{Kind, flag, key};
use wire::{Span, Time};

params::words! {
    /// Jiffies a second (CONFIG_HZ).
    pub enum Hz {
        Hz250 = "250", "250, Linux's default and most distributions'";
        Hz1000 = "1000", "1000";
    }
}

impl Hz {
    pub(super) fn per_second(self) -> i64 {
        match self {
            Hz::Hz250 => 250,
            Hz::Hz1000 => 1000,
        }
    }
}

params::params! {
    /// Linux 6's CUBIC: beta 717/1024, integer arithmetic in jiffies.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "cubic-linux-6", "Linux 6's CUBIC, in its integers." {
        hystart: bool = flag("hystart", "Slow start ends early, by the train of ACKs or by their delay (HyStart as Linux has it).").default("true");
        hystart_clock: hystart::Clock = key("hystart_clock", Kind::Choice(hystart::Clock::WORDS), "What HyStart counts time in.").default("microseconds");
        hz: Hz = key("hz", Kind::Choice(Hz::WORDS), "Jiffies a second, in which the curve's time is counted.").default("250");
    }
}

/// CUBIC of Linux 6.18 (net/ipv4/tcp_cubic.c). Beside RFC 9438: beta 717/1024 of cwnd (not of FlightSize); the curve is
/// looked at again only when cwnd has changed or after a 32nd of a second, and once a jiffy at most; before any loss the
/// window grows by 5% in a round trip at least, and never by more than a segment for two acknowledged; a timeout forgets
/// everything.
///
/// Not as there: the cube root is exact (the kernel's is 0.2% off in the mean).
#[derive(Clone, Copy, Debug)]
pub(super) struct CubicLinux {
    hystart: Option<HyStart>,
    hz: i64,
    /// A jiffy; when the last one that was asked for began, and its number.
    tick: Span,
    jiffy: (Time, i64),
    /// One segment more for so many that are acknowledged, and how many were counted.
    every: u32,
    counted: u32,
    /// Segments; 0 before a loss.
    last_max: u32,
    /// Window and time (jiffies) when the curve was last looked at.
    looked: (u32, i64),
    origin: u32,
    /// From the epoch's start to the plateau, 1/1024 s.
    k: u64,
    /// Smallest RTT since the last timeout.
    delay_min: Option<Span>,
    /// Jiffies.
    epoch: Option<i64>,
    /// Segments acknowledged, and the window that Reno would have, since the epoch's start.
    acked: u64,
    reno: u32,
}

/// The curve's time is counted in 1/1024 s (BICTCP_HZ).
const TIME_BITS: u32 = 10;
/// Out of `BETA_SCALE`.
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// C, out of 1024, times 10 for the RTT of 100 ms that the constants are made for.
const C_SCALED: u64 = 41 * 10;
/// (W_max - cwnd) times this is K cubed.
const K_CUBED: u64 = (1 << (10 + 3 * TIME_BITS)) / C_SCALED;
/// Segments acknowledged for one of Reno's growth, times 8, for each segment of window.
const RENO_ACKED8: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);

impl CubicLinux {
    /// Every ACK asks, and nearly all within the jiffy of the one before: no division then.
    fn jiffies(&mut self, t: Time) -> i64 {
        let (began, jiffy) = self.jiffy;
        if t >= began && t - began < self.tick {
            return jiffy;
        }
        let jiffy = t.0.div_euclid(self.tick.0);
        self.jiffy = (Time(jiffy * self.tick.0), jiffy);
        jiffy
    }

    /// Sets `every` from the curve, for a window of `cwnd` segments of which `acked` were just acknowledged.
    fn look(&mut self, cwnd: u32, acked: u32, now: i64) {
        self.acked += u64::from(acked);
        if self.looked.0 == cwnd && now - self.looked.1 <= self.hz / 32 {
            return;
        }
        if self.epoch.is_none() || now != self.looked.1 {
            self.looked = (cwnd, now);
            let epoch = match self.epoch {
                Some(epoch) => epoch,
                None => self.start_epoch(cwnd, acked, now),
            };
            let target = self.curve(now - epoch);
            let every = match target.checked_sub(u64::from(cwnd)) {
                None | Some(0) => 100 * u64::from(cwnd),
                Some(above) => u64::from(cwnd) / above,
            };
            self.every = every.min(u64::from(u32::MAX)) as u32;
            if self.last_max == 0 {
                self.every = self.every.min(20);
            }
        }
        self.every = self.every.min(self.reno_growth(cwnd)).max(2);
    }

    fn start_epoch(&mut self, cwnd: u32, acked: u32, now: i64) -> i64 {
        self.epoch = Some(now);
        self.acked = acked.into();
        self.reno = cwnd;
        self.origin = self.last_max.max(cwnd);
        self.k = cube_root(K_CUBED * u64::from(self.origin - cwnd));
        now
    }

    /// Segments, one smallest RTT from `elapsed` jiffies after the epoch's start.
    fn curve(&self, elapsed: i64) -> u64 {
        let tick = 1_000_000_000 / self.hz;
        let ahead = self.delay_min.map_or(0, |d| (d.0 + tick - 1) / tick);
        let t = ((elapsed + ahead).max(0) as u64).saturating_mul(1 << TIME_BITS) / self.hz as u64;
        let offset = u128::from(t.abs_diff(self.k).min(1 << 38));
        let delta = (u128::from(C_SCALED) * offset * offset * offset) >> (10 + 3 * TIME_BITS);
        let delta = delta.min(u128::from(u32::MAX)) as u64;
        if t < self.k { u64::from(self.origin).saturating_sub(delta) } else { u64::from(self.origin) + delta }
    }

    /// Segments acknowledged for one more, if the window is to keep up with what Reno's would be by now.
    fn reno_growth(&mut self, cwnd: u32) -> u32 {
        let each = ((u64::from(cwnd) * RENO_ACKED8) >> 3).max(1);
        let grown = self.acked.saturating_sub(1) / each;
        self.acked -= grown * each;
        self.reno = self.reno.saturating_add(grown.min(u64::from(u32::MAX)) as u32);
        if self.reno > cwnd { cwnd / (self.reno - cwnd) } else { u32::MAX }
    }

    /// bictcp_reset and bictcp_hystart_reset.
    fn reset(&mut self, l: &LossFacts) {
        *self = CubicLinux::fresh(self.hystart.map(|h| h.after_timeout(l)), self.hz);
    }
    fn fresh(hystart: Option<HyStart>, hz: i64) -> CubicLinux {
        CubicLinux {
            hystart,
            hz,
            tick: Span(1_000_000_000 / hz),
            jiffy: (Time::FAR_PAST, 0),
            every: 0,
            counted: 0,
            last_max: 0,
            looked: (0, i64::MIN / 4),
            origin: 0,
            k: 0,
            delay_min: None,
            epoch: None,
            acked: 0,
            reno: 0,
        }
    }
}

impl WindowRule for CubicLinux {
    type Params = Params;

    fn new(p: &Params) -> CubicLinux {
        CubicLinux::fresh(p.hystart.then(|| HyStart::new(p.hystart_clock)), p.hz.per_second())
    }

    /// cubictcp_acked: HyStart looks here, in a recovery, too, in which proportional reduction has left cwnd below ssthresh.
    fn measure(&mut self, w: &mut Window, a: &AckFacts, _open: bool) {
        let Some(rtt) = a.rtt.or(a.stamped) else { return };
        // The queue is still short in the first second of an epoch: such samples do not count.
        if self.epoch.is_some_and(|epoch| self.jiffies(a.now) - epoch < self.hz) {
            return;
        }
        // A timestamp's coarse sample counts where there is none yet.
        self.delay_min = match (self.delay_min, a.rtt) {
            (Some(least), exact) => Some(exact.map_or(least, |rtt| least.min(rtt))),
            (None, _) => Some(rtt),
        };
        if let (Some(hystart), Some(smallest)) = (&mut self.hystart, self.delay_min)
            && w.cwnd < w.ssthresh
        {
            hystart.on_ack(w, a, rtt, smallest);
        }
    }

    fn counts_segments(&self) -> bool {
        true
    }

    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32) {
        // Nearly every ACK is of one full segment or of two.
        let acked = match acked {
            n if n == w.smss => 1,
            n if n == 2 * w.smss => 2,
            n => n.div_ceil(w.smss),
        };
        let now = self.jiffies(a.now);
        self.look(w.segments().max(1), acked, now);
        // tcp_cong_avoid_ai
        if self.counted >= self.every {
            self.counted = 0;
            w.cwnd = w.cwnd.saturating_add(w.smss);
        }
        self.counted += acked;
        if self.counted >= self.every {
            let grown = self.counted / self.every;
            self.counted -= grown * self.every;
            w.cwnd = w.cwnd.saturating_add(grown.saturating_mul(w.smss));
        }
    }

    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        let cwnd = w.segments();
        let part = |of: u64, scale: u64| (u64::from(cwnd) * of / scale) as u32;
        if l.timeout {
            self.reset(l);
        } else {
            // Fast convergence.
            self.last_max = if cwnd < self.last_max { part(BETA_SCALE + BETA, 2 * BETA_SCALE) } else { cwnd };
            self.epoch = None;
            self.counted = 0;
        }
        part(BETA, BETA_SCALE).max(2).saturating_mul(w.smss)
    }

    /// Within a recovery, too, which had set ssthresh.
    fn timed_out(&mut self, _w: &Window, l: &LossFacts, _so_far: &Progress) {
        self.reset(l);
    }

    fn taken_up(&mut self) {
        self.hystart = self.hystart.map(|h| h.anew());
    }

    /// The epoch moves on by the silence (cubictcp_cwnd_event).
    fn after_idle(&mut self, _w: &mut Window, now: Time) {
        if let Some(epoch) = self.epoch {
            let silent = self.jiffies(now) - self.looked.1;
            self.epoch = Some((epoch + silent.max(0)).min(self.jiffies(now)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{SMSS, segment_acked};

    const RTT: Span = Span::from_millis(100);

    fn ack(ms: i64, segments: u32) -> AckFacts {
        let bytes = segments * SMSS;
        let rtt = Some(RTT);
        AckFacts {
            acked: bytes,
            delivered: bytes,
            segments,
            rtt,
            stamped: None,
            min_rtt: rtt,
            srtt: rtt,
            ..segment_acked(Time(ms * 1_000_000), 0, 0)
        }
    }
    fn loss(timeout: bool) -> LossFacts {
        LossFacts { now: Time(0), flight: 0, una: 0, nxt: 0, timeout }
    }
    fn plain() -> CubicLinux {
        CubicLinux::new(&Params { hystart: false, hystart_clock: hystart::Clock::default(), hz: Hz::Hz1000 })
    }

    /// After a loss at 100 segments the curve is flat where the loss was, K = cbrt(100 * 0.3 / 0.4) = 4.2 s later
    /// (RFC 9438 §4.2, and Linux's beta and C within 0.2%).
    #[test]
    fn the_curve_comes_back_to_where_the_loss_was_after_k() {
        let (mut c, mut w) = (plain(), Window { cwnd: 100 * SMSS, ssthresh: u32::MAX, smss: SMSS });
        w.ssthresh = c.ssthresh(&w, &loss(false));
        assert_eq!(w.ssthresh, 70 * SMSS);
        w.cwnd = w.ssthresh;
        let mut at_k = 0;
        for ms in (1000..6000).step_by(2) {
            c.measure(&mut w, &ack(ms, 1), true);
            c.avoid(&mut w, &ack(ms, 1), SMSS);
            if ms == 1000 + 4200 {
                at_k = w.cwnd / SMSS;
            }
        }
        assert!((98..=102).contains(&at_k), "{at_k} segments after K");
        assert!(w.cwnd / SMSS >= 99);
    }

    #[test]
    fn a_timeout_forgets_the_plateau_and_before_a_loss_the_window_grows_by_a_twentieth() {
        let (mut c, mut w) = (plain(), Window { cwnd: 100 * SMSS, ssthresh: SMSS, smss: SMSS });
        assert_eq!(c.ssthresh(&w, &loss(true)), 70 * SMSS);
        for k in 0..101 {
            c.avoid(&mut w, &ack(10 + k / 10, 1), SMSS);
        }
        assert!((104..=105).contains(&(w.cwnd / SMSS)), "{}", w.cwnd);
    }

    /// The ACK that takes a timeout back may echo an original of seconds before: as the first sample since then that is the
    /// smallest RTT, and the curve is looked at that far ahead (cubictcp_acked, bictcp_update). Linux 6.18 grew by two segments.
    #[test]
    fn after_a_timeout_the_first_sample_may_be_a_timestamps() {
        let (mut c, mut w) = (plain(), Window { cwnd: 86 * SMSS, ssthresh: SMSS, smss: SMSS });
        c.ssthresh(&w, &loss(true));
        let late = AckFacts { rtt: None, stamped: Some(Span::from_millis(6421)), ..ack(10, 5) };
        c.measure(&mut w, &late, true);
        c.avoid(&mut w, &late, 5 * SMSS);
        assert_eq!(w.cwnd, 88 * SMSS);
    }

    #[test]
    fn a_loss_below_the_last_plateau_leaves_room() {
        let (mut c, mut w) = (plain(), Window { cwnd: 100 * SMSS, ssthresh: SMSS, smss: SMSS });
        c.ssthresh(&w, &loss(false));
        w.cwnd = 80 * SMSS;
        c.ssthresh(&w, &loss(false));
        assert_eq!(c.last_max, 80 * (1024 + 717) / 2048);
    }

    /// cubictcp_acked asks no state: PRR leaves cwnd below ssthresh, and an RTT that grew ends slow start there, so that
    /// recovery ends with a smaller window.
    #[test]
    fn hystart_ends_slow_start_within_a_recovery_also_by_timestamps() {
        for stamped in [false, true] {
            let mut c = CubicLinux::new(&Params {
                hystart: true,
                hystart_clock: hystart::Clock::default(),
                hz: Hz::Hz250,
            });
            let mut w = Window { cwnd: 100 * SMSS, ssthresh: u32::MAX, smss: SMSS };
            c.measure(&mut w, &ack(0, 1), true);
            w.ssthresh = c.ssthresh(&w, &loss(false));
            w.cwnd = 50 * SMSS;
            let longer = Some(RTT * 2);
            let late = |ms| match stamped {
                true => AckFacts { rtt: None, stamped: longer, ..ack(ms, 1) },
                false => AckFacts { rtt: longer, ..ack(ms, 1) },
            };
            for k in 0..9 {
                assert_eq!(w.ssthresh, 70 * SMSS, "sample {k}");
                c.measure(&mut w, &AckFacts { una: 1, nxt: 1000, ..late(10 + 10 * k) }, false);
            }
            assert_eq!(w.ssthresh, 50 * SMSS);
            assert_eq!(c.delay_min, Some(RTT), "a timestamp's coarse word is no smallest RTT");
        }
    }
}
