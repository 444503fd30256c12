//! Channels that change when a packet comes, or how often: steps of delay, jitter, reordering, duplicates.

use super::Answer;
use crate::line::Ordering;
use crate::random::Stream;
use crate::spec::Spread;
use instant::{Span, Time};

/// Extra delay from given times on.
#[derive(Clone, Debug)]
pub(crate) struct DelayStep {
    steps: Vec<(Time, Span)>,
    /// Those that have passed; the last of them counts.
    passed: usize,
    order: Ordering,
}

impl DelayStep {
    pub fn new(steps: &[(Time, Span)], reorders: bool) -> DelayStep {
        DelayStep { steps: steps.to_vec(), passed: 0, order: order(reorders) }
    }
    #[inline]
    pub fn answer(&mut self, now: Time) -> Answer {
        while self.steps.get(self.passed).is_some_and(|(at, _)| *at <= now) {
            self.passed += 1;
        }
        let by = self.passed.checked_sub(1).map_or(Span::ZERO, |last| self.steps[last].1);
        Answer::Late(by, self.order)
    }
}

/// Extra delay drawn for each packet.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    spread: Spread,
    order: Ordering,
    stream: Stream,
}

impl Jitter {
    pub fn new(spread: Spread, reorders: bool, stream: Stream) -> Jitter {
        Jitter { spread, order: order(reorders), stream }
    }
    #[inline]
    pub fn answer(&mut self) -> Answer {
        let by = match self.spread {
            Spread::Uniform { mean } => self.stream.uniform_span(mean * 2),
            Spread::Exponential { mean } => self.stream.exponential_span(mean),
            Spread::Normal { mean, deviation } => {
                Span(self.stream.normal(mean.0 as f64, deviation.0 as f64).max(0.0) as i64)
            }
        };
        Answer::Late(by, self.order)
    }
}

/// Now and then a packet is held back, and those behind it pass.
#[derive(Clone, Debug)]
pub(crate) struct Reorder {
    probability: f64,
    by: Span,
    stream: Stream,
}

impl Reorder {
    pub fn new(probability: f64, by: Span, stream: Stream) -> Reorder {
        Reorder { probability, by, stream }
    }
    #[inline]
    pub fn answer(&mut self) -> Answer {
        if self.stream.chance(self.probability) {
            Answer::Late(self.by, Ordering::StepsAside)
        } else {
            Answer::Deliver
        }
    }
}

/// Now and then a packet arrives more than once.
#[derive(Clone, Debug)]
pub(crate) struct Duplicate {
    probability: f64,
    copies: u32,
    stream: Stream,
}

impl Duplicate {
    pub fn new(probability: f64, copies: u32, stream: Stream) -> Duplicate {
        Duplicate { probability, copies, stream }
    }
    #[inline]
    pub fn answer(&mut self) -> Answer {
        if self.stream.chance(self.probability) { Answer::Copies(self.copies) } else { Answer::Deliver }
    }
}

fn order(reorders: bool) -> Ordering {
    if reorders { Ordering::Overtakes } else { Ordering::Kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_that_has_passed_counts() {
        let steps = [(Time(100), Span(5)), (Time(200), Span(-3)), (Time(300), Span(0))];
        let mut channel = DelayStep::new(&steps, false);
        let seen: Vec<Answer> = [0, 99, 100, 199, 250, 300, 900].map(|t| channel.answer(Time(t))).into();
        let late = |by| Answer::Late(Span(by), Ordering::Kept);
        assert_eq!(seen, [late(0), late(0), late(5), late(5), late(-3), late(0), late(0)]);
    }

    fn delays(spread: Spread) -> Vec<f64> {
        let mut channel = Jitter::new(spread, true, Stream::new(2, "air", "jitter"));
        let by = |answer| match answer {
            Answer::Late(by, Ordering::Overtakes) => by.0 as f64,
            other => panic!("{other:?}"),
        };
        (0..100_000).map(|_| by(channel.answer())).collect()
    }

    #[test]
    fn jitter_has_its_mean_and_is_never_negative() {
        let (mean, deviation) = (Span::from_millis(10), Span::from_millis(2));
        let table = [
            (Spread::Uniform { mean }, 10e6 / 3f64.sqrt()),
            (Spread::Exponential { mean }, 10e6),
            (Spread::Normal { mean, deviation }, 2e6),
        ];
        for (spread, deviation) in table {
            let delays = delays(spread);
            assert!(delays.iter().all(|d| *d >= 0.0));
            let found = delays.iter().sum::<f64>() / 1e5;
            assert!((found - 10e6).abs() < 5.0 * deviation / 1e5f64.sqrt(), "{spread:?}: {found}");
        }
        let cut = delays(Spread::Normal { mean: Span::ZERO, deviation });
        let zeros = cut.iter().filter(|d| **d == 0.0).count() as f64;
        assert!((zeros - 5e4).abs() < 5.0 * (1e5f64 / 4.0).sqrt(), "{zeros}");
    }

    #[test]
    fn reorder_and_duplicate_strike_with_their_probability() {
        let n = 100_000;
        let mut reorder = Reorder::new(0.03, Span(7), Stream::new(1, "air", "reorder"));
        let mut twice = Duplicate::new(0.03, 2, Stream::new(1, "air", "twice"));
        let held = (0..n).filter(|_| reorder.answer() == Answer::Late(Span(7), Ordering::StepsAside)).count();
        let doubled = (0..n).filter(|_| twice.answer() == Answer::Copies(2)).count();
        for count in [held, doubled] {
            assert!((count as f64 - 3000.0).abs() < 5.0 * (3000.0f64 * 0.97).sqrt(), "{count}");
        }
    }
}
