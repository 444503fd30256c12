//! Watches what all flows between two hosts deliver together: capacity, sharing, policers and outages are facts of a
//! path, not of one flow.
//!
//! Flows report each round trip when it is over, so that a packet costs nothing here. Bins are aligned to powers of two
//! of nanoseconds: when a path has more bins than it may have, each two neighbours become one. Counts are spread over bins by a
//! cumulative sum that is the same at every width, so the rows do not depend on how connections were divided among
//! threads, nor on the order in which they ended.
//!
//! Memory is bounded: a path has [`MAX_BINS_PER_PATH`] bins where a capture has few paths, and fewer where it has many. Where
//! there would be more than [`MAX_PATHS`] paths, half of them are dropped, chosen by a hash of their two addresses.

use crate::rows::{PathRow, RoundRow};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use wire::{Host, Span, Time};

/// Bins kept for one direction of a path.
pub const MAX_BINS_PER_PATH: usize = 512;
/// Bins kept for all paths together.
pub const MAX_BINS: usize = 1 << 16;

/// Directions of paths that are kept.
pub const MAX_PATHS: usize = 1 << 14;

/// The width of the first bins: 2^23 ns, about 8 ms.
const FINEST: u32 = 23;

/// How many bins each of so many paths may have.
fn bins_per_path(paths: usize) -> usize {
    (MAX_BINS / paths.next_power_of_two()).min(MAX_BINS_PER_PATH)
}

/// Bytes and round trips of one flow within one of its rounds, or in all its life if it was too short for rounds.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    pub start: Time,
    pub end: Time,
    /// The longest time in it in which nothing was delivered.
    pub silence: (Time, Time),
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    pub resent_bytes: u64,
    pub delivered_bytes: u64,
    pub rtt_min: Option<Span>,
    pub rtt_sum: Span,
    pub rtt_n: u32,
}

impl Stretch {
    /// With times relative to `origin`, so that bins do not depend on the date of the capture.
    #[must_use]
    pub fn since(&self, origin: Time) -> Stretch {
        let since = |t: Time| Time(t.0.saturating_sub(origin.0));
        Stretch {
            start: since(self.start),
            end: since(self.end),
            silence: (since(self.silence.0), since(self.silence.1)),
            ..*self
        }
    }

    pub fn of(round: &RoundRow, silence: (Time, Time)) -> Stretch {
        Stretch {
            start: round.start,
            end: round.end,
            silence,
            sent_bytes: round.sent_bytes,
            resent_bytes: round.resent_bytes,
            delivered_bytes: round.delivered_bytes,
            rtt_min: round.rtt_min,
            rtt_sum: round.rtt_sum,
            rtt_n: round.rtt_n,
        }
    }
}

/// 56 bytes with its number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    sent_bytes: u64,
    resent_bytes: u64,
    delivered_bytes: u64,
    /// [`Span::MAX`] where there was none.
    rtt_min: Span,
    rtt_sum: Span,
    rtt_n: u32,
    lost_copies: u32,
}

impl Default for Bin {
    fn default() -> Bin {
        Bin {
            sent_bytes: 0,
            resent_bytes: 0,
            delivered_bytes: 0,
            rtt_min: Span::MAX,
            rtt_sum: Span::ZERO,
            rtt_n: 0,
            lost_copies: 0,
        }
    }
}

impl Bin {
    fn add(&mut self, other: &Bin) {
        self.sent_bytes += other.sent_bytes;
        self.resent_bytes += other.resent_bytes;
        self.delivered_bytes += other.delivered_bytes;
        self.rtt_min = self.rtt_min.min(other.rtt_min);
        self.rtt_sum += other.rtt_sum;
        self.rtt_n = self.rtt_n.saturating_add(other.rtt_n);
        self.lost_copies = self.lost_copies.saturating_add(other.lost_copies);
    }
}

/// The counts of a stretch up to a moment in it.
#[derive(Clone, Copy, Default)]
struct Counts([u64; 5]);

