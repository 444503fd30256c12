//! Recovery by duplicate ACKs and by SACK, as the RFCs tell it.

use super::stacks::*;
use super::timeline::Timeline;
use crate::endpoint::Phase;
use crate::stack::*;

/// `n` segments are on their way; SMSS 1000, RTT 100 ms.
fn flying(mut spec: Wire, n: u32) -> Timeline {
    spec.congestion.initial_window = InitialWindow::Segments(n);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(200).sends(0..u64::from(n));
    t
}

#[test]
fn three_duplicates_make_reno_resend_and_inflate() {
    // RFC 5681 §3.2; without limited transmit nothing leaves on the first two
    let mut spec = rfc_reno();
    spec.detect.limited_transmit = false;
    let mut t = flying(spec, 10);
    t.at_ms(100).ack(0).quiet().at_ms(101).ack(0).quiet();
    t.at_ms(102).ack(0).resends(0).ssthresh(5).cwnd(8).phase(Phase::Recovery);
    t.at_ms(103).ack(0).at_ms(104).ack(0).quiet().cwnd(10);
    // (5): more duplicates let new segments leave.
    t.at_ms(105).ack(0).sends(10..11).at_ms(106).ack(0).sends(11..12);
    // (6): the first ACK that advances ends it, cwnd = ssthresh.
    t.at_ms(200).ack(10).cwnd(5).phase(Phase::Open).sends(12..15).timeouts(0);
}

#[test]
fn limited_transmit_sends_one_new_segment_on_each_of_two_duplicates() {
    // RFC 3042; what it sent is not counted as in flight (RFC 5681 §3.2 (2))
    let mut t = flying(rfc_reno(), 10);
    t.at_ms(100).ack(0).sends(10..11).at_ms(101).ack(0).sends(11..12);
    t.at_ms(102).ack(0).resends(0).ssthresh(5);
}

#[test]
fn newreno_repairs_one_loss_for_each_partial_ack() {
    // RFC 6582 §3.2: 0, 2 and 4 are lost of 10
    let mut t = flying(rfc_newreno(true), 10);
    t.at_ms(100).ack(0).sends(10..11).at_ms(101).ack(0).sends(11..12);
    t.at_ms(102).ack(0).resends(0).cwnd(8).ssthresh(5);
    for ms in 103..107 {
        t.at_ms(ms).ack(0);
    }
    t.quiet().cwnd(12);
    // Partial: the next hole at once; deflated by the 2 acknowledged, 1 back.
    t.at_ms(200).ack(2).resends(2).cwnd(11).sends(12..13).phase(Phase::Recovery);
    t.at_ms(300).ack(4).resends(4).cwnd(10).sends(13..14);
    // Everything sent before recovery is acknowledged: min(ssthresh, FlightSize + SMSS).
    t.at_ms(400).ack(12).phase(Phase::Open).cwnd(3).sends(14..15).timeouts(0);
}

#[test]
fn slow_but_steady_restarts_the_timer_at_every_partial_ack_and_impatient_at_the_first() {
    // RFC 6582 §4
    for (impatient, moves) in [(true, false), (false, true)] {
        let mut t = flying(rfc_newreno(impatient), 10);
        t.at_ms(100).ack(0).sends(10..11).at_ms(101).ack(0).sends(11..12).at_ms(102).ack(0).resends(0);
        t.at_ms(200).ack(2).resends(2);
        let first = t.timer_ms();
        t.at_ms(300).ack(4).resends(4);
        assert_eq!(t.timer_ms() > first, moves, "impatient: {impatient}");
    }
}

#[test]
fn newreno_does_not_start_again_on_duplicates_of_one_window() {
    // RFC 6582 §3.2 (2): behind a timeout, duplicates of what was resent needlessly
    let mut spec = rfc_newreno(true);
    spec.detect.limited_transmit = false;
    let mut t = flying(spec, 6);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).cwnd(1).ssthresh(3);
    // Only 0 was lost: the resent 1 and 2 come back as duplicates.
    t.at_ms(timer + 100).ack(6).sends(6..9).phase(Phase::Open);
    t.at_ms(timer + 200).ack(6).at_ms(timer + 201).ack(6).at_ms(timer + 202).ack(6).quiet();
    t.phase(Phase::Open);
}

