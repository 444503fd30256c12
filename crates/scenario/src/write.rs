//! A scenario or a stack as TOML: all of it said, nothing left to presets, defaults and other files.

mod link;
mod node;
mod stack;

pub use stack::timer_rule;

use crate::model::*;
use instant::{Span, Time};
use params::units::{show_bytes, show_rate, show_span};
use params::{Lines, quoted};

/// The scenario as resolved. Read again it gives the same scenario, whatever became of the files it named.
pub fn to_toml(s: &Scenario) -> String {
    let mut out = Lines::default();
    out.text("name", &s.name);
    out.text("about", &s.about);
    out.sources(&s.source);
    if let Some(duration) = s.duration {
        out.text("duration", show_span(duration));
    }
    out.whole("seed", s.seed);
    for node in &s.nodes {
        node::node(node, &mut out);
    }
    for link in &s.links {
        link::link(link, s, &mut out);
    }
    for flow in &s.flows {
        write_flow(flow, s, &mut out);
    }
    write_live(&s.live, s, &mut out);
    write_record(&s.record, s, &mut out);
    for stack in &s.stacks {
        out.head("[[stack]]");
        stack::stack(stack, "stack.", &mut out);
    }
    out.into_text()
}

/// A stack as a stack file.
pub fn stack_to_toml(s: &tcp::stack::Stack) -> String {
    let mut out = Lines::default();
    stack::stack(s, "", &mut out);
    out.into_text()
}

/// Where a name is an index out of range, nothing stands for it.
fn chosen<'a>(out: &mut Lines, key: &str, chosen: &[usize], name: impl Fn(usize) -> Option<&'a str>) {
    if !chosen.is_empty() {
        out.names(key, chosen.iter().filter_map(|&at| name(at)));
    }
}

fn since_start(time: Time) -> String {
    show_span(time - Time::ZERO)
}

fn write_flow(f: &Flow, s: &Scenario, out: &mut Lines) {
    let node = |at: usize| s.nodes.get(at).map_or("", |n| n.name.as_str());
    let stack = |at: usize| s.stacks.get(at).map_or("", |s| s.name.as_str());
    out.head("[[flow]]");
    out.text("name", &f.name);
    out.text("from", node(f.from));
    out.text("to", node(f.to));
    out.whole("count", f.count.into());
    out.text("start", since_start(f.start.at));
    match f.start.spread {
        StartSpread::Together => {}
        StartSpread::Spaced { by } => out.span("start_spacing", by),
        StartSpread::Random { within } => out.span("start_within", within),
    }
    if let Some(stop) = f.stop {
        out.text("stop", since_start(stop));
    }
    match f.transport {
        Transport::Tcp { stack: sender, receiver } => {
            out.text("stack", stack(sender));
            if receiver != sender {
                out.text("receiver", stack(receiver));
            }
        }
        Transport::Datagram { packet_bytes } => {
            out.text("transport", "datagram");
            out.text("packet", show_bytes(packet_bytes.into()));
        }
    }
    let tcp = matches!(f.transport, Transport::Tcp { .. });
    out.raw("workload", workload(&f.workload, s, tcp));
    for (key, reader) in ["back_reader", "reader"].into_iter().zip(&f.readers) {
        if !reader.is_at_once() {
            out.table(key, |out| reader.write("kind", out));
        }
    }
}

fn workload(w: &Workload, s: &Scenario, tcp: bool) -> String {
    let message =
        |bytes: u64| if tcp { format!(", message = {}", quoted(&show_bytes(bytes))) } else { String::new() };
    match w {
        Workload::Endless => "{ kind = \"endless\" }".to_owned(),
        Workload::File { bytes } => format!("{{ kind = \"file\", size = {} }}", quoted(&show_bytes(*bytes))),
        Workload::ConstantRate { rate_bps, message_bytes } => {
            let rate = quoted(&show_rate(*rate_bps));
            format!("{{ kind = \"constant-rate\", rate = {rate}{} }}", message(*message_bytes))
        }
        Workload::OnOff { on, off, rate_bps, message_bytes } => format!(
            "{{ kind = \"on-off\", rate = {}{}, on = {}, off = {}{} }}",
            quoted(&show_rate(*rate_bps)),
            message(*message_bytes),
            quoted(&show_span(mean(on))),
            quoted(&show_span(mean(off))),
            distribution(on),
        ),
        Workload::RequestResponse { request_bytes, response_bytes, think, count } => format!(
            "{{ kind = \"request-response\", request = {}, response = {}, think = {}{}{} }}",
            quoted(&show_bytes(*request_bytes)),
            quoted(&show_bytes(*response_bytes)),
            quoted(&show_span(mean(think))),
            distribution(think),
            count.map_or(String::new(), |n| format!(", requests = {n}")),
        ),
        Workload::Command { command } => {
            let Some(command) = s.commands.get(*command) else { return String::new() };
            let server =
                command.server.as_ref().map_or(String::new(), |s| format!(", server = {}", quoted(s)));
            format!("{{ kind = \"command\", client = {}{server} }}", quoted(&command.client))
        }
    }
}

fn mean(d: &Distribution) -> Span {
    match *d {
        Distribution::Constant(mean)
        | Distribution::Exponential { mean }
        | Distribution::Pareto { mean, .. } => mean,
    }
}

fn distribution(d: &Distribution) -> String {
    match d {
        Distribution::Constant(_) => ", distribution = \"constant\"".to_owned(),
        Distribution::Exponential { .. } => ", distribution = \"exponential\"".to_owned(),
        Distribution::Pareto { shape, .. } => format!(", distribution = \"pareto\", shape = {shape:?}"),
    }
}

fn write_live(l: &Live, s: &Scenario, out: &mut Lines) {
    if *l == Live::default() {
        return;
    }
    let sysctls = |out: &mut Lines, all: &[(String, String)]| {
        let all: Vec<String> = all.iter().map(|(key, value)| format!("{key}={value}")).collect();
        out.names("sysctl", all.iter().map(String::as_str));
    };
    out.head("[live]");
    sysctls(out, &l.sysctls);
    out.flag("real_time", l.real_time);
    for (node, all) in &l.hosts {
        out.head("[[live.host]]");
        out.text("name", s.nodes.get(*node).map_or("", |n| n.name.as_str()));
        sysctls(out, all);
    }
}

fn write_record(r: &Record, s: &Scenario, out: &mut Lines) {
    if *r == Record::default() {
        return;
    }
    out.head("[record]");
    chosen(out, "capture", &r.capture, |at| s.nodes.get(at).map(|n| n.name.as_str()));
    if let Some(bytes) = r.snap_bytes {
        out.text("snap", show_bytes(bytes.into()));
    }
    chosen(out, "state", &r.state, |at| s.flows.get(at).map(|f| f.name.as_str()));
    chosen(out, "queues", &r.queues, |at| s.links.get(at).map(|l| l.name.as_str()));
    out.flag("drops", r.drops);
    out.flag("retransmissions", r.retransmissions);
    out.flag("packets", r.packets);
    out.flag("applications", r.applications);
    out.flag("blocked", r.blocked);
    out.flag("held", r.held);
}
