//! An interval in which the link delivers nothing: packets are dropped, or kept until it ends.

use super::{Answer, Asked, Calendar, Channel, Passing, Seeds, Standing, times, traces};
use crate::check::{Checked, LONGEST, duration, positive, require};
use crate::line::Ordering;
use crate::random::Stream;
use instant::{Span, Time};
use params::keys::{Forms, Key, Kind, NOT_NEGATIVE_TIME, POSITIVE_TIME, Table, Variant, flag, key, variant};
use params::problem::Problems;
use params::units::show_span;
use params::{Form, Item, Lines, Values};

/// An interval in which the link delivers nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    pub schedule: Schedule,
    pub anchor: Anchor,
    /// Packets are kept and delivered when the outage ends, instead of dropped.
    pub hold: bool,
    /// What the beginning of an outage destroys besides.
    pub flush: Flush,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// Outage k covers `[phase + k * every, + length)`.
    Periodic { every: Span, length: Span, phase: Span },
    /// Alternating, each length drawn anew; begins up. Both directions of a link see the same times.
    Exponential { up_mean: Span, down_mean: Span },
    /// Begin and length, ascending, not overlapping; from the list of a scenario or a trace file.
    Intervals(Vec<(Time, Span)>),
}

params::words! {
    /// What a schedule's time zero is.
    #[derive(Default)]
    pub enum Anchor {
        #[default]
        Start = "start", "the start of the run";
        /// The first packet that the link sees (a connection's SYN, in either direction).
        FirstSyn = "first-syn", "the first packet that the link sees, in either direction";
    }
}

params::words! {
    #[derive(Default)]
    pub enum Flush {
        #[default]
        Nothing = "nothing", "what waits is sent afterwards";
        /// What waits in the queue.
        Queue = "queue", "what waits in the queue is lost";
        /// The queue, the packet being sent and everything in flight; and nothing is accepted while it lasts, wherever
        /// the channel acts (ns-2 does so).
        Flight = "flight", "the queue, the packet being sent and everything in flight are lost (ns-2)";
    }
}

static SCHEDULE: Table = Table {
    noun: "a schedule",
    doc: "When a link is down. Outage k of `every` and `for` covers phase + k * every up to that plus `for`.",
    keys: &[
        key("every", POSITIVE_TIME, "Beginning to beginning.").absent("another form"),
        key("for", POSITIVE_TIME, "Length of each outage; shorter than `every`.").absent("another form"),
        key("phase", NOT_NEGATIVE_TIME, "Beginning of the first outage of `every`.").default("0s"),
        key("up", POSITIVE_TIME, "Mean time up, exponentially distributed; begins up.")
            .absent("another form"),
        key("down", POSITIVE_TIME, "Mean time down, exponentially distributed.").absent("another form"),
        key(
            "intervals",
            Kind::List { of: &Kind::Tuple(&[NOT_NEGATIVE_TIME, POSITIVE_TIME]), least: 1 },
            "Beginning and length of each outage, in order: `[[\"3s\", \"200ms\"], [\"9s\", \"1s\"]]`.",
        )
        .absent("another form"),
        key(
            "file",
            Kind::File(Form::Outages),
            "A trace: beginning and length in seconds on each line, `#` for comments.",
        )
        .absent("another form"),
        key("anchor", Kind::Choice(Anchor::WORDS), "What time zero is.").default("start"),
    ],
    forms: Some(Forms {
        sets: &[&["every", "for"], &["up", "down"], &["intervals"], &["file"]],
        beside: &[("phase", "every")],
        required: true,
    }),
    variants: None,
};

const KEYS: &[Key] = &[
    key("schedule", Kind::Table(&SCHEDULE), "When the link is down."),
    flag("hold", "Packets are kept and delivered when the outage ends, instead of dropped.").default("false"),
    key("flush", Kind::Choice(Flush::WORDS), "What the beginning of an outage destroys besides.")
        .default("nothing"),
];

