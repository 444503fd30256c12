//! What a link can be made of, and one sentence for what it cannot.

use crate::channel::Standing;
use crate::spec::*;
use instant::Span;
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
        let same = self.channels.iter().filter(|c| c.name == channel.name).count();
        let key = format!("channel.{}.name", channel.name);
        require(same == 1, &key, &channel.name, "one channel of this name on a link")?;
        channel.kind.check(&Standing { link: self, channel })
    }
}

fn check_arq(arq: &ArqSpec) -> Checked {
    require((1..=1000).contains(&arq.tries), "arq.tries", arq.tries, "from 1 to 1000")?;
    duration("arq.overhead", arq.overhead)?;
    duration("arq.backoff", arq.backoff)
}

pub(crate) fn duration(key: &str, span: Span) -> Checked {
    require(span >= Span::ZERO && span < LONGEST, key, span, "not below 0, and below 26 days")
}

/// Means of schedules: a microsecond at least, for the sake of time.
pub(crate) fn positive(key: &str, span: Span) -> Checked {
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
