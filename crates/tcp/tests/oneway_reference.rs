//! The one-way sender against traces of ns-2.35 that no scenario can repeat: it is given the recorded ACKs and what the
//! application wrote, and must send the same packets at the same times, with the same window
//! and back-off. `crates/sim/tests` runs all other traces.

use flate2::read::GzDecoder;
use std::io::Read;
use tcp::oneway::{Ack, SackBlocks, Sender};
use tcp::stack::{OneWay, OneWayVariant};
use wire::{Span, Time};

/// ACKs are given at printed times, which have six digits; so have those that are compared.
const TOLERANCE: Span = Span(2_000);

/// A line of `tests/reference/ns-2.35-more/cases.txt`, as far as the sender is concerned.
struct Case {
    name: &'static str,
    stack: OneWay,
    /// Data packets that left and have no `send` line, counted from 0.
    drops: &'static [usize],
    /// Seconds, and packets written then.
    writes: &'static [(f64, u64)],
    end_s: f64,
}

const ENDLESS: &[(f64, u64)] = &[(0.0, u64::MAX)];

#[test]
fn sends_that_wait_a_random_time() {
    let defaults = OneWay::ns2_35(OneWayVariant::Tahoe);
    let overhead = Span::from_millis(10);
    let stack = OneWay { overhead, window_packets: 20, tick_phase: 0.111761432, ..defaults };
    sends_alike(&Case { name: "tahoe_overhead", stack, drops: &[50, 52], writes: ENDLESS, end_s: 8.0 });
}

#[test]
fn an_application_that_pauses() {
    let defaults = OneWay::ns2_35(OneWayVariant::Tahoe);
    let stack = OneWay { restart_keeps_ssthresh: false, tick_phase: 0.111761432, ..defaults };
    let writes = &[(0.0, 30), (1.2, 60), (3.4, 5), (5.1, 80)];
    sends_alike(&Case { name: "tahoe_restart", stack, drops: &[40, 41, 90], writes, end_s: 8.0 });
}

#[test]
fn a_pause_that_does_not_close_the_window() {
    let defaults = OneWay::ns2_35(OneWayVariant::Vegas);
    let stack = OneWay { restart_after_idle: false, tick_phase: 0.028404049, ..defaults };
    let writes = &[(0.0, 120), (4.1, 60)];
    sends_alike(&Case { name: "vegas_delack", stack, drops: &[20, 22, 40], writes, end_s: 8.0 });
}

fn sends_alike(case: &Case) {
    let trace = trace(case.name);
    let want = trace.iter().filter(|l| l.1 == "send");
    let Replay { sent, states } = replay(case, &trace);
    let got: Vec<_> =
        sent.iter().enumerate().filter(|(n, _)| !case.drops.contains(n)).map(|(_, s)| *s).collect();
    for (n, (got, want)) in got.iter().zip(want.clone()).enumerate() {
        let apart = Span((got.0 - want.0).0.abs());
        assert!(
            got.1 == want.2 && apart <= TOLERANCE,
            "{}, send {n}: {got:?}, ns-2.35 has {want:?}",
            case.name
        );
    }
    assert_eq!(got.len(), want.count(), "{}: sends", case.name);
    assert_eq!(states, self::states(case.name), "{}: cwnd, ssthresh, back-off", case.name);
}

/// What the sender does with the recorded ACKs.
#[derive(Default)]
struct Replay {
    /// Times and numbers of packets.
    sent: Vec<(Time, i64)>,
    /// cwnd, ssthresh and back-off as ns-2 prints them, whenever one has changed.
    states: Vec<[String; 3]>,
}

impl Replay {
    fn drain(&mut self, sender: &mut Sender, now: Time) {
        while let Some(packet) = sender.transmit(now) {
            self.sent.push((now, packet.data.number));
        }
        let view = sender.view();
        self.states.push([format!("{:.3}", view.cwnd), view.ssthresh.to_string(), view.backoff.to_string()]);
        self.states.dedup();
    }
}

