//! The analysis of a whole capture: connections come, are followed, and end.

use crate::chunks::Chunks;
use crate::config::Config;
use crate::connection::{Capture, Connection, Taken};
use crate::negotiated::Negotiated;
use crate::prefetch;
use crate::short_connections::{DEPTH, ShortConnections, Young};
use crate::sink::Sink;
use crate::table::{NONE, Table, hash, is, ways};
use crate::{Fate, Totals};
use std::collections::VecDeque;
use wire::{Flags, Notes, Packet, Span, Time, Tuple};

/// A connection that ended stays known for this long, for late packets...
const LINGER: Span = Span::from_secs(10);
/// ...unless more than this many wait.
const MOST_LINGERING: usize = 1 << 14;

const BATCH: usize = 128;
/// How many packets ahead memory is asked for: first what a connection holds, then what that points to.
const AHEAD: usize = 6;
const NEXT: usize = 3;
/// The nearest cache holds as many connections anyway; the next one the table and slots of so many.
const FEW: usize = 16;
const MANY: usize = 1 << 10;

/// A packet's connection: its hash, and its slot as far as it is known.
#[derive(Clone, Copy)]
struct Place {
    hash: u32,
    slot: u32,
    /// It goes the way that the slot's tuple says.
    towards: bool,
    /// There is data in it.
    carries: bool,
}

impl Place {
    const UNKNOWN: Place = Place { hash: 0, slot: NONE, towards: false, carries: false };
}

enum Slot {
    Empty,
    /// Few packets yet, kept as they came.
    Young(Young),
    /// Its tuple is that of the connection: towards the one that was called.
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
    slots: Chunks<Slot>,
    /// The connection's number, and whether it waits among the ended.
    numbers: Vec<(u32, bool)>,
    free: Vec<u32>,
    short_connections: ShortConnections,
    ended: VecDeque<(Time, u32, u32)>,
    /// Made once, used for every connection that ends young.
    spare: Option<Box<Connection>>,
    /// Connections that ended so far.
    ends: u64,
    /// When the capture began.
    origin: Time,
    negotiated: Negotiated,
}

impl<S: Sink> Analyzer<S> {
    pub fn new(config: Config, sink: S) -> Analyzer<S> {
        Analyzer {
            config,
            sink,
            totals: Totals::default(),
            table: Table::new(),
            slots: Chunks::default(),
            numbers: Vec::new(),
            free: Vec::new(),
            short_connections: ShortConnections::default(),
            ended: VecDeque::new(),
            spare: None,
            ends: 0,
            origin: Time::FAR_FUTURE,
            negotiated: Negotiated::default(),
        }
    }

    /// SYNs from before the part of the capture that is analysed: what they negotiate holds in it, too.
    pub fn note_earlier(&mut self, syns: &[Packet]) {
        syns.iter().for_each(|syn| self.negotiated.note(syn));
    }

    /// Packets in the order of the capture. Cheapest in batches of a hundred or so.
    pub fn push(&mut self, packets: &[Packet]) {
        for batch in packets.chunks(BATCH) {
            match self.slots.len() > FEW {
                true => self.push_of_many(batch),
                false => self.push_of_few(batch),
            }
        }
    }

    /// Of few connections most packets belong to that of the packet before.
    fn push_of_few(&mut self, mut batch: &[Packet]) {
        let (mut place, mut ended) = (Place::UNKNOWN, self.ends);
        while let [packet, rest @ ..] = batch {
            let holds = place.slot != NONE && ended == self.ends;
            if !holds || !self.ways(place.slot, &packet.tuple).0 {
                (place, ended) = (self.find(hash(&packet.tuple), &packet.tuple), self.ends);
            }
            match self.follow_run(place.slot, batch) {
                0 => {
                    self.follow(place, packet, Fate::Unknown);
                    batch = rest;
                }
                n => batch = &batch[n..],
            }
        }
    }

