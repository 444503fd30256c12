//! A scenario as the live bench runs it: hosts, connections, settings. What live cannot do is refused here.

use crate::content::Content;
use crate::error::Error;
use instant::{Span, Time};
use links::random::Stream;
use net::{Duplex, Topology};
use scenario::model::{Flow, Input, Numbering, Scenario, Transport, Workload};
use scenario::workload::{Answers, Application};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use tcp::stack::{Kind, Wire};

/// Each has a namespace, two interfaces and two sockets of its own.
const MOST_HOSTS: usize = 64;
/// Each has two threads of its own.
const MOST_CONNECTIONS: usize = 256;
/// A run whose scenario has no duration is ended after that.
const LONGEST: Span = Span::from_secs(600);
/// The hosts'.
pub const MTU: u32 = 1500;
/// IPv4 and UDP.
pub const HEADERS: u32 = 28;
/// Which congestion control the sockets of a namespace have that choose none.
pub const CONGESTION: &str = "net.ipv4.tcp_congestion_control";
/// Of the headers that a packet always has, enough for all options; the payload is zeros.
const SNAP: u32 = 128;

/// Whose transport an end of a connection is.
#[derive(Clone, Debug, PartialEq)]
pub enum Carrier {
    /// The kernel's TCP, with this congestion control.
    Kernel(String),
    /// rexmit's own TCP, over TUN.
    Own(Arc<Wire>),
    /// The kernel's datagrams (UDP), of so many bytes, headers included.
    Datagrams(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// Index of the scenario's flow.
    pub flow: usize,
    pub client: usize,
    pub server: usize,
    pub from: SocketAddrV4,
    pub to: SocketAddrV4,
    pub start: Time,
    pub stop: Option<Time>,
    pub workload: Workload,
    /// What the client's application draws from: the simulator's numbers.
    pub draws: Stream,
    /// Its senders' state is recorded.
    pub is_recorded: bool,
    /// What the kernel holds the built-in sender to, in bits of payload a second; no scenario asks for it.
    pub pace_bps: Option<u64>,
    /// The client's, the server's.
    pub carriers: [Carrier; 2],
}

impl Connection {
    /// The client's.
    pub fn application(&self) -> Application {
        Application::new(&self.workload, self.stop, self.draws.clone())
    }
    /// What the server says.
    pub fn answers(&self) -> Answers {
        Answers::new(&self.workload)
    }
    /// Nobody tells the server that all has come.
    pub fn is_one_way(&self) -> bool {
        matches!(self.carriers[0], Carrier::Datagrams(_))
    }
}

/// Programs that run in two hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub flow: usize,
    /// The scenario's name of it.
    pub name: String,
    pub client: usize,
    pub server: usize,
    pub client_line: String,
    pub server_line: Option<String>,
    pub start: Time,
    /// The client's, the server's.
    carriers: [Carrier; 2],
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    pub seed: u64,
    pub topology: Topology,
    pub nodes: Vec<String>,
    flows: Vec<String>,
    /// Nodes at which flows begin or end; the others are within the bridge.
    pub hosts: Vec<usize>,
    pub connections: Vec<Connection>,
    pub programs: Vec<Program>,
    pub duration: Option<Span>,
    /// The run ends here, whatever is not done.
    pub limit: Span,
    pub snap: Option<u32>,
    /// Links whose queues are recorded.
    pub queues: Vec<usize>,
    /// What passes the bridge is counted by intervals of this length; no scenario asks for it.
    pub bin: Option<Span>,
    pub real_time: bool,
    /// What the built-in senders say.
    pub content: Content,
    sysctls: BTreeMap<usize, BTreeMap<String, String>>,
    /// Which key of the scenario they are from, by node and name, where it names them.
    said: BTreeMap<(usize, String), String>,
    /// What the scenario asks for that real hosts do not tell.
    pub untold: Vec<String>,
}

fn refused(what: String) -> Error {
    Error::Scenario(what)
}

impl Plan {
    pub fn new(s: &Scenario) -> Result<Plan, Error> {
        let hosts = hosts(s)?;
        let mut plan = Plan {
            name: s.name.clone(),
            seed: s.seed,
            topology: topology(s),
            nodes: s.nodes.iter().map(|n| n.name.clone()).collect(),
            flows: s.flows.iter().map(|f| f.name.clone()).collect(),
            untold: untold(s, &hosts),
            hosts,
            connections: Vec::new(),
            programs: Vec::new(),
            duration: s.duration,
            limit: s.duration.unwrap_or(LONGEST),
            snap: Some(s.record.snap_bytes.unwrap_or(SNAP)),
            queues: s.record.queues.clone(),
            bin: None,
            real_time: s.live.real_time,
            content: Content::Zeros,
            sysctls: BTreeMap::new(),
            said: BTreeMap::new(),
        };
        for (index, flow) in s.flows.iter().enumerate() {
            plan.flow(s, index, flow)?;
        }
        plan.settings(s)?;
        if plan.connections.len() > MOST_CONNECTIONS {
            return Err(refused(format!(
                "{} connections: the live bench runs {MOST_CONNECTIONS} at most; the simulator runs them all",
                plan.connections.len()
            )));
        }
        Ok(plan)
    }

