//! Links: both directions from what the link says and what differs in one.

use super::{Context, Network, channel};
use instant::Span;
use links::queue::droptail;
use links::spec::{ArqSpec, LinkSpec, QueueSpec};
use params::problem::Problems;
use params::{Item, Value, Values, join};

pub(super) fn add(v: &Values, context: &Context<'_>, net: &mut Network, p: &mut Problems) {
    let ends = v.list("between");
    let (a, b) = (net.named(ends.first(), p), net.named(ends.get(1), p));
    let specs = both(v, v.list("channel"), context, p);
    let (Some(a), Some(b)) = (a, b) else {
        net.incomplete = true;
        return;
    };
    if let Some(item) = v.item("between").filter(|_| a == b) {
        item.refuse(p, "is one node twice: a link joins two");
        net.incomplete = true;
    }
    let name = v.name();
    // Two of [[link]] were told apart before; this is about a preset's links.
    if let Some(item) = v.item("name").filter(|_| net.has_link(&name)) {
        item.refuse(p, "is taken: a preset makes a link of this name");
    }
    net.push_link(&name, (a, b), specs);
}

/// The two directions of a link: what it says, what one direction says instead, and its channels.
pub(super) fn both(
    v: &Values,
    channels: &[Item],
    context: &Context<'_>,
    p: &mut Problems,
) -> Option<(LinkSpec, LinkSpec)> {
    let forward = one(v, v.table("forward"), p);
    let back = one(v, v.table("back"), p);
    let (mut forward, mut back) = (forward?, back?);
    let mut whole = true;
    for values in channels.iter().filter_map(Item::table) {
        let Some(built) = channel::channel(values, context, p) else {
            whole = false;
            continue;
        };
        let direction = values.word("direction").unwrap_or("both");
        for (name, spec) in [("forward", &mut forward), ("back", &mut back)] {
            if direction == name || direction == "both" {
                built.kind.fits(spec, values, p);
                spec.channels.push(built.clone());
            }
        }
    }
    if !whole {
        return None;
    }
    // What is said above reads better; this is what the links themselves insist on.
    for (name, spec) in [("forward", &forward), ("back", &back)] {
        if let Err(wrong) = spec.check()
            && p.is_empty()
        {
            let says = format!("cannot be: {}", wrong.allowed);
            match v.find(&format!("{name}.{}", wrong.key)).or_else(|| v.find(&wrong.key)) {
                Some(item) => item.refuse(p, says),
                None => p.add(&v.origin, &join(&v.path, &wrong.key), Some(&wrong.found), says),
            }
        }
    }
    Some((forward, back))
}

fn one(v: &Values, differs: Option<&Values>, p: &mut Problems) -> Option<LinkSpec> {
    let pick = |key: &str| differs.and_then(|d| d.item(key)).or_else(|| v.item(key));
    let rate_bps = match pick("rate") {
        Some(Item { value: Value::Rate(bps), .. }) => Some(*bps),
        Some(_) => return None,
        None => None,
    };
    Some(LinkSpec {
        rate_bps,
        delay: pick("delay").map_or(Some(Span::ZERO), Item::span)?,
        framing_bytes: framing(pick("framing"), p)?,
        queue: match pick("queue") {
            Some(item) => QueueSpec::read(item.table()?, p)?,
            None => QueueSpec::DropTail(droptail::Params::default()),
        },
        channels: Vec::new(),
        arq: match pick("arq") {
            Some(item) => Some(arq(item.table()?)?),
            None => None,
        },
    })
}

fn framing(item: Option<&Item>, p: &mut Problems) -> Option<u32> {
    let Some(item) = item else { return Some(0) };
    match item.value {
        Value::Word("ppp") => Some(2),
        Value::Word("ethernet") => Some(38),
        Value::Word(_) => Some(0),
        Value::Amount(params::units::Amount::Bytes(bytes)) if bytes <= 10_000 => Some(bytes as u32),
        Value::Amount(_) => {
            item.refuse(p, "is too large: at most 10000 bytes");
            Some(0)
        }
        _ => None,
    }
}

fn arq(v: &Values) -> Option<ArqSpec> {
    Some(ArqSpec {
        tries: v.whole("tries")? as u32,
        overhead: v.span("overhead")?,
        backoff: v.span("backoff")?,
    })
}
