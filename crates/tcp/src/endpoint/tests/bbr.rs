//! BBR as Linux 6 has it, at the endpoint: each state of net/ipv4/tcp_bbr.c on a path that calls for it.

use super::bottleneck::{bottleneck, changes, story};
use super::pipe::*;
use super::stacks::linux6_bbr;
use super::timeline::Timeline;
use crate::congestion::bbr::{Mode, Told};
use crate::endpoint::*;

type Story = super::bottleneck::Story<Told>;

/// A bottleneck: `gap` a segment, a queue of `queue` of them, and a word on each that would pass: does it, and how much
/// longer is its way?
fn path<W: FnMut(Time, usize) -> (bool, Span) + 'static>(
    gap: Span,
    queue: i64,
    mut word: W,
) -> (Pipe<impl FnMut(bool, usize, &Sent) -> Fate>, Story) {
    let takes = move |now, ordinal| {
        let (passes, more) = word(now, ordinal);
        passes.then_some((gap, more))
    };
    let mut p = bottleneck(linux6_bbr(), gap * queue, takes);
    let told = story(&mut p, |client| client.sender.model());
    (p, told)
}

fn free_of_loss(_: Time, _: usize) -> (bool, Span) {
    (true, Span::ZERO)
}

/// 1448 bytes a millisecond: 11.6 Mbps, and with 20 ms of delay a BDP of 21 segments.
const GAP: Span = Span::from_millis(1);

