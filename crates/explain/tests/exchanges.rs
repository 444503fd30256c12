//! Messages and their answers: who is waited for when one of them is late, lost, or never comes.

mod rows;

use analysis::rows::*;
use analysis::waits::Stretch;
use explain::answer::Answer;
use explain::cause::Cause;
use explain::certainty::Certainty;
use explain::conversation::{FlowRows, Rows};
use rows::*;
use wire::{Span, Time};

/// The client sends and the server answers, with these waits.
fn between(client: &FlowRow, server: &FlowRow, episodes: &[EpisodeRow], waits: &[Stretch]) -> Answer {
    let asks = FlowRows { flow: Some(client), episodes, ..FlowRows::default() };
    let answers = FlowRows { flow: Some(server), ..FlowRows::default() };
    explain::explain(&Rows { flows: [asks, answers], waits, origin: Time::ZERO })
}

/// A request at 0.04 s, acknowledged at 0.08 s, and then silence.
fn asks(fin_ms: Option<i64>) -> FlowRow {
    FlowRow { first_data: Some(ms(40)), last_data: Some(ms(40)), fin: fin_ms.map(ms), ..flow(100) }
}

fn then_silence() -> [Stretch; 3] {
    [
        stretch(0, &[(0, Wait::Handshake, 40)]),
        Stretch { bytes: [100, 0], ..stretch(40, &[(0, Wait::Path, 40)]) },
        stretch(80, &[(0, Wait::Nothing, 9_000)]),
    ]
}

#[test]
fn a_request_that_nobody_answers_waits_for_the_program_of_the_server() {
    for fin in [None, Some(9_000)] {
        let answer = explained(&asks(fin), &[], &[], &then_silence());
        assert_eq!((answer.cause, answer.by), (Cause::SenderIdle, Some(Role::Server)));
        assert_eq!(answer.certainty, Certainty::Likely, "it may have wanted no answer");
        assert!((seconds(&answer, Cause::SenderIdle) - 9.0).abs() < 1e-9);
    }
    // Who closes at once has said all; who goes on without an answer waits for none; a file needs no answer.
    assert_eq!(explained(&asks(Some(60)), &[], &[], &then_silence()).cause, Cause::Nothing);
    let goes_on = [
        stretch(0, &[(0, Wait::Handshake, 40)]),
        Stretch { bytes: [100, 0], ..stretch(40, &[(0, Wait::Path, 40), (0, Wait::Program, 800)]) },
        Stretch { bytes: [100, 0], ..stretch(880, &[(0, Wait::Path, 40)]) },
        stretch(920, &[(0, Wait::Nothing, 9_000)]),
    ];
    let twice = FlowRow { last_data: Some(ms(880)), bytes: 200, acked_bytes: 200, ..asks(None) };
    assert_eq!(explained(&twice, &[], &[], &goes_on).by, Some(Role::Client));
    let file = FlowRow { bytes: 1_000_000, acked_bytes: 1_000_000, ..asks(None) };
    assert_eq!(seconds(&explained(&file, &[], &[], &then_silence()), Cause::SenderIdle), 0.0);
}

#[test]
fn an_answer_that_came_leaves_nothing_owed() {
    let answered = FlowRow { first_data: Some(ms(80)), last_data: Some(ms(80)), ..flow(300) };
    let answer = between(&asks(None), &answered, &[], &then_silence());
    assert_eq!(seconds(&answer, Cause::SenderIdle), 0.0);
}

#[test]
fn no_program_answers_what_has_not_reached_it() {
    // The request is lost at 1 s and comes again at 2 s: the server's program is not waited for.
    let waits = [
        stretch(0, &[(0, Wait::Handshake, 40), (0, Wait::Path, 960)]),
        stretch(1_000, &[(0, Wait::Timer, 250), (1, Wait::Program, 750)]),
        stretch(2_000, &[(0, Wait::Path, 40)]),
    ];
    let answer = between(&flow(10_000), &flow(10_000), &[timed_out()], &waits);
    // But for the half round trip that it was under way before it was lost.
    assert!(seconds(&answer, Cause::SenderIdle) <= 0.02);
    assert!(seconds(&answer, Cause::LossRandom) > 0.9);
}

#[test]
fn where_every_repair_of_a_timer_was_answered_packets_were_kept_on_the_way() {
    // Two repairs, both needless, and a DSACK (RFC 2883) for each: the first would have ended the wait.
    let needless = EpisodeRow {
        lost_copies: Some(0),
        lost_segments: 0,
        retransmissions: 2,
        needless: 2,
        probes: 1,
        kind: EpisodeKind::Needless,
        trigger: Trigger::TimerProbe,
        limit: Limit::Application,
        end: Some(ms(2_500)),
        ..timed_out()
    };
    let cause = |dsacks| {
        let client = FlowRow { needless: 2, dsacks, ..flow(10_000) };
        between(&client, &flow(10_000), std::slice::from_ref(&needless), &waited_for_the_timer()).cause
    };
    assert_eq!(cause(2), Cause::PacketsHeld);
    assert_ne!(cause(1), Cause::PacketsHeld);
}