    fn flow(&mut self, s: &Scenario, index: usize, flow: &Flow) -> Result<(), Error> {
        for (key, reader) in ["back_reader", "reader"].iter().zip(&flow.readers) {
            if !reader.is_at_once() {
                return Err(refused(format!(
                    "flow.{}.{key}: on the live bench programs read data as soon as it arrives; leave it out, or simulate",
                    flow.name
                )));
            }
        }
        let carriers = self.carriers(s, flow)?;
        for (node, carrier) in [flow.from, flow.to].into_iter().zip(&carriers) {
            self.one_address_a_host(s, flow, node, carrier)?;
        }
        if let Workload::Command { command } = flow.workload {
            return self.program(s, index, flow, command, carriers);
        }
        for source in 0..flow.count {
            let k = self.connections.len() as u32;
            let (client_port, server_port) = ports(k);
            self.connections.push(Connection {
                flow: index,
                client: flow.from,
                server: flow.to,
                from: SocketAddrV4::new(self.address(flow.from), client_port),
                to: SocketAddrV4::new(self.address(flow.to), server_port),
                start: flow.starts(s.seed, source),
                stop: flow.stop,
                workload: flow.workload,
                draws: flow.stream(s.seed, source, "workload"),
                is_recorded: s.record.state.contains(&index),
                pace_bps: None,
                carriers: carriers.clone(),
            });
        }
        Ok(())
    }

    /// What carries a flow at its client and at its server; a kernel that does is told what the stack says.
    fn carriers(&mut self, s: &Scenario, flow: &Flow) -> Result<[Carrier; 2], Error> {
        let (stack, receiver) = match flow.transport {
            Transport::Tcp { stack, receiver } => (stack, receiver),
            Transport::Datagram { packet_bytes } => {
                let carrier = datagrams(flow, packet_bytes)?;
                return Ok([carrier.clone(), carrier]);
            }
        };
        let ends = [tcp(s, flow, stack)?, tcp(s, flow, receiver)?];
        for (node, (carrier, wire)) in [flow.from, flow.to].into_iter().zip(&ends) {
            if matches!(carrier, Carrier::Kernel(_)) {
                self.options(s, flow, node, wire)?;
            }
        }
        Ok(ends.map(|(carrier, _)| carrier))
    }

    /// What the stack says that a kernel can be told, for the whole host.
    fn options(&mut self, s: &Scenario, flow: &Flow, node: usize, wire: &Wire) -> Result<(), Error> {
        let told = [
            ("net.ipv4.tcp_sack", wire.options.sack),
            ("net.ipv4.tcp_timestamps", wire.options.timestamps),
            ("net.ipv4.tcp_window_scaling", wire.options.window_scale),
        ];
        let of_host = self.sysctls.entry(node).or_default();
        for (key, on) in told {
            let value = String::from(if on { "1" } else { "0" });
            if of_host.insert(key.to_owned(), value.clone()).is_some_and(|other| other != value) {
                return Err(conflict(s, flow, node, key, &value));
            }
        }
        Ok(())
    }

    /// A program's sockets have the congestion control of their host.
    fn program(
        &mut self,
        s: &Scenario,
        index: usize,
        flow: &Flow,
        command: usize,
        carriers: [Carrier; 2],
    ) -> Result<(), Error> {
        if flow.count != 1 {
            return Err(refused(format!(
                "flow.{}.count = {}: a flow of programs runs once; write a flow for each",
                flow.name, flow.count
            )));
        }
        let Some(lines) = s.commands.get(command) else { return Ok(()) };
        for (node, carrier) in [flow.from, flow.to].into_iter().zip(&carriers) {
            let Carrier::Kernel(name) = carrier else {
                return Err(refused(format!(
                    "flow.{}: its stack is rexmit's own TCP at {}, which programs cannot use; choose one that is a \
                     kernel's (linux-2.6-reno, linux-2.6-cubic), or say which stands for it: stack.NAME.kernel=reno",
                    flow.name, s.nodes[node].name
                )));
            };
            let of_host = self.sysctls.entry(node).or_default();
            if of_host.insert(CONGESTION.to_owned(), name.clone()).is_some_and(|other| other != *name) {
                return Err(conflict(s, flow, node, CONGESTION, name));
            }
        }
        let (client, server) = (self.address(flow.from).to_string(), self.address(flow.to).to_string());
        let filled = |line: &String| line.replace("{client}", &client).replace("{server}", &server);
        self.programs.push(Program {
            flow: index,
            name: flow.name.clone(),
            client: flow.from,
            server: flow.to,
            client_line: filled(&lines.client),
            server_line: lines.server.as_ref().map(filled),
            start: flow.starts(s.seed, 0),
            carriers,
        });
        Ok(())
    }

