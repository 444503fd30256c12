//! Rows of small conversations, and who owns their time.

mod rows;

use analysis::rows::*;
use analysis::waits::Stretch;
use explain::answer::Answer;
use explain::cause::Cause;
use explain::certainty::Certainty;
use explain::conversation::{FlowRows, Rows};
use rows::*;
use wire::{Span, Time};

#[test]
fn what_every_owner_has_adds_up_to_what_was_owed() {
    let waits = [
        stretch(0, &[(0, Wait::Handshake, 40), (0, Wait::Path, 60)]),
        stretch(100, &[(1, Wait::Program, 300), (0, Wait::Small, 40), (0, Wait::Closed, 500)]),
        stretch(
            940,
            &[(0, Wait::Window, 200), (0, Wait::Pace, 10), (1, Wait::Unknown, 5), (0, Wait::Nothing, 900)],
        ),
    ];
    let answer = explained(&flow(5_000), &[], &[], &waits);
    let sum = answer.causes.iter().fold(Span::ZERO, |sum, s| sum + s.time);
    assert_eq!((sum, answer.owed), (answer.owed, Span::from_millis(1155)), "nothing is owed for 900 ms");
    assert_eq!(answer.cause, Cause::ReceiverNotReading);
    assert_eq!(answer.by, Some(Role::Server));
}

#[test]
fn round_trips_of_an_exchange_are_no_idle_program() {
    let turns: Vec<Stretch> =
        (0..50).map(|i| stretch(40 + 41 * i, &[(0, Wait::Path, 40), (0, Wait::Program, 1)])).collect();
    let answer = explained(&flow(10_000), &[], &[], &turns);
    assert_eq!(answer.cause, Cause::RequestResponse);
    assert!((seconds(&answer, Cause::RequestResponse) - 2.0).abs() < 1e-9);
    assert!((seconds(&answer, Cause::SenderIdle) - 0.05).abs() < 1e-9);
}

#[test]
fn a_lost_packet_owns_the_wait_for_its_timer() {
    let answer = explained(&flow(10_000), &[timed_out()], &[], &waited_for_the_timer());
    assert_eq!(answer.cause, Cause::LossRandom);
    assert!(seconds(&answer, Cause::LossRandom) >= 1.0);
    assert_eq!(seconds(&answer, Cause::Timer), 0.0);
}

#[test]
fn a_timer_far_beyond_rfc_6298_owns_its_wait_and_a_sender_that_was_asked_stands_still() {
    let late = EpisodeRow {
        silence: Some(Span::from_millis(4_500)),
        first_repair: ms(5_500),
        last_repair: ms(5_500),
        end: Some(ms(5_540)),
        ..timed_out()
    };
    let waits = [waited_for_the_timer()[0], stretch(1000, &[(0, Wait::Timer, 4_500)])];
    let answer = explained(&flow(10_000), std::slice::from_ref(&late), &[], &waits);
    assert_eq!((answer.cause, answer.by), (Cause::Timer, Some(Role::Client)));
    // A timer as RFC 6298 has it would have waited, too: that second is the loss's.
    assert!((seconds(&answer, Cause::Timer) - 3.5).abs() < 0.01);
    // Four segments behind it arrived, so three duplicate ACKs came.
    let asked = EpisodeRow { sent_after_loss_bytes: 5 * u64::from(MSS), ..late };
    let answer = explained(&flow(10_000), std::slice::from_ref(&asked), &[], &waits);
    assert_eq!(answer.cause, Cause::SenderStalled);
    // It went on sending for half a second, and the timer may start anew with each packet.
    let waits = [
        waited_for_the_timer()[0],
        stretch(1000, &[(0, Wait::Ack, 500)]),
        stretch(1500, &[(0, Wait::Timer, 4_000)]),
    ];
    let silence = Some(Span::from_millis(4_000));
    let fell_silent = EpisodeRow { silence, ..asked };
    let first_repair = Some(fell_silent.first_repair);
    let lost = BurstRow {
        start: ms(1000),
        last: ms(1000),
        first_repair,
        silence,
        episode: Some(0),
        ..BurstRow::default()
    };
    let answer = explained(&flow(10_000), &[fell_silent], &[lost], &waits);
    assert!((seconds(&answer, Cause::SenderStalled) - 3.5).abs() < 0.05, "{:?}", answer.causes);
}

