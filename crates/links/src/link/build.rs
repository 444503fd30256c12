//! A link from its description.

use super::{Extras, Link, NO_LANES, Way};
use crate::arq::Arq;
use crate::channel::{Calendar, Law, RateTrace, Seeds};
use crate::counters::Counters;
use crate::key::Key;
use crate::line::Line;
use crate::link::extras::Flushing;
use crate::queue::DropTail;
use crate::rate::Rate;
use crate::spec::{Anchor, ChannelKind, ChannelSpec, Flush, LinkSpec, Outage, Place};

impl Link {
    /// One direction of the link `name`, whose random streams follow from `seed`, its name and its channels' names.
    pub fn new(spec: &LinkSpec, name: &str, forward: bool, seed: u64) -> Link {
        Link {
            flight: Line::default(),
            done: Key::FIRST,
            due: Key::NEVER,
            side: Key::NEVER,
            rate: Rate::new(spec.rate_bps),
            delay: spec.delay,
            framing: spec.framing_bytes,
            serialises: spec.rate_bps.is_some() || spec.channels.iter().any(is_trace),
            kind: NO_LANES,
            paced_specially: spec.arq.is_some() || spec.channels.iter().any(is_trace),
            way: way(spec),
            flushes: spec.channels.iter().any(flushes),
            unanchored: spec.channels.iter().any(waits_for_first_packet),
            queue: DropTail::new(spec.queue.limit()),
            counters: Counters::default(),
            extras: extras(spec, Seeds { seed, link: name, forward }),
        }
    }

    /// The twin has a schedule that waits for the first packet in either direction.
    pub fn await_anchor(&mut self) {
        self.unanchored = true;
    }
}

fn waits_for_first_packet(channel: &ChannelSpec) -> bool {
    matches!(&channel.kind, ChannelKind::Outage(Outage { anchor: Anchor::FirstSyn, .. }))
}

fn flushes(channel: &ChannelSpec) -> bool {
    matches!(&channel.kind, ChannelKind::Outage(outage) if outage.flush != Flush::Nothing)
}

fn way(spec: &LinkSpec) -> Way {
    let stays_straight = |c: &ChannelSpec| {
        c.at == Place::Wire && !is_trace(c) && !flushes(c) && !c.kind.reorders() && c.flows.is_empty()
    };
    match &spec.arq {
        _ if spec.queue.is_managed() => Way::Managed,
        None if spec.channels.is_empty() => Way::Plain,
        None if spec.channels.iter().all(stays_straight) => Way::Wire,
        _ => Way::Any,
    }
}

fn is_trace(channel: &ChannelSpec) -> bool {
    matches!(channel.kind, ChannelKind::RateTrace(_))
}

fn extras(spec: &LinkSpec, seeds: Seeds) -> Option<Box<Extras>> {
    if way(spec) == Way::Plain {
        return None;
    }
    let manager = spec.queue.manager(|| seeds.own("queue"));
    let arq = spec.arq.as_ref().map(|arq| Arq::new(arq, seeds.own("arq")));
    let mut extras = Extras::new(manager, arq);
    for (index, channel) in spec.channels.iter().enumerate() {
        add_channel(&mut extras, index as u16, channel, seeds);
    }
    Some(Box::new(extras))
}

fn add_channel(extras: &mut Extras, index: u16, spec: &ChannelSpec, seeds: Seeds) {
    let mut at = spec.at;
    if let ChannelKind::Outage(outage) = &spec.kind {
        if outage.flush != Flush::Nothing {
            let calendar = Calendar::new(outage, seeds.schedule(&spec.name));
            extras.flushes.push(Flushing { channel: index, what: outage.flush, calendar });
        }
        // A link that loses its whole flight is down as a device: it accepts nothing either.
        if outage.flush == Flush::Flight {
            at = Place::Ingress;
        }
    }
    if let ChannelKind::RateTrace(trace) = &spec.kind {
        extras.trace = Some(RateTrace::new(&trace.opportunities_ms));
    }
    if let Some(law) = Law::new(spec, seeds) {
        let channels = match at {
            Place::Ingress => &mut extras.ingress,
            Place::Wire => &mut extras.wire,
            Place::Egress => &mut extras.egress,
        };
        channels.add(index, spec, law);
    }
}
