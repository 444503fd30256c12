//! Which of its clocks let a repair go, at a sender that is seen to send: RACK's timer, its pacing, or the RTO.

use super::*;

/// Of an age that times each copy; its RTO is 240 ms.
fn timed(n: u64) -> Sender {
    let mut s = Sender::with_in_flight(n);
    s.model.note_syn(64_240, 1460);
    s
}

#[test]
fn the_reordering_timer_may_fire_when_the_rto_would_be_due() {
    // RFC 8985 §6.2: what left at 0 with the segment SACKed is lost after RACK.rtt and a quarter of the least round trip.
    for (waits, cause) in [(Some(0), Cause::Recovery), (None, Cause::Timeout)] {
        let mut s = timed(10);
        s.sack_timed(235, 2, 0);
        s.last_before = waits;
        assert_eq!(s.resends(247, 0, 0, false).cause, cause, "{waits:?}");
    }
}

#[test]
fn the_reordering_timer_waits_for_the_last_that_left_before_what_was_delivered() {
    // Linux: tcp_rack_detect_loss. The first left 170 ms before that, and no SYN tells the age.
    let cause = |timestamps: bool| {
        let mut s = Sender::with_in_flight(10);
        s.timestamps = timestamps;
        s.sack_timed(200, 12, 190);
        s.model.note_rack((ms(190), 12_000), Span::from_millis(60));
        s.last_before = Some(170);
        s.resends(238, 0, 100, false).cause
    };
    assert_eq!(cause(true), Cause::Recovery);
    // An older sender's timer may be due then.
    assert_eq!(cause(false), Cause::Timeout);
}

#[test]
fn a_paced_repair_leaves_when_the_pace_allows_and_the_timer_at_any_time() {
    // A packet every 40 ms, behind no ACK. The head left at 0, and what left at 80 ms tells of its loss.
    for (at, cause) in [(240, Cause::Recovery), (255, Cause::Timeout)] {
        let mut s = timed(1);
        for k in 1..=5 {
            s.sends_new(40 * k);
        }
        s.sack_timed(225, 3, 80);
        assert_eq!(s.resends(at, 0, 0, false).cause, cause, "at {at} ms");
    }
}

#[test]
fn a_probe_takes_the_turn_of_the_packet_after_it() {
    // Linux: tcp_wstamp_ns moves on by what each packet takes, whatever sent it.
    let mut pacing = Pacing::default();
    for t in [0, 40, 80, 120] {
        pacing.on_sent(ms(t), ms(t - 40), ms(-100), Trigger::Ack);
    }
    pacing.on_sent(ms(150), ms(120), ms(-100), Trigger::TimerProbe);
    assert_eq!([160, 190, 200].map(|t| pacing.is_due(ms(t))), [false, false, true]);
}

#[test]
fn a_syn_ack_that_comes_again_starts_no_timer() {
    let mut s = Sender::with_in_flight(4);
    s.model.on_handshake(ms(200));
    assert_eq!(s.resends(245, 0, 0, false).cause, Cause::Timeout);
}

#[test]
fn before_the_rto_no_timer_repeats_what_was_told_of() {
    let mut s = timed(10);
    s.sack_timed(150, 3, 20);
    assert_eq!(s.resends(200, 0, 0, false).cause, Cause::Recovery);
}

#[test]
fn every_timeout_is_seen_where_the_timer_runs() {
    // 958 ms are two waits of a timer of 240 ms, and some; but no copy between was lost on its way here.
    let mut s = Sender::with_in_flight(10);
    s.sack(40, 9, 0);
    assert_eq!(s.resends(42, 0, 0, false).cause, Cause::Recovery);
    assert_eq!(s.resends(1000, 0, 42, true).cause, Cause::Timeout);
    s.sack(1010, 5, 0);
    assert!(s.model.in_loss_state(), "RFC 5682 §2.1: the first timeout within a recovery");
}

#[test]
fn in_silence_only_a_timer_repeats_what_nothing_told_of() {
    // The RTO is not known well: one long round trip was all that was measured.
    let mut s = Sender::with_in_flight(4).without_sack();
    (s.timing.srtt, s.timing.rto) = (Span::from_millis(600), Span::from_millis(2000));
    assert_eq!(s.resends(400, 0, 0, false).cause, Cause::Timeout);
}

#[test]
fn without_sack_a_repair_is_repeated_for_three_duplicate_acks_or_by_the_timer() {
    // RFC 6582 §3.2: a duplicate ACK that comes at the same moment has asked for nothing.
    for (duplicates, cause) in [(12, Cause::Timeout), (3, Cause::Recovery)] {
        let mut s = Sender::with_in_flight(20).without_sack();
        (40..43).for_each(|t| s.duplicate(t));
        assert_eq!(s.resends(42, 0, 0, false).cause, Cause::Recovery);
        s.model.duplicates = 0;
        (0..duplicates).for_each(|k| s.duplicate(100 - duplicates + 1 + k));
        assert_eq!(s.resends(100, 0, 42, true).cause, cause, "{duplicates} duplicate ACKs");
    }
}

#[test]
fn in_slow_start_only_duplicate_acks_ask_for_the_first_segment_again() {
    // ns-3.20 goes on counting those from before the timeout: one more is the third.
    let mut s = Sender::with_in_flight(20).without_sack();
    assert_eq!(s.resends(300, 0, 0, false).cause, Cause::Timeout);
    s.duplicate(345);
    assert_eq!(s.resends(345, 0, 300, true).cause, Cause::Recovery);
}

#[test]
fn a_probe_leaves_when_the_rto_is_due_sooner() {
    // RFC 8985 §7.2: 2 SRTT and 200 ms for an ACK that is delayed, but no later than the RTO.
    let mut s = timed(1);
    (s.timing.srtt, s.timing.rto) = (Span::from_millis(400), Span::from_millis(600));
    assert_eq!(s.resends(590, 0, 0, false).cause, Cause::Probe);
}