    /// What the scenario says of kernels comes last: it is what was meant.
    fn settings(&mut self, s: &Scenario) -> Result<(), Error> {
        for node in &self.hosts {
            self.sysctls.entry(*node).or_default().extend(s.live.sysctls.iter().cloned());
            let said = s.live.sysctls.iter().map(|(key, _)| ((*node, key.clone()), "live.sysctl".to_owned()));
            self.said.extend(said);
        }
        for (node, all) in &s.live.hosts {
            if !self.hosts.contains(node) {
                return Err(refused(format!(
                    "live.host.{}: no flow begins or ends there: on the live bench it is inside the bridge, and has \
                     no kernel",
                    s.nodes[*node].name
                )));
            }
            self.sysctls.entry(*node).or_default().extend(all.iter().cloned());
            let key = format!("live.host.{}.sysctl", s.nodes[*node].name);
            self.said.extend(all.iter().map(|(name, _)| ((*node, name.clone()), key.clone())));
        }
        Ok(())
    }

    /// An address belongs to the kernel or to rexmit's endpoint.
    fn one_address_a_host(
        &self,
        s: &Scenario,
        flow: &Flow,
        node: usize,
        carrier: &Carrier,
    ) -> Result<(), Error> {
        let is_own = |carrier: &Carrier| matches!(carrier, Carrier::Own(_));
        let mut others = self.ends().filter(|(n, _)| *n == node).map(|(_, other)| other);
        let Some(other) = others.find(|other| is_own(other) != is_own(carrier)) else { return Ok(()) };
        let at = &s.nodes[node].name;
        let why = match [carrier, other].iter().any(|c| matches!(c, Carrier::Datagrams(_))) {
            true => format!(
                "flow.{}: datagrams are the kernel's, and rexmit's own TCP, another flow's stack at {at}, has the \
                 host's address",
                flow.name
            ),
            false => format!(
                "flow.{}: one flow at {at} has a stack that is the kernel's, another one of rexmit's own; live, a host has \
                 one TCP",
                flow.name
            ),
        };
        Err(refused(format!("{why}: give the second flow a node of its own")))
    }

    fn ends(&self) -> impl Iterator<Item = (usize, &Carrier)> {
        let built_in =
            self.connections.iter().flat_map(|c| [(c.client, &c.carriers[0]), (c.server, &c.carriers[1])]);
        let programs =
            self.programs.iter().flat_map(|p| [(p.client, &p.carriers[0]), (p.server, &p.carriers[1])]);
        built_in.chain(programs)
    }

    /// The ends at a node: number and connection, and whether it is the server.
    pub fn ends_at(&self, node: usize) -> Vec<(u32, Connection, bool)> {
        let numbered = (0..).zip(&self.connections);
        let ends = numbered.flat_map(|(k, c)| [(k, c, c.client, false), (k, c, c.server, true)]);
        ends.filter(|(_, _, at, _)| *at == node).map(|(k, c, _, server)| (k, c.clone(), server)).collect()
    }

    /// Whether rexmit's own endpoint runs at this host.
    pub fn is_own(&self, node: usize) -> bool {
        self.ends().any(|(n, carrier)| n == node && matches!(carrier, Carrier::Own(_)))
    }

    /// Node n is 10.0.0.0/8 + n + 1, as in the simulator's captures.
    pub fn address(&self, node: usize) -> Ipv4Addr {
        Ipv4Addr::from(0x0a00_0000 | ((node as u32 + 1) & 0xff_ffff))
    }

    /// The settings of a host, in its namespace.
    pub fn sysctls(&self, node: usize) -> Vec<(String, String)> {
        self.sysctls.get(&node).into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect()
    }

    /// The key of the scenario that says a host's setting; `None` where a stack asks for it.
    pub fn said(&self, node: usize, setting: &str) -> Option<&str> {
        self.said.get(&(node, setting.to_owned())).map(String::as_str)
    }

    /// Congestion controls that the kernel must have, and the first key of the scenario from which each comes.
    pub fn congestion(&self) -> BTreeMap<&str, String> {
        let built_in = self.connections.iter().map(|c| (c.flow, &c.carriers));
        let programs = self.programs.iter().map(|p| (p.flow, &p.carriers));
        let mut all = BTreeMap::new();
        for (flow, carriers) in built_in.chain(programs) {
            for (carrier, key) in carriers.iter().zip(["stack", "receiver"]) {
                if let Carrier::Kernel(name) = carrier {
                    all.entry(name.as_str()).or_insert_with(|| format!("flow.{}.{key}", self.flows[flow]));
                }
            }
        }
        all
    }
}

