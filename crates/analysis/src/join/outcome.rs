//! What the comparison of two captures says: each lost packet, the clocks, and what could not be known.

use super::clock::Clock;
use super::directions::Directions;
use super::limits::{Heard, Limits};
use super::pending::Pending;
use super::{Joiner, Miss, ONE_SIDED, PacketCount, Record, Side, Warning};
use crate::Fate;
use rustc_hash::FxHashMap;
use wire::{Host, Notes, Packet, Seq, Span, Time, Tuple};

/// A packet that was sent and never arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its number in the capture next to its sender.
    pub packet: u64,
    /// When it was sent, on the clock of the sender's capture whichever side it left from.
    pub time: Time,
    pub seq: Seq,
    /// Payload lost; less than the packet's if it is a super-packet of which a part arrived.
    pub bytes: u32,
    direction: u32,
}

/// What one of the two captures shows, held against the other.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub packets: u64,
    /// What left from this side and did not arrive, by packet number: a range of bytes each, several of a super-packet
    /// that was lost in parts.
    pub lost: Vec<Lost>,
    /// Packets that may have passed the other capture before it began, or after it ended.
    pub outside: u64,
    /// Copies that were captured twice here on leaving, or that came twice from the network.
    pub captured_twice: u64,
    pub came_twice: u64,
    /// Packets that left from this side, were seen arriving on the other side, and are not in this capture. What it dropped
    /// of the other direction cannot be told from what was lost, and is in the other side's `lost`.
    pub not_captured: u64,
    /// Data packets that came after one that was sent after them, by number.
    late: Vec<u64>,
    /// Of this packet number it is not known whether it arrived.
    unknown: Vec<u64>,
    /// Inside the network when both captures ended, by number.
    under_way: Vec<u64>,
    /// The other capture cannot hold what was sent outside this interval; own clock.
    comparable: (i64, i64),
}

impl Seen {
    /// Packets that did not arrive, or not whole.
    pub fn lost_packets(&self) -> u64 {
        self.lost.chunk_by(|a, b| a.packet == b.packet).count() as u64
    }
}

/// Every packet of two captures, found in the other one or known to be lost.
#[derive(Debug)]
pub struct Joined {
    /// Absent if no packet is in both.
    pub clock: Option<Clock>,
    /// Packets in both; a super-packet counts for its segments.
    pub matched: u64,
    /// The capture at the sender's side, and what was sent there and lost: data, as a rule.
    pub sender: Seen,
    /// The capture at the receiver's side, and what was sent there and lost: ACKs, as a rule.
    pub receiver: Seen,
    /// False where nothing can be known from one capture about the other: they have no packet in common, or are of
    /// one place. No fate is known then.
    pub comparable: bool,
    /// Most data come from the side of the receiver's capture.
    pub swapped: bool,
    pub warnings: Vec<Warning>,
    directions: Directions,
    /// By direction: whether it leaves from the sender's side, and whether its packets can be compared, by side.
    known: Vec<Known>,
    at: [usize; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    outward: Option<bool>,
    compared: [bool; 2],
}

impl Joined {
    /// The fate of a packet of the sender's capture. Cheapest in the order of that capture.
    pub fn fate(&mut self, packet: &Packet) -> Fate {
        self.fate_at(Side::Sender, packet)
    }

    /// The fate of a packet of either capture: of one that arrives there, that it does.
    pub fn fate_at(&mut self, side: Side, packet: &Packet) -> Fate {
        self.fates(side).of(packet)
    }

    /// A reader of fates for a pass over one capture.
    pub fn fates(&mut self, side: Side) -> Fates<'_> {
        let Joined { directions, known, at, sender, receiver, .. } = self;
        let seen = if side == Side::Sender { &*sender } else { &*receiver };
        Fates { seen, side, directions, known, at: &mut at[side as usize] }
    }

    /// The packets that left from the receiver's side and did not arrive, as the sender's side can ask for them.
    pub fn lost_acks(&self) -> LostAcks {
        let data = |l: &Lost| self.directions.tuple(l.direction).unwrap_or_default().reversed();
        let packets = self.receiver.lost.chunk_by(|a, b| a.packet == b.packet);
        LostAcks::new(packets.map(|parts| (data(&parts[0]), parts[0].time)))
    }

