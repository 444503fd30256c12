//! Where the simulator's rows go.

use super::captures::Captures;
use super::fates::{Fates, Known, Settled};
use super::held::Held;
use super::kept::Kept;
use super::outages::Taken;
use super::report::Losses;
use super::sides::{Labelled, Sides};
use crate::run::{BATCH, Beside};
use crate::spool::Spool;
use analysis::join::Side;
use analysis::{Analyzer, Fate};
use capture::Info;
use instant::Time;
use net::NodeId;
use sim::Frame;
use sim::rows::{AppRow, BlockedRow, DropRow, HeldRow, HostRow, QueueRow, ResentRow, StateRow};
use wire::{Packet, Tuple};

/// UDP over IPv4.
const DATAGRAM_HEADERS: u32 = 28;

/// How it is known which of the packets arrived.
pub enum Told<'a> {
    /// One end alone is seen: it is not.
    Nothing,
    /// Both are, and a packet waits until its fate is known.
    AsItGoes(Box<Fates>, Held),
    /// Too many had to wait: this pass only follows what becomes of them.
    First(Box<Fates>),
    /// An earlier pass knows.
    Before(&'a Known),
}

impl Told<'_> {
    /// Of so many packets at most that wait.
    pub fn as_it_goes(most: usize) -> Told<'static> {
        Told::AsItGoes(Box::default(), Held::new(most))
    }

    fn fates(&mut self) -> Option<&mut Fates> {
        match self {
            Told::AsItGoes(fates, _) | Told::First(fates) => Some(fates),
            Told::Nothing | Told::Before(_) => None,
        }
    }
}

/// One side's packets are analysed, and rows are kept.
pub struct Recording<'a> {
    sides: &'a Sides,
    side: Side,
    analyzer: Analyzer<Labelled>,
    told: Told<'a>,
    /// Packets of the other side.
    opposite: Info,
    batch: Vec<Packet>,
    /// Of each, where what became of it is known before: whether it leaves from where it is seen.
    leave: Vec<bool>,
    info: Info,
    kept: Kept,
    taken: Taken,
    losses: Losses,
    captures: Captures,
    beside: Beside,
}

/// What it leaves.
pub struct Done {
    pub spool: Spool,
    pub info: Info,
    pub opposite: Info,
    pub kept: Kept,
    pub taken: Taken,
    pub losses: Losses,
    pub captures: Captures,
    /// What this pass found out of all packets.
    pub known: Option<Known>,
    /// False if the packets were not analysed, since too many would have had to wait.
    pub analysed: bool,
}

