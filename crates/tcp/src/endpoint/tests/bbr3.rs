//! BBR version 3 at the endpoint: the example test cases of draft-ietf-ccwg-bbr, its last appendix, and what it says of
//! bounds and of cwnd.

use super::bottleneck::{bottleneck, changes, story};
use super::pipe::*;
use super::stacks::draft_bbr3;
use crate::congestion::bbr3::{State, Told};
use crate::endpoint::*;
use std::cell::Cell;
use std::rc::Rc;

type Story = super::bottleneck::Story<Told>;

/// What the bottleneck does with a segment at a time: take so long for it, or lose it; and how long its queue is.
struct Bottleneck<G: FnMut(Time, usize) -> Option<Span>> {
    takes: G,
    queue_ms: i64,
}

/// 10 ms each way.
fn path<G: FnMut(Time, usize) -> Option<Span> + 'static>(
    mut b: Bottleneck<G>,
) -> (Pipe<impl FnMut(bool, usize, &Sent) -> Fate>, Story) {
    let takes = move |now, ordinal| (b.takes)(now, ordinal).map(|gap| (gap, Span::ZERO));
    let mut p = bottleneck(draft_bbr3(), Span::from_millis(b.queue_ms), takes);
    let told = story(&mut p, |client| client.sender.model3());
    (p, told)
}

/// A segment of 1448 bytes a millisecond: a BDP of 21.
const GAP: Span = Span::from_millis(1);
fn clear_path() -> Bottleneck<impl FnMut(Time, usize) -> Option<Span>> {
    Bottleneck { takes: |_, _| Some(GAP), queue_ms: 500 }
}

fn states(story: &Story) -> Vec<(Time, State)> {
    changes(story, |said| said.state)
}
/// The first note in a state after a time.
fn in_state(story: &Story, state: State, from: Time) -> (Time, Told, View) {
    let notes = story.borrow();
    *notes.iter().find(|n| n.0 >= from && n.1.state == state).unwrap_or_else(|| panic!("never {state:?}"))
}
fn per_ms(bw: u64) -> f64 {
    bw as f64 / f64::from(1 << 24) * 1000.0
}

#[test]
fn startup_ends_on_a_plateau_of_three_rounds_and_drain_at_a_bdp() {
    // "Exiting STARTUP on Bandwidth Plateau", "Exiting DRAIN Based on Inflight"; with a BDP in flight DOWN ends as it begins.
    let (mut p, story) = path(clear_path());
    p.client.write(u64::MAX);
    p.run_until(at_s(2));
    let states = states(&story);
    assert_eq!(
        states[..3].iter().map(|s| s.1).collect::<Vec<_>>(),
        [State::Startup, State::Drain, State::Cruise]
    );
    let notes = story.borrow();
    let last = notes.iter().rev().find(|n| n.1.state == State::Startup).unwrap().1;
    assert!(!last.full && last.plateau_rounds == 2, "{last:?}");
    let drain = notes.iter().find(|n| n.1.state == State::Drain).unwrap().1;
    assert!(drain.full && drain.plateau_rounds == 3);
    assert!((per_ms(drain.max_bw) - 1.0).abs() < 0.02, "{}", per_ms(drain.max_bw));
    let down = notes.iter().find(|n| n.1.state == State::Cruise).unwrap();
    assert!(down.2.pipe / down.2.smss <= 21 || down.1.rounds > drain.rounds + 3, "{down:?}");
}

#[test]
fn losses_end_startup_where_the_application_limits() {
    // "Exiting STARTUP on Loss When Application-Limited".
    let lossy =
        |_: Time, n: usize| if n > 60 && n.is_multiple_of(7) { None } else { Some(Span::from_micros(100)) };
    let (mut p, story) = path(Bottleneck { takes: lossy, queue_ms: 500 });
    // Twenty segments each 10 ms: less than cwnd lets out.
    for k in 0..200 {
        p.client.write(20 * 1448);
        p.run_until(Time(30_000_000) + Span::from_millis(10 * k));
    }
    let drain = in_state(&story, State::Drain, Time::ZERO);
    assert!(drain.1.full && drain.1.plateau_rounds < 3, "{drain:?}");
    assert!(drain.1.long_term < u32::MAX);
}

