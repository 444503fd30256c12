//! Flows: who sends what to whom, over which stacks.

use super::{Context, Network};
use crate::model::{Command, Distribution, Flow, Start, StartSpread, Transport, Workload};
use crate::reader::Reader;
use crate::stacks::Wanted;
use instant::{Span, Time};
use params::problem::{Problems, did_you_mean, listed};
use params::{Item, Values};
use std::collections::HashMap;
use tcp::stack::{Kind, Stack};

/// What stands for a host's address in what its programs are told.
const PLACEHOLDERS: [&str; 2] = ["client", "server"];

#[derive(Default)]
pub(super) struct Flows {
    pub list: Vec<Flow>,
    pub stacks: Vec<Stack>,
    pub commands: Vec<Command>,
    /// Which stack a name stands for; `None` was refused. Only looked up.
    known: HashMap<String, Option<usize>>,
    /// Flows that do not end by themselves, as the file names them.
    endless: Vec<String>,
}

pub(super) fn add(v: &Values, context: &Context<'_>, net: &Network, flows: &mut Flows, p: &mut Problems) {
    let ends = ends(v, net, p);
    let start = start(v);
    let stop = v.span("stop").map(|s| Time(s.0));
    if let (Some(item), Some(start), Some(stop)) = (v.item("stop"), start, stop)
        && stop <= start.at
    {
        item.refuse(p, "comes before the flow starts");
    }
    let transport = transport(v, context, flows, p);
    let workload = v.table("workload").and_then(|w| workload(w, v, transport, flows, p));
    let readers = ["back_reader", "reader"].map(|key| reader(v, key, transport, flows, p));
    let (Some(ends), Some(start), Some(transport), Some(workload)) = (ends, start, transport, workload)
    else {
        return;
    };
    let [Some(back), Some(there)] = readers else { return };
    let readers = [back, there];
    if (never_ends(&workload) && stop.is_none()) || readers.iter().any(Reader::stops_for_good) {
        flows.endless.push(v.path.clone());
    }
    let count = v.whole("count").unwrap_or(1) as u32;
    let flow = Flow {
        name: v.name(),
        from: ends[0].0,
        to: ends[0].1,
        count,
        start,
        stop,
        transport,
        workload,
        readers,
    };
    match &ends[..] {
        [_] => flows.list.push(flow),
        pairs => flows.list.extend(spread_over(&flow, pairs)),
    }
}

/// The run has an end, and every flow begins before it.
pub(super) fn check_end(v: &Values, flows: &Flows, p: &mut Problems) {
    if let (None, Some(flow)) = (v.item("duration"), flows.endless.first()) {
        v.missing(p, "duration", &format!("{flow} never ends by itself"));
    }
    let Some(duration) = v.span("duration") else { return };
    for flow in v.tables("flow") {
        if let Some(item) = flow.item("start")
            && item.span().is_some_and(|start| start >= duration)
        {
            item.refuse(p, format!("comes after the run of {:?}", params::units::show_span(duration)));
        }
    }
}

/// The pairs of nodes between which the flow's sources are spread: one, but for a dumbbell's sides.
fn ends(v: &Values, net: &Network, p: &mut Problems) -> Option<Vec<(usize, usize)>> {
    let sides = (v.text("from"), v.text("to"));
    if net.pairs > 1 && matches!(sides, (Some("left"), Some("right")) | (Some("right"), Some("left"))) {
        let (Some(from), Some(to)) = sides else { return None };
        let host = |side: &str, k| net.node(&format!("{side}-{k}"));
        return (1..=net.pairs).map(|k| Some((host(from, k)?, host(to, k)?))).collect();
    }
    let (from, to) = (net.named(v.item("from"), p), net.named(v.item("to"), p));
    let (from, to) = (from?, to?);
    if from == to {
        v.item("to")?.refuse(p, "is where the flow comes from");
    } else if !net.incomplete && !net.connected(from, to) {
        v.item("to")?
            .refuse(p, format!("cannot be reached from {:?}: no path of links leads there", v.text("from")?));
    }
    Some(vec![(from, to)])
}

/// Source k goes to pair k, k + pairs, and so on; each pair gets a flow of its own.
fn spread_over(flow: &Flow, pairs: &[(usize, usize)]) -> Vec<Flow> {
    let n = pairs.len() as u32;
    let used = n.min(flow.count);
    let part = |k: u32| {
        let (from, to) = pairs[k as usize];
        let start = match flow.start.spread {
            StartSpread::Spaced { by } => Start {
                at: flow.start.at + by * i64::from(k),
                spread: StartSpread::Spaced { by: by * i64::from(n) },
            },
            _ => flow.start,
        };
        let count = flow.count / n + u32::from(k < flow.count % n);
        Flow { name: format!("{}-{}", flow.name, k + 1), from, to, count, start, ..flow.clone() }
    };
    (0..used).map(part).collect()
}