/// Round trips of messages in milliseconds, on a path whose least is 40 ms.
fn turns(trips_ms: &[i64]) -> Answer {
    let (mut at, mut rounds, mut waits) = (0, Vec::new(), Vec::new());
    for rtt in trips_ms {
        let time = Span::from_millis(*rtt);
        rounds.push(RoundRow {
            start: ms(at),
            end: ms(at + rtt),
            rtt_min: Some(time),
            rtt_sum: time,
            ..round(0, 1, 0)
        });
        waits.push(Stretch { bytes: [100, 0], turns: [1, 1], ..stretch(at, &[(0, Wait::Path, *rtt)]) });
        at += rtt;
    }
    let trips = Summary { n: trips_ms.len() as u64, min: 0.04, max: 0.09, ..Summary::default() };
    let flow = FlowRow { rtt_ack: trips, ..flow(100 * trips_ms.len() as u64) };
    let client = FlowRows { flow: Some(&flow), rounds: &rounds, ..FlowRows::default() };
    explain::explain(&Rows { flows: [client, FlowRows::default()], waits: &waits, origin: Time::ZERO })
}

#[test]
fn jitter_is_no_queue_of_others() {
    let grows_and_shrinks: Vec<i64> = (0..60).map(|i| 40 + (i % 30) * 50 / 30).collect();
    assert_eq!(turns(&grows_and_shrinks).cause, Cause::CannotTell);
    // The same round trips in another order: now long, now short.
    let jitters: Vec<i64> = (0..60).map(|i| 40 + (i * 7 % 30) * 50 / 30).collect();
    assert_eq!(turns(&jitters).cause, Cause::RequestResponse);
}

#[test]
fn a_server_that_goes_on_over_another_connection_chose_to_reset_this_one() {
    let reset = Some(Reset { by_sender: false, closed_before: false, time: ms(1_000) });
    let upload = FlowRow { acked_bytes: 5_000, reset, ..flow(10_000) };
    let rounds: Vec<RoundRow> = (0..25).map(|i| round(i, 8, 4)).collect();
    let waits: Vec<Stretch> = (0..25).map(|i| stretch(40 * i, &[(0, Wait::Window, 40)])).collect();
    let answer = |path: &[PathRow]| {
        let client = FlowRows { flow: Some(&upload), rounds: &rounds, ..FlowRows::default() };
        let no_data = FlowRows { path, ..FlowRows::default() };
        let said = explain::explain(&Rows { flows: [client, no_data], waits: &waits, origin: Time::ZERO });
        (said.cause, said.certainty)
    };
    let after = of_all_flows(|i| if i > 70 { 300 } else { 0 }, Span::ZERO);
    assert_eq!(answer(&after).0, Cause::ReceiveWindow);
    let before = of_all_flows(|i| if i < 60 { 300 } else { 0 }, Span::ZERO);
    assert_eq!(answer(&before), (Cause::Reset, Certainty::Known));
    assert_eq!(answer(&[]), (Cause::Reset, Certainty::Known));
    // In the bin of 16 ms that has the reset in it: it may have been before, or behind.
    let around = of_all_flows(|i| if i == 62 { 300 } else { 0 }, Span::ZERO);
    assert_eq!(answer(&around), (Cause::Reset, Certainty::Likely));
}

#[test]
fn who_sends_alone_is_not_answered_though_its_message_goes_on_from_row_to_row() {
    // Messages of two segments every 200 ms, in two rows each; the server has no data.
    let turn = |i: i64| {
        let at = 40 + 200 * i;
        let arrives = Stretch { bytes: [2_000, 0], ..stretch(at, &[(0, Wait::Path, 1)]) };
        [arrives, stretch(at + 1, &[(0, Wait::Path, 80)]), stretch(at + 81, &[(0, Wait::Program, 119)])]
    };
    let waits: Vec<Stretch> = (0..30).flat_map(turn).collect();
    let sender = FlowRow {
        vantage: Vantage::Receiver,
        first_data: Some(ms(40)),
        last_data: Some(ms(6_041)),
        ..flow(60_000)
    };
    let answer = explained(&sender, &[], &[], &waits);
    assert_eq!((answer.cause, answer.by), (Cause::SenderIdle, Some(Role::Client)));
    assert_eq!(seconds(&answer, Cause::RequestResponse), 0.0);
}

#[test]
fn what_is_missing_behind_a_silence_was_sent_into_it() {
    // Where data arrives: a hole is repaired after 4 s, and duplicate ACKs had asked for it.
    let asked = EpisodeRow {
        end: Some(ms(5_100)),
        first_repair: ms(5_000),
        last_repair: ms(5_000),
        silence: Some(Span::from_millis(4_000)),
        sent_after_loss_bytes: 100 * u64::from(MSS),
        ..timed_out()
    };
    let cause = |lost_segments| {
        let hole = BurstRow {
            start: ms(950),
            last: ms(950),
            lost_segments: 1,
            first_repair: Some(ms(5_000)),
            silence: Some(Span::from_millis(4_000)),
            episode: Some(0),
            ..BurstRow::default()
        };
        let behind = BurstRow { start: ms(5_040), last: ms(5_040), lost_segments, ..BurstRow::default() };
        let arrives = FlowRow { vantage: Vantage::Receiver, duplicate_acks: 100, ..flow(1_000_000) };
        let waits = [stretch(1_000, &[(0, Wait::Timer, 4_000)]), stretch(5_000, &[(0, Wait::Ack, 100)])];
        explained(&arrives, std::slice::from_ref(&asked), &[hole, behind], &waits).cause
    };
    assert_eq!(cause(20), Cause::Outage);
    // A sender that stood still goes on where it was.
    assert_eq!(cause(0), Cause::SenderStalled);
}
