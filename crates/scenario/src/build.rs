//! A scenario from its checked values: names resolved, presets expanded, and what no single value shows.

mod channel;
mod flow;
mod link;
mod live;
mod node;
mod preset;

use crate::model::{Node, Record, Scenario};
use crate::stacks::Library;
use links::spec::LinkSpec;
use params::problem::{Problems, did_you_mean, listed};
use params::units::Amount;
use params::{Item, Value, Values};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

/// What building needs besides the values.
pub(crate) struct Context<'a> {
    pub library: &'a Library<'a>,
    /// The directory from which the scenario's files are found.
    pub dir: &'a Path,
    /// The connections of each flow, by its name in the file.
    pub flows: Vec<(String, Range<u32>)>,
}

pub(crate) fn scenario(v: &Values, context: &Context<'_>, p: &mut Problems) -> Option<Scenario> {
    let no_links = matches!(v.item("link"), Some(Item { value: Value::Bad, .. }));
    let mut net = Network { incomplete: no_links, ..Network::default() };
    preset::expand(v, context, &mut net, p);
    let of_presets = net.nodes.len();
    for node in v.tables("node") {
        let Some(name) = node.item("name") else { continue };
        let taken = name.text().and_then(|text| net.node(text));
        // Two of [[node]] were told apart before; this is about a preset's nodes.
        match taken {
            None => net.add_node(name, node::node(node), p),
            Some(at) if at < of_presets => name.refuse(p, "is taken: a preset makes a node of this name"),
            Some(_) => {}
        }
    }
    for link in v.tables("link") {
        link::add(link, context, &mut net, p);
    }
    if net.nodes.is_empty() {
        v.missing(p, "node", "hosts, given by [[node]], [chain] or [dumbbell]");
    }
    let mut flows = flow::Flows::default();
    for item in v.tables("flow") {
        flow::add(item, context, &net, &mut flows, p);
    }
    if v.item("flow").is_some_and(|i| matches!(&i.value, Value::List(l) if l.is_empty())) {
        v.missing(p, "flow", "without one nothing happens");
    }
    flow::check_end(v, &flows, p);
    Some(Scenario {
        name: v.name(),
        about: v.text("about").unwrap_or_default().to_owned(),
        source: v.texts("source"),
        duration: v.span("duration"),
        seed: v.whole("seed").unwrap_or(1),
        record: record(v.table("record"), &net, &flows, p),
        live: live::live(v.table("live"), &net, p),
        commands: flows.commands,
        nodes: net.nodes,
        links: net.links.into_iter().collect::<Option<Vec<_>>>()?,
        flows: flows.list,
        stacks: flows.stacks,
    })
}

/// The connections of each flow: they are numbered in the order of the file.
pub(crate) fn connections(v: &Values) -> Vec<(String, Range<u32>)> {
    let mut next = 0u32;
    let range = |flow: &Values| {
        let first = next;
        // No run has as many connections as a `u32` can count.
        next = first.saturating_add(flow.whole("count").unwrap_or(1) as u32);
        (flow.name(), first..next)
    };
    v.tables("flow").map(range).collect()
}

/// Nodes and links while they are collected. A link that was refused keeps its place, so that nothing that depends
/// on it is refused as well.
#[derive(Default)]
pub(crate) struct Network {
    pub nodes: Vec<Node>,
    /// Only looked up, never listed: its order does not show.
    node_at: HashMap<String, usize>,
    pub links: Vec<Option<crate::model::Link>>,
    pub link_names: Vec<String>,
    known_links: HashSet<String>,
    pub ends: Vec<(usize, usize)>,
    /// Hosts of a dumbbell with several pairs: `left` and `right` stand for all of them.
    pub pairs: u32,
    /// Something about a link's ends was refused: no path is judged.
    pub incomplete: bool,
    parts: OnceCell<Vec<usize>>,
}

impl Network {
    pub fn node(&self, name: &str) -> Option<usize> {
        self.node_at.get(name).copied()
    }

    pub fn add_node(&mut self, name: &Item, node: Node, p: &mut Problems) {
        let Some(text) = name.text() else { return };
        if self.node(text).is_some() {
            return name.refuse(p, "is there twice");
        }
        let at = self.push_node(text);
        self.nodes[at] = Node { name: text.to_owned(), ..node };
    }

    pub fn push_node(&mut self, name: &str) -> usize {
        let at = self.nodes.len();
        self.node_at.insert(name.to_owned(), at);
        self.nodes.push(Node { name: name.to_owned(), ..Node::default() });
        at
    }

