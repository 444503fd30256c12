//! Senders that are seen to send, each as a timeline: which cause each retransmission gets. Before and since RFC 6928; and
//! where their data is seen to arrive.

mod story;

use analysis::rows::{Cause, Evidence, Trigger, Vantage};
use story::sender::{BEGIN, Sender};
use story::{MSS, Story};

#[test]
fn the_first_sack_after_an_outage_starts_recovery_without_a_timeout() {
    // Paper `interruption`, Fig. 9: one retransmission for each ACK that comes back.
    let mut s = Sender::with_in_flight(100);
    s.sack(250, 98);
    let r = s.resends(250, 0);
    assert_eq!((r.cause, r.evidence, r.trigger), (Cause::Recovery, Evidence::Sack, Trigger::Ack));
    s.sack(251, 99);
    assert_eq!(s.cause(251, 1), Cause::Recovery);
}

#[test]
fn a_silence_as_long_as_the_rto_ends_in_a_timeout() {
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 8);
    let r = s.resends(290, 0);
    assert_eq!((r.cause, r.trigger, r.backoff), (Cause::Timeout, Trigger::TimerRto, 0));
    // RFC 6298 §5.5: again, twice as long after
    let r = s.resends(770, 0);
    assert_eq!((r.cause, r.backoff), (Cause::Timeout, 1));
}

#[test]
fn after_a_timeout_slow_start_repeats_what_was_in_flight() {
    let mut s = Sender::without_sack(10);
    assert_eq!(s.cause(260, 0), Cause::Timeout);
    s.ack(300, 1);
    assert_eq!(s.cause(300, 1), Cause::LossState);
    assert_eq!(s.cause(300, 2), Cause::LossState);
    // ... until everything that was in flight then is acknowledged
    s.ack(340, 10);
    s.sends_new(340);
    s.duplicate(380);
    assert_eq!(s.cause(380, 10), Cause::Recovery);
}

#[test]
fn a_spurious_timeout_ends_the_loss_state() {
    // Paper `interruption`, Fig. 10 (b) to (f), and RFC 5682 §3.1: two new segments, then SACK repairs the rest.
    let mut s = Sender::with_in_flight(60);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.ack(341, 2);
    s.dsack(341, 2, 0);
    s.sends_new(341);
    s.sends_new(341);
    s.sack(382, 60);
    let r = s.resends(382, 2);
    assert_eq!((r.cause, r.trigger), (Cause::Recovery, Trigger::Ack));
}

#[test]
fn an_ack_that_echoes_an_earlier_repair_does_not_make_a_timeout_spurious() {
    // RFC 3522 §3.2: the clock to compare with is that of the retransmission which began the repair.
    let mut s = Sender::with_in_flight(20);
    s.sack(40, 18);
    assert_eq!(s.cause(42, 0), Cause::Recovery);
    assert_eq!(s.cause(400, 0), Cause::Timeout);
    s.left[0] = BEGIN + 42;
    s.ack(440, 5);
    assert_eq!(s.cause(440, 5), Cause::LossState);
}

#[test]
fn a_duplicate_ack_for_new_data_proves_the_loss() {
    // RFC 5682 §3.1 step 3a
    let mut s = Sender::without_sack(60);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.ack(341, 1);
    s.sends_new(341);
    s.sends_new(341);
    s.duplicate(382);
    assert_eq!(s.cause(382, 1), Cause::LossState);
}

#[test]
fn the_last_segment_again_after_two_round_trips_is_a_probe() {
    // RFC 8985 §7.2: PTO = 2 SRTT
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    let r = s.resends(130, 9);
    assert_eq!((r.cause, r.trigger), (Cause::Probe, Trigger::TimerProbe));
    // A second one without progress is none: then the timer fires, on the first segment.
    assert_eq!(s.cause(400, 5), Cause::Timeout);
}

