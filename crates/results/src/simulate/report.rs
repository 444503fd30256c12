//! A run in figures: what was counted at hosts and links, whatever was recorded.

mod json;

use super::At;
use super::needs::takes_no_time;
use super::rows::Cause;
use instant::{Span, Time};
use links::spec::{ChannelKind, ChannelSpec, LinkSpec, Outage};
use links::{Counters, LinkId, Tally};
use scenario::model::{Scenario, Transport};
use sim::stats::Way;
use sim::{End, Summary};
use std::collections::BTreeMap;
use tcp::endpoint::Failure;
use tcp::own::OwnRule;
use tcp::stack::{Kind, Stack};

pub use json::no_run;

/// Packets that links lost, by link, cause and channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses(BTreeMap<(u32, Cause, Option<u16>), u64>);

impl Losses {
    #[inline]
    pub fn add(&mut self, link: LinkId, cause: links::Cause) {
        let (cause, channel) = Cause::of(cause);
        *self.0.entry((link.0, cause, channel)).or_default() += 1;
    }
    fn of(&self, link: LinkId) -> impl Iterator<Item = (Cause, Option<u16>, u64)> + '_ {
        let all = self.0.iter().filter(move |((l, _, _), _)| *l == link.0);
        all.map(|((_, cause, channel), n)| (*cause, *channel, *n))
    }
}

