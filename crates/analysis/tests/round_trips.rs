//! What is a round trip, and what only looks like one: over transfers with parameters drawn from seeds.

mod join_support;
mod story;

use analysis::rows::Vantage;
use analysis::{Analyzer, Config, Rows, Wanted};
use join_support::synthetic::Random;
use join_support::{packets, shared_dir};
use story::{MSS, Story, Told, opened};
use wire::{Flags, Packet, Span};

const SEEDS: std::ops::Range<u64> = 0..60;

/// From `least` up to and without `most`.
fn draw(rng: &mut Random, least: u64, most: u64) -> u64 {
    least + rng.next() % (most - least)
}

fn analysed(packets: &[Packet], vantage: Vantage) -> Told {
    let vantage = (vantage != Vantage::Unknown).then_some(vantage);
    let wanted = Wanted { rtts: true, ..Wanted::default() };
    let mut analyzer = Analyzer::new(Config { vantage, wanted, ..Config::default() }, Rows::default());
    analyzer.push(packets);
    let (_, rows) = analyzer.finish();
    let heaviest = rows.flows.iter().max_by_key(|f| f.bytes).expect("a flow");
    Told { flow: heaviest.clone(), rows }
}

// A timestamp that is echoed late

/// What a sender that has fallen silent begins again with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum After {
    /// It repairs a hole: its timer fired, once or with back-off.
    Repair,
    /// New data, with or without PSH on the data before.
    NewData { pushed: bool },
}

/// Flights of stamped segments, seen as they arrive; then a silence, after which the last ACK's timestamp is echoed.
fn falls_silent(rtt: u64, flights: u64, length: u64, silence: u64, after: After) -> Told {
    let mut t = Story::from(Vantage::Receiver).stamped().handshake(rtt);
    let mut next = 1;
    let mut now = rtt;
    for flight in 0..flights {
        let last_flight = flight + 1 == flights;
        for k in 0..length {
            let at = now + k;
            let last = last_flight && k + 1 == length;
            let hole = last_flight && k == 0 && after == After::Repair;
            if !hole {
                t = t.at(at);
                t = match last && after == (After::NewData { pushed: true }) {
                    true => t.data(next, MSS),
                    false => t.amid_data(next, MSS),
                };
                t = t.left((at - rtt / 2) as u32).echoing((at - rtt) as u32);
                let holds = last_flight && after == After::Repair;
                t = t
                    .ack(if holds { next - k as u32 * MSS } else { next + MSS })
                    .echoing((at - rtt / 2) as u32);
            }
            next += MSS;
        }
        now += rtt;
    }
    let heard = now - rtt + length - 1;
    let again = heard + silence;
    let seq = if after == After::Repair { next - length as u32 * MSS } else { next };
    t = t.at(again).amid_data(seq, MSS).left((again - rtt / 2) as u32).echoing(heard as u32);
    t.ack(next + if after == After::Repair { 0 } else { MSS }).ends()
}

#[test]
fn an_echo_of_what_was_heard_before_a_silence_is_no_round_trip() {
    for seed in SEEDS {
        let rng = &mut Random(seed);
        let (rtt, flights, length) = (draw(rng, 10, 200), draw(rng, 4, 12), draw(rng, 2, 6));
        let silence = draw(rng, 4 * rtt, 30_000);
        for after in [After::Repair, After::NewData { pushed: true }, After::NewData { pushed: false }] {
            let told = falls_silent(rtt, flights, length, silence, after);
            let seen = told.flow.rtt_timestamps;
            assert!(seen.n > 0, "seed {seed}, {after:?}");
            assert!(
                seen.max <= 1.5 * rtt as f64 / 1e3,
                "seed {seed}, {after:?}: {} s of {rtt} ms, a silence of {silence} ms",
                seen.max
            );
        }
    }
}

#[test]
fn the_first_answer_of_a_slow_program_is_no_round_trip() {
    for seed in SEEDS {
        let rng = &mut Random(seed);
        let (rtt, thinks) = (draw(rng, 10, 200), draw(rng, 500, 10_000));
        let mut t = Story::from(Vantage::Receiver).stamped().at(0).crossing_syn();
        // The receiver of the data is the caller, and its handshake tells the way to the sender.
        t = t.at(rtt).syn_again_with_ack().echoing(0).at(rtt).ack(1).request(100);
        let answers = 2 * rtt + thinks;
        for k in 0..20 {
            t = t.at(answers + k).data(1 + k as u32 * MSS, MSS).echoing(rtt as u32);
        }
        let told = t.at(answers + 20).ack(1 + 20 * MSS).ends();
        assert!(
            told.flow.rtt_timestamps.max <= 2.1 * rtt as f64 / 1e3,
            "seed {seed}: {:?}",
            told.flow.rtt_timestamps
        );
    }
}

// A host's own turn-around

