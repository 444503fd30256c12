use super::*;
use crate::answer::certainty::Certainty;
use crate::rows::{BurstRow, EpisodeKind, Growth, IdleCause, Inference, Summary, Trigger, Vantage, Waited};

const MSS: u32 = 1448;

fn at(s: f64) -> Time {
    Time::ZERO + secs(s)
}

fn secs(s: f64) -> Span {
    Span::from_secs_f64(s)
}

/// Seen at the sender, over a path of 40 ms; opened from 0 on, data from 0.04 s to `last`.
fn flow(last: f64, bytes: u64) -> FlowRow {
    FlowRow {
        vantage: Vantage::Sender,
        start: at(0.0),
        end: at(last),
        first_data: Some(at(0.04)),
        last_data: Some(at(last)),
        handshake: Some(secs(0.04)),
        bytes,
        acked_bytes: bytes,
        segments: bytes / u64::from(MSS),
        mss: MSS,
        rtt_ack: Summary { n: 100, min: 0.04, mean: 0.041, stddev: 0.001, max: 0.06 },
        inference: Inference { growth: Some((Growth::Linear, 0.9)), ..Inference::default() },
        ..FlowRow::default()
    }
}

#[derive(Clone, Copy)]
enum By {
    Window,
    Ack,
    Application,
    Other,
}

/// Rounds of a round trip each, from 0.04 s to `last`: at so many bytes a second, with such waits and such a round trip.
fn rounds(last: f64, rate: f64, by: By, rtt: f64) -> Vec<RoundRow> {
    let n = ((last - 0.04) / 0.04).round() as usize;
    (0..n)
        .map(|i| {
            let (start, end) = (at(0.04 + 0.04 * i as f64), at(0.04 + 0.04 * (i + 1) as f64));
            let whole = end - start;
            let waited = Waited { times: 20, ..Waited::default() };
            let waited = match by {
                By::Window => Waited { window: whole, ..waited },
                By::Ack => Waited { ack: whole, ..waited },
                By::Application => Waited { application: whole, ..waited },
                By::Other => Waited { other: whole, ..waited },
            };
            RoundRow {
                start,
                end,
                sent_bytes: (rate * 0.04) as u64,
                delivered_bytes: (rate * 0.04) as u64,
                flight_bytes: (rate * rtt) as u64,
                window_min_bytes: Some(1_000_000),
                window_max_bytes: Some(1_000_000),
                rtt_n: 10,
                rtt_min: Some(secs(rtt)),
                rtt_sum: secs(rtt) * 10,
                waited,
                ..RoundRow::default()
            }
        })
        .collect()
}

fn gap(start: f64, end: f64, cause: IdleCause) -> IdleRow {
    IdleRow { start: at(start), end: at(end), cause, ..IdleRow::default() }
}

fn episode(start: f64, end: f64) -> EpisodeRow {
    EpisodeRow {
        start: at(start),
        first_repair: at(start + 0.04),
        end: Some(at(end)),
        kind: EpisodeKind::Ack,
        lost_segments: 1,
        ..EpisodeRow::default()
    }
}

/// The limits with their seconds to the millisecond, the longest first; and that they add up.
fn split(flow: &FlowRow, episodes: &[EpisodeRow], idle: &[IdleRow], rounds: &[RoundRow]) -> Vec<(Why, f64)> {
    let found = limited(flow, &[], episodes, idle, rounds, &[]);
    let sum = found.parts.iter().fold(Span::ZERO, |sum, p| sum + p.time);
    assert_eq!(sum, flow.end - flow.start, "to the nanosecond");
    let bytes: u64 = found.parts.iter().map(|p| p.bytes).sum();
    assert_eq!(bytes, flow.delivered_bytes());
    assert!(found.stretches.windows(2).all(|w| w[0].end == w[1].start), "no gap and no overlap");
    found.parts.iter().map(|p| (p.why, (p.time.as_secs() * 1e3).round() / 1e3)).collect()
}

fn largest(flow: &FlowRow, episodes: &[EpisodeRow], rounds: &[RoundRow]) -> Why {
    split(flow, episodes, &[], rounds)[0].0
}

