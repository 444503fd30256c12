//! The analysis of a capture, or of a part of its connections: they come, are followed, and end.

mod ahead;
mod given_up;
mod shares;

use crate::ascending::Ascending;
use crate::capture_progress::CaptureProgress;
use crate::chunks::Chunks;
use crate::config::Config;
use crate::connection::{Capture, Connection, Taken};
use crate::connection_table::{NONE, Table, hash, ways};
use crate::fault::TripAt;
use crate::negotiated::Negotiated;
use crate::short_connections::{ShortConnections, Young};
use crate::sink::Sink;
use crate::{Fate, Totals};
use given_up::Moving;
use shares::Shares;
pub use shares::review_every;
use std::collections::VecDeque;
use wire::{Flags, Notes, Packet, Time, Tuple};

const BATCH: usize = 128;
/// The nearest cache holds as many connections anyway.
const FEW: usize = 16;

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
    /// The connection has few packets so far; they are stored and not yet analysed.
    Young(Young),
    /// Its tuple is that of the connection: towards the one that was called.
    Grown(Tuple, Box<Connection>),
    /// Its analysis failed: what comes of it is passed over.
    GivenUp(Tuple),
}

impl Slot {
    fn tuple(&self) -> Option<&Tuple> {
        match self {
            Slot::Empty => None,
            Slot::Young(y) => Some(&y.tuple),
            Slot::Grown(tuple, _) | Slot::GivenUp(tuple) => Some(tuple),
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
    /// Connections that ended, each since when: known for a while, for late packets.
    ended: VecDeque<(CaptureProgress, u32, u32)>,
    /// Made once, used for every connection that ends young.
    spare: Option<Box<Connection>>,
    /// Connections that ended so far.
    ends: u64,
    /// When the capture began.
    origin: Time,
    /// How far it has come.
    course: CaptureProgress,
    /// When the capture ended, once it has: what is open then was observed until then.
    capture_end: Option<Time>,
    /// Of a part of a capture: with which of the capture's packets each connection began.
    births: Option<Ascending>,
    negotiated: Negotiated,
    shares: Shares,
    /// Goes on where the analysis of a connection fails.
    survives: bool,
    moving: Option<Moving>,
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
            course: CaptureProgress::default(),
            capture_end: None,
            births: None,
            negotiated: Negotiated::default(),
            shares: Shares::unbounded(),
            survives: false,
            moving: None,
        }
    }

    /// The analysis of some of the connections of a capture, all packets of each (see [`crate::part`]).
    pub fn of_part(config: Config, sink: S) -> Analyzer<S> {
        Analyzer { births: Some(Ascending::default()), ..Analyzer::new(config, sink) }
    }

    /// SYNs from before the part of the capture that is analysed: what they negotiate holds in it, too.
    pub fn note_earlier(&mut self, syns: &[Packet]) {
        syns.iter().for_each(|syn| self.negotiated.note(syn));
    }

    /// Packets in the order of the capture. Cheapest in batches of a hundred or so.
    pub fn push(&mut self, packets: &[Packet]) {
        packets.chunks(BATCH).for_each(|batch| self.push_to_shares(batch, &[]));
    }

    /// Packets of a part's connections in the order of the capture, which began at `origin`; `before`: how far it had
    /// come before each of them.
    pub fn push_part(&mut self, origin: Time, packets: &[Packet], before: &[CaptureProgress]) {
        self.origin = origin;
        for (batch, before) in packets.chunks(BATCH).zip(before.chunks(BATCH)) {
            self.push_to_shares(batch, before);
        }
    }

    /// The capture that a part's connections are of came this far: those still open were observed until then.
    pub fn end_part_at(&mut self, course: &CaptureProgress) {
        self.course = *course;
    }

    /// `before` is empty where all of the capture comes here.
    fn push_batch(&mut self, batch: &[Packet], before: &[CaptureProgress]) {
        match self.slots.len() > FEW {
            true => self.push_of_many(batch, before),
            false => self.push_of_few(batch, before),
        }
    }