#[test]
fn repairs_that_were_all_needless_show_packets_that_were_held_or_acks_that_were_lost() {
    let needless = EpisodeRow {
        needless: 1,
        kind: EpisodeKind::Needless,
        lost_copies: Some(0),
        lost_segments: 0,
        ..timed_out()
    };
    // The answer came a round trip after the repair: it answers the repair.
    let answer = explained(&flow(10_000), std::slice::from_ref(&needless), &[], &waited_for_the_timer());
    assert_eq!(answer.cause, Cause::AckLoss);
    // It came sooner: it answers what had been sent before.
    let held = EpisodeRow { end: Some(ms(2010)), ..needless.clone() };
    let answer = explained(&flow(10_000), &[held], &[], &waited_for_the_timer());
    assert_eq!(answer.cause, Cause::PacketsHeld);
    // Each copy was answered: all had been kept on the way, and none was lost.
    let answered = FlowRow { duplicate_acks: 1, ..flow(10_000) };
    let answer = explained(&answered, std::slice::from_ref(&needless), &[], &waited_for_the_timer());
    assert_eq!(answer.cause, Cause::PacketsHeld);
    // The timer fired before a round trip was over.
    let hasty = EpisodeRow {
        first_repair: ms(1_030),
        last_repair: ms(1_030),
        silence: Some(Span::from_millis(30)),
        trigger: Trigger::Ack,
        timeouts: 0,
        ..needless
    };
    let answer = explained(&flow(10_000), &[hasty], &[], &waited_for_the_timer());
    assert_eq!((answer.cause, answer.by), (Cause::Timer, Some(Role::Client)));
}

/// Repaired in vain again and again: all had arrived.
fn in_vain() -> EpisodeRow {
    EpisodeRow {
        needless: 3,
        retransmissions: 3,
        timeouts: 3,
        max_backoff: 2,
        lost_copies: Some(2),
        ..timed_out()
    }
}

#[test]
fn acks_that_are_lost_one_after_the_other_are_no_outage_but_lost_answers_are() {
    let answer = explained(&flow(10_000), &[in_vain()], &[], &waited_for_the_timer());
    assert_eq!(answer.cause, Cause::AckLoss);
    // All of the request had been sent: its ACK would have come with the answer.
    let request = EpisodeRow { limit: Limit::Application, ..in_vain() };
    let (asks, answers) = (flow(10_000), flow(10_000));
    let rows = |episodes| FlowRows { flow: Some(&asks), episodes, ..FlowRows::default() };
    let server = FlowRows { flow: Some(&answers), ..FlowRows::default() };
    let one = [request.clone()];
    let answer = explain::explain(&Rows {
        flows: [rows(&one), server],
        waits: &waited_for_the_timer(),
        origin: Time::ZERO,
    });
    assert_eq!(answer.cause, Cause::Outage);
    // A path that is dark for once makes one; one that loses many packets makes many.
    let often: Vec<EpisodeRow> = (0..4).map(|_| request.clone()).collect();
    let answer = explain::explain(&Rows {
        flows: [rows(&often), server],
        waits: &waited_for_the_timer(),
        origin: Time::ZERO,
    });
    assert_eq!(answer.cause, Cause::LossRandom);
}

#[test]
fn an_answer_of_which_nothing_comes_once_its_request_was_repeated_is_too_large() {
    let repeated = EpisodeRow { needless: 1, lost_copies: Some(0), limit: Limit::Application, ..timed_out() };
    let open = FlowRow { closed: Closed::Open, ..flow(300) };
    let answer = explained(&open, std::slice::from_ref(&repeated), &[], &waited_for_the_timer());
    assert_eq!(answer.cause, Cause::Mtu);
    let closed = FlowRow { closed: Closed::Fin, ..open };
    let answer = explained(&closed, &[repeated], &[], &waited_for_the_timer());
    assert_eq!(answer.cause, Cause::AckLoss);
}