#[test]
fn tahoe_starts_slowly_after_a_fast_retransmit() {
    let mut t = flying(rfc_tahoe(), 10);
    t.at_ms(100).ack(0).sends(10..11).at_ms(101).ack(0).sends(11..12);
    t.at_ms(102).ack(0).resends(0).cwnd(1).ssthresh(5);
    // Go-back-N: what had arrived is skipped by its ACK.
    t.at_ms(200).ack(12).cwnd(3).sends(12..15).timeouts(0);
}

#[test]
fn after_a_timeout_go_back_n_resends_everything_in_slow_start() {
    let mut t = flying(rfc_newreno(true), 8);
    let timer = t.timer_ms();
    assert_eq!(timer, 300, "SRTT + 4 RTTVAR");
    t.at_ms(timer).times_out(0).cwnd(1).ssthresh(4).phase(Phase::Loss);
    t.at_ms(400).ack(1).resends(1).resends(2);
    t.at_ms(500).ack(3).resends(3).resends(4).resends(5).resends(6).cwnd(4);
    t.at_ms(600).ack(7).resends(7).sends(8..12).cwnd(5);
    t.timeouts(1);
}

#[test]
fn the_timer_backs_off_and_ssthresh_stays() {
    // RFC 6298 (5.5); RFC 5681 §3.1
    let mut t = flying(rfc_newreno(true), 8);
    t.at_ms(300).times_out(0).ssthresh(4);
    t.at_ms(900).times_out(0).ssthresh(4);
    t.at_ms(2100).times_out(0).ssthresh(4).cwnd(1);
    assert_eq!(t.end.view().backoff, 3);
    t.at_ms(2200).ack(1).resends(1).resends(2);
}

#[test]
fn pipe_sends_what_fits_below_half_the_window() {
    // RFC 6675 §5: 0 and 3 are lost of 10
    let mut t = flying(rfc_sack(), 10);
    t.at_ms(100).sack(0, &[1..2]).sends(10..11);
    t.at_ms(101).sack(0, &[1..3]).sends(11..12);
    // The third duplicate: (4.2) ssthresh = cwnd = FlightSize / 2 without what limited transmit sent.
    t.at_ms(102).sack(0, &[4..5, 1..3]).resends(0).cwnd(5).ssthresh(5).phase(Phase::Recovery);
    // pipe: 12 out, 0 lost and resent, 3 SACKed: 9 > cwnd. It falls by one for each SACK.
    t.at_ms(103).sack(0, &[4..6, 1..3]).quiet();
    // Now 4, 5, 6 are SACKed above 3: IsLost, but pipe still fills cwnd.
    t.at_ms(104).sack(0, &[4..7, 1..3]).quiet();
    assert_eq!(t.end.view().pipe, 6000);
    t.at_ms(105).sack(0, &[4..8, 1..3]).quiet();
    t.at_ms(106).sack(0, &[4..9, 1..3]).resends(3);
    t.at_ms(107).sack(0, &[4..10, 1..3]).sends(12..13);
    t.at_ms(200).sack(3, &[4..10]).sends(13..14);
    t.at_ms(206).ack(12).phase(Phase::Open).cwnd(5).sends(14..17).timeouts(0);
}

#[test]
fn three_segments_sacked_above_begin_recovery_with_the_first_duplicate() {
    // RFC 6675 §5: DupAcks < DupThresh, but IsLost (HighACK + 1): the ACKs between were lost
    let mut t = flying(rfc_sack(), 10);
    t.at_ms(103).sack(0, &[1..4]).resends(0).phase(Phase::Recovery);
}

#[test]
fn next_seg_3_resends_what_is_not_known_lost_when_there_is_no_new_data() {
    let mut spec = rfc_sack();
    spec.congestion.initial_window = InitialWindow::Segments(10);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(10).sends(0..10);
    // 0, 5 and 9 are lost.
    t.at_ms(100).sack(0, &[1..2]).at_ms(101).sack(0, &[1..3]).quiet();
    t.at_ms(102).sack(0, &[1..4]).resends(0).at_ms(103).sack(0, &[1..5]).quiet();
    // pipe 4 with 5 segments of cwnd: 5 is not lost by IsLost (one SACKed above), and may leave by rule 3.
    t.at_ms(104).sack(0, &[6..7, 1..5]).quiet();
    t.at_ms(105).sack(0, &[6..8, 1..5]).resends(5);
    // Rule 4: one rescue of the highest segment, so that the lost tail needs no timeout.
    t.at_ms(106).sack(0, &[6..9, 1..5]).resends(9).phase(Phase::Recovery);
    t.at_ms(200).sack(5, &[6..9]).quiet();
    t.at_ms(205).ack(10).phase(Phase::Open).timeouts(0);
}

