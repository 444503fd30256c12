//! RACK-TLP as timelines: RFC 8985, and Linux's form of it where they differ.

use super::stacks::{linux6, ms};
use super::timeline::Timeline;
use crate::endpoint::{Evidence, Phase, Why};
use crate::stack::{InitialWindow, RestartsTimer};

/// `n` segments are on their way; RTT 100 ms.
fn flying(n: u32) -> Timeline {
    let mut spec = linux6();
    spec.congestion.initial_window = InitialWindow::Segments(n);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(400).sends(0..u64::from(n));
    t
}

const PROBE_NEW: Why = Why::Probe { new: true };
const PROBE_OLD: Why = Why::Probe { new: false };

#[test]
fn three_sacks_begin_recovery_at_once() {
    // RFC 8985 §6.2 step 4: with DupThresh SACKed segments there is no patience.
    let mut t = flying(10);
    t.at_ms(100).sack(0, &[1..2]).sends(10..11).phase(Phase::Open);
    t.at_ms(101).sack(0, &[1..3]).sends(11..12).phase(Phase::Open);
    t.at_ms(102).sack(0, &[1..4]).resends(0).phase(Phase::Recovery).ssthresh(7).timeouts(0);
}

#[test]
fn one_sack_behind_a_loss_begins_recovery_after_the_reordering_window() {
    // RFC 8985 §6.2 step 5, §6.3: sent at 0, RACK.rtt 100 ms, and a quarter of the smallest RTT.
    let mut t = flying(3);
    t.at_ms(100).sack(0, &[1..2]).sends(3..4).quiet();
    t.at_ms(124).quiet().phase(Phase::Open);
    t.at_ms(125);
    t.leaves(Why::Recovery { evidence: Evidence::Time }).phase(Phase::Recovery).timeouts(0);
}

#[test]
fn what_arrives_within_the_reordering_window_is_not_resent() {
    let mut t = flying(3);
    t.at_ms(100).sack(0, &[1..2]).sends(3..4);
    t.at_ms(110).ack(2).phase(Phase::Open);
    t.sends_as_it_likes(4);
    t.at_ms(180).quiet().phase(Phase::Open);
}

#[test]
fn a_burst_is_found_lost_at_one_sack_and_repaired_in_recovery() {
    // Paper `interruption`, Fig. 9, with today's sender: 88 segments vanish, the next is SACKed; three SACKs, no timeout.
    let mut t = flying(100);
    t.at_ms(100).sack(0, &[88..89]).sends(100..101);
    t.at_ms(101).sack(0, &[88..90]).sends(101..102);
    t.at_ms(102).sack(0, &[88..91]).resends(0).phase(Phase::Recovery).quiet();
    assert_eq!(t.end.view().pipe, 1448 * (102 - 3 - 88 + 1), "88 are lost, one of them is on its way again");
    t.at_ms(103).sack(0, &[88..92]).resends(1);
}

#[test]
fn a_lost_repair_is_found_by_what_was_sent_after_it() {
    // RFC 8985 §3.1: a lost retransmission is detected without a timeout.
    let mut t = flying(10);
    t.at_ms(100).sack(0, &[1..2]).sends(10..11);
    t.at_ms(101).sack(0, &[1..3]).sends(11..12);
    t.at_ms(102).sack(0, &[1..4]).resends(0);
    t.at_ms(103).sack(0, &[1..9]).sends(12..15);
    // 10 and 11 left before the repair and say nothing; 12 left after it.
    let n = t.at_ms(200).sack(0, &[1..11]).sends_as_it_likes(15);
    let m = t.at_ms(201).sack(0, &[1..12]).sends_as_it_likes(15 + n);
    t.at_ms(203).sack(0, &[1..13]).resends(0);
    t.sends_as_it_likes(15 + n + m);
    t.timeouts(0);
}

#[test]
fn a_silent_tail_is_probed_with_new_data_after_two_round_trips() {
    // RFC 8985 §7.2 and §7.3, whatever cwnd says; one probe only, then the RTO.
    let mut t = flying(10);
    t.at_ms(199).quiet();
    t.at_ms(200).leaves(PROBE_NEW).quiet();
    t.at_ms(499).quiet();
    t.at_ms(500).times_out(0).timeouts(1);
}