    /// Whether what is sent this way leaves from the receiver's side: the sender's capture sees it arrive.
    pub fn is_seen_remotely(&self, way: Tuple) -> bool {
        let known = self.directions.find(way).and_then(|direction| self.known.get(direction as usize));
        known.is_some_and(|known| known.outward == Some(false))
    }

    /// Who sent a lost packet, and to whom, by the addresses that the sender's capture shows.
    pub fn tuple(&self, lost: &Lost) -> Tuple {
        self.directions.tuple(lost.direction).unwrap_or_default()
    }
}

/// Tells the fate of the packets of one capture, in the order of that capture.
#[derive(Debug)]
pub struct Fates<'a> {
    seen: &'a Seen,
    side: Side,
    directions: &'a mut Directions,
    known: &'a [Known],
    at: &'a mut usize,
}

impl Fates<'_> {
    pub fn of(&mut self, packet: &Packet) -> Fate {
        let Some(direction) = self.directions.find_again(self.side, packet.tuple) else {
            return Fate::Unknown;
        };
        let known = self.known[direction as usize];
        let leaves = known.outward.map(|outward| outward == (self.side == Side::Sender));
        match leaves {
            Some(true) if known.compared[self.side as usize] => self.of_one_that_leaves(packet),
            Some(false) if packet.notes.has(Notes::BAD_CHECKSUM) => Fate::Damaged,
            Some(false) => Fate::Here,
            _ => Fate::Unknown,
        }
    }

    fn of_one_that_leaves(&mut self, packet: &Packet) -> Fate {
        let lost = &self.seen.lost;
        // Packets come in order as a rule, so the cursor moves by one; after a jump it is looked up.
        let at = &mut *self.at;
        let passed = |at: usize| lost.get(at).is_none_or(|l| l.packet >= packet.number);
        if !passed(*at) || (*at > 0 && lost[*at - 1].packet >= packet.number) {
            *at = match lost.get(*at + 1) {
                Some(next)
                    if passed(*at + 1)
                        && lost[*at].packet < packet.number
                        && next.packet >= packet.number =>
                {
                    *at + 1
                }
                _ => lost.partition_point(|l| l.packet < packet.number),
            };
        }
        // Parts of one super-packet stand one after the other.
        let parts = lost[*at..].iter().take_while(|l| l.packet == packet.number);
        let (n, bytes) = parts.fold((0, 0u64), |(n, bytes), l| (n + 1, bytes + u64::from(l.bytes)));
        if n > 0 {
            return match bytes >= u64::from(packet.seg.payload) {
                true => Fate::Lost,
                false => Fate::PartlyLost(bytes as u32),
            };
        }
        if self.seen.under_way.binary_search(&packet.number).is_ok() {
            return Fate::UnderWay;
        }
        let (from, to) = self.seen.comparable;
        let outside = packet.time.0 < from || packet.time.0 > to;
        if outside || self.seen.unknown.binary_search(&packet.number).is_ok() {
            return Fate::Unknown;
        }
        match self.seen.late.binary_search(&packet.number) {
            Ok(_) => Fate::Late,
            Err(_) => Fate::Arrived,
        }
    }
}

/// When packets that left from the receiver's side were lost, on the clock of the sender's capture.
#[derive(Clone, Debug, Default)]
pub struct LostAcks {
    /// In order, by the tuple of the data that they acknowledge.
    times: FxHashMap<Tuple, Vec<Time>>,
}

impl LostAcks {
    /// From the tuple of the data that each acknowledges, and when it left.
    pub fn new(lost: impl IntoIterator<Item = (Tuple, Time)>) -> LostAcks {
        let mut times: FxHashMap<Tuple, Vec<Time>> = FxHashMap::default();
        for (data, time) in lost {
            times.entry(data).or_default().push(time);
        }
        times.values_mut().for_each(|times| times.sort_unstable());
        LostAcks { times }
    }