    /// Connections are looked up ahead, so that what they need can be fetched in time. What was found is looked at again
    /// where it is but likely, or once a connection has ended: its slot may be another's.
    fn push_of_many(&mut self, batch: &[Packet]) {
        let mut places = [Place::UNKNOWN; BATCH];
        let sure = self.look_up(batch, &mut places);
        let places = &mut places[..batch.len()];
        let ended = self.ends;
        for (i, packet) in batch.iter().enumerate() {
            self.warm(i, batch, places, sure);
            let mut place = places[i];
            if !self.follow_ordinary(&mut place, packet, sure && ended == self.ends) {
                self.follow(place, packet, Fate::Unknown);
            }
        }
    }

    /// The packets at the front of `batch` that are of this connection and in no way out of the ordinary; how many.
    #[inline(always)]
    fn follow_run(&mut self, slot: u32, batch: &[Packet]) -> usize {
        let Some(Slot::Grown(_, connection)) = self.slots.get_mut(slot as usize) else { return 0 };
        // Of those that ended some may be due after any packet.
        let most = if self.ended.is_empty() { batch.len() } else { 1 };
        let (config, sink, origin, negotiated) =
            (&self.config, &mut self.sink, self.origin, &self.negotiated);
        let taken = connection.take_run(&batch[..most], &mut Capture { config, sink, origin, negotiated });
        self.totals.packets += taken as u64;
        if taken > 0 {
            self.release(batch[0].time);
        }
        taken
    }

    /// One of them; or one of a young connection that is to be written down and no more. `sure`: its slot and its way are
    /// known, else they are looked at.
    #[inline(always)]
    fn follow_ordinary(&mut self, place: &mut Place, packet: &Packet, sure: bool) -> bool {
        let slot = self.slots.get_mut(place.slot as usize);
        if !sure {
            let known = slot.as_deref().and_then(Slot::tuple).map(|t| ways(t, &packet.tuple));
            let (same, towards) = known.unwrap_or((false, false));
            place.towards = towards;
            if !same {
                place.slot = NONE;
                return false;
            }
        }
        match slot {
            Some(Slot::Grown(_, connection)) => {
                let (config, sink, origin, negotiated) =
                    (&self.config, &mut self.sink, self.origin, &self.negotiated);
                let mut capture = Capture { config, sink, origin, negotiated };
                if !connection.take_steady(packet, place.towards, &mut capture) {
                    return false;
                }
            }
            Some(Slot::Young(young)) if young.takes() && !packet.seg.flags.has(Flags::SYN) => {
                self.short_connections.write(young, packet, Fate::Unknown);
                if young.is_over() {
                    self.note_end(place.slot, packet.time);
                }
            }
            _ => return false,
        }
        self.totals.packets += 1;
        self.release(packet.time);
        true
    }

    /// Whether what was found is sure.
    fn look_up(&self, batch: &[Packet], places: &mut [Place; BATCH]) -> bool {
        for (place, packet) in places.iter_mut().zip(batch) {
            place.hash = hash(&packet.tuple);
            place.carries = packet.seg.payload > 0;
        }
        if self.slots.len() > MANY {
            self.look_up_many(&mut places[..batch.len()]);
            return false;
        }
        for (place, packet) in places.iter_mut().zip(batch) {
            let Place { slot, towards, .. } = self.find(place.hash, &packet.tuple);
            (place.slot, place.towards) = (slot, towards);
        }
        true
    }

    /// Of many connections table and slots are far away: both are asked for before they are looked at.
    fn look_up_many(&self, places: &mut [Place]) {
        places.iter().for_each(|p| self.table.warm(p.hash));
        for place in places {
            if let Some(slot) = self.table.likely(place.hash) {
                place.slot = slot;
                prefetch::lines(&self.slots[slot as usize], 0, 2);
            }
        }
    }

    /// Is a packet of this slot's connection, and does it go the way of its first?
    #[inline(always)]
    fn ways(&self, slot: u32, tuple: &Tuple) -> (bool, bool) {
        self.slots[slot as usize].tuple().map_or((false, false), |t| ways(t, tuple))
    }

