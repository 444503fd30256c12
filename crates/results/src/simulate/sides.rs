//! Whose packets are the sender's and whose the receiver's: of each connection at its own two hosts.

use super::At;
use crate::spool::Spool;
use analysis::join::Side;
use analysis::paths::Stretch;
use analysis::rows::*;
use analysis::{Flows, Sink};
use net::NodeId;
use scenario::model::{Scenario, Transport, Workload};
use std::collections::HashMap;
use wire::{Endpoint, Host, Time, Tuple};

/// One connection.
#[derive(Clone, Copy, Debug)]
struct Ends {
    client: u32,
    server: u32,
    /// Most data comes from the server.
    served: bool,
    tcp: bool,
}

/// The connections of a scenario, in its order.
#[derive(Clone, Debug)]
pub struct Sides {
    ends: Vec<Ends>,
    by_tuple: HashMap<(Endpoint, Endpoint), u32>,
}

impl Sides {
    pub fn new(scenario: &Scenario) -> Sides {
        let mut ends = Vec::new();
        for flow in &scenario.flows {
            let served = match flow.workload {
                Workload::RequestResponse { request_bytes, response_bytes, .. } => {
                    response_bytes > request_bytes
                }
                _ => false,
            };
            let tcp = matches!(flow.transport, Transport::Tcp { .. });
            let one = Ends { client: flow.from as u32, server: flow.to as u32, served, tcp };
            ends.extend(std::iter::repeat_n(one, flow.count as usize));
        }
        let by_tuple = ends.iter().enumerate().map(|(k, e)| {
            let tuple = tuple(k as u32, e);
            ((tuple.src, tuple.dst), k as u32)
        });
        Sides { by_tuple: by_tuple.collect(), ends }
    }

    /// The nodes at which packets are needed, besides those asked for.
    pub fn ends(&self, asked: &[usize]) -> Vec<usize> {
        let hosts = self.ends.iter().filter(|e| e.tcp).flat_map(|e| [e.client as usize, e.server as usize]);
        let mut nodes: Vec<usize> = hosts.chain(asked.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Which side of its connection a packet at `node` was seen on; `None` on the way between them.
    #[inline]
    pub fn of(&self, node: NodeId, connection: u32) -> Option<Side> {
        let ends = self.ends.get(connection as usize)?;
        let near = match node.0 {
            n if n == ends.client => !ends.served,
            n if n == ends.server => ends.served,
            _ => return None,
        };
        Some(if near { Side::Sender } else { Side::Receiver })
    }

    /// Whether data of this direction leaves from `node` (or arrives there); `None` on the way.
    #[inline]
    pub fn sends(&self, node: NodeId, connection: u32, forward: bool) -> Option<bool> {
        let ends = self.ends.get(connection as usize)?;
        match node.0 {
            n if n == ends.client => Some(forward),
            n if n == ends.server => Some(!forward),
            _ => None,
        }
    }

    /// The connection that a flow belongs to, and whether the client sends it.
    pub fn find(&self, sender: Endpoint, receiver: Endpoint) -> Option<(u32, bool)> {
        let forward = self.by_tuple.get(&(sender, receiver)).map(|k| (*k, true));
        forward.or_else(|| self.by_tuple.get(&(receiver, sender)).map(|k| (*k, false)))
    }

    pub fn tuple(&self, connection: u32) -> Option<Tuple> {
        self.ends.get(connection as usize).map(|e| tuple(connection, e))
    }

    /// Puts right where the small direction of an exchange was seen: at its receiver, where the large one is seen
    /// at its sender.
    pub fn labelling(&self, spool: Spool, at: At) -> Labelled {
        let small = |(k, e): (usize, &Ends)| {
            let tuple = tuple(k as u32, e);
            let ways = [(tuple.src, tuple.dst), (tuple.dst, tuple.src)];
            e.tcp.then_some(ways[usize::from(!e.served)])
        };
        let far = far(at);
        Labelled { spool, small: self.ends.iter().enumerate().filter_map(small).collect(), far }
    }
}

/// Where the small direction of an exchange is seen, whose large one is seen at `at`.
pub fn far(at: At) -> Vantage {
    match at {
        At::Both | At::Sender => Vantage::Receiver,
        At::Receiver => Vantage::Sender,
    }
}

/// A flow of which it turns out where it was seen.
pub fn seen_at(vantage: Vantage, row: &FlowRow) -> FlowRow {
    // What was lost on the way to its receiver was never seen there.
    let (lost_copies, lost_segments) = match vantage {
        Vantage::Receiver => (None, None),
        _ => (row.lost_copies, row.lost_segments),
    };
    FlowRow { vantage, lost_copies, lost_segments, ..row.clone() }
}

fn tuple(connection: u32, ends: &Ends) -> Tuple {
    sim::addresses::tuple(connection, ends.client as usize, ends.server as usize)
}

/// A spool whose flows say where they were seen.
pub struct Labelled {
    spool: Spool,
    small: std::collections::HashSet<(Endpoint, Endpoint)>,
    far: Vantage,
}

impl Labelled {
    pub fn into_spool(self) -> Spool {
        self.spool
    }
}

impl Sink for Labelled {
    fn connection(&mut self, flows: &Flows) {
        let seen = |row: &FlowRow| match self.small.contains(&(row.sender, row.receiver)) {
            true => seen_at(self.far, row),
            false => row.clone(),
        };
        let flows = flows.each_ref().map(|row| row.as_ref().map(seen));
        self.spool.connection(&flows);
    }
    fn burst(&mut self, row: BurstRow) {
        self.spool.burst(row);
    }
    fn episode(&mut self, row: EpisodeRow) {
        self.spool.episode(row);
    }
    fn retransmission(&mut self, row: RetransmissionRow) {
        self.spool.retransmission(row);
    }
    fn probe(&mut self, row: ProbeRow) {
        self.spool.probe(row);
    }
    fn idle(&mut self, row: IdleRow) {
        self.spool.idle(row);
    }
    fn round(&mut self, row: RoundRow) {
        self.spool.round(row);
    }
    fn wait(&mut self, row: WaitRow) {
        self.spool.wait(row);
    }
    fn stretch(&mut self, path: (Host, Host), stretch: &Stretch) {
        self.spool.stretch(path, stretch);
    }
    fn lost(&mut self, path: (Host, Host), time: Time, copies: u64) {
        self.spool.lost(path, time, copies);
    }
    fn begun(&mut self, origin: Time) {
        self.spool.begun(origin);
    }
    fn interval(&mut self, row: IntervalRow) {
        self.spool.interval(row);
    }
    fn rtt(&mut self, row: RttRow) {
        self.spool.rtt(row);
    }
    fn packet(&mut self, row: PacketRow) {
        self.spool.packet(row);
    }
}