#[test]
fn a_queue_that_stands_is_a_full_bottleneck_even_while_something_is_repaired() {
    let mut full = rounds(4.04, 1e6, By::Ack, 0.08);
    full[0].rtt_min = Some(secs(0.04));
    let found = split(&flow(4.04, 4_000_000), &[episode(1.0, 2.0)], &[], &full);
    assert_eq!(found[0].0, Why::BottleneckFull);
    assert!(found[0].1 > 3.9, "{found:?}");
}

#[test]
fn after_a_loss_without_a_queue_the_window_that_it_left_is_the_limit() {
    let found = split(&flow(4.04, 1_000_000), &[episode(0.5, 0.6)], &[], &rounds(4.04, 250e3, By::Ack, 0.04));
    assert_eq!(found[0].0, Why::SmallWindow, "{found:?}");
    assert!(found.contains(&(Why::Repairing, 0.1)), "{found:?}");
}

#[test]
fn a_probe_that_was_not_needed_leaves_the_window_as_it_was() {
    let probe = EpisodeRow {
        kind: EpisodeKind::Needless,
        lost_segments: 0,
        needless: 1,
        probes: 1,
        retransmissions: 1,
        ..episode(0.5, 0.54)
    };
    let rows = rounds(4.04, 250e3, By::Ack, 0.04);
    let small = |e: EpisodeRow| {
        let found = split(&flow(4.04, 1_000_000), &[e], &[], &rows);
        found.iter().any(|(why, _)| *why == Why::SmallWindow)
    };
    assert!(!small(probe.clone()));
    assert!(small(EpisodeRow { probes: 0, ..probe }), "a needless repair cuts it");
}

#[test]
fn a_sender_that_follows_a_model_of_the_path_has_no_window_that_losses_keep_small() {
    let flat = Inference { growth: Some((Growth::Flat, 0.9)), ..Inference::default() };
    let model = FlowRow { inference: flat, ..flow(4.04, 1_000_000) };
    let rows = rounds(4.04, 250e3, By::Ack, 0.04);
    assert_eq!(largest(&model, &[episode(0.06, 0.16)], &rows), Why::Unknown);
    assert_eq!(largest(&flow(4.04, 1_000_000), &[episode(0.06, 0.16)], &rows), Why::SmallWindow);
}

#[test]
fn a_steady_window_is_the_receivers_and_one_that_shrank_is_not_read() {
    let steady = rounds(4.04, 250e3, By::Window, 0.04);
    assert_eq!(largest(&flow(4.04, 1_000_000), &[], &steady), Why::SteadyWindow);
    let mut shrunk = steady;
    for r in &mut shrunk[3..] {
        (r.window_min_bytes, r.window_max_bytes) = (Some(10_000), Some(60_000));
    }
    assert_eq!(largest(&flow(4.04, 1_000_000), &[], &shrunk), Why::NothingRead);
}

#[test]
fn a_flight_that_stays_before_any_loss_is_held_by_the_sender_itself() {
    assert_eq!(largest(&flow(4.04, 1_000_000), &[], &rounds(4.04, 250e3, By::Ack, 0.04)), Why::Buffer);
    assert_eq!(
        largest(&flow(4.04, 1_000_000), &[], &rounds(4.04, 250e3, By::Application, 0.04)),
        Why::NothingToSend
    );
}

/// HTTP on one connection: the server's answer leaves at once, and then nothing until the next request.
#[test]
fn a_server_that_answers_waits_to_be_asked_in_short_waits_as_in_long_ones() {
    let rows = rounds(4.04, 250e3, By::Application, 0.04);
    let told = |gaps: &[IdleRow]| {
        let found = limited(&flow(5.04, 1_000_000), &[], &[], gaps, &rows, &[]);
        let part =
            |why| found.parts.iter().find(|p| p.why == why).map(|p| (p.time > secs(3.0), p.certainty()));
        (part(Why::NotAsked), part(Why::NothingToSend))
    };
    let (asked, nothing) = told(&[gap(4.04, 4.54, IdleCause::Peer)]);
    assert_eq!((asked, nothing), (Some((true, Certainty::Likely)), None));
    // A program that paused of itself may have done so before.
    let own = [gap(4.04, 4.54, IdleCause::Peer), gap(4.54, 4.84, IdleCause::Application)];
    assert_eq!(told(&own).1, Some((true, Certainty::Known)));
}