#[test]
fn without_new_data_the_last_segment_is_the_probe_and_its_ack_shows_the_loss() {
    // RFC 8985 §7.3, and §5.2: the SACK of the probe lets RACK find the others.
    let spec = linux6();
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(5).sends(0..5);
    t.at_ms(200).leaves(PROBE_OLD).quiet();
    // Sent at 0, and a round trip of 100 ms by the probe: a quarter of the smallest RTT is long over.
    t.at_ms(300).sack(0, &[4..5]).resends(0).phase(Phase::Recovery);
    assert_eq!(t.end.view().pipe, 1448, "the four before it are lost, and one is on its way again");
    t.at_ms(400).sack(1, &[4..5]).resends(1).resends(2).timeouts(0);
}

#[test]
fn a_probe_that_filled_the_only_hole_reduces_the_window() {
    // RFC 8985 §7.4.2: the last segment was lost, and the probe repaired it.
    let spec = linux6();
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(10).sends(0..10);
    t.at_ms(100).ack(9);
    let cwnd = t.end.view().cwnd / t.end.view().smss;
    // One segment is out, whose ACK may be delayed: the RTO would be sooner.
    t.at_ms(399).quiet();
    t.at_ms(400).leaves(PROBE_OLD);
    t.at_ms(500).ack(10).quiet();
    // No DSACK tells that it came twice: the ACK of what follows takes the loss for granted.
    t.app_writes_segments(4).sends(10..14);
    t.at_ms(600).ack(14).timeouts(0);
    let v = t.end.view();
    assert_eq!(v.ssthresh / v.smss, cwnd * 717 / 1024);
    assert!(v.cwnd < cwnd * v.smss);
}

#[test]
fn a_probe_that_came_twice_reduces_nothing() {
    // RFC 8985 §7.4.1: the DSACK of the probe's segment.
    let spec = linux6();
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(10).sends(0..10);
    t.at_ms(200).leaves(PROBE_OLD);
    t.at_ms(250).ack(10);
    let cwnd = t.end.view().cwnd;
    t.at_ms(300).sack(10, &[9..10]).quiet();
    t.app_writes_segments(4).sends(10..14);
    t.at_ms(400).ack(14);
    assert!(t.end.view().cwnd >= cwnd, "no loss was repaired");
    assert_eq!(t.end.view().ssthresh, u32::MAX);
}

#[test]
fn the_timer_counts_from_the_oldest_segment_while_a_probe_is_pending() {
    // RFC 8985 §7.2; Linux: tcp_rearm_rto. RTO 300 ms: the probe's own would be 200 ms + 200 ms for a single segment.
    let spec = linux6();
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(1).sends(0..1);
    // The RTO is the earlier of the two: the probe leaves then, and the timer starts anew.
    t.at_ms(299).quiet();
    t.at_ms(300).leaves(PROBE_OLD);
    t.at_ms(599).quiet();
    t.at_ms(600).times_out(0);
}

#[test]
fn no_probe_leaves_in_recovery() {
    // RFC 8985 §7.2. The ACK sets the probe's timer, for 341 ms; the SACK behind it tells of a loss at once.
    for restarts in [RestartsTimer::None, RestartsTimer::Oldest] {
        let mut spec = linux6();
        spec.recovery.restarts_timer = restarts;
        let mut t = Timeline::established(&spec, 100);
        t.at_ms(0).app_writes_segments(3).sends(0..3);
        t.at_ms(40).app_writes_segments(1).sends(3..4);
        t.at_ms(139).ack(2).quiet();
        t.at_ms(140).sack(2, &[3..4]).resends(2).phase(Phase::Recovery);
        // SRTT is 104 ms; the RTO counts from the repair.
        assert_eq!(t.timer_ms(), 444);
        t.at_ms(444).quiet().timeouts(0);
    }
}

#[test]
fn at_a_timeout_what_left_within_the_last_round_trip_is_spared() {
    // RFC 8985 §6.3; Linux: tcp_timeout_mark_lost.
    let mut t = flying(10);
    t.at_ms(100).ack(1).sends_as_it_likes(10);
    t.at_ms(300).leaves(PROBE_NEW);
    t.at_ms(600);
    t.times_out(1).phase(Phase::Loss).cwnd(1);
    assert_eq!(t.end.view().pipe, 1448, "all else is lost");
}

