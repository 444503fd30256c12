//! Stories of senders before RFC 6928 and since.

use super::*;

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
