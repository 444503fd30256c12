//! Connections, and what the two captures have shown of each of their directions.

use super::Side;
use super::captured::{CapturedSegment, MatchFields};
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
    /// Receiver's time less sender's of the last match: the clock offset plus (outward) or minus (inward) a one-way delay.
    pub last_difference: i64,
    /// The longest one-way delay of a copy, as far as the offset was known then. With one direction alone the offset
    /// holds the least delay, and this is the delay's variation.
    pub largest_delay: i64,
    /// Of all copies matched the one sent last.
    pub latest_sent: Option<InBoth>,
    /// Some came in another order than they were sent.
    pub reorders: bool,
    pub matched: u32,
    /// Copies that wait for their counterpart, by the side that holds them.
    pub waiting: [u32; 2],
    /// How many must wait on both sides before another agreement is tried, as a power of two.
    pub trial_backoff: u8,
    pub fields: MatchFields,
    /// Payload bytes, by the side that shows them.
    pub bytes: [u64; 2],
    /// Copies that never matched, by side; counted while the other capture shows nothing of this direction.
    pub unmatched: [u16; 2],
    pub seen: [bool; 2],
}

/// A copy's turn in its capture: the packet, and where in it.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct CapturePosition {
    pub packet: u64,
    seq: u32,
}

impl CapturePosition {
    pub fn of(copy: &CapturedSegment) -> CapturePosition {
        CapturePosition { packet: copy.number, seq: copy.seq }
    }
    pub fn is_before(self, other: CapturePosition) -> bool {
        self.packet < other.packet
            || self.packet == other.packet && (self.seq.wrapping_sub(other.seq) as i32) < 0
    }
}

/// A copy of one direction that is in both captures: its turn where it left, and where it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct InBoth {
    pub sent: CapturePosition,
    pub came: CapturePosition,
    pub has_data: bool,
    /// The packet was taken to have left from the sender's side. The first packets of a connection may vote for the wrong side.
    pub outward: bool,
}

/// A connection. Captures may show millions with a single packet each, so what is kept of a direction is apart.
#[derive(Debug)]
struct Connection {
    /// The lower endpoint first.
    tuple: Tuple,
    /// Where its directions stand; [`UNSEEN`] of one of which nothing was shown.
    slots: [u32; 2],
    /// Largest payload of a segment of each, 0 while unknown.
    segment_payload: [u16; 2],
    /// The smallest MSS option of its SYNs, after the path's clamping; 0 without one.
    mss_option: u16,
    /// One of its ends sent a SYN or a SYN-ACK without timestamps, so neither uses them (RFC 7323 §3.2).
    no_timestamps: bool,
    /// Above 0, the lower endpoint is near the sender's capture; below, the higher. Small: there may be millions.
    votes: i8,
}

const UNSEEN: u32 = u32::MAX;

