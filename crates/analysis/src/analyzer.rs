//! The analysis of a whole capture: connections come, are followed, and end.

use crate::config::Config;
use crate::connection::{Capture, Connection, Taken};
use crate::nursery::{Nursery, Young};
use crate::sink::Sink;
use crate::table::{Table, hash, same};
use crate::{Fate, Totals};
use std::collections::VecDeque;
use wire::{Notes, Packet, Span, Time, Tuple};

/// A connection that ended stays known for this long, for late packets...
const LINGER: Span = Span::from_secs(10);
/// ...unless more than this many wait.
const MOST_LINGERING: usize = 1 << 14;

const NONE: u32 = u32::MAX;
const BATCH: usize = 128;
/// How many packets ahead memory is asked for, and how many connections the nearest cache holds anyway.
const AHEAD: usize = 4;
const FEW: usize = 16;

enum Slot {
    Empty,
    /// Few packets yet, kept as they came.
    Young(Young),
    Grown(Tuple, Box<Connection>),
}

impl Slot {
    fn tuple(&self) -> Option<&Tuple> {
        match self {
            Slot::Empty => None,
            Slot::Young(y) => Some(&y.tuple),
            Slot::Grown(tuple, _) => Some(tuple),
        }
    }
}

/// Takes packets in capture order and writes rows to its sink.
pub struct Analyzer<S: Sink> {
    config: Config,
    sink: S,
    totals: Totals,
    table: Table,
    slots: Vec<Slot>,
    /// The connection's number, and whether it waits among the ended.
    numbers: Vec<(u32, bool)>,
    free: Vec<u32>,
    nursery: Nursery,
    ended: VecDeque<(Time, u32, u32)>,
    /// Made once, used for every connection that ends young.
    spare: Option<Box<Connection>>,
    /// Connections that ended so far.
    ends: u64,
    /// When the capture began.
    origin: Time,
}

impl<S: Sink> Analyzer<S> {
    pub fn new(config: Config, sink: S) -> Analyzer<S> {
        Analyzer {
            config,
            sink,
            totals: Totals::default(),
            table: Table::new(),
            slots: Vec::new(),
            numbers: Vec::new(),
            free: Vec::new(),
            nursery: Nursery::default(),
            ended: VecDeque::new(),
            spare: None,
            ends: 0,
            origin: Time::FAR_FUTURE,
        }
    }

    /// Packets in the order of the capture. Cheapest in batches of a hundred or so.
    pub fn push(&mut self, packets: &[Packet]) {
        for batch in packets.chunks(BATCH) {
            // Connections are looked up ahead, so that what they need can be fetched in time. What was found
            // holds until a connection ends.
            let mut hints = [NONE; BATCH];
            for (hint, packet) in hints.iter_mut().zip(batch) {
                *hint = self.find(packet).unwrap_or(NONE);
            }
            let ended = self.ends;
            for (i, packet) in batch.iter().enumerate() {
                if self.slots.len() > FEW
                    && let Some(later) = batch.get(i + AHEAD)
                {
                    self.warm(hints[i + AHEAD], later);
                }
                self.totals.packets += 1;
                let hint = if ended == self.ends { hints[i] } else { NONE };
                self.follow(hint, packet, Fate::Unknown);
            }
        }
    }

    /// Fetches what a packet some places ahead will need; changes nothing.
    #[inline]
    fn warm(&self, hint: u32, packet: &Packet) {
        match self.slots.get(hint as usize) {
            Some(Slot::Grown(tuple, connection)) => {
                connection.warm(packet.tuple.src == tuple.src, packet.seg.payload > 0);
            }
            Some(Slot::Young(young)) => self.nursery.warm(young),
            _ => {}
        }
    }
    #[inline]
    fn find(&self, packet: &Packet) -> Option<u32> {
        let (slots, tuple) = (&self.slots, &packet.tuple);
        let known = |slot: &u32| slots[*slot as usize].tuple().is_some_and(|t| same(t, tuple));
        self.table.find(hash(tuple), known).copied()
    }

    /// One packet whose fate is known from a second capture (see [`crate::join`]).
    pub fn push_with_fate(&mut self, packet: &Packet, fate: Fate) {
        self.totals.packets += 1;
        self.follow(NONE, packet, fate);
    }

    fn follow(&mut self, hint: u32, packet: &Packet, fate: Fate) {
        if self.origin == Time::FAR_FUTURE {
            self.origin = packet.time;
        }
        let slot = if hint == NONE { self.slot_of(packet) } else { hint };
        if self.take(slot, packet, fate) == Taken::Reopens {
            self.end(slot);
            let slot = self.slot_of(packet);
            self.take(slot, packet, fate);
        }
        self.release(packet.time);
    }

