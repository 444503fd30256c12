//! A whole run: build, run, wait, take down. Every wait has a bound, and whatever ends a run takes all down.

mod ending;
pub mod plain;

use crate::bridge::{Bridge, Findings, Setup, Shared as BridgeShared};
use crate::clean;
use crate::clock::Clock;
use crate::command::Programs;
use crate::error::{Error, Told};
use crate::host::{self, Host};
use crate::lock::Lock;
use crate::netns::Namespace;
use crate::own::host::{self as own, Station};
use crate::passed::Stream;
use crate::plan::{Carrier, Connection, Plan};
use crate::poll::Poller;
use crate::record::Capture;
use crate::report::{End, Outcome, Probed};
use crate::trace::{Traced, Tracer};
use crate::transfer::{self, Ended};
use crate::{awake, check, datagrams, stamps, stream, sys};
use ending::Cut;
use instant::{Span, Time};
use net::NodeId;
use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Between two looks at how things are.
const LOOK: Span = Span::from_millis(20);
/// Connections that are done have closed on both sides within that, or the run ends without.
const SETTLING: Span = Span::from_secs(5);
/// Nothing has come to the bridge for so long.
const QUIET: Span = Span::from_millis(40);
/// To open sockets and start threads.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub now: Time,
    pub duration: Option<Span>,
    pub packets: u64,
}

/// Runs a plan, with captures into `folder`. `go_on` is asked about fifty times a second; once it says no the run
/// ends there, and what was seen is the answer.
pub fn run(plan: &Plan, folder: &Path, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, Error> {
    check::for_plan(plan)?;
    std::fs::create_dir_all(folder).told(folder.display())?;
    let lock = Lock::take()?;
    let removed = clean::clean()?;
    let mut bench = Bench::build(plan, &lock, folder, Middle::Rexmit)?;
    let mut outcome = bench.play(go_on)?;
    if !removed.namespaces.is_empty() {
        let n = removed.namespaces.len();
        outcome.warnings.push(format!("{n} network namespaces of a run that was killed were removed first"));
    }
    Ok(outcome)
}

/// What is between the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Middle {
    Rexmit,
    /// A bridge device of the kernel, with nothing of the scenario's links.
    Kernel,
}

/// All that a run owns. What is dropped is taken down in this order.
struct Bench<'a> {
    plan: &'a Plan,
    folder: PathBuf,
    programs: Option<Programs>,
    poller: Option<Poller>,
    tracer: Option<Result<Tracer, String>>,
    transfers: Arc<transfer::Shared>,
    threads: Vec<JoinHandle<()>>,
    listeners: Vec<(Listener, Vec<(u32, Connection)>)>,
    /// Hosts of rexmit's own TCP, by node.
    stations: Vec<(usize, Station)>,
    captures: Vec<Capture>,
    bridge: Option<Running>,
    /// The kernel stamps packets as they come.
    stamps: bool,
    hosts: Vec<Host>,
    bridge_ns: Namespace,
}

/// What the built-in clients of one server's port come to.
enum Listener {
    Stream(TcpListener),
    Datagrams(UdpSocket),
}

struct Running {
    shared: Arc<BridgeShared>,
    start: mpsc::Sender<Clock>,
    thread: JoinHandle<Result<Findings, Error>>,
}

