//! Channels: what a link does to packets beyond rate, delay and queue.
//!
//! At each place (ingress, wire, egress) every channel is asked about every packet, whatever the others said, so
//! that the k-th packet always gets a channel's k-th draw. The first that drops is the cause; delays add up, the
//! latest hold counts, copies add up. Copies share the fate of their original at the place where they were made.

mod bit_error;
mod gilbert_elliott;
mod late;
mod list;
mod outage;
mod random;
mod rate_trace;
mod schedule;

pub(crate) use rate_trace::RateTrace;
pub(crate) use schedule::Calendar;
pub use schedule::Outages;

use crate::counters::Tally;
use crate::facts::Facts;
use crate::line::Ordering;
use crate::random::Stream;
use crate::spec::{ChannelKind, ChannelSpec, Dwell, Only};
use instant::{Span, Time};

/// What one channel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Deliver,
    Drop,
    /// Keep it until then.
    Hold(Time),
    Late(Span, Ordering),
    /// So many more of it.
    Copies(u32),
}

/// What all channels at a place say together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub dropped_by: Option<u16>,
    pub hold: Option<Time>,
    pub late: Span,
    pub order: Ordering,
    pub copies: u32,
}

impl Fate {
    /// When it goes on, if it came through at `time`.
    pub fn passes_at(&self, time: Time) -> Time {
        self.hold.map_or(time, |until| time.max(until)) + self.late
    }
    pub fn is_late(&self) -> bool {
        self.hold.is_some() || self.late != Span::ZERO || self.order != Ordering::Kept
    }

    #[cold]
    fn add(&mut self, index: u16, answer: Answer) {
        match answer {
            Answer::Deliver => {}
            Answer::Drop => self.dropped_by = self.dropped_by.or(Some(index)),
            Answer::Hold(until) => self.hold = self.hold.max(Some(until)),
            Answer::Late(by, order) => {
                self.late += by;
                if self.order == Ordering::Kept {
                    self.order = order;
                }
            }
            Answer::Copies(n) => self.copies = self.copies.saturating_add(n),
        }
    }
}

/// What a channel looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing<'a> {
    /// When the packet is at the place: for the wire the end of its transmission.
    pub time: Time,
    pub facts: &'a Facts,
    /// Framing included.
    pub bytes: u32,
}

/// The channels of one link at one place, in the order of the scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels {
    list: Vec<Channel>,
}

#[derive(Clone, Debug)]
struct Channel {
    /// Its place in the link's list.
    index: u16,
    only: Only,
    law: Law,
    tally: Tally,
}

/// An enum, not a trait object: every packet of a link with channels passes here.
#[derive(Clone, Debug)]
pub(crate) enum Law {
    Outage(outage::Outage),
    GilbertElliott(Box<gilbert_elliott::GilbertElliott>),
    BitError(bit_error::BitError),
    Random(random::Random),
    List(list::List),
    DelayStep(late::DelayStep),
    Reorder(late::Reorder),
    Duplicate(late::Duplicate),
    Jitter(late::Jitter),
}

impl Channels {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    pub fn add(&mut self, index: u16, only: Only, law: Law) {
        self.list.push(Channel { index, only, law, tally: Tally::default() });
    }
    pub fn tallies(&self) -> impl Iterator<Item = (u16, Tally)> + '_ {
        self.list.iter().map(|channel| (channel.index, channel.tally))
    }
    /// Schedules anchored at a link's first packet begin now.
    pub fn anchor(&mut self, at: Time) {
        for channel in &mut self.list {
            if let Law::Outage(outage) = &mut channel.law {
                outage.anchor(at);
            }
        }
    }
    /// `None` if all say "deliver, unchanged".
    #[inline(always)]
    pub fn ask(&mut self, packet: Passing) -> Option<Fate> {
        for (at, channel) in self.list.iter_mut().enumerate() {
            let answer = channel.ask(packet);
            if answer != Answer::Deliver {
                return self.ask_behind(at, answer, packet);
            }
        }
        None
    }

    /// One did not say that it be delivered. The others are asked all the same.
    #[cold]
    fn ask_behind(&mut self, first: usize, answer: Answer, packet: Passing) -> Option<Fate> {
        let mut fate = None;
        let mut answer = answer;
        for at in first..self.list.len() {
            let channel = &mut self.list[at];
            if at > first {
                answer = channel.ask(packet);
            }
            match answer {
                Answer::Deliver | Answer::Late(Span::ZERO, Ordering::Kept) => {}
                answer => {
                    if answer == Answer::Drop {
                        channel.tally.hit();
                    }
                    fate.get_or_insert_with(Fate::default).add(channel.index, answer);
                }
            }
        }
        fate
    }
}

