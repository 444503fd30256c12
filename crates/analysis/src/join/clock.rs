//! Two clocks, compared through the packets that both captures hold.
//!
//! A packet that left the sender's side shows `offset + delay` between its two times, one that came back
//! `offset - delay`. Neither delay is known, but their sum is the round trip at that moment, and where it is
//! shortest both are near their floors: there the middle of the two differences is the offset, wrong at most by
//! half the asymmetry of the path (the clock filter of NTP, RFC 5905 §10). A line through those moments gives
//! the drift.

use super::Side;
use wire::{Span, Time};

/// How the clock of the receiver's capture relates to that of the sender's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Receiver's clock less sender's at `at`.
    pub offset: Span,
    /// On the sender's clock.
    pub at: Time,
    /// How much faster the receiver's clock runs; 0 where packets of one direction only were matched, or the
    /// captures are too short to tell.
    pub drift_ppm: f64,
    /// The drift is known to plus or minus this, queues included.
    pub drift_error_ppm: f64,
    /// Root mean square distance of the offset's samples from the line, weighed by how sure each is.
    pub residual: Span,
    /// The largest distance that no queue explains.
    pub wander: Span,
    /// The shortest round trip between the two captures. The offset is certain to half of this and no better,
    /// since nothing tells how it divides into its two directions. `None`: one direction only; `offset` then contains
    /// the whole one-way delay.
    pub rtt_floor: Option<Span>,
    /// Matched packets that left the sender's side, and that came back.
    pub samples: [u64; 2],
}

impl Clock {
    /// Both captures are known to have the same.
    pub fn common(rtt_floor: Option<Span>, samples: [u64; 2]) -> Clock {
        Clock {
            offset: Span::ZERO,
            at: Time::ZERO,
            drift_ppm: 0.0,
            drift_error_ppm: 0.0,
            residual: Span::ZERO,
            wander: Span::ZERO,
            rtt_floor,
            samples,
        }
    }
    /// Receiver's clock less sender's at a time of the sender's.
    pub fn offset_at(&self, sender: Time) -> Span {
        self.offset + (sender - self.at).scale(self.drift_ppm * 1e-6)
    }
    pub fn to_sender(&self, receiver: Time) -> Time {
        let near = receiver - self.offset;
        receiver - self.offset_at(near)
    }
    pub fn to_receiver(&self, sender: Time) -> Time {
        sender + self.offset_at(sender)
    }
    /// The time of `side`'s clock when the other one shows `time`.
    pub(super) fn to(&self, side: Side, time: Time) -> Time {
        match side {
            Side::Sender => self.to_sender(time),
            Side::Receiver => self.to_receiver(time),
        }
    }
}

const BINS: usize = 512;
/// The first bin width: 2^20 ns, about a millisecond.
const FIRST_SHIFT: u32 = 20;

/// The envelope of the differences in one stretch of time.
#[derive(Clone, Copy, Debug)]
struct Bin {
    /// Least `offset + delay`, greatest `offset - delay`, and when, on the sender's clock.
    outward: Option<(i64, i64)>,
    inward: Option<(i64, i64)>,
}

/// Collects the differences of matched packets; memory is fixed, bins widen as time passes.
#[derive(Debug)]
pub(super) struct ClockFilter {
    bins: Vec<Bin>,
    shift: u32,
    start: Option<i64>,
    /// Outward and inward.
    samples: [u64; 2],
    undirected: Envelope,
}

/// Differences of packets whose direction is not known.
#[derive(Debug, Default)]
struct Envelope {
    samples: u64,
    least: Option<(i64, i64)>,
    greatest: Option<(i64, i64)>,
}

impl ClockFilter {
    pub fn new() -> ClockFilter {
        ClockFilter {
            bins: vec![Bin { outward: None, inward: None }; BINS],
            shift: FIRST_SHIFT,
            start: None,
            samples: [0; 2],
            undirected: Envelope::default(),
        }
    }

    /// A packet seen at `time` on the sender's clock, and `difference` later on the receiver's.
    #[inline]
    pub fn sample(&mut self, outward: Option<bool>, time: i64, difference: i64) {
        let Some(outward) = outward else {
            self.undirected.samples += 1;
            let Envelope { least, greatest, .. } = &mut self.undirected;
            if least.is_none_or(|(d, _)| difference < d) {
                *least = Some((difference, time));
            }
            if greatest.is_none_or(|(d, _)| difference > d) {
                *greatest = Some((difference, time));
            }
            return;
        };
        let start = *self.start.get_or_insert(time);
        let mut at = time.saturating_sub(start).max(0) as u64 >> self.shift;
        while at >= BINS as u64 {
            self.widen();
            at >>= 1;
        }
        let bin = &mut self.bins[at as usize];
        self.samples[usize::from(!outward)] += 1;
        let (best, sign) = if outward { (&mut bin.outward, 1) } else { (&mut bin.inward, -1) };
        if best.is_none_or(|(d, _)| difference.saturating_mul(sign) < d.saturating_mul(sign)) {
            *best = Some((difference, time));
        }
    }

