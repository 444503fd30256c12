//! Two captures of the same transfers, one at each side: which packet arrived, exactly, in both directions.
//!
//! Every packet of one capture is looked for in the other. Both are read side by side, in the order of one
//! clock: the offset between the two shows in the first packet found and is followed from there. A copy waits
//! until its counterpart comes, or until the other capture has gone on for so long that it cannot come any more:
//! then it was lost, or the other capture missed it, which the direction tells. Memory grows with what is in
//! flight and with what was lost, never with packets.
//!
//! What identifies a copy is all of its header that the path leaves alone. Super-packets are cut
//! into the segments they become on the wire, so that captures with and without offloads compare.

mod ageing;
mod clock;
mod copy;
mod directions;
mod limits;
mod matched;
mod outcome;
mod pace;
mod pending;
mod trial;
mod warning;

pub use clock::Clock;
pub use outcome::{Fates, Joined, Lost, LostAcks, Seen};
pub use warning::Warning;

use crate::fault::Trip;
use clock::Comparison;
use copy::{Copy, Rule};
use directions::Directions;
use matched::Waited;
use pace::{Pace, SECOND};
use pending::Pending;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use wire::{Packet, Time, Tuple};

/// One of the two captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Sender,
    Receiver,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::Sender, Side::Receiver];

    pub fn other(self) -> Side {
        match self {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        }
    }
}

/// Captures that start further apart than this are taken to have unset clocks, and to have started together.
const CLOCKS_UNSET: i64 = 900 * SECOND;
/// Of a direction that the other capture does not show at all, and of what comes after its end, so many packets are
/// remembered.
const ONE_SIDED: u16 = 1024;
/// Packets of each side after which addresses are taken to be translated if none is common to both.
const STRANGERS: u64 = 64;
/// Arrivals remembered, to tell a copy that came twice from one that was never sent.
const ARRIVALS: usize = 1 << 14;

/// A copy that found no counterpart, or several adjoining segments of one super-packet.
#[derive(Clone, Copy, Debug)]
struct Miss {
    number: u64,
    time: i64,
    direction: u32,
    seq: u32,
    len: u32,
    twin: bool,
    alike: bool,
}

impl Miss {
    fn of(copy: &Copy) -> Miss {
        let Copy { number, time, direction, seq, len, twin, alike, .. } = *copy;
        Miss { number, time, direction, seq, len, twin, alike }
    }
}

/// What is kept of one capture.
#[derive(Debug)]
struct Record {
    packets: u64,
    /// First and last time, on its own clock.
    span: Option<(i64, i64)>,
    /// Times of the last two packets taken in.
    now: [i64; 2],
    misses: Vec<Miss>,
    /// Packets from before the other capture began, or after it ended.
    outside: PacketCount,
    /// Numbers of data packets that came after one that was sent after them.
    late: Vec<u64>,
    /// Numbers of those that are known to have been under way when the other capture ended.
    under_way: Vec<u64>,
    /// What was sent before or after this cannot be in the other capture, or was given up before the two could
    /// be compared; own clock.
    comparable: (i64, i64),
    super_packets: u64,
    beyond: Beyond,
}

/// What came too late for the other capture, which had ended.
#[derive(Debug, Default)]
struct Beyond {
    /// Data, the first so many.
    data: Vec<Miss>,
    /// Directions of which anything came.
    seen: FxHashSet<u32>,
}

/// Counts packets; segments of one super-packet come one after the other, and are one.
#[derive(Clone, Copy, Debug, Default)]
struct PacketCount {
    packets: u64,
    last: Option<u64>,
}

impl PacketCount {
    fn add(&mut self, number: u64) {
        self.packets += u64::from(self.last != Some(number));
        self.last = Some(number);
    }
}