#[test]
fn bursts_of_two_segments_are_paced_and_others_are_the_applications() {
    let paced = |at_once: f64| {
        let mut rows = rounds(4.04, 250e3, By::Other, 0.04);
        rows.iter_mut().for_each(|r| r.waited.times = (r.sent_bytes as f64 / at_once).round() as u32);
        largest(&flow(4.04, 1_000_000), &[], &rows)
    };
    assert_eq!(paced(2.0 * f64::from(MSS)), Why::Pacing);
    assert_eq!(paced(5.0 * f64::from(MSS)), Why::NothingToSend);
}

#[test]
fn a_timer_that_fires_in_vain_shows_a_dark_path_and_a_single_wait_does_not() {
    let wait = |start, end| gap(start, end, IdleCause::Timeout);
    let waits = [wait(1.0, 1.2), wait(1.2, 1.6), wait(1.6, 2.4)];
    let e = EpisodeRow { timeouts: 3, ..episode(1.0, 2.44) };
    let f = flow(4.04, 1_000_000);
    let found = split(&f, std::slice::from_ref(&e), &waits, &[]);
    // Dark until the last repair that vanished, and half of the time to the first that came through.
    assert!(found.contains(&(Why::Outage, 1.0)) && found.contains(&(Why::Timer, 0.4)), "{found:?}");
    let found = split(&f, std::slice::from_ref(&e), &waits[..1], &[]);
    assert!(found.contains(&(Why::Timer, 0.2)) && !found.iter().any(|p| p.0 == Why::Outage), "{found:?}");
}

#[test]
fn a_timer_that_fires_in_vain_for_want_of_single_acks_shows_no_dark_path() {
    let wait = |start, end| gap(start, end, IdleCause::Timeout);
    let waits = [wait(1.0, 1.2), wait(1.2, 1.6), wait(1.6, 2.4)];
    let f = flow(4.04, 1_000_000);
    let e = EpisodeRow { number: 1, timeouts: 3, kind: EpisodeKind::TimerRto, ..episode(1.0, 2.44) };
    let outage = |f: &FlowRow, episodes: &[EpisodeRow]| {
        let found = limited(f, &[], episodes, &waits, &[], &[]);
        found.stretches.iter().find(|s| s.why == Why::Outage).map(|s| s.sure)
    };
    assert_eq!(outage(&f, std::slice::from_ref(&e)), Some(Certainty::Likely));
    // Before, a probe asked for the ACK of what had arrived.
    let probed = EpisodeRow { kind: EpisodeKind::Needless, probes: 1, lost_segments: 0, ..episode(0.5, 0.6) };
    assert_eq!(outage(&f, &[probed, e.clone()]), Some(Certainty::Open));
    // Both captures: all repairs arrived.
    let both = FlowRow { vantage: Vantage::Both, ..f };
    assert_eq!(outage(&both, &[EpisodeRow { lost_copies: Some(0), ..e.clone() }]), None);
    assert_eq!(outage(&both, &[EpisodeRow { lost_copies: Some(3), ..e }]), Some(Certainty::Likely));
}

/// The queue that stood before an outage hides it: ACKs set the repair off seconds later, and nobody waits for a timer.
#[test]
fn an_outage_that_acks_repaired_is_followed_by_no_wait_for_a_timer() {
    let told = |trigger| {
        let burst = BurstRow {
            start: at(1.0),
            last: at(1.19),
            lost_segments: 90,
            trigger,
            rtt_before: Some(secs(0.08)),
            first_repair: Some(at(1.9)),
            back: Some(at(1.2)),
            ..BurstRow::default()
        };
        let mut full = rounds(4.04, 1e6, By::Ack, 0.08);
        full[0].rtt_min = Some(secs(0.04));
        let found = limited(&flow(4.04, 4_000_000), &[burst], &[episode(1.0, 2.0)], &[], &full, &[]);
        let of = |why| found.parts.iter().find(|p| p.why == why).map_or(0.0, |p| p.time.as_secs());
        (of(Why::Outage) > 0.15, of(Why::Timer))
    };
    assert_eq!(told(Trigger::Ack), (true, 0.0));
    let (dark, waited) = told(Trigger::TimerRto);
    assert!(dark && waited > 0.0, "{waited}");
}

