//! The two-state channel (Gilbert 1960, Elliott 1963). It begins in the good state.

use super::{Answer, Asked, Channel, Passing, Seeds, Standing};
use crate::check::{Checked, positive, probability, require};
use crate::random::Stream;
use instant::{Span, Time};
use params::keys::{Forms, Kind, Variant, key};
use params::problem::Problems;
use params::units::{Amount, Unit};
use params::{Lines, Values};

/// The two-state channel (Gilbert 1960, Elliott 1963): a loss probability in each state.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    pub dwell: Dwell,
    pub loss_good: f64,
    pub loss_bad: f64,
}

/// How long each state lasts. A chain over packets stands still while nothing is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Dwell {
    /// A step before each packet. Mean burst 1 / `bad_to_good`; stationary share of bad
    /// `good_to_bad / (good_to_bad + bad_to_good)`.
    Packets { good_to_bad: f64, bad_to_good: f64 },
    /// Exponential lengths counted in packets, as ns-2's two-state error model has them: a bad period takes every
    /// packet that it touches. Share of bad packets 1 - g / (g + b) * exp(-1/g).
    PacketLengths { good_mean: f64, bad_mean: f64 },
    /// Exponential lengths in time.
    Time { good_mean: Span, bad_mean: Span },
}

const STAY: Kind = Kind::Amount(&[Unit::Packets, Unit::Time]);

impl params::Params for Params {
    const VARIANT: Variant = Variant {
        name: "gilbert-elliott",
        doc: "Two states, good and bad, with a loss probability in each (Gilbert 1960, Elliott 1963). Say how long they \
              last by transition probabilities, by mean loss and mean burst, or by their mean lengths.",
        keys: &[
            key("good_to_bad", Kind::Probability, "Probability of going bad, asked before each packet.")
                .absent("another form"),
            key("bad_to_good", Kind::Probability, "Probability of recovering, asked before each packet; above 0.")
                .absent("another form"),
            key("mean_loss", Kind::Probability, "Share of packets lost (of time, where `mean_burst` is a time).")
                .absent("another form"),
            key("mean_burst", STAY, "Mean length of a bad period: packets (at least 1) or a time.")
                .absent("another form"),
            key(
                "good",
                STAY,
                "Mean length of a good period, exponentially distributed: a time, or packets as ns-2's two-state model \
                 counts them, where a bad period takes every packet that it touches.",
            )
            .absent("another form"),
            key("bad", STAY, "Mean length of a bad period, in the unit of `good`.").absent("another form"),
            key("loss_good", Kind::Probability, "Loss probability in the good state.").default("0"),
            key("loss_bad", Kind::Probability, "Loss probability in the bad state.").default("1"),
        ],
        forms: Some(Forms {
            sets: &[&["good_to_bad", "bad_to_good"], &["mean_loss", "mean_burst"], &["good", "bad"]],
            beside: &[],
            required: true,
        }),
    };
    fn read(v: &Values, p: &mut Problems) -> Option<Params> {
        let (loss_good, loss_bad) = (v.number("loss_good")?, v.number("loss_bad")?);
        if loss_good > loss_bad {
            let item = v.said_last(&["loss_good", "loss_bad"])?;
            item.refuse(p, "crosses the bounds: the good state loses more than the bad one");
            return None;
        }
        let dwell = if v.item("good_to_bad").is_some() {
            by_probabilities(v, p)?
        } else if v.item("mean_loss").is_some() {
            by_mean_loss(v, loss_good, loss_bad, p)?
        } else {
            by_lengths(v, p)?
        };
        Some(Params { dwell, loss_good, loss_bad })
    }
    fn write(&self, out: &mut Lines) {
        match self.dwell {
            Dwell::Packets { good_to_bad, bad_to_good } => {
                out.number("good_to_bad", good_to_bad);
                out.number("bad_to_good", bad_to_good);
            }
            Dwell::PacketLengths { good_mean, bad_mean } => {
                out.text("good", format!("{good_mean:?} packets"));
                out.text("bad", format!("{bad_mean:?} packets"));
            }
            Dwell::Time { good_mean, bad_mean } => {
                out.span("good", good_mean);
                out.span("bad", bad_mean);
            }
        }
        out.number("loss_good", self.loss_good);
        out.number("loss_bad", self.loss_bad);
    }
}

fn by_probabilities(v: &Values, p: &mut Problems) -> Option<Dwell> {
    let (good_to_bad, bad_to_good) = (v.number("good_to_bad")?, v.number("bad_to_good")?);
    if bad_to_good == 0.0 {
        v.item("bad_to_good")?.refuse(p, "never ends a bad period: it must be above 0");
    }
    Some(Dwell::Packets { good_to_bad, bad_to_good })
}

/// The share of bad, b, follows from the mean loss: `loss_bad * b + loss_good * (1 - b)`.
fn by_mean_loss(v: &Values, loss_good: f64, loss_bad: f64, p: &mut Problems) -> Option<Dwell> {
    let mean = v.number("mean_loss")?;
    let item = v.item("mean_loss")?;
    if mean <= loss_good || mean >= loss_bad {
        item.refuse(
            p,
            format!(
                "cannot be reached: it must lie between loss_good = {loss_good} and loss_bad = {loss_bad}"
            ),
        );
        return None;
    }
    let bad = (mean - loss_good) / (loss_bad - loss_good);
    match v.amount("mean_burst")? {
        Amount::Time(burst) => {
            Some(Dwell::Time { good_mean: burst.scale((1.0 - bad) / bad), bad_mean: burst })
        }
        Amount::Packets(burst) if burst < 1.0 => {
            v.item("mean_burst")?.refuse(p, "is too short: a burst has at least 1 packet");
            None
        }
        Amount::Packets(burst) => {
            let bad_to_good = 1.0 / burst;
            let good_to_bad = bad_to_good * bad / (1.0 - bad);
            if good_to_bad > 1.0 {
                item.refuse(
                    p,
                    format!("cannot be reached with bursts of {burst} packets: they must be longer"),
                );
                return None;
            }
            Some(Dwell::Packets { good_to_bad, bad_to_good })
        }
        _ => None,
    }
}