    /// How many ACKs of the data of `tuple` were lost that left between `from` and `to`, both included.
    pub fn between(&self, tuple: Tuple, from: Time, to: Time) -> u32 {
        let times = self.of(tuple);
        let before = times.partition_point(|t| *t < from);
        let until = times.partition_point(|t| *t <= to);
        until.saturating_sub(before) as u32
    }
    /// When each lost ACK of the data of `tuple` left, in order.
    pub fn of(&self, tuple: Tuple) -> &[Time] {
        self.times.get(&tuple).map_or(&[], Vec::as_slice)
    }
}

/// Sorts what found no counterpart: lost, not captured, seen twice, or not to be known.
pub(super) fn resolve(mut j: Joiner) -> Joined {
    let clock = j.comparison.clock();
    let clock = match (j.whole, clock) {
        (true, Some(seen)) => Some(Clock::common(seen.rtt_floor, seen.samples)),
        (true, None) => Some(Clock::common(None, [0; 2])),
        (false, seen) => seen,
    };
    // What waited was placed: what is found out below is all that is kept of it.
    j.pending = [Pending::new(), Pending::new()];
    let known = known(&j.directions, j.whole);
    let records = std::mem::replace(&mut j.records, [Record::new(), Record::new()]);
    let spans = [records[0].span, records[1].span];
    let [mut sender, mut receiver] = [Seen::default(), Seen::default()];
    let super_packets = [records[0].super_packets, records[1].super_packets];
    for (side, record) in Side::BOTH.into_iter().zip(records) {
        let (here, there) = match side {
            Side::Sender => (&mut sender, &mut receiver),
            Side::Receiver => (&mut receiver, &mut sender),
        };
        here.packets = record.packets;
        let mut outside_packets = record.outside;
        let [mut came_twice, mut captured_twice, mut not_captured] = [PacketCount::default(); 3];
        here.under_way = record.under_way;
        here.under_way.sort_unstable();
        here.late = record.late;
        here.late.sort_unstable();
        here.late.dedup();
        let (Some(clock), Some(other)) = (&clock, spans[side.other() as usize]) else {
            here.comparable = (i64::MAX, i64::MIN);
            here.outside = record.packets;
            continue;
        };
        let limits = (!j.whole).then(|| Limits::new(clock, side, other, Span(j.pace.largest_delay)));
        here.comparable = record.comparable;
        let way = |miss: &Miss| {
            let direction = j.directions.home(side, miss.direction);
            let k = known[direction as usize];
            let outward = k.outward.filter(|_| k.compared[side as usize])?;
            Some((direction, outward == (side == Side::Sender)))
        };
        let heard = limits.as_ref().map(|l| {
            let mut heard = Heard::new(spans[side as usize]);
            record.beyond.seen.iter().for_each(|&w| {
                match known[j.directions.home(side, w) as usize].outward {
                    Some(outward) if outward == (side == Side::Sender) => {}
                    _ => heard.note(&j.directions, w),
                }
            });
            for (miss, (direction, _)) in
                record.misses.iter().filter_map(|m| Some((m, way(m).filter(|w| !w.1)?)))
            {
                let again = miss.twin || miss.alike;
                if !again && l.after(j.directions.get(direction), miss, false) {
                    heard.note(&j.directions, miss.direction);
                }
            }
            heard
        });
        let unanswered = |direction: u32, miss: &Miss| {
            let (Some(limits), Some(heard)) = (&limits, &heard) else { return false };
            heard.is_unanswered(&j.directions, direction, miss, limits)
        };
        for miss in &record.beyond.data {
            if let Some((direction, true)) = way(miss)
                && !miss.twin
                && unanswered(direction, miss)
            {
                here.lost.push(lost(clock, side, direction, miss));
                outside_packets.packets -= 1;
            }
        }
        for miss in record.misses {
            let Some((direction, leaves)) = way(&miss) else { continue };
            let outside =
                || limits.as_ref().is_some_and(|l| l.outside(j.directions.get(direction), &miss, leaves));
            if !leaves {
                let count = match () {
                    () if miss.twin || miss.alike => &mut came_twice,
                    () if outside() => &mut outside_packets,
                    () => &mut not_captured,
                };
                count.add(miss.number);
            } else if (limits.is_some() && miss.twin) || (outside() && !unanswered(direction, &miss)) {
                let count = if miss.twin { &mut captured_twice } else { &mut outside_packets };
                count.add(miss.number);
                here.unknown.push(miss.number);
            } else {
                here.lost.push(lost(clock, side, direction, &miss));
            }
        }
        here.outside = outside_packets.packets + here.under_way.len() as u64;
        (here.came_twice, here.captured_twice) = (came_twice.packets, captured_twice.packets);
        there.not_captured = not_captured.packets;
        here.lost.sort_unstable_by_key(|l| (l.packet, l.seq.0));
        here.unknown.sort_unstable();
    }
    let swapped = swapped(&j.directions);
    // Where something was lost on the way there was one, however coarse the clock that shows it.
    let one_place = j.one_place() && sender.lost.is_empty() && receiver.lost.is_empty();
    let mut joined = Joined {
        clock,
        matched: j.matched,
        comparable: j.matched > 0 && !one_place || j.whole,
        sender,
        receiver,
        swapped,
        warnings: Vec::new(),
        directions: j.directions,
        known,
        at: [0; 2],
    };
    joined.warnings = joined.warnings(spans, super_packets);
    joined.directions.forget();
    joined
}