#[test]
fn without_loss_an_application_that_limits_stays_in_startup() {
    // "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss".
    let (mut p, story) = path(Bottleneck { takes: |_, _| Some(Span::from_micros(100)), queue_ms: 500 });
    for k in 0..400 {
        p.client.write(4 * 1448);
        p.run_until(Time(30_000_000) + Span::from_millis(10 * k));
    }
    assert!(states(&story).iter().all(|s| s.1 == State::Startup), "{:?}", states(&story));
}

#[test]
fn drain_ends_after_three_rounds_where_the_path_became_slower() {
    // "Exiting DRAIN Based on Time": the bandwidth falls as DRAIN begins.
    let slow = Rc::new(Cell::new(false));
    let now_slow = slow.clone();
    let takes = move |_: Time, _: usize| Some(if now_slow.get() { GAP * 4 } else { GAP });
    let (mut p, story) = path(Bottleneck { takes, queue_ms: 2000 });
    p.client.write(u64::MAX);
    while p.step(at_s(10)) && in_state(&story, State::Startup, Time::ZERO).1.rounds < 1000 {
        let state = story.borrow().last().map(|n| n.1.state);
        slow.set(state == Some(State::Drain));
        if matches!(state, Some(State::Down | State::Cruise)) {
            break;
        }
    }
    let drain = in_state(&story, State::Drain, Time::ZERO).1;
    let down = in_state(&story, State::Down, Time::ZERO);
    assert_eq!(down.1.rounds, drain.rounds + 4);
    assert!(down.2.pipe / down.2.smss > 21, "{down:?}");
}

#[test]
fn a_cycle_is_down_cruise_refill_up_and_up_ends_on_a_plateau() {
    // "Exiting PROBE_DOWN on Inflight", "Exiting PROBE_UP on Bandwidth Plateau"; probes come each BDP of rounds: 20.
    let (mut p, story) = path(clear_path());
    p.client.write(u64::MAX);
    p.run_until(at_s(4));
    let states: Vec<State> = states(&story).iter().map(|s| s.1).collect();
    for turn in states[2..].chunks_exact(4).take(3) {
        assert_eq!(turn, [State::Cruise, State::Refill, State::Up, State::Down]);
    }
    assert!(states.len() > 9, "{states:?}");
    let up = in_state(&story, State::Up, Time::ZERO);
    let down = in_state(&story, State::Down, up.0);
    assert!(down.1.rounds >= up.1.rounds + 3, "{up:?} {down:?}");
    let cruise = in_state(&story, State::Cruise, down.0);
    assert!(cruise.2.pipe / cruise.2.smss <= 21 + 2, "{cruise:?}");
    let refill = in_state(&story, State::Refill, cruise.0);
    let rounds = refill.1.rounds - down.1.rounds;
    assert!((18..=28).contains(&rounds) || refill.0 - down.0 > Span::from_secs(2), "{rounds} rounds");
}

#[test]
fn what_a_probe_lost_bounds_what_is_in_flight_and_the_next_probe_is_careful() {
    // Sections 5.5.10.2 and 5.3.3.4.2: a queue of 6 ms holds a quarter of a BDP.
    let (mut p, story) = path(Bottleneck { takes: |_, _| Some(GAP), queue_ms: 6 });
    p.client.write(u64::MAX);
    p.run_until(at_s(10));
    let notes = story.borrow();
    let bound = notes.iter().find(|n| n.1.long_term < u32::MAX).expect("a bound").0;
    let steady: Vec<_> = notes.iter().filter(|n| n.0 > bound + Span::from_secs(2)).collect();
    assert!(steady.iter().all(|n| n.1.long_term <= 40), "a BDP and the queue are 27 segments");
    let cruises = steady.iter().filter(|n| n.1.state == State::Cruise);
    for n in cruises {
        assert!(n.2.cwnd / n.2.smss <= n.1.long_term * 85 / 100 + 1, "15% of it is left free: {n:?}");
    }
    assert!(notes.iter().any(|n| n.1.precautionary), "a probe that stopped where the last one lost");
    let lost = p.data().filter(|c| c.lost && c.at > at_s(4)).count();
    let sent = p.data().filter(|c| c.at > at_s(4)).count();
    assert!(lost * 50 < sent, "{lost} of {sent}: less than 2%");
    let rate = p.server_got as f64 / 10.0;
    assert!(rate > 0.85 * 1_448_000.0, "{rate}");
}

