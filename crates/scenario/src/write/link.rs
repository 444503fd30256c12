//! Links and channels as TOML.

use crate::model::{Link, Scenario};
use instant::{Span, Time};
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
        write_channel(channel, out);
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

fn write_channel(c: &ChannelSpec, out: &mut Lines) {
    let at = match c.at {
        Place::Ingress => "ingress",
        Place::Wire => "wire",
        Place::Egress => "egress",
    };
    let only = match c.only {
        Only::All => "all",
        Only::Data => "data",
        Only::Acks => "acks",
    };
    out.text("at", at);
    out.text("only", only);
    match &c.kind {
        ChannelKind::Outage(outage) => write_outage(outage, out),
        ChannelKind::GilbertElliott(ge) => write_gilbert_elliott(ge, out),
        ChannelKind::BitError { per, rate } => {
            out.text("kind", "bit-error");
            let per = match per {
                PerUnit::Bit => "bit",
                PerUnit::Byte => "byte",
                PerUnit::Packet => "packet",
            };
            out.text("per", per);
            out.number("rate", *rate);
        }
        ChannelKind::Random { loss } => {
            out.text("kind", "random");
            out.number("loss", *loss);
        }
        ChannelKind::List { ordinals } => {
            out.text("kind", "list");
            out.raw("packets", numbers(ordinals));
        }
        ChannelKind::DelayStep { steps, reorders } => {
            out.text("kind", "delay-step");
            out.raw("steps", pairs(steps));
            out.flag("reorders", *reorders);
        }
        ChannelKind::RateTrace { opportunities_ms } => {
            out.text("kind", "rate-trace");
            out.raw("opportunities", numbers(opportunities_ms));
        }
        ChannelKind::Reorder { probability, by } => {
            out.text("kind", "reorder");
            out.number("probability", *probability);
            out.span("by", *by);
        }
        ChannelKind::Duplicate { probability, copies } => {
            out.text("kind", "duplicate");
            out.number("probability", *probability);
            out.whole("copies", (*copies).into());
        }
        ChannelKind::Jitter { spread, reorders } => {
            out.text("kind", "jitter");
            write_spread(*spread, out);
            out.flag("reorders", *reorders);
        }
    }
}

fn write_outage(o: &Outage, out: &mut Lines) {
    out.text("kind", "outage");
    let anchor = match o.anchor {
        Anchor::Start => "start",
        Anchor::FirstSyn => "first-syn",
    };
    let text = |span: Span| quoted(&show_span(span));
    let schedule = match &o.schedule {
        Schedule::Periodic { every, length, phase } => {
            format!("every = {}, for = {}, phase = {}", text(*every), text(*length), text(*phase))
        }
        Schedule::Exponential { up_mean, down_mean } => {
            format!("up = {}, down = {}", text(*up_mean), text(*down_mean))
        }
        Schedule::Intervals(list) => format!("intervals = {}", pairs(list)),
    };
    out.raw("schedule", format!("{{ {schedule}, anchor = {anchor:?} }}"));
    out.flag("hold", o.hold);
    let flush = match o.flush {
        Flush::Nothing => "nothing",
        Flush::Queue => "queue",
        Flush::Flight => "flight",
    };
    out.text("flush", flush);
}

fn write_gilbert_elliott(g: &GilbertElliott, out: &mut Lines) {
    out.text("kind", "gilbert-elliott");
    match g.dwell {
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
    out.number("loss_good", g.loss_good);
    out.number("loss_bad", g.loss_bad);
}

fn write_spread(spread: Spread, out: &mut Lines) {
    let (name, mean) = match spread {
        Spread::Uniform { mean } => ("uniform", mean),
        Spread::Exponential { mean } => ("exponential", mean),
        Spread::Normal { mean, .. } => ("normal", mean),
    };
    out.text("spread", name);
    out.span("mean", mean);
    if let Spread::Normal { deviation, .. } = spread {
        out.span("deviation", deviation);
    }
}

fn pairs(list: &[(Time, Span)]) -> String {
    let pair = |(at, by): &(Time, Span)| {
        format!("[{}, {}]", quoted(&super::since_start(*at)), quoted(&show_span(*by)))
    };
    format!("[{}]", list.iter().map(pair).collect::<Vec<_>>().join(", "))
}

fn numbers(list: &[u64]) -> String {
    format!("[{}]", list.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}
