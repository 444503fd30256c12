//! Where the simulator's rows go in each pass.

use super::captures::Captures;
use super::kept::Kept;
use super::outages::Taken;
use super::report::Losses;
use super::sides::{Labelled, Sides};
use crate::run::BATCH;
use crate::spool::Spool;
use analysis::Analyzer;
use analysis::join::{Fates, Joined, Joiner, Side};
use capture::Info;
use instant::Time;
use net::NodeId;
use sim::Frame;
use sim::rows::{DropRow, HostRow, QueueRow, ResentRow, StateRow};
use wire::Packet;

/// The first pass of two: both sides' packets are compared.
pub struct Comparing<'a> {
    sides: &'a Sides,
    joiner: Joiner,
    batches: [Vec<Packet>; 2],
    numbers: [u64; 2],
    under_way: Vec<(Side, Packet)>,
}

impl<'a> Comparing<'a> {
    pub fn new(sides: &'a Sides) -> Comparing<'a> {
        let batches = [const { Vec::new() }; 2].map(|_: Vec<Packet>| Vec::with_capacity(BATCH));
        let (joiner, under_way) = (Joiner::whole(Time::ZERO), Vec::new());
        Comparing { sides, joiner, batches, numbers: [0; 2], under_way }
    }
    /// Both at once: what one side waits for may be what the other has.
    fn hand_over(&mut self) {
        for side in Side::BOTH {
            let batch = &mut self.batches[side as usize];
            self.joiner.push(side, batch);
            batch.clear();
        }
    }
    /// The run ended at `end`.
    pub fn finish(mut self, end: Time) -> Joined {
        self.hand_over();
        self.joiner.finish_whole(end, &self.under_way)
    }
}

impl sim::Sink for Comparing<'_> {
    fn packet(&mut self, node: NodeId, frame: &Frame, packet: &Packet) {
        let Some(side) = self.sides.of(node, frame.connection) else { return };
        let number = &mut self.numbers[side as usize];
        *number += 1;
        let batch = &mut self.batches[side as usize];
        batch.push(Packet { number: *number, ..*packet });
        if batch.len() >= BATCH {
            self.hand_over();
        }
    }
    fn under_way(&mut self, node: NodeId, frame: &Frame, packet: &Packet) {
        self.under_way.extend(self.sides.of(node, frame.connection).map(|side| (side, *packet)));
    }
}

/// The last pass: one side's packets are analysed, and rows are kept.
pub struct Recording<'a> {
    sides: &'a Sides,
    side: Side,
    analyzer: Analyzer<Labelled>,
    fates: Option<Fates<'a>>,
    batch: Vec<Packet>,
    info: Info,
    kept: Kept,
    taken: Taken,
    losses: Losses,
    captures: Captures,
}

/// What it leaves.
pub struct Done {
    pub spool: Spool,
    pub info: Info,
    pub kept: Kept,
    pub taken: Taken,
    pub losses: Losses,
    pub captures: Captures,
}

impl<'a> Recording<'a> {
    pub fn new(
        sides: &'a Sides,
        side: Side,
        analyzer: Analyzer<Labelled>,
        fates: Option<Fates<'a>>,
        kept: Kept,
        taken: Taken,
        captures: Captures,
    ) -> Recording<'a> {
        let batch = Vec::with_capacity(BATCH);
        let (info, losses) = (Info::default(), Losses::default());
        Recording { sides, side, analyzer, fates, batch, info, kept, taken, losses, captures }
    }
    fn analyse(&mut self) {
        match &mut self.fates {
            None => self.analyzer.push(&self.batch),
            Some(fates) => {
                for packet in &self.batch {
                    self.analyzer.push_with_fate(packet, fates.of(packet));
                }
            }
        }
        self.batch.clear();
    }
    pub fn finish(mut self) -> Done {
        self.analyse();
        self.captures.finish();
        let (_, labelled) = self.analyzer.finish();
        let spool = labelled.into_spool();
        let Recording { info, kept, taken, losses, captures, .. } = self;
        Done { spool, info, kept, taken, losses, captures }
    }
}

impl sim::Sink for Recording<'_> {
    fn packet(&mut self, node: NodeId, frame: &Frame, packet: &Packet) {
        self.captures.packet(node, packet);
        self.taken.see(self.sides, node, frame, packet.time);
        if self.sides.of(node, frame.connection) != Some(self.side) {
            return;
        }
        self.info.count(packet);
        self.batch.push(Packet { number: self.info.packets, ..*packet });
        if self.batch.len() >= BATCH {
            self.analyse();
        }
    }
    fn host(&mut self, row: &HostRow) {
        self.kept.host(row);
    }
    fn state(&mut self, row: &StateRow) {
        self.kept.state(row);
    }
    fn queue(&mut self, row: &QueueRow) {
        self.kept.queue(row);
    }
    fn dropped(&mut self, row: &DropRow) {
        self.losses.add(row.link, row.cause);
        self.taken.lost(row);
        self.kept.dropped(row);
    }
    fn resent(&mut self, row: &ResentRow) {
        self.kept.resent(row);
    }
}
