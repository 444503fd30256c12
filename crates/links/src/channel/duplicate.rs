//! Some packets arrive more than once.

use super::{Answer, Asked, Channel, Passing, Seeds, Standing};
use crate::check::{Checked, probability, require};
use crate::random::Stream;
use params::keys::{Kind, key, whole};

params::params! {
    /// With `probability` a packet arrives `1 + copies` times.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "duplicate", "Some packets arrive more than once." {
        probability: f64 = key("probability", Kind::Probability, "Which share is duplicated.");
        copies: u32 = key("copies", whole(1, 1000), "Copies besides the packet itself.").default("1");
    }
}

impl Channel for Params {
    type Law = Duplicate;
    fn law(&self, name: &str, seeds: Seeds) -> Option<Duplicate> {
        Some(Duplicate::new(self.probability, self.copies, seeds.packets(name)))
    }
    fn check(&self, on: &Standing) -> Checked {
        probability(&on.key("probability"), self.probability)?;
        require(self.copies <= 1000, &on.key("copies"), self.copies, "at most 1000")
    }
}

impl Asked for Duplicate {
    fn ask(&mut self, _: Passing) -> Answer {
        self.answer()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strikes_with_its_probability() {
        let n = 100_000;
        let mut twice = Duplicate::new(0.03, 2, Stream::new(1, "air", "twice"));
        let doubled = (0..n).filter(|_| twice.answer() == Answer::Copies(2)).count();
        assert!((doubled as f64 - 3000.0).abs() < 5.0 * (3000.0f64 * 0.97).sqrt(), "{doubled}");
    }
}