    /// Advances the capture's progress past packets that other parts analyse, and releases the connections that ended
    /// long enough ago.
    #[inline(always)]
    fn catch_up(&mut self, before: Option<&CaptureProgress>) {
        if let Some(course) = before {
            self.course = *course;
        }
        if self.is_any_due() {
            self.release_due();
        }
    }

    /// Of few connections most packets belong to that of the packet before.
    fn push_of_few(&mut self, mut batch: &[Packet], before: &[CaptureProgress]) {
        let all = batch.len();
        let (mut place, mut ended) = (Place::UNKNOWN, self.ends);
        while let [packet, rest @ ..] = batch {
            self.catch_up(before.get(all - batch.len()));
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
    fn push_of_many(&mut self, batch: &[Packet], before: &[CaptureProgress]) {
        let mut places = [Place::UNKNOWN; BATCH];
        let sure = self.look_up(batch, &mut places);
        let places = &mut places[..batch.len()];
        let ended = self.ends;
        for (i, packet) in batch.iter().enumerate() {
            self.catch_up(before.get(i));
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
        self.course.pass_run(&batch[..taken]);
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
                self.course.pass(packet);
                self.totals.packets += 1;
                if young.is_over() {
                    self.note_end(place.slot);
                }
                return true;
            }
            _ => return false,
        }
        self.course.pass(packet);
        self.totals.packets += 1;
        true
    }

    /// Is a packet of this slot's connection, and does it go the way of its first?
    #[inline(always)]
    fn ways(&self, slot: u32, tuple: &Tuple) -> (bool, bool) {
        self.slots[slot as usize].tuple().map_or((false, false), |t| ways(t, tuple))
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
        self.push_one(None, packet, fate);
    }

    /// The same of a part's connection (see [`Analyzer::push_part`]).
    pub fn push_part_with_fate(
        &mut self,
        origin: Time,
        packet: &Packet,
        before: &CaptureProgress,
        fate: Fate,
    ) {
        self.origin = origin;
        self.push_one(Some(before), packet, fate);
    }

    fn push_one(&mut self, before: Option<&CaptureProgress>, packet: &Packet, fate: Fate) {
        let push = |of: &mut Analyzer<S>| {
            of.catch_up(before);
            if !of.is_counted_only(packet) {
                of.follow(Place { hash: hash(&packet.tuple), ..Place::UNKNOWN }, packet, fate);
            }
        };
        match self.survives {
            true => self.surviving_one(packet, push),
            false => push(self),
        }
    }

    #[inline(always)]
    fn follow(&mut self, place: Place, packet: &Packet, fate: Fate) {
        if self.origin == Time::FAR_FUTURE {
            self.origin = packet.time;
        }
        self.course.pass(packet);
        let slot = if place.slot == NONE { self.slot_of(place.hash, packet) } else { place.slot };
        if self.take(slot, packet, fate) == Taken::Reopens {
            self.end(slot);
            let slot = self.slot_of(place.hash, packet);
            self.take(slot, packet, fate);
        }
        // Last: a packet that meets a fault is not counted yet.
        self.totals.packets += 1;
    }

    #[inline(never)]
    fn slot_of(&mut self, hash: u32, packet: &Packet) -> u32 {
        let found = self.find(hash, &packet.tuple).slot;
        if found != NONE {
            return found;
        }
        let number = self.totals.connections as u32;
        self.totals.connections += 1;
        if let Some(births) = &mut self.births {
            births.push(self.course.packets());
        }
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
            self.note_end(slot);
        }
        taken
    }

    #[inline(never)]
    fn take_young(&mut self, slot: u32, packet: &Packet, fate: Fate) -> Taken {
        let young = match &mut self.slots[slot as usize] {
            Slot::Young(young) => young,
            Slot::GivenUp(_) if packet.seg.flags.has(Flags::SYN) && !packet.seg.flags.has(Flags::ACK) => {
                return Taken::Reopens;
            }
            _ => return Taken::Yes,
        };
        if young.is_reopened_by(packet) {
            return Taken::Reopens;
        }
        if young.takes() {
            self.short_connections.write(young, packet, fate);
            if young.is_over() {
                self.note_end(slot);
            }
            return Taken::Yes;
        }
        self.grow_up(slot);
        self.take(slot, packet, fate)
    }

