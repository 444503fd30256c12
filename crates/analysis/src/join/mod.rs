//! Two captures of the same transfers, one at each side: which packet arrived, exactly, in both directions.
//!
//! Every packet of one capture is looked for in the other. Both are read side by side, in the order of one
//! clock: the offset between the two shows in the first packet found and is followed from there. A copy waits
//! until its counterpart comes, or until the other capture has gone on for so long that it cannot come any more.
//! A packet that left from this side was then lost; one that arrived at this side was dropped by the other capture.
//! Memory grows with what is in flight and with what was lost, never with packets.
//!
//! A copy is identified by its sequence number, length and ACK, SYN and RST, IP identification, timestamps and SACK
//! blocks ([`captured`]). Super-packets are cut into the segments they become on the wire, so that captures with and
//! without offloads compare.
//!
//! A packet goes *outward* from the sender's side to the receiver's, *inward* the other way; it *leaves* if it was sent on
//! the side whose capture is read.

mod ageing;
mod captured;
mod clock;
mod coverage;
mod directions;
mod matched;
mod offers;
mod offset_tracker;
mod outcome;
mod pending;
mod trial;
mod warning;

pub use clock::Clock;
pub use offers::{Offer, Rewritten};
pub use outcome::{Fates, Joined, Lost, LostAckSegments, SideResult};
pub use warning::Warning;

use crate::fault::Trip;
use captured::{CapturedSegment, Rule};
use clock::ClockFilter;
use directions::Directions;
use matched::Waited;
use offers::Offers;
use offset_tracker::{OffsetTracker, SECOND};
use pending::Pending;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use wire::{Packet, Time, Tuple};

/// One of the two captures, by the caller's word: [`Joined::swapped`] says whether it was wrong.
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
/// At most this many unmatched packets are kept of a direction that the other capture does not show at all, and of each
/// side after the other capture's end.
const REMEMBERED_AT_MOST: u16 = 1024;
/// Packets of each side after which addresses are taken to be translated if none is common to both.
const PACKETS_BEFORE_NAT: u64 = 64;
/// Hashes of matched copies that are remembered, to tell a duplicate from a packet that the capture at its sender dropped.
/// A table of that size: a later hash of the same slot replaces an earlier one.
const RECENT_MATCHES: usize = 1 << 14;

/// A copy that found no counterpart, or several adjoining segments of one super-packet.
#[derive(Clone, Copy, Debug)]
struct Unmatched {
    number: u64,
    time: i64,
    direction: u32,
    seq: u32,
    len: u32,
    is_duplicate: bool,
    resembles_match: bool,
}

impl Unmatched {
    fn of(copy: &CapturedSegment) -> Unmatched {
        let CapturedSegment { number, time, direction, seq, len, is_duplicate, resembles_match, .. } = *copy;
        Unmatched { number, time, direction, seq, len, is_duplicate, resembles_match }
    }
}

/// What is kept of one capture.
#[derive(Debug)]
struct Record {
    packets: u64,
    /// First and last time, on its own clock.
    span: Option<(i64, i64)>,
    /// Times of the last two packets taken in.
    last_times: [i64; 2],
    unmatched: Vec<Unmatched>,
    /// Packets from before the other capture began, or after it ended.
    outside: PacketCount,
    /// Numbers of reordered data packets, as this capture counts them when they leave (RFC 4737).
    reordered: Vec<u64>,
    /// Numbers of packets that are known to have been in flight when the other capture ended.
    in_flight: Vec<u64>,
    /// Packets sent before the first or after the second time cannot be in the other capture, or had to be dropped before any
    /// packet was found in both; by the clock of this capture.
    comparable_span: (i64, i64),
    super_packets: u64,
    after_end: AfterEnd,
}

/// What came too late for the other capture, which had ended.
#[derive(Debug, Default)]
struct AfterEnd {
    /// Data packets, the first [`REMEMBERED_AT_MOST`] of them.
    data: Vec<Unmatched>,
    /// Directions of which anything came.
    directions: FxHashSet<u32>,
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
            last_times: [i64::MIN; 2],
            unmatched: Vec::new(),
            outside: PacketCount::default(),
            reordered: Vec::new(),
            in_flight: Vec::new(),
            comparable_span: (i64::MIN, i64::MAX),
            super_packets: 0,
            after_end: AfterEnd::default(),
        }
    }
    fn held(&self) -> u64 {
        let unmatched = self.unmatched.len() + self.after_end.data.len();
        let numbers = self.reordered.len() + self.in_flight.len() + self.after_end.directions.len();
        (unmatched * size_of::<Unmatched>() + numbers * size_of::<u64>()) as u64
    }
    /// The copy came too early to be compared, and so did everything before it.
    fn count_too_early(&mut self, copy: &CapturedSegment) {
        self.outside.add(copy.number);
        self.comparable_span.0 = self.comparable_span.0.max(copy.time.saturating_add(1));
    }
}

