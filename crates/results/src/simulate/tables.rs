//! The simulator's rows as Arrow: `state`, `queues`, `drops`, `truth`, `hosts`, `applications`, `blocked` and `held`.

use super::kept::Kept;
use super::outages::Labels;
use super::report::channel;
use super::rows::{self, Which};
use super::sides::Sides;
use crate::spool::codec::decode;
use crate::spool::merge::Merge;
use crate::spool::store::Sealed;
use crate::spool::tables;
use crate::tables::column::*;
use crate::tables::{Batches, Reader};
use analysis::rows::FlowRow;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use links::spec::LinkSpec;
use scenario::model::{Record, Scenario};
use serde::de::DeserializeOwned;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

tables! { RunTable {
    State = "state", Queues = "queues", Drops = "drops", Truth = "truth", Hosts = "hosts",
    Applications = "applications", Blocked = "blocked", Held = "held",
} }

/// What numbers stand for.
#[derive(Clone, Debug, Default)]
pub struct Names {
    nodes: Vec<Arc<str>>,
    /// By connection: the scenario's flow.
    flows: Vec<Arc<str>>,
    /// By connection and direction: the flow in the tables of the analysis.
    ids: Vec<[Option<u32>; 2]>,
    /// By direction of a link.
    links: Vec<Arc<str>>,
    channels: Vec<Vec<Option<Arc<str>>>>,
    /// What they are.
    kinds: Vec<Vec<&'static str>>,
    pub(super) outages: Labels,
}

impl Names {
    pub fn new(scenario: &Scenario) -> Names {
        let mut flows: Vec<Arc<str>> = Vec::new();
        for flow in &scenario.flows {
            flows.extend(std::iter::repeat_n(Arc::from(flow.name.as_str()), flow.count as usize));
        }
        let of = |spec: &LinkSpec| {
            (0..spec.channels.len()).map(|at| channel(spec, at as u16).map(Arc::from)).collect()
        };
        let links =
            scenario.links.iter().flat_map(|l| [Arc::from(l.name.as_str()), Arc::from(l.name.as_str())]);
        Names {
            nodes: scenario.nodes.iter().map(|n| Arc::from(n.name.as_str())).collect(),
            ids: vec![[None; 2]; flows.len()],
            flows,
            links: links.collect(),
            channels: scenario.links.iter().flat_map(|l| [of(&l.forward), of(&l.back)]).collect(),
            kinds: scenario.links.iter().flat_map(|l| [kinds(&l.forward), kinds(&l.back)]).collect(),
            outages: Labels::default(),
        }
    }
    /// Of connections that no scenario lists: each with its flow's name.
    pub fn with_connections(self, flows: Vec<Arc<str>>) -> Names {
        Names { ids: vec![[None; 2]; flows.len()], flows, ..self }
    }
    /// The flow in the tables of the analysis that one direction of a connection is.
    pub fn set(&mut self, connection: u32, forward: bool, id: u32) {
        if let Some(ids) = self.ids.get_mut(connection as usize) {
            ids[usize::from(!forward)] = Some(id);
        }
    }
    pub fn learn(&mut self, sides: &Sides, row: &FlowRow) {
        if let Some((connection, forward)) = sides.find(row.sender, row.receiver)
            && let Some(ids) = self.ids.get_mut(connection as usize)
        {
            ids[usize::from(!forward)] = Some(row.flow);
        }
    }
    pub fn outages(&self) -> &Labels {
        &self.outages
    }
    pub fn label(&mut self, outages: Labels) {
        self.outages = outages;
    }
    fn flow(&self, connection: u32) -> Arc<str> {
        self.flows.get(connection as usize).cloned().unwrap_or_else(|| Arc::from(""))
    }
    /// The flow of the analysis; an ACK belongs to the one that it acknowledges.
    pub fn id(&self, connection: u32, forward: bool) -> Option<u32> {
        self.ids.get(connection as usize).and_then(|ids| ids[usize::from(!forward)])
    }
    fn node(&self, node: u32) -> Arc<str> {
        self.nodes.get(node as usize).cloned().unwrap_or_else(|| Arc::from(""))
    }
    fn link(&self, link: u32) -> Arc<str> {
        self.links.get(link as usize).cloned().unwrap_or_else(|| Arc::from(""))
    }
    fn channel(&self, link: u32, at: Option<u16>) -> Option<Arc<str>> {
        self.channels.get(link as usize)?.get(usize::from(at?))?.clone()
    }
    fn kind(&self, link: u32, at: Option<u16>) -> Option<&'static str> {
        self.kinds.get(link as usize)?.get(usize::from(at?)).copied()
    }
}

