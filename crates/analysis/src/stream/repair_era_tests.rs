//! Stories of senders before RFC 6928 and since.

use super::*;

/// A timeout at 300 ms without timestamps, whose needlessness a DSACK tells; then data beyond the hole is SACKed.
fn goes_on_after_a_dsack(s: &mut Sender) -> Cause {
    s.timestamps = false;
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    let dsack =
        AckEvent { ack: 2000, advanced: 2000, original_end: 2000, dsack: true, ..AckEvent::default() };
    s.una = 2000;
    s.deliver(340, dsack);
    s.sends_new(340);
    s.sack(380, 11, 340);
    s.resends(380, 2, 0, false).cause
}

#[test]
fn a_sender_since_rfc_6928_believes_at_once_that_a_timeout_was_needless() {
    // Linux 3.10 and later: RFC 5682 §3.1 without the second ACK, and RFC 3708.
    let mut old = Sender::with_in_flight(10);
    assert_eq!(goes_on_after_a_dsack(&mut old), Cause::LossState);
    let mut probes = Sender::with_in_flight(10);
    probes.model.era.note_probe();
    assert_eq!(goes_on_after_a_dsack(&mut probes), Cause::Recovery);
}

#[test]
fn an_initial_window_tells_how_old_a_sender_is() {
    // RFC 3390 §1: four segments of 1000 bytes; RFC 6928 §2: ten. A short first write may be acknowledged alone.
    for (first, segments, recent) in [(0, 4, false), (100, 5, false), (0, 10, true), (100, 10, true)] {
        let mut s = Sender::with_in_flight(0);
        s.model.on_handshake(ms(0));
        s.model.note_opening(first, 1000);
        if first > 0 {
            s.deliver(40, AckEvent { ack: first, advanced: first, ..AckEvent::default() });
        }
        (1..=segments).for_each(|k| s.model.note_opening(first + k * 1000, 1000));
        assert_eq!(s.model.era.since_2013(), recent, "{first} bytes, then {segments} segments");
    }
    // Slow start adds what is acknowledged (RFC 5681 §3.1): two segments in, an old sender may have eight in flight.
    for (flight, recent) in [(8, false), (9, true)] {
        let mut s = Sender::with_in_flight(0);
        s.model.on_handshake(ms(0));
        s.deliver(40, AckEvent { ack: 2000, advanced: 2000, ..AckEvent::default() });
        s.model.note_opening(2000 + flight * 1000, 1000);
        assert_eq!(s.model.era.since_2013(), recent, "{flight} segments in flight");
    }
    // It began before the capture: how much it had sent by then is not its initial window.
    let mut s = Sender::with_in_flight(0);
    s.model.note_opening(50_000, 1000);
    assert!(!s.model.era.since_2013());
}

#[test]
fn a_sender_since_rfc_6928_knows_on_the_same_ack_what_else_was_lost() {
    // The timer's second copy is acknowledged, and with it data sent once; more of that is SACKed.
    for (recent, cause) in [(false, Cause::LossState), (true, Cause::Recovery)] {
        let mut s = Sender::with_in_flight(10);
        if recent {
            s.model.era.note_probe();
        }
        s.sack(40, 9, 0);
        assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
        assert_eq!(s.resends(800, 0, 300, true).cause, Cause::Timeout);
        s.ack_of_originals(840, 2);
        assert_eq!(s.resends(840, 2, 0, false).cause, cause, "recent: {recent}");
    }
}

#[test]
fn from_afar_what_was_asked_for_before_the_timer_was_being_repaired() {
    // RFC 5682 §2.1: F-RTO does not begin in fast recovery, whose repairs were lost on their way here.
    for (asked, cause) in [(false, Cause::Recovery), (true, Cause::LossState)] {
        let mut s = Sender::with_in_flight(10).seen_remotely();
        s.model.era.note_probe();
        (0..if asked { 3 } else { 1 }).for_each(|k| s.sack(40 + k, 7 + k as u64, 0));
        assert_eq!(s.resends(400, 0, 0, false).cause, Cause::Timeout);
        s.ack_of_originals(440, 2);
        assert_eq!(s.resends(440, 2, 0, false).cause, cause, "asked: {asked}");
    }
}

#[test]
fn from_afar_slow_start_that_turns_back_repairs_what_was_lost_again() {
    // RFC 8985 §6.2: a sender that times each copy finds that its repair of segment 2, which went unseen, was lost.
    for (recent, overtaken, cause) in
        [(true, false, Cause::Recovery), (true, true, Cause::LossState), (false, false, Cause::LossState)]
    {
        let mut s = Sender::with_in_flight(10).seen_remotely();
        if recent {
            s.model.era.note_probe();
        }
        assert_eq!(s.resends(400, 0, 0, false).cause, Cause::Timeout);
        s.ack(440, 1);
        assert_eq!(s.resends(440, 1, 0, false).cause, Cause::LossState);
        assert_eq!(s.resends(441, 3, 0, false).cause, Cause::LossState);
        s.sack(480, 4, 441);
        s.overtaken = overtaken;
        assert_eq!(s.resends(480, 2, 0, false).cause, cause, "recent {recent}, overtaken {overtaken}");
    }
}

#[test]
fn from_afar_no_timer_of_a_sender_that_times_copies_fires_amid_sacks() {
    // RFC 8985 §6.2: the repair of segment 0 was lost, and comes again 300 ms after the cumulative ACK last moved.
    let after = |recent: bool, silence: i64| {
        let mut s = Sender::with_in_flight(10).seen_remotely();
        if recent {
            s.model.era.note_probe();
        }
        (0..3).for_each(|k| s.sack(40 + k, 3 + k as u64, 0));
        assert_eq!(s.resends(45, 0, 0, false).cause, Cause::Recovery);
        s.sack(300 - silence, 7, 0);
        s.resends(300, 0, 45, true).cause
    };
    assert_eq!(after(true, 169), Cause::Recovery);
    assert_eq!(after(true, 170), Cause::Timeout);
    assert_eq!(after(false, 10), Cause::Timeout);
}

#[test]
fn an_ack_of_slow_start_does_not_excuse_the_timeout_amid_it() {
    // RFC 3522 §3.2, and Linux's retrans_stamp: the clock to compare with is that of the retransmission which began the
    // repair, though the cumulative ACK has moved since.
    let mut s = Sender::with_in_flight(20);
    s.model.era.note_probe();
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.ack(340, 1);
    assert_eq!(s.resends(340, 1, 0, false).cause, Cause::LossState);
    assert_eq!(s.resends(700, 1, 340, true).cause, Cause::Timeout);
    s.una = 5000;
    s.deliver(740, AckEvent { ack: 5000, advanced: 4000, ecr: Some(340), ..AckEvent::default() });
    assert_eq!(s.resends(740, 5, 0, false).cause, Cause::LossState);
}

#[test]
fn where_one_segment_opens_the_clock_tells_how_old_a_sender_is() {
    // RFC 5681 §3.1: a SYN that was lost leaves one. Linux counts milliseconds since 4.13, and 4 or 10 of them before.
    for (segments, tick, sack, recent) in
        [(1, 1, true, true), (1, 4, true, false), (1, 1, false, false), (3, 1, true, false)]
    {
        let mut s = Sender::with_in_flight(0);
        s.model.on_handshake(ms(0));
        (1..=segments).for_each(|k| s.model.note_opening(k * 1000, 1000));
        s.model.note_stamps(Span::from_millis(tick), sack);
        assert_eq!(s.model.is_recent(), recent, "{segments} segments, {tick} ms, SACK {sack}");
    }
}