impl Record {
    fn new() -> Record {
        Record {
            packets: 0,
            span: None,
            now: [i64::MIN; 2],
            misses: Vec::new(),
            outside: PacketCount::default(),
            late: Vec::new(),
            under_way: Vec::new(),
            comparable: (i64::MIN, i64::MAX),
            super_packets: 0,
            beyond: Beyond::default(),
        }
    }
    fn held(&self) -> u64 {
        let misses = self.misses.len() + self.beyond.data.len();
        let numbers = self.late.len() + self.under_way.len() + self.beyond.seen.len();
        (misses * size_of::<Miss>() + numbers * size_of::<u64>()) as u64
    }
    /// The copy came too early to be compared, and so did everything before it.
    fn count_too_early(&mut self, copy: &Copy) {
        self.outside.add(copy.number);
        self.comparable.0 = self.comparable.0.max(copy.time.saturating_add(1));
    }
}

/// Reads two captures side by side and finds every packet of one in the other.
///
/// Feed it what [`Joiner::wants`] in batches, say [`Joiner::end`] when a capture has no more, then
/// [`Joiner::finish`]. Other orders give the same answer and cost memory.
#[derive(Debug)]
pub struct Joiner {
    directions: Directions,
    queues: [VecDeque<Copy>; 2],
    ended: [bool; 2],
    pending: [Pending; 2],
    records: [Record; 2],
    pace: Pace,
    comparison: Comparison,
    waited: Waited,
    arrivals: Vec<u64>,
    matched: u64,
    /// Least and greatest difference between the two times of one packet.
    differences: (i64, i64),
    translated: bool,
    options_cut: bool,
    /// Nothing is missing from either capture: see [`Joiner::whole`].
    whole: bool,
    /// Packets since the last trial: a trial costs what is pending, so it waits until a quarter as many have come.
    since_trial: usize,
    /// The direction of the copy that is worked on.
    at_work: Option<u32>,
    trip: Option<Trip>,
}

impl Default for Joiner {
    fn default() -> Joiner {
        Joiner::new()
    }
}

impl Joiner {
    pub fn new() -> Joiner {
        Joiner {
            directions: Directions::new(),
            queues: [VecDeque::new(), VecDeque::new()],
            ended: [false; 2],
            pending: [Pending::new(), Pending::new()],
            records: [Record::new(), Record::new()],
            pace: Pace::default(),
            comparison: Comparison::new(),
            waited: Waited::default(),
            arrivals: vec![0; ARRIVALS],
            matched: 0,
            differences: (i64::MAX, i64::MIN),
            translated: false,
            options_cut: false,
            whole: false,
            since_trial: 0,
            at_work: None,
            trip: None,
        }
    }

    /// Of two captures that lack nothing, on one clock: both were on from `start` to the end of the run, which
    /// [`Joiner::finish_whole`] tells. What is in one and not in the other was then lost.
    pub fn whole(start: Time) -> Joiner {
        let mut joiner = Joiner { whole: true, ..Joiner::new() };
        joiner.both_were_on_at(start);
        joiner
    }

    fn both_were_on_at(&mut self, time: Time) {
        for record in &mut self.records {
            let (first, last) = record.span.unwrap_or((time.0, time.0));
            record.span = Some((first.min(time.0), last.max(time.0)));
        }
    }

    /// Packets of the capture at that side, in its order.
    pub fn push(&mut self, side: Side, batch: &[Packet]) {
        let record = &mut self.records[side as usize];
        record.packets += batch.len() as u64;
        self.queues[side as usize].reserve(batch.len());
        let cut = batch.iter().any(|p| p.seg.options_cut);
        for p in batch {
            let (first, last) = record.span.unwrap_or((p.time.0, p.time.0));
            record.span = Some((first.min(p.time.0), last.max(p.time.0)));
            let direction = self.directions.of(side, p);
            self.queues[side as usize].push_back(Copy::of(p, direction));
        }
        // Before any packet of this batch meets its counterpart of which the options are whole.
        if cut && !self.options_cut {
            self.do_without_options();
        }
        self.advance();
    }

    /// The capture of `side` has no more packets.
    pub fn end(&mut self, side: Side) {
        self.ended[side as usize] = true;
        self.advance();
    }