fn lost(clock: &Clock, side: Side, direction: u32, miss: &Miss) -> Lost {
    let time = match side {
        Side::Sender => Time(miss.time),
        Side::Receiver => clock.to_sender(Time(miss.time)),
    };
    Lost { packet: miss.number, time, seq: Seq(miss.seq), bytes: miss.len, direction }
}

/// Which direction leads where, and whether both captures looked at it.
fn known(directions: &Directions, whole: bool) -> Vec<Known> {
    let mut side_of: FxHashMap<Host, i64> = FxHashMap::default();
    // Hosts between which one capture alone shows a way: whether both show another.
    let mut between: FxHashMap<(Host, Host), bool> = FxHashMap::default();
    let tuple = |direction: u32| directions.tuple(direction).unwrap_or_default();
    let hosts = |direction: u32| (tuple(direction).src.host, tuple(direction).dst.host);
    let by = |direction: u32| Side::BOTH.map(|side| directions.shown(side, direction));
    if !whole {
        (0..directions.len())
            .filter(|&w| by(w)[0] != by(w)[1])
            .for_each(|w| _ = between.insert(hosts(w), false));
    }
    for direction in 0..directions.len() {
        let t = tuple(direction);
        if let Some(outward) = directions.outward(direction) {
            *side_of.entry(t.src.host).or_default() += if outward { 1 } else { -1 };
            *side_of.entry(t.dst.host).or_default() -= if outward { 1 } else { -1 };
        }
        if !between.is_empty()
            && by(direction) == [true; 2]
            && let Some(both) = between.get_mut(&hosts(direction))
        {
            *both = true;
        }
    }
    let by_host = |direction: u32| {
        let votes = |h: Host| side_of.get(&h).copied().unwrap_or(0);
        let t = tuple(direction);
        let sum = votes(t.src.host) - votes(t.dst.host);
        (sum != 0).then_some(sum > 0)
    };
    // Without packets of both directions, the caller's word counts: the data leave from the sender's side.
    let by_data = |direction: u32| {
        let bytes = |w: u32| directions.get(w).bytes[0].max(directions.get(w).bytes[1]);
        (bytes(direction) != bytes(direction ^ 1)).then_some(bytes(direction) > bytes(direction ^ 1))
    };
    // Captures that lack nothing show a packet where it was sent: what only one of them has came from there.
    let by_sight = |direction: u32| {
        let seen = directions.get(direction).seen;
        (whole && seen[0] != seen[1]).then_some(seen[0])
    };
    let one = |direction: u32| {
        let w = directions.get(direction);
        let compared = Side::BOTH.map(|side| {
            // A connection of which one capture shows nothing: lost from its first packet on, if other
            // connections between the same hosts are in both; else it took another way.
            let others = || between.get(&hosts(direction)).is_some_and(|both| *both);
            whole
                || directions.shown(side.other(), direction)
                || w.unmatched[side as usize] <= ONE_SIDED && others()
        });
        let outward = match directions.peer(direction) {
            // The receiver's side of a translated connection: what is known is kept at the sender's.
            Some(peer) if !w.seen[0] => directions.outward(peer),
            _ => directions.outward(direction),
        };
        let outward = outward
            .or_else(|| by_sight(direction))
            .or_else(|| by_host(direction))
            .or_else(|| by_data(direction));
        Known { outward, compared }
    };
    (0..directions.len()).map(one).collect()
}

