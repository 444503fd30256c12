//! Tail-loss probes (RFC 8985 section 7) of senders that are seen to send, each as a timeline.

mod story;

use analysis::rows::Cause;
use story::sender::Sender;

#[test]
fn a_sender_that_paces_sends_at_its_own_pace_and_does_not_probe() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    // In silence, and sooner than a probe: no window held these back.
    assert!(!s.sends_new(90));
    s.ack(100, 7);
    assert!(!s.sends_new(145));
}

#[test]
fn no_second_probe_leaves_before_the_first_is_acknowledged() {
    // RFC 8985 §7.3: TLP.end_seq; an ACK of what left before the probe does not end that.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert!(s.sends_new(135));
    s.ack(160, 7);
    assert!(!s.sends_new(260));
    s.ack(300, 13);
    s.sends_new(300);
    s.sends_new(301);
    assert!(s.sends_new(470));
}

#[test]
fn a_timeout_without_a_probe_before_it_does_not_outweigh_probes() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert_eq!(s.cause(400, 5), Cause::Timeout);
    s.ack(440, 11);
    s.sends_new(440);
    s.sends_new(441);
    assert!(s.sends_new(540));
}

#[test]
fn a_single_segment_again_is_a_timeout_of_senders_that_have_not_shown_that_they_probe() {
    assert_eq!(Sender::with_in_flight(1).cause(245, 0), Cause::Timeout);
    assert_eq!(Sender::recent(1).cause(245, 0), Cause::Probe);
}

#[test]
fn the_first_probe_of_a_sender_is_likely_and_later_ones_are_known() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert!(s.sends_new(135));
    s.ack(180, 12);
    s.sends_new(180);
    s.sends_new(181);
    assert!(s.sends_new(280));
    let known: Vec<_> = s.story.ends().rows.probes.iter().map(|p| p.known).collect();
    assert_eq!(known, [false, true]);
}

#[test]
fn the_rto_of_a_segment_that_left_long_ago_makes_no_probe_due() {
    // Linux after a timeout that was undone: the last new segment of several left 11 ms after the others.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert_eq!(s.cause(300, 5), Cause::Timeout);
    s.ack(1300, 7);
    s.sends_new(1300);
    assert!(!s.sends_new(1311));
    // Else the probe leaves by then: 245 ms after the head did, 40 ms of silence.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.ack(205, 6);
    s.sends_new(205);
    assert!(s.sends_new(245));
}

#[test]
fn a_probe_leaves_when_the_rto_is_due_sooner() {
    // RFC 8985 §7.2: 2 SRTT and 200 ms for an ACK that is delayed, but no later than the RTO.
    assert_eq!(Sender::recent(1).cause(235, 0), Cause::Probe);
}