    fn note_end(&mut self, slot: u32) {
        let (number, waits) = &mut self.numbers[slot as usize];
        if !*waits {
            *waits = true;
            self.ended.push_back((self.course, slot, *number));
        }
    }

    /// From here on the connection is followed in full: its packets so far are read back.
    #[cold]
    #[inline(never)]
    fn grow_up(&mut self, slot: u32) {
        let at = slot as usize;
        self.note_moving(slot, false);
        if let Slot::Young(young) = std::mem::replace(&mut self.slots[at], Slot::Empty) {
            let mut grown = Box::new(Connection::new(self.numbers[at].0));
            let (config, sink, origin, negotiated) =
                (&self.config, &mut self.sink, self.origin, &self.negotiated);
            let mut capture = Capture { config, sink, origin, negotiated };
            self.short_connections.read(&young, |p, fate| {
                grown.take_any(p, fate, &mut capture);
            });
            if let Some(trip) = self.config.trip {
                trip.check(TripAt::Grows, &young.tuple);
            }
            self.slots[at] = Slot::Grown(young.towards_called(), grown);
        }
        self.moving = None;
    }

    /// Has a connection ended long enough ago? They are in order, as the course of the capture is.
    #[inline(always)]
    fn is_any_due(&self) -> bool {
        self.ended.front().is_some_and(|(since, ..)| self.course.has_outlived(since))
    }

    #[inline(never)]
    fn release_due(&mut self) {
        while self.is_any_due() {
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
        self.note_moving(slot, true);
        if let (Some(trip), Some(tuple)) = (self.config.trip, self.slots[at].tuple()) {
            trip.check(TripAt::Ends, tuple);
        }
        let (config, sink, origin, negotiated) =
            (&self.config, &mut self.sink, self.origin, &self.negotiated);
        let mut capture = Capture { config, sink, origin, negotiated };
        // One that is forgotten while the capture goes on was observed until its last packet.
        let now = self.capture_end.unwrap_or(Time::FAR_PAST);
        match std::mem::replace(&mut self.slots[at], Slot::Empty) {
            Slot::Empty | Slot::GivenUp(_) => {}
            Slot::Grown(_, mut connection) => self.totals.flows += connection.finish(now, &mut capture),
            Slot::Young(young) => {
                let number = self.numbers[at].0;
                let mut connection = self.spare.take().unwrap_or_else(|| Box::new(Connection::new(number)));
                connection.reset(number);
                self.short_connections.read(&young, |p, fate| {
                    connection.take_any(p, fate, &mut capture);
                });
                self.totals.flows += connection.finish(now, &mut capture);
                self.spare = Some(connection);
            }
        }
        self.moving = None;
    }

    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Ends every connection that is still open and gives the sink back.
    pub fn finish(mut self) -> (Totals, S) {
        self.end_all();
        (self.totals, self.sink)
    }

    /// The same of a part, and with which of the capture's packets each of its connections began.
    pub fn finish_part(mut self) -> (Totals, S, Ascending) {
        self.end_all();
        (self.totals, self.sink, self.births.unwrap_or_default())
    }

    fn end_all(&mut self) {
        self.totals.not_analysed = self.shares.counted;
        match self.survives {
            true => self.end_all_surviving(),
            false => self.end_all_from(&mut 0),
        }
        self.sink.begun(self.origin);
    }

    fn end_all_from(&mut self, next: &mut u32) {
        if self.capture_end.is_none() {
            // Those that ended long enough ago were forgotten before, in whichever part the capture's last packet is.
            self.catch_up(None);
            self.capture_end = Some(self.course.latest());
        }
        while *next < self.slots.len() as u32 {
            let slot = *next;
            *next += 1;
            self.warm_ended(|ahead| Some(slot + ahead as u32));
            self.write_rows(slot);
        }
    }
}