#[test]
fn a_receiver_that_keeps_nothing_beyond_a_hole_and_says_nothing_owns_the_wait() {
    let thrown_away = EpisodeRow {
        retransmissions: 4,
        needless: 3,
        sent_after_loss_bytes: 4 * u64::from(MSS),
        ..timed_out()
    };
    let arrives = FlowRow { vantage: Vantage::Receiver, ..flow(100_000) };
    let answer = explained(&arrives, std::slice::from_ref(&thrown_away), &[], &waited_for_the_timer());
    assert_eq!((answer.cause, answer.by), (Cause::ReceiverStack, Some(Role::Server)));
    let tells = FlowRow { duplicate_acks: 4, ..arrives };
    let answer = explained(&tells, &[thrown_away], &[], &waited_for_the_timer());
    assert_ne!(answer.cause, Cause::ReceiverStack);
}

#[test]
fn a_small_segment_waits_a_round_trip_and_what_is_more_its_receiver_held() {
    let waits: Vec<Stretch> = (0..20).map(|i| stretch(240 * i, &[(0, Wait::Small, 240)])).collect();
    let answer = explained(&flow(30_000), &[], &[], &waits);
    assert_eq!((answer.cause, answer.by), (Cause::DelayedAck, Some(Role::Server)));
    assert!((seconds(&answer, Cause::DelayedAck) - 4.0).abs() < 1e-6);
    assert!((seconds(&answer, Cause::RequestResponse) - 0.8).abs() < 1e-6);
    // Where data arrives, that it followed on the ACK again and again may be an accident.
    let answer = explained(&FlowRow { vantage: Vantage::Receiver, ..flow(30_000) }, &[], &[], &waits);
    assert_eq!((answer.cause, answer.certainty), (Cause::DelayedAck, Certainty::Likely));
}

#[test]
fn nobody_waits_for_the_arrival_of_what_the_same_program_follows_up() {
    let waits: Vec<Stretch> =
        (0..50).map(|i| Stretch { bytes: [700, 0], ..stretch(30 * i, &[(0, Wait::Path, 30)]) }).collect();
    let flow = |bytes| FlowRow { last_data: Some(ms(1_470)), ..flow(bytes) };
    let answer = explained(&flow(35_000), &[], &[], &waits);
    assert_eq!((answer.cause, answer.by), (Cause::SenderIdle, Some(Role::Client)));
    // The arrival of the last is waited for.
    assert!((seconds(&answer, Cause::RequestResponse) - 0.06).abs() < 1e-6, "{:?}", answer.causes);
    // Full segments and nothing else are no messages.
    let full: Vec<Stretch> = waits.iter().map(|w| Stretch { bytes: [2 * u64::from(MSS), 0], ..*w }).collect();
    let answer = explained(&flow(35_000), &[], &[], &full);
    assert_eq!((answer.cause, answer.certainty), (Cause::Pacing, Certainty::Likely));
}

/// A round trip of 40 ms with so many segments in flight, which came in a train of so many ms.
#[test]
fn the_largest_flight_again_and_again_is_a_limit_and_growth_is_none() {
    // Answers end in between, so that no five round trips in a row have it.
    let rounds: Vec<RoundRow> = (0..30).map(|i| round(i, if i % 4 == 3 { 3 } else { 8 }, 4)).collect();
    assert_eq!(in_rounds(&flow(300_000), &rounds, &[], &[]).cause, Cause::SendWindow);
    let rounds: Vec<RoundRow> = (0..6).map(|i| round(i, 8 << i, 4)).collect();
    assert_eq!(in_rounds(&flow(300_000), &rounds, &[], &[]).cause, Cause::SlowStart);
}