#[test]
fn after_a_timeout_only_what_is_not_sacked_is_resent() {
    // RFC 6675 §5.1
    let mut spec = rfc_sack();
    spec.detect.limited_transmit = false;
    let mut t = flying(spec, 8);
    t.at_ms(100).sack(0, &[6..7]).quiet();
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).ssthresh(4).cwnd(1);
    t.at_ms(timer + 100).sack(1, &[6..7]).resends(1).resends(2);
    t.at_ms(timer + 200).sack(3, &[6..7]).resends(3).resends(4).resends(5).resends(7);
    t.at_ms(timer + 300).ack(8).sends(8..13).phase(Phase::Open).timeouts(1);
}

#[test]
fn a_receiver_that_reneges_is_believed_no_more() {
    // RFC 2018 §8: after the timeout the SACKed segment is resent as well
    let mut t = flying(rfc_sack(), 4);
    t.at_ms(100).sack(0, &[1..2]).sends(4..5);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0);
    // The receiver kept 0 only: SND.UNA stands at what it had SACKed.
    t.at_ms(timer + 100).ack(1).resends(2).resends(3);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(1);
}

#[test]
fn prr_lets_one_segment_leave_for_two_delivered() {
    // RFC 9937 §6.2, proportional part: ssthresh is half of what was in flight
    let mut spec = rfc_sack();
    spec.recovery.rule = RecoveryRule::Prr { of: PrrOf::Flight };
    spec.congestion.initial_window = InitialWindow::Segments(20);
    spec.detect.limited_transmit = false;
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(200).sends(0..20);
    t.at_ms(101).sack(0, &[1..2]).at_ms(102).sack(0, &[1..3]).quiet();
    t.at_ms(103).sack(0, &[1..4]).resends(0).ssthresh(10);
    let mut sent = 0;
    for right in 5..=20 {
        t.at_ms(100 + right as i64).sack(0, &[1..right]);
        sent += t.sends_as_it_likes(20 + sent);
    }
    // RecoverFS 18 (two were SACKed before), 17 delivered: ceil(17 * 10 / 18) = 10, the fast retransmit among them.
    assert_eq!(sent, 9);
    t.at_ms(203).ack(20).cwnd(10).phase(Phase::Open);
}

#[test]
fn f_rto_takes_a_needless_timeout_back() {
    // RFC 5682 §2.1: the ACKs were only late; nothing but the first segment is resent
    let mut spec = rfc_sack();
    spec.undo.f_rto = true;
    let mut t = flying(spec, 8);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).cwnd(1).phase(Phase::Loss);
    t.at_ms(timer + 10).ack(1).sends(8..10);
    t.at_ms(timer + 12).ack(2).phase(Phase::Open).cwnd(8).timeouts(1);
}

#[test]
fn f_rto_without_new_data_repairs_as_usual() {
    // RFC 5682 §2.1 (2b)
    let mut spec = rfc_sack();
    spec.undo.f_rto = true;
    spec.congestion.initial_window = InitialWindow::Segments(8);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(8).sends(0..8);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).at_ms(timer + 100).ack(1).resends(1).resends(2);
}

#[test]
fn eifel_sees_by_the_echo_that_the_original_arrived() {
    // RFC 3522 §3.2, RFC 4015: the window comes back without a burst
    let mut spec = rfc_sack();
    spec.options.timestamps = true;
    spec.undo.eifel = true;
    let mut t = flying(spec, 8);
    let original = t.stamp_of(0);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).cwnd(1);
    let repair = t.stamp_of(0);
    assert!(repair > original);
    t.echo_of_originals(original);
    // FlightSize 7 and one acknowledged: 8 segments, so one new one.
    t.at_ms(timer + 10).ack(1).phase(Phase::Open).cwnd(8).sends(8..9);
}