#[test]
fn new_data_after_two_silent_round_trips_is_a_probe_and_behind_an_ack_it_is_not() {
    let mut s = Sender::with_in_flight(10);
    s.ack(40, 5);
    assert!(!s.sends_new(41));
    assert!(s.sends_new(135));
    s.ack(180, 6);
    assert!(!s.sends_new(180));
}

#[test]
fn a_repair_a_few_milliseconds_after_the_sack_is_the_reordering_timer_s() {
    // RFC 8985 §6.2: the timer of RACK, a quarter of a round trip
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 8);
    let r = s.resends(50, 0);
    assert_eq!((r.cause, r.evidence, r.trigger), (Cause::Recovery, Evidence::Time, Trigger::Ack));
}

#[test]
fn a_repair_sent_again_while_old_duplicates_trickle_in_is_a_timeout() {
    // Nothing sent after the lost repair has arrived, so no ACK can have told of its loss (RFC 8985 §5).
    let mut s = Sender::without_sack(40);
    for t in [40, 41, 42] {
        s.duplicate(t);
    }
    assert_eq!(s.cause(42, 0), Cause::Recovery);
    for t in (50..290).step_by(3) {
        s.duplicate(t);
    }
    assert_eq!(s.cause(290, 0), Cause::Timeout);
}

#[test]
fn a_repair_lost_again_after_the_timeout_is_found_by_acks() {
    // RFC 8985 §6.2: RACK, on data sent after that repair
    let mut s = Sender::with_in_flight(60);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.ack(341, 1);
    assert_eq!(s.cause(341, 1), Cause::LossState);
    assert_eq!(s.cause(341, 2), Cause::LossState);
    s.sack(383, 2);
    assert_eq!(s.cause(384, 1), Cause::Recovery);
}

#[test]
fn one_sack_of_new_data_that_tests_a_timeout_shows_that_it_was_needed() {
    // RFC 5682 §2.1 step 3a: no DSACK reports the timer's copy, and one SACK alone reports no loss (RFC 6675 §5).
    let mut s = Sender::with_in_flight(60);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.left[0] = BEGIN;
    s.ack(341, 2);
    s.put_new(341);
    s.put_new(341);
    s.sack(382, 60);
    assert_eq!(s.cause(382, 2), Cause::LossState);
}

// ---- before and since RFC 6928

#[test]
fn a_sender_since_rfc_6928_believes_a_dsack_at_once() {
    // Linux 3.10 and later: RFC 5682 §3.1 without the second ACK, and RFC 3708.
    let after = |s: &mut Sender| {
        assert_eq!(s.cause(300, 0), Cause::Timeout);
        s.dsack(340, 2, 0);
        s.sends_new(340);
        s.sack(380, 10);
        s.cause(380, 2)
    };
    let bare = || Story::from(Vantage::Sender).sack_permitted();
    assert_eq!(after(&mut Sender::opens(bare(), 10)), Cause::LossState);
    assert_eq!(after(&mut Sender::opens(bare().offers(65_000), 10)), Cause::Recovery);
}

#[test]
fn a_sender_since_rfc_6928_knows_on_the_same_ack_what_else_was_lost() {
    // The timer's second copy is acknowledged, and with it data sent once; more of that is SACKed.
    for (recent, cause) in [(false, Cause::LossState), (true, Cause::Recovery)] {
        let mut s = if recent { Sender::recent(10) } else { Sender::with_in_flight(10) };
        s.sack(40, 8);
        assert_eq!(s.cause(300, 0), Cause::Timeout);
        assert_eq!(s.cause(800, 0), Cause::Timeout);
        s.ack(840, 2);
        assert_eq!(s.cause(840, 2), cause, "recent: {recent}");
    }
}

#[test]
fn an_ack_of_slow_start_does_not_make_the_next_timeout_spurious() {
    // RFC 3522 §3.2, and Linux's retrans_stamp: the clock to compare with is that of the retransmission which began the
    // repair, though the cumulative ACK has moved since.
    let mut s = Sender::recent(20);
    assert_eq!(s.cause(300, 0), Cause::Timeout);
    s.ack(340, 1);
    assert_eq!(s.cause(340, 1), Cause::LossState);
    assert_eq!(s.cause(700, 1), Cause::Timeout);
    s.left[1] = BEGIN + 340;
    s.ack(740, 5);
    assert_eq!(s.cause(740, 5), Cause::LossState);
}

