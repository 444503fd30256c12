//! A run: a scenario's network and connections under virtual time.

use crate::connection::{Connection, Opening, Programs, Stack};
use crate::frame::Frame;
use crate::host::{Alarm, Ends, Shared};
use crate::inputs::Inputs;
use crate::recorder::{Full, Null, Recorder, Sink};
use crate::stats::Way;
use crate::watcher::Watcher;
use instant::{Span, Time};
use links::{Counters, Ecn, LinkId, Tallies, memory};
use net::{BuildError, Duplex, Net, NodeId, Step, TimerId, Topology};
use scenario::model::{Flow, Scenario, Transport};
use scenario::workload::{Answers, Application};
use tcp::endpoint::Failure;
use tcp::own::Mishap;
use wire::Seq;

/// Between two questions whether to go on.
const ASK_EVERY: u64 = 1 << 14;
/// Connections built between two such questions: some 10 ms of work.
const ASK_EVERY_BUILT: u64 = 1 << 9;
/// So many events at one moment, and so many more for each connection, are a scenario that cannot progress: a file of
/// gigabytes may well cross a path without rate and delay in no time.
const MOST_AT_ONCE: u64 = 1 << 23;
const MOST_OF_EACH: u64 = 1 << 12;
/// So long a time in which packets are sent and no application gets anything is a run without an end, where the
/// scenario does not say one: there are senders that never give up, and paths that never deliver.
const LONGEST_IN_VAIN: Span = Span::from_secs(24 * 3600);

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub now: Time,
    pub duration: Option<Span>,
    pub events: u64,
    /// Connections that have ended, and all that will.
    pub ended: u64,
    pub finite: u64,
}

/// Why a run is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The scenario's duration has passed.
    Duration,
    /// Everything has been sent and acknowledged.
    Done,
    /// It was told to stop.
    Stopped,
    /// These connections have not ended, and will not: nothing will ever happen again, or it has been in vain for so
    /// long.
    Stuck { connections: Vec<u32>, in_vain: Option<Span> },
    /// Time does not pass any more; whose event came last.
    Standstill { events: u64, connection: u32 },
    /// A stack's rule of somebody's own could not go on.
    Broken { why: String },
}

/// What was counted, whatever is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub end: End,
    pub seed: u64,
    /// How long the run lasted, in its own time.
    pub time: Time,
    pub events: u64,
    pub connections: Vec<Outcome>,
    /// By link: forward, back.
    pub links: Vec<[Counters; 2]>,
    /// By link: what its channels and retries met, forward, back.
    pub tallies: Vec<[Tallies; 2]>,
    /// By link: when its first packet came, where an outage's schedule waited for it.
    pub anchors: Vec<Option<Time>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Index of the scenario's flow.
    pub flow: u32,
    pub starts: Time,
    pub ended: Option<Time>,
    pub failure: Option<Failure>,
    /// Client to server, and back.
    pub ways: [Way; 2],
}

/// What applications had got, all together, when it was last looked at.
struct Delivered {
    since: Time,
    bytes: u64,
}

pub struct Simulation<R> {
    net: Net<Frame>,
    connections: Vec<Connection>,
    inputs: Inputs,
    /// Timers from this number on belong to the programs of connections, one for each connection.
    first_program: u32,
    recorder: R,
    copies: u64,
    events: u64,
    duration: Option<Span>,
    seed: u64,
    finite: u64,
    ended: u64,
    /// It was told to stop while it was built: it has the connections that were there by then, and no event.
    stopped: bool,
    /// Of the stacks with rules of somebody's own.
    mishaps: Vec<Mishap>,
}

impl Simulation<Null> {
    /// A run that records nothing.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Simulation<Null>, BuildError> {
        Simulation::with(scenario, seed, &mut |_| true, |_, _| Null)
    }
}

