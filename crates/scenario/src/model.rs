//! A scenario as plain data: what a file says once names are resolved, presets expanded and defaults filled in.
//!
//! Nodes, links, flows and stacks refer to each other by index, in the order of the file.

use crate::reader::Reader;
use instant::{Span, Time};
use links::random::Stream;
use links::spec::LinkSpec;
use tcp::stack::Stack;

#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub name: String,
    pub about: String,
    /// Where its figures come from.
    pub source: Vec<String>,
    /// `None` runs until every flow has ended by itself.
    pub duration: Option<Span>,
    pub seed: u64,
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
    pub flows: Vec<Flow>,
    pub record: Record,
    pub live: Live,
    /// What [`Workload::Command`] refers to.
    pub commands: Vec<Command>,
    /// The stacks that flows use, each once.
    pub stacks: Vec<Stack>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    pub input: Input,
    pub numbering: Numbering,
}

/// How a host numbers the packets that it sends (IPv4 identification).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    pub rule: IpId,
    /// The bytes of each number are swapped.
    pub swapped: bool,
    /// Packets that the host sends elsewhere, where nobody sees them, on average.
    pub unseen_per_s: u64,
}

params::words! {
    /// Which of a host's packets share a counter, if they are counted.
    #[derive(Default)]
    pub enum IpId {
        #[default]
        PerConnection = "per-connection", "counted up for each direction of a connection (Linux)";
        PerHost = "per-host", "counted up for all packets of the host (lwIP, uIP, AIX, Windows)";
        Random = "random", "drawn for each packet (BSD, macOS)";
        Zero = "zero", "always 0";
    }
}

/// When a host handles what has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    #[default]
    AtOnce,
    /// Behind everything that was due at that moment.
    InTurn,
}

/// A duplex link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub name: String,
    /// Indices of the two nodes; `forward` leads from the first to the second.
    pub between: (usize, usize),
    pub forward: LinkSpec,
    pub back: LinkSpec,
}

/// One sender and one receiver, or `count` such pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    pub name: String,
    /// Index of the node whose application opens the connection and sends.
    pub from: usize,
    pub to: usize,
    pub count: u32,
    pub start: Start,
    /// The application writes nothing from here on.
    pub stop: Option<Time>,
    pub transport: Transport,
    pub workload: Workload,
    /// How the program at `from` reads, and the program at `to`.
    pub readers: [Reader; 2],
}

impl Flow {
    /// The random stream of one of its sources, for one purpose, so that nothing shifts anything else.
    pub fn stream(&self, seed: u64, source: u32, purpose: &str) -> Stream {
        Stream::new(seed, &format!("flow {} {source}", self.name), purpose)
    }

    /// When one of its sources begins.
    pub fn starts(&self, seed: u64, source: u32) -> Time {
        match self.start.spread {
            StartSpread::Together => self.start.at,
            StartSpread::Spaced { by } => self.start.at + by * i64::from(source),
            StartSpread::Random { within } => {
                self.start.at + self.stream(seed, source, "start").uniform_span(within)
            }
        }
    }
}

/// When the sources of a flow begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The first source, or the beginning of the interval.
    pub at: Time,
    pub spread: StartSpread,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartSpread {
    /// All at `at`.
    #[default]
    Together,
    /// Source k at `at + k * by`.
    Spaced { by: Span },
    /// Each uniformly over `[at, at + within)`.
    Random { within: Span },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Indices into [`Scenario::stacks`]. With a one-way stack both are the same.
    Tcp { stack: usize, receiver: usize },
    /// Packets of so many bytes, headers included, that nobody acknowledges.
    Datagram { packet_bytes: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Workload {
    /// Always something to send.
    Endless,
    File {
        bytes: u64,
    },
    /// A message of `message_bytes` every `message_bytes * 8 / rate_bps` seconds. With datagrams a message is a
    /// packet, headers included.
    ConstantRate {
        rate_bps: u64,
        message_bytes: u64,
    },
    /// Constant rate while on, silence while off.
    OnOff {
        on: Distribution,
        off: Distribution,
        rate_bps: u64,
        message_bytes: u64,
    },
    /// The sender asks, the receiver answers, the sender thinks; `None` goes on to the end.
    RequestResponse {
        request_bytes: u64,
        response_bytes: u64,
        think: Distribution,
        count: Option<u64>,
    },
    /// On the live bench only: an index into [`Scenario::commands`].
    Command {
        command: usize,
    },
}

/// Programs that run in the hosts of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub server: Option<String>,
    pub client: String,
}

/// What only the live bench reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// Settings of all hosts' kernels, `net.ipv4.tcp_ecn=1`: key and value.
    pub sysctls: Vec<(String, String)>,
    /// Of one host, by node, besides.
    pub hosts: Vec<(usize, Vec<(String, String)>)>,
    pub real_time: bool,
}

impl Default for Live {
    fn default() -> Live {
        Live { sysctls: Vec::new(), hosts: Vec::new(), real_time: true }
    }
}

/// How a length of time is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    Constant(Span),
    Exponential {
        mean: Span,
    },
    /// With a finite mean: shape above 1.
    Pareto {
        mean: Span,
        shape: f64,
    },
}

/// What is written down. Everything is off unless asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Nodes at which packets are captured.
    pub capture: Vec<usize>,
    /// Bytes kept of each captured packet; `None` keeps all.
    pub snap_bytes: Option<u32>,
    /// Flows whose senders' state is kept at every change.
    pub state: Vec<usize>,
    /// Links whose queues' occupancy and waiting times are kept.
    pub queues: Vec<usize>,
    /// Every packet that the network lost, with the cause.
    pub drops: bool,
    /// The truth about every transmission of data that is not new.
    pub retransmissions: bool,
    /// Every packet that a host sends or receives.
    pub packets: bool,
    /// What programs do: when they write, read and close.
    pub applications: bool,
    /// What keeps senders from sending more.
    pub blocked: bool,
    /// Every packet that a channel kept back or made late.
    pub held: bool,
}

impl Record {
    /// Nothing is to be kept.
    pub fn is_off(&self) -> bool {
        *self == Record { snap_bytes: self.snap_bytes, ..Record::default() }
    }
}