#[test]
fn two_new_segments_test_a_timeout_and_more_are_a_window_restored() {
    // RFC 5682 §3.1 step 2b: at most two. The DSACK comes on the ACK that moves: the timer's copy was not needed.
    for (new, cause) in [(2, Cause::LossState), (3, Cause::Recovery)] {
        let mut s = Sender::with_in_flight(60);
        assert_eq!(s.cause(300, 0), Cause::Timeout);
        s.dsack(340, 1, 0);
        (0..new).for_each(|_| s.put_new(340));
        s.sack(381, 60);
        assert_eq!(s.cause(381, 1), cause, "{new} new segments");
    }
}

#[test]
fn an_initial_window_tells_how_old_a_sender_is() {
    // RFC 3390 §1: four segments of 1000 bytes; RFC 6928 §2: ten. Only who is recent probes for a single segment.
    for (segments, cause) in [(4, Cause::Timeout), (10, Cause::Probe)] {
        let mut t = Story::from(Vantage::Sender).sack_permitted().handshake(40).at(60);
        for k in 0..segments {
            t = t.data(1 + k * MSS, MSS);
        }
        t = t.at(100).ack(1 + segments * MSS).at_us(140_010).data(1 + segments * MSS, MSS);
        let told = t.at_us(385_020).data(1 + segments * MSS, MSS).ends();
        assert_eq!(told.rows.retransmissions[0].cause, cause, "{segments} segments");
    }
}

#[test]
fn a_syn_ack_that_comes_again_starts_no_timer() {
    let mut t = Story::from(Vantage::Sender).handshake(40).at_us(50_010);
    for k in 0..4 {
        t = t.data(1 + k * MSS, MSS);
    }
    let told = t.at_us(250_020).syn_ack().at_us(295_030).data(1, MSS).ends();
    // The first row is that of the SYN-ACK.
    let repairs: Vec<_> = told.rows.retransmissions.iter().map(|r| r.cause).collect();
    assert_eq!(repairs, [Cause::Handshake, Cause::Timeout]);
}

#[test]
fn in_silence_only_a_timer_repeats_what_nothing_reported_lost() {
    // The RTO is not known well: one long round trip was all that was measured.
    let mut t = Story::from(Vantage::Sender).handshake(600).at_us(610_010);
    for k in 0..4 {
        t = t.data(1 + k * MSS, MSS);
    }
    let told = t.at_us(1_010_020).data(1, MSS).ends();
    assert_eq!(told.rows.retransmissions[0].cause, Cause::Timeout);
}

// ---- seen where data arrives: a copy that was lost on its way is not seen

#[test]
fn a_partial_ack_asks_for_a_repair_as_late_as_a_full_queue_makes_it() {
    // RFC 6582 §3.2 step 5. The queue holds up both repairs, for longer than the shortest timer waits.
    let mut s = Sender::arriving(5);
    s.lose(0);
    (0..4).for_each(|_| s.put_new(0));
    (0..8).for_each(|_| s.duplicate(0));
    assert_eq!(s.cause(180, 0), Cause::Recovery);
    s.ack(180, 5);
    assert_eq!(s.cause(360, 5), Cause::Recovery);
}

#[test]
fn a_repair_that_was_overtaken_is_no_timers() {
    // RFC 6582 §3.2: partial ACKs ask upwards.
    let mut s = Sender::arriving(20);
    (0..3).for_each(|_| s.duplicate(0));
    assert_eq!(s.cause(80, 0), Cause::Recovery);
    s.ack(81, 12);
    assert_eq!(s.cause(121, 5), Cause::Recovery);
    assert_eq!(s.cause(140, 7), Cause::Recovery);
    assert_eq!(s.cause(150, 6), Cause::Timeout);
}
