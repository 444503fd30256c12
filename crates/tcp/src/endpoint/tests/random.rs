//! Thousands of random paths: whatever they do, every byte arrives once and in order, and the transfer ends.

use super::pipe::*;
use super::stacks::*;
use crate::endpoint::*;
use crate::stack;

/// SplitMix64.
#[derive(Clone, Copy)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// One path drawn at random: rate, delay, losses alone and in bursts, outages, reordering, duplicates.
struct Path {
    random: Random,
    delay_us: i64,
    /// One loss in so many; 0 for none. Bursts last `burst` segments.
    loss: u64,
    burst: u64,
    left: [u64; 2],
    reorder: u64,
    duplicate: u64,
    outage_every_ms: i64,
    /// Serialisation of a full segment, and a queue of this many.
    gap_us: i64,
    queue: i64,
    free_at: [i64; 2],
}

impl Path {
    fn draw(random: &mut Random) -> Path {
        Path {
            random: Random(random.next()),
            delay_us: 100 + random.below(60_000) as i64,
            loss: [0, 0, 5, 20, 100][random.below(5) as usize],
            burst: 1 + random.below(8),
            left: [0; 2],
            reorder: [0, 0, 10, 50][random.below(4) as usize],
            duplicate: [0, 0, 0, 30][random.below(4) as usize],
            // Primes: no RTO is a multiple of them.
            outage_every_ms: [0, 0, 907, 3011][random.below(4) as usize],
            gap_us: [0, 50, 1000][random.below(3) as usize],
            queue: 5 + random.below(100) as i64,
            free_at: [0; 2],
        }
    }

    fn fate(&mut self, from_client: bool, now: Time) -> Fate {
        let side = usize::from(from_client);
        let now_us = now.0 / 1000;
        if self.outage_every_ms > 0 && (now_us / 1000) % self.outage_every_ms > self.outage_every_ms - 200 {
            return vec![];
        }
        if self.left[side] > 0 {
            self.left[side] -= 1;
            return vec![];
        }
        if self.loss > 0 && self.random.one_in(self.loss * self.burst) {
            self.left[side] = self.random.below(2 * self.burst);
            return vec![];
        }
        let start = self.free_at[side].max(now_us);
        if self.gap_us > 0 && start - now_us > self.queue * self.gap_us {
            return vec![];
        }
        self.free_at[side] = start + self.gap_us;
        let mut delay = start + self.gap_us - now_us + self.delay_us;
        if self.reorder > 0 && self.random.one_in(self.reorder) {
            delay += self.random.below(20_000) as i64;
        }
        let mut fate = vec![Span::from_micros(delay)];
        if self.duplicate > 0 && self.random.one_in(self.duplicate) {
            fate.push(Span::from_micros(delay + self.random.below(30_000) as i64));
        }
        fate
    }
}

/// A stack drawn from all, with its switches drawn as well.
fn draw_stack(random: &mut Random) -> (&'static str, stack::Wire) {
    let mut every = all();
    let at = random.below(every.len() as u64) as usize;
    let (name, mut spec) = every.swap_remove(at);
    spec.send.nagle = random.one_in(2);
    spec.undo.f_rto ^= random.one_in(4);
    spec.undo.dsack ^= random.one_in(4);
    spec.undo.eifel ^= random.one_in(4);
    spec.detect.limited_transmit ^= random.one_in(4);
    spec.send.max_burst_segments = [None, None, Some(4)][random.below(3) as usize];
    spec.receive.window = stack::WindowPolicy::Fixed { buffer_bytes: 4000 + random.below(300_000) as u32 };
    if random.one_in(3) {
        spec.rto.rule = stack::RtoKind::Linux;
    }
    (name, spec)
}

/// What must hold after every event.
fn check(end: &Endpoint) {
    let v = end.view();
    assert!(v.cwnd >= v.smss, "cwnd {} below one SMSS", v.cwnd);
    assert!(v.ssthresh >= v.smss, "ssthresh {}", v.ssthresh);
    assert!(v.una <= v.nxt && v.nxt <= v.max, "{} {} {}", v.una, v.nxt, v.max);
    end.sender.board.check();
}

/// New data leaves only where the peer's window, and cwnd with what recovery adds, allow it.
fn check_new(end: &Endpoint, sent: &Sent, before: &View) {
    if sent.why != Why::New {
        return;
    }
    let right = sent.offset + u64::from(sent.seg.payload);
    assert!(right <= end.sender.edge(), "beyond the peer's window: {sent:?}");
    let counted = before.pipe.min(before.flight) + sent.seg.payload;
    if end.sender.in_frto() {
        return;
    }
    // Limited transmit: two segments more.
    assert!(counted <= before.cwnd + 2 * before.smss, "{counted} in flight, {before:?}, {sent:?}");
}

fn one(seed: u64) {
    let mut random = Random(seed);
    let (client, server) = (draw_stack(&mut random), draw_stack(&mut random));
    let mut path = Path::draw(&mut random);
    let clock = std::rc::Rc::new(std::cell::Cell::new(Time::ZERO));
    let told = clock.clone();
    let mut p = Pipe::new(&client.1, &server.1, move |c, _, _: &Sent| path.fate(c, told.get()));
    p.tell = Some(clock);
    p.watch = Some(Box::new(|c, s, _| {
        check(c);
        check(s);
    }));
    p.check_sent = Some(check_new);
    let bytes = 1 + random.below(400_000);
    let answer = if random.one_in(2) { random.below(100_000) } else { 0 };
    p.backlog = bytes;
    let answer = p.server.write(answer);
    let ended = p.finish(at_s(4_000_000));
    let story = || format!("{} -> {}\n{:?}\n{:?}", client.0, server.0, p.client.view(), p.server.view());
    assert!(ended, "did not end: {}", story());
    assert_eq!((p.server_got, p.client_got), (bytes, answer), "{}", story());
}

fn many(from: u64, count: u64) {
    for seed in from..from + count {
        let outcome = std::panic::catch_unwind(|| one(seed));
        assert!(
            outcome.is_ok(),
            "seed {seed}; again: REXMIT_SEED={seed} cargo test -p rexmit-tcp --lib random::one_seed"
        );
    }
}

#[test]
fn every_transfer_over_any_path_ends_with_every_byte_once() {
    many(1, 3000);
}

/// Repeats the seed that a failure names.
#[test]
fn one_seed() {
    if let Some(seed) = std::env::var("REXMIT_SEED").ok().and_then(|s| s.parse().ok()) {
        one(seed);
    }
}