#[test]
fn the_receivers_turn_around_is_not_the_round_trip_before_a_burst() {
    for seed in SEEDS {
        for vantage in [Vantage::Receiver, Vantage::Sender] {
            let rng = &mut Random(seed);
            let (rtt, lost) = (draw(rng, 20, 200) * 1_000, draw(rng, 8, 30) as u32);
            let turn = if vantage == Vantage::Receiver { draw(rng, 2, 200) } else { rtt };
            let mut t = opened(vantage).sack_permitted();
            let at = |k: u32| 100_000 + u64::from(k) * (rtt + 300);
            for k in 0..lost {
                t = t.at_us(at(k)).data(1 + k * MSS, MSS).at_us(at(k) + turn).ack(1 + (k + 1) * MSS);
            }
            let hole = 1 + lost * MSS;
            if vantage == Vantage::Sender {
                t = t.at_us(at(lost)).data(hole, MSS);
            }
            for k in 1..5 {
                t = t.at_us(at(lost) + u64::from(k) * 10).data(hole + k * MSS, MSS);
            }
            for k in 1..5 {
                let blocks = [(hole + MSS, hole + (k + 1) * MSS)];
                t = t.at_us(at(lost) + turn + 50 + u64::from(k) * 10).sack(hole, &blocks);
            }
            let repaired = at(lost) + rtt + 1_000;
            t = t.at_us(repaired).data(hole, MSS).at_us(repaired + turn).ack(hole + 5 * MSS);
            let told = t.ends();
            let [burst] = &told.rows.bursts[..] else {
                panic!("seed {seed}, {vantage:?}: {:?}", told.rows.retransmissions)
            };
            let before = burst.rtt_before.map(|rtt| rtt.0 / 1_000);
            let seen = (vantage == Vantage::Sender).then_some(rtt as i64);
            assert_eq!(before, seen, "seed {seed}, {vantage:?}");
        }
    }
}

// A capture without bare ACKs

/// Every so often the receiver says something, and some time later a burst of data comes, of which one segment is lost and
/// sent again a round trip later.
fn relay(rng: &mut Random, vantage: Vantage) -> Vec<Packet> {
    let rtt = draw(rng, 5, 300) * 1_000;
    let every = draw(rng, 5, 60) * 1_000_000;
    let (bursts, length) = (draw(rng, 3, 9), draw(rng, 8, 40) as u32);
    let answer = if vantage == Vantage::Receiver { 10 } else { rtt };
    let mut t = Story::from(vantage);
    let mut next = 1;
    for burst in 0..bursts {
        let begins = burst * every;
        t = t.at_us(begins).request(61).at_us(begins + rtt).data(next, 100);
        next += 100;
        let first = begins + 2 * rtt + 1_000_000;
        let lost = draw(rng, 2, u64::from(length) - 4) as u32;
        // When what passes, and what: data up to a number, or the ACK of it.
        let mut passes: Vec<(u64, u32, bool)> = Vec::new();
        for k in 0..length {
            let at = first + u64::from(k) * 1_000;
            if k != lost || vantage != Vantage::Receiver {
                passes.push((at, k, true));
            }
            if k != lost {
                passes.push((at + answer, if k < lost { k + 1 } else { lost }, false));
            }
        }
        let repaired = first + u64::from(length) * 1_000 + rtt;
        passes.extend([(repaired, lost, true), (repaired + answer, length, false)]);
        passes.sort();
        for (at, k, data) in passes {
            t = t.at_us(at);
            t = if data { t.data(next + k * MSS, MSS) } else { t.ack(next + k * MSS) };
        }
        next += length * MSS;
    }
    t.at_us(bursts * every).request(61).packets().to_vec()
}

/// As a filter for data leaves it.
fn of_data(packets: &[Packet]) -> Vec<Packet> {
    let flags = Flags::SYN.with(Flags::FIN).with(Flags::RST);
    packets.iter().filter(|p| p.seg.payload > 0 || p.seg.flags.has(flags)).copied().collect()
}

#[test]
fn without_bare_acks_what_comes_seconds_later_is_no_round_trip() {
    for seed in SEEDS {
        for vantage in [Vantage::Receiver, Vantage::Sender, Vantage::Unknown] {
            let all = relay(&mut Random(seed), vantage);
            let whole = analysed(&all, vantage);
            assert_eq!(whole.flow.limits.acks_missing, 0, "seed {seed}, {vantage:?}");
            let filtered = analysed(&of_data(&all), vantage);
            assert!(filtered.flow.limits.acks_missing > 0, "seed {seed}, {vantage:?}");
            for (name, told) in [("whole", &whole), ("filtered", &filtered)] {
                let long = told.rows.rtts.iter().filter(|r| r.rtt > Span::from_millis(900)).count();
                assert_eq!(long, 0, "seed {seed}, {vantage:?}, {name}: {:?}", told.flow.rtt_ack);
                assert!(told.flow.rtt_ack.max < 0.9 && told.flow.episodes > 0);
                for e in told.rows.episodes.iter().filter(|e| e.flow == told.flow.flow) {
                    let took = e.end.expect("all were acknowledged") - e.start;
                    assert!(took < Span::from_millis(1_000), "seed {seed}, {vantage:?}, {name}: {took}");
                }
            }
        }
    }
}

// Captures beside the project

#[test]
fn captures_of_others_tell_no_round_trip_of_seconds() {
    let (cases, situations) = (shared_dir("cases"), shared_dir("situations"));
    if !cases.exists() {
        println!("skipped: {} is not there", cases.display());
        return;
    }
    let filtered = analysed(&packets(&cases.join("data_only_filter.pcap")), Vantage::Unknown);
    assert!(filtered.flow.limits.acks_missing > 0);
    assert!(filtered.rows.rtts.iter().all(|r| r.rtt < Span::from_millis(900)));
    let longest = filtered.rows.episodes.iter().filter_map(|e| Some(e.end? - e.start)).max();
    assert!(longest.expect("eight repairs") < Span::from_millis(200), "{longest:?}");
    let stale = analysed(&packets(&situations.join("rto-backoff-client.pcap.gz")), Vantage::Unknown);
    assert!(stale.flow.rtt_timestamps.max < 0.2, "{:?}", stale.flow.rtt_timestamps);
}