fn start(v: &Values) -> Option<Start> {
    let spread = if v.item("start_spacing").is_some() {
        StartSpread::Spaced { by: v.span("start_spacing")? }
    } else if v.item("start_within").is_some() {
        StartSpread::Random { within: v.span("start_within")? }
    } else {
        StartSpread::Together
    };
    Some(Start { at: Time(v.span("start")?.0), spread })
}

fn never_ends(workload: &Workload) -> bool {
    match workload {
        Workload::File { .. } | Workload::Command { .. } => false,
        Workload::RequestResponse { count, .. } => count.is_none(),
        _ => true,
    }
}

fn reader(
    v: &Values,
    key: &str,
    transport: Option<Transport>,
    flows: &Flows,
    p: &mut Problems,
) -> Option<Reader> {
    let Some(item) = v.item(key) else { return Some(Reader::default()) };
    let reader = Reader::read(item.table()?, p)?;
    if v.table("workload").is_some_and(|w| w.variant_name() == "command") {
        item.table()?
            .refuse(p, "does not go with a workload of kind = \"command\": its programs read by themselves");
    }
    match transport {
        Some(Transport::Datagram { .. }) if !reader.is_at_once() => {
            item.table()?.refuse(p, "goes with tcp only: datagrams have no receive window");
        }
        Some(Transport::Tcp { stack, .. }) if flows.one_way(stack) && !reader.is_at_once() => {
            item.table()?.refuse(
                p,
                "goes with real endpoints only: the receiver of a one-way stack has no receive window",
            );
        }
        _ => {}
    }
    Some(reader)
}

fn transport(v: &Values, context: &Context<'_>, flows: &mut Flows, p: &mut Problems) -> Option<Transport> {
    let datagram = v.word("transport")? == "datagram";
    let others: &[&str] = if datagram { &["stack", "receiver"] } else { &["packet"] };
    for item in others.iter().filter_map(|key| v.item(key)) {
        item.refuse(
            p,
            if datagram { "goes with tcp only" } else { "goes with transport = \"datagram\" only" },
        );
    }
    if datagram {
        let Some(item) = v.item("packet") else {
            v.missing(p, "packet", "bytes of a datagram, headers included");
            return None;
        };
        let bytes = v.bytes("packet")?;
        if bytes > 65_535 {
            item.refuse(p, "is too large: at most 65535 bytes");
        }
        return Some(Transport::Datagram { packet_bytes: bytes.min(65_535) as u32 });
    }
    let Some(item) = v.item("stack") else {
        v.missing(p, "stack", "the sender's stack, a name (rexmit stacks lists them) or a file");
        return None;
    };
    let stack = flows.stack(item, context, p);
    let receiver = match v.item("receiver") {
        None => stack,
        Some(item) => flows.stack(item, context, p),
    };
    let (stack, receiver) = (stack?, receiver?);
    flows.check_receiver(stack, receiver, v, p);
    Some(Transport::Tcp { stack, receiver })
}

impl Flows {
    fn stack(&mut self, item: &Item, context: &Context<'_>, p: &mut Problems) -> Option<usize> {
        let name = item.text()?;
        if let Some(known) = self.known.get(name).copied().flatten() {
            return Some(known);
        }
        let wanted =
            Wanted { name, origin: &item.origin, path: &item.path, shown: &item.shown, dir: context.dir };
        let found = context.library.stack(&wanted, p).map(|stack| self.keep(stack, item, p));
        self.known.insert(name.to_owned(), found);
        found
    }

    /// A stack's name stands for it in tables and in the scenario as resolved, so it stands for one.
    fn keep(&mut self, stack: Stack, item: &Item, p: &mut Problems) -> usize {
        let same_name = self.stacks.iter().position(|s| s.name == stack.name);
        if let Some(at) = same_name {
            if self.stacks[at] != stack {
                item.refuse(p, format!("is a second stack of the name {:?}, and another one", stack.name));
            }
            return at;
        }
        self.stacks.push(stack);
        self.stacks.len() - 1
    }

    fn one_way(&self, stack: usize) -> bool {
        matches!(self.stacks[stack].kind, Kind::OneWay(_))
    }