/// True if more data came inwards than went outwards, over connections that show which is which.
fn swapped(directions: &Directions) -> bool {
    let mut bytes = [0u64; 2];
    for direction in 0..directions.len() {
        if let Some(outward) = directions.outward(direction) {
            let w = directions.get(direction);
            bytes[usize::from(outward)] += w.bytes[0].max(w.bytes[1]);
        }
    }
    bytes[0] > bytes[1]
}

impl Joined {
    fn warnings(&self, spans: [Option<(i64, i64)>; 2], super_packets: [u64; 2]) -> Vec<Warning> {
        let mut all = Vec::new();
        if let [Some(a), Some(b)] = spans
            && self.matched == 0
        {
            let times = |(first, last)| (Time(first), Time(last));
            let same = self.directions.common > 0;
            all.push(if same {
                Warning::NoCommonPackets { sender: times(a), receiver: times(b) }
            } else {
                Warning::OtherTransfers
            });
            return all;
        }
        if !self.comparable {
            return vec![Warning::OnePlace];
        }
        if self.swapped {
            all.push(Warning::Swapped);
        }
        if let Some(c) = &self.clock {
            if c.rtt_floor.is_none() {
                all.push(Warning::OneDirection);
            } else if c.wander > Span::from_millis(10) && c.wander > c.rtt_floor.unwrap_or(Span::MAX) {
                all.push(Warning::ClockStepped { by: c.wander });
            }
        }
        all.extend(self.translated());
        all.extend(self.fields_ignored());
        // By how much the other capture ends earlier; a round trip is no news.
        let early = |side: Side| {
            let (here, there) = (spans[side as usize]?.1, spans[side.other() as usize]?.1);
            let clock = self.clock.as_ref()?;
            let early = Time(here) - clock.to(side, Time(there));
            (early > clock.rtt_floor.unwrap_or(Span::ZERO)).then_some(early)
        };
        for side in Side::BOTH {
            let seen = if side == Side::Sender { &self.sender } else { &self.receiver };
            let alone = (0..self.directions.len())
                .filter(|&w| {
                    self.directions.shown(side, w) && !self.known[w as usize].compared[side as usize]
                })
                .count() as u64;
            let found = [
                (alone, Warning::OneSided { shown_by: side, directions: alone }),
                (
                    super_packets[side as usize],
                    Warning::Offloads { side, packets: super_packets[side as usize] },
                ),
                (seen.not_captured, Warning::NotCaptured { lacked_by: side, packets: seen.not_captured }),
                (
                    seen.outside,
                    Warning::Outside { side, packets: seen.outside, ended_earlier_by: early(side) },
                ),
            ];
            all.extend(found.into_iter().filter(|(n, _)| *n > 0).map(|(_, w)| w));
        }
        all
    }

    fn translated(&self) -> Option<Warning> {
        let direction = (0..self.directions.len())
            .find(|&w| self.directions.get(w).seen[0] && self.directions.peer(w).is_some())?;
        let peer = self.directions.peer(direction)?;
        Some(Warning::Translated {
            sender: self.directions.tuple(direction)?,
            receiver: self.directions.tuple(peer)?,
        })
    }

    /// For each set of fields that some directions were compared without, how many these are.
    fn fields_ignored(&self) -> Vec<Warning> {
        let mut kinds: Vec<([bool; 3], u64)> = Vec::new();
        for direction in 0..self.directions.len() {
            let facts = self.directions.facts_of(direction);
            if self.directions.get(direction).matched == 0 || facts.is_full() {
                continue;
            }
            match kinds.iter_mut().find(|(fields, _)| *fields == facts.left_out()) {
                Some((_, directions)) => *directions += 1,
                None => kinds.push((facts.left_out(), 1)),
            }
        }
        let warning = |([ip_id, options, ack], directions): ([bool; 3], u64)| Warning::FieldsIgnored {
            ip_id,
            options,
            ack,
            directions,
        };
        kinds.into_iter().map(warning).collect()
    }
}
