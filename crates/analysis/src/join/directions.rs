//! Connections, and what the two captures have shown of each of their directions.

use super::Side;
use super::copy::{Agreement, Copy};
use crate::chunks::Chunks;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use wire::{Flags, Packet, Tuple};

/// One direction of a connection, in both captures, once one of them has shown something of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    /// Times of the first and the last matched copy, each on its capture's clock.
    pub first_matched: [i64; 2],
    pub last_matched: [i64; 2],
    /// Receiver's capture less sender's, last matched copy: the clock offset plus or minus a one-way delay.
    pub last_difference: i64,
    /// The longest that a copy took, as far as the offset was known then.
    pub slowest: i64,
    /// Of all copies matched the one sent last.
    pub latest_sent: Option<InBoth>,
    /// Some came in another order than they were sent.
    pub reorders: bool,
    pub matched: u32,
    /// Copies that wait for their counterpart, by the side that holds them.
    pub waiting: [u32; 2],
    /// How many must wait on both sides before another agreement is tried, as a power of two.
    pub patience: u8,
    pub facts: Agreement,
    /// Payload bytes, by the side that shows them.
    pub bytes: [u64; 2],
    /// Copies never matched, by side, while the other capture shows nothing of this direction.
    pub unmatched: [u16; 2],
    pub seen: [bool; 2],
}

/// A copy's turn in its capture: the packet, and where in it.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct Turn {
    pub packet: u64,
    seq: u32,
}

impl Turn {
    pub fn of(copy: &Copy) -> Turn {
        Turn { packet: copy.number, seq: copy.seq }
    }
    pub fn is_before(self, other: Turn) -> bool {
        self.packet < other.packet
            || self.packet == other.packet && (self.seq.wrapping_sub(other.seq) as i32) < 0
    }
}

/// A copy of one direction that is in both captures: its turn where it left, and where it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct InBoth {
    pub sent: Turn,
    pub came: Turn,
    pub has_data: bool,
    /// It was taken to have left from the sender's side; the first packets of a connection may say the wrong thing.
    pub outward: bool,
}

/// A connection, which of many a capture shows one packet only.
#[derive(Debug)]
struct Connection {
    /// The lower endpoint first.
    tuple: Tuple,
    /// Where its directions stand; [`UNSEEN`] of one of which nothing was shown.
    at: [u32; 2],
    /// Largest payload of a segment of each, 0 while unknown.
    mss: [u16; 2],
    /// The smallest MSS option of its SYNs, after the path's clamping; 0 without one.
    mss_option: u16,
    /// One of its ends sent a SYN or a SYN-ACK without timestamps, so neither uses them (RFC 7323 §3.2).
    no_timestamps: bool,
    /// Above 0, the lower endpoint is near the sender's capture; below, the higher.
    near: i32,
}

const UNSEEN: u32 = u32::MAX;

/// Both directions, and what they tell together. Indexed by direction: see [`super::copy::Copy::direction`].
#[derive(Debug)]
pub(super) struct Directions {
    /// Places of the connections, by their tuples.
    by_tuple: HashTable<u32>,
    connections: Chunks<Connection>,
    directions: Chunks<Direction>,
    /// What a direction starts with: its facts are what was found out on the others.
    unseen: Direction,
    /// The direction in the other capture that a direction is, where addresses are translated.
    peers: FxHashMap<u32, u32>,
    /// Connections in both captures under the same addresses.
    pub common: u32,
    /// Connections found to be the same under other addresses.
    pub translated: u32,
    recent: [Option<(Tuple, u32)>; 2],
}

/// Timestamps take 12 bytes of every segment (RFC 7323 appendix A), and the MSS option does not count them
/// (RFC 6691).
const TIMESTAMPS: u16 = 12;
/// Linux sends no smaller segments, whatever the MSS option says (`TCP_MIN_MSS`).
pub(super) const SMALLEST_MSS: u16 = 88;
/// What Ethernet's 1500 bytes leave after the headers of IPv4 and TCP.
const COMMON_MSS: u16 = 1460;

impl Directions {
    pub fn held(&self) -> u64 {
        let connection = size_of::<Connection>() + size_of::<u64>();
        (self.connections.len() * connection + self.directions.len() * size_of::<Direction>()) as u64
    }
    pub fn new() -> Directions {
        Directions {
            by_tuple: HashTable::new(),
            connections: Chunks::default(),
            directions: Chunks::default(),
            unseen: Direction {
                first_matched: [i64::MAX; 2],
                last_matched: [i64::MIN; 2],
                last_difference: 0,
                slowest: 0,
                latest_sent: None,
                reorders: false,
                matched: 0,
                waiting: [0; 2],
                patience: FIRST_PATIENCE,
                facts: Agreement::FULL,
                bytes: [0; 2],
                unmatched: [0; 2],
                seen: [false; 2],
            },
            peers: FxHashMap::default(),
            common: 0,
            translated: 0,
            recent: [None; 2],
        }
    }

