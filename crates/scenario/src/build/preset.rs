//! Presets: `[chain]` and `[dumbbell]` as nodes and links.

use super::{Context, Network, link};
use crate::model::Node;
use instant::Span;
use links::queue::droptail;
use links::spec::{Limit, LinkSpec, QueueSpec};
use params::problem::Problems;
use params::{Item, Values};

pub(super) fn expand(v: &Values, context: &Context<'_>, net: &mut Network, p: &mut Problems) {
    if let Some(values) = v.table("chain") {
        chain(values, context, net, p);
    }
    if let Some(values) = v.table("dumbbell") {
        dumbbell(values, context, net, p);
    }
}

fn chain(v: &Values, context: &Context<'_>, net: &mut Network, p: &mut Problems) {
    let first = net.nodes.len();
    let names = v.list("nodes");
    for name in names {
        net.add_node(name, Node::default(), p);
    }
    if net.nodes.len() < first + 2 || net.nodes.len() - first != names.len() {
        net.incomplete = true;
        return;
    }
    let last = net.nodes.len() - 1;
    for at in first..last {
        let channels = if at + 1 == last { v.list("channel") } else { &[] };
        let specs = link::both(v, channels, context, p);
        let name = format!("{}-{}", net.nodes[at].name, net.nodes[at + 1].name);
        net.push_link(&name, (at, at + 1), specs);
    }
}

fn dumbbell(v: &Values, context: &Context<'_>, net: &mut Network, p: &mut Problems) {
    let pairs = v.whole("pairs").unwrap_or(1) as u32;
    let access = access(v, context, p);
    let bottleneck = v.table("bottleneck").and_then(|b| link::both(b, b.list("channel"), context, p));
    let mut add = |name: &str| match net.node(name) {
        None => net.push_node(name),
        Some(at) => {
            v.refuse(p, format!("makes a node {name:?}, and there is one already"));
            at
        }
    };
    let (west, east) = (add("west"), add("east"));
    let hosts: Vec<(usize, usize)> =
        (1..=pairs).map(|k| (add(&host("left", k, pairs)), add(&host("right", k, pairs)))).collect();
    net.push_link("bottleneck", (west, east), bottleneck);
    for (k, (left, right)) in (1..=pairs).zip(hosts) {
        net.push_link(&host("left", k, pairs), (left, west), access.clone());
        net.push_link(&host("right", k, pairs), (right, east), access.clone());
    }
    net.pairs = pairs;
}

fn access(v: &Values, context: &Context<'_>, p: &mut Problems) -> Option<(LinkSpec, LinkSpec)> {
    match v.item("access") {
        Some(item) => {
            let values = Item::table(item)?;
            link::both(values, values.list("channel"), context, p)
        }
        None => {
            let spec = LinkSpec {
                rate_bps: Some(1_000_000_000),
                delay: Span::ZERO,
                framing_bytes: 0,
                queue: QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(1000) }),
                channels: Vec::new(),
                arq: None,
            };
            Some((spec.clone(), spec))
        }
    }
}

fn host(side: &str, k: u32, pairs: u32) -> String {
    if pairs == 1 { side.to_owned() } else { format!("{side}-{k}") }
}