    /// Fetches what the packets some places behind number `i` will need; changes nothing. `sure`: their ways are known.
    #[inline(always)]
    fn warm(&self, i: usize, batch: &[Packet], places: &mut [Place], sure: bool) {
        if let Some(place) = places.get_mut(i + AHEAD) {
            match self.slots.get(place.slot as usize) {
                Some(Slot::Young(young)) => self.short_connections.warm(young),
                Some(Slot::Grown(tuple, connection)) => {
                    if !sure {
                        place.towards = is(&batch[i + AHEAD].tuple.src, &tuple.src);
                    }
                    connection.warm(place.towards, place.carries);
                }
                _ => {}
            }
        }
        if let Some(place) = places.get(i + NEXT)
            && let Some(Slot::Grown(_, connection)) = self.slots.get(place.slot as usize)
        {
            connection.warm_beyond(place.towards, place.carries);
        }
    }

    #[inline]
    fn find(&self, hash: u32, tuple: &Tuple) -> Place {
        let mut towards = false;
        let meant = |slot: u32| {
            let (same, along) = self.ways(slot, tuple);
            towards = along;
            same
        };
        let slot = self.table.find(hash, meant).unwrap_or(NONE);
        Place { hash, slot, towards, carries: false }
    }

    /// One packet whose fate is known from a second capture (see [`crate::join`]).
    pub fn push_with_fate(&mut self, packet: &Packet, fate: Fate) {
        self.follow(Place { hash: hash(&packet.tuple), ..Place::UNKNOWN }, packet, fate);
    }

    #[inline(always)]
    fn follow(&mut self, place: Place, packet: &Packet, fate: Fate) {
        if self.origin == Time::FAR_FUTURE {
            self.origin = packet.time;
        }
        self.totals.packets += 1;
        let slot = if place.slot == NONE { self.slot_of(place.hash, packet) } else { place.slot };
        if self.take(slot, packet, fate) == Taken::Reopens {
            self.end(slot);
            let slot = self.slot_of(place.hash, packet);
            self.take(slot, packet, fate);
        }
        self.release(packet.time);
    }