impl Counts {
    /// `part`: the fraction of the stretch, in units of 2^-32.
    fn upto(s: &Stretch, part: u64) -> Counts {
        let share = |n: u64| ((u128::from(n) * u128::from(part)) >> 32) as u64;
        // The sum goes where its round trips go: else a bin would have time without any.
        let trips = share(u64::from(s.rtt_n));
        let mean_ns = s.rtt_sum.0.max(0) as u128 / u128::from(s.rtt_n.max(1));
        let time = (mean_ns * u128::from(trips)) as u64;
        Counts([share(s.sent_bytes), share(s.resent_bytes), share(s.delivered_bytes), time, trips])
    }
    fn since(self, before: Counts) -> Counts {
        Counts(std::array::from_fn(|i| self.0[i] - before.0[i]))
    }
    fn is_zero(self) -> bool {
        self.0 == [0; 5]
    }
}

/// One direction between two hosts.
#[derive(Clone, Debug)]
struct Path {
    /// Bins are 2^shift nanoseconds wide.
    shift: u32,
    /// By number, in order. Most paths have few, and rows come nearly in the order of time.
    bins: Vec<(i64, Bin)>,
}

impl Default for Path {
    fn default() -> Path {
        Path { shift: FINEST, bins: Vec::new() }
    }
}

impl Path {
    fn number(&self, time: Time) -> i64 {
        time.0 >> self.shift
    }

    fn bin(&mut self, number: i64) -> &mut Bin {
        let at = match self.bins.last() {
            Some((last, _)) if *last == number => self.bins.len() - 1,
            Some((last, _)) if *last < number => self.bins.len(),
            _ => self.bins.partition_point(|(n, _)| *n < number),
        };
        if self.bins.get(at).is_none_or(|(n, _)| *n != number) {
            self.bins.insert(at, (number, Bin::default()));
        }
        &mut self.bins[at].1
    }

    fn add(&mut self, s: &Stretch, most: usize) {
        let end = s.end.max(s.start);
        // A stretch of hours needs wider bins before its counts are spread over them.
        while self.number(end) - self.number(s.start) >= MAX_BINS_PER_PATH as i64 {
            self.widen();
        }
        let (first, last) = (self.number(s.start), self.number(end));
        // Times from a capture may be far apart: in 128 bits nothing overflows.
        let start = i128::from(s.start.0);
        let (gap_start, gap_end) = (i128::from(s.silence.0.0), i128::from(s.silence.1.0));
        let active = |at: i128| (at - start - (at.min(gap_end) - gap_start).max(0)).max(0) as u128;
        let length = active(i128::from(end.0)).max(1);
        let mut before = Counts::default();
        for number in first..=last {
            // Bytes that are delivered as the stretch ends belong to its last bin.
            let part = match number == last {
                true => 1 << 32,
                false => {
                    ((active((i128::from(number) + 1) << self.shift) << 32) / length).min(1 << 32) as u64
                }
            };
            let upto = Counts::upto(s, part);
            let here = upto.since(before);
            before = upto;
            // Bins that got nothing are skipped, so that a long and sparse stretch costs few of them.
            if here.is_zero() && number != first {
                continue;
            }
            let [sent_bytes, resent_bytes, delivered_bytes, rtt_sum, rtt_n] = here.0;
            self.bin(number).add(&Bin {
                sent_bytes,
                resent_bytes,
                delivered_bytes,
                rtt_min: s.rtt_min.unwrap_or(Span::MAX),
                rtt_sum: Span(rtt_sum as i64),
                rtt_n: rtt_n as u32,
                lost_copies: 0,
            });
        }
        self.fit(most);
    }

    fn lose(&mut self, time: Time, copies: u64, most: usize) {
        let bin = self.bin(self.number(time));
        bin.lost_copies = bin.lost_copies.saturating_add(copies.try_into().unwrap_or(u32::MAX));
        self.fit(most);
    }

    fn fit(&mut self, most: usize) {
        if self.bins.len() > most {
            while self.bins.len() > most {
                self.widen();
            }
            self.bins.shrink_to(most);
        }
    }