    fn widen(&mut self) {
        self.shift += 1;
        for i in 0..BINS {
            let pair = match i < BINS / 2 {
                true => [self.bins[2 * i], self.bins[2 * i + 1]],
                false => [Bin { outward: None, inward: None }; 2],
            };
            let pick = |of: fn(&Bin) -> Option<(i64, i64)>, sign: i64| {
                pair.iter().filter_map(of).min_by_key(|(d, _)| d.saturating_mul(sign))
            };
            self.bins[i] = Bin { outward: pick(|b| b.outward, 1), inward: pick(|b| b.inward, -1) };
        }
    }

    /// The line through the moments of the shortest round trips: as many of them as make its slope surest.
    pub fn clock(&self) -> Option<Clock> {
        let mut moments: Vec<Moment> = self.bins.iter().filter_map(Moment::of).collect();
        let Some(floor) = moments.iter().map(|m| m.rtt).min() else { return self.one_way() };
        for m in &mut moments {
            m.doubt = m.rtt.saturating_sub(floor) as f64 / 2.0;
        }
        moments.sort_by_key(|m| m.rtt);
        // A time stamp is worth a microsecond, and the floor itself varies a little.
        let noise = 1e3 + 0.005 * floor.max(0) as f64;
        let best = std::iter::successors(Some(1), |n| Some(n + n / 4 + 1))
            .take_while(|&n| n < moments.len())
            .chain([moments.len()])
            .map(|n| Line::through(&moments[..n], noise))
            .min_by(|a, b| a.slope_error.total_cmp(&b.slope_error))?;
        let seen = best.slope.abs() > best.slope_error;
        let line = if seen { best } else { Line { slope: 0.0, ..best } };
        // What the queues of a moment cannot explain.
        let beyond =
            |m: &Moment| line.distance(m).abs() - m.doubt - line.slope_error * line.since_centre(m).abs();
        let wander = moments.iter().map(beyond).fold(0.0, f64::max);
        let weight = |m: &Moment| (noise + m.doubt).powi(-2);
        let weights: f64 = moments.iter().map(weight).sum();
        let residual = moments.iter().map(|m| weight(m) * line.distance(m).powi(2)).sum::<f64>() / weights;
        Some(Clock {
            offset: Span(line.reference.saturating_add(line.middle.round() as i64)),
            at: Time(line.centre),
            drift_ppm: line.slope * 1e6,
            drift_error_ppm: line.slope_error * 1e6,
            residual: Span(residual.sqrt().round() as i64),
            wander: Span(wander.round() as i64),
            rtt_floor: moments
                .iter()
                .map(|m| (Span(m.rtt) - Span(m.apart).scale(line.slope)).max(Span::ZERO))
                .min(),
            samples: self.samples,
        })
    }

    /// No stretch of time shows both directions.
    fn one_way(&self) -> Option<Clock> {
        let outward = self.bins.iter().filter_map(|b| b.outward).min();
        let inward = self.bins.iter().filter_map(|b| b.inward).max();
        // Packets whose direction was unknown while the others waited went the other way.
        let (outward, inward) = match (outward, inward) {
            (Some(o), None) => (Some(o), self.undirected.greatest.filter(|i| i.0 < o.0)),
            (None, Some(i)) => (self.undirected.least.filter(|o| o.0 > i.0), Some(i)),
            both => both,
        };
        let (offset, at, floor) = match (outward, inward, self.undirected.least) {
            (Some((o, t)), Some((i, u)), _) => {
                // Where the clock leaps between the two, the difference is none of a round trip.
                (o.midpoint(i), t.midpoint(u), Some(Span(o.saturating_sub(i)).max(Span::ZERO)))
            }
            (Some((d, t)), None, _) | (None, Some((d, t)), _) | (None, None, Some((d, t))) => (d, t, None),
            (None, None, None) => return None,
        };
        Some(Clock {
            offset: Span(offset),
            at: Time(at),
            drift_ppm: 0.0,
            drift_error_ppm: f64::INFINITY,
            residual: Span::ZERO,
            wander: Span::ZERO,
            rtt_floor: floor,
            samples: match self.samples {
                [out, 0] if inward.is_some() => [out, self.undirected.samples],
                [out, back] => [out + self.undirected.samples, back],
            },
        })
    }
}

/// One sample of the offset, and the round trip it came with.
struct Moment {
    time: i64,
    middle: i64,
    rtt: i64,
    /// From the inward packet to the outward one; the clocks drifted meanwhile.
    apart: i64,
    /// How far queues may have moved the middle: half of what the round trip exceeds the floor by.
    doubt: f64,
}

impl Moment {
    fn of(b: &Bin) -> Option<Moment> {
        let ((out, t), (back, u)) = (b.outward?, b.inward?);
        Some(Moment {
            time: t.midpoint(u),
            middle: out.midpoint(back),
            rtt: out.saturating_sub(back),
            apart: t.saturating_sub(u),
            doubt: 0.0,
        })
    }
}

