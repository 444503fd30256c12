//! What the comparison of two captures says: each lost packet, the clocks, and what could not be known.

use super::clock::Clock;
use super::coverage::{Coverage, Heard};
use super::directions::Directions;
use super::offers::Offers;
use super::pending::Pending;
use super::{Joiner, PacketCount, REMEMBERED_AT_MOST, Record, Side, Unmatched, Warning};
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
pub struct SideResult {
    pub packets: u64,
    /// Packets that left from this side and did not arrive, by number: a range of bytes each, several of a super-packet that was
    /// lost in parts.
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
    reordered: Vec<u64>,
    /// Packet numbers of which it is not known whether they arrived.
    unknown: Vec<u64>,
    /// Inside the network when both captures ended, by number.
    in_flight: Vec<u64>,
    /// The other capture cannot hold what was sent outside this interval; own clock.
    comparable_span: (i64, i64),
}

impl SideResult {
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
    pub sender: SideResult,
    /// The capture at the receiver's side, and what was sent there and lost: ACKs, as a rule.
    pub receiver: SideResult,
    /// False where nothing can be known from one capture about the other: they have no packet in common, or are of
    /// one place. No fate is known then.
    pub comparable: bool,
    /// Most data come from the side of the receiver's capture.
    pub swapped: bool,
    pub warnings: Vec<Warning>,
    directions: Directions,
    /// By direction: whether it leaves from the sender's side, and whether its packets can be compared, by side.
    roles: Vec<Role>,
    cursors: [usize; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Role {
    outward: Option<bool>,
    is_compared: [bool; 2],
}

impl Joined {
    /// The fate of a packet of the sender's capture. Cheapest in the order of that capture.
    pub fn fate(&mut self, packet: &Packet) -> Fate {
        self.fate_at(Side::Sender, packet)
    }

    /// The fate of a packet of either capture; a packet that arrives in that capture has [`Fate::SeenArriving`].
    pub fn fate_at(&mut self, side: Side, packet: &Packet) -> Fate {
        self.fates(side).of(packet)
    }

    /// A reader of fates for a pass over one capture.
    pub fn fates(&mut self, side: Side) -> Fates<'_> {
        let Joined { directions, roles, cursors, sender, receiver, .. } = self;
        let seen = if side == Side::Sender { &*sender } else { &*receiver };
        Fates { seen, side, directions, roles, cursor: &mut cursors[side as usize] }
    }

    /// The packets that left from the receiver's side and did not arrive, by the tuple of the data that they acknowledge.
    pub fn lost_ack_segments(&self) -> LostAckSegments {
        let data = |l: &Lost| self.directions.tuple(l.direction).unwrap_or_default().reversed();
        let packets = self.receiver.lost.chunk_by(|a, b| a.packet == b.packet);
        LostAckSegments::new(packets.map(|parts| (data(&parts[0]), parts[0].time)))
    }

    /// Whether packets of this direction leave from the receiver's side, so that the sender's capture sees them arrive.
    pub fn leaves_receiver_side(&self, role_of: Tuple) -> bool {
        let roles = self.directions.find(role_of).and_then(|direction| self.roles.get(direction as usize));
        roles.is_some_and(|roles| roles.outward == Some(false))
    }

    /// Who sent a lost packet, and to whom, by the addresses that the sender's capture shows.
    pub fn tuple(&self, lost: &Lost) -> Tuple {
        self.directions.tuple(lost.direction).unwrap_or_default()
    }
}

/// Tells the fate of the packets of one capture, in the order of that capture.
#[derive(Debug)]
pub struct Fates<'a> {
    seen: &'a SideResult,
    side: Side,
    directions: &'a mut Directions,
    roles: &'a [Role],
    cursor: &'a mut usize,
}