    fn check_receiver(&self, stack: usize, receiver: usize, v: &Values, p: &mut Problems) {
        let Some(item) = v.item("receiver") else { return };
        if self.one_way(stack) && stack != receiver {
            item.refuse(p, "does not go with a one-way stack, which has its own sink: leave it out");
        } else if self.one_way(receiver) && !self.one_way(stack) {
            item.refuse(p, "is a one-way stack and cannot answer a real one");
        }
    }
}

fn workload(
    v: &Values,
    flow: &Values,
    transport: Option<Transport>,
    flows: &mut Flows,
    p: &mut Problems,
) -> Option<Workload> {
    let datagram = flow.word("transport") == Some("datagram");
    let kind = v.variant?.name;
    if datagram && matches!(kind, "endless" | "request-response" | "command") {
        v.refuse(p, format!("is {kind:?}, which goes with tcp only: nothing paces datagrams"));
    }
    if let Some(Transport::Tcp { stack, .. }) = transport
        && kind == "request-response"
        && flows.one_way(stack)
    {
        v.refuse(p, "is \"request-response\", and a one-way stack carries no answers");
    }
    let message = |p: &mut Problems| match transport {
        Some(Transport::Datagram { packet_bytes }) => {
            if let Some(item) = v.item("message") {
                item.refuse(p, "goes with tcp only: a datagram flow writes packets");
            }
            Some(u64::from(packet_bytes))
        }
        _ if datagram => None,
        _ => {
            if v.item("message").is_none() {
                v.missing(p, "message", "bytes that the application writes at once");
            }
            v.bytes("message")
        }
    };
    Some(match kind {
        "endless" => Workload::Endless,
        "file" => Workload::File { bytes: v.bytes("size")? },
        "constant-rate" => {
            let message_bytes = message(p);
            Workload::ConstantRate { rate_bps: v.rate("rate")?, message_bytes: message_bytes? }
        }
        "on-off" => {
            let message_bytes = message(p);
            Workload::OnOff {
                on: distribution(v, "on", p)?,
                off: distribution(v, "off", p)?,
                rate_bps: v.rate("rate")?,
                message_bytes: message_bytes?,
            }
        }
        "request-response" => Workload::RequestResponse {
            request_bytes: v.bytes("request")?,
            response_bytes: v.bytes("response")?,
            think: distribution(v, "think", p)?,
            count: v.whole("requests"),
        },
        "command" => {
            let [client, server] = ["client", "server"].map(|key| command(v, key, p));
            flows.commands.push(Command { server, client: client? });
            Workload::Command { command: flows.commands.len() - 1 }
        }
        _ => return None,
    })
}

/// What a shell is to run.
fn command(v: &Values, key: &str, p: &mut Problems) -> Option<String> {
    let (item, line) = (v.item(key)?, v.text(key)?);
    if line.trim().is_empty() {
        item.refuse(p, "runs nothing: write the program and what it is told");
        return None;
    }
    // `${name}` is the shell's, `%{name}` curl's.
    let braced = line.match_indices('{').filter(|(at, _)| !line[..*at].ends_with(['$', '%']));
    let words = braced.filter_map(|(at, _)| line[at + 1..].split_once('}').map(|(word, _)| word));
    let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
    let unknown = words.filter(is_word).find(|word| !PLACEHOLDERS.contains(word));
    if let Some(word) = unknown {
        let near = did_you_mean(word, PLACEHOLDERS);
        let all = listed(PLACEHOLDERS);
        let says = format!(
            "has {{{word}}}, which stands for nothing{near}{all}; braces of the program's own have a space within"
        );
        item.refuse(p, says);
        return None;
    }
    Some(line.to_owned())
}

fn distribution(v: &Values, mean: &str, p: &mut Problems) -> Option<Distribution> {
    let word = v.word("distribution")?;
    let mean = v.span(mean)?;
    if word != "pareto"
        && let Some(item) = v.item("shape")
    {
        item.refuse(p, format!("goes with distribution = \"pareto\" only, not {word:?}"));
    }
    match word {
        "pareto" if v.item("shape").is_none() => {
            v.missing(p, "shape", "distribution = \"pareto\" needs it");
            None
        }
        // A mean of zero leaves nothing to draw.
        _ if mean == Span::ZERO => Some(Distribution::Constant(Span::ZERO)),
        "pareto" => Some(Distribution::Pareto { mean, shape: v.number("shape")? }),
        "exponential" => Some(Distribution::Exponential { mean }),
        _ => Some(Distribution::Constant(mean)),
    }
}