fn replay(case: &Case, trace: &[(Time, String, i64)]) -> Replay {
    let mut sender = Sender::new(&case.stack);
    let mut random = Mrg32k3a::new(2);
    // The simulator draws once before the agent, the agent once when it is made.
    (0..2).for_each(|_| _ = random.draw());
    sender.set_uniform(move || random.draw());
    let mut inputs: Vec<(Time, Input)> =
        case.writes.iter().map(|(at, packets)| (seconds(*at), Input::Write(*packets))).collect();
    inputs.extend(trace.iter().filter(|l| l.1 == "ack").map(|l| (l.0, Input::Ack(l.2))));
    inputs.sort_by_key(|(time, _)| *time);
    inputs.push((seconds(case.end_s), Input::End));
    let mut replay = Replay::default();
    for (now, input) in inputs {
        while let Some(due) = sender.next_wakeup().filter(|due| *due < now) {
            sender.wake(due);
            replay.drain(&mut sender, due);
        }
        match input {
            Input::Write(packets) => sender.write(now, packets),
            Input::Ack(cumulative) => {
                let sack = SackBlocks::default();
                sender.receive(now, &Ack { cumulative, sack, echo: Time::ZERO, bytes: 40, syn: false });
            }
            Input::End => {}
        }
        replay.drain(&mut sender, now);
    }
    replay
}

#[derive(Clone, Copy)]
enum Input {
    Write(u64),
    Ack(i64),
    End,
}

fn seconds(s: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(s)
}

fn trace(name: &str) -> Vec<(Time, String, i64)> {
    rows(name)
        .into_iter()
        .map(|[time, event, n]| (time_of(&time), event, n.parse().expect("a number")))
        .collect()
}

/// cwnd, ssthresh and back-off whenever one has changed; of several changes in an event the last.
fn states(name: &str) -> Vec<[String; 3]> {
    let mut out: Vec<(String, [String; 3])> = Vec::new();
    let mut now = [const { String::new() }; 3];
    for [time, variable, value] in rows(&format!("{name}_state")) {
        match variable.as_str() {
            "cwnd_" => now[0] = value,
            "ssthresh_" => now[1] = value,
            "backoff_" => now[2] = value,
            _ => continue,
        }
        match out.last_mut().filter(|(last, _)| *last == time) {
            Some((_, last)) => *last = now.clone(),
            None => out.push((time, now.clone())),
        }
    }
    out.dedup_by(|b, a| a.1 == b.1);
    out.into_iter().map(|(_, state)| state).collect()
}

fn time_of(printed: &str) -> Time {
    seconds(printed.parse().expect("a time"))
}

fn rows(name: &str) -> Vec<[String; 3]> {
    let root = env!("CARGO_MANIFEST_DIR");
    let path = format!("{root}/../../tests/reference/ns-2.35-more/{name}.csv.gz");
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|e| panic!("{path}: {e}"));
    let line = |line: &str| {
        let mut columns = line.split(',').map(str::to_owned);
        std::array::from_fn(|_| columns.next().expect("three columns"))
    };
    text.lines().skip(1).map(line).collect()
}

/// ns-2's generator, MRG32k3a (P. L'Ecuyer, Operations Research 47(1), 1999), seeded as `ns-random SEED` does: all six
/// numbers alike.
struct Mrg32k3a {
    first: [i64; 3],
    second: [i64; 3],
}

const M1: i64 = 4_294_967_087;
const M2: i64 = 4_294_944_443;

impl Mrg32k3a {
    fn new(seed: i64) -> Mrg32k3a {
        Mrg32k3a { first: [seed; 3], second: [seed; 3] }
    }

    /// Uniform in 0 ..< 1.
    fn draw(&mut self) -> f64 {
        let [a, b, _] = self.first;
        let p = (1_403_580 * b - 810_728 * a).rem_euclid(M1);
        self.first = [b, self.first[2], p];
        let [c, _, d] = self.second;
        let q = (527_612 * d - 1_370_589 * c).rem_euclid(M2);
        self.second = [self.second[1], d, q];
        let z = if p > q { p - q } else { p - q + M1 };
        z as f64 / (M1 + 1) as f64
    }
}