impl Fates<'_> {
    pub fn of(&mut self, packet: &Packet) -> Fate {
        let Some(direction) = self.directions.find_cached(self.side, packet.tuple) else {
            return Fate::Unknown;
        };
        let role = self.roles[direction as usize];
        let leaves = role.outward.map(|outward| outward == (self.side == Side::Sender));
        match leaves {
            Some(true) if role.is_compared[self.side as usize] => self.of_one_that_leaves(packet),
            Some(false) if packet.notes.has(Notes::BAD_CHECKSUM) => Fate::Damaged,
            Some(false) => Fate::SeenArriving,
            _ => Fate::Unknown,
        }
    }

    fn of_one_that_leaves(&mut self, packet: &Packet) -> Fate {
        let lost = &self.seen.lost;
        // Packets come in order as a rule, so the cursor moves by one; after a jump it is looked up.
        let at = &mut *self.cursor;
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
        if self.seen.in_flight.binary_search(&packet.number).is_ok() {
            return Fate::UnderWay;
        }
        let (from, to) = self.seen.comparable_span;
        let outside = packet.time.0 < from || packet.time.0 > to;
        if outside || self.seen.unknown.binary_search(&packet.number).is_ok() {
            return Fate::Unknown;
        }
        match self.seen.reordered.binary_search(&packet.number) {
            Ok(_) => Fate::Late,
            Err(_) => Fate::Arrived,
        }
    }
}

/// When packets that left from the receiver's side and were lost had left, on the clock of the sender's capture: pure ACKs,
/// and data, which carry an ACK as well.
#[derive(Clone, Debug, Default)]
pub struct LostAckSegments {
    /// In order, by the tuple of the data that they acknowledge.
    times: FxHashMap<Tuple, Vec<Time>>,
}