#[test]
fn an_outage_that_begins_behind_the_last_data_takes_no_time_of_the_transfer() {
    let kept_open = FlowRow { end: at(64.04), ..flow(4.04, 1_000_000) };
    for (back, first_repair) in [(None, None), (Some(at(9.0)), None), (Some(at(9.0)), Some(at(9.0)))] {
        let lost = BurstRow {
            start: at(8.0),
            last: at(8.5),
            lost_segments: 90,
            first_repair,
            back,
            trigger: Trigger::TimerRto,
            ..BurstRow::default()
        };
        let path = rounds(4.04, 250e3, By::Window, 0.04);
        let found = limited(&kept_open, &[lost], &[], &[], &path, &[]);
        let outage = found.parts.iter().find(|p| p.why == Why::Outage);
        assert_eq!((outage, found.transfer()), (None, secs(4.04)), "{back:?} {first_repair:?}");
    }
}

#[test]
fn what_comes_after_the_last_data_is_no_limit_of_the_transfer() {
    let kept_open = FlowRow { end: at(64.04), ..flow(4.04, 1_000_000) };
    let found = limited(&kept_open, &[], &[], &[], &rounds(4.04, 250e3, By::Window, 0.04), &[]);
    assert_eq!(found.parts[0].why, Why::Done);
    assert_eq!(found.transfer(), secs(4.04));
    let (most, share) = found.largest().unwrap();
    assert!(most == LimitedBy::ReceiverWindow && share > 0.95, "{most:?} {share}");
}

#[test]
fn the_rate_that_losses_allow_is_that_of_the_rule_in_use() {
    // 1 in 100, 100 ms: the square-root law for Reno with delayed ACKs is 8.7 segments a round trip without timeouts.
    let lossy = FlowRow {
        segments: 10_000,
        rtt_ack: Summary { n: 9, min: 0.1, mean: 0.1, ..Summary::default() },
        ..flow(100.0, 14_480_000)
    };
    let episodes: Vec<EpisodeRow> =
        (0..100).map(|i| episode(0.5 + f64::from(i), 0.6 + f64::from(i))).collect();
    let allowed = limited(&lossy, &[], &episodes, &[], &[], &[]).path.allowed.unwrap();
    let segments = allowed.most_bps * allowed.rtt_s / 8.0 / f64::from(MSS);
    assert!((6.0..8.7).contains(&segments), "{segments}");
    assert_eq!((allowed.cuts, allowed.rule), (0.01, Some(Growth::Linear)));
    // CUBIC's mean window there, RFC 9438 section 5.1, table 2: 12 segments.
    let cubic = Inference { growth: Some((Growth::Cubic, 0.9)), ..Inference::default() };
    let allowed =
        limited(&FlowRow { inference: cubic, ..lossy }, &[], &episodes, &[], &[], &[]).path.allowed.unwrap();
    assert!(allowed.most_bps >= segments, "{allowed:?}");
}

#[test]
fn an_empty_flow_and_one_that_was_never_answered_are_split_too() {
    assert!(limited(&FlowRow::default(), &[], &[], &[], &[], &[]).parts.is_empty());
    let silent = FlowRow { first_data: None, last_data: None, handshake: None, ..flow(7.0, 0) };
    let found = split(&silent, &[], &[gap(0.0, 7.0, IdleCause::Handshake)], &[]);
    assert_eq!(found, [(Why::Handshake, 7.0)]);
}

#[test]
fn a_busy_hosts_late_answers_are_no_queue() {
    // Round trips longer by a fifth, while trains show that the path lets ten times as much through.
    let mut late = rounds(4.04, 250e3, By::Ack, 0.048);
    late[0].rtt_min = Some(secs(0.04));
    for r in &mut late {
        (r.train_bytes, r.train) = (8 * u64::from(MSS), secs(8.0 * f64::from(MSS) / 2.5e6));
    }
    assert_eq!(largest(&flow(4.04, 1_000_000), &[], &late), Why::Buffer);
    // With the window full it is the program there that is late.
    late.iter_mut().for_each(|r| {
        r.waited = Waited { window: r.end - r.start, times: 20, ..Waited::default() };
    });
    assert_eq!(largest(&flow(4.04, 1_000_000), &[], &late), Why::NothingRead);
}