/// Both directions, and what they tell together. Indexed by direction: see [`super::captured::CapturedSegment::direction`].
#[derive(Debug)]
pub(super) struct Directions {
    /// Places of the connections, by their tuples.
    by_tuple: HashTable<u32>,
    connections: Chunks<Connection>,
    directions: Chunks<Direction>,
    /// The values with which a new direction begins; its fields to compare are those that other directions turned out to share.
    template: Direction,
    /// The same direction under its addresses in the other capture, where these are translated.
    translations: FxHashMap<u32, u32>,
    /// Connections in both captures under the same addresses.
    pub connections_in_both: u32,
    /// Connections found to be the same under other addresses.
    pub translated_connections: u32,
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
            template: Direction {
                first_matched: [i64::MAX; 2],
                last_matched: [i64::MIN; 2],
                last_difference: 0,
                largest_delay: 0,
                latest_sent: None,
                reorders: false,
                matched: 0,
                waiting: [0; 2],
                trial_backoff: FIRST_TRIAL_BACKOFF,
                fields: MatchFields::ALL,
                bytes: [0; 2],
                unmatched: [0; 2],
                seen: [false; 2],
            },
            translations: FxHashMap::default(),
            connections_in_both: 0,
            translated_connections: 0,
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
                let direction = self.find_or_insert(p.tuple);
                self.recent[side as usize] = Some((p.tuple, direction));
                direction
            }
        };
        self.note(side, direction, p);
        direction
    }

    /// The direction of a tuple, if either capture showed its connection.
    pub fn find(&self, tuple: Tuple) -> Option<u32> {
        let (pair, back) = lower_endpoint_first(tuple);
        let same = |&c: &u32| self.connections[c as usize].tuple == pair;
        self.by_tuple.find(hash(&pair), same).map(|c| c * 2 + back)
    }

    /// The same, cheapest for the connection asked for last.
    pub fn find_cached(&mut self, side: Side, tuple: Tuple) -> Option<u32> {
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

    fn find_or_insert(&mut self, tuple: Tuple) -> u32 {
        if let Some(direction) = self.find(tuple) {
            return direction;
        }
        let (pair, back) = lower_endpoint_first(tuple);
        let new = Connection {
            tuple: pair,
            slots: [UNSEEN; 2],
            segment_payload: [0; 2],
            mss_option: 0,
            no_timestamps: false,
            votes: 0,
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
                self.connections_in_both += 1;
            }
        }
        self.get_mut(direction).bytes[side as usize] += u64::from(p.seg.payload);
        if p.seg.payload > u32::from(COMMON_MSS) && self.segment_payload(direction) == 0 {
            // A super-packet, and the handshake was missed. If the guess is wrong, a trial finds the right one.
            let less = if p.tuple.src.host.is_v4() { 0 } else { 20 };
            let stamps = if p.seg.timestamps.is_some() { TIMESTAMPS } else { 0 };
            self.set_segment_payload(direction, COMMON_MSS - less - stamps);
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
            connection.segment_payload = [connection.mss_option.saturating_sub(header).max(SMALLEST_MSS); 2];
        }
    }

    /// Largest segment of a direction, 0 while unknown.
    #[inline]
    pub fn segment_payload(&self, direction: u32) -> u16 {
        self.connections[direction as usize / 2].segment_payload[direction as usize & 1]
    }
    pub fn set_segment_payload(&mut self, direction: u32, mss: u16) {
        self.connections[direction as usize / 2].segment_payload[direction as usize & 1] = mss;
    }

    /// True if both captures show the connection of `direction` under the same addresses.
    pub fn in_both(&self, direction: u32) -> bool {
        let (a, b) = (self.get(direction).seen, self.get(direction ^ 1).seen);
        (a[0] || b[0]) && (a[1] || b[1])
    }
    pub fn translation(&self, direction: u32) -> Option<u32> {
        self.translations.get(&direction).copied()
    }
    /// `a` of the sender's capture and `b` of the receiver's are the same connection, translated.
    pub fn record_translation(&mut self, a: u32, b: u32) {
        for (x, y) in [(a, b), (b, a), (a ^ 1, b ^ 1), (b ^ 1, a ^ 1)] {
            self.translations.insert(x, y);
        }
        self.translated_connections += 1;
    }
    /// May a copy of direction `a` be one of direction `b`? Only one connection can be its translation.
    pub fn may_be(&self, a: u32, b: u32) -> bool {
        a == b
            || self.translation(a) == Some(b)
            || (self.translation(a).is_none() && self.translation(b).is_none())
    }
    /// The direction under which matches of `direction` are counted: that of the sender's capture.
    pub fn canonical(&self, side: Side, direction: u32) -> u32 {
        match side {
            Side::Sender => direction,
            Side::Receiver => self.translation(direction).unwrap_or(direction),
        }
    }
    /// True if the capture of `side` shows the direction, under whichever addresses.
    pub fn is_shown(&self, side: Side, direction: u32) -> bool {
        let by = |w: u32| self.get(w).seen[side as usize];
        by(direction) || self.translation(direction).is_some_and(by)
    }
    /// Copies wait on both sides, and none ever met.
    pub fn is_stuck(&self, direction: u32) -> bool {
        let direction = self.get(direction);
        direction.matched == 0 && direction.waiting.iter().all(|n| *n > 0)
    }
    /// One copy fewer waits for its counterpart.
    pub fn one_fewer_waits(&mut self, canonical: u32, side: Side) {
        let waiting = &mut self.get_mut(canonical).waiting[side as usize];
        *waiting = waiting.saturating_sub(1);
    }
    #[inline]
    pub fn get(&self, direction: u32) -> &Direction {
        match self.connections[direction as usize / 2].slots[direction as usize & 1] {
            UNSEEN => &self.template,
            at => &self.directions[at as usize],
        }
    }
    /// What must agree for two copies of this direction to be the same.
    pub fn fields_of(&self, direction: u32) -> MatchFields {
        self.get(direction).fields
    }
    /// New directions start with these fields.
    pub fn set_default_fields(&mut self, fields: MatchFields) {
        self.template.fields = fields;
    }
    /// All directions, those to come included, are compared by these fields.
    pub fn set_fields_everywhere(&mut self, fields: MatchFields) {
        self.directions
            .iter_mut()
            .chain([&mut self.template])
            .for_each(|direction| direction.fields = fields);
    }
    pub fn do_without_options(&mut self) {
        let directions = self.directions.iter_mut().chain([&mut self.template]);
        directions.for_each(|direction| direction.fields = direction.fields.without_options());
    }
    #[inline]
    pub fn get_mut(&mut self, direction: u32) -> &mut Direction {
        let at = &mut self.connections[direction as usize / 2].slots[direction as usize & 1];
        if *at == UNSEEN {
            *at = self.directions.push(self.template) as u32;
        }
        &mut self.directions[*at as usize]
    }
    /// The comparison is over: of all that was seen only which connections there are is asked from here on.
    pub fn forget(&mut self) {
        self.directions = Chunks::default();
        self.connections.iter_mut().for_each(|connection| connection.slots = [UNSEEN; 2]);
    }
    pub fn len(&self) -> u32 {
        self.connections.len() as u32 * 2
    }
    /// Which direction's packets leave from near the sender's capture: that of even number, of odd, or not known.
    pub fn outward(&self, direction: u32) -> Option<bool> {
        match self.connections[direction as usize / 2].votes {
            0 => None,
            votes => Some((votes > 0) == (direction & 1 == 0)),
        }
    }
    /// A vote on which direction's packets leave from near the sender's capture.
    pub fn vote(&mut self, direction: u32, even: bool) {
        let votes = &mut self.connections[direction as usize / 2].votes;
        *votes = votes.saturating_add(if even { 1 } else { -1 });
    }
    pub fn tuple(&self, direction: u32) -> Option<Tuple> {
        let tuple = self.connections.get(direction as usize / 2)?.tuple;
        Some(if direction & 1 == 0 { tuple } else { tuple.reversed() })
    }
}

/// Sixteen copies that wait on both sides set off the first trial.
const FIRST_TRIAL_BACKOFF: u8 = 4;

/// A tuple with the lower endpoint first, and 1 if that turned it round.
fn lower_endpoint_first(t: Tuple) -> (Tuple, u32) {
    if t.src <= t.dst { (t, 0) } else { (t.reversed(), 1) }
}

fn hash(pair: &Tuple) -> u64 {
    FxBuildHasher.hash_one(pair)
}