impl LostAckSegments {
    /// From the tuple of the data that each acknowledges, and when it left.
    pub fn new(lost: impl IntoIterator<Item = (Tuple, Time)>) -> LostAckSegments {
        let mut times: FxHashMap<Tuple, Vec<Time>> = FxHashMap::default();
        for (data, time) in lost {
            times.entry(data).or_default().push(time);
        }
        times.values_mut().for_each(|times| times.sort_unstable());
        LostAckSegments { times }
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
    let clock = j.clock_filter.clock();
    let clock = match (j.complete, clock) {
        (true, Some(seen)) => Some(Clock::common(seen.rtt_floor, seen.samples)),
        (true, None) => Some(Clock::common(None, [0; 2])),
        (false, seen) => seen,
    };
    // No packet waits any more: free the tables.
    j.pending = [Pending::new(), Pending::new()];
    let roles = roles(&j.directions, j.complete);
    let records = std::mem::replace(&mut j.records, [Record::new(), Record::new()]);
    let spans = [records[0].span, records[1].span];
    let [mut sender, mut receiver] = [SideResult::default(), SideResult::default()];
    let super_packets = [records[0].super_packets, records[1].super_packets];
    for (side, record) in Side::BOTH.into_iter().zip(records) {
        let (here, there) = match side {
            Side::Sender => (&mut sender, &mut receiver),
            Side::Receiver => (&mut receiver, &mut sender),
        };
        here.packets = record.packets;
        let mut outside_packets = record.outside;
        let [mut came_twice, mut captured_twice, mut not_captured] = [PacketCount::default(); 3];
        here.in_flight = record.in_flight;
        here.in_flight.sort_unstable();
        here.reordered = record.reordered;
        here.reordered.sort_unstable();
        here.reordered.dedup();
        let (Some(clock), Some(other)) = (&clock, spans[side.other() as usize]) else {
            here.comparable_span = (i64::MAX, i64::MIN);
            here.outside = record.packets;
            continue;
        };
        let coverage = (!j.complete)
            .then(|| Coverage::new(clock, side, other, Span(j.offset_tracker.largest_deviation)));
        here.comparable_span = record.comparable_span;
        let role_of = |unmatched: &Unmatched| {
            let direction = j.directions.canonical(side, unmatched.direction);
            let k = roles[direction as usize];
            let outward = k.outward.filter(|_| k.is_compared[side as usize])?;
            Some((direction, outward == (side == Side::Sender)))
        };
        let heard = coverage.as_ref().map(|l| {
            let mut heard = Heard::new(spans[side as usize]);
            record.after_end.directions.iter().for_each(|&d| {
                match roles[j.directions.canonical(side, d) as usize].outward {
                    Some(outward) if outward == (side == Side::Sender) => {}
                    _ => heard.note(&j.directions, d),
                }
            });
            for (unmatched, (direction, _)) in
                record.unmatched.iter().filter_map(|m| Some((m, role_of(m).filter(|d| !d.1)?)))
            {
                let again = unmatched.is_duplicate || unmatched.resembles_match;
                if !again && l.after(j.directions.get(direction), unmatched, false) {
                    heard.note(&j.directions, unmatched.direction);
                }
            }
            heard
        });
        let unanswered = |direction: u32, unmatched: &Unmatched| {
            let (Some(coverage), Some(heard)) = (&coverage, &heard) else { return false };
            heard.is_unanswered(&j.directions, direction, unmatched, coverage)
        };
        for unmatched in &record.after_end.data {
            if let Some((direction, true)) = role_of(unmatched)
                && !unmatched.is_duplicate
                && unanswered(direction, unmatched)
            {
                here.lost.push(lost(clock, side, direction, unmatched));
                outside_packets.packets -= 1;
            }
        }
        for unmatched in record.unmatched {
            let Some((direction, leaves)) = role_of(&unmatched) else { continue };
            let outside = || {
                coverage.as_ref().is_some_and(|l| l.outside(j.directions.get(direction), &unmatched, leaves))
            };
            if !leaves {
                let count = match () {
                    () if unmatched.is_duplicate || unmatched.resembles_match => &mut came_twice,
                    () if outside() => &mut outside_packets,
                    () => &mut not_captured,
                };
                count.add(unmatched.number);
            } else if (coverage.is_some() && unmatched.is_duplicate)
                || (outside() && !unanswered(direction, &unmatched))
            {
                let count = if unmatched.is_duplicate { &mut captured_twice } else { &mut outside_packets };
                count.add(unmatched.number);
                here.unknown.push(unmatched.number);
            } else {
                here.lost.push(lost(clock, side, direction, &unmatched));
            }
        }
        here.outside = outside_packets.packets + here.in_flight.len() as u64;
        (here.came_twice, here.captured_twice) = (came_twice.packets, captured_twice.packets);
        there.not_captured = not_captured.packets;
        here.lost.sort_unstable_by_key(|l| (l.packet, l.seq.0));
        here.unknown.sort_unstable();
    }
    let swapped = swapped(&j.directions);
    // A loss between the captures proves two capture points, however coarse the clocks.
    let same_capture_point = j.same_capture_point() && sender.lost.is_empty() && receiver.lost.is_empty();
    let mut joined = Joined {
        clock,
        matched: j.matched,
        comparable: j.matched > 0 && !same_capture_point || j.complete,
        sender,
        receiver,
        swapped,
        warnings: Vec::new(),
        directions: j.directions,
        roles,
        cursors: [0; 2],
    };
    joined.warnings = joined.warnings(spans, super_packets);
    joined.warnings.extend(joined.rewritten(&j.offers));
    joined.directions.forget();
    joined
}

fn lost(clock: &Clock, side: Side, direction: u32, unmatched: &Unmatched) -> Lost {
    let time = match side {
        Side::Sender => Time(unmatched.time),
        Side::Receiver => clock.to_sender(Time(unmatched.time)),
    };
    Lost { packet: unmatched.number, time, seq: Seq(unmatched.seq), bytes: unmatched.len, direction }
}

/// Which direction leaves from which side, and whether its packets can be compared.
fn roles(directions: &Directions, complete: bool) -> Vec<Role> {
    let mut host_votes: FxHashMap<Host, i64> = FxHashMap::default();
    // Hosts with a direction that one capture alone shows: whether both captures show another direction of them.
    let mut one_sided_hosts: FxHashMap<(Host, Host), bool> = FxHashMap::default();
    let tuple = |direction: u32| directions.tuple(direction).unwrap_or_default();
    let hosts = |direction: u32| (tuple(direction).src.host, tuple(direction).dst.host);
    let by = |direction: u32| Side::BOTH.map(|side| directions.is_shown(side, direction));
    if !complete {
        (0..directions.len())
            .filter(|&d| by(d)[0] != by(d)[1])
            .for_each(|d| _ = one_sided_hosts.insert(hosts(d), false));
    }
    for direction in 0..directions.len() {
        let t = tuple(direction);
        if let Some(outward) = directions.outward(direction) {
            *host_votes.entry(t.src.host).or_default() += if outward { 1 } else { -1 };
            *host_votes.entry(t.dst.host).or_default() -= if outward { 1 } else { -1 };
        }
        if !one_sided_hosts.is_empty()
            && by(direction) == [true; 2]
            && let Some(both) = one_sided_hosts.get_mut(&hosts(direction))
        {
            *both = true;
        }
    }
    let by_host = |direction: u32| {
        let votes = |h: Host| host_votes.get(&h).copied().unwrap_or(0);
        let t = tuple(direction);
        let sum = votes(t.src.host) - votes(t.dst.host);
        (sum != 0).then_some(sum > 0)
    };
    // Without packets of both directions, the caller's word counts: the data leave from the sender's side.
    let by_data = |direction: u32| {
        let bytes = |d: u32| directions.get(d).bytes[0].max(directions.get(d).bytes[1]);
        (bytes(direction) != bytes(direction ^ 1)).then_some(bytes(direction) > bytes(direction ^ 1))
    };
    // Captures that lack nothing show a packet where it was sent: what only one of them has came from there.
    let by_sight = |direction: u32| {
        let seen = directions.get(direction).seen;
        (complete && seen[0] != seen[1]).then_some(seen[0])
    };
    let one = |direction: u32| {
        let d = directions.get(direction);
        let is_compared = Side::BOTH.map(|side| {
            // A connection of which one capture shows nothing: lost from its first packet on, if other
            // connections between the same hosts are in both; else it took another path.
            let others = || one_sided_hosts.get(&hosts(direction)).is_some_and(|both| *both);
            complete
                || directions.is_shown(side.other(), direction)
                || d.unmatched[side as usize] <= REMEMBERED_AT_MOST && others()
        });
        let outward = match directions.translation(direction) {
            // The receiver's side of a translated connection: what is known is kept at the sender's.
            Some(translation) if !d.seen[0] => directions.outward(translation),
            _ => directions.outward(direction),
        };
        let outward = outward
            .or_else(|| by_sight(direction))
            .or_else(|| by_host(direction))
            .or_else(|| by_data(direction));
        Role { outward, is_compared }
    };
    (0..directions.len()).map(one).collect()
}

/// True if more data came inwards than went outwards, over connections that show which is which.
fn swapped(directions: &Directions) -> bool {
    let mut bytes = [0u64; 2];
    for direction in 0..directions.len() {
        if let Some(outward) = directions.outward(direction) {
            let d = directions.get(direction);
            bytes[usize::from(outward)] += d.bytes[0].max(d.bytes[1]);
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
            let same = self.directions.connections_in_both > 0;
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
        // By how much the other capture ends earlier; less than the shortest round trip is not reported.
        let early = |side: Side| {
            let (here, there) = (spans[side as usize]?.1, spans[side.other() as usize]?.1);
            let clock = self.clock.as_ref()?;
            let early = Time(here) - clock.to(side, Time(there));
            (early > clock.rtt_floor.unwrap_or(Span::ZERO)).then_some(early)
        };
        for side in Side::BOTH {
            let seen = if side == Side::Sender { &self.sender } else { &self.receiver };
            let not_comparable = (0..self.directions.len())
                .filter(|&d| {
                    self.directions.is_shown(side, d) && !self.roles[d as usize].is_compared[side as usize]
                })
                .count() as u64;
            let found = [
                (not_comparable, Warning::OneSided { shown_by: side, directions: not_comparable }),
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
            all.extend(found.into_iter().filter(|(n, _)| *n > 0).map(|(_, d)| d));
        }
        all
    }

    fn translated(&self) -> Option<Warning> {
        let direction = (0..self.directions.len())
            .find(|&d| self.directions.get(d).seen[0] && self.directions.translation(d).is_some())?;
        let translation = self.directions.translation(direction)?;
        Some(Warning::Translated {
            sender: self.directions.tuple(direction)?,
            receiver: self.directions.tuple(translation)?,
        })
    }

    /// The warning that the path changed options of SYNs, in directions whose packets can be compared.
    fn rewritten(&self, offers: &Offers) -> Option<Warning> {
        if !self.comparable {
            return None;
        }
        let outward = |direction: u32| self.roles.get(direction as usize).and_then(|r| r.outward);
        let all = offers.rewritten(outward);
        all.first().map(|&first| Warning::Rewritten { first, directions: all.len() as u64 })
    }

    /// For each set of fields that some directions were compared without, how many these are.
    fn fields_ignored(&self) -> Vec<Warning> {
        let mut kinds: Vec<([bool; 3], u64)> = Vec::new();
        for direction in 0..self.directions.len() {
            let fields = self.directions.fields_of(direction);
            if self.directions.get(direction).matched == 0 || fields.is_all() {
                continue;
            }
            match kinds.iter_mut().find(|(ignored, _)| *ignored == fields.left_out()) {
                Some((_, directions)) => *directions += 1,
                None => kinds.push((fields.left_out(), 1)),
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