#[test]
fn where_data_comes_evenly_all_the_time_its_sender_spaces_it() {
    let arrives = FlowRow { vantage: Vantage::Receiver, ..flow(300_000) };
    let even: Vec<RoundRow> = (0..30).map(|i| round(i, 8, 39)).collect();
    assert_eq!(in_rounds(&arrives, &even, &[], &[]).cause, Cause::Pacing);
    let in_bursts: Vec<RoundRow> = (0..30).map(|i| round(i, 8, 4)).collect();
    assert_eq!(in_rounds(&arrives, &in_bursts, &[], &[]).cause, Cause::SendWindow);
    // Where no round trip shows whether they waited for each other, the slowest link may have spaced them.
    let unseen = |r: &RoundRow| RoundRow { rtt_n: 0, rtt_min: None, rtt_sum: Span::ZERO, ..*r };
    let said = in_rounds(&arrives, &even.iter().map(unseen).collect::<Vec<_>>(), &[], &[]);
    assert_eq!((said.cause, said.certainty), (Cause::Bottleneck, Certainty::Open));
    // Two segments every ten milliseconds; and four with only their ends so far apart.
    let waited = Waited { ack: Span::from_millis(40), times: 4, ..Waited::default() };
    let in_pairs = |quiet| {
        let pairs = |i| RoundRow {
            waited,
            train_bytes: u64::from(MSS),
            quiet: Span::from_millis(quiet),
            ..round(i, 8, 0)
        };
        (0..30).map(pairs).collect::<Vec<RoundRow>>()
    };
    for sender in [&arrives, &flow(300_000)] {
        assert_eq!(in_rounds(sender, &in_pairs(10), &[], &[]).cause, Cause::Pacing);
        assert_eq!(in_rounds(sender, &in_pairs(30), &[], &[]).cause, Cause::SendWindow);
    }
}

#[test]
fn the_same_flight_without_a_loss_is_no_slow_start() {
    // The first flight was larger than those that a pace allows.
    let rounds: Vec<RoundRow> = (0..30).map(|i| round(i, if i < 2 { 16 } else { 8 }, 4)).collect();
    assert_eq!(in_rounds(&flow(300_000), &rounds, &[], &[]).cause, Cause::SendWindow);
}

#[test]
fn a_silence_within_a_message_is_a_loss_that_does_not_show_where_data_arrives() {
    let arrives = FlowRow { vantage: Vantage::Receiver, ..flow(20_000) };
    let silent = |length: i64| {
        let waits = [stretch(0, &[(0, Wait::Ack, 40)]), stretch(40, &[(0, Wait::Pace, length)])];
        let idle = [IdleRow { start: ms(40), end: ms(40 + length), ..IdleRow::default() }];
        let client = FlowRows { flow: Some(&arrives), idle: &idle, ..FlowRows::default() };
        explain::explain(&Rows { flows: [client, FlowRows::default()], waits: &waits, origin: Time::ZERO })
    };
    assert_eq!(silent(1_050).cause, Cause::LossRandom);
    let late = silent(5_200);
    assert_eq!((late.cause, late.certainty), (Cause::Timer, Certainty::Likely));
    // RFC 6298 section 2.4: a second would have been due.
    let lost = late.causes.iter().find(|c| c.cause == Cause::LossRandom).unwrap();
    assert_eq!(lost.time, Span::from_secs(1));
}

/// Losses of new data, each with the time and the number of its first segment, and one episode for each.
fn losses(at: &[(i64, u64)], segments: u32) -> (Vec<BurstRow>, Vec<EpisodeRow>) {
    let bursts = at.iter().zip(0..).map(|((time, segment), number)| BurstRow {
        start: ms(*time),
        last: ms(*time),
        lost_segments: segments,
        lost_copies: Some(segments),
        lost_bytes: u64::from(segments * MSS),
        seq_start: segment * u64::from(MSS),
        seq_end: (segment + u64::from(segments)) * u64::from(MSS),
        episode: Some(number),
        ..BurstRow::default()
    });
    let episodes = at.iter().zip(0..).map(|((time, _), number)| EpisodeRow {
        number,
        start: ms(*time),
        first_repair: ms(time + 40),
        last_repair: ms(time + 40),
        end: Some(ms(time + 80)),
        lost_segments: segments,
        lost_copies: Some(segments),
        retransmissions: segments,
        flight_bytes: 8 * u64::from(MSS),
        ..EpisodeRow::default()
    });
    (bursts.collect(), episodes.collect())
}