impl<'a> Bench<'a> {
    fn build(plan: &'a Plan, lock: &Lock, folder: &Path, middle: Middle) -> Result<Bench<'a>, Error> {
        let bridge_ns = host::namespace(lock, host::BRIDGE)?;
        let hosts = host::build(plan, lock, &bridge_ns)?;
        let transfers = transfer::Shared::new(plan);
        let mut bench = Bench {
            plan,
            folder: folder.to_owned(),
            programs: None,
            poller: None,
            tracer: start_tracer(plan),
            transfers,
            threads: Vec::new(),
            listeners: Vec::new(),
            stations: Vec::new(),
            captures: Vec::new(),
            bridge: None,
            stamps: false,
            hosts,
            bridge_ns,
        };
        for host in &bench.hosts {
            bench.captures.push(Capture::start(host, folder, plan.snap, bench.transfers.threads)?);
        }
        for host in bench.hosts.iter().filter(|h| plan.is_own(h.node)) {
            bench.stations.push((host.node, own::open(host)?));
        }
        match middle {
            Middle::Rexmit => bench.start_bridge()?,
            Middle::Kernel => host::kernel_bridge(&bench.bridge_ns, bench.hosts.len())?,
        }
        bench.listen()?;
        if let Some(host) = bench.hosts.first() {
            bench.stamps = stamps::until_on(&host.ns).told(format!("host {}", host.name))?;
        }
        Ok(bench)
    }

    fn host(&self, node: usize) -> Result<&Host, Error> {
        let found = self.hosts.iter().find(|h| h.node == node);
        found.ok_or_else(|| Error::Failed(format!("node {node} is no host")))
    }

    /// The bridge's thread, ready to move packets once it has a clock.
    fn start_bridge(&mut self) -> Result<(), Error> {
        let ports = self.hosts.iter().enumerate();
        let ports =
            ports.map(|(k, h)| (NodeId(h.node as u32), u32::from(h.address), host::bridge_interface(k)));
        let setup = Setup {
            topology: self.plan.topology.clone(),
            seed: self.plan.seed,
            ports: ports.collect(),
            queues: self.plan.queues.clone(),
            bin: self.plan.bin,
            real_time: self.plan.real_time,
        };
        let shared = Arc::new(BridgeShared::default());
        let (start, started) = mpsc::channel::<Clock>();
        let (tell, told) = mpsc::channel::<()>();
        let (ns, ours) = (self.bridge_ns.handle().told("the bridge")?, Arc::clone(&shared));
        let work = move || {
            use std::os::fd::AsFd;
            sys::enter_net(ns.as_fd()).told("the bridge")?;
            let bridge = Bridge::open(setup)?;
            let _ = tell.send(());
            let clock = started.recv().map_err(|_| Error::Failed("the run ended before it began".into()))?;
            bridge.run(clock, &ours)
        };
        let thread =
            thread::Builder::new().name("bridge".into()).spawn(work).told("a thread for the bridge")?;
        match told.recv_timeout(READY_WITHIN) {
            Ok(()) => {}
            Err(mpsc::RecvTimeoutError::Timeout) => {
                return Err(Error::Failed("the bridge did not open its sockets within 20 s".into()));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                drop(start);
                return Err(match thread.join() {
                    Ok(Err(e)) => e,
                    _ => Error::Failed("the bridge's thread died".into()),
                });
            }
        }
        self.bridge = Some(Running { shared, start, thread });
        Ok(())
    }

    fn listen(&mut self) -> Result<(), Error> {
        let numbered: Vec<(u32, Connection)> = (0..).zip(self.plan.connections.iter().cloned()).collect();
        let port = |c: &Connection| (c.to, c.is_one_way());
        let mut ports: Vec<_> = numbered.iter().map(|(_, c)| port(c)).collect();
        ports.sort_unstable();
        ports.dedup();
        for to in ports {
            let mine: Vec<(u32, Connection)> =
                numbered.iter().filter(|(_, c)| port(c) == to).cloned().collect();
            let first = &mine[0].1;
            let host = self.host(first.server)?;
            let opened = match &first.carriers[1] {
                Carrier::Own(_) => continue,
                Carrier::Kernel(congestion) => stream::listen(host, first, congestion).map(Listener::Stream),
                Carrier::Datagrams(_) => datagrams::bind(host, first.to).map(Listener::Datagrams),
            };
            let what = || format!("the receiver at {}, port {}", host.name, first.to.port());
            self.listeners.push((opened.told(what())?, mine));
        }
        Ok(())
    }

    /// Everything that sends begins, and so does virtual time.
    fn begin(&mut self) -> Result<Clock, Error> {
        let mut starts = Vec::new();
        for (node, station) in self.stations.drain(..) {
            let (tell, told) = mpsc::channel();
            let plan = self.plan;
            let thread = station.start(plan.ends_at(node), plan.seed, told, &self.transfers);
            self.threads.push(thread.told("a thread for rexmit's own TCP")?);
            starts.push(tell);
        }
        for (number, connection) in (0..).zip(&self.plan.connections) {
            let (tell, told) = mpsc::channel();
            let (host, shared) = (self.host(connection.client)?, &self.transfers);
            let begun = match connection.carriers[0] {
                Carrier::Own(_) => continue,
                Carrier::Kernel(_) => stream::client(number, host, connection.clone(), told, shared),
                Carrier::Datagrams(bytes) => {
                    datagrams::client(number, host, connection.clone(), bytes, told, shared)
                }
            };
            let thread = begun.told("a thread for a sender")?;
            self.threads.push(thread);
            starts.push(tell);
        }
        let clock = Clock::start();
        if let Some(bridge) = &self.bridge {
            let _ = bridge.start.send(clock);
        }
        for (listener, connections) in self.listeners.drain(..) {
            let begun = match listener {
                Listener::Stream(l) => stream::serve(l, connections, clock, &self.transfers),
                Listener::Datagrams(socket) => {
                    datagrams::receive(socket, connections, clock, &self.transfers)
                }
            };
            self.threads.push(begun.told("a thread for a receiver")?);
        }
        for start in &starts {
            let _ = start.send(clock);
        }
        self.programs = Some(Programs::start(self.plan, &self.hosts, &self.folder)?);
        self.poller = self.start_poller(clock)?;
        Ok(clock)
    }

    fn play(&mut self, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, Error> {
        let clock = self.begin()?;
        let end = self.wait(&clock, go_on)?;
        let Cut { time, lost, found, polled, traced, captures } = self.cut(&clock)?;
        self.stop_transfers();
        let (exits, warned) = match self.programs.take() {
            Some(mut programs) => {
                let mut warned = std::mem::take(&mut programs.warnings);
                if matches!(end, End::Duration | End::Overdue) {
                    warned.extend(programs.hung());
                }
                (programs.stop(), warned)
            }
            None => (Vec::new(), Vec::new()),
        };
        let mut outcome = Outcome {
            end,
            origin: clock.origin,
            time,
            first: found.first,
            ended: self.ended(),
            exits,
            polled,
            probed: Vec::new(),
            traced: None,
            viewed: taken(&self.transfers.viewed),
            explained: taken(&self.transfers.explained),
            links: found.links,
            tallies: found.tallies,
            anchors: found.anchors,
            packets: found.observed.copies(),
            passed: found.observed.connections,
            drops: found.observed.drops,
            queued: found.observed.queued,
            bins: found.observed.bins,
            inside: found.inside,
            quality: found.quality,
            captures,
            kernel: check::kernel(),
            warnings: [self.plan.untold.clone(), warned].concat(),
        };
        outcome.quality.overload += lost;
        outcome.traced = traced.map(|traced| traced.map(|traced| self.note(&mut outcome, traced, &clock)));
        if !self.stamps {
            let told = "the kernel does not stamp packets as they come: their times are those at which they were read";
            outcome.warnings.push(told.into());
        }
        outcome.judge();
        Ok(outcome)
    }

    fn start_poller(&self, clock: Clock) -> Result<Option<Poller>, Error> {
        let wanted: Vec<bool> = self.plan.connections.iter().map(|c| c.is_recorded).collect();
        if !wanted.contains(&true) {
            return Ok(None);
        }
        Poller::start(wanted, clock, &self.transfers).map(Some).told("a thread for the senders' state")
    }

    /// What the kernel told of this run's senders.
    fn note(&self, outcome: &mut Outcome, traced: Traced, clock: &Clock) {
        let cookies = self.transfers.cookies.lock().map(|all| all.clone()).unwrap_or_default();
        let stream = |(connection, forward): (u32, bool)| {
            let planned = self.plan.connections.get(connection as usize).filter(|c| c.is_recorded)?;
            let client = (u32::from(*planned.from.ip()), planned.from.port());
            let passed = outcome.passed.iter().find(|p| [p.ends.client, p.ends.server].contains(&client))?;
            passed.stream(forward == (passed.ends.client == client))
        };
        let mut streams: BTreeMap<u64, Stream> =
            cookies.iter().filter_map(|(cookie, sender)| Some((*cookie, stream(*sender)?))).collect();
        let probed = traced.probes.iter().filter_map(|probe| {
            let ((connection, forward), stream) =
                (*cookies.get(&probe.cookie)?, streams.get_mut(&probe.cookie)?);
            stream.highest = stream.offset(probe.una);
            let una = stream.highest + 1;
            let nxt = una + u64::from(probe.nxt.wrapping_sub(probe.una));
            let time = clock.of_monotonic(probe.ns);
            Some(Probed { time, connection, forward, una, nxt, probe: *probe })
        });
        outcome.probed = probed.collect();
        if traced.lost > 0 {
            outcome.warnings.push(format!("table state: the kernel had no room for {} rows", traced.lost));
        }
    }

    /// Until all is done and closed, or the run has to end.
    fn wait(&mut self, clock: &Clock, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<End, Error> {
        let limit = Time::ZERO + self.plan.limit;
        let mut done_since = None;
        if let Some(bridge) = &self.bridge {
            bridge.shared.until.store(limit.0, Ordering::Relaxed);
        }
        loop {
            let now = clock.now();
            let bridge = self.bridge.as_ref().ok_or_else(no_bridge)?;
            let packets = bridge.shared.packets.load(Ordering::Relaxed);
            if !go_on(Progress { now, duration: self.plan.duration, packets }) {
                return Ok(End::Stopped);
            }
            if bridge.thread.is_finished() {
                return Ok(End::Failed("the bridge ended".into()));
            }
            if now >= limit {
                return Ok(if self.plan.duration.is_some() { End::Duration } else { End::Overdue });
            }
            let programs = match &mut self.programs {
                Some(programs) => match programs.look(now) {
                    Ok(()) => programs.done(),
                    Err(why) => return Ok(End::Failed(why)),
                },
                None => true,
            };
            if programs && self.transfers.done() == self.plan.connections.len() {
                let since = *done_since.get_or_insert(now);
                if now - since > SETTLING || self.settled(now, &bridge.shared) {
                    return Ok(End::Done);
                }
            }
            clock.wait(limit.min(now + LOOK), LOOK);
        }
    }

    /// Nothing is under way, and no kernel has a connection that is not closed.
    fn settled(&self, now: Time, bridge: &BridgeShared) -> bool {
        let quiet = now - Time(bridge.last.load(Ordering::Relaxed)) > QUIET;
        quiet && bridge.inside.load(Ordering::Relaxed) == 0 && self.hosts.iter().all(closed)
    }

    fn ended(&self) -> Vec<Ended> {
        self.transfers.ended.lock().map(|all| all.clone()).unwrap_or_default()
    }

    fn stop_transfers(&mut self) {
        self.transfers.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|t| drop(t.join()));
    }
}

impl std::ops::Drop for Bench<'_> {
    /// Whatever is still there, however the run ended.
    fn drop(&mut self) {
        self.programs = None;
        self.tracer = None;
        let _ = self.poller.take().map(Poller::finish);
        self.stop_transfers();
        self.captures.drain(..).for_each(|c| drop(c.finish()));
        if let Some(bridge) = self.bridge.take() {
            bridge.shared.stop.store(true, Ordering::Relaxed);
            drop(bridge.start);
            let _ = bridge.thread.join();
        }
    }
}

/// Where a kernel's sender is to tell its state at every ACK and every packet.
fn start_tracer(plan: &Plan) -> Option<Result<Tracer, String>> {
    let wanted = plan.connections.iter().filter(|c| c.is_recorded);
    let senders = wanted.flat_map(|c| {
        let answers = !c.answers().is_silent();
        [(&c.carriers[0], c.from.port(), true), (&c.carriers[1], c.to.port(), answers)]
    });
    let of_kernels = senders.filter(|(carrier, _, sends)| *sends && matches!(carrier, Carrier::Kernel(_)));
    let mut ports: Vec<u16> = of_kernels.map(|(_, port, _)| port).collect();
    ports.sort_unstable();
    ports.dedup();
    (!ports.is_empty()).then(|| Tracer::start(ports))
}

fn taken<T>(from: &Mutex<Vec<T>>) -> Vec<T> {
    from.lock().map(|mut all| std::mem::take(&mut *all)).unwrap_or_default()
}

fn no_bridge() -> Error {
    Error::Failed("there is no bridge".into())
}

/// Whether a host has no connection but those that are over (proc(5), net/tcp; states 6 TIME_WAIT, 7 CLOSE, 10 LISTEN).
fn closed(host: &Host) -> bool {
    let states = host.ns.inside(|| std::fs::read_to_string("/proc/thread-self/net/tcp"));
    let over = |line: &str| matches!(line.split_whitespace().nth(3), Some("06" | "07" | "0A") | None);
    states.is_ok_and(|text| text.lines().skip(1).all(over))
}

impl Outcome {
    /// Warnings about what makes the answer worth less.
    fn judge(&mut self) {
        let q = &self.quality;
        let mut told = Vec::new();
        if let Some(why) = &q.no_real_time {
            told.push(format!(
                "the bridge had no real-time priority ({why}): packets leave later than they need to"
            ));
        }
        if let Some(why) = &q.no_awake {
            told.push(format!(
                "idle cores could halt ({}: {why}): packets leave later than they need to",
                awake::DEVICE
            ));
        }
        if q.overload > 0 {
            let lost =
                if q.overload == 1 { "1 packet was".into() } else { format!("{} packets were", q.overload) };
            told.push(format!(
                "{lost} lost by the machine, not by the scenario: it is too slow or too busy for this rate"
            ));
        }
        if let Some(Err(why)) = &self.traced {
            told.push(format!("kernels tell no state at every ACK ({why}): they were asked every 5 ms"));
        }
        if q.clock_steps > 0 {
            told.push(format!("the wall clock was set {} times during the run", q.clock_steps));
        }
        for (name, client) in self.exits.iter().filter_map(|e| Some((&e.name, e.client.as_ref()?))) {
            if !client.well {
                told.push(format!("flow.{name}: its client ended with {}", client.told));
            }
        }
        for capture in &self.captures {
            let path = capture.path.display();
            if let Some(e) = &capture.error {
                told.push(format!("{path}: the capture ends early: {e}"));
            }
            if capture.dropped > 0 {
                told.push(format!("{path}: the kernel had no room for {} packets", capture.dropped));
            }
        }
        if self.end == End::Overdue {
            told.push("the scenario has no duration, and its flows were not done after 10 minutes".into());
        }
        self.warnings.extend(told);
    }
}
