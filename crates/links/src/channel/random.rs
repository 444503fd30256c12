//! Each packet is lost with the same probability, independently.

use super::{Answer, Asked, Channel, Passing, Seeds, Standing};
use crate::check::{Checked, probability};
use crate::random::Stream;
use params::keys::{Kind, key};

params::params! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "random", "Each packet is lost with the same probability." {
        loss: f64 = key("loss", Kind::Probability, "Probability of a loss.");
    }
}

impl Channel for Params {
    type Law = Random;
    fn law(&self, name: &str, seeds: Seeds) -> Option<Random> {
        Some(Random::new(self.loss, seeds.packets(name)))
    }
    fn check(&self, on: &Standing) -> Checked {
        probability(&on.key("loss"), self.loss)
    }
}

impl Asked for Random {
    fn ask(&mut self, _: Passing) -> Answer {
        self.answer()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Random {
    loss: f64,
    stream: Stream,
}

impl Random {
    pub fn new(loss: f64, stream: Stream) -> Random {
        Random { loss, stream }
    }

    #[inline]
    pub fn answer(&mut self) -> Answer {
        if self.stream.chance(self.loss) { Answer::Drop } else { Answer::Deliver }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loses_its_share_within_five_standard_errors() {
        let mut channel = Random::new(0.02, Stream::new(1, "air", "loss/forward"));
        let n = 500_000;
        let lost = (0..n).filter(|_| channel.answer() == Answer::Drop).count() as f64;
        let expected = n as f64 * 0.02;
        assert!((lost - expected).abs() < 5.0 * (expected * 0.98).sqrt(), "{lost} of {expected}");
    }

    /// A larger loss loses what a smaller one loses, and more: pairs of runs under one seed stay comparable.
    #[test]
    fn two_rates_under_one_seed_share_their_losses() {
        let lost = |loss| -> Vec<bool> {
            let mut channel = Random::new(loss, Stream::new(9, "air", "loss/back"));
            (0..5000).map(|_| channel.answer() == Answer::Drop).collect()
        };
        let (few, many) = (lost(0.05), lost(0.2));
        assert!(few.iter().zip(&many).all(|(few, many)| *many || !*few));
    }
}