fn kinds(spec: &LinkSpec) -> Vec<&'static str> {
    spec.channels.iter().map(|channel| channel.kind.name()).collect()
}

/// The simulator's rows of a run that is over.
pub struct RunRows {
    stores: [Sealed; RunTable::ALL.len()],
    held: [bool; RunTable::ALL.len()],
    names: Arc<Names>,
}

impl RunRows {
    pub fn new(kept: Kept, names: Names, record: &Record) -> RunRows {
        let Record { state, queues, retransmissions, packets, applications, blocked, held, .. } = record;
        let drops = kept.keeps_drops();
        let stores = [
            (kept.state, !state.is_empty()),
            (kept.queues, !queues.is_empty()),
            (kept.drops, drops),
            (kept.truth, *retransmissions),
            (kept.hosts, *packets),
            (kept.applications, *applications),
            (kept.blocked, *blocked),
            (kept.held, *held),
        ];
        let held = stores.each_ref().map(|(_, held)| *held);
        let stores = stores.map(|(store, _)| store.seal());
        RunRows { stores, held, names: Arc::new(names) }
    }
    pub fn holds(&self, table: RunTable) -> bool {
        self.held[table as usize]
    }
    pub fn len(&self, table: RunTable) -> u64 {
        self.stores[table as usize].rows()
    }
    /// Sentences about rows that the disk could not take.
    pub fn complaints(&self) -> Vec<String> {
        let told = |table: RunTable| self.stores[table as usize].complaint(table.name());
        RunTable::ALL.into_iter().filter_map(told).collect()
    }
    pub fn reader(&self, table: RunTable) -> io::Result<Reader> {
        visit(table, Read(self, table))
    }
    /// The rows undecoded.
    pub fn records(&self, table: RunTable) -> io::Result<Merge> {
        self.stores[table as usize].read()
    }
    pub fn names(&self) -> &Arc<Names> {
        &self.names
    }
}

/// What is done with a table of the simulator, whichever it is: `line` puts names in the place of numbers.
pub(crate) trait Visitor {
    type Out;
    fn visit<R, C>(self, line: fn(&Names, R) -> C::Row) -> Self::Out
    where
        R: DeserializeOwned + Send + 'static,
        C: Columns;
}

pub(crate) fn visit<V: Visitor>(table: RunTable, visitor: V) -> V::Out {
    match table {
        RunTable::State => visitor
            .visit::<rows::State, StateColumns>(|n, row| SideLine::new(n, row.connection, row.forward, row)),
        RunTable::Queues => visitor.visit::<rows::Queue, QueueColumns>(|n, row| QueueLine {
            link: n.link(row.link),
            packet: PacketLine::new(n, row.packet),
            row,
        }),
        RunTable::Drops => visitor.visit::<rows::Drop, DropColumns>(|n, row| {
            ChannelLine::new(n, (row.link, row.channel), row.packet, row)
        }),
        RunTable::Truth => visitor.visit::<rows::Resent, TruthColumns>(|n, row| TruthLine {
            packet: PacketLine::new(n, row.packet),
            row,
        }),
        RunTable::Hosts => visitor.visit::<rows::Host, HostColumns>(|n, row| HostLine {
            node: n.node(row.node),
            packet: PacketLine::new(n, row.packet),
            row,
        }),
        RunTable::Applications => visitor.visit::<rows::App, AppColumns>(|n, row| {
            let forward = row.client == (row.event != rows::AppEvent::Read);
            SideLine::new(n, row.connection, forward, row)
        }),
        RunTable::Blocked => visitor.visit::<rows::Blocked, BlockedColumns>(|n, row| {
            SideLine::new(n, row.connection, row.forward, row)
        }),
        RunTable::Held => visitor.visit::<rows::Held, HeldColumns>(|n, row| {
            ChannelLine::new(n, (row.link, Some(row.channel)), row.packet, row)
        }),
    }
}

struct Read<'a>(&'a RunRows, RunTable);

impl Visitor for Read<'_> {
    type Out = io::Result<Reader>;
    fn visit<R, C>(self, line: fn(&Names, R) -> C::Row) -> io::Result<Reader>
    where
        R: DeserializeOwned + Send + 'static,
        C: Columns,
    {
        let Read(run_rows, table) = self;
        let lines = Lines::new(run_rows.records(table)?, &run_rows.names, line);
        Ok(Box::new(Batches::<C, _>::of(lines)))
    }
}