/// All connections of one flow of the scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowReport {
    pub name: String,
    pub from: String,
    pub to: String,
    /// Sender's and receiver's; `None` for datagrams.
    pub stacks: Option<(String, String)>,
    pub connections: u64,
    pub ended: u64,
    pub failures: Vec<(&'static str, u64)>,
    /// Client to server, and back.
    pub ways: [Way; 2],
    /// Until when its goodput counts: the run's end, where a transfer had not ended. It has not been done in the time to
    /// its last delivery.
    pub until: Option<Time>,
    /// Packets with payload that were on their way as the run ended, where that is known flow by flow.
    pub inside: Option<[u64; 2]>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LinkReport {
    pub name: String,
    pub forward: bool,
    pub from: String,
    pub to: String,
    pub counters: Counters,
    /// Cause, channel, packets; empty where nothing was recorded.
    pub losses: Vec<(Cause, Option<String>, u64)>,
    /// Each channel, and what it was asked about.
    pub channels: Vec<(String, Tally)>,
    /// Tries, of a link that retries.
    pub frames: Option<Tally>,
    /// When it is dark, by channel: as the scenario says it.
    pub outages: Vec<(String, Outage)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub name: String,
    pub at: Option<At>,
    pub seed: u64,
    pub end: End,
    pub time: Time,
    pub duration: Option<Span>,
    pub events: u64,
    pub flows: Vec<FlowReport>,
    pub links: Vec<LinkReport>,
    /// Of a run on the live bench.
    pub live: Option<Live>,
    /// Stacks of which some sections are assumed (docs/scenario.md), each with those.
    assumed: Vec<(String, Vec<&'static str>)>,
    /// Rules of somebody's own that its stacks have: stack, section and class.
    own_rules: Vec<(String, &'static str, String)>,
    /// Names of the flows whose connections are stuck, each once.
    stuck: Vec<String>,
    /// Names of the links that take no time.
    instant: Vec<String>,
    /// Why it was stopped, if that was not the caller.
    pub exceeded: Option<String>,
}

/// What only a run on the live bench has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// The wall clock at the beginning of the run.
    pub origin: Time,
    pub kernel: String,
    /// Hosts whose TCP was rexmit's own; at the others it was the kernel's.
    pub own_hosts: Vec<String>,
    /// How it ended, where no simulation ends so.
    pub end: Option<&'static str>,
    /// Why it could not go on.
    pub failure: Option<String>,
    /// What makes the answer worth less.
    pub warnings: Vec<String>,
    /// How late packets left the bridge: the share of packets that was no later than that.
    pub late: [Option<Span>; 3],
    pub latest: Span,
    /// The bars of docs/live.md that the run missed: key, value and bar.
    pub missed: Vec<(&'static str, f64, f64)>,
    /// What it shows is to be judged all the same.
    pub accepted: bool,
    pub packets: u64,
    pub over_1ms: u64,
    pub overload: u64,
    pub shifted: u64,
    pub most_shifted: Span,
    pub retried: u64,
    pub ignored: u64,
    pub inside: u64,
    pub wake_ups: u64,
    pub coalesced_wake_ups: u64,
    pub real_time: bool,
    pub cores_awake: bool,
    /// Who told kernels' senders' state, where it was recorded.
    pub state_from: Option<&'static str>,
}

impl Live {
    /// It kept time too badly to judge what it shows.
    pub fn is_withheld(&self) -> bool {
        !self.missed.is_empty() && !self.accepted
    }
}

impl Report {
    pub fn new(scenario: &Scenario, at: At, summary: &Summary, losses: Losses) -> Report {
        Report { at: Some(at), ..Report::unrecorded(scenario, summary, &losses) }
    }

    /// The same without where its packets were seen: counts do not depend on it.
    pub fn counts(self) -> Report {
        Report { at: None, ..self }
    }

    /// Of a run that was not analysed.
    pub fn unrecorded(scenario: &Scenario, summary: &Summary, losses: &Losses) -> Report {
        let node = |at: usize| scenario.nodes.get(at).map_or(String::new(), |n| n.name.clone());
        let flows = (0..scenario.flows.len()).map(|index| flow(scenario, index, summary, &node));
        let directions =
            summary.links.iter().zip(&summary.tallies).zip(&scenario.links).enumerate().flat_map(
                |(pair, ((c, t), link))| {
                    let ends = [link.between, (link.between.1, link.between.0)];
                    let ids = [LinkId::forward(pair), LinkId::back(pair)];
                    [&link.forward, &link.back]
                        .into_iter()
                        .enumerate()
                        .map(move |(back, spec)| (link, ids[back], spec, ends[back], (c[back], &t[back])))
                },
            );
        let links = directions.map(|(link, id, spec, (from, to), (counters, tallies))| LinkReport {
            name: link.name.clone(),
            forward: id.is_forward(),
            from: node(from),
            to: node(to),
            counters,
            losses: losses
                .of(id)
                .map(|(cause, at, n)| (cause, at.and_then(|at| channel(spec, at)), n))
                .collect(),
            channels: tallies
                .channels
                .iter()
                .filter_map(|(at, tally)| Some((channel(spec, *at)?, *tally)))
                .collect(),
            frames: tallies.frames.as_deref().copied(),
            outages: spec.channels.iter().filter_map(outage).collect(),
        });
        let links = links.collect();
        Report {
            name: scenario.name.clone(),
            at: None,
            seed: summary.seed,
            end: summary.end.clone(),
            time: summary.time,
            duration: scenario.duration,
            events: summary.events,
            flows: flows.collect(),
            links,
            live: None,
            assumed: assumed(scenario),
            own_rules: own_rules(scenario),
            stuck: stuck(scenario, summary),
            instant: scenario.links.iter().filter(|l| takes_no_time(l)).map(|l| l.name.clone()).collect(),
            exceeded: None,
        }
    }

    /// How it ended, in one word.
    pub fn end_word(&self) -> &'static str {
        if let Some(word) = self.live.as_ref().and_then(|l| l.end) {
            return word;
        }
        match self.end {
            End::Duration => "duration",
            End::Done => "done",
            End::Stopped => "stopped",
            End::Stuck { .. } => "stuck",
            End::Standstill { .. } => "standstill",
            End::Broken { .. } => "broken",
        }
    }

    /// Why the run failed, if it did.
    pub fn failure(&self) -> Option<String> {
        if let Some(live) = &self.live {
            return live.failure.clone();
        }
        match &self.end {
            End::Stuck { connections, in_vain } => {
                let (n, flows) = (connections.len(), self.stuck.join(", "));
                let what = if n == 1 { "1 connection is".into() } else { format!("{n} connections are") };
                let (why, fix) = match in_vain {
                    None => ("nothing will ever happen again".to_owned(), ""),
                    Some(time) => {
                        let hours = time.as_secs() / 3600.0;
                        (
                            format!("nothing has been delivered for {hours:.0} h"),
                            "; say duration = to go on longer",
                        )
                    }
                };
                let at = self.time.as_secs();
                Some(format!("stuck at {at:.3} s: {why}, and {what} not done (flow {flows}){fix}"))
            }
            End::Standstill { events, .. } => {
                let links = match self.instant.len() {
                    0 => String::new(),
                    1 => format!("; link {} has neither rate nor delay", self.instant[0]),
                    _ => format!("; links {} have neither rate nor delay", self.instant.join(", ")),
                };
                let (at, flows) = (self.time.as_secs(), self.stuck.join(", "));
                Some(format!(
                    "stuck at {at:.3} s: {events} events at one moment, so time does not pass any more (flow {flows}){links}"
                ))
            }
            // The seed says which run it was, to whoever wants to see it again.
            End::Broken { why } => {
                let at = self.time.as_secs();
                Some(format!("stopped at {at:.3} s of the run with seed {}: {why}", self.seed))
            }
            End::Stopped => {
                self.exceeded.as_ref().map(|why| format!("stopped at {:.3} s: {why}", self.time.as_secs()))
            }
            End::Duration | End::Done => None,
        }
    }

    /// What a reader of the answer has to know.
    pub fn warnings(&self) -> Vec<String> {
        let failed = self.flows.iter().flat_map(|f| {
            f.failures.iter().map(|(why, n)| {
                let what = if *n == 1 { "1 connection".into() } else { format!("{n} connections") };
                format!("flow {}: {what} {why}", f.name)
            })
        });
        let of_bench = self.live.iter().flat_map(|l| l.warnings.iter().cloned());
        let assumed = self.assumed.iter().map(|(name, sections)| {
            format!(
                "stack {name} is assumed in part (no source tells all of its sections {}): rexmit stacks {name}",
                sections.join(", ")
            )
        });
        let own = self.own_rules.iter().map(|(stack, section, class)| {
            format!("stack {stack}: its [{section}] is the class {class} in Python")
        });
        self.failure().into_iter().chain(failed).chain(of_bench).chain(assumed).chain(own).collect()
    }
}

fn flow(scenario: &Scenario, index: usize, summary: &Summary, node: &dyn Fn(usize) -> String) -> FlowReport {
    let flow = &scenario.flows[index];
    let stack = |at: usize| scenario.stacks.get(at).map_or(String::new(), |s| s.name.clone());
    let mine = || summary.connections.iter().filter(|c| c.flow as usize == index);
    let connections = mine().count() as u64;
    let ended = mine().filter(|c| c.ended.is_some() && c.failure.is_none()).count() as u64;
    let open = matches!(flow.transport, Transport::Tcp { .. }) && ended < connections;
    let mut failures: BTreeMap<&'static str, u64> = BTreeMap::new();
    mine().filter_map(|c| c.failure).for_each(|f| *failures.entry(failure(f)).or_default() += 1);
    FlowReport {
        name: flow.name.clone(),
        from: node(flow.from),
        to: node(flow.to),
        stacks: match flow.transport {
            Transport::Tcp { stack: sender, receiver } => Some((stack(sender), stack(receiver))),
            Transport::Datagram { .. } => None,
        },
        connections,
        ended,
        failures: failures.into_iter().collect(),
        ways: [0, 1].map(|way| mine().fold(Way::default(), |sum, c| added(sum, &c.ways[way]))),
        until: open.then_some(summary.time),
        inside: None,
    }
}

/// The stacks of its flows, each once.
fn used(scenario: &Scenario) -> impl Iterator<Item = &Stack> {
    let used = scenario.flows.iter().flat_map(|flow| match flow.transport {
        Transport::Tcp { stack, receiver } => vec![stack, receiver],
        Transport::Datagram { .. } => Vec::new(),
    });
    let used: std::collections::BTreeSet<usize> = used.collect();
    used.into_iter().filter_map(|at| scenario.stacks.get(at))
}

/// Those that are simulated, as far as they are assumed.
fn assumed(scenario: &Scenario) -> Vec<(String, Vec<&'static str>)> {
    used(scenario).filter(|s| !s.assumed.is_empty()).map(|s| (s.name.clone(), s.assumed.clone())).collect()
}

fn own_rules(scenario: &Scenario) -> Vec<(String, &'static str, String)> {
    let of = |stack: &Stack| match &stack.kind {
        Kind::Wire(wire) => {
            let told =
                |(section, rule): (_, &OwnRule)| (stack.name.clone(), section, rule.short().to_owned());
            wire.own.all().map(told).collect()
        }
        Kind::OneWay(_) => Vec::new(),
    };
    used(scenario).flat_map(of).collect()
}

fn failure(f: Failure) -> &'static str {
    match f {
        Failure::Refused => "refused: the SYN was answered with a RST",
        Failure::Reset => "reset by the peer",
        Failure::TimedOut => "gave up: nobody answered",
        Failure::Aborted => "aborted",
    }
}

fn added(sum: Way, way: &Way) -> Way {
    let earlier = |a: Option<Time>, b: Option<Time>| a.into_iter().chain(b).min();
    Way {
        data_packets: sum.data_packets + way.data_packets,
        data_bytes: sum.data_bytes + way.data_bytes,
        resent_packets: sum.resent_packets + way.resent_packets,
        resent_bytes: sum.resent_bytes + way.resent_bytes,
        timeouts: sum.timeouts + way.timeouts,
        ack_packets: sum.ack_packets + way.ack_packets,
        arrived_packets: sum.arrived_packets + way.arrived_packets,
        delivered_bytes: sum.delivered_bytes + way.delivered_bytes,
        first_sent: earlier(sum.first_sent, way.first_sent),
        last_delivered: sum.last_delivered.max(way.last_delivered),
    }
}

fn outage(channel: &ChannelSpec) -> Option<(String, Outage)> {
    match &channel.kind {
        ChannelKind::Outage(outage) => Some((channel.name.clone(), outage.clone())),
        _ => None,
    }
}

/// The name of a direction's channel.
pub fn channel(spec: &LinkSpec, at: u16) -> Option<String> {
    spec.channels.get(usize::from(at)).map(|c| c.name.clone())
}

fn stuck(scenario: &Scenario, summary: &Summary) -> Vec<String> {
    let connections = match &summary.end {
        End::Stuck { connections, .. } => connections.as_slice(),
        End::Standstill { connection, .. } => std::slice::from_ref(connection),
        End::Duration | End::Done | End::Stopped | End::Broken { .. } => return Vec::new(),
    };
    let mut flows: Vec<usize> = connections
        .iter()
        .filter_map(|k| summary.connections.get(*k as usize))
        .map(|c| c.flow as usize)
        .collect();
    flows.dedup();
    flows.iter().filter_map(|f| scenario.flows.get(*f)).map(|f| f.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::tests::{UPLOAD, scenario};

    fn ended(end: End) -> Report {
        let s = scenario(UPLOAD, "");
        let mut summary = sim::Simulation::new(&s, 1).expect("it builds").run(&mut |_| true);
        summary.end = end;
        Report::new(&s, At::Both, &summary, Losses::default())
    }

    #[test]
    fn a_run_that_can_not_go_on_says_which_flow_waits() {
        let stuck =
            |in_vain| ended(End::Stuck { connections: vec![0], in_vain }).failure().expect("it failed");
        let told = stuck(None);
        assert!(
            told.contains("nothing will ever happen again, and 1 connection is not done (flow f)"),
            "{told}"
        );
        let told = stuck(Some(Span::from_secs(90_000)));
        assert!(
            told.contains("delivered for 25 h, and 1 connection is not done (flow f); say dur"),
            "{told}"
        );
        let still = ended(End::Standstill { events: 7, connection: 0 }).failure().expect("it failed");
        assert!(still.contains("7 events at one moment, so time does not pass any more (flow f)"), "{still}");
        assert_eq!(ended(End::Done).failure(), None);
    }
}
