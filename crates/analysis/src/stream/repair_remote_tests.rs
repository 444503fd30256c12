//! Stories of senders seen from where their data arrives: how long a timer waits, and what it had before it.

use super::*;

#[test]
fn a_timer_that_once_fired_sooner_has_no_floor_of_a_second() {
    // RFC 6298 §2.4. 1.28 s are a second and a little, or three waits of a timer that doubles.
    for (first, attempts) in [(205, 2), (1005, 0)] {
        let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
        s.missing = Some(0);
        assert_eq!(s.resends(first, 0, 0, false).cause, Cause::Timeout);
        s.ack_of_originals(first + 40, 10);
        let slower = PathTiming { srtt: Span::from_millis(84), rto: Span::from_millis(284), ..timing() };
        assert_eq!(s.model.attempts_by(ms(first + 40 + 1277), ms(first + 40), &slower), attempts);
    }
}

#[test]
fn three_duplicate_acks_are_answered_sooner_than_a_timer_could() {
    // RFC 5681 §3.2. The answer took 120 ms, though a round trip had taken 40; the timer began anew with the ACK before.
    for (t, cause) in [(165, Cause::Recovery), (245, Cause::Timeout)] {
        let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
        s.ack(40, 1);
        (41..44).for_each(|t| s.duplicate(t));
        assert_eq!(s.resends(t, 1, 0, false).cause, cause, "at {t} ms");
    }
}

#[test]
fn a_timer_that_has_doubled_stays_so_until_a_round_trip_is_taken() {
    // RFC 6298 §3 and §5.5: 240 ms, 480 ms, and the next 960 ms, if only what was sent again is acknowledged.
    for (again, timestamps, attempts) in [(true, false, 0), (false, false, 1), (true, true, 1)] {
        let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
        (s.missing, s.timestamps) = (Some(0), timestamps);
        assert_eq!(s.resends(240, 0, 0, false).cause, Cause::Timeout);
        assert_eq!(s.resends(720, 0, 240, true).cause, Cause::Timeout);
        if again {
            s.ack(760, 10)
        } else {
            s.ack_of_originals(760, 10)
        }
        assert_eq!(s.model.attempts_by(ms(760 + 960), ms(760), &timing()), attempts, "{again} {timestamps}");
    }
}

/// New data goes on amid duplicate ACKs, and the first segment comes again in between, at 505 ms.
fn repaired_amid_new_data(progress: i64) -> Cause {
    let mut s = Sender::with_in_flight(20).without_sack().seen_remotely();
    s.ack(progress, 1);
    (0..40).for_each(|k| s.duplicate(progress + 1 + k / 10));
    for t in (450..505).step_by(5) {
        s.duplicate(t);
        s.sends_new(t);
        s.model.note_passed_over();
    }
    s.duplicate(504);
    s.sends_new(504);
    s.model.note_passed_over();
    s.resends(505, 1, 0, false).cause
}

#[test]
fn what_comes_amid_new_data_later_than_the_timer_waits_is_the_timers() {
    // RFC 6298 §5.3: the timer began with the ACK of 100 or of 300 ms, and waits for 240 ms.
    assert_eq!(repaired_amid_new_data(100), Cause::Timeout);
    assert_eq!(repaired_amid_new_data(300), Cause::Recovery);
}

#[test]
fn a_timer_whose_first_copies_were_lost_has_fired_more_than_once() {
    // RFC 5682 §2.1 allows F-RTO in a repeated timeout; the first came while three duplicate ACKs were answered. Data
    // sent before it is acknowledged: the repair after the timeout is over, and what is resent is resent by its SACKs.
    for (missing, cause) in [(0, Cause::LossState), (1, Cause::Recovery)] {
        let mut s = Sender::with_in_flight(20).seen_remotely();
        s.model.era.note_probe();
        (40..43).for_each(|t| s.duplicate(t));
        s.missing = Some(missing);
        assert_eq!(s.resends(720, 0, 0, false).cause, Cause::Timeout);
        s.ack_of_originals(760, 4);
        s.sends_new(760);
        s.sack(800, 21, 760);
        assert_eq!(s.resends(800, 4, 0, false).cause, cause, "{missing} missing");
    }
}

#[test]
fn no_timer_of_a_sender_since_rfc_6928_is_known_to_have_a_floor_of_a_second() {
    // 1.085 s are such a floor (RFC 6298 §2.4) and a little, or two waits and more of a timer that doubles.
    for (recent, attempts) in [(false, 0), (true, 1)] {
        let mut s = Sender::with_in_flight(10).seen_remotely();
        if recent {
            s.model.era.note_probe();
        }
        let quicker = PathTiming { srtt: Span::from_millis(20), rto: Span::from_millis(220), ..timing() };
        s.model.timer.start = ms(0);
        assert_eq!(s.model.attempts_by(ms(1085), ms(0), &quicker), attempts, "recent: {recent}");
    }
}

