//! The two-state channel (Gilbert 1960, Elliott 1963). It begins in the good state.

use super::Answer;
use crate::random::Stream;
use crate::spec::{self, Dwell};
use instant::{Span, Time};

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
    pub fn new(spec: &spec::GilbertElliott, mut states: Stream, losses: Stream) -> GilbertElliott {
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
