//! Repairs of senders that are seen to send, each as a timeline: when a timer sent it, and when an ACK did.

mod story;

use analysis::rows::Cause;
use story::sender::Sender;

/// The fast retransmission at 52 ms is lost; new data goes on at each ACK, and is SACKed, up to `until`.
fn passed_over(until: u64) -> Sender {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 1);
    for (t, k) in [(50, 2), (51, 3), (52, 4)] {
        s.sack(t, k);
    }
    assert_eq!(s.cause(52, 1), Cause::Recovery);
    for (k, t) in (5..).zip((60..=until).step_by(10)) {
        s.sack(t, k);
        s.put_new(t);
    }
    s
}

#[test]
fn a_timer_may_fire_right_behind_an_ack_that_could_have_told_long_before() {
    // Every ACK since 100 ms told that it was lost (RFC 8985 §6.2); it left when the timer was due, at the last of them.
    assert_eq!(passed_over(290).cause(290, 1), Cause::Timeout);
}

#[test]
fn the_ack_that_tells_of_a_lost_repair_sets_the_next_off() {
    assert_eq!(passed_over(110).cause(110, 1), Cause::Recovery);
}

#[test]
fn a_sender_that_paces_repairs_at_its_own_pace_long_after_the_sack_that_told() {
    // One packet every 80 ms, none of them right behind an ACK; a timer would wait 240 ms, not 130.
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    (1..=4).for_each(|k| s.put_new(40 + 80 * k));
    s.ack(370, 9);
    s.sack(420, 11);
    assert_eq!(s.cause(500, 9), Cause::Recovery);
}

#[test]
fn with_a_probe_pending_the_timer_runs_from_when_the_head_left() {
    // The ACK at 200 ms comes while Linux's probe timer runs: what is left of the first RTO is waited for, no new one.
    let mut s = Sender::recent(10);
    s.ack(200, 5);
    assert_eq!(s.cause(245, 5), Cause::Timeout);
}

#[test]
fn what_left_with_the_lost_repair_and_arrived_tells_of_its_loss() {
    // RFC 8985 §6.2: of two that left at one moment the later in the stream is the newer.
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 2);
    assert_eq!(s.cause(40, 0), Cause::Recovery);
    s.sends_new(40);
    s.sack(240, 10);
    assert_eq!(s.cause(240, 0), Cause::Recovery);
}

#[test]
fn a_repair_lost_again_leaves_when_what_left_later_told_of_it_and_the_pace_allows() {
    // RFC 8985 §6.2: new data left behind the first repair. The timer would wait 240 ms, not 120.
    let after = |delivered: u32, timed: bool| {
        let mut s = Sender::with_in_flight(10);
        s.sack(40, 2);
        assert_eq!(s.cause(40, 0), Cause::Recovery);
        if timed {
            // Not the first segment, and behind no ACK: no timer of old sent this.
            assert_eq!(s.cause(60, 1), Cause::Recovery);
        }
        s.sends_new(80);
        s.sack(140, delivered);
        s.cause(160, 0)
    };
    assert_eq!(after(10, true), Cause::Recovery);
    // Told by nothing, or of a sender that has shown no timer but one.
    assert_eq!(after(9, true), Cause::Timeout);
    assert_eq!(after(10, false), Cause::Timeout);
}

#[test]
fn the_reordering_timer_may_fire_when_the_rto_would_be_due() {
    // RFC 8985 §6.2: what left at 0 with the segment SACKed is lost after RACK.rtt and a quarter of the least round trip.
    let mut s = Sender::recent(10);
    s.sack(235, 1);
    assert_eq!(s.cause(247, 0), Cause::Recovery);
}

#[test]
fn a_paced_repair_leaves_when_the_pace_allows_and_the_timer_at_any_time() {
    // A packet every 40 ms, behind no ACK. The head left at 0, and what left at 80 ms tells of its loss.
    for (at, cause) in [(240, Cause::Recovery), (255, Cause::Timeout)] {
        let mut s = Sender::recent(1);
        for k in 1..=5 {
            s.sends_new(40 * k);
        }
        s.sack(225, 2);
        assert_eq!(s.cause(at, 0), cause, "at {at} ms");
    }
}

#[test]
fn before_the_rto_no_timer_repeats_what_was_told_of() {
    let mut s = Sender::recent(1);
    s.sends_new(20);
    s.sends_new(20);
    s.sack(150, 2);
    assert_eq!(s.cause(200, 0), Cause::Recovery);
}

#[test]
fn every_timeout_is_seen_where_the_timer_runs() {
    // 958 ms are two waits of a timer of 240 ms, and some; but no copy between was lost on its way here.
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 8);
    assert_eq!(s.cause(42, 0), Cause::Recovery);
    assert_eq!(s.cause(1000, 0), Cause::Timeout);
    s.sack(1010, 4);
    // RFC 5682 §2.1: the first timeout within a recovery leaves it to slow start.
    assert_eq!(s.cause(1010, 1), Cause::LossState);
}

#[test]
fn without_sack_a_repair_is_repeated_for_three_duplicate_acks_or_by_the_timer() {
    // RFC 6582 §3.2: a duplicate ACK that comes at the same moment has asked for nothing.
    let mut s = Sender::without_sack(20);
    (40..43).for_each(|t| s.duplicate(t));
    assert_eq!(s.cause(42, 0), Cause::Recovery);
    (89..101).for_each(|t| s.duplicate(t));
    assert_eq!(s.cause(100, 0), Cause::Timeout);
}

#[test]
fn in_slow_start_only_duplicate_acks_ask_for_the_first_segment_again() {
    // ns-3.20 goes on counting those from before the timeout: one more is the third.
    let mut s = Sender::without_sack(20);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.duplicate(345);
    assert_eq!(s.cause(345, 0), Cause::Recovery);
}