#[test]
fn eifel_leaves_a_timeout_that_was_right() {
    let mut spec = rfc_sack();
    spec.options.timestamps = true;
    spec.undo.eifel = true;
    let mut t = flying(spec, 8);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).at_ms(timer + 100).ack(1).phase(Phase::Loss).resends(1).resends(2);
}

#[test]
fn dsack_of_every_retransmission_takes_recovery_back() {
    // Reordering: 0 comes late, and its needless copy is reported (RFC 2883 §4.1)
    let mut spec = rfc_sack();
    spec.undo.dsack = true;
    let mut t = flying(spec, 10);
    t.at_ms(100).sack(0, &[1..2]).sends(10..11).at_ms(101).sack(0, &[1..3]).sends(11..12);
    t.at_ms(102).sack(0, &[1..4]).resends(0).cwnd(5);
    t.at_ms(110).ack(4).phase(Phase::Recovery).quiet();
    t.at_ms(202).sack(4, &[0..1]).phase(Phase::Open).cwnd(10).sends(12..14);
}

#[test]
fn fast_recovery_after_a_timeout_keeps_half_the_window() {
    // Paper `wireless`'s proposal
    let mut spec = rfc_reno();
    spec.recovery.after_timeout = AfterTimeout::FastRecovery;
    let mut t = flying(spec, 8);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).resends(1).resends(2).resends(3).cwnd(4).ssthresh(4);
}

#[test]
fn linux_2_2_sends_nothing_new_after_a_timeout_until_all_is_acknowledged() {
    // Paper `rto`, section 2: "despite not having filled the congestion window"
    let mut spec = rfc_sack();
    spec.recovery.after_timeout = AfterTimeout::RepairsOnly;
    let mut t = flying(spec, 8);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).cwnd(1).at_ms(400).ack(1).resends(1).resends(2);
    // Only 7 is missing, and cwnd has room for more.
    t.at_ms(500).ack(7).resends(7).quiet().phase(Phase::Loss);
    t.at_ms(600).ack(8).phase(Phase::Open).sends(8..12).timeouts(1);
}

#[test]
fn a_hole_above_the_recovery_point_begins_the_next_recovery_at_once() {
    let mut t = flying(rfc_sack(), 10);
    t.at_ms(100).sack(0, &[1..2]).sends(10..11).at_ms(101).sack(0, &[1..3]).sends(11..12);
    t.at_ms(102).sack(0, &[1..4]).resends(0);
    let mut sent = 12;
    for right in 5..=12 {
        t.at_ms(100 + right as i64).sack(0, &[1..right]);
        sent += t.sends_as_it_likes(sent);
    }
    assert_eq!(sent, 16);
    // 12 is lost, what follows it arrives.
    t.at_ms(202).sack(12, &[13..16]).phase(Phase::Recovery).resends(12).sends(16..17).timeouts(0);
}

#[test]
fn the_burst_limit_holds_back_what_a_large_ack_would_let_go() {
    let mut spec = rfc_sack();
    spec.send.max_burst_segments = Some(3);
    spec.congestion.initial_window = InitialWindow::Segments(10);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(200).sends(0..3);
    t.at_ms(100).ack(3).sends(3..6).at_ms(200).ack(6).sends(6..9);
    t.timeouts(0);
}

#[test]
fn without_sack_a_partial_ack_delivers_what_duplicates_had_not_told_of() {
    // Linux, tcp_remove_reno_sacks: an ACK of five segments behind eight duplicates delivers one. tcp_cwnd_reduction, above
    // ssthresh: of 7 delivered since recovery began 7 * 14 / 20 may have left, 5, and 5 have: the next repair waits for one more.
    let mut spec = linux6();
    spec.options.sack = false;
    spec.congestion.initial_window = crate::stack::InitialWindow::Segments(20);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(400).sends(0..20);
    let mut next = 20;
    next += t.at_ms(100).ack(0).sends_as_it_likes(next);
    next += t.at_ms(101).ack(0).sends_as_it_likes(next);
    t.at_ms(102).ack(0).resends(0).phase(Phase::Recovery);
    for ms in 103..108 {
        next += t.at_ms(ms).ack(0).sends_as_it_likes(next);
    }
    assert_eq!(next, 26, "two by limited transmit, four in recovery");
    t.at_ms(200).ack(5).quiet();
    t.at_ms(201).ack(5).resends(5).quiet();
}
