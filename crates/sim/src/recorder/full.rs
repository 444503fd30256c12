//! The recorder that keeps what the scenario asks for, and hands it to a sink row by row.

use super::truth::{Fate, Truth};
use super::{Recorder, Sink};
use crate::frame::{Body, Frame, Reason};
use crate::ip_ids::IpIds;
use crate::packets::Packets;
use crate::rows::{
    AppRow, Block, BlockedRow, DropRow, HeldRow, HostRow, PacketFacts, QueueEvent, QueueRow, ResentRow,
    State, StateRow,
};
use instant::{Span, Time};
use links::watch::{Backlog, Held};
use links::{Cause, Facts, LinkId, Watch};
use net::NodeId;
use scenario::model::{Record, Scenario};

pub struct Full<S> {
    pub sink: S,
    wanted: Wanted,
    packets: Packets,
    ip_ids: IpIds,
    /// By connection and direction; the last state, so that only changes are kept.
    states: Vec<[Option<State>; 2]>,
    truths: Vec<[Truth; 2]>,
    /// By connection and direction, where it is wanted.
    blocks: Vec<[Option<Block>; 2]>,
    settled: Vec<ResentRow>,
    /// By connection: client and server.
    hosts: Vec<(usize, usize)>,
    /// A packet that has left a queue; what follows at once is until when it is being sent.
    leaving: Option<QueueRow>,
    /// By link, where some link's queue is recorded: what waits.
    backlogs: Vec<Backlog>,
    /// By link: the node that it starts from, and the one that it leads to.
    links: Vec<(usize, usize)>,
}

/// What is asked for, as flags that are looked up by index.
struct Wanted {
    /// By node.
    capture: Vec<bool>,
    /// There may be nodes among them that lie between the ends of a connection.
    between: bool,
    /// By pair of links.
    queues: Vec<bool>,
    /// By connection.
    state: Vec<bool>,
    drops: bool,
    truth: bool,
    hosts: bool,
    applications: bool,
    blocked: bool,
    held: bool,
    /// What released each packet.
    releases: bool,
}

impl Wanted {
    fn new(scenario: &Scenario, flow_of: &[u32], ends: &[(usize, usize)]) -> Wanted {
        let Record {
            capture,
            state,
            queues,
            drops,
            retransmissions,
            packets,
            applications,
            blocked,
            held,
            ..
        } = &scenario.record;
        Wanted {
            capture: (0..scenario.nodes.len()).map(|n| capture.contains(&n)).collect(),
            between: between(capture, ends),
            queues: (0..scenario.links.len()).map(|l| queues.contains(&l)).collect(),
            state: flow_of.iter().map(|f| state.contains(&(*f as usize))).collect(),
            drops: *drops,
            truth: *retransmissions,
            hosts: *packets,
            applications: *applications,
            blocked: *blocked,
            held: *held,
            releases: *packets || *blocked || !queues.is_empty(),
        }
    }
}

impl Wanted {
    /// What rows say of a packet.
    fn facts(&self, frame: &Frame) -> PacketFacts {
        PacketFacts { release: self.releases.then_some(frame.release), ..frame.facts() }
    }
}

/// Whether a captured node may lie between the ends of a connection: not where all have the same two, and no other is
/// captured.
fn between(capture: &[usize], ends: &[(usize, usize)]) -> bool {
    let Some(&(client, server)) = ends.first() else { return false };
    let is_end = |node| node == client || node == server;
    !ends.iter().all(|&(a, b)| is_end(a) && is_end(b)) || !capture.iter().all(|&node| is_end(node))
}

impl<S: Sink> Full<S> {
    /// `flow_of` and `ends` by connection: the scenario's flow, and the indices of client and server.
    pub fn new(scenario: &Scenario, seed: u64, flow_of: &[u32], ends: &[(usize, usize)], sink: S) -> Full<S> {
        let connections = flow_of.len();
        let wanted = Wanted::new(scenario, flow_of, ends);
        Full {
            sink,
            blocks: vec![[None; 2]; if wanted.releases { connections } else { 0 }],
            wanted,
            packets: Packets::new(scenario, flow_of, ends),
            ip_ids: IpIds::new(scenario, seed),
            states: vec![[None; 2]; connections],
            truths: (0..connections).map(|_| Default::default()).collect(),
            settled: Vec::new(),
            leaving: None,
            backlogs: match scenario.record.queues.is_empty() {
                true => Vec::new(),
                false => vec![Backlog::default(); scenario.links.len() * 2],
            },
            hosts: ends.to_vec(),
            links: scenario.links.iter().map(|l| l.between).collect(),
        }
    }

