//! When a link is down, as one calendar that is turned forward.
//!
//! Each direction has a calendar of its own, made from the same random stream: both come to the same times, in
//! whatever order they are asked.

use crate::random::Stream;
use crate::spec::{self, Anchor, Schedule};
use instant::{Span, Time};

/// The outages one after the other: `begin..end` is the one that is or comes next.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    begin: Time,
    end: Time,
    /// Counts from 0.
    number: u64,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// Waits for the first packet.
    Unanchored(Box<Source>),
    Periodic {
        every: Span,
        length: Span,
        first: Time,
    },
    Exponential {
        up_mean: Span,
        down_mean: Span,
        stream: Stream,
    },
    Intervals {
        list: Vec<(Time, Span)>,
        place: usize,
        zero: Time,
    },
}

impl Calendar {
    pub fn new(outage: &spec::Outage, stream: Stream) -> Calendar {
        let source = match &outage.schedule {
            Schedule::Periodic { every, length, phase } => {
                Source::Periodic { every: *every, length: *length, first: Time::ZERO + *phase }
            }
            Schedule::Exponential { up_mean, down_mean } => {
                Source::Exponential { up_mean: *up_mean, down_mean: *down_mean, stream }
            }
            Schedule::Intervals(list) => Source::Intervals { list: list.clone(), place: 0, zero: Time::ZERO },
        };
        let mut calendar = Calendar { begin: Time::FAR_FUTURE, end: Time::FAR_FUTURE, number: 0, source };
        match outage.anchor {
            Anchor::Start => calendar.start(Time::ZERO),
            Anchor::FirstSyn => calendar.source = Source::Unanchored(Box::new(calendar.source)),
        }
        calendar
    }

    /// Its time zero, if it waits for one.
    pub fn anchor(&mut self, at: Time) {
        if let Source::Unanchored(source) = &mut self.source {
            self.source = (**source).clone();
            self.start(at);
        }
    }

    /// The end of the outage that covers `at`. Times must not run backwards.
    #[inline]
    pub fn outage_at(&mut self, at: Time) -> Option<Time> {
        if at < self.begin {
            return None;
        }
        self.turn_to(at);
        (at >= self.begin).then_some(self.end)
    }

    /// Which outage is or comes next.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// When the first outage begins that begins after `at`.
    pub fn next_begin(&mut self, at: Time) -> Option<Time> {
        while self.begin <= at {
            self.turn_to(self.end.max(at + Span(1)));
        }
        (self.begin < Time::FAR_FUTURE).then_some(self.begin)
    }

    fn start(&mut self, zero: Time) {
        match &mut self.source {
            Source::Periodic { first, length, .. } => {
                *first = zero + (*first - Time::ZERO);
                (self.begin, self.end) = (*first, *first + *length);
            }
            Source::Exponential { .. } => {
                (self.begin, self.end) = (zero, zero);
                self.turn();
            }
            Source::Intervals { zero: z, .. } => {
                *z = zero;
                self.turn();
            }
            Source::Unanchored(_) => {}
        }
    }

    /// Until the outage that is or comes next does not end before `at`.
    fn turn_to(&mut self, at: Time) {
        if let Source::Periodic { every, length, first } = self.source {
            // A step for each period would never end where nothing was sent for long.
            if at >= self.end && every > Span::ZERO {
                let past = (at - first).0.div_euclid(every.0);
                self.begin = first + every * past;
                self.end = self.begin + length;
                self.number = past as u64;
            }
        }
        while self.end <= at && self.end < Time::FAR_FUTURE {
            self.turn();
            self.number += 1;
        }
    }

    fn turn(&mut self) {
        match &mut self.source {
            Source::Periodic { every, length, .. } => {
                self.begin += *every;
                self.end = self.begin + *length;
            }
            Source::Exponential { up_mean, down_mean, stream } => {
                self.begin = self.end + stream.exponential_span(*up_mean);
                self.end = self.begin + stream.exponential_span(*down_mean);
            }
            Source::Intervals { list, place, zero } => match list.get(*place) {
                Some((begin, length)) => {
                    *place += 1;
                    self.begin = *zero + (*begin - Time::ZERO);
                    self.end = self.begin + *length;
                }
                None => (self.begin, self.end) = (Time::FAR_FUTURE, Time::FAR_FUTURE),
            },
            Source::Unanchored(_) => {}
        }
    }
}

/// The outages of a channel, for those who want to know afterwards which one it was.
#[derive(Clone, Debug)]
pub struct Outages {
    first: Calendar,
    now: Calendar,
    asked: Time,
}

impl Outages {
    /// Those of a channel of the link `name` in a run of this seed; `anchor`: when the link's first packet came, where the
    /// schedule waits for it. `None` if it is no outage, or its first packet never came.
    pub fn new(spec: &spec::ChannelSpec, name: &str, seed: u64, anchor: Option<Time>) -> Option<Outages> {
        let spec::ChannelKind::Outage(outage) = &spec.kind else { return None };
        // Both directions have the same schedule.
        let seeds = super::Seeds { seed, link: name, forward: true };
        let mut first = Calendar::new(outage, seeds.schedule(&spec.name));
        if outage.anchor == Anchor::FirstSyn {
            first.anchor(anchor?);
        }
        Some(Outages { now: first.clone(), first, asked: Time::FAR_PAST })
    }
    /// The number of the outage that covers `at`, counted from 0.
    pub fn at(&mut self, at: Time) -> Option<u64> {
        if at < self.asked {
            self.now = self.first.clone();
        }
        self.asked = at;
        self.now.outage_at(at)?;
        Some(self.now.number())
    }
}

#[cfg(test)]
mod tests;
