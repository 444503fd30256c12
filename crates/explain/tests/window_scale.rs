//! The receive window of a connection whose handshake was not captured, over transfers with parameters drawn from seeds.

mod explained;
#[path = "../../analysis/tests/join_support/mod.rs"]
mod join_support;
#[path = "../../analysis/tests/story/mod.rs"]
mod story;

use analysis::rows::Vantage;
use explain::cause::Cause;
use join_support::synthetic::Random;
use join_support::{packets, shared_dir};
use story::{MSS, Story, Told};

const SEEDS: std::ops::Range<u64> = 0..80;

fn draw(rng: &mut Random, least: u64, most: u64) -> u64 {
    least + rng.below(most - least)
}

/// A sender that has `flight` segments in flight all the time, seen as they leave; the window field says `raw`.
fn steady(rtt_us: u64, flight: u32, raw: u16, rounds: u32) -> Told {
    let mut t = Story::from(Vantage::Sender).window(raw);
    // Two segments are acknowledged at a time, and two more leave.
    let pairs = flight / 2;
    let mut next = 1;
    let mut passes = Vec::new();
    for round in 0..rounds {
        for pair in 0..pairs {
            // The path is faster than the window: a flight comes through in a third of the round trip.
            let at = u64::from(round) * rtt_us + u64::from(pair) * (rtt_us / (3 * u64::from(pairs + 1)));
            passes.push((at, next));
            next += 2 * MSS;
        }
    }
    let mut acked = 1;
    for (i, (at, seq)) in passes.iter().enumerate() {
        if i as u32 >= pairs {
            acked += 2 * MSS;
            t = t.at_us(*at).ack(acked);
        }
        t = t.at_us(at + 10).amid_data(*seq, MSS).at_us(at + 11).amid_data(seq + MSS, MSS);
    }
    t.ends()
}

fn by(told: &Told, cause: Cause) -> f64 {
    let answer = explained::answer(told);
    answer.causes.iter().filter(|s| s.cause == cause).map(|s| s.share).sum()
}

#[test]
fn flights_that_fill_the_scaled_window_tell_its_scale() {
    for seed in SEEDS {
        let rng = &mut Random(seed);
        let scale = draw(rng, 0, 10) as u8;
        let flight = 2 * draw(rng, 5, 30) as u32;
        // The window has room for the flight, and not for another segment.
        let window = (flight * MSS) as u64 + draw(rng, 0, u64::from(MSS) / 2);
        let raw = window >> scale;
        if raw > 65_535 || raw << scale < u64::from(flight * MSS) {
            continue;
        }
        let told = steady(draw(rng, 5, 100) * 1_000, flight, raw as u16, 20);
        assert_eq!(told.flow.window_scale_fits, Some(scale), "seed {seed}");
        assert_eq!(told.flow.window_max_bytes, Some(raw << scale), "seed {seed}");
        assert!(by(&told, Cause::ReceiveWindow) > 0.5, "seed {seed}: {:?}", explained::answer(&told).causes);
        assert!(by(&told, Cause::SendWindow) == 0.0, "seed {seed}: {:?}", explained::answer(&told).causes);
    }
}

#[test]
fn flights_that_leave_room_in_any_window_that_is_possible_are_not_limited_by_the_receiver() {
    for seed in SEEDS {
        let rng = &mut Random(seed);
        let flight = 2 * draw(rng, 5, 30) as u32;
        // The least window that is possible has room for some segments more; no scale makes it smaller.
        let window = u64::from(flight + draw(rng, 2, u64::from(flight) - 1) as u32) * u64::from(MSS);
        let scale = draw(rng, 0, 10) as u8;
        let raw = window >> scale;
        if raw > 65_535 || raw << scale < u64::from(flight * MSS + MSS) {
            continue;
        }
        let told = steady(draw(rng, 5, 100) * 1_000, flight, raw as u16, 20);
        assert_eq!((told.flow.window_scale_fits, told.flow.window_max_bytes), (None, None), "seed {seed}");
        assert!(by(&told, Cause::ReceiveWindow) == 0.0, "seed {seed}");
    }
}

#[test]
fn a_window_of_a_few_segments_or_a_few_flights_leave_the_limit_open() {
    for seed in SEEDS {
        let rng = &mut Random(seed);
        let scale = draw(rng, 0, 4) as u8;
        let (flight, rounds) = match seed % 2 {
            0 => (2 * draw(rng, 2, 4) as u32, 20),
            _ => (2 * draw(rng, 5, 8) as u32, 3),
        };
        let window = u64::from(flight * MSS);
        let raw = (window >> scale) + u64::from(window & ((1 << scale) - 1) > 0);
        let told = steady(draw(rng, 5, 100) * 1_000, flight, raw as u16, rounds);
        assert_eq!(told.flow.window_scale_fits, Some(scale), "seed {seed}");
        assert_eq!(told.flow.window_max_bytes, None, "seed {seed}");
        for limit in [Cause::SendWindow, Cause::ReceiveWindow] {
            assert!(by(&told, limit) == 0.0, "seed {seed}: {:?}", explained::answer(&told).causes);
        }
    }
}

#[test]
fn a_scale_that_the_flight_outgrows_is_taken_back() {
    let told = {
        let mut t = Story::from(Vantage::Sender).window(20_000);
        let mut next = 1;
        // Sixty flights of twenty segments fill a window of 20,000 bytes, and then the flight is twice as large.
        for flight in 0..80u32 {
            let length = if flight < 60 { 20 } else { 40 };
            t = t.at(u64::from(flight) * 20);
            for _ in 0..length {
                t = t.amid_data(next, MSS);
                next += MSS;
            }
            t = t.at(u64::from(flight) * 20 + 15).ack(next);
        }
        t.ends()
    };
    assert!(told.flow.window_scale_fits.is_none_or(|scale| scale == 1), "{:?}", told.flow.window_scale_fits);
    assert!(told.flow.window_max_bytes.is_none());
}

#[test]
fn a_real_transfer_with_a_small_window_is_limited_by_its_receiver() {
    let folder = shared_dir("situations");
    if !folder.exists() {
        println!("skipped: {} is not there", folder.display());
        return;
    }
    let all = packets(&folder.join("smallwindow-nohandshake-sender.pcap.gz"));
    let mut analyzer = analysis::Analyzer::new(analysis::Config::default(), analysis::Rows::default());
    analyzer.push(&all);
    let (_, rows) = analyzer.finish();
    let flow = rows.flows.iter().max_by_key(|f| f.bytes).expect("a flow").clone();
    let told = Told { flow, rows };
    assert_eq!((told.flow.window_scale_fits, told.flow.window_max_bytes), (Some(0), Some(17_376)));
    assert!(by(&told, Cause::ReceiveWindow) > 0.5, "{:?}", explained::answer(&told).causes);
    assert!(by(&told, Cause::SendWindow) == 0.0);
}