    /// The run is over; rows that were never settled go out as they are.
    pub fn finish(mut self) -> S {
        for truth in self.truths.iter_mut().flatten() {
            for row in truth.unsettled() {
                self.sink.resent(&row);
            }
        }
        self.sink
    }

    /// A packet that the run's end keeps from arriving.
    pub fn under_way(&mut self, now: Time, node: NodeId, facts: &Facts, frame: &Frame) {
        if self.captures(node)
            && let Some(packet) = self.packets.packet(now, node, facts, frame)
        {
            self.sink.under_way(node, frame, &packet);
        }
    }

    fn captures(&self, node: NodeId) -> bool {
        self.wanted.capture.get(node.0 as usize).copied().unwrap_or(false)
    }

    fn capture(&mut self, now: Time, node: NodeId, facts: &Facts, frame: &Frame) {
        if !self.captures(node) {
            return;
        }
        if matches!(frame.body, Body::Datagram(_)) {
            self.sink.datagram(now, node, self.packets.ends(frame), facts.len);
        } else if !self.sink.takes(node, frame) {
            self.sink.passed(now, node, facts.len, frame);
        } else if let Some(packet) = self.packets.packet(now, node, facts, frame) {
            self.sink.packet(node, frame, &packet);
        }
    }

    /// A node on the way sees a packet when it comes; the host that it is for is told of it by itself.
    fn capture_on_the_way(&mut self, link: LinkId, now: Time, facts: &Facts, frame: &Frame) {
        if !self.wanted.between {
            return;
        }
        let Some(&(start, end)) = self.links.get(link.pair()) else { return };
        let node = if link.is_forward() { end } else { start };
        let (client, server) = self.hosts[frame.connection as usize];
        if node != if frame.forward { server } else { client } {
            self.capture(now, NodeId(node as u32), facts, frame);
        }
    }

    fn note_sent(&mut self, now: Time, frame: &Frame) {
        if !self.wanted.truth {
            return;
        }
        let packet = self.packets.facts_in_bytes(frame);
        if packet.payload_bytes == 0 {
            return;
        }
        let truth = &mut self.truths[frame.connection as usize][usize::from(!frame.forward)];
        match frame.reason {
            Reason::New => {
                truth.sent(packet.copy, packet.offset, packet.offset + u64::from(packet.payload_bytes));
            }
            _ => {
                if let Some(row) = truth.resent(ResentRow { time: now, packet, needless: None }) {
                    self.sink.resent(&row);
                }
            }
        }
    }

    fn note_end(&mut self, frame: &Frame, fate: Fate) {
        if !self.wanted.truth || frame.payload_bytes() == 0 {
            return;
        }
        let way = usize::from(!frame.forward);
        let una = self.states[frame.connection as usize][way].map_or(0, |s| s.una);
        let truth = &mut self.truths[frame.connection as usize][way];
        truth.ended(frame.copy, fate, una, &mut self.settled);
        for row in self.settled.drain(..) {
            self.sink.resent(&row);
        }
    }

    fn note_backlog(&mut self, link: LinkId, backlog: Backlog) {
        if let Some(last) = self.backlogs.get_mut(link.index()) {
            *last = backlog;
        }
    }

    /// Of a packet that comes into a queue, where that is recorded.
    fn queue_row(&self, link: LinkId, time: Time, frame: &Frame) -> Option<QueueRow> {
        let Backlog { packets, bytes } = *self.backlogs.get(link.index())?;
        self.wanted.queues.get(link.pair()).filter(|wanted| **wanted)?;
        Some(QueueRow {
            time,
            link,
            event: QueueEvent::Enqueued,
            packets,
            bytes,
            waited: None,
            until: None,
            packet: self.wanted.facts(frame),
        })
    }
}