impl<'a> Recording<'a> {
    pub fn new(
        sides: &'a Sides,
        side: Side,
        analyzer: Analyzer<Labelled>,
        told: Told<'a>,
        kept: Kept,
        taken: Taken,
        captures: Captures,
    ) -> Recording<'a> {
        let batch = Vec::with_capacity(BATCH);
        let (info, losses) = (Info::default(), Losses::default());
        Recording {
            sides,
            side,
            analyzer,
            told,
            opposite: Info::default(),
            batch,
            leave: Vec::new(),
            info,
            kept,
            taken,
            losses,
            captures,
            beside: Beside::default(),
        }
    }

    /// What came together since the last time.
    fn analyse(&mut self) {
        match &mut self.told {
            Told::Nothing => self.analyzer.push(&self.batch),
            Told::Before(known) => {
                let mut fate = known.reader_from(self.batch.first().map_or(0, |p| p.number));
                for (packet, leaves) in self.batch.iter().zip(&self.leave) {
                    let fate = if *leaves { fate(packet.number) } else { Fate::SeenArriving };
                    self.analyzer.push_with_fate(packet, fate);
                }
            }
            Told::AsItGoes(_, held) => {
                held.hand_on(|packet, fate| self.analyzer.push_with_fate(packet, fate));
            }
            Told::First(_) => {}
        }
        self.batch.clear();
        self.leave.clear();
    }

    pub fn finish(mut self) -> Done {
        let left = self.told.fates().map(Fates::leave).unwrap_or_default();
        left.into_iter().for_each(|settled| self.settle(Some(settled)));
        self.analyse();
        self.captures.finish();
        let (_, labelled) = self.analyzer.finish();
        let mut spool = labelled.into_spool();
        self.beside.put_into(&mut spool.paths);
        let Recording { info, opposite, kept, taken, losses, captures, .. } = self;
        let analysed = !matches!(self.told, Told::First(_));
        let known = match self.told {
            Told::AsItGoes(fates, _) | Told::First(fates) => Some(fates.finish(self.sides)),
            Told::Nothing | Told::Before(_) => None,
        };
        Done { spool, info, opposite, kept, taken, losses, captures, known, analysed }
    }

    fn settle(&mut self, settled: Option<Settled>) {
        if let (Some(settled), Told::AsItGoes(_, held)) = (settled, &mut self.told) {
            held.settle(settled);
        }
    }

    /// Follows what becomes of a packet, which `leaves` from the side where it is seen or comes there.
    fn follow(&mut self, now: Time, frame: &Frame, side: Side, leaves: bool, number: u64) {
        let Some(fates) = self.told.fates() else { return };
        if leaves {
            fates.left(now, frame, side, number);
        } else {
            let settled = fates.came(now, frame);
            self.settle(settled);
        }
    }

    /// Whether a packet leaves from the side where it is seen.
    fn leaves(&self, node: NodeId, frame: &Frame) -> bool {
        self.sides.sends(node, frame.connection, frame.forward) == Some(true)
    }

    /// Takes in a packet of the side that is analysed.
    fn take(&mut self, packet: Packet, leaves: bool) {
        self.info.count(packet.time, packet.wire_len);
        match &mut self.told {
            Told::AsItGoes(_, held) => {
                if !held.push(packet, (!leaves).then_some(Fate::SeenArriving)) {
                    self.analyse_later();
                }
                if self.info.packets.is_multiple_of(BATCH as u64) {
                    self.analyse();
                }
            }
            Told::First(_) => {}
            Told::Nothing | Told::Before(_) => {
                self.batch.push(packet);
                self.leave.push(leaves);
                if self.batch.len() >= BATCH {
                    self.analyse();
                }
            }
        }
    }

    /// If that made no room, another pass will have to analyse.
    fn analyse_later(&mut self) {
        self.analyse();
        if let Told::AsItGoes(fates, held) = &mut self.told
            && held.is_full()
        {
            self.told = Told::First(std::mem::take(fates));
        }
    }
}

impl sim::Sink for Recording<'_> {
    fn takes(&self, node: NodeId, frame: &Frame) -> bool {
        self.sides.of(node, frame.connection) == Some(self.side) || self.captures.holds(node)
    }
    fn passed(&mut self, now: Time, node: NodeId, wire_len: u32, frame: &Frame) {
        self.taken.see(self.sides, node, frame, now);
        if let Some(side) = self.sides.of(node, frame.connection) {
            self.opposite.count(now, wire_len);
            self.follow(now, frame, side, self.leaves(node, frame), self.opposite.packets);
        }
    }
    fn packet(&mut self, node: NodeId, frame: &Frame, packet: &Packet) {
        self.captures.packet(node, packet);
        if self.sides.of(node, frame.connection) != Some(self.side) {
            return self.passed(packet.time, node, packet.wire_len, frame);
        }
        self.taken.see(self.sides, node, frame, packet.time);
        let (leaves, number) = (self.leaves(node, frame), self.info.packets + 1);
        self.follow(packet.time, frame, self.side, leaves, number);
        self.take(Packet { number, ..*packet }, leaves);
    }
    fn datagram(&mut self, now: Time, node: NodeId, ends: Tuple, wire_len: u32) {
        self.captures.datagram(now, node, ends, wire_len);
        // Where data is seen as it leaves, datagrams are, too; and else as they arrive.
        let end = if self.side == Side::Sender { ends.src } else { ends.dst };
        if sim::addresses::host(node.0 as usize) == end.host {
            self.beside.note(now, ends, wire_len.saturating_sub(DATAGRAM_HEADERS));
        }
    }
    fn under_way(&mut self, _: NodeId, frame: &Frame, _: &Packet) {
        let settled = self.told.fates().and_then(|fates| fates.cut_short(frame.copy));
        self.settle(settled);
    }
    fn doubled(&mut self, frame: &Frame) {
        if let Some(fates) = self.told.fates() {
            fates.doubled(frame.copy);
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
        let settled = self.told.fates().and_then(|fates| fates.dropped(row.packet.copy));
        self.settle(settled);
    }
    fn application(&mut self, row: &AppRow) {
        self.kept.application(row);
    }
    fn blocked(&mut self, row: &BlockedRow) {
        self.kept.blocked(row);
    }
    fn held(&mut self, row: &HeldRow) {
        self.kept.held(row);
    }
    fn resent(&mut self, row: &ResentRow) {
        self.kept.resent(row);
    }
}