pub(super) struct Describe;

impl Visitor for Describe {
    type Out = Schema;
    fn visit<R, C: Columns>(self, _: fn(&Names, R) -> C::Row) -> Schema {
        C::schema()
    }
}

pub fn schema(table: RunTable) -> Schema {
    visit(table, Describe)
}

/// Rows read back, with names in the place of numbers.
pub(super) struct Lines<R, L> {
    merge: Merge,
    names: Arc<Names>,
    line: fn(&Names, R) -> L,
    row: PhantomData<R>,
}

impl<R, L> Lines<R, L> {
    pub fn new(merge: Merge, names: &Arc<Names>, line: fn(&Names, R) -> L) -> Lines<R, L> {
        Lines { merge, names: Arc::clone(names), line, row: PhantomData }
    }
}

impl<R: DeserializeOwned, L> Iterator for Lines<R, L> {
    type Item = io::Result<L>;
    fn next(&mut self) -> Option<io::Result<L>> {
        match self.merge.next() {
            Ok(record) => record.map(|(_, bytes)| decode(bytes).map(|row| (self.line)(&self.names, row))),
            Err(e) => Some(Err(e)),
        }
    }
}

fn direction(link: u32) -> &'static str {
    if link & 1 == 0 { "forward" } else { "back" }
}

/// A packet with the name of its flow.
pub struct PacketLine {
    id: Option<u32>,
    name: Arc<str>,
    packet: Which,
}

impl PacketLine {
    fn new(names: &Names, packet: Which) -> PacketLine {
        // An ACK without data belongs to the data that it acknowledges.
        let forward = packet.forward == (packet.payload_bytes > 0);
        PacketLine { id: names.id(packet.connection, forward), name: names.flow(packet.connection), packet }
    }
}

type StateLine = SideLine<rows::State>;
type AppLine = SideLine<rows::App>;
type BlockedLine = SideLine<rows::Blocked>;
type DropLine = ChannelLine<rows::Drop>;
type HeldLine = ChannelLine<rows::Held>;

/// A row about one side of a connection, with the flow's id and name.
pub struct SideLine<R> {
    id: Option<u32>,
    name: Arc<str>,
    row: R,
}

impl<R> SideLine<R> {
    fn new(names: &Names, connection: u32, forward: bool, row: R) -> SideLine<R> {
        SideLine { id: names.id(connection, forward), name: names.flow(connection), row }
    }
}

pub struct QueueLine {
    link: Arc<str>,
    packet: PacketLine,
    row: rows::Queue,
}

/// A row about a packet at a link, with the name and kind of the link's channel that acted on it, if one did.
pub struct ChannelLine<R> {
    link: Arc<str>,
    channel: Option<Arc<str>>,
    kind: Option<&'static str>,
    packet: PacketLine,
    row: R,
}

impl<R> ChannelLine<R> {
    fn new(names: &Names, (link, channel): (u32, Option<u16>), packet: Which, row: R) -> ChannelLine<R> {
        ChannelLine {
            link: names.link(link),
            channel: names.channel(link, channel),
            kind: names.kind(link, channel),
            packet: PacketLine::new(names, packet),
            row,
        }
    }
}

pub struct HostLine {
    node: Arc<str>,
    packet: PacketLine,
    row: rows::Host,
}

pub struct TruthLine {
    packet: PacketLine,
    row: rows::Resent,
}

table! { StateColumns of StateLine {
        id, name,
        row: rows::State {
            time, connection, forward, smss_bytes, cwnd_bytes, ssthresh_bytes, flight_bytes, pipe_bytes, rtt, srtt, rttvar, rto,
            backoff, dupacks, phase, una, nxt, peer_window_bytes,
        },
    } =>
    flow: MaybeId = id,
    name: Shared, connection: Id,
    from_client: Bool = forward,
    time: Stamp, smss_bytes: Int, cwnd_bytes: Real, ssthresh_bytes: MaybeReal, flight_bytes: Int,
    pipe_bytes: MaybeInt, peer_window_bytes: MaybeInt,
    rtt_s: MaybeSecs = rtt,
    srtt_s: MaybeSecs = srtt,
    rttvar_s: MaybeSecs = rttvar,
    rto_s: MaybeSecs = rto,
    backoff: MaybeInt, dupacks: MaybeInt, phase: Word, una: Int, nxt: Int,
}