    fn slot_of(&mut self, packet: &Packet) -> u32 {
        if let Some(slot) = self.find(packet) {
            return slot;
        }
        let hashed = hash(&packet.tuple);
        let number = self.totals.connections as u32;
        self.totals.connections += 1;
        let young = Slot::Young(Young::new(packet));
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = young;
                self.numbers[slot as usize] = (number, false);
                slot
            }
            None => {
                self.slots.push(young);
                self.numbers.push((number, false));
                self.slots.len() as u32 - 1
            }
        };
        let slots = &self.slots;
        self.table.insert_unique(hashed, slot, |s| slots[*s as usize].tuple().map_or(0, hash));
        slot
    }

    fn take(&mut self, slot: u32, packet: &Packet, fate: Fate) -> Taken {
        let at = slot as usize;
        if let Slot::Young(young) = &mut self.slots[at] {
            if young.is_reopened_by(packet) {
                return Taken::Reopens;
            }
            if fate == Fate::Unknown && young.takes(packet) {
                self.nursery.write(young, packet);
                if young.is_over() {
                    self.note_end(slot, packet.time);
                }
                return Taken::Yes;
            }
            self.grow_up(slot);
        }
        let Slot::Grown(_, connection) = &mut self.slots[at] else { return Taken::Yes };
        let noted;
        let packet = match connection.is_new() && packet.has_partial_checksum() {
            false => packet,
            true => {
                noted = Packet { notes: packet.notes.with(Notes::PARTIAL_CHECKSUM), ..*packet };
                &noted
            }
        };
        let (config, sink, origin) = (&self.config, &mut self.sink, self.origin);
        let taken = connection.take(packet, fate, &mut Capture { config, sink, origin });
        if taken == Taken::Yes && !self.numbers[at].1 && connection.is_over() {
            self.note_end(slot, packet.time);
        }
        taken
    }

    fn note_end(&mut self, slot: u32, now: Time) {
        let (number, waits) = &mut self.numbers[slot as usize];
        if !*waits {
            *waits = true;
            self.ended.push_back((now, slot, *number));
        }
    }

    /// From here on the connection is followed in full: its packets so far are read back.
    fn grow_up(&mut self, slot: u32) {
        let at = slot as usize;
        if let Slot::Young(young) = std::mem::replace(&mut self.slots[at], Slot::Empty) {
            let mut grown = Box::new(Connection::new(self.numbers[at].0));
            let (config, sink, origin) = (&self.config, &mut self.sink, self.origin);
            let mut capture = Capture { config, sink, origin };
            self.nursery.read(&young, |p| {
                grown.take(p, Fate::Unknown, &mut capture);
            });
            self.slots[at] = Slot::Grown(young.tuple, grown);
        }
    }

    /// Lets go of connections that ended long enough ago.
    fn release(&mut self, now: Time) {
        while let Some(&(since, slot, number)) = self.ended.front() {
            if now - since < LINGER && self.ended.len() < MOST_LINGERING {
                return;
            }
            self.ended.pop_front();
            if let Some((_, next, _)) = self.ended.get(2) {
                self.warm_ended(*next);
            }
            if self.numbers[slot as usize] != (number, true) {
                continue;
            }
            match &self.slots[slot as usize] {
                // It went on after all.
                Slot::Grown(_, connection) if !connection.is_over() => self.numbers[slot as usize].1 = false,
                _ => self.end(slot),
            }
        }
    }

    /// A connection that is to be let go of soon.
    fn warm_ended(&self, slot: u32) {
        if let Some(Slot::Young(young)) = self.slots.get(slot as usize) {
            self.nursery.warm_all(young);
        }
    }

    /// Writes a connection's rows and forgets it.
    fn end(&mut self, slot: u32) {
        let at = slot as usize;
        let Some(hashed) = self.slots[at].tuple().map(hash) else { return };
        self.ends += 1;
        if let Ok(entry) = self.table.find_entry(hashed, |s| *s == slot) {
            entry.remove();
        }
        self.write_rows(slot);
        self.free.push(slot);
        self.numbers[at].1 = false;
    }

    fn write_rows(&mut self, slot: u32) {
        let at = slot as usize;
        let (config, sink, origin) = (&self.config, &mut self.sink, self.origin);
        let mut capture = Capture { config, sink, origin };
        match std::mem::replace(&mut self.slots[at], Slot::Empty) {
            Slot::Empty => {}
            Slot::Grown(_, mut connection) => self.totals.flows += connection.finish(&mut capture),
            Slot::Young(young) => {
                let number = self.numbers[at].0;
                let mut connection = self.spare.take().unwrap_or_else(|| Box::new(Connection::new(number)));
                connection.reset(number);
                self.nursery.read(&young, |p| {
                    connection.take(p, Fate::Unknown, &mut capture);
                });
                self.totals.flows += connection.finish(&mut capture);
                self.spare = Some(connection);
            }
        }
    }

    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Ends every connection that is still open and gives the sink back.
    pub fn finish(mut self) -> (Totals, S) {
        for slot in 0..self.slots.len() {
            self.write_rows(slot as u32);
        }
        (self.totals, self.sink)
    }
}
