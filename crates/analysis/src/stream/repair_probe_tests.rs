//! Which sends are tail-loss probes, and of which senders (RFC 8985 §7).

use super::*;

#[test]
fn a_sender_that_paces_sends_at_its_own_pace_and_does_not_probe() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    // Amid silence, and sooner than a probe: no window held these back.
    assert!(!s.sends_new(90));
    s.ack(100, 7);
    assert!(!s.sends_new(145));
    assert!(!s.sends_new(230), "85 ms, as it has waited before");
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
    assert!(s.sends_new(400));
}

#[test]
fn a_timeout_without_a_probe_before_it_does_not_outweigh_probes() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert_eq!(s.resends(400, 5, 0, false).cause, Cause::Timeout);
    s.ack(440, 11);
    s.sends_new(440);
    s.sends_new(441);
    assert!(s.sends_new(540));
}

#[test]
fn a_single_segment_again_is_a_timeout_of_senders_that_have_not_shown_that_they_probe() {
    let alone = || {
        let mut s = Sender::with_in_flight(1);
        s.model.on_handshake(ms(-40));
        s
    };
    assert_eq!(alone().resends(245, 0, 0, false).cause, Cause::Timeout);
    // Linux since 4.20: as many segments as 16 bits hold; Linux 2.6: four.
    for (window, cause) in [(64_240, Cause::Probe), (29_200, Cause::Probe), (5_840, Cause::Timeout)] {
        let mut s = alone();
        s.model.note_syn(window, 1460);
        assert_eq!(s.resends(245, 0, 0, false).cause, cause, "{window}");
    }
}

#[test]
fn the_first_probe_of_a_sender_is_likely_and_later_ones_are_known() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert!(s.sends_new(135) && !s.model.has_shown_before());
    s.ack(180, 12);
    s.sends_new(180);
    s.sends_new(181);
    assert!(s.sends_new(280) && s.model.has_shown_before());
}

#[test]
fn the_rto_of_a_segment_that_left_long_ago_makes_no_probe_due() {
    // The kernel, behind a timeout that was taken back: the last new segment of several came 11 ms after the others.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.sends_new(40);
    assert_eq!(s.resends(300, 5, 0, false).cause, Cause::Timeout);
    s.ack(1300, 7);
    s.sends_new_behind(1300, 0);
    assert!(!s.sends_new_behind(1311, 0));
    // Else the probe leaves by then: 230 ms after the head did, 25 ms of silence.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    s.ack(205, 6);
    s.sends_new_behind(205, 0);
    assert!(s.sends_new_behind(230, 0));
}