#[test]
fn losses_while_cruising_lower_the_short_term_bounds_until_the_next_refill() {
    // Section 5.5.10.3: five lost of a round trip's 21, once.
    let state = Rc::new(Cell::new(None));
    let seen = state.clone();
    let mut left = 0;
    let mut done = false;
    let takes = move |now: Time, _: usize| {
        if !done && now > at_s(1) && seen.get() == Some(State::Cruise) {
            (done, left) = (true, 5);
        }
        if left > 0 {
            left -= 1;
            return None;
        }
        Some(GAP)
    };
    let (mut p, story) = path(Bottleneck { takes, queue_ms: 500 });
    p.client.write(u64::MAX);
    while p.step(at_s(5)) {
        state.set(story.borrow().last().map(|n| n.1.state));
    }
    let notes = story.borrow();
    let cut = notes.iter().position(|n| n.1.short_term < u32::MAX).expect("a short-term bound");
    assert_eq!(notes[cut].1.state, State::Cruise);
    assert!(notes[cut].1.short_term >= notes[cut - 1].2.cwnd / 1448 * 7 / 10, "{:?}", notes[cut].1);
    assert!(notes[cut].1.bw <= notes[cut].1.max_bw);
    let reset = notes[cut..].iter().find(|n| n.1.short_term == u32::MAX).expect("forgotten");
    assert_eq!(reset.1.state, State::Refill);
    assert_eq!(notes.last().unwrap().1.long_term, u32::MAX, "no probe lost anything");
}

#[test]
fn each_five_seconds_the_rtt_is_measured_with_half_a_bdp_for_200_ms() {
    // "Entering and Exiting PROBE_RTT".
    let (mut p, story) = path(clear_path());
    p.client.write(u64::MAX);
    p.run_until(at_s(8));
    let states = states(&story);
    let probe = states.iter().position(|s| s.1 == State::ProbeRtt).expect("ProbeRTT");
    let (began, ended) = (states[probe].0, states[probe + 1].0);
    assert!((5.0..5.2).contains(&began.as_secs()), "{began}");
    assert_eq!(states[probe + 1].1, State::Cruise);
    assert!((200.0..270.0).contains(&(ended - began).as_millis()), "{}", ended - began);
    let notes = story.borrow();
    let within = notes.iter().filter(|n| began < n.0 && n.0 < ended);
    assert!(within.clone().count() > 0);
    assert!(within.into_iter().all(|n| n.2.cwnd / n.2.smss <= 11), "half of 21, rounded up");
    let after = notes.iter().find(|n| n.0 >= ended + Span::from_millis(60)).unwrap();
    assert!(after.2.cwnd / after.2.smss > 30, "{after:?}");
}

#[test]
fn silence_stands_for_a_measurement() {
    // "Skipping PROBE_RTT Due to Application-Limited Sending".
    let (mut p, story) = path(clear_path());
    p.client.write(2000 * 1448);
    p.run_until(at_s(4));
    p.client.write(1448);
    p.run_until(at_s(10));
    assert!(p.client.all_acknowledged());
    p.client.write(100 * 1448);
    p.drain();
    assert!(p.client.sender.model3().unwrap().restarted);
    p.run_until(at_s(11));
    assert!(states(&story).iter().all(|s| s.1 != State::ProbeRtt));
}

#[test]
fn the_path_is_full_and_its_queue_short() {
    let (mut p, story) = path(clear_path());
    p.client.write(u64::MAX);
    p.run_until(at_s(1));
    let before = p.server_got;
    p.run_until(at_s(5));
    let rate = (p.server_got - before) as f64 / 4.0;
    assert!(rate > 0.96 * 1_448_000.0, "{rate}");
    let notes = story.borrow();
    let cruising = notes.iter().filter(|n| n.1.state == State::Cruise && n.0 > at_s(1));
    let most = cruising.map(|n| n.2.pipe / n.2.smss).max().unwrap();
    assert!(most <= 30, "{most} in flight, of a BDP of 21");
}

#[test]
fn after_an_outage_with_a_timeout_the_rate_comes_back() {
    let takes = |now: Time, _: usize| if now > at_s(3) && now < at_s(4) { None } else { Some(GAP) };
    let (mut p, _) = path(Bottleneck { takes, queue_ms: 500 });
    p.client.write(u64::MAX);
    p.run_until(at_s(7));
    let got = p.server_got;
    p.run_until(at_s(11));
    assert!(p.by_client().any(|c| matches!(c.sent.why, Why::Timeout { .. })));
    let rate = (p.server_got - got) as f64 / 4.0;
    assert!(rate > 0.9 * 1_448_000.0, "{rate}");
}