    fn widen(&mut self) {
        self.shift += 1;
        self.bins.dedup_by(|(next, bin), (kept, sum)| {
            let same = *next >> 1 == *kept >> 1;
            if same {
                sum.add(bin);
            }
            same
        });
        self.bins.iter_mut().for_each(|(number, _)| *number >>= 1);
    }

    /// The same path, with each round trip less the shortest of all: the delay in queues.
    fn with_queueing_delay(&self) -> Path {
        let mut path = self.clone();
        let least = path.bins.iter().map(|(_, bin)| bin.rtt_min).min().unwrap_or(Span::ZERO);
        for (_, bin) in path.bins.iter_mut().filter(|(_, bin)| bin.rtt_n > 0) {
            bin.rtt_sum -= least * i64::from(bin.rtt_n);
            bin.rtt_min = Span::ZERO;
        }
        path
    }

    fn rows(&self, from: Host, to: Host, origin: Time) -> Vec<PathRow> {
        let bins = self.bins.iter().map(|(at, bin)| PathRow {
            from,
            to,
            start: Time((at << self.shift).saturating_add(origin.0)),
            width: Span(1 << self.shift),
            sent_bytes: bin.sent_bytes,
            resent_bytes: bin.resent_bytes,
            delivered_bytes: bin.delivered_bytes,
            lost_copies: u64::from(bin.lost_copies),
            rtt_min: (bin.rtt_min < Span::MAX).then_some(bin.rtt_min),
            rtt_sum: bin.rtt_sum,
            rtt_n: u64::from(bin.rtt_n),
        });
        bins.collect()
    }

    fn merge(&mut self, mut other: Path, most: usize) {
        while self.shift < other.shift {
            self.widen();
        }
        while other.shift < self.shift {
            other.widen();
        }
        for (at, bin) in other.bins {
            self.bin(at).add(&bin);
        }
        self.fit(most);
    }
}

/// Which end of their paths all flows of a sum share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedEnd {
    Sender,
    Receiver,
}

/// For each host with several paths the sum of those that begin there, and of those that end there.
#[derive(Clone, Debug, Default)]
pub struct Sums(HashMap<(Host, SharedEnd), Vec<PathRow>, FxBuildHasher>);

impl Sums {
    /// None where the host has one path only.
    pub fn of(&self, host: Host, end: SharedEnd) -> &[PathRow] {
        self.0.get(&(host, end)).map_or(&[], Vec::as_slice)
    }
}

/// The paths of a capture, by sending and receiving host.
#[derive(Clone, Debug)]
pub struct Paths {
    all: HashMap<(Host, Host), Path, FxBuildHasher>,
    /// Paths whose hash is larger are dropped.
    max_hash: u64,
    /// Bins that each may have.
    max_bins: usize,
    /// When the capture began: bins count from here.
    origin: Time,
}

impl Default for Paths {
    fn default() -> Paths {
        Paths {
            all: HashMap::default(),
            max_hash: u64::MAX,
            max_bins: MAX_BINS_PER_PATH,
            origin: Time::FAR_FUTURE,
        }
    }
}

