//! What a link can be made of, and one sentence for what it cannot.

use crate::spec::*;
use instant::{Span, Time};
use std::fmt;

/// A value that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// Which one, as in a scenario: `queue.packets`, `channel.fade.loss`.
    pub key: String,
    pub found: String,
    pub allowed: &'static str,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.found, self.allowed)
    }
}

impl std::error::Error for SpecError {}

pub(crate) type Checked = Result<(), SpecError>;

/// Longer than any run; sums of a few such spans cannot overflow.
pub(crate) const LONGEST: Span = Span(Span::MAX.0 / 1024);

impl LinkSpec {
    /// Whether a link can be built from it.
    pub fn check(&self) -> Checked {
        require(self.rate_bps != Some(0), "rate", "0", "at least 1 bit/s, or no rate for no limit")?;
        duration("delay", self.delay)?;
        require(self.framing_bytes <= 65_535, "framing", self.framing_bytes, "at most 65535 bytes")?;
        self.queue.check()?;
        self.channels.iter().try_for_each(|channel| self.check_channel(channel))?;
        self.arq.as_ref().map_or(Ok(()), check_arq)
    }

    fn check_channel(&self, channel: &ChannelSpec) -> Checked {
        let key = |name: &str| format!("channel.{}.{name}", channel.name);
        let same = self.channels.iter().filter(|c| c.name == channel.name).count();
        require(same == 1, &key("name"), &channel.name, "one channel of this name on a link")?;
        match &channel.kind {
            ChannelKind::Outage(outage) => check_outage(outage, &key),
            ChannelKind::GilbertElliott(ge) => check_gilbert_elliott(ge, &key),
            ChannelKind::BitError { rate, .. } => probability(&key("rate"), *rate),
            ChannelKind::Random { loss } => probability(&key("loss"), *loss),
            ChannelKind::List { .. } => Ok(()),
            ChannelKind::DelayStep { steps, .. } => self.check_steps(steps, channel.at, &key),
            ChannelKind::RateTrace { opportunities_ms } => self.check_trace(opportunities_ms, channel, &key),
            ChannelKind::Reorder { probability: p, by } => {
                probability(&key("probability"), *p)?;
                duration(&key("by"), *by)
            }
            ChannelKind::Duplicate { probability: p, copies } => {
                probability(&key("probability"), *p)?;
                require(*copies <= 1000, &key("copies"), copies, "at most 1000")
            }
            ChannelKind::Jitter { spread, .. } => check_spread(*spread, &key),
        }
    }

    fn check_steps(&self, steps: &[(Time, Span)], at: Place, key: &dyn Fn(&str) -> String) -> Checked {
        let ascending = steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        require(ascending, &key("steps"), "not ascending", "times that ascend")?;
        for (time, by) in steps {
            require(
                *time >= Time::ZERO && *time < Time::ZERO + LONGEST,
                &key("steps"),
                time,
                "not before the start",
            )?;
            // Before the queue and at the far end nothing can be taken from the propagation any more.
            let least = if at == Place::Wire { -self.delay } else { Span::ZERO };
            require(
                *by >= least && *by < LONGEST,
                &key("steps"),
                by,
                "not below minus the link's delay (below zero only at the wire)",
            )?;
        }
        Ok(())
    }

    fn check_trace(&self, at_ms: &[u64], channel: &ChannelSpec, key: &dyn Fn(&str) -> String) -> Checked {
        let traces = self.channels.iter().filter(|c| matches!(c.kind, ChannelKind::RateTrace { .. })).count();
        require(traces == 1, &key("kind"), "rate-trace", "one rate trace on a link")?;
        require(channel.only == Only::All, &key("only"), "some packets", "a rate trace is for all packets")?;
        let last = at_ms.last().copied().unwrap_or(0);
        require(last > 0, &key("opportunities"), "no time above zero", "a list that ends after 0 ms")?;
        require(last < 1 << 40, &key("opportunities"), last, "below 2^40 ms")?;
        require(at_ms.is_sorted(), &key("opportunities"), "not ascending", "times that ascend")
    }
}

fn check_arq(arq: &ArqSpec) -> Checked {
    require((1..=1000).contains(&arq.tries), "arq.tries", arq.tries, "from 1 to 1000")?;
    duration("arq.overhead", arq.overhead)?;
    duration("arq.backoff", arq.backoff)
}

fn check_outage(outage: &Outage, key: &dyn Fn(&str) -> String) -> Checked {
    match &outage.schedule {
        Schedule::Periodic { every, length, phase } => {
            positive(&key("schedule.every"), *every)?;
            positive(&key("schedule.for"), *length)?;
            require(
                length < every,
                &key("schedule.for"),
                length,
                "shorter than `every`, or the outage never ends",
            )?;
            duration(&key("schedule.phase"), *phase)
        }
        Schedule::Exponential { up_mean, down_mean } => {
            positive(&key("schedule.up"), *up_mean)?;
            positive(&key("schedule.down"), *down_mean)
        }
        Schedule::Intervals(list) => {
            for (begin, length) in list {
                let in_time = *begin >= Time::ZERO && *begin < Time::ZERO + LONGEST;
                require(in_time, &key("schedule.intervals"), begin, "not before the start")?;
                positive(&key("schedule.intervals"), *length)?;
            }
            let apart = list.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
            require(apart, &key("schedule.intervals"), "overlapping or out of order", "intervals that ascend")
        }
    }
}

fn check_gilbert_elliott(ge: &GilbertElliott, key: &dyn Fn(&str) -> String) -> Checked {
    probability(&key("loss_good"), ge.loss_good)?;
    probability(&key("loss_bad"), ge.loss_bad)?;
    match ge.dwell {
        Dwell::Packets { good_to_bad, bad_to_good } => {
            probability(&key("good_to_bad"), good_to_bad)?;
            probability(&key("bad_to_good"), bad_to_good)
        }
        Dwell::PacketLengths { good_mean, bad_mean } => {
            // The least is for the sake of time: a packet passes that many changes of state.
            let fits = |mean: f64| (1e-6..1e15).contains(&mean);
            require(fits(good_mean), &key("good"), good_mean, "from 1e-6 to 1e15 packets")?;
            require(fits(bad_mean), &key("bad"), bad_mean, "from 1e-6 to 1e15 packets")
        }
        Dwell::Time { good_mean, bad_mean } => {
            positive(&key("good"), good_mean)?;
            positive(&key("bad"), bad_mean)
        }
    }
}

fn check_spread(spread: Spread, key: &dyn Fn(&str) -> String) -> Checked {
    match spread {
        Spread::Uniform { mean } | Spread::Exponential { mean } => duration(&key("mean"), mean),
        Spread::Normal { mean, deviation } => {
            duration(&key("mean"), mean)?;
            duration(&key("deviation"), deviation)
        }
    }
}

pub(crate) fn duration(key: &str, span: Span) -> Checked {
    require(span >= Span::ZERO && span < LONGEST, key, span, "not below 0, and below 26 days")
}

/// Means of schedules: a microsecond at least, for the sake of time.
fn positive(key: &str, span: Span) -> Checked {
    let fits = span >= Span::from_micros(1) && span < LONGEST;
    require(fits, key, span, "at least 1 us, and below 26 days")
}

pub(crate) fn probability(key: &str, p: f64) -> Checked {
    require((0.0..=1.0).contains(&p), key, p, "a probability, from 0 to 1")
}

pub(crate) fn require(holds: bool, key: &str, found: impl fmt::Display, allowed: &'static str) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(SpecError { key: key.to_owned(), found: found.to_string(), allowed }),
    }
}

#[cfg(test)]
mod tests;