impl<S: Sink> Watch<Frame> for Full<S> {
    fn enqueued(&mut self, link: LinkId, now: Time, _: &Facts, frame: &Frame, backlog: Backlog) {
        self.note_backlog(link, backlog);
        if let Some(row) = self.queue_row(link, now, frame) {
            self.sink.queue(&row);
        }
    }
    fn dequeued(
        &mut self,
        link: LinkId,
        now: Time,
        _: &Facts,
        frame: &Frame,
        waited: Span,
        backlog: Backlog,
    ) {
        self.note_backlog(link, backlog);
        let row = self.queue_row(link, now, frame);
        self.leaving = row.map(|row| QueueRow { event: QueueEvent::Dequeued, waited: Some(waited), ..row });
    }
    fn sending(&mut self, link: LinkId, now: Time, _: &Facts, frame: &Frame, until: Time) {
        let repeated = |row| QueueRow { event: QueueEvent::Repeated, ..row };
        let row = self.leaving.take().or_else(|| self.queue_row(link, now, frame).map(repeated));
        if let Some(row) = row {
            self.sink.queue(&QueueRow { until: Some(until), ..row });
        }
    }
    fn held(&mut self, link: LinkId, _: &Facts, frame: &Frame, held: Held) {
        if self.wanted.held {
            let packet = self.wanted.facts(frame);
            self.sink.held(&HeldRow { link, held, packet });
        }
    }
    fn dropped(&mut self, link: LinkId, now: Time, _: &Facts, frame: &Frame, cause: Cause) {
        if self.wanted.drops {
            let packet = self.wanted.facts(frame);
            self.sink.dropped(&DropRow { time: now, link, cause, packet });
        }
        self.note_end(frame, Fate::Lost);
    }
    fn copied(&mut self, _: LinkId, _: Time, _: &Facts, frame: &Frame) {
        self.sink.doubled(frame);
    }
    fn delivered(&mut self, link: LinkId, now: Time, facts: &Facts, frame: &Frame) {
        self.capture_on_the_way(link, now, facts, frame);
    }
}

impl<S: Sink> Recorder for Full<S> {
    fn sent(&mut self, now: Time, node: NodeId, facts: &Facts, frame: &Frame) {
        self.capture(now, node, facts, frame);
        self.host(now, node, true, facts, frame);
        self.note_sent(now, frame);
    }
    fn arrived(&mut self, now: Time, node: NodeId, facts: &Facts, frame: &Frame) {
        self.capture(now, node, facts, frame);
        self.host(now, node, false, facts, frame);
        self.note_end(frame, Fate::Arrived);
    }
    fn ip_id(&mut self, now: Time, node: NodeId, own: u16) -> u16 {
        self.ip_ids.number(now, node, own)
    }
    fn wants_state(&self, connection: u32) -> bool {
        // A needless repair shows by what was acknowledged.
        self.wanted.truth || self.wanted.state[connection as usize]
    }
    fn state(&mut self, now: Time, connection: u32, forward: bool, state: State) {
        let last = &mut self.states[connection as usize][usize::from(!forward)];
        if *last == Some(state) {
            return;
        }
        *last = Some(state);
        if self.wanted.state[connection as usize] {
            self.sink.state(&StateRow { time: now, connection, forward, state });
        }
    }
    fn wants_releases(&self) -> bool {
        self.wanted.releases
    }
    fn blocked_by(&self, connection: u32, forward: bool) -> Block {
        self.blocks.get(connection as usize).and_then(|of| of[usize::from(!forward)]).unwrap_or_default()
    }
    fn blocked(&mut self, row: &BlockedRow) {
        let Some(of) = self.blocks.get_mut(row.connection as usize) else { return };
        let last = &mut of[usize::from(!row.forward)];
        if *last != Some(row.by) {
            *last = Some(row.by);
            if self.wanted.blocked {
                self.sink.blocked(row);
            }
        }
    }
    fn application(&mut self, row: &AppRow) {
        if self.wanted.applications {
            self.sink.application(row);
        }
    }
}

impl<S: Sink> Full<S> {
    fn host(&mut self, now: Time, node: NodeId, sent: bool, facts: &Facts, frame: &Frame) {
        if self.wanted.hosts {
            let packet = self.wanted.facts(frame);
            self.sink.host(&HostRow { time: now, node: node.0, sent, length_bytes: facts.len, packet });
        }
    }
}

impl Frame {
    /// What rows say of it.
    pub fn facts(&self) -> PacketFacts {
        let offset = match &self.body {
            Body::Segment(seg, _) if seg.payload == 0 => u64::from(seg.ack.0),
            Body::Segment(_, offset) => *offset,
            Body::OneWayData(data) => data.number.max(0) as u64,
            Body::OneWayAck(ack) => (ack.cumulative + 1).max(0) as u64,
            Body::Datagram(_) => 0,
        };
        PacketFacts {
            connection: self.connection,
            forward: self.forward,
            copy: self.copy,
            offset,
            payload_bytes: self.payload_bytes(),
            reason: self.reason,
            release: None,
        }
    }
}
