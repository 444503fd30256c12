//! Random early detection (Floyd and Jacobson 1993, figure 2), "gentle" by choice (Floyd 2000).

use crate::random::Stream;
use instant::Span;

/// What to do with a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Admit,
    Mark,
    Drop,
}

#[derive(Clone, Debug)]
pub(crate) struct Red {
    min_threshold: f64,
    max_threshold: f64,
    max_probability: f64,
    weight: f64,
    gentle: bool,
    ecn: bool,
    /// Exponentially weighted mean of the queue's length, packets.
    mean: f64,
    /// Packets since the last mark; -1 below the lower threshold.
    count: i64,
    stream: Stream,
}

/// What the queue is like when a packet comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub waiting_packets: u32,
    /// How long the link has been idle, and how long the packet will take to be sent, if it is idle.
    pub idle: Option<(Span, Span)>,
    pub ecn_capable: bool,
}

impl Red {
    pub fn new(thresholds: (f64, f64), max_probability: f64, weight: f64, stream: Stream) -> Red {
        let (min_threshold, max_threshold) = thresholds;
        let (gentle, ecn, mean, count) = (false, false, 0.0, -1);
        Red { min_threshold, max_threshold, max_probability, weight, gentle, ecn, mean, count, stream }
    }

    pub fn with(self, gentle: bool, ecn: bool) -> Red {
        Red { gentle, ecn, ..self }
    }

    /// One draw a packet, whatever comes of it.
    pub fn verdict(&mut self, found: Found) -> Verdict {
        self.sample(found);
        let draw = self.stream.uniform();
        if self.mean < self.min_threshold {
            self.count = -1;
            return Verdict::Admit;
        }
        self.count += 1;
        if draw >= self.probability() {
            return Verdict::Admit;
        }
        self.count = 0;
        // Above the upper threshold marks no longer help (RFC 3168 section 7).
        let may_mark = self.ecn && found.ecn_capable && self.mean < self.max_threshold;
        if may_mark { Verdict::Mark } else { Verdict::Drop }
    }

    /// The mean ages over an idle period as if so many packets had come and found it empty.
    fn sample(&mut self, found: Found) {
        match found.idle {
            None => self.mean += self.weight * (found.waiting_packets as f64 - self.mean),
            Some((idle, packet)) if packet > Span::ZERO => {
                self.mean *= libm::pow(1.0 - self.weight, idle.0 as f64 / packet.0 as f64)
            }
            Some(_) => self.mean = 0.0,
        }
    }

    /// Spread evenly: p / (1 - count p) makes the distance between marks uniform, not geometric.
    fn probability(&self) -> f64 {
        let p = self.base_probability();
        let left = 1.0 - self.count as f64 * p;
        if p >= left { 1.0 } else { p / left }
    }

    fn base_probability(&self) -> f64 {
        let (min, max, most) = (self.min_threshold, self.max_threshold, self.max_probability);
        if self.mean < max {
            most * (self.mean - min) / (max - min)
        } else if self.gentle {
            (most + (1.0 - most) * (self.mean - max) / max).min(1.0)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red(weight: f64) -> Red {
        Red::new((5.0, 15.0), 0.1, weight, Stream::new(1, "link", "red"))
    }
    fn busy(waiting_packets: u32) -> Found {
        Found { waiting_packets, idle: None, ecn_capable: true }
    }

    #[test]
    fn the_mean_follows_the_queue_by_its_weight_and_ages_when_idle() {
        let mut r = red(0.5);
        for (waiting, mean) in [(4, 2.0), (4, 3.0), (0, 1.5)] {
            r.verdict(busy(waiting));
            assert_eq!(r.mean, mean);
        }
        // Idle for three packets' time: 1.5 * 0.5^3.
        r.verdict(Found { idle: Some((Span(300), Span(100))), ..busy(0) });
        assert!((r.mean - 0.1875).abs() < 1e-12);
    }

    /// The truth table of the base probability: mean, gentle, probability.
    #[test]
    fn the_base_probability_rises_to_its_largest_and_then_jumps_or_goes_on_gently() {
        let table = [
            (5.0, false, 0.0),
            (10.0, false, 0.05),
            (15.0, false, 1.0),
            (15.0, true, 0.1),
            (22.5, true, 0.55),
            (30.0, true, 1.0),
            (40.0, true, 1.0),
        ];
        for (mean, gentle, p) in table {
            let r = Red { mean, gentle, ..red(1.0) };
            assert!((r.base_probability() - p).abs() < 1e-12, "{mean} {gentle}");
        }
    }

    #[test]
    fn below_the_lower_threshold_all_pass_and_above_the_upper_none() {
        let mut r = red(1.0);
        assert!((0..1000).all(|_| r.verdict(busy(4)) == Verdict::Admit));
        assert!((0..1000).all(|_| r.verdict(busy(15)) == Verdict::Drop));
    }

    /// With p = 0.05 the distance between drops is uniform over 1..=19: figure 2 counts a packet before it asks, and
    /// so comes one short of the 1/p of section 7. Mean 10, deviation 5.48.
    #[test]
    fn drops_are_spread_evenly() {
        let mut r = red(1.0);
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for _ in 0..200_000 {
            gap += 1;
            if r.verdict(busy(10)) != Verdict::Admit {
                gaps.push(gap);
                gap = 0;
            }
        }
        assert!(gaps.iter().all(|g| (1..=19).contains(g)));
        let mean = gaps.iter().sum::<i32>() as f64 / gaps.len() as f64;
        assert!((mean - 10.0).abs() < 5.0 * 5.48 / (gaps.len() as f64).sqrt(), "{mean}");
    }

    #[test]
    fn with_ecn_capable_packets_are_marked_below_the_upper_threshold_only() {
        let mut r = Red { ecn: true, ..red(1.0) };
        let below: Vec<Verdict> = (0..200).map(|_| r.verdict(busy(10))).collect();
        assert!(below.contains(&Verdict::Mark) && !below.contains(&Verdict::Drop));
        assert_eq!(r.verdict(busy(15)), Verdict::Drop);
        let other: Vec<Verdict> =
            (0..200).map(|_| r.verdict(Found { ecn_capable: false, ..busy(10) })).collect();
        assert!(other.contains(&Verdict::Drop) && !other.contains(&Verdict::Mark));
    }
}
