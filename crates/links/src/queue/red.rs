//! Random early detection (Floyd and Jacobson 1993, figure 2), "gentle" by choice (Floyd 2000).

use super::{Admission, BYTES_INSTEAD, Coming, ECN, LIMIT, Manage, PACKETS, Queue};
use crate::check::{Checked, probability, require};
use crate::context::Context;
use crate::counters::Counters;
use crate::facts::Ecn;
use crate::random::Stream;
use crate::spec::Limit;
use crate::watch::Watch;
use instant::Span;
use params::keys::{BIG, Kind, flag, key, number_above};
use params::{Values, problem::Problems};

params::params! {
    /// Floyd and Jacobson 1993, "gentle" by choice; thresholds in packets.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "red", "Random early detection (Floyd and Jacobson 1993).", forms LIMIT, check thresholds {
        limit: Limit = PACKETS, BYTES_INSTEAD;
        min_threshold: f64 =
            key("min_threshold", number_above(0.0, BIG), "Mean queue at which dropping begins, packets.").default("5");
        max_threshold: f64 = key(
            "max_threshold",
            number_above(0.0, BIG),
            "Mean queue at which `max_probability` is reached, packets.",
        )
        .default("15");
        max_probability: f64 =
            key("max_probability", Kind::Probability, "Probability of a drop at `max_threshold`.").default("0.1");
        weight: f64 =
            key("weight", number_above(0.0, 1.0), "Weight of the newest sample in the mean queue.").default("0.002");
        gentle: bool = flag(
            "gentle",
            "Above `max_threshold` the probability rises to 1 at its double, instead of at once.",
        )
        .default("true");
        ecn: bool = ECN;
    }
}

fn thresholds(v: &Values, p: &mut Problems) {
    let (Some(min), Some(max)) = (v.number("min_threshold"), v.number("max_threshold")) else { return };
    if min >= max
        && let Some(item) = v.said_last(&["min_threshold", "max_threshold"])
    {
        item.refuse(p, "crosses the bounds: min_threshold must lie below max_threshold");
    }
}

impl Queue for Params {
    type Manager = Red;
    fn limit(&self) -> Limit {
        self.limit
    }
    fn marks(&self) -> bool {
        self.ecn
    }
    fn check(&self) -> Checked {
        let Params { min_threshold, max_threshold, weight, .. } = *self;
        require(min_threshold >= 0.0, "queue.min_threshold", min_threshold, "not below 0")?;
        let above = max_threshold > min_threshold && max_threshold.is_finite();
        require(above, "queue.max_threshold", max_threshold, "above min_threshold")?;
        probability("queue.max_probability", self.max_probability)?;
        require(weight > 0.0 && weight <= 1.0, "queue.weight", weight, "above 0, at most 1")
    }
    fn manager(&self, stream: impl Fn() -> Stream) -> Red {
        Red::new(*self, stream())
    }
}

/// What to do with a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Admit,
    Mark,
    Drop,
}

#[derive(Clone, Debug)]
pub(crate) struct Red {
    params: Params,
    /// Exponentially weighted mean of the queue's length, packets.
    mean: f64,
    /// Packets since the last mark; -1 below the lower threshold.
    count: i64,
    stream: Stream,
}

/// What the queue is like when a packet comes.
#[derive(Clone, Copy, Debug)]
struct Found {
    waiting_packets: u32,
    /// How long the link has been idle, and how long the packet will take to be sent, if it is idle.
    idle: Option<(Span, Span)>,
    ecn_capable: bool,
}

impl Manage for Red {
    fn admit<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        _counters: &mut Counters,
        packet: Coming,
    ) -> Admission {
        let Coming { id, idle, waiting_packets, .. } = packet;
        let ecn_capable = cx.pool.facts(id).ecn.is_capable();
        match self.verdict(Found { waiting_packets, idle, ecn_capable }) {
            Verdict::Admit => Admission::Chain,
            Verdict::Drop => Admission::Refused,
            Verdict::Mark => {
                cx.pool.facts_mut(id).ecn = Ecn::Marked;
                cx.watch.marked(cx.link, cx.key.time, cx.pool.facts(id), cx.pool.content(id));
                Admission::Chain
            }
        }
    }
}

impl Red {
    fn new(params: Params, stream: Stream) -> Red {
        Red { params, mean: 0.0, count: -1, stream }
    }

    /// One draw a packet, whatever comes of it.
    fn verdict(&mut self, found: Found) -> Verdict {
        self.sample(found);
        let draw = self.stream.uniform();
        if self.mean < self.params.min_threshold {
            self.count = -1;
            return Verdict::Admit;
        }
        self.count += 1;
        if draw >= self.probability() {
            return Verdict::Admit;
        }
        self.count = 0;
        // Above the upper threshold marks no longer help (RFC 3168 section 7).
        let may_mark = self.params.ecn && found.ecn_capable && self.mean < self.params.max_threshold;
        if may_mark { Verdict::Mark } else { Verdict::Drop }
    }

    /// The mean ages over an idle period as if so many packets had come and found it empty.
    fn sample(&mut self, found: Found) {
        match found.idle {
            None => self.mean += self.params.weight * (found.waiting_packets as f64 - self.mean),
            Some((idle, packet)) if packet > Span::ZERO => {
                self.mean *= libm::pow(1.0 - self.params.weight, idle.0 as f64 / packet.0 as f64)
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
        let Params { min_threshold: min, max_threshold: max, max_probability: most, .. } = self.params;
        if self.mean < max {
            most * (self.mean - min) / (max - min)
        } else if self.params.gentle {
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
        let (limit, gentle, ecn) = (Limit::default(), false, false);
        let params = Params {
            limit,
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_probability: 0.1,
            weight,
            gentle,
            ecn,
        };
        Red::new(params, Stream::new(1, "link", "red"))
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
            let mut r = Red { mean, ..red(1.0) };
            r.params.gentle = gentle;
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
        let mut r = red(1.0);
        r.params.ecn = true;
        let below: Vec<Verdict> = (0..200).map(|_| r.verdict(busy(10))).collect();
        assert!(below.contains(&Verdict::Mark) && !below.contains(&Verdict::Drop));
        assert_eq!(r.verdict(busy(15)), Verdict::Drop);
        let other: Vec<Verdict> =
            (0..200).map(|_| r.verdict(Found { ecn_capable: false, ..busy(10) })).collect();
        assert!(other.contains(&Verdict::Drop) && !other.contains(&Verdict::Mark));
    }
}