#[test]
fn losses_at_one_rate_of_a_faster_path_are_a_policers_and_others_are_not() {
    let rounds: Vec<RoundRow> = (0..30).map(|i| round(i, 6 + i as u64 % 8, 4)).collect();
    // 120 ms and 24 segments each; then the same losses at no rate.
    let even: Vec<(i64, u64)> = (1..9).map(|i| (120 * i as i64, 24 * i)).collect();
    let (bursts, episodes) = losses(&even, 2);
    assert_eq!(in_rounds(&flow(300_000), &rounds, &bursts, &episodes).cause, Cause::Policer);
    // The path is not much faster than what all its flows have together.
    let shared = of_all_flows(|_| 20_000, Span::ZERO);
    let answer = on_a_path(&shared, &flow(300_000), &rounds, &bursts, &episodes);
    assert_ne!(answer.cause, Cause::Policer);
    // A channel may lose single packets at equal distances a few times, but not again and again.
    let (bursts, episodes) = losses(&even[..5], 1);
    assert_eq!(in_rounds(&flow(300_000), &rounds, &bursts, &episodes).cause, Cause::LossRandom);
    let (bursts, episodes) = losses(&even, 1);
    assert_eq!(in_rounds(&flow(300_000), &rounds, &bursts, &episodes).cause, Cause::Policer);
    // The channel of a sender at one rate loses single packets at that rate, and at any distance.
    let steady: Vec<(i64, u64)> = [1, 2, 7, 9, 16, 17, 21, 28].map(|i| (120 * i, 24 * i as u64)).into();
    let (bursts, episodes) = losses(&steady, 1);
    assert_eq!(in_rounds(&flow(300_000), &rounds, &bursts, &episodes).cause, Cause::LossRandom);
    let uneven = [(120, 10), (240, 60), (360, 66), (480, 120), (600, 127), (720, 160), (840, 168)];
    for together in [1, 2] {
        let (bursts, episodes) = losses(&uneven, together);
        assert_eq!(in_rounds(&flow(300_000), &rounds, &bursts, &episodes).cause, Cause::LossRandom);
    }
}

#[test]
fn what_is_lost_out_of_what_came_at_once_overran_a_short_queue() {
    let rounds: Vec<RoundRow> = (0..10).map(|i| round(i, 6 + i as u64, 4)).collect();
    let (bursts, episodes) = losses(&[(40, 4)], 6);
    assert_eq!(in_rounds(&flow(100_000), &rounds, &bursts, &episodes).cause, Cause::LossQueue);
    let (bursts, episodes) = losses(&[(40, 4)], 1);
    assert_eq!(in_rounds(&flow(100_000), &rounds, &bursts, &episodes).cause, Cause::LossRandom);
}

#[test]
fn copies_that_vanish_one_after_the_other_are_an_outage_and_to_the_end_a_path_that_died() {
    let again =
        EpisodeRow { timeouts: 4, retransmissions: 4, max_backoff: 3, lost_copies: Some(4), ..timed_out() };
    let answer = explained(&flow(10_000), std::slice::from_ref(&again), &[], &waited_for_the_timer());
    assert_eq!(answer.cause, Cause::Outage);
    let dead = EpisodeRow { end: None, ..again };
    let answered = FlowRow { last_answer: Some(ms(1_200)), ..flow(10_000) };
    let answer = explained(&answered, std::slice::from_ref(&dead), &[], &waited_for_the_timer());
    assert_eq!((answer.cause, answer.certainty), (Cause::PathDied, Certainty::Likely));
    // What was answered later had got through.
    assert!(answer.text.starts_with("From 1.20 s on nothing"), "{}", answer.text);
    // Without any answer it does not show what this path delivers.
    let answer = explained(&flow(10_000), &[dead], &[], &waited_for_the_timer());
    assert_eq!((answer.cause, answer.certainty), (Cause::PathDied, Certainty::Open));
}