fn modes(story: &Story) -> Vec<(Time, Mode)> {
    changes(story, |said| said.mode)
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more_and_the_queue_is_drained() {
    let (mut p, story) = path(GAP, 500, free_of_loss);
    p.client.write(u64::MAX);
    p.run_until(at_s(3));
    let modes = modes(&story);
    assert_eq!(
        modes.iter().map(|m| m.1).collect::<Vec<_>>()[..3],
        [Mode::Startup, Mode::Drain, Mode::ProbeBw]
    );
    let notes = story.borrow();
    let (drain, probe) = (modes[1].0, modes[2].0);
    // The estimate was within a quarter of its last value for the three rounds before.
    let rounds = |at: Time| notes.iter().rev().find(|n| n.0 <= at).map_or(0, |n| n.1.rounds);
    let full = notes.iter().find(|n| n.1.bw * 5 / 4 > notes.iter().map(|n| n.1.bw).max().unwrap()).unwrap();
    assert!(rounds(drain) - full.1.rounds <= 4, "{} {}", rounds(drain), full.1.rounds);
    assert!(notes.iter().any(|n| n.1.rounds + 3 == rounds(drain) && n.1.bw * 4 / 5 <= full.1.bw));
    // Drained to a BDP and room for three bursts, less what is delivered until the next burst leaves.
    let view = notes.iter().find(|n| n.0 == probe).unwrap().2;
    assert!(view.pipe / view.smss <= 28 + 6, "{view:?}");
    assert_eq!(view.ssthresh / view.smss, 28, "BDP, with room, even");
}

#[test]
fn in_probe_bw_the_path_is_full_and_the_queue_is_short() {
    let (mut p, story) = path(GAP, 500, free_of_loss);
    p.client.write(u64::MAX);
    p.run_until(at_s(3));
    let before = p.server_got;
    p.run_until(at_s(8));
    let rate = (p.server_got - before) as f64 / 5.0;
    assert!(rate > 0.97 * 1_448_000.0, "{rate} bytes/s");
    // The model: a segment a ms, and 21 ms.
    let (_, said, view) = *story.borrow().last().unwrap();
    assert!((said.bw as f64 / f64::from(1 << 24) * 1000.0 - 1.0).abs() < 0.02, "{said:?}");
    assert_eq!(said.min_rtt_us, Some(21_000));
    assert!(view.srtt.unwrap() < Span::from_millis(28), "{view:?}");
}

#[test]
fn the_cycle_probes_drains_and_cruises_for_a_round_trip_each() {
    let (mut p, story) = path(GAP, 500, free_of_loss);
    p.client.write(u64::MAX);
    p.run_until(at_s(6));
    let mut gains: Vec<(Time, u32)> = Vec::new();
    for (at, said, _) in story.borrow().iter().filter(|n| n.1.mode == Mode::ProbeBw) {
        if gains.last().is_none_or(|(_, g)| *g != said.pacing_gain) {
            gains.push((*at, said.pacing_gain));
        }
    }
    // From a probe on: 5/4, 3/4, 1 for six phases; a phase is a smallest RTT and until the next ACK.
    let first = gains.iter().position(|g| g.1 == 320).unwrap();
    let turns: Vec<_> = gains[first..].chunks_exact(3).collect();
    assert!(turns.len() > 10);
    for t in &turns {
        assert_eq!([t[0].1, t[1].1, t[2].1], [320, 192, 256]);
    }
    for (a, b) in turns.iter().zip(&turns[1..]) {
        let cruise = (b[0].0 - a[2].0).as_millis();
        assert!((6.0 * 21.0..6.0 * 25.0).contains(&cruise), "{cruise} ms");
        assert!((21.0..60.0).contains(&(a[1].0 - a[0].0).as_millis()));
        assert!((a[2].0 - a[1].0).as_millis() < 25.0);
    }
}

#[test]
fn an_rtt_that_is_ten_seconds_old_is_measured_with_four_segments_for_200_ms() {
    // From 2 s on the path is 3 ms longer. The smallest RTT, the handshake's, does not come again: ACKs answer the second
    // segment of a burst.
    let (mut p, story) =
        path(GAP, 500, |now, _| (true, Span::from_millis(if now > at_s(2) { 3 } else { 0 })));
    p.client.write(u64::MAX);
    p.run_until(at_s(14));
    let modes = modes(&story);
    let probe = modes.iter().position(|m| m.1 == Mode::ProbeRtt).expect("PROBE_RTT");
    let (began, ended) = (modes[probe].0, modes[probe + 1].0);
    assert!((10.0..10.1).contains(&began.as_secs()), "{began}");
    assert_eq!(modes[probe + 1].1, Mode::ProbeBw);
    let took = (ended - began).as_millis();
    assert!((220.0..270.0).contains(&took), "{took} ms: a round trip to come down, 200 ms, a jiffy or two");
    let within: Vec<_> = story.borrow().iter().filter(|n| began <= n.0 && n.0 < ended).map(|n| n.2).collect();
    assert!(within.iter().all(|v| v.cwnd <= 4 * v.smss));
    let after = story.borrow().iter().find(|n| n.0 == ended).map(|n| (n.1, n.2)).unwrap();
    assert!(after.1.cwnd > 20 * after.1.smss, "as before: {:?}", after.1);
    assert_eq!(after.0.min_rtt_us, Some(25_000), "two segments' time, 20 ms, and 3");
    assert_eq!(modes.iter().filter(|m| m.1 == Mode::ProbeRtt).count(), 1);
}

#[test]
fn a_policer_is_found_and_its_rate_is_kept() {
    // A bucket of 60 segments, filled with one each 2 ms, on a path that is four times as fast.
    let (mut tokens, mut filled) = (60.0_f64, Time::ZERO);
    let (mut p, story) = path(Span::from_micros(500), 500, move |now, _| {
        tokens = (tokens + (now - filled).as_millis() / 2.0).min(60.0);
        filled = now;
        let passes = tokens >= 1.0;
        tokens -= if passes { 1.0 } else { 0.0 };
        (passes, Span::ZERO)
    });
    p.client.write(u64::MAX);
    p.run_until(at_s(5));
    let notes = story.borrow();
    let policed = notes.iter().find(|n| n.1.policed).expect("policed");
    assert!(policed.0 < at_s(3), "{}", policed.0);
    let per_ms = policed.1.bw as f64 / f64::from(1 << 24) * 1000.0;
    assert!((0.4..0.65).contains(&per_ms), "{per_ms} segments a ms; 0.5 pass");
    assert!(notes.iter().filter(|n| n.1.policed).all(|n| n.1.pacing_gain == 256));
}

#[test]
fn what_an_application_limits_does_not_lower_the_estimate() {
    let (mut p, story) = path(GAP, 500, free_of_loss);
    p.client.write(3000 * 1448);
    p.run_until(at_s(5));
    let before = story.borrow().last().unwrap().1.bw;
    // A segment each 100 ms, for twenty filters' lengths.
    for k in 0..100 {
        p.client.write(1448);
        p.run_until(at_s(5) + Span::from_millis(100 * (k + 1)));
    }
    let after = story.borrow().last().unwrap().1;
    assert!(after.rounds > 100 && after.bw == before, "{after:?}, {before}");
}

#[test]
fn a_loss_conserves_packets_for_a_round_and_then_cwnd_is_back() {
    let (mut p, story) = path(GAP, 500, |_, ordinal| (!(2000..2010).contains(&ordinal), Span::ZERO));
    p.client.write(u64::MAX);
    p.run_until(at_s(4));
    let notes = story.borrow();
    let repair: Vec<_> = notes.iter().filter(|n| n.2.phase == Phase::Recovery).collect();
    let first = repair.first().expect("a recovery").2;
    assert!(first.cwnd < 30 * first.smss, "{first:?}");
    let end = notes.iter().find(|n| n.0 > repair.last().unwrap().0).unwrap();
    let before = notes.iter().rev().find(|n| n.0 < repair[0].0).unwrap();
    assert!(end.2.cwnd >= before.2.cwnd * 9 / 10, "{:?} {:?}", before.2, end.2);
    assert_eq!(before.2.ssthresh, end.2.ssthresh, "no loss moves it");
    assert_eq!(end.2.timeouts, 0);
    assert!(end.1.bw as f64 > 0.97 * before.1.bw as f64);
}

#[test]
fn after_an_outage_with_a_timeout_the_rate_is_what_it_was() {
    let dark = |now: Time| now > at_s(3) && now < at_s(4);
    let (mut p, story) = path(GAP, 500, move |now, _| (!dark(now), Span::ZERO));
    p.client.write(u64::MAX);
    p.run_until(at_s(5));
    let got = p.server_got;
    p.run_until(at_s(8));
    assert!(p.by_client().any(|c| matches!(c.sent.why, Why::Timeout { .. })));
    let rate = (p.server_got - got) as f64 / 3.0;
    assert!(rate > 0.95 * 1_448_000.0, "{rate}");
    let notes = story.borrow();
    let dark: Vec<_> = notes.iter().filter(|n| n.2.phase == Phase::Loss).collect();
    assert!(dark.first().is_some_and(|n| n.2.cwnd <= 2 * n.2.smss), "one segment beyond what is in flight");
}

#[test]
fn after_idle_data_leaves_at_the_bandwidth_from_the_second_burst_on() {
    let (mut p, story) = path(GAP, 500, free_of_loss);
    p.client.write(3000 * 1448);
    p.run_until(at_s(5));
    // One segment marks the silence as the application's own; the next find nothing in flight.
    p.client.write(1448);
    p.run_until(at_s(6));
    let from = p.log.len();
    p.client.write(20 * 1448);
    p.run_until(at_s(6) + Span::from_millis(19));
    let left: Vec<_> = p.log[from..].iter().filter(|c| c.from_client).map(|c| c.at).collect();
    // Before any ACK: two at once, then two each two milliseconds, at 99% of a segment a millisecond; no burst of cwnd.
    assert!((16..=20).contains(&left.len()), "{left:?}");
    let spread = (left[15] - left[0]).as_millis();
    assert!((12.5..15.0).contains(&spread), "{spread} ms");
    assert_eq!(story.borrow().last().unwrap().1.mode, Mode::ProbeBw);
}

#[test]
fn a_lost_percent_costs_a_percent() {
    let (mut p, _) = path(GAP, 500, |_, ordinal| (ordinal % 100 != 50, Span::ZERO));
    p.client.write(u64::MAX);
    p.run_until(at_s(2));
    let before = p.server_got;
    p.run_until(at_s(8));
    let rate = (p.server_got - before) as f64 / 6.0;
    assert!(rate > 0.95 * 1_448_000.0, "{rate}");
}

/// tcp_sacktag_write_queue, tcp_count_delivered: tp->delivered has what DSACKs report, and rates are of that.
#[test]
fn what_came_twice_is_delivered_and_counts_in_rates() {
    let mut t = Timeline::established(&linux6_bbr(), 100);
    t.at_ms(0).app_writes_segments(10).sends(0..10);
    let delivered = |t: &Timeline| t.end.sender.board.rates().unwrap().delivered();
    assert_eq!(delivered(&t), 1, "the SYN");
    t.at_ms(100).sack(0, &[1..4]).resends(0);
    // The original was only late.
    t.at_ms(110).ack(9).quiet();
    assert_eq!(delivered(&t), 10);
    t.at_ms(200).sack(9, &[0..1]).quiet();
    assert_eq!(delivered(&t), 11);
    // Nothing else left again: the network doubled it (tcp_dsack_seen).
    t.at_ms(201).sack(9, &[0..1]).quiet();
    assert_eq!(delivered(&t), 11);
}
