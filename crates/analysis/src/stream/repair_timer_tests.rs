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