impl<S: Sink> Simulation<Full<S>> {
    /// A run that hands what the scenario's `[record]` asks for to `sink`.
    pub fn recorded(scenario: &Scenario, seed: u64, sink: S) -> Result<Simulation<Full<S>>, BuildError> {
        Simulation::recorded_while(scenario, seed, sink, &mut |_| true)
    }
    /// The same, asking every few hundred connections whether to go on: once it is not to, `run` ends at once.
    pub fn recorded_while(
        scenario: &Scenario,
        seed: u64,
        sink: S,
        go_on: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Simulation<Full<S>>, BuildError> {
        Simulation::with(scenario, seed, go_on, |flow_of, ends| {
            Full::new(scenario, seed, flow_of, ends, sink)
        })
    }
    /// Ends the recording.
    pub fn finish(mut self) -> (Summary, S) {
        let summary = self.summary(End::Stopped);
        for (node, facts, frame) in self.net.under_way() {
            self.recorder.under_way(summary.time, node, facts, frame);
        }
        (summary, self.recorder.finish())
    }
}

impl<R: Recorder> Simulation<R> {
    fn with(
        scenario: &Scenario,
        seed: u64,
        go_on: &mut dyn FnMut(Progress) -> bool,
        recorder: impl FnOnce(&[u32], &[(usize, usize)]) -> R,
    ) -> Result<Simulation<R>, BuildError> {
        let mut net = Net::new(&topology(scenario), seed)?;
        let stacks: Vec<Stack> = scenario.stacks.iter().map(|s| Stack::from(&s.kind)).collect();
        let mut connections = Vec::with_capacity(scenario.flows.iter().map(|f| f.count as usize).sum());
        memory::prefer_large_pages(&mut connections);
        let begun = Progress { now: Time::ZERO, duration: scenario.duration, events: 0, ended: 0, finite: 0 };
        let mut stopped = false;
        let all = scenario.flows.iter().map(|f| f.count).sum();
        let first_program = Alarm::ids(all) + scenario.nodes.len() as u32;
        'built: for (index, flow) in scenario.flows.iter().enumerate() {
            for source in 0..flow.count {
                let built = connections.len() as u64;
                if built % ASK_EVERY_BUILT == ASK_EVERY_BUILT - 1 && !go_on(begun) {
                    stopped = true;
                    break 'built;
                }
                let number = connections.len() as u32;
                let (client, server) = (NodeId(flow.from as u32), NodeId(flow.to as u32));
                let out = [net.way_out(client, server), net.way_out(server, client)];
                let ends = Ends { connection: number, client, server, out };
                let timer = TimerId(first_program + number);
                let connection = connection(seed, index as u32, flow, source, &stacks, ends, timer);
                net.set_timer(Alarm::Application.id(number), Some(connection.starts));
                connections.push(connection);
            }
        }
        let flow_of: Vec<u32> = connections.iter().map(|c| c.flow).collect();
        let pairs: Vec<(usize, usize)> =
            connections.iter().map(|c| (c.ends.client.0 as usize, c.ends.server.0 as usize)).collect();
        let finite = connections.iter().filter(|c| c.is_finite()).count() as u64;
        Ok(Simulation {
            net,
            inputs: Inputs::new(scenario, Alarm::ids(all)),
            first_program,
            connections,
            recorder: recorder(&flow_of, &pairs),
            copies: 0,
            events: 0,
            duration: scenario.duration,
            seed,
            finite,
            ended: 0,
            stopped,
            mishaps: stacks.iter().filter_map(Stack::mishap).cloned().collect(),
        })
    }

    /// Runs to the end. `go_on` is asked every few thousand events.
    pub fn run(&mut self, go_on: &mut dyn FnMut(Progress) -> bool) -> Summary {
        let end = self.run_to_end(go_on);
        self.summary(end)
    }