    /// Which side lags behind and should be fed next; one that has ended never does, unless both have.
    pub fn wants(&self) -> Side {
        let empty = |s: Side| self.queues[s as usize].is_empty();
        match self.ended {
            [true, _] => Side::Receiver,
            [_, true] => Side::Sender,
            _ if empty(Side::Sender) != empty(Side::Receiver) => {
                if empty(Side::Sender) {
                    Side::Sender
                } else {
                    Side::Receiver
                }
            }
            _ => {
                let now = |s: Side| self.records[s as usize].now[1];
                let behind = now(Side::Sender).saturating_add(self.pace.offset) <= now(Side::Receiver);
                if behind { Side::Sender } else { Side::Receiver }
            }
        }
    }

    /// How many copies wait for their counterpart, super-packets counted by their segments.
    pub fn waiting(&self) -> usize {
        self.pending.iter().map(Pending::len).sum()
    }

    /// For tests of what becomes of a fault.
    #[doc(hidden)]
    pub fn tripping(mut self, trip: Option<Trip>) -> Joiner {
        self.trip = trip;
        self
    }

    /// The connection whose packets it works on: after a fault, whose it was.
    pub fn at_work(&self) -> Option<Tuple> {
        self.directions.tuple(self.at_work?)
    }

    /// Bytes that are kept, nearly: the same for the same packets.
    pub fn held(&self) -> u64 {
        let of = |n: usize, size: usize| (n * size) as u64;
        let queues = of(self.queues.iter().map(VecDeque::len).sum(), size_of::<Copy>());
        let pending: u64 = self.pending.iter().map(Pending::held).sum();
        let records: u64 = self.records.iter().map(Record::held).sum();
        self.directions.held() + self.waited.held() + queues + pending + records
    }

    /// Everything has been pushed.
    pub fn finish(mut self) -> Joined {
        for side in Side::BOTH {
            self.end(side);
        }
        if self.directions.common == 0 && !self.whole {
            self.translate();
        }
        if !self.whole {
            self.reconsider(None);
        }
        for side in Side::BOTH {
            while let Some(copy) = self.pending[side as usize].take_oldest() {
                self.missed(side, copy);
            }
        }
        outcome::resolve(self)
    }

    /// The same of whole captures: the run ended at `end`, when `under_way` had left and had not arrived at the side
    /// that they are given with.
    pub fn finish_whole(mut self, end: Time, under_way: &[(Side, Packet)]) -> Joined {
        self.both_were_on_at(end);
        for side in Side::BOTH {
            self.end(side);
        }
        for (side, packet) in under_way {
            let Some(direction) = self.directions.find(packet.tuple) else { continue };
            let (copy, from, rule) =
                (Copy::of(packet, direction), side.other() as usize, self.rule(direction));
            // Copies that nothing else tells apart arrive in order: the last of them is the one under way.
            let age = |c: &Copy| Some(end.0.saturating_sub(c.time).unsigned_abs());
            if let Some(sent) = self.pending[from].take(&copy, copy.hash(rule), rule, age) {
                self.directions.waits_no_more(direction, side.other());
                self.records[from].under_way.push(sent.number);
            }
        }
        self.finish()
    }

    /// Takes in whatever both queues allow, in the order of one clock.
    fn advance(&mut self) {
        if self.matched == 0
            && let [Some((a, _)), Some((b, _))] = [self.records[0].span, self.records[1].span]
        {
            let apart = b.saturating_sub(a);
            self.pace.offset = if apart.abs() > CLOCKS_UNSET { apart } else { 0 };
        }
        loop {
            let side = match [self.queues[0].front(), self.queues[1].front()] {
                [Some(a), Some(b)] => {
                    let sender_first = a.time.saturating_add(self.pace.offset) <= b.time;
                    if sender_first { Side::Sender } else { Side::Receiver }
                }
                [Some(_), None] if self.ended[1] => Side::Sender,
                [None, Some(_)] if self.ended[0] => Side::Receiver,
                _ => return,
            };
            if let Some(copy) = self.queues[side as usize].pop_front() {
                self.take_in(side, copy);
            }
        }
    }