#[test]
fn where_no_full_segment_ever_arrived_they_are_too_large() {
    let never = FlowRow { acked_bytes: 0, ..flow(3 * u64::from(MSS)) };
    let lost = EpisodeRow {
        end: None,
        max_backoff: 3,
        timeouts: 4,
        flight_bytes: 3 * u64::from(MSS),
        ..timed_out()
    };
    let answer = explained(&never, &[lost], &[], &waited_for_the_timer());
    assert_eq!(answer.cause, Cause::Mtu);
}

#[test]
fn a_reset_that_cuts_off_data_comes_first_and_little_time_is_nothing() {
    let reset = Some(Reset { by_sender: false, closed_before: false, time: ms(2000) });
    let cut = FlowRow { acked_bytes: 5_000, reset, ..flow(10_000) };
    let answer = explained(&cut, &[], &[], &waited_for_the_timer());
    assert_eq!((answer.cause, answer.by), (Cause::Reset, Some(Role::Server)));
    let answer =
        explained(&flow(300), &[], &[], &[stretch(0, &[(0, Wait::Handshake, 40), (0, Wait::Path, 30)])]);
    assert_eq!(answer.cause, Cause::Nothing);
}

#[test]
fn what_cannot_be_seen_or_is_nearly_even_is_not_known() {
    // Window of 400 ms beside 350 ms of a program: both are known, and which is more is not.
    let sure = |window, program| {
        let waits = [stretch(0, &[(0, Wait::Window, window), (0, Wait::Program, program)])];
        explained(&flow(10_000), &[], &[], &waits).certainty
    };
    assert_eq!((sure(400, 350), sure(400, 100)), (Certainty::Likely, Certainty::Known));
    // At the server a SYN that was lost does not show, and would have cost a second.
    let arrives = FlowRow { vantage: Vantage::Receiver, ..flow(10_000) };
    let answers = flow(10_000);
    let at_the_server = |program| {
        let [client, server] =
            [&arrives, &answers].map(|f| FlowRows { flow: Some(f), ..FlowRows::default() });
        let waits = [stretch(0, &[(1, Wait::Program, program)])];
        explain::explain(&Rows { flows: [client, server], waits: &waits, origin: Time::ZERO }).certainty
    };
    assert_eq!((at_the_server(600), at_the_server(3_000)), (Certainty::Likely, Certainty::Known));
}

#[test]
fn turns_wait_in_a_queue_that_other_flows_of_the_host_fill() {
    let arrives = FlowRow { vantage: Vantage::Receiver, bytes: 3_000, acked_bytes: 3_000, ..flow(3_000) };
    let turns: Vec<Stretch> = (0..30)
        .map(|i| Stretch {
            bytes: [100, 100],
            turns: [1, 1],
            ..stretch(40 * i, &[(0, Wait::Path, 20), (1, Wait::Path, 20)])
        })
        .collect();
    let beside = |host: &[PathRow]| {
        let client = FlowRows { flow: Some(&arrives), hosts: [&[], host], ..FlowRows::default() };
        explain::explain(&Rows { flows: [client, FlowRows::default()], waits: &turns, origin: Time::ZERO })
    };
    let waits = Span::from_millis(30);
    assert_eq!(beside(&of_all_flows(|_| 20_000, waits)).cause, Cause::StandingQueue);
    // Nobody waits, or each flow has a queue of its own: the sum of all goes up and down.
    assert_eq!(beside(&of_all_flows(|_| 20_000, Span::ZERO)).cause, Cause::RequestResponse);
    let uneven = of_all_flows(|i| if i / 8 % 2 == 0 { 40_000 } else { 8_000 }, waits);
    assert_eq!(beside(&uneven).cause, Cause::RequestResponse);
    assert_eq!(beside(&[]).cause, Cause::RequestResponse);
}