    #[inline(never)]
    fn slot_of(&mut self, hash: u32, packet: &Packet) -> u32 {
        let found = self.find(hash, &packet.tuple).slot;
        if found != NONE {
            return found;
        }
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
                self.numbers.push((number, false));
                self.slots.push(young) as u32
            }
        };
        self.table.insert(hash, slot);
        slot
    }

    #[inline(always)]
    fn take(&mut self, slot: u32, packet: &Packet, fate: Fate) -> Taken {
        let Slot::Grown(_, connection) = &mut self.slots[slot as usize] else {
            return self.take_young(slot, packet, fate);
        };
        let noted;
        let packet = match connection.is_new() && packet.has_partial_checksum() {
            false => packet,
            true => {
                noted = Packet { notes: packet.notes.with(Notes::PARTIAL_CHECKSUM), ..*packet };
                &noted
            }
        };
        let (config, sink, origin, negotiated) =
            (&self.config, &mut self.sink, self.origin, &self.negotiated);
        let taken = connection.take(packet, fate, &mut Capture { config, sink, origin, negotiated });
        if taken == Taken::Yes && connection.is_over() {
            self.note_end(slot, packet.time);
        }
        taken
    }

    #[inline(never)]
    fn take_young(&mut self, slot: u32, packet: &Packet, fate: Fate) -> Taken {
        let Slot::Young(young) = &mut self.slots[slot as usize] else { return Taken::Yes };
        if young.is_reopened_by(packet) {
            return Taken::Reopens;
        }
        if young.takes() {
            self.short_connections.write(young, packet, fate);
            if young.is_over() {
                self.note_end(slot, packet.time);
            }
            return Taken::Yes;
        }
        self.grow_up(slot);
        self.take(slot, packet, fate)
    }

    fn note_end(&mut self, slot: u32, now: Time) {
        let (number, waits) = &mut self.numbers[slot as usize];
        if !*waits {
            *waits = true;
            self.ended.push_back((now, slot, *number));
        }
    }

    /// From here on the connection is followed in full: its packets so far are read back.
    #[cold]
    #[inline(never)]
    fn grow_up(&mut self, slot: u32) {
        let at = slot as usize;
        if let Slot::Young(young) = std::mem::replace(&mut self.slots[at], Slot::Empty) {
            let mut grown = Box::new(Connection::new(self.numbers[at].0));
            let (config, sink, origin, negotiated) =
                (&self.config, &mut self.sink, self.origin, &self.negotiated);
            let mut capture = Capture { config, sink, origin, negotiated };
            self.short_connections.read(&young, |p, fate| {
                grown.take_any(p, fate, &mut capture);
            });
            self.slots[at] = Slot::Grown(young.towards_called(), grown);
        }
    }

    /// Lets go of connections that ended long enough ago.
    #[inline(always)]
    fn release(&mut self, now: Time) {
        if self.is_any_due(now) {
            self.release_due(now);
        }
    }

    #[inline(always)]
    fn is_any_due(&self, now: Time) -> bool {
        let enough = self.ended.len() >= MOST_LINGERING;
        self.ended.front().is_some_and(|(since, ..)| enough || now - *since >= LINGER)
    }

    #[inline(never)]
    fn release_due(&mut self, now: Time) {
        while self.is_any_due(now) {
            let Some((_, slot, number)) = self.ended.pop_front() else { return };
            self.warm_ended(|ahead| self.ended.get(ahead).map(|(_, slot, _)| *slot));
            self.warm_entries();
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

    /// Fetches what the connections that are to be let go of next will need.
    #[inline]
    fn warm_ended(&self, ahead: impl Fn(usize) -> Option<u32>) {
        for depth in 0..DEPTH {
            if let Some(slot) = ahead(2 * (DEPTH - depth))
                && let Some(Slot::Young(young)) = self.slots.get(slot as usize)
            {
                self.short_connections.warm_all(young, depth);
            }
        }
        if let Some(slot) = ahead(2 * DEPTH + 2).and_then(|slot| self.slots.get(slot as usize)) {
            prefetch::lines(slot, 0, 2);
        }
    }

    /// The table is asked for these connections' entries soon, to take them out.
    #[inline]
    fn warm_entries(&self) {
        if let Some((_, slot, _)) = self.ended.get(4)
            && let Some(tuple) = self.slots.get(*slot as usize).and_then(Slot::tuple)
        {
            self.table.warm(hash(tuple));
        }
        if let Some((_, slot, _)) = self.ended.get(8)
            && let Some(number) = self.numbers.get(*slot as usize)
        {
            prefetch::lines(number, 0, 1);
        }
    }

    /// Writes a connection's rows and forgets it.
    fn end(&mut self, slot: u32) {
        let at = slot as usize;
        let Some(hashed) = self.slots[at].tuple().map(hash) else { return };
        self.ends += 1;
        self.table.remove(hashed, slot);
        self.write_rows(slot);
        self.free.push(slot);
        self.numbers[at].1 = false;
    }

    fn write_rows(&mut self, slot: u32) {
        let at = slot as usize;
        let (config, sink, origin, negotiated) =
            (&self.config, &mut self.sink, self.origin, &self.negotiated);
        let mut capture = Capture { config, sink, origin, negotiated };
        match std::mem::replace(&mut self.slots[at], Slot::Empty) {
            Slot::Empty => {}
            Slot::Grown(_, mut connection) => self.totals.flows += connection.finish(&mut capture),
            Slot::Young(young) => {
                let number = self.numbers[at].0;
                let mut connection = self.spare.take().unwrap_or_else(|| Box::new(Connection::new(number)));
                connection.reset(number);
                self.short_connections.read(&young, |p, fate| {
                    connection.take_any(p, fate, &mut capture);
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
        for slot in 0..self.slots.len() as u32 {
            self.warm_ended(|ahead| Some(slot + ahead as u32));
            self.write_rows(slot);
        }
        (self.totals, self.sink)
    }
}
