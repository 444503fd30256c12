//! Facts that own no time: each from the rows that it needs, and not from rows that are nearly those.

use analysis::rows::*;
use explain::conversation::{FlowRows, Rows};
use explain::findings::Kind;
use wire::{Span, Time};

fn ms(n: i64) -> Time {
    Time(n * 1_000_000)
}

/// The client sends 1.4 MB in 2 s over a path of 40 ms.
fn upload() -> FlowRow {
    let rtt_ack = Summary { n: 500, min: 0.04, mean: 0.05, stddev: 0.005, max: 0.08 };
    FlowRow {
        vantage: Vantage::Sender,
        mss: 1400,
        bytes: 1_400_000,
        acked_bytes: 1_400_000,
        segments: 1000,
        acks: 500,
        handshake: Some(Span::from_millis(40)),
        first_data: Some(ms(50)),
        last_data: Some(ms(2_050)),
        flight_max_bytes: 56_000,
        rtt_ack,
        ..FlowRow::default()
    }
}

fn found(flow: &FlowRow) -> Vec<Kind> {
    let client = FlowRows { flow: Some(flow), ..FlowRows::default() };
    let rows = Rows { flows: [client, FlowRows::default()], waits: &[], origin: Time::ZERO };
    explain::explain(&rows).findings.iter().map(|f| f.kind).collect()
}

fn with(ack_way: AckWay) -> FlowRow {
    FlowRow { ack_way, ..upload() }
}

#[test]
fn an_ordinary_upload_has_none() {
    assert_eq!(found(&upload()), []);
}

#[test]
fn lost_acks_are_worth_a_sentence_from_one_in_a_hundred_on() {
    assert_eq!(found(&with(AckWay { lost: Some(50), ..AckWay::default() })), [Kind::AcksLost]);
    assert_eq!(found(&with(AckWay { lost: Some(4), ..AckWay::default() })), []);
    assert_eq!(found(&with(AckWay { lost: Some(0), ..AckWay::default() })), []);
}

#[test]
fn acks_that_are_held_now_and_then_are_no_matter() {
    assert_eq!(found(&with(AckWay { held: 300, ..AckWay::default() })), [Kind::AcksHeld]);
    assert_eq!(found(&with(AckWay { held: 20, ..AckWay::default() })), []);
}

#[test]
fn a_loop_of_acks_is_told_once() {
    let (towards, back) =
        (with(AckWay { looped: 40, ..AckWay::default() }), with(AckWay { looped: 41, ..AckWay::default() }));
    let flows = [&towards, &back].map(|flow| FlowRows { flow: Some(flow), ..FlowRows::default() });
    let answer = explain::explain(&Rows { flows, waits: &[], origin: Time::ZERO });
    let told: Vec<_> = answer.findings.iter().filter(|f| f.kind == Kind::AckLoop).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].text.contains("81 packets"), "{}", told[0].text);
}

#[test]
fn blocks_of_data_that_was_never_sent_tell_of_a_middlebox() {
    assert_eq!(found(&with(AckWay { sack_of_nothing: 1, ..AckWay::default() })), [Kind::SackOfNothing]);
}

#[test]
fn a_handshake_far_below_every_round_trip_was_answered_on_the_way() {
    let near = |handshake: i64| FlowRow { handshake: Some(Span::from_millis(handshake)), ..upload() };
    assert_eq!(found(&near(2)), [Kind::AnsweredOnTheWay]);
    assert_eq!(found(&near(15)), [], "not four times as long");
    // One segment at a time, each behind a delayed ACK.
    assert_eq!(found(&FlowRow { flight_max_bytes: 1400, ..near(2) }), []);
    // A link that takes 30 ms for a segment and next to nothing for a SYN.
    let slow = FlowRow { bytes: 93_000, acked_bytes: 93_000, segments: 67, ..near(2) };
    assert_eq!(found(&slow), []);
    // The first SYN was lost, or the data is seen as it arrives.
    assert_eq!(found(&FlowRow { handshake_resent: 1, ..near(2) }), []);
    assert!(!found(&FlowRow { vantage: Vantage::Receiver, ..near(2) }).contains(&Kind::AnsweredOnTheWay));
}
