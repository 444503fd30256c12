//! Random segments in random order against a bitmap that any reader can check.

use super::*;

/// One bool a byte; offset 1 is the first.
struct Bitmap {
    here: Vec<bool>,
    edge: u64,
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

impl Bitmap {
    fn has(&self, offset: u64) -> bool {
        self.here.get(offset as usize).copied().unwrap_or(false)
    }

    fn take(&mut self, start: u64, end: u64) {
        for offset in start..end.min(self.edge) {
            self.here[offset as usize] = true;
        }
    }

    fn next(&self) -> u64 {
        (1..).find(|&o| !self.has(o)).expect("the bitmap ends")
    }

    /// The first stretch of `[start, end)` that is here.
    fn duplicate(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let from = (start..end).find(|&o| self.has(o))?;
        let to = (from..end).find(|&o| !self.has(o)).unwrap_or(end);
        Some((from, to))
    }

    /// The whole stretch around an offset that is here.
    fn run(&self, offset: u64) -> (u64, u64) {
        let start = (1..=offset).rev().take_while(|&o| self.has(o)).last().expect("it is here");
        let end = (offset..).find(|&o| !self.has(o)).expect("the bitmap ends");
        (start, end)
    }

    fn runs_above(&self, next: u64) -> Vec<(u64, u64)> {
        let mut runs = Vec::new();
        let mut offset = next;
        while offset < self.here.len() as u64 {
            if self.has(offset) {
                runs.push(self.run(offset));
                offset = self.run(offset).1;
            }
            offset += 1;
        }
        runs
    }
}

struct Case {
    seed: u64,
    random: Random,
    bitmap: Bitmap,
    receiver: Receiver,
    bytes: u64,
    read: u64,
    now: Time,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut random = Random(seed);
        let bytes = 200 + random.below(3000);
        let buffer = 1 + random.below(bytes * 2) as u32;
        let window = match random.below(2) {
            0 => fixed(buffer),
            _ => WindowPolicy::AutoTuned {
                initial_bytes: buffer.min(400),
                untuned_bytes: 800,
                max_bytes: 4000,
                ahead: false,
            },
        };
        let delayed_ack = match random.below(3) {
            0 => DelayedAck::Off,
            1 => DelayedAck::Every { every: 2, timeout: Span::from_millis(200) },
            _ => DelayedAck::Quick {
                quick: 16,
                min: Span::from_millis(40),
                max: Span::from_millis(200),
                compress: None,
                pushed: (random.below(2) == 0).then_some(Span::from_millis(1)),
                growing: random.below(2) == 0,
            },
        };
        let spec = Receive { delayed_ack, dsack: true, sack_fin: true, window };
        let mut receiver = Receiver::new(&spec, 100, 1, true);
        receiver.negotiated(100, true, random.below(8) as u8);
        receiver.ack_sent(Time::ZERO);
        let edge = receiver.next() + u64::from(receiver.window());
        let bitmap = Bitmap { here: vec![false; bytes as usize + 1], edge };
        Case { seed, random, bitmap, receiver, bytes, read: 0, now: Time::ZERO }
    }

    fn run(mut self) {
        let mut sent = 0;
        while self.receiver.next() <= self.bytes {
            sent += 1;
            assert!(sent < 200_000, "seed {}: the transfer does not end", self.seed);
            self.now += Span(self.random.below(50_000_000) as i64);
            let (start, end) = self.segment();
            self.arrives(start, end);
            if self.random.below(3) == 0 {
                self.reads();
            }
        }
        self.reads_all();
    }

    /// Mostly the next ones, in some disorder, of any length; never a window's end that is not kept.
    fn segment(&mut self) -> (u64, u64) {
        let around = (self.receiver.next() + self.random.below(400)).saturating_sub(self.random.below(400));
        let start = match self.random.below(3) {
            0 => self.receiver.next(),
            _ => around.clamp(1, self.bytes),
        };
        let end = (start + 1 + self.random.below(150)).min(self.bytes + 1);
        (start, end)
    }

    fn arrives(&mut self, start: u64, end: u64) {
        let seed = self.seed;
        let before = self.bitmap.next();
        let duplicate = self.bitmap.duplicate(start, end.min(self.bitmap.edge));
        self.bitmap.take(start, end);
        let next = self.bitmap.next();
        let ack = self.receiver.on_data(self.now, start, (end - start) as u32, false);

        assert_eq!(self.receiver.next(), next, "seed {seed}: next after [{start}, {end})");
        assert_eq!(self.receiver.readable(), next - 1 - self.read, "seed {seed}: readable");
        let runs = self.bitmap.runs_above(next);
        let waiting: u64 = runs.iter().map(|r| r.1 - r.0).sum();
        assert_eq!(self.receiver.out_of_order(), waiting, "seed {seed}: out of order");
        let disorder = !runs.is_empty() || next == before || duplicate.is_some();
        assert!(ack == Ack::Now || !disorder, "seed {seed}: disorder is acknowledged at once");
        if ack == Ack::Now || self.receiver.ack_deadline() <= self.now {
            self.acks(duplicate, &runs, (start, next != before));
        }
        let due = self.receiver.ack_deadline();
        assert!(due > self.now, "seed {seed}: a timer in the past");
        assert_eq!(ack == Ack::Later, due < Time::FAR_FUTURE, "seed {seed}: what is owed has a time");
    }

