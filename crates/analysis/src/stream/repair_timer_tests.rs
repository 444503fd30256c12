//! When a timer sent what was sent again, and when an ACK did.

use super::*;

/// The fast retransmission at 52 ms is lost; new data goes on at each ACK, and is SACKed, up to `until`.
fn passed_over(until: i64) -> Sender {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 1);
    for (t, end) in [(50, 3), (51, 4), (52, 5)] {
        s.sack(t, end, 0);
    }
    assert_eq!(s.resends(52, 1, 0, false).cause, Cause::Recovery);
    for t in (60..=until).step_by(10) {
        s.sack(t, 11, t - SRTT_MS);
        s.sends_new(t);
    }
    s
}

#[test]
fn a_timer_may_fire_right_behind_an_ack_that_could_have_told_long_before() {
    // Every ACK since 100 ms told that it was lost (RFC 8985 §6.2); it left when the timer was due, at the last of them.
    let mut s = passed_over(290);
    assert_eq!(s.resends(290, 1, 52, true).cause, Cause::Timeout);
}

#[test]
fn the_ack_that_tells_of_a_lost_repair_sets_the_next_off() {
    let mut s = passed_over(100);
    assert_eq!(s.resends(100, 1, 52, true).cause, Cause::Recovery);
}

#[test]
fn a_sender_that_paces_repairs_at_its_own_pace_long_after_the_sack_that_told() {
    // One packet every 80 ms, none of them right behind an ACK; a timer would wait 240 ms, not 130.
    let paced = |every: i64| {
        let mut s = Sender::with_in_flight(10);
        s.ack(40, 5);
        for k in 1..=4 {
            s.sends_new(40 + every * k);
        }
        s.ack(370, 9);
        s.sack(420, 12, 300);
        s.resends(500, 9, 0, false).cause
    };
    assert_eq!(paced(80), Cause::Recovery);
    // Who sends right behind its ACKs would have repaired at once.
    assert_eq!(paced(0), Cause::Timeout);
}

#[test]
fn with_a_probe_pending_the_timer_runs_from_when_the_head_left() {
    // The ACK at 200 ms comes while Linux's probe timer runs: what is left of the first RTO is waited for, no new one.
    let mut s = Sender::with_in_flight(10);
    s.model.note_syn(64_240, 1460);
    s.ack(200, 5);
    assert_eq!(s.resends(245, 5, 0, false).cause, Cause::Timeout);
}

#[test]
fn what_left_with_the_lost_repair_and_arrived_tells_of_its_loss() {
    // RFC 8985 §6.2: of two that left at one moment the later in the stream is the newer.
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 3, 0);
    assert_eq!(s.resends(40, 0, 0, false).cause, Cause::Recovery);
    s.sends_new(40);
    s.sack(240, 11, 40);
    assert_eq!(s.resends(240, 0, 40, true).cause, Cause::Recovery);
}

#[test]
fn a_repair_lost_again_leaves_when_what_left_later_told_of_it_and_the_pace_allows() {
    // RFC 8985 §6.2: new data left behind the first repair. The timer would wait 240 ms, not 120.
    let after = |delivered: i64, timed: bool| {
        let mut s = Sender::with_in_flight(10);
        s.sack(40, 3, 0);
        assert_eq!(s.resends(40, 0, 0, false).cause, Cause::Recovery);
        if timed {
            // Not the first segment, and behind no ACK: no timer of old sent this.
            assert_eq!(s.resends(60, 1, 0, false).cause, Cause::Recovery);
        }
        s.sends_new(80);
        s.sack(140, 11, delivered);
        s.resends(160, 0, 40, true).cause
    };
    assert_eq!(after(80, true), Cause::Recovery);
    // Told by nothing, or of a sender that has shown no timer but one.
    assert_eq!(after(0, true), Cause::Timeout);
    assert_eq!(after(80, false), Cause::Timeout);
}