table! { QueueColumns of QueueLine {
        link,
        packet: PacketLine {
            id, name,
            packet: Which { connection, forward, copy, offset, payload_bytes, release, .. },
        },
        row: rows::Queue { time, link: at, event, packets, bytes, waited, until, packet: _ },
    } =>
    link: Shared,
    direction: Word = direction(at),
    time: Stamp,
    event: Word,
    packets: Int, bytes: Int,
    waited_s: MaybeSecs = waited,
    until: MaybeStamp,
    flow: MaybeId = id,
    name: Shared, connection: Id,
    from_client: Bool = forward,
    copy: Int,
    seq: Int = offset,
    payload_bytes: Int, release: MaybeWord,
}

table! { DropColumns of DropLine {
        link, channel, kind,
        packet: PacketLine {
            id, name,
            packet: Which { connection, forward, copy, offset, payload_bytes, reason, evidence, backoff, .. },
        },
        row: rows::Drop { time, link: at, cause, channel: _, packet: _ },
    } =>
    time: Stamp, link: Shared,
    direction: Word = direction(at),
    cause: Word, channel: MaybeShared, kind: MaybeWord,
    flow: MaybeId = id,
    name: Shared, connection: Id,
    from_client: Bool = forward,
    copy: Int,
    seq: Int = offset,
    payload_bytes: Int, reason: MaybeWord, evidence: MaybeWord, backoff: MaybeInt,
}

table! { TruthColumns of TruthLine {
        packet: PacketLine {
            id, name,
            packet: Which { connection, forward, copy, offset, payload_bytes, reason, evidence, backoff, .. },
        },
        row: rows::Resent { time, packet: _, needless },
    } =>
    flow: MaybeId = id,
    name: Shared, connection: Id,
    from_client: Bool = forward,
    time: Stamp, copy: Int,
    seq_start: Int = offset,
    seq_end: Int = offset + u64::from(payload_bytes),
    cause: Word = reason.map_or("", |r| r.name()),
    evidence: MaybeWord, backoff: MaybeInt, needless: MaybeBool,
}

table! { HostColumns of HostLine {
        node,
        packet: PacketLine {
            id, name,
            packet: Which {
                connection, forward, copy, offset, payload_bytes, reason, evidence, backoff, release,
            },
        },
        row: rows::Host { time, node: _, sent, length_bytes, packet: _ },
    } =>
    time: Stamp, node: Shared,
    event: Word = if sent { "sent" } else { "arrived" },
    flow: MaybeId = id,
    name: Shared, connection: Id,
    from_client: Bool = forward,
    copy: Int,
    seq: Int = offset,
    payload_bytes: Int, length_bytes: Int,
    reason: MaybeWord, evidence: MaybeWord, backoff: MaybeInt, release: MaybeWord,
}

table! { AppColumns of AppLine { id, name, row: rows::App { time, connection, client, event, bytes, left_bytes } } =>
    time: Stamp,
    flow: MaybeId = id,
    name: Shared, connection: Id,
    side: Word = if client { "client" } else { "server" },
    event: Word, bytes: Int, left_bytes: Int,
}

table! { BlockedColumns of BlockedLine {
        id, name,
        row: rows::Blocked {
            time, connection, forward, by, unsent_bytes, unwritten_bytes, flight_bytes, cwnd_bytes, peer_window_bytes,
        },
    } =>
    flow: MaybeId = id,
    name: Shared, connection: Id,
    from_client: Bool = forward,
    time: Stamp, by: Word, unsent_bytes: Int, unwritten_bytes: Int, flight_bytes: Int, cwnd_bytes: Real,
    peer_window_bytes: MaybeInt,
}

table! { HeldColumns of HeldLine {
        link, channel, kind,
        packet: PacketLine { id, name, packet: Which { connection, forward, copy, offset, payload_bytes, .. } },
        row: rows::Held { time, link: at, channel: _, kept, until, packet: _ },
    } =>
    time: Stamp, until: Stamp, link: Shared,
    direction: Word = direction(at),
    event: Word = if kept { "held" } else { "late" },
    channel: MaybeShared, kind: MaybeWord,
    flow: MaybeId = id,
    name: Shared, connection: Id,
    from_client: Bool = forward,
    copy: Int,
    seq: Int = offset,
    payload_bytes: Int,
}