/// A hash of two addresses, the same for both directions: the last steps of `MurmurHash3` (Appleby 2008).
fn pair_hash((from, to): (Host, Host)) -> u64 {
    let of = |host: Host| {
        let (high, low) = (u128::from_be_bytes(host.0) >> 64, u128::from_be_bytes(host.0));
        let mut x = high as u64 ^ (low as u64).rotate_left(29);
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
            x = (x ^ (x >> 33)).wrapping_mul(factor);
        }
        x ^ (x >> 33)
    };
    of(from).wrapping_add(of(to)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Paths {
    /// The path between two hosts, and how many bins it may have; `None` where it is dropped.
    fn of(&mut self, ends: (Host, Host)) -> Option<(&mut Path, usize)> {
        if !self.all.contains_key(&ends) {
            if pair_hash(ends) > self.max_hash {
                return None;
            }
            self.all.insert(ends, Path::default());
            self.fit();
        }
        let most = self.max_bins;
        self.all.get_mut(&ends).map(|path| (path, most))
    }

    /// Keeps to the limits. The result does not depend on the order in which paths appeared.
    fn fit(&mut self) {
        while self.all.len() > MAX_PATHS {
            self.max_hash /= 2;
            self.all.retain(|ends, _| pair_hash(*ends) <= self.max_hash);
        }
        let paths = if self.max_hash < u64::MAX { MAX_PATHS } else { self.all.len() };
        let most = bins_per_path(paths);
        if most < self.max_bins {
            self.max_bins = most;
            self.all.values_mut().for_each(|path| path.fit(most));
        }
    }

    /// The capture began then.
    pub fn begun(&mut self, origin: Time) {
        self.origin = self.origin.min(origin);
    }

    /// UDP payload between two hosts, of one datagram or several. No TCP ACK shows what arrived, so all of it counts as delivered.
    pub fn add_udp(&mut self, ends: (Host, Host), start: Time, end: Time, bytes: u64) {
        let passed = Stretch {
            start,
            end,
            silence: (start, start),
            sent_bytes: bytes,
            resent_bytes: 0,
            delivered_bytes: bytes,
            rtt_min: None,
            rtt_sum: Span::ZERO,
            rtt_n: 0,
        };
        self.add(ends, &passed);
    }

    pub fn add(&mut self, ends: (Host, Host), stretch: &Stretch) {
        if let Some((path, most)) = self.of(ends) {
            path.add(stretch, most);
        }
    }
    pub fn lose(&mut self, ends: (Host, Host), time: Time, copies: u64) {
        if let Some((path, most)) = self.of(ends) {
            path.lose(time, copies, most);
        }
    }
    /// Takes in the UDP payload between hosts of which at least one has TCP paths, unless there would be too many paths.
    pub fn merge_udp(&mut self, other: &Paths) {
        let hosts: HashSet<Host, FxBuildHasher> = self.all.keys().flat_map(|(a, b)| [*a, *b]).collect();
        let near = |(ends, _): &(&(Host, Host), &Path)| hosts.contains(&ends.0) || hosts.contains(&ends.1);
        let near: Vec<_> = other.all.iter().filter(near).collect();
        if self.all.len() + near.len() > MAX_PATHS {
            return;
        }
        for (ends, path) in near {
            if let Some((own, most)) = self.of(*ends) {
                own.merge(path.clone(), most);
            }
        }
    }
    /// Takes in what another part of the same capture saw.
    pub fn merge(&mut self, other: Paths) {
        if other.max_hash < self.max_hash {
            self.max_hash = other.max_hash;
            self.all.retain(|ends, _| pair_hash(*ends) <= other.max_hash);
        }
        self.begun(other.origin);
        for (ends, path) in other.all {
            if let Some((own, most)) = self.of(ends) {
                own.merge(path, most);
            }
        }
        self.fit();
    }
    /// The rows of one direction between two hosts, in order of time.
    pub fn rows(&self, from: Host, to: Host) -> Vec<PathRow> {
        self.all.get(&(from, to)).map_or(Vec::new(), |path| path.rows(from, to, self.origin))
    }

    /// The sums of all paths that begin at one host, and of all that end there. If one queue holds them all, their sum is its
    /// rate; if each has a queue of its own, the sum says nothing. Round trips are counted from the least of each path.
    pub fn sums(&self) -> Sums {
        let both = |ends: &(Host, Host)| [(ends.0, SharedEnd::Sender), (ends.1, SharedEnd::Receiver)];
        let mut paths: HashMap<(Host, SharedEnd), u32, FxBuildHasher> = HashMap::default();
        for key in self.all.keys().flat_map(both) {
            *paths.entry(key).or_default() += 1;
        }
        let mut sums: HashMap<(Host, SharedEnd), Path, FxBuildHasher> = HashMap::default();
        for (ends, path) in &self.all {
            for key in both(ends).into_iter().filter(|key| paths[key] > 1) {
                sums.entry(key).or_default().merge(path.with_queueing_delay(), MAX_BINS_PER_PATH);
            }
        }
        let rows = |((host, end), path): ((Host, SharedEnd), Path)| {
            ((host, end), path.rows(host, host, self.origin))
        };
        Sums(sums.into_iter().map(rows).collect())
    }
}
