//! Extra delay, drawn for each packet.

use super::{Answer, Asked, Channel, Passing, REORDERS, Seeds, Standing, order};
use crate::check::{Checked, duration};
use crate::line::Ordering;
use crate::random::Stream;
use instant::Span;
use params::keys::{Kind, POSITIVE_TIME, Variant, Word, key, variant, word};
use params::problem::Problems;
use params::{Lines, Values};

/// How it is distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Between zero and twice the mean.
    Uniform {
        mean: Span,
    },
    Exponential {
        mean: Span,
    },
    /// Normal, cut off below zero.
    Normal {
        mean: Span,
        deviation: Span,
    },
}

const SPREADS: &[Word] = &[
    word("uniform", "between zero and twice the mean"),
    word("exponential", "with this mean"),
    word("normal", "cut off below zero"),
];

/// Extra delay drawn for each packet; in order unless `reorders`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    pub spread: Spread,
    pub reorders: bool,
}

impl params::Params for Params {
    const VARIANT: Variant = variant(
        "jitter",
        "Extra delay, drawn for each packet.",
        &[
            key("spread", Kind::Choice(SPREADS), "How it is distributed.").default("exponential"),
            key("mean", POSITIVE_TIME, "Its mean."),
            key("deviation", POSITIVE_TIME, "Its standard deviation (`normal` only).")
                .absent("needed by `normal`"),
            REORDERS,
        ],
    );
    fn read(v: &Values, p: &mut Problems) -> Option<Params> {
        Some(Params { spread: Spread::read(v, p)?, reorders: v.flag("reorders") })
    }
    fn write(&self, out: &mut Lines) {
        self.spread.write(out);
        out.flag("reorders", self.reorders);
    }
}

impl Spread {
    fn read(v: &Values, p: &mut Problems) -> Option<Spread> {
        let mean = v.span("mean")?;
        let word = v.word("spread")?;
        if word != "normal"
            && let Some(item) = v.item("deviation")
        {
            item.refuse(p, format!("goes with spread = \"normal\" only, not {word:?}"));
        }
        match word {
            "uniform" => Some(Spread::Uniform { mean }),
            "normal" if v.item("deviation").is_none() => {
                v.missing(p, "deviation", "spread = \"normal\" needs it");
                None
            }
            "normal" => Some(Spread::Normal { mean, deviation: v.span("deviation")? }),
            _ => Some(Spread::Exponential { mean }),
        }
    }

    fn write(self, out: &mut Lines) {
        let (name, mean) = match self {
            Spread::Uniform { mean } => ("uniform", mean),
            Spread::Exponential { mean } => ("exponential", mean),
            Spread::Normal { mean, .. } => ("normal", mean),
        };
        out.text("spread", name);
        out.span("mean", mean);
        if let Spread::Normal { deviation, .. } = self {
            out.span("deviation", deviation);
        }
    }
}

impl Channel for Params {
    type Law = Jitter;
    fn law(&self, name: &str, seeds: Seeds) -> Option<Jitter> {
        Some(Jitter::new(self.spread, self.reorders, seeds.packets(name)))
    }
    fn check(&self, on: &Standing) -> Checked {
        match self.spread {
            Spread::Uniform { mean } | Spread::Exponential { mean } => duration(&on.key("mean"), mean),
            Spread::Normal { mean, deviation } => {
                duration(&on.key("mean"), mean)?;
                duration(&on.key("deviation"), deviation)
            }
        }
    }
    fn reorders(&self) -> bool {
        self.reorders
    }
}

impl Asked for Jitter {
    fn ask(&mut self, _: Passing) -> Answer {
        self.answer()
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