#[test]
fn a_program_in_step_with_the_acks_by_chance_is_later_than_the_host_answers() {
    let turn = |ms: f64| {
        let mut rows = rounds(4.04, 250e3, By::Ack, 0.04);
        rows.iter_mut().for_each(|r| (r.waited.answers, r.waited.turn) = (20, secs(ms / 1e3) * 20));
        for r in &mut rows[..2] {
            r.waited.turn = secs(20e-6) * 20;
        }
        largest(&flow(4.04, 1_000_000), &[], &rows)
    };
    assert_eq!(turn(0.06), Why::Buffer);
    assert_eq!(turn(0.6), Why::NothingToSend);
}

/// BBR as its path becomes longer by 300 ms: cwnd is twice the rate times the least round trip of the last ten seconds.
#[test]
fn a_pacing_sender_on_a_path_that_became_longer_is_not_said_to_have_nothing_to_send() {
    let told = |at: Vantage, flight: u64, rtt: f64, mss_at_once: u64| {
        let f = FlowRow { vantage: at, ..flow(8.04, 4_000_000) };
        let mut fast = rounds(4.04, 1e6, By::Other, 0.08);
        fast.iter_mut().for_each(|r| r.waited.times = (r.sent_bytes / u64::from(2 * MSS)) as u32);
        let by = if at == Vantage::Sender { By::Ack } else { By::Other };
        let mut slow = rounds(4.04, 250e3, by, rtt);
        for r in &mut slow {
            (r.start, r.end) = (r.start + secs(4.0), r.end + secs(4.0));
            r.flight_bytes = flight;
            (r.train_bytes, r.train) = (8 * u64::from(MSS), secs(8.0 * f64::from(MSS) / 1.1e6));
            r.waited.times = (r.sent_bytes / (mss_at_once * u64::from(MSS))) as u32;
            (r.waited.answers, r.waited.turn) = (20, secs(100e-6) * 20);
        }
        let found = limited(&f, &[], &[], &[], &[&fast[..], &slow[..]].concat(), &[]);
        let longest = [Why::NothingToSend, Why::Unknown]
            .into_iter()
            .find(|why| found.parts.iter().any(|p| p.why == *why && p.time > secs(3.0)));
        longest.unwrap_or_else(|| panic!("{:?}", found.parts))
    };
    let here = |flight, mss_at_once| told(Vantage::Sender, flight, 0.34, mss_at_once);
    // As much in flight as ever: the window, whoever paces. Less, and in a pacer's bursts: its pace, or its window.
    assert_eq!([here(80_000, 2), here(80_000, 1), here(40_000, 2)], [Why::Unknown; 3]);
    // Otherwise there was room, and nobody but the program to use it.
    assert_eq!(here(40_000, 1), Why::NothingToSend);
    // Where data arrives rate and round trip tell what was in flight.
    assert_eq!(told(Vantage::Receiver, 0, 0.34, 2), Why::Unknown);
    assert_eq!(told(Vantage::Receiver, 0, 0.05, 2), Why::NothingToSend);
}

#[test]
fn a_silence_with_room_in_every_window_and_nothing_lost_is_the_programs() {
    let few = IdleRow { flight_bytes: u64::from(MSS), ..gap(2.0, 4.0, IdleCause::Unknown) };
    let rows = rounds(2.0, 1e6, By::Ack, 0.04);
    let found = split(&flow(4.04, 2_000_000), &[], std::slice::from_ref(&few), &rows);
    assert!(found.contains(&(Why::NothingToSend, 2.0)), "{found:?}");
    // A timer that nothing was sent again for is none.
    let timer = IdleRow { cause: IdleCause::Timeout, ..few };
    let found = split(&flow(4.04, 2_000_000), &[], &[timer], &rows);
    assert!(found.contains(&(Why::NothingToSend, 2.0)), "{found:?}");
}

#[test]
fn the_largest_limit_is_known_only_where_what_is_known_of_it_outweighs_each_other() {
    let lossy = limited(
        &flow(4.04, 1_000_000),
        &[],
        &[episode(0.5, 1.5)],
        &[],
        &rounds(4.04, 250e3, By::Ack, 0.04),
        &[],
    );
    assert_eq!(lossy.certainty_of(LimitedBy::Loss), Certainty::Known);
    let mut dark = lossy;
    for p in dark.parts.iter_mut().filter(|p| p.why == Why::SmallWindow) {
        (p.likely, p.known) = (p.known, Span::ZERO);
    }
    assert_eq!(dark.certainty_of(LimitedBy::Loss), Certainty::Likely);
    assert_eq!(dark.certainty_of(LimitedBy::Open), Certainty::Open);
}