    /// The direction in which a packet of `side` travels, entered if it is new.
    #[inline]
    pub fn of(&mut self, side: Side, p: &Packet) -> u32 {
        let direction = match self.recent[side as usize] {
            Some((tuple, direction)) if tuple == p.tuple => direction,
            Some((tuple, direction)) if tuple == p.tuple.reversed() => direction ^ 1,
            _ => {
                let direction = self.look_up(p.tuple);
                self.recent[side as usize] = Some((p.tuple, direction));
                direction
            }
        };
        self.note(side, direction, p);
        direction
    }

    /// The direction of a tuple, if either capture showed its connection.
    pub fn find(&self, tuple: Tuple) -> Option<u32> {
        let (pair, back) = canonical(tuple);
        let same = |&c: &u32| self.connections[c as usize].tuple == pair;
        self.by_tuple.find(hash(&pair), same).map(|c| c * 2 + back)
    }

    /// The same, cheapest for the connection asked for last.
    pub fn find_again(&mut self, side: Side, tuple: Tuple) -> Option<u32> {
        match self.recent[side as usize] {
            Some((last, direction)) if last == tuple => Some(direction),
            Some((last, direction)) if last == tuple.reversed() => Some(direction ^ 1),
            _ => {
                let direction = self.find(tuple)?;
                self.recent[side as usize] = Some((tuple, direction));
                Some(direction)
            }
        }
    }

    fn look_up(&mut self, tuple: Tuple) -> u32 {
        if let Some(direction) = self.find(tuple) {
            return direction;
        }
        let (pair, back) = canonical(tuple);
        let new = Connection {
            tuple: pair,
            at: [UNSEEN; 2],
            mss: [0; 2],
            mss_option: 0,
            no_timestamps: false,
            near: 0,
        };
        let connection = self.connections.push(new) as u32;
        let connections = &self.connections;
        self.by_tuple.insert_unique(hash(&pair), connection, |&c| hash(&connections[c as usize].tuple));
        connection * 2 + back
    }

    #[inline]
    fn note(&mut self, side: Side, direction: u32, p: &Packet) {
        if !self.get(direction).seen[side as usize] {
            let other = side.other() as usize;
            let before = self.in_both(direction);
            self.get_mut(direction).seen[side as usize] = true;
            if !before && (self.get(direction).seen[other] || self.get(direction ^ 1).seen[other]) {
                self.common += 1;
            }
        }
        self.get_mut(direction).bytes[side as usize] += u64::from(p.seg.payload);
        if p.seg.payload > u32::from(COMMON_MSS) && self.mss(direction) == 0 {
            // A super-packet, and the handshake was missed. If the guess is wrong, a trial finds the right one.
            let less = if p.tuple.src.host.is_v4() { 0 } else { 20 };
            let stamps = if p.seg.timestamps.is_some() { TIMESTAMPS } else { 0 };
            self.set_mss(direction, COMMON_MSS - less - stamps);
        }
        if p.seg.flags.has(Flags::SYN)
            && let Some(mss) = p.seg.mss
        {
            let connection = &mut self.connections[direction as usize / 2];
            // Each end may send what the other's option allows; all known stacks send no more than their own allows either.
            connection.mss_option = match connection.mss_option {
                0 => mss,
                known => known.min(mss),
            };
            // A SYN offers timestamps, and its answer accepts or declines them.
            let accepts = p.seg.timestamps.is_some();
            connection.no_timestamps = !accepts || p.seg.flags.has(Flags::ACK) && connection.no_timestamps;
            let header = if connection.no_timestamps { 0 } else { TIMESTAMPS };
            connection.mss = [connection.mss_option.saturating_sub(header).max(SMALLEST_MSS); 2];
        }
    }

    /// Largest segment of a direction, 0 while unknown.
    #[inline]
    pub fn mss(&self, direction: u32) -> u16 {
        self.connections[direction as usize / 2].mss[direction as usize & 1]
    }
    pub fn set_mss(&mut self, direction: u32, mss: u16) {
        self.connections[direction as usize / 2].mss[direction as usize & 1] = mss;
    }