impl Channel {
    #[inline(always)]
    fn ask(&mut self, packet: Passing) -> Answer {
        if !looks_at(self.only, packet.facts) {
            return Answer::Deliver;
        }
        self.tally.see();
        match &mut self.law {
            // The most frequent of them.
            Law::Random(law) => law.answer(),
            law => law.answer(packet),
        }
    }
}

fn looks_at(only: Only, facts: &Facts) -> bool {
    match only {
        Only::All => true,
        Only::Data => facts.class.has_payload(),
        Only::Acks => !facts.class.has_payload(),
    }
}

/// The streams of one channel of one link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeds<'a> {
    pub seed: u64,
    pub link: &'a str,
    pub forward: bool,
}

impl Seeds<'_> {
    /// For what a channel draws for each packet: each direction has its own.
    pub fn packets(&self, channel: &str) -> Stream {
        self.own(&format!("channel {channel}"))
    }
    /// For this direction of the link.
    pub fn own(&self, purpose: &str) -> Stream {
        let direction = if self.forward { "forward" } else { "back" };
        Stream::new(self.seed, self.link, &format!("{purpose}/{direction}"))
    }
    /// For what is drawn over time: both directions see the same.
    pub fn schedule(&self, channel: &str) -> Stream {
        Stream::new(self.seed, self.link, &format!("channel {channel}/schedule"))
    }
}

impl Law {
    /// `None` for what is no law about packets (a rate trace).
    pub fn new(spec: &ChannelSpec, seeds: Seeds) -> Option<Law> {
        let packets = || seeds.packets(&spec.name);
        Some(match &spec.kind {
            ChannelKind::Outage(o) => Law::Outage(outage::Outage::new(o, seeds.schedule(&spec.name))),
            ChannelKind::GilbertElliott(ge) => {
                let states = match ge.dwell {
                    Dwell::Time { .. } => seeds.schedule(&spec.name),
                    Dwell::Packets { .. } | Dwell::PacketLengths { .. } => {
                        seeds.packets(&format!("{}/states", spec.name))
                    }
                };
                Law::GilbertElliott(Box::new(gilbert_elliott::GilbertElliott::new(ge, states, packets())))
            }
            ChannelKind::BitError { per, rate } => {
                Law::BitError(bit_error::BitError::new(*per, *rate, packets()))
            }
            ChannelKind::Random { loss } => Law::Random(random::Random::new(*loss, packets())),
            ChannelKind::List { ordinals } => Law::List(list::List::new(ordinals)),
            ChannelKind::DelayStep { steps, reorders } => {
                Law::DelayStep(late::DelayStep::new(steps, *reorders))
            }
            ChannelKind::Reorder { probability, by } => {
                Law::Reorder(late::Reorder::new(*probability, *by, packets()))
            }
            ChannelKind::Duplicate { probability, copies } => {
                Law::Duplicate(late::Duplicate::new(*probability, *copies, packets()))
            }
            ChannelKind::Jitter { spread, reorders } => {
                Law::Jitter(late::Jitter::new(*spread, *reorders, packets()))
            }
            ChannelKind::RateTrace { .. } => return None,
        })
    }

    #[inline(never)]
    fn answer(&mut self, packet: Passing) -> Answer {
        match self {
            Law::Outage(law) => law.answer(packet.time),
            Law::GilbertElliott(law) => law.answer(packet.time),
            Law::BitError(law) => law.answer(packet.bytes),
            Law::Random(law) => law.answer(),
            Law::List(law) => law.answer(),
            Law::DelayStep(law) => law.answer(packet.time),
            Law::Reorder(law) => law.answer(),
            Law::Duplicate(law) => law.answer(),
            Law::Jitter(law) => law.answer(),
        }
    }
}