/// Reads two captures side by side and finds every packet of one in the other.
///
/// Feed batches of the side that [`Joiner::wants`] names, say [`Joiner::end`] when a capture has no more, then
/// [`Joiner::finish`]. Other orders give the same answer and cost memory.
#[derive(Debug)]
pub struct Joiner {
    directions: Directions,
    offers: Offers,
    queues: [VecDeque<CapturedSegment>; 2],
    ended: [bool; 2],
    pending: [Pending; 2],
    records: [Record; 2],
    offset_tracker: OffsetTracker,
    clock_filter: ClockFilter,
    waited: Waited,
    recent_matches: Vec<u64>,
    matched: u64,
    /// Least and greatest difference between the two times of one packet.
    differences: (i64, i64),
    translated: bool,
    options_cut: bool,
    /// Nothing is missing from either capture: see [`Joiner::of_complete_captures`].
    complete: bool,
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
            offers: Offers::default(),
            queues: [VecDeque::new(), VecDeque::new()],
            ended: [false; 2],
            pending: [Pending::new(), Pending::new()],
            records: [Record::new(), Record::new()],
            offset_tracker: OffsetTracker::default(),
            clock_filter: ClockFilter::new(),
            waited: Waited::default(),
            recent_matches: vec![0; RECENT_MATCHES],
            matched: 0,
            differences: (i64::MAX, i64::MIN),
            translated: false,
            options_cut: false,
            complete: false,
            since_trial: 0,
            at_work: None,
            trip: None,
        }
    }

    /// A joiner of two captures that lack nothing, on one clock: both were on from `start` to the end of the run, which
    /// [`Joiner::finish_complete`] tells. What is in one and not in the other was then lost.
    pub fn of_complete_captures(start: Time) -> Joiner {
        let mut joiner = Joiner { complete: true, ..Joiner::new() };
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
            self.offers.note(side, direction, p);
            self.queues[side as usize].push_back(CapturedSegment::of(p, direction));
        }
        // Options no longer count before a packet without them is compared with its counterpart that has them.
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
                let now = |s: Side| self.records[s as usize].last_times[1];
                let behind =
                    now(Side::Sender).saturating_add(self.offset_tracker.offset) <= now(Side::Receiver);
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

    /// The connection whose packets it works on; after a panic, the one in which that happened.
    pub fn at_work(&self) -> Option<Tuple> {
        self.directions.tuple(self.at_work?)
    }

    /// Approximate bytes that are kept; the same packets give the same number.
    pub fn held(&self) -> u64 {
        let of = |n: usize, size: usize| (n * size) as u64;
        let queues = of(self.queues.iter().map(VecDeque::len).sum(), size_of::<CapturedSegment>());
        let pending: u64 = self.pending.iter().map(Pending::held).sum();
        let records: u64 = self.records.iter().map(Record::held).sum();
        self.directions.held() + self.offers.held() + self.waited.held() + queues + pending + records
    }

    /// Everything has been pushed.
    pub fn finish(mut self) -> Joined {
        for side in Side::BOTH {
            self.end(side);
        }
        if self.directions.connections_in_both == 0 && !self.complete {
            self.match_across_addresses();
        }
        if !self.complete {
            self.try_other_fields(None);
        }
        for side in Side::BOTH {
            while let Some(copy) = self.pending[side as usize].take_oldest() {
                self.give_up(side, copy);
            }
        }
        outcome::resolve(self)
    }

    /// [`Joiner::finish`] for complete captures: the run ended at `end`, when the packets of `in_flight` had left and had
    /// not arrived at the side that each is given with.
    pub fn finish_complete(mut self, end: Time, in_flight: &[(Side, Packet)]) -> Joined {
        self.both_were_on_at(end);
        for side in Side::BOTH {
            self.end(side);
        }
        for (side, packet) in in_flight {
            let Some(direction) = self.directions.find(packet.tuple) else { continue };
            let (copy, from, rule) =
                (CapturedSegment::of(packet, direction), side.other() as usize, self.rule(direction));
            // Copies that nothing else tells apart arrive in order: the last of them is the one in flight.
            let age = |c: &CapturedSegment| Some(end.0.saturating_sub(c.time).unsigned_abs());
            if let Some(sent) = self.pending[from].take(&copy, copy.hash(rule), rule, age) {
                self.directions.one_fewer_waits(direction, side.other());
                self.records[from].in_flight.push(sent.number);
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
            self.offset_tracker.offset = if apart.abs() > CLOCKS_UNSET { apart } else { 0 };
        }
        loop {
            let side = match [self.queues[0].front(), self.queues[1].front()] {
                [Some(a), Some(b)] => {
                    let sender_first = a.time.saturating_add(self.offset_tracker.offset) <= b.time;
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

    fn take_in(&mut self, side: Side, packet: CapturedSegment) {
        let here = side as usize;
        self.at_work = Some(packet.direction);
        let record = &mut self.records[here];
        record.last_times = [record.last_times[1], packet.time];
        self.since_trial += 1;
        if self.is_after_the_other(side, packet.time) {
            let record = &mut self.records[here];
            record.outside.add(packet.number);
            record.comparable_span.1 = record.comparable_span.1.min(packet.time.saturating_sub(1));
            record.after_end.directions.insert(packet.direction);
            if packet.len > 0 && record.after_end.data.len() < usize::from(REMEMBERED_AT_MOST) {
                record.after_end.data.push(Unmatched::of(&packet));
            }
            return;
        }
        let mss = u32::from(self.directions.segment_payload(packet.direction));
        if packet.len <= mss || mss == 0 {
            self.match_or_wait(side, packet);
        } else {
            self.records[here].super_packets += 1;
            for segment in packet.segments(mss) {
                self.match_or_wait(side, segment);
            }
        }
        // Complete captures show every header as it was sent, so they need no trials; their packets wait to the end,
        // since an outage may delay them for long.
        if self.complete {
            return;
        }
        self.expire(side);
        let strangers = self.records.iter().all(|r| r.packets >= PACKETS_BEFORE_NAT);
        match self.translated {
            false if self.directions.connections_in_both == 0 && strangers => self.match_across_addresses(),
            true if self.directions.connections_in_both > 0
                && self.directions.translated_connections == 0 =>
            {
                self.translated = false;
                self.rematch_pending();
            }
            _ => {}
        }
        let canonical = self.directions.canonical(side, packet.direction);
        let direction = self.directions.get(canonical);
        let stuck = direction.waiting[0].min(direction.waiting[1]) >> direction.trial_backoff > 0;
        if stuck && self.since_trial * 4 > self.waiting() {
            self.try_other_fields(Some(canonical));
        }
    }

    /// True if one offset fits every packet that was found, whichever way it went: what lies between two places takes
    /// time. Of one direction alone only captures with the same times can be told.
    fn same_capture_point(&self) -> bool {
        let (least, greatest) = self.differences;
        let both_ways = (0..self.directions.len()).any(|w| {
            let (there, back) = (self.directions.get(w), self.directions.get(w ^ 1));
            w & 1 == 0 && there.matched > 0 && back.matched > 0
        });
        !self.complete && least == greatest && (both_ways || least == 0)
    }

    fn rule(&self, direction: u32) -> Rule {
        Rule { fields: self.directions.fields_of(direction), same_addresses: !self.translated }
    }

    /// Finds the copy's counterpart, or lets it wait for it.
    #[inline]
    fn match_or_wait(&mut self, side: Side, mut copy: CapturedSegment) {
        let rule = self.rule(copy.direction);
        let hash = copy.hash(rule);
        let directions = &self.directions;
        // Among copies that nothing tells apart the one with the same window is taken, then the one whose delay is
        // nearest to that of the last match.
        let usual = match directions.get(directions.canonical(side, copy.direction)) {
            direction if direction.matched > 0 => direction.last_difference,
            _ => self.offset_tracker.offset,
        };
        let translated = self.translated;
        let cost = |c: &CapturedSegment| {
            let (a, b) = pair(side, &copy, c);
            let possible = !translated || directions.may_be(a.direction, b.direction);
            let unlike = if a.window == b.window { 0 } else { u64::MAX / 2 };
            possible.then(|| (b.time.saturating_sub(a.time).abs_diff(usual) / 2).saturating_add(unlike))
        };
        match self.pending[side.other() as usize].take(&copy, hash, rule, cost) {
            Some(counterpart) => {
                let canonical = self.directions.canonical(side.other(), counterpart.direction);
                self.directions.one_fewer_waits(canonical, side.other());
                self.recent_matches[hash as usize % RECENT_MATCHES] = hash;
                let (a, b) = pair(side, &copy, &counterpart);
                self.found_in_both(side, a, b);
            }
            None => {
                copy.resembles_match |= self.recent_matches[hash as usize % RECENT_MATCHES] == hash;
                copy.is_duplicate |= copy.resembles_match && rule.fields.needs_ip_id() && copy.ip_id != 0;
                self.pending[side as usize].insert(copy, hash, rule);
                let canonical = self.directions.canonical(side, copy.direction);
                self.directions.get_mut(canonical).waiting[side as usize] += 1;
            }
        }
    }
}

/// A copy of `side` and its counterpart, the sender's capture first.
fn pair<'a>(
    side: Side,
    copy: &'a CapturedSegment,
    counterpart: &'a CapturedSegment,
) -> (&'a CapturedSegment, &'a CapturedSegment) {
    match side {
        Side::Sender => (copy, counterpart),
        Side::Receiver => (counterpart, copy),
    }
}