#[test]
fn a_path_carries_at_least_what_it_did_carry() {
    // Packets wait in a queue in two of six round trips, and little arrives in these.
    let delivered = |i: i64| if i < 2 { 10_000 } else { 100_000 };
    let bins: Vec<PathRow> = (0..6i64)
        .map(|i| {
            let rtt = Span::from_millis(if i < 2 { 80 } else { 40 });
            let bin = of_all_flows(|_| delivered(i), rtt)[i as usize];
            PathRow { start: ms(40 * i), width: Span::from_millis(40), ..bin }
        })
        .collect();
    let trips = Summary { n: 30, min: 0.04, max: 0.08, ..Summary::default() };
    let flow = FlowRow {
        rtt_ack: trips,
        first_data: Some(ms(0)),
        last_data: Some(ms(240)),
        start: ms(0),
        end: ms(10_000),
        ..flow((0..6).map(delivered).sum())
    };
    let client = FlowRows { flow: Some(&flow), path: &bins, ..FlowRows::default() };
    let waits = [stretch(0, &[(0, Wait::Ack, 240)]), stretch(240, &[(0, Wait::Window, 9_000)])];
    let rows = Rows { flows: [client, FlowRows::default()], waits: &waits, origin: Time::ZERO };
    let path = explain::explain(&rows).paths[0];
    assert!(!path.at_least);
    assert!(path.capacity_bps >= Some(8.0 * 420_000.0 / 0.32), "{path:?}");
}

#[test]
fn how_much_of_a_round_trip_is_a_queue_of_others_cannot_be_told() {
    let turns = |n: i64| -> Vec<Stretch> {
        let turn = |i| Stretch { bytes: [100, 0], turns: [1, 1], ..stretch(60 * i, &[(0, Wait::Path, 60)]) };
        (0..n).map(turn).collect()
    };
    let slow = |i| RoundRow {
        rtt_min: Some(Span::from_millis(60)),
        rtt_sum: Span::from_millis(60),
        ..RoundRow { start: ms(60 * i), end: ms(60 * i + 60), ..round(0, 1, 0) }
    };
    let answer = |n: i64| {
        let trips = Summary { n: 30, min: 0.04, max: 0.09, ..Summary::default() };
        let flow = FlowRow { rtt_ack: trips, ..flow(100 * n as u64) };
        let rounds: Vec<RoundRow> = (0..n).map(slow).collect();
        let client = FlowRows { flow: Some(&flow), rounds: &rounds, ..FlowRows::default() };
        let waits = turns(n);
        explain::explain(&Rows { flows: [client, FlowRows::default()], waits: &waits, origin: Time::ZERO })
    };
    assert_eq!((answer(30).cause, answer(30).certainty), (Cause::CannotTell, Certainty::Open));
    // A few messages may all have met the same short queue.
    assert_eq!(answer(4).cause, Cause::RequestResponse);
}

#[test]
fn nothing_took_time_is_known_only_of_what_both_hosts_closed() {
    let short = |closed| {
        let flow = FlowRow { closed, ..flow(1_000) };
        explained(&flow, &[], &[], &[stretch(0, &[(0, Wait::Path, 20)])])
    };
    assert_eq!((short(Closed::Fin).cause, short(Closed::Fin).certainty), (Cause::Nothing, Certainty::Known));
    assert_eq!(short(Closed::HalfFin).certainty, Certainty::Likely);
}

/// A timer that waited so long, once another one had fired.
fn timer_after_a_timer(waited_ms: i64) -> Answer {
    let again = EpisodeRow {
        number: 1,
        start: ms(3000),
        first_repair: ms(3000 + waited_ms),
        last_repair: ms(3000 + waited_ms),
        end: Some(ms(3040 + waited_ms)),
        silence: Some(Span::from_millis(waited_ms)),
        ..timed_out()
    };
    let waits = [stretch(3000, &[(0, Wait::Timer, waited_ms), (0, Wait::Ack, 40)])];
    explained(&flow(10_000), &[timed_out(), again], &[], &waits)
}

#[test]
fn a_timer_may_be_as_long_as_the_timeouts_before_have_made_it() {
    // RFC 6298 section 5.5: the second waits for twice as long, if no round trip was measured in between.
    let sure = |waited_ms| {
        let answer = timer_after_a_timer(waited_ms);
        assert_eq!(answer.cause, Cause::Timer);
        answer.certainty
    };
    assert_eq!(sure(3900), Certainty::Likely);
    assert_eq!(sure(6000), Certainty::Known);
}