#[test]
fn an_original_that_arrives_after_a_timeout_proves_it_needless() {
    // RFC 5682 §3.1 step 3b; Linux: FLAG_ORIG_SACK_ACKED.
    let mut t = flying(10);
    t.at_ms(200).leaves(PROBE_NEW);
    t.at_ms(500).times_out(0).ssthresh(7).phase(Phase::Loss);
    t.at_ms(520).sack(0, &[1..2]).phase(Phase::Open).cwnd(10);
    assert_eq!(t.end.view().ssthresh, u32::MAX);
    t.timeouts(1);
}

#[test]
fn after_a_real_timeout_new_data_goes_first_and_a_sack_of_it_proves_the_loss() {
    // RFC 5682 §3.1 steps 2b and 3a; Linux: REXMIT_NEW.
    let mut t = flying(10);
    t.at_ms(200).leaves(PROBE_NEW);
    t.at_ms(500).times_out(0).phase(Phase::Loss);
    t.at_ms(600).ack(1).sends(11..13).quiet();
    t.at_ms(700).sack(1, &[11..12]).phase(Phase::Loss);
    t.resends(1);
}

#[test]
fn a_timeout_whose_segment_had_arrived_is_taken_back_and_new_data_shows_what_was_lost() {
    // As Linux 6.18 does behind an outage that also took the ACKs: the echo is older than the timer's repair (RFC 3522),
    // which is therefore no sign of what was sent before it (RFC 8985 §6.2 step 2); the DSACK of a segment that this very
    // ACK acknowledges does not count.
    let mut t = flying(10);
    let stamp = t.stamp_of(0);
    t.at_ms(200).leaves(PROBE_NEW);
    t.at_ms(500).times_out(0).phase(Phase::Loss).echo_of_originals(stamp);
    t.at_ms(600).sack(4, &[0..1]).phase(Phase::Open);
    // cwnd is ten again and grew by this ACK, of which seven are out.
    let n = t.sends_as_it_likes(11);
    assert_eq!(n, u64::from(t.end.view().cwnd / t.end.view().smss) - 7);
    t.quiet();
    t.at_ms(700).sack(4, &[11..12]).resends(4).phase(Phase::Recovery).timeouts(1);
}

#[test]
fn a_thin_stream_does_not_back_off_six_times() {
    // Linux: tcp_thin_linear_timeouts, TCP_THIN_LINEAR_RETRIES; not in the first slow start.
    for (thin, waits) in
        [(true, [300, 300, 300, 300, 300, 300, 600]), (false, [600, 1200, 2400, 4800, 9600, 19_200, 38_400])]
    {
        let mut spec = linux6();
        spec.send.thin_linear_timeouts = thin;
        spec.detect.tail_loss_probe = false;
        spec.congestion.initial_ssthresh_bytes = Some(100_000);
        let mut t = Timeline::established(&spec, 100);
        t.at_ms(0).app_writes_segments(1).sends(0..1);
        let mut now = 300;
        for wait in waits {
            t.at_ms(now).times_out(0);
            now += wait;
            t.at_ms(now - 1).quiet();
        }
    }
}

#[test]
fn needless_repairs_are_taken_back_when_all_were_reported_twice() {
    // RFC 2883; Linux: tcp_try_undo_dsack.
    let mut t = flying(10);
    t.at_ms(100).sack(0, &[1..2]).sends(10..11);
    t.at_ms(101).sack(0, &[1..3]).sends(11..12);
    t.at_ms(102).sack(0, &[1..4]).resends(0).phase(Phase::Recovery);
    let stamp = t.stamp_of(0);
    t.echo_of_originals(stamp);
    t.at_ms(110).ack(4);
    t.sends_as_it_likes(12);
    t.at_ms(202).sack(10, &[0..1]).phase(Phase::Open);
    assert!(t.end.view().cwnd >= 10 * 1448 && t.end.view().ssthresh == u32::MAX, "{:?}", t.end.view());
}

#[test]
fn a_single_segment_waits_for_a_delayed_ack_before_it_is_probed() {
    // RFC 8985 §7.2: TLP.max_ack_delay.
    let mut spec = linux6();
    spec.rto.min = ms(1000);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(1).sends(0..1);
    t.at_ms(399).quiet();
    t.at_ms(400).leaves(PROBE_OLD);
}
