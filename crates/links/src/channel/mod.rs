//! Channels: what a link does to packets beyond rate, delay and queue.
//!
//! At each place (ingress, wire, egress) every channel is asked about every packet, whatever the others said, so
//! that the k-th packet always gets a channel's k-th draw. The first that drops is the cause; delays add up, the
//! latest hold counts, copies add up. Copies share the fate of their original at the place where they were made.

#[macro_use]
mod listed;

pub mod bit_error;
pub mod delay_step;
pub mod duplicate;
pub mod gilbert_elliott;
pub mod jitter;
pub mod list;
pub mod mtu;
pub mod outage;
mod own_way;
pub mod policer;
pub mod random;
pub mod rate_trace;
pub mod reorder;
mod schedule;
mod traces;

use own_way::OwnWay;
pub(crate) use rate_trace::RateTrace;
pub(crate) use schedule::Calendar;
pub use schedule::Outages;

use crate::check::Checked;
use crate::counters::Tally;
use crate::facts::{Cause, Facts};
use crate::line::Ordering;
use crate::random::Stream;
use crate::spec::{ChannelSpec, LinkSpec, Only};
use instant::{Span, Time};
use params::keys::{Key, flag};
use params::problem::Problems;
use params::{Item, Values};

// The channels: what a channel is called and whose page it is on. What a file may say of it, its place in the enums
// and the calls follow from this line.
channels! {
    Outage(outage),
    GilbertElliott(gilbert_elliott),
    BitError(bit_error),
    Random(random),
    List(list),
    DelayStep(delay_step),
    RateTrace(rate_trace),
    Reorder(reorder),
    Duplicate(duplicate),
    Jitter(jitter),
    Policer(policer),
    Mtu(mtu),
}

/// What a scenario says of a channel, whichever it is; each has its page.
pub(crate) trait Channel: params::Params {
    type Law: Asked;
    /// `None` for what is no law about packets (a rate trace); `name` is the channel's, for its random numbers.
    fn law(&self, name: &str, seeds: Seeds) -> Option<Self::Law>;
    /// Whether it can be, on the link on which it stands.
    fn check(&self, on: &Standing) -> Checked;
    /// The same, of what a file says: the sentence names the value.
    fn fits(&self, _link: &LinkSpec, _v: &Values, _p: &mut Problems) {}
    /// Packets may overtake each other.
    fn reorders(&self) -> bool {
        false
    }
    /// Why a packet was lost that it dropped; `index` is its place in the link's list.
    fn cause(&self, index: u16) -> Cause {
        Cause::Channel(index)
    }
}

/// A law about packets.
pub(crate) trait Asked {
    fn ask(&mut self, packet: Passing) -> Answer;
}

/// Where a channel stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing<'a> {
    pub link: &'a LinkSpec,
    pub channel: &'a ChannelSpec,
}

impl Standing<'_> {
    /// One of its keys, as a sentence names it.
    pub fn key(&self, name: &str) -> String {
        format!("channel.{}.{name}", self.channel.name)
    }
}

const REORDERS: Key =
    flag("reorders", "Packets may overtake each other; otherwise they wait.").default("false");

fn order(reorders: bool) -> Ordering {
    if reorders { Ordering::Overtakes } else { Ordering::Kept }
}

/// The two of each pair of a list.
fn times(item: &Item) -> Option<Vec<(&Item, Time, Span)>> {
    let pair = |pair| match Item::list(pair) {
        [at, by] => Some((pair, Time(at.span()?.0), by.span()?)),
        _ => None,
    };
    item.list().iter().map(pair).collect()
}

/// What one channel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Deliver,
    Drop,
    /// Keep it until then.
    Hold(Time, Ordering),
    Late(Span, Ordering),
    /// So many more of it.
    Copies(u32),
}

/// What all channels at a place say together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub dropped_by: Option<Cause>,
    pub hold: Option<Time>,
    /// The first channel that holds it or makes it late.
    pub delayed_by: Option<u16>,
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

    #[inline]
    fn add(&mut self, index: u16, cause: Cause, answer: Answer) {
        match answer {
            Answer::Deliver => {}
            Answer::Drop => self.dropped_by = self.dropped_by.or(Some(cause)),
            Answer::Hold(until, order) => {
                self.hold = self.hold.max(Some(until));
                self.delay(index, order);
            }
            Answer::Late(by, order) => {
                self.late += by;
                self.delay(index, order);
            }
            Answer::Copies(n) => self.copies = self.copies.saturating_add(n),
        }
    }

    #[inline]
    fn delay(&mut self, index: u16, order: Ordering) {
        self.delayed_by = self.delayed_by.or(Some(index));
        if self.order == Ordering::Kept {
            self.order = order;
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
    list: Vec<Placed>,
}

#[derive(Clone, Debug)]
struct Placed {
    /// Its place in the link's list.
    index: u16,
    cause: Cause,
    only: Only,
    /// It looks at some flows only: they have a way of their own.
    own: Option<Box<OwnWay>>,
    law: Law,
    tally: Tally,
}

impl Channels {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    pub fn add(&mut self, index: u16, spec: &ChannelSpec, law: Law) {
        let cause = spec.kind.cause(index);
        let own = (!spec.flows.is_empty()).then(|| Box::new(OwnWay::new(spec.flows.clone())));
        self.list.push(Placed { index, cause, only: spec.only, own, law, tally: Tally::default() });
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
        let mut fate = None;
        for channel in &mut self.list {
            match channel.ask(packet) {
                Answer::Deliver | Answer::Late(Span::ZERO, Ordering::Kept) => {}
                answer => {
                    if answer == Answer::Drop {
                        channel.tally.hit();
                    }
                    fate.get_or_insert_with(Fate::default).add(channel.index, channel.cause, answer);
                }
            }
        }
        fate
    }
}

impl Placed {
    #[inline(always)]
    fn ask(&mut self, packet: Passing) -> Answer {
        let passes_by = self.own.as_ref().is_some_and(|own| !own.takes(packet.facts));
        if passes_by || !looks_at(self.only, packet.facts) {
            return Answer::Deliver;
        }
        self.tally.see();
        let answer = match &mut self.law {
            // The most frequent of them.
            Law::Random(law) => law.answer(),
            law => law.ask(packet),
        };
        match &mut self.own {
            None => answer,
            Some(own) => own.keep_order(packet.time, answer),
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