    fn take_in(&mut self, side: Side, packet: Copy) {
        let here = side as usize;
        self.at_work = Some(packet.direction);
        let record = &mut self.records[here];
        record.now = [record.now[1], packet.time];
        self.since_trial += 1;
        if self.is_after_the_other(side, packet.time) {
            let record = &mut self.records[here];
            record.outside.add(packet.number);
            record.comparable.1 = record.comparable.1.min(packet.time.saturating_sub(1));
            record.beyond.seen.insert(packet.direction);
            if packet.len > 0 && record.beyond.data.len() < usize::from(ONE_SIDED) {
                record.beyond.data.push(Miss::of(&packet));
            }
            return;
        }
        let mss = u32::from(self.directions.mss(packet.direction));
        if packet.len <= mss || mss == 0 {
            self.place(side, packet);
        } else {
            self.records[here].super_packets += 1;
            for segment in packet.segments(mss) {
                self.place(side, segment);
            }
        }
        // What is whole shows every header as it was sent, and waits to the end for what an outage may have held up.
        if self.whole {
            return;
        }
        self.let_go(side);
        let strangers = self.records.iter().all(|r| r.packets >= STRANGERS);
        match self.translated {
            false if self.directions.common == 0 && strangers => self.translate(),
            true if self.directions.common > 0 && self.directions.translated == 0 => {
                self.translated = false;
                self.place_again();
            }
            _ => {}
        }
        let home = self.directions.home(side, packet.direction);
        let direction = self.directions.get(home);
        let stuck = direction.waiting[0].min(direction.waiting[1]) >> direction.patience > 0;
        if stuck && self.since_trial * 4 > self.waiting() {
            self.reconsider(Some(home));
        }
    }

    /// True if one offset fits every packet that was found, whichever way it went: what lies between two places takes
    /// time. Of one direction alone only captures with the same times can be told.
    fn one_place(&self) -> bool {
        let (least, greatest) = self.differences;
        let both_ways = (0..self.directions.len()).any(|w| {
            let (there, back) = (self.directions.get(w), self.directions.get(w ^ 1));
            w & 1 == 0 && there.matched > 0 && back.matched > 0
        });
        !self.whole && least == greatest && (both_ways || least == 0)
    }

    fn rule(&self, direction: u32) -> Rule {
        Rule { facts: self.directions.facts_of(direction), same_addresses: !self.translated }
    }

    /// Finds the copy's counterpart, or lets it wait for it.
    #[inline]
    fn place(&mut self, side: Side, mut copy: Copy) {
        let rule = self.rule(copy.direction);
        let hash = copy.hash(rule);
        let directions = &self.directions;
        // Copies that nothing tells apart: the one whose delay is most like that of the last.
        let usual = match directions.get(directions.home(side, copy.direction)) {
            direction if direction.matched > 0 => direction.last_difference,
            _ => self.pace.offset,
        };
        let translated = self.translated;
        let cost = |c: &Copy| {
            let (a, b) = pair(side, &copy, c);
            let possible = !translated || directions.may_be(a.direction, b.direction);
            let unlike = if a.window == b.window { 0 } else { u64::MAX / 2 };
            possible.then(|| (b.time.saturating_sub(a.time).abs_diff(usual) / 2).saturating_add(unlike))
        };
        match self.pending[side.other() as usize].take(&copy, hash, rule, cost) {
            Some(mate) => {
                let home = self.directions.home(side.other(), mate.direction);
                self.directions.waits_no_more(home, side.other());
                self.arrivals[hash as usize % ARRIVALS] = hash;
                let (a, b) = pair(side, &copy, &mate);
                self.found_in_both(side, a, b);
            }
            None => {
                copy.alike |= self.arrivals[hash as usize % ARRIVALS] == hash;
                copy.twin |= copy.alike && rule.facts.needs_ip_id() && copy.ip_id != 0;
                self.pending[side as usize].insert(copy, hash, rule);
                let home = self.directions.home(side, copy.direction);
                self.directions.get_mut(home).waiting[side as usize] += 1;
            }
        }
    }
}

/// A copy of `side` and its counterpart, the sender's capture first.
fn pair<'a>(side: Side, copy: &'a Copy, mate: &'a Copy) -> (&'a Copy, &'a Copy) {
    match side {
        Side::Sender => (copy, mate),
        Side::Receiver => (mate, copy),
    }
}