fn conflict(s: &Scenario, flow: &Flow, node: usize, key: &str, value: &str) -> Error {
    refused(format!(
        "flow.{}: its stack wants {key} = {value} at {}, and another flow's stack something else; a kernel has it for \
         all connections of a host",
        flow.name, s.nodes[node].name
    ))
}

/// The simulator's: no two connections share both ports.
fn ports(connection: u32) -> (u16, u16) {
    (1024 + connection as u16, 5001)
}

fn topology(s: &Scenario) -> Topology {
    let links = s.links.iter().map(|l| Duplex::new(&l.name, l.between, &l.forward, &l.back));
    Topology { nodes: s.nodes.len() as u32, links: links.collect() }
}

fn hosts(s: &Scenario) -> Result<Vec<usize>, Error> {
    let mut hosts: Vec<usize> = s.flows.iter().flat_map(|f| [f.from, f.to]).collect();
    hosts.sort_unstable();
    hosts.dedup();
    if hosts.len() > MOST_HOSTS {
        return Err(refused(format!(
            "{} hosts: the live bench has {MOST_HOSTS} at most; the simulator has no such limit",
            hosts.len()
        )));
    }
    if let Some(node) = s.nodes.iter().find(|n| n.input == Input::InTurn) {
        return Err(refused(format!(
            "node.{}.input = \"in-turn\": real hosts have no order of events to choose; leave it out, or simulate",
            node.name
        )));
    }
    if let Some(node) = s.nodes.iter().find(|n| n.numbering != Numbering::default()) {
        return Err(refused(format!(
            "node.{}.ip_id: real hosts number their packets as their kernel does; leave it out, or simulate",
            node.name
        )));
    }
    let specs = s.links.iter().flat_map(|l| [(l, &l.forward), (l, &l.back)]);
    let mut of_flows =
        specs.filter_map(|(l, spec)| Some((l, spec.channels.iter().find(|c| !c.flows.is_empty())?)));
    if let Some((link, channel)) = of_flows.next() {
        return Err(refused(format!(
            "link.{}.channel.{}.flows: the bridge does not know which flow a packet belongs to; leave it out, or simulate",
            link.name, channel.name
        )));
    }
    Ok(hosts)
}

/// Whose TCP a stack is, and what it says.
fn tcp<'a>(s: &'a Scenario, flow: &Flow, stack: usize) -> Result<(Carrier, &'a Wire), Error> {
    let stack = &s.stacks[stack];
    match (&stack.kind, &stack.kernel) {
        (Kind::Wire(wire), Some(congestion)) => Ok((Carrier::Kernel(congestion.clone()), wire)),
        (Kind::Wire(wire), None) => Ok((Carrier::Own(Arc::new((**wire).clone())), wire)),
        (Kind::OneWay(_), _) => Err(refused(format!(
            "flow.{}: stack {} is a one-way agent, which counts packets and sends no SYN: it runs in the simulator only",
            flow.name, stack.name
        ))),
    }
}

fn datagrams(flow: &Flow, packet_bytes: u32) -> Result<Carrier, Error> {
    if !(HEADERS..=MTU).contains(&packet_bytes) {
        return Err(refused(format!(
            "flow.{}.packet = \"{packet_bytes}B\": live, a datagram has {HEADERS} bytes of headers, and {MTU} in all at most",
            flow.name
        )));
    }
    Ok(Carrier::Datagrams(packet_bytes))
}

fn untold(s: &Scenario, hosts: &[usize]) -> Vec<String> {
    let inner = s.record.capture.iter().filter(|n| !hosts.contains(n));
    let inner: Vec<&str> = inner.map(|n| s.nodes[*n].name.as_str()).collect();
    let inner = (!inner.is_empty()).then(|| {
        format!(
            "record.capture: there are none at {}: no flow begins or ends there, so that it is inside the bridge",
            inner.join(", ")
        )
    });
    let asked = [
        ("record.retransmissions", s.record.retransmissions, "no kernel tells why it sends a segment again"),
        ("record.packets", s.record.packets, "the captures have the hosts' packets"),
        ("record.applications", s.record.applications, "nobody watches what the hosts' programs do"),
        ("record.blocked", s.record.blocked, "no kernel tells at every change what blocks a sender"),
        ("record.held", s.record.held, "the bridge tells of lost packets only"),
    ];
    let asked = asked.iter().filter(|a| a.1);
    let asked = asked.map(|(key, _, why)| format!("{key} is not recorded live: {why}"));
    inner.into_iter().chain(asked).collect()
}