fn by_lengths(v: &Values, p: &mut Problems) -> Option<Dwell> {
    match (v.amount("good")?, v.amount("bad")?) {
        (Amount::Packets(good_mean), Amount::Packets(bad_mean)) => {
            Some(Dwell::PacketLengths { good_mean, bad_mean })
        }
        (Amount::Time(good_mean), Amount::Time(bad_mean)) => Some(Dwell::Time { good_mean, bad_mean }),
        _ => {
            v.item("bad")?.refuse(p, format!("is not in the unit of good = {}", v.item("good")?.shown));
            None
        }
    }
}

impl Channel for Params {
    type Law = Box<GilbertElliott>;
    fn law(&self, name: &str, seeds: Seeds) -> Option<Box<GilbertElliott>> {
        let states = match self.dwell {
            Dwell::Time { .. } => seeds.schedule(name),
            Dwell::Packets { .. } | Dwell::PacketLengths { .. } => seeds.packets(&format!("{name}/states")),
        };
        Some(Box::new(GilbertElliott::new(self, states, seeds.packets(name))))
    }
    fn check(&self, on: &Standing) -> Checked {
        probability(&on.key("loss_good"), self.loss_good)?;
        probability(&on.key("loss_bad"), self.loss_bad)?;
        match self.dwell {
            Dwell::Packets { good_to_bad, bad_to_good } => {
                probability(&on.key("good_to_bad"), good_to_bad)?;
                probability(&on.key("bad_to_good"), bad_to_good)
            }
            Dwell::PacketLengths { good_mean, bad_mean } => {
                // The least is for the sake of time: a packet passes that many changes of state.
                let fits = |mean: f64| (1e-6..1e15).contains(&mean);
                require(fits(good_mean), &on.key("good"), good_mean, "from 1e-6 to 1e15 packets")?;
                require(fits(bad_mean), &on.key("bad"), bad_mean, "from 1e-6 to 1e15 packets")
            }
            Dwell::Time { good_mean, bad_mean } => {
                positive(&on.key("good"), good_mean)?;
                positive(&on.key("bad"), bad_mean)
            }
        }
    }
}

impl Asked for Box<GilbertElliott> {
    fn ask(&mut self, packet: Passing) -> Answer {
        self.answer(packet.time)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct GilbertElliott {
    chain: Chain,
    bad: bool,
    /// For the changes of state.
    states: Stream,
    loss_good: f64,
    loss_bad: f64,
    losses: Stream,
}

#[derive(Clone, Debug)]
enum Chain {
    Packets {
        good_to_bad: f64,
        bad_to_good: f64,
    },
    /// Packets lie end to end on an axis of their own, which the states divide. `left`: how much of this state lies
    /// ahead, in packets. What a bad period touches is bad, however short the period (ns-2's two-state model).
    Lengths {
        good_mean: f64,
        bad_mean: f64,
        left: f64,
    },
    Time {
        good_mean: Span,
        bad_mean: Span,
        until: Time,
    },
}

impl GilbertElliott {
    /// `states` is shared by both directions for a chain in time, and each direction's own for one over packets.
    pub fn new(spec: &Params, mut states: Stream, losses: Stream) -> GilbertElliott {
        let chain = match spec.dwell {
            Dwell::Packets { good_to_bad, bad_to_good } => Chain::Packets { good_to_bad, bad_to_good },
            Dwell::PacketLengths { good_mean, bad_mean } => {
                Chain::Lengths { good_mean, bad_mean, left: states.exponential(good_mean) }
            }
            Dwell::Time { good_mean, bad_mean } => {
                Chain::Time { good_mean, bad_mean, until: Time::ZERO + states.exponential_span(good_mean) }
            }
        };
        let (loss_good, loss_bad) = (spec.loss_good, spec.loss_bad);
        GilbertElliott { chain, bad: false, states, loss_good, loss_bad, losses }
    }

    /// One draw for the loss of each packet, in whichever state.
    #[inline]
    pub fn answer(&mut self, now: Time) -> Answer {
        let bad = self.state(now);
        let loss = if bad { self.loss_bad } else { self.loss_good };
        if self.losses.chance(loss) { Answer::Drop } else { Answer::Deliver }
    }

    /// The state that this packet meets.
    #[inline]
    fn state(&mut self, now: Time) -> bool {
        match &mut self.chain {
            Chain::Packets { good_to_bad, bad_to_good } => {
                let change = if self.bad { *bad_to_good } else { *good_to_bad };
                self.bad ^= self.states.chance(change);
                self.bad
            }
            Chain::Lengths { good_mean, bad_mean, left } => {
                let mut touched = self.bad;
                *left -= 1.0;
                while *left <= 0.0 {
                    self.bad = !self.bad;
                    *left += self.states.exponential(if self.bad { *bad_mean } else { *good_mean });
                    touched |= self.bad;
                }
                touched
            }
            Chain::Time { good_mean, bad_mean, until } => {
                while *until <= now {
                    self.bad = !self.bad;
                    *until += self.states.exponential_span(if self.bad { *bad_mean } else { *good_mean });
                }
                self.bad
            }
        }
    }
}

#[cfg(test)]
mod tests;