    fn run_to_end(&mut self, go_on: &mut dyn FnMut(Progress) -> bool) -> End {
        if self.stopped {
            return End::Stopped;
        }
        let limit = self.duration.map_or(Time::FAR_FUTURE, |d| Time::ZERO + d);
        let all_end = self.finite == self.connections.len() as u64;
        let (mut moment, mut at_once) = (Time::FAR_PAST, 0);
        let mut progress = Delivered { since: Time::ZERO, bytes: 0 };
        let most_at_once = MOST_AT_ONCE + MOST_OF_EACH * self.connections.len() as u64;
        while let Some((now, step)) = self.advance_until(limit) {
            self.events += 1;
            self.handle(now, step);
            if !self.mishaps.is_empty()
                && let Some(end) = self.broken()
            {
                return end;
            }
            if all_end && self.ended == self.finite {
                return End::Done;
            }
            if now > moment {
                (moment, at_once) = (now, 0);
            }
            at_once += 1;
            if at_once > most_at_once {
                return End::Standstill { events: at_once, connection: self.connection_of(step) };
            }
            if self.events.is_multiple_of(ASK_EVERY) {
                if !go_on(self.progress(now)) {
                    return End::Stopped;
                }
                if self.duration.is_none() && self.is_in_vain(now, &mut progress) {
                    return End::Stuck { connections: self.open(), in_vain: Some(now - progress.since) };
                }
            }
        }
        self.end_of_events()
    }

    #[cold]
    fn broken(&self) -> Option<End> {
        let why = self.mishaps.iter().find_map(Mishap::told)?;
        Some(End::Broken { why: why.to_owned() })
    }

    /// Whose event this is; of a node's own timer the first connection's.
    fn connection_of(&self, step: Step) -> u32 {
        let connection = match step {
            Step::Arrived { packet, .. } => self.net.content(packet).connection,
            Step::Timer(id) if id.0 >= self.first_program => id.0 - self.first_program,
            Step::Timer(id) => Alarm::of(id).0,
        };
        if (connection as usize) < self.connections.len() { connection } else { 0 }
    }

    #[inline(always)]
    fn advance_until(&mut self, limit: Time) -> Option<(Time, Step)> {
        let mut ahead = Watcher { recorder: &mut self.recorder, connections: &self.connections };
        self.net.advance_until(limit, &mut ahead)
    }

    /// No event is left, or none before the end.
    fn end_of_events(&mut self) -> End {
        if self.duration.is_some() && self.net.next().is_some() {
            return End::Duration;
        }
        let open = self.open();
        match (open.is_empty(), self.duration) {
            (true, _) if self.finite == self.connections.len() as u64 => End::Done,
            (true, Some(_)) => End::Duration,
            _ => End::Stuck { connections: open, in_vain: None },
        }
    }

    /// Connections that are to end by themselves, and have not.
    fn open(&self) -> Vec<u32> {
        let is_open = |c: &Connection| c.is_finite() && c.ended.is_none();
        (0..).zip(&self.connections).filter(|(_, c)| is_open(c)).map(|(k, _)| k).collect()
    }

    /// Has much happened since `before`, and nothing been delivered? Looked at rarely: it takes all connections.
    fn is_in_vain(&self, now: Time, before: &mut Delivered) -> bool {
        if now - before.since < LONGEST_IN_VAIN {
            return false;
        }
        let ways = self.connections.iter().flat_map(|c| &c.traffic.ways);
        let bytes = ways.map(|way| way.delivered_bytes).sum();
        let in_vain = bytes == before.bytes;
        if !in_vain {
            *before = Delivered { since: now, bytes };
        }
        in_vain
    }

    #[inline]
    fn handle(&mut self, now: Time, step: Step) {
        match step {
            Step::Arrived { at, packet: id } => {
                let frame = self.net.content(id);
                let marked = self.net.facts(id).ecn == Ecn::Marked;
                if R::IS_ON {
                    self.recorder.arrived(now, at, self.net.facts(id), frame);
                }
                if self.inputs.waits(at) {
                    if let Some(timer) = self.inputs.keep(at, frame, marked) {
                        self.net.set_timer(timer, Some(now));
                    }
                } else if let Some(connection) = self.connections.get_mut(frame.connection as usize) {
                    // Heard where it lies in the network: a copy of each packet would show.
                    let heard = connection.hear(now, frame, marked);
                    let probe = R::IS_ON && frame.is_probe();
                    let (net, recorder, copies) = (&mut self.net, &mut self.recorder, &mut self.copies);
                    if connection.answer(Shared { now, net, recorder, copies }, heard, probe) {
                        self.ended += connection.end_if_over(now);
                    }
                }
            }
            Step::Timer(id) => self.on_timer(now, id),
        }
    }