    fn acks(&mut self, duplicate: Option<(u64, u64)>, runs: &[(u64, u64)], (start, advanced): (u64, bool)) {
        let seed = self.seed;
        let mut out = [(0, 0); 4];
        let n = self.receiver.blocks(&mut out, 4);
        let mut blocks = &out[..n];
        if let Some(duplicate) = duplicate {
            assert_eq!(blocks.first(), Some(&duplicate), "seed {seed}: DSACK");
            blocks = &blocks[1..];
        }
        let room = 4 - usize::from(duplicate.is_some());
        assert_eq!(blocks.len(), runs.len().min(room), "seed {seed}: as many blocks as there are and fit");
        assert!(blocks.iter().all(|b| runs.contains(b)), "seed {seed}: {blocks:?} of {runs:?}");
        assert!(
            (1..blocks.len()).all(|i| !blocks[..i].contains(&blocks[i])),
            "seed {seed}: twice in {blocks:?}"
        );
        let held = !advanced && start >= self.receiver.next() && self.bitmap.has(start);
        if held {
            assert_eq!(
                blocks[0],
                self.bitmap.run(start),
                "seed {seed}: the block of the segment comes first"
            );
        }
        self.window_goes_out();
    }

    fn window_goes_out(&mut self) {
        let edge = self.receiver.next() + u64::from(self.receiver.window());
        self.receiver.ack_sent(self.now);
        self.bitmap.edge = self.bitmap.edge.max(edge);
    }

    fn reads(&mut self) {
        let max = self.random.below(500);
        let readable = self.receiver.readable();
        let got = self.receiver.read(self.now, max);
        assert_eq!(got, readable.min(max), "seed {}", self.seed);
        self.read += got;
        if self.receiver.window_update_due() || self.receiver.ack_deadline() <= self.now {
            self.window_goes_out();
        }
    }

    fn reads_all(&mut self) {
        self.read += self.receiver.read(self.now, u64::MAX);
        assert_eq!(
            (self.read, self.receiver.readable()),
            (self.bytes, 0),
            "seed {}: each byte once",
            self.seed
        );
        assert_eq!(self.receiver.on_fin(self.now, self.bytes + 1), Ack::Now);
        assert!(self.receiver.finished(), "seed {}", self.seed);
        assert_eq!(self.receiver.next(), self.bytes + 2, "seed {}: the FIN counts one", self.seed);
        assert_eq!(self.receiver.readable(), 0);
    }
}

#[test]
fn random_segments_in_random_order_agree_with_a_bitmap() {
    // One seed: REXMIT_SEED=17 cargo test -p rexmit-tcp random_segments
    let one = std::env::var("REXMIT_SEED").ok().and_then(|s| s.parse().ok());
    for seed in one.map_or(0..400, |s: u64| s..s + 1) {
        Case::new(seed).run();
    }
}

#[test]
fn a_fin_ahead_of_its_data_waits_for_it_and_nothing_comes_after_it() {
    let mut s = plain(1);
    assert_eq!(s.receiver.on_fin(Time::ZERO, 1001), Ack::Now);
    assert_eq!((s.receiver.next(), s.receiver.finished()), (1, false));
    s.reports((501, 1200), 1, &[(501, 1002)]);
    s.reports((1, 501), 1002, &[]);
    assert!(s.receiver.finished());
    assert_eq!(s.receiver.readable(), 1000);
    s.reports((501, 1001), 1002, &[(501, 1001)]);
    assert_eq!(s.receiver.on_fin(Time::ZERO, 1001), Ack::Now);
    assert_eq!(s.receiver.next(), 1002);
    assert_eq!(s.receiver.read(Time::ZERO, u64::MAX), 1000);
}

#[test]
fn a_fin_behind_a_hole_is_sacked_as_the_byte_that_it_is() {
    // RFC 9293 §3.4: a FIN has a sequence number; Linux ends the block of tcp_data_queue_ofo with it.
    let mut s = plain(1);
    s.data(501, 1001);
    assert_eq!(s.receiver.on_fin(Time::ZERO, 1001), Ack::Now);
    let mut blocks = [(0, 0); 4];
    assert_eq!((s.receiver.blocks(&mut blocks, 4), blocks[0]), (1, (501, 1002)));
    s.reports((1, 501), 1002, &[]);
    assert_eq!((s.receiver.finished(), s.receiver.readable()), (true, 1000));
}

#[test]
fn a_fin_beyond_the_window_or_below_data_that_is_here_is_none() {
    let mut s = plain(1);
    s.receiver.on_fin(Time::ZERO, 70_000);
    s.data(1001, 1501);
    s.receiver.on_fin(Time::ZERO, 1200);
    s.data(1, 1001);
    assert_eq!((s.receiver.next(), s.receiver.finished()), (1501, false));
}