    /// True if both captures show the connection of `direction` under the same addresses.
    pub fn in_both(&self, direction: u32) -> bool {
        let (a, b) = (self.get(direction).seen, self.get(direction ^ 1).seen);
        (a[0] || b[0]) && (a[1] || b[1])
    }
    pub fn peer(&self, direction: u32) -> Option<u32> {
        self.peers.get(&direction).copied()
    }
    /// `a` of the sender's capture and `b` of the receiver's are the same connection, translated.
    pub fn pair_up(&mut self, a: u32, b: u32) {
        for (x, y) in [(a, b), (b, a), (a ^ 1, b ^ 1), (b ^ 1, a ^ 1)] {
            self.peers.insert(x, y);
        }
        self.translated += 1;
    }
    /// May a copy of direction `a` be one of direction `b`? Only one connection can be its translation.
    pub fn may_be(&self, a: u32, b: u32) -> bool {
        a == b || self.peer(a) == Some(b) || (self.peer(a).is_none() && self.peer(b).is_none())
    }
    /// The direction under which matches of `direction` are counted: that of the sender's capture.
    pub fn home(&self, side: Side, direction: u32) -> u32 {
        match side {
            Side::Sender => direction,
            Side::Receiver => self.peer(direction).unwrap_or(direction),
        }
    }
    /// True if the capture of `side` shows the way, under whichever addresses.
    pub fn shown(&self, side: Side, direction: u32) -> bool {
        let by = |w: u32| self.get(w).seen[side as usize];
        by(direction) || self.peer(direction).is_some_and(by)
    }
    /// Copies wait on both sides, and none ever met.
    pub fn is_stuck(&self, direction: u32) -> bool {
        let direction = self.get(direction);
        direction.matched == 0 && direction.waiting.iter().all(|n| *n > 0)
    }
    /// One copy fewer waits for its counterpart.
    pub fn waits_no_more(&mut self, home: u32, side: Side) {
        let waiting = &mut self.get_mut(home).waiting[side as usize];
        *waiting = waiting.saturating_sub(1);
    }
    #[inline]
    pub fn get(&self, direction: u32) -> &Direction {
        match self.connections[direction as usize / 2].at[direction as usize & 1] {
            UNSEEN => &self.unseen,
            at => &self.directions[at as usize],
        }
    }
    /// What must agree for two copies of this direction to be the same.
    pub fn facts_of(&self, direction: u32) -> Agreement {
        self.get(direction).facts
    }
    /// Ways to come start with these facts.
    pub fn start_with(&mut self, facts: Agreement) {
        self.unseen.facts = facts;
    }
    /// All directions, those to come included, are compared by these facts.
    pub fn agree_on(&mut self, facts: Agreement) {
        self.directions.iter_mut().chain([&mut self.unseen]).for_each(|direction| direction.facts = facts);
    }
    pub fn do_without_options(&mut self) {
        let directions = self.directions.iter_mut().chain([&mut self.unseen]);
        directions.for_each(|direction| direction.facts = direction.facts.without_options());
    }
    #[inline]
    pub fn get_mut(&mut self, direction: u32) -> &mut Direction {
        let at = &mut self.connections[direction as usize / 2].at[direction as usize & 1];
        if *at == UNSEEN {
            *at = self.directions.push(self.unseen) as u32;
        }
        &mut self.directions[*at as usize]
    }
    /// The comparison is over: of all that was seen only which connections there are is asked from here on.
    pub fn forget(&mut self) {
        self.directions = Chunks::default();
        self.connections.iter_mut().for_each(|connection| connection.at = [UNSEEN; 2]);
    }
    pub fn len(&self) -> u32 {
        self.connections.len() as u32 * 2
    }
    /// Which direction's packets leave from near the sender's capture: that of even number, of odd, or not known.
    pub fn outward(&self, direction: u32) -> Option<bool> {
        match self.connections[direction as usize / 2].near {
            0 => None,
            votes => Some((votes > 0) == (direction & 1 == 0)),
        }
    }
    /// A vote on which direction's packets leave from near the sender's capture.
    pub fn vote(&mut self, direction: u32, even: bool) {
        let near = &mut self.connections[direction as usize / 2].near;
        *near = near.saturating_add(if even { 1 } else { -1 });
    }
    pub fn tuple(&self, direction: u32) -> Option<Tuple> {
        let tuple = self.connections.get(direction as usize / 2)?.tuple;
        Some(if direction & 1 == 0 { tuple } else { tuple.reversed() })
    }
}

/// Sixteen copies that wait on both sides set off the first trial.
const FIRST_PATIENCE: u8 = 4;

/// A tuple with the lower endpoint first, and 1 if that turned it round.
fn canonical(t: Tuple) -> (Tuple, u32) {
    if t.src <= t.dst { (t, 0) } else { (t.reversed(), 1) }
}

fn hash(pair: &Tuple) -> u64 {
    FxBuildHasher.hash_one(pair)
}