/// `reference + middle + slope * (time - centre)`.
struct Line {
    reference: i64,
    centre: i64,
    middle: f64,
    slope: f64,
    /// Two standard errors, and what all doubts together could do to the slope if they conspired.
    slope_error: f64,
}

impl Line {
    /// Weighted least squares.
    fn through(moments: &[Moment], noise: f64) -> Line {
        let (start, reference) = moments.first().map_or((0, 0), |m| (m.time, m.middle));
        let x = |m: &Moment| m.time.saturating_sub(start) as f64;
        let y = |m: &Moment| m.middle.saturating_sub(reference) as f64;
        let weight = |m: &Moment| (noise + m.doubt).powi(-2);
        let sum = |of: &dyn Fn(&Moment) -> f64| moments.iter().map(|m| weight(m) * of(m)).sum::<f64>();
        let w = sum(&|_| 1.0);
        let (centre, middle) = (sum(&x) / w, sum(&y) / w);
        let xx = sum(&|m| (x(m) - centre).powi(2));
        let (slope, slope_error) = match xx > 0.0 {
            true => (
                sum(&|m| (x(m) - centre) * (y(m) - middle)) / xx,
                2.0 * xx.powf(-0.5) + sum(&|m| (x(m) - centre).abs() * m.doubt) / xx,
            ),
            false => (0.0, f64::INFINITY),
        };
        Line { reference, centre: start.saturating_add(centre.round() as i64), middle, slope, slope_error }
    }

    fn since_centre(&self, m: &Moment) -> f64 {
        m.time.saturating_sub(self.centre) as f64
    }
    fn distance(&self, m: &Moment) -> f64 {
        let line = self.middle + self.slope * self.since_centre(m);
        m.middle.saturating_sub(self.reference) as f64 - line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// 30 s of packets each way over 10 ms + 10 ms, a queue that fills and drains, and a clock that is 3.2 s
    /// ahead and gains 50 ppm.
    fn compared(queue: impl Fn(i64) -> i64) -> Clock {
        let mut c = ClockFilter::new();
        for i in 0..30_000 {
            let t = i * MS;
            let ahead = 3_200 * MS + t / 20_000;
            c.sample(Some(true), t, ahead + 10 * MS + queue(t));
            c.sample(Some(false), t + MS / 2, ahead - 10 * MS);
        }
        c.clock().unwrap()
    }

    #[test]
    fn offset_and_drift_come_back_through_a_queue_that_breathes() {
        let clock = compared(|t| (t / MS % 700) * MS / 7);
        assert!((clock.drift_ppm - 50.0).abs() < 0.5, "{clock:?}");
        assert!((clock.offset_at(Time(0)) - Span::from_millis(3200)).0.abs() < 100_000, "{clock:?}");
        assert!((clock.rtt_floor.unwrap() - Span::from_millis(20)).0.abs() < 1_000, "{clock:?}");
        let t = Time(17_000 * MS);
        assert!((clock.to_sender(clock.to_receiver(t)) - t).0.abs() < 10);
    }

    #[test]
    fn a_clock_that_is_set_while_capturing_wanders() {
        let mut c = ClockFilter::new();
        for i in 0..20_000 {
            let ahead = if i < 10_000 { 0 } else { 500 * MS };
            c.sample(Some(true), i * MS, ahead + 10 * MS);
            c.sample(Some(false), i * MS, ahead - 10 * MS);
        }
        assert!(c.clock().unwrap().wander > Span::from_millis(100), "{:?}", c.clock());
    }

    #[test]
    fn a_queue_that_only_grows_is_not_taken_for_drift() {
        let clock = compared(|t| t / 10);
        // nothing tells the two apart, so no drift is claimed
        assert_eq!(clock.drift_ppm, 0.0, "{clock:?}");
        assert!(clock.drift_error_ppm > 50.0, "{clock:?}");
        assert_eq!(clock.wander, Span::ZERO);
    }

    #[test]
    fn equal_clocks_show_no_drift() {
        let mut c = ClockFilter::new();
        for i in 0..2_000 {
            let noise = (i * 7919) % 40_000;
            c.sample(Some(true), i * MS, 10 * MS + noise);
            c.sample(Some(false), i * MS, -10 * MS - noise / 2);
        }
        let clock = c.clock().unwrap();
        assert_eq!(clock.drift_ppm, 0.0, "{clock:?}");
        assert!(clock.offset.0.abs() < 20_000, "{clock:?}");
    }

    #[test]
    fn one_direction_alone_says_nothing_of_the_delay() {
        let mut c = ClockFilter::new();
        c.sample(None, 5, 17);
        c.sample(None, 6, 16);
        let clock = c.clock().unwrap();
        assert_eq!((clock.offset, clock.rtt_floor), (Span(16), None));
        assert!(ClockFilter::new().clock().is_none());
    }
}