#[test]
fn what_had_arrived_is_no_timers_where_the_sender_was_not_silent() {
    // RFC 6298 §5.3. ACKs that the network doubled look like three duplicate ones (RFC 5681 §3.2).
    // A timer may fire just before an ACK that the receiver delays for as long.
    for (t, sent, cause) in
        [(120, 118, Cause::Recovery), (320, 81, Cause::Timeout), (275, 273, Cause::Timeout)]
    {
        let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
        s.ack(40, 5);
        s.sends_new(41);
        s.ack(80, 6);
        s.sends_new(sent);
        assert_eq!(s.resends(t, 2, 0, false).cause, cause, "at {t} ms");
    }
}

#[test]
fn a_repair_that_was_overtaken_had_its_turn_before() {
    // RFC 6582 §3.2: partial ACKs ask upwards, and what comes late among them is no timer's.
    for (overtaken, cause) in [(true, Cause::Recovery), (false, Cause::Timeout)] {
        let mut s = Sender::with_in_flight(20).without_sack().seen_remotely();
        (40..43).for_each(|t| s.duplicate(t));
        assert_eq!(s.resends(80, 0, 0, false).cause, Cause::Recovery);
        s.ack(81, 12);
        assert_eq!(s.resends(121, 5, 0, false).cause, Cause::Recovery);
        assert_eq!(s.resends(140, 7, 0, false).cause, Cause::Recovery);
        s.overtaken = overtaken;
        assert_eq!(s.resends(150, 6, 0, false).cause, cause, "overtaken: {overtaken}");
    }
}

/// A repair that is taken for the timer's, at 240 ms; its answer leaves at once, and something else comes then.
fn after_a_timer(s: &mut Sender, progress: i64, seen: i64) -> Option<Span> {
    s.ack(progress, 1);
    assert_eq!(s.resends(240, 1, 0, false).cause, Cause::Timeout);
    s.model.note_answer(ms(240));
    s.model.after_timeout(&PacketAfterRto {
        start: 2000,
        seen: ms(seen),
        overtaken: false,
        spacing: Span::from_millis(4),
    })
}

#[test]
fn what_comes_right_behind_a_timers_copy_left_with_it() {
    // RFC 5681 §3.1: the loss window is one segment. A queue had held both up.
    for (seen, cause) in [(244, Cause::Recovery), (290, Cause::LossState)] {
        let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
        after_a_timer(&mut s, 10, seen);
        assert_eq!(s.resends(seen, 2, 0, false).cause, cause, "at {seen} ms");
    }
}

#[test]
fn the_answer_to_a_timers_copy_tells_how_long_the_way_to_the_sender_and_back_is() {
    let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
    assert_eq!(after_a_timer(&mut s, 10, 290), Some(Span::from_millis(50)));
    let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
    assert_eq!(after_a_timer(&mut s, 10, 244), None);
}

#[test]
fn a_timer_that_has_just_fired_does_not_again() {
    // RFC 6298 §5.5. All that had been seen is acknowledged, and more was sent than that.
    let mut s = Sender::with_in_flight(10).without_sack().seen_remotely();
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.ack(301, 10);
    s.unseen = true;
    assert_eq!(s.resends(440, 10, 0, false).cause, Cause::LossState);
}

#[test]
fn a_partial_ack_asks_for_a_repair() {
    // RFC 6582 §3.2: the first one asked for arrived, and the next one was lost.
    let mut s = Sender::with_in_flight(20).without_sack().seen_remotely();
    (40..43).for_each(|t| s.duplicate(t));
    assert_eq!(s.resends(80, 0, 0, false).cause, Cause::Recovery);
    assert_eq!(s.model.repair_due(), 0);
    s.ack(120, 4);
    assert_eq!(s.model.repair_due(), 1);
    assert_eq!(s.resends(160, 4, 0, false).cause, Cause::Recovery);
    assert_eq!(s.model.repair_due(), 0);
}

#[test]
fn only_away_from_the_sender_another_cause_may_fit() {
    // A timer that fires 180 ms after the cumulative ACK moved may as well be a repair that a queue held up.
    let story = |s: Sender| {
        let mut s = s.without_sack();
        s.ack(40, 2);
        s.resends(220, 2, 0, false)
    };
    assert_eq!(story(Sender::with_in_flight(10)).observed, None);
    assert_eq!(story(Sender::with_in_flight(10)).other, None);
    assert!(story(Sender::with_in_flight(10).seen_remotely()).observed.is_some());
}