    #[inline(never)]
    fn on_timer(&mut self, now: Time, id: TimerId) {
        if id.0 >= self.first_program {
            return self.with_connection(now, id.0 - self.first_program, |c, shared| c.run_programs(shared));
        }
        match self.inputs.take(id) {
            None => {
                let (connection, alarm) = Alarm::of(id);
                self.with_connection(now, connection, |c, shared| c.wake(shared, alarm));
            }
            Some(((packet, marked), more)) => {
                if more {
                    self.net.set_timer(id, Some(now));
                }
                self.with_connection(now, packet.connection, |c, shared| {
                    let heard = c.hear(now, &packet, marked);
                    c.answer(shared, heard, R::IS_ON && packet.is_probe())
                });
            }
        }
    }

    fn with_connection(
        &mut self,
        now: Time,
        number: u32,
        act: impl FnOnce(&mut Connection, Shared<'_, R>) -> bool,
    ) {
        let Some(connection) = self.connections.get_mut(number as usize) else { return };
        let (net, recorder, copies) = (&mut self.net, &mut self.recorder, &mut self.copies);
        if act(connection, Shared { now, net, recorder, copies }) {
            self.ended += connection.end_if_over(now);
        }
    }

    fn progress(&self, now: Time) -> Progress {
        let Simulation { duration, events, ended, finite, .. } = *self;
        Progress { now, duration, events, ended, finite }
    }

    fn summary(&self, end: End) -> Summary {
        let outcome = |c: &Connection| Outcome {
            flow: c.flow,
            starts: c.starts,
            ended: c.ended,
            failure: c.failure(),
            ways: c.traffic.ways,
        };
        let pairs = (0..self.net.links() / 2).map(|p| [LinkId::forward(p), LinkId::back(p)]);
        let time = match (&end, self.duration) {
            (End::Duration, Some(d)) => Time::ZERO + d,
            _ => self.net.now(),
        };
        Summary {
            end,
            seed: self.seed,
            time,
            events: self.events,
            connections: self.connections.iter().map(outcome).collect(),
            links: self.net.counters_of_pairs(),
            anchors: pairs.clone().map(|[forward, _]| self.net.anchored(forward)).collect(),
            tallies: pairs.map(|pair| pair.map(|l| self.net.tallies(l))).collect(),
        }
    }
}

/// The links that a flow's packets go over, there and back, by their places in the scenario; `None` if no way leads
/// there.
pub fn ways(scenario: &Scenario, flow: &Flow) -> Option<Vec<usize>> {
    let mut net: Net<Frame> = Net::new(&topology(scenario), 0).ok()?;
    let (from, to) = (NodeId(flow.from as u32), NodeId(flow.to as u32));
    let mut links = net.route(from, to)?;
    links.extend(net.route(to, from)?);
    Some(links.iter().map(|link| link.pair()).collect())
}

fn topology(scenario: &Scenario) -> Topology {
    let links = scenario.links.iter().map(|l| Duplex::new(&l.name, l.between, &l.forward, &l.back));
    Topology { nodes: scenario.nodes.len() as u32, links: links.collect() }
}

/// One source of a flow, which has the flow's place `index` in the scenario.
fn connection(
    seed: u64,
    index: u32,
    flow: &Flow,
    source: u32,
    stacks: &[Stack],
    ends: Ends,
    timer: TimerId,
) -> Connection {
    let stream = |purpose| flow.stream(seed, source, purpose);
    let app = Application::new(&flow.workload, flow.stop, stream("workload"));
    let starts = flow.starts(seed, source);
    match flow.transport {
        Transport::Datagram { packet_bytes } => Connection::datagrams(index, ends, starts, app, packet_bytes),
        Transport::Tcp { stack, receiver } => {
            let mut isn = stream("isn");
            let opening = Opening {
                client: stacks[stack].clone(),
                server: stacks[receiver].clone(),
                answers: Answers::new(&flow.workload),
                isns: [Seq(isn.next_u64() as u32), Seq(isn.next_u64() as u32)],
                overhead: stream("overhead"),
                programs: Programs::new(flow, starts, timer),
            };
            Connection::tcp(index, ends, starts, app, opening)
        }
    }
}