impl params::Params for Params {
    const VARIANT: Variant = variant("outage", "Intervals in which the link delivers nothing.", KEYS);
    fn read(v: &Values, p: &mut Problems) -> Option<Params> {
        let s = v.table("schedule")?;
        let schedule = schedule(s, p)?;
        let anchor = Anchor::named(s.word("anchor")?)?;
        Some(Params { schedule, anchor, hold: v.flag("hold"), flush: Flush::named(v.word("flush")?)? })
    }
    fn write(&self, out: &mut Lines) {
        out.table("schedule", |out| {
            match &self.schedule {
                Schedule::Periodic { every, length, phase } => {
                    out.span("every", *every);
                    out.span("for", *length);
                    out.span("phase", *phase);
                }
                Schedule::Exponential { up_mean, down_mean } => {
                    out.span("up", *up_mean);
                    out.span("down", *down_mean);
                }
                Schedule::Intervals(list) => out.times("intervals", list),
            }
            out.text("anchor", self.anchor.name());
        });
        out.flag("hold", self.hold);
        out.text("flush", self.flush.name());
    }
}

fn schedule(v: &Values, p: &mut Problems) -> Option<Schedule> {
    if v.says("phase") && v.item("every").is_none() {
        v.item("phase")?.refuse(p, "goes with every and for only");
    }
    if v.item("every").is_some() {
        let (every, length) = (v.span("every")?, v.span("for")?);
        if length >= every {
            v.item("for")?.refuse(
                p,
                format!("never lets an outage end: it must be shorter than every = {:?}", show_span(every)),
            );
        }
        return Some(Schedule::Periodic { every, length, phase: v.span("phase")? });
    }
    if v.item("up").is_some() {
        return Some(Schedule::Exponential { up_mean: v.span("up")?, down_mean: v.span("down")? });
    }
    if let Some(item) = v.item("intervals") {
        return intervals(item, p);
    }
    let item = v.item("file")?;
    match traces::outages(item.contents()?) {
        Ok(intervals) => Some(Schedule::Intervals(intervals)),
        Err((line, says)) => {
            item.refuse(p, format!("is no trace of outages: line {line} {says}"));
            None
        }
    }
}

fn intervals(item: &Item, p: &mut Problems) -> Option<Schedule> {
    let mut list: Vec<(Time, Span)> = Vec::new();
    for (pair, begin, length) in times(item)? {
        if list.last().is_some_and(|(before, lasted)| *before + *lasted > begin) {
            pair.refuse(p, "begins before the outage before it has ended");
        }
        list.push((begin, length));
    }
    Some(Schedule::Intervals(list))
}

impl Channel for Params {
    type Law = Outage;
    fn law(&self, name: &str, seeds: Seeds) -> Option<Outage> {
        Some(Outage::new(self, seeds.schedule(name)))
    }
    fn check(&self, on: &Standing) -> Checked {
        let of_all = self.flush == Flush::Nothing || on.channel.flows.is_empty();
        require(
            of_all,
            &on.key("flush"),
            self.flush.name(),
            "nothing where flows are named: a link is emptied of all",
        )?;
        match &self.schedule {
            Schedule::Periodic { every, length, phase } => {
                positive(&on.key("schedule.every"), *every)?;
                positive(&on.key("schedule.for"), *length)?;
                require(
                    length < every,
                    &on.key("schedule.for"),
                    length,
                    "shorter than `every`, or the outage never ends",
                )?;
                duration(&on.key("schedule.phase"), *phase)
            }
            Schedule::Exponential { up_mean, down_mean } => {
                positive(&on.key("schedule.up"), *up_mean)?;
                positive(&on.key("schedule.down"), *down_mean)
            }
            Schedule::Intervals(list) => {
                for (begin, length) in list {
                    let in_time = *begin >= Time::ZERO && *begin < Time::ZERO + LONGEST;
                    require(in_time, &on.key("schedule.intervals"), begin, "not before the start")?;
                    positive(&on.key("schedule.intervals"), *length)?;
                }
                let apart = list.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
                require(
                    apart,
                    &on.key("schedule.intervals"),
                    "overlapping or out of order",
                    "intervals that ascend",
                )
            }
        }
    }
}

impl Asked for Outage {
    fn ask(&mut self, packet: Passing) -> Answer {
        self.answer(packet.time)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Outage {
    calendar: Calendar,
    hold: bool,
}

impl Outage {
    pub fn new(spec: &Params, schedule: Stream) -> Outage {
        Outage { calendar: Calendar::new(spec, schedule), hold: spec.hold }
    }
    pub fn anchor(&mut self, at: Time) {
        self.calendar.anchor(at);
    }
    #[inline]
    pub fn answer(&mut self, at: Time) -> Answer {
        match self.calendar.outage_at(at) {
            None => Answer::Deliver,
            Some(end) if self.hold => Answer::Hold(end, Ordering::Kept),
            Some(_) => Answer::Drop,
        }
    }
}
