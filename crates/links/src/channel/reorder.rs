//! Some packets are held back, so that later ones overtake them.

use super::{Answer, Asked, Channel, Passing, Seeds, Standing};
use crate::check::{Checked, duration, probability};
use crate::line::Ordering;
use crate::random::Stream;
use instant::Span;
use params::keys::{Kind, POSITIVE_TIME, key};

params::params! {
    /// With `probability` a packet is held back by `by`, so that later ones overtake it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "reorder", "Some packets are held back, so that later ones overtake them." {
        probability: f64 = key("probability", Kind::Probability, "Which share is held back.");
        by: Span = key("by", POSITIVE_TIME, "For how long.");
    }
}

impl Channel for Params {
    type Law = Reorder;
    fn law(&self, name: &str, seeds: Seeds) -> Option<Reorder> {
        Some(Reorder::new(self.probability, self.by, seeds.packets(name)))
    }
    fn check(&self, on: &Standing) -> Checked {
        probability(&on.key("probability"), self.probability)?;
        duration(&on.key("by"), self.by)
    }
    fn reorders(&self) -> bool {
        true
    }
}

impl Asked for Reorder {
    fn ask(&mut self, _: Passing) -> Answer {
        self.answer()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strikes_with_its_probability() {
        let n = 100_000;
        let mut reorder = Reorder::new(0.03, Span(7), Stream::new(1, "air", "reorder"));
        let held = (0..n).filter(|_| reorder.answer() == Answer::Late(Span(7), Ordering::StepsAside)).count();
        assert!((held as f64 - 3000.0).abs() < 5.0 * (3000.0f64 * 0.97).sqrt(), "{held}");
    }
}
