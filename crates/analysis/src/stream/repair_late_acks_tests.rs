//! What a sender heard late or not at all, and what of it went unseen.

use super::*;

#[test]
fn where_new_data_passed_over_what_was_asked_for_a_timer_sent_the_repair() {
    let mut s = Sender::with_in_flight(20).without_sack().seen_remotely();
    for t in 40..60 {
        s.duplicate(t);
    }
    for t in (300..500).step_by(10) {
        s.duplicate(t);
        s.sends_new(t);
        s.model.note_passed_over();
    }
    assert_eq!(s.resends(505, 0, 0, false).cause, Cause::Timeout);
}

#[test]
fn a_repair_asked_for_and_lost_is_due_once() {
    let mut s = Sender::with_in_flight(20).seen_remotely();
    s.duplicate(40);
    s.duplicate(41);
    assert_eq!((s.model.repair_due(), s.model.is_asked()), (0, false));
    s.duplicate(42);
    assert_eq!((s.model.repair_due(), s.model.is_asked()), (1, true));
    s.model.on_lost_repair(ms(45));
    assert_eq!((s.model.lost_repair(), s.model.repair_due()), (Some(ms(45)), 0));
    s.ack(90, 1);
    assert_eq!(s.model.lost_repair(), None);
}

#[test]
fn without_sack_fewer_than_three_duplicate_acks_leave_it_to_the_timer() {
    // RFC 5681 §3.2. The duplicate ACK makes the silence shorter than a timer's.
    for (duplicates, cause) in [(2, Cause::Timeout), (3, Cause::Recovery)] {
        let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
        s.ack(40, 1);
        (0..duplicates).for_each(|_| s.duplicate(180));
        assert_eq!(s.resends(245, 1, 0, false).cause, cause, "{duplicates} duplicate ACKs");
    }
}

#[test]
fn what_follows_on_a_repair_without_a_wait_was_sent_by_no_timer() {
    // Tahoe after a fast retransmit, 15 ms a packet: all of it has arrived, so the cumulative ACK does not move.
    let mut s = Sender::with_in_flight(40).without_sack().seen_remotely();
    (40..43).for_each(|t| s.duplicate(t));
    for k in 0..20 {
        assert_eq!(s.resends(100 + 15 * k, k as u64, 0, false).cause, Cause::Recovery, "segment {k}");
    }
}

#[test]
fn a_partial_ack_is_answered_as_late_as_the_one_before() {
    // RFC 6582 §3.2 step 5. A full queue holds up both repairs, for longer than the shortest timer waits.
    let mut s = Sender::with_in_flight(20).without_sack().seen_remotely();
    (40..43).for_each(|t| s.duplicate(t));
    assert_eq!(s.resends(60, 0, 0, false).cause, Cause::Recovery);
    s.ack(100, 3);
    assert_eq!(s.resends(240, 3, 0, false).cause, Cause::Recovery);
    s.ack(280, 6);
    assert_eq!(s.resends(470, 6, 0, false).cause, Cause::Recovery);
    s.ack(500, 9);
    assert_eq!(s.resends(900, 9, 0, false).cause, Cause::Timeout);
}

#[test]
fn slow_start_goes_on_beyond_what_had_been_seen_when_it_began() {
    let mut s = Sender::with_in_flight(3).without_sack().seen_remotely();
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.ack(340, 2);
    assert_eq!(s.resends(341, 2, 0, false).cause, Cause::LossState);
    s.ack(380, 3);
    assert_eq!(s.model.state, State::Open);
    (s.unseen, s.next) = (true, 8000);
    assert_eq!(s.resends(381, 3, 0, false).cause, Cause::LossState);
    assert_eq!(s.resends(382, 4, 0, false).cause, Cause::LossState);
}

#[test]
fn tahoe_begins_again_when_its_own_repairs_cause_three_duplicate_acks() {
    // RFC 5681 §3.2 before its fast recovery: slow start sends again what had arrived.
    for go_back_n in [true, false] {
        let mut s = Sender::with_in_flight(20).without_sack().seen_remotely();
        (40..43).for_each(|t| s.duplicate(t));
        assert_eq!(s.resends(60, 0, 0, false).cause, Cause::Recovery);
        s.ack(100, 10);
        if go_back_n {
            (1..4).for_each(|k| assert_eq!(s.resends(100, k, 0, false).cause, Cause::Recovery));
        } else {
            assert_eq!(s.resends(100, 10, 0, false).cause, Cause::Recovery);
        }
        (110..113).for_each(|t| s.duplicate(t));
        let cause = if go_back_n { Cause::Recovery } else { Cause::Timeout };
        assert_eq!(s.resends(140, 2, 100, false).cause, cause, "goes back: {go_back_n}");
    }
}

#[test]
fn an_ack_of_a_first_copy_that_was_lost_does_not_excuse_the_timeout() {
    // RFC 5682 §3.1: what the timer sent again had arrived before, and the ACK that said so was lost.
    let mut s = Sender::with_in_flight(20).without_sack().seen_remotely();
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.ack_of_originals(340, 1);
    assert!(s.model.in_loss_state());
    s.ack_of_originals(345, 2);
    assert!(!s.model.in_loss_state());
}

#[test]
fn a_timer_that_waits_otherwise_than_before_is_judged_by_what_fits() {
    // It waited for 400 ms once; now 600 ms are two waits of a timer of 200 ms, the first in vain.
    let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
    s.missing = Some(0);
    assert_eq!(s.resends(400, 0, 0, false).cause, Cause::Timeout);
    s.ack(440, 10);
    let brisk = PathTiming { srtt: Span::from_millis(2), rto: Span::from_millis(202), ..timing() };
    assert_eq!(s.model.attempts_by(ms(1040), ms(440), &brisk), 1);
}

#[test]
fn the_last_segment_alone_after_a_long_silence_is_a_probe_from_afar() {
    // RFC 8985 §7.2: 2 SRTT, of which a full queue may be most; a timer would repeat the first segment.
    let mut s = Sender::with_in_flight(10).seen_remotely();
    (s.unseen, s.missing) = (true, Some(10));
    let v = s.resends(285, 9, 0, false);
    assert_eq!((v.cause, v.trigger), (Cause::Probe, Trigger::TimerProbe));
    (s.unseen, s.missing) = (false, Some(0));
    s.sack(320, 10, 285);
    assert_eq!(s.resends(325, 0, 0, false).cause, Cause::Recovery);
}

#[test]
fn what_nothing_beyond_tells_of_goes_on_with_a_timeout_that_looked_needless() {
    // RFC 6675 §4. Data sent once is acknowledged after the timeout (RFC 5682 §3.1), and a SACK tells of losses below it.
    for (untold, cause) in [(true, Cause::LossState), (false, Cause::Recovery)] {
        let mut s = Sender::with_in_flight(20).seen_remotely();
        s.model.era.note_probe();
        assert_eq!(s.resends(240, 0, 0, false).cause, Cause::Timeout);
        s.ack_of_originals(280, 4);
        s.sends_new(280);
        s.sack(320, 21, 280);
        assert_eq!(s.resends(320, 4, 0, false).cause, Cause::Recovery);
        s.untold = untold;
        assert_eq!(s.resends(321, 19, 0, false).cause, cause, "{untold}");
    }
}
