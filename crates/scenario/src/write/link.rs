//! Links and channels as TOML.

use crate::model::{Link, Scenario};
use links::spec::*;
use params::Lines;
use params::quoted;
use params::units::{show_bytes, show_rate, show_span};

pub(super) fn link(l: &Link, s: &Scenario, out: &mut Lines) {
    let node = |at: usize| s.nodes.get(at).map_or("", |n| n.name.as_str());
    out.head("[[link]]");
    out.text("name", &l.name);
    out.names("between", [node(l.between.0), node(l.between.1)].into_iter());
    let same = LinkSpec { channels: Vec::new(), ..l.forward.clone() }
        == LinkSpec { channels: Vec::new(), ..l.back.clone() };
    if same {
        direction(&l.forward, out);
    } else {
        // Nothing is said of both: a key of the link could not be taken back in one direction.
        out.head("[link.forward]");
        direction(&l.forward, out);
        out.head("[link.back]");
        direction(&l.back, out);
    }
    for (name, channel) in in_order(&l.forward.channels, &l.back.channels) {
        out.head("[[link.channel]]");
        out.text("name", &channel.name);
        out.text("direction", name);
        out.text("at", channel.at.name());
        out.text("only", channel.only.name());
        if !channel.flows.is_empty() {
            out.names("flows", flows(channel, s));
        }
        channel.kind.write("kind", out);
    }
}

fn direction(spec: &LinkSpec, out: &mut Lines) {
    if let Some(bps) = spec.rate_bps {
        out.text("rate", show_rate(bps));
    }
    out.span("delay", spec.delay);
    match spec.framing_bytes {
        0 => out.text("framing", "none"),
        bytes => out.text("framing", show_bytes(bytes.into())),
    }
    out.table("queue", |out| spec.queue.write("kind", out));
    if let Some(arq) = &spec.arq {
        let (overhead, backoff) = (quoted(&show_span(arq.overhead)), quoted(&show_span(arq.backoff)));
        out.raw("arq", format!("{{ tries = {}, overhead = {overhead}, backoff = {backoff} }}", arq.tries));
    }
}

/// The flows that a channel looks at: their connections are numbered in the order of the flows.
fn flows<'a>(channel: &'a ChannelSpec, s: &'a Scenario) -> impl Iterator<Item = &'a str> {
    let mut next = 0;
    let first = s.flows.iter().map(move |flow| {
        let first = next;
        next += flow.count * 2;
        (first, flow.name.as_str())
    });
    first.filter(|(first, _)| channel.flows.iter().any(|range| range.contains(first))).map(|(_, name)| name)
}

/// The channels of both directions, in an order that gives each direction its own again.
fn in_order<'a>(forward: &'a [ChannelSpec], back: &'a [ChannelSpec]) -> Vec<(&'static str, &'a ChannelSpec)> {
    let mut list = Vec::new();
    let mut rest = back;
    for channel in forward {
        match rest.iter().position(|c| c == channel) {
            Some(at) => {
                list.extend(rest[..at].iter().map(|c| ("back", c)));
                list.push(("both", channel));
                rest = &rest[at + 1..];
            }
            None => list.push(("forward", channel)),
        }
    }
    list.extend(rest.iter().map(|c| ("back", c)));
    list
}