    pub fn push_link(&mut self, name: &str, between: (usize, usize), specs: Option<(LinkSpec, LinkSpec)>) {
        self.known_links.insert(name.to_owned());
        self.link_names.push(name.to_owned());
        self.ends.push(between);
        self.links.push(specs.map(|(forward, back)| crate::model::Link {
            name: name.to_owned(),
            between,
            forward,
            back,
        }));
    }

    pub fn has_link(&self, name: &str) -> bool {
        self.known_links.contains(name)
    }

    /// The node that a value names, or a sentence about it.
    pub fn named(&self, item: Option<&Item>, p: &mut Problems) -> Option<usize> {
        let item = item?;
        let name = item.text()?;
        let found = self.node(name);
        if found.is_none() {
            item.refuse(p, no_such("node", name, self.nodes.iter().map(|n| n.name.as_str()), p));
        }
        found
    }

    /// Whether links lead from one node to another. The parts of the network are found once: a file may have as many
    /// flows as nodes.
    pub fn connected(&self, a: usize, b: usize) -> bool {
        let parts = self.parts.get_or_init(|| parts(self.nodes.len(), &self.ends));
        parts[a] == parts[b]
    }
}

/// For each node the number of the part of the network in which it lies.
fn parts(nodes: usize, ends: &[(usize, usize)]) -> Vec<usize> {
    let mut neighbours = vec![Vec::new(); nodes];
    for &(a, b) in ends {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut part = vec![usize::MAX; nodes];
    for first in 0..nodes {
        let mut waiting = vec![first];
        while let Some(node) = waiting.pop() {
            if part[node] == usize::MAX {
                part[node] = first;
                waiting.extend(&neighbours[node]);
            }
        }
    }
    part
}

/// Ethernet's header, IP's and TCP's, without options.
const LEAST_SNAP: u64 = 54;

fn snap(item: &Item, p: &mut Problems) -> Option<u32> {
    let Value::Amount(Amount::Bytes(bytes)) = item.value else { return None };
    if bytes < LEAST_SNAP {
        item.refuse(
            p,
            format!("keeps no whole TCP header: at least {LEAST_SNAP} B, and 128 B for all options"),
        );
    }
    Some(u32::try_from(bytes).unwrap_or(u32::MAX))
}

fn record(v: Option<&Values>, net: &Network, flows: &flow::Flows, p: &mut Problems) -> Record {
    let Some(v) = v else { return Record::default() };
    let nodes: Vec<&str> = net.nodes.iter().map(|n| n.name.as_str()).collect();
    let links: Vec<&str> = net.link_names.iter().map(String::as_str).collect();
    let names: Vec<&str> = flows.list.iter().map(|f| f.name.as_str()).collect();
    Record {
        capture: chosen(v.item("capture"), "node", &nodes, p),
        snap_bytes: v.item("snap").and_then(|item| snap(item, p)),
        state: chosen(v.item("state"), "flow", &names, p),
        queues: chosen(v.item("queues"), "link", &links, p),
        drops: v.flag("drops"),
        retransmissions: v.flag("retransmissions"),
        packets: v.flag("packets"),
        applications: v.flag("applications"),
        blocked: v.flag("blocked"),
        held: v.flag("held"),
    }
}

/// That there is nothing of that name, with the name that may have been meant.
pub(crate) fn no_such<'a>(
    noun: &str,
    name: &str,
    all: impl Iterator<Item = &'a str> + Clone,
    p: &Problems,
) -> String {
    match p.is_full() {
        true => format!("is no {noun}"),
        false => format!("is no {noun}{}{}", did_you_mean(name, all.clone()), listed(all)),
    }
}

/// The indices that a flag or a list of names stands for, ascending, each once.
fn chosen(item: Option<&Item>, noun: &str, all: &[&str], p: &mut Problems) -> Vec<usize> {
    let Some(item) = item else { return Vec::new() };
    match &item.value {
        Value::Flag(true) => (0..all.len()).collect(),
        Value::List(names) => {
            let mut found = Vec::new();
            // Of equal names the first.
            let places: HashMap<&str, usize> =
                all.iter().enumerate().rev().map(|(at, name)| (*name, at)).collect();
            for name in names {
                let text = name.text().unwrap_or_default();
                match places.get(text) {
                    Some(at) => found.push(*at),
                    None => name.refuse(p, no_such(noun, text, all.iter().copied(), p)),
                }
            }
            found.sort_unstable();
            found.dedup();
            found
        }
        _ => Vec::new(),
    }
}
