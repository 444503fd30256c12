//! Linux 3.10 and 4.9 as timelines: FACK begins a repair, and time or order tells the rest (net/ipv4/tcp_input.c,
//! tcp_recovery.c). Without HyStart, timers without grain.

use super::stacks::linux6;
use super::timeline::Timeline;
use crate::endpoint::{Evidence, Phase, Why};
use crate::stack::{Detect, DetectRule, InitialWindow, ProbeRule, ReductionBound, Wire};

const BOTH: [DetectRule; 2] = [DetectRule::FackRack, DetectRule::FackOrder];
const PROBE_NEW: Why = Why::Probe { new: true };
const PROBE_OLD: Why = Why::Probe { new: false };

fn old(rule: DetectRule) -> Wire {
    let mut s = linux6();
    s.detect = Detect {
        tail_loss_probe: true,
        probe: ProbeRule::Draft,
        early_retransmit: true,
        ..Detect::new(rule, 3, true)
    };
    s.recovery.bound = match rule {
        DetectRule::FackRack => ReductionBound::Repairs,
        _ => ReductionBound::SlowStart,
    };
    s
}

/// `n` of 400 segments are on their way; RTT 100 ms.
fn flying(spec: &Wire, n: u32) -> Timeline {
    let mut spec = spec.clone();
    spec.congestion.initial_window = InitialWindow::Segments(n);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(400).sends(0..u64::from(n));
    t
}

#[test]
fn the_first_sack_behind_a_burst_begins_recovery() {
    // tcp_time_to_recover: fackets_out above tcp_reordering; tcp_update_scoreboard: all but the last three are lost.
    // One segment is delivered: tcp_cwnd_reduction lets one leave in 4.9, and two in 3.10 (PRR-SSRB).
    for (rule, leave) in [(DetectRule::FackRack, 1), (DetectRule::FackOrder, 2)] {
        let mut t = flying(&old(rule), 20);
        t.at_ms(100).sack(0, &[14..15]).phase(Phase::Recovery);
        for k in 0..leave {
            t.resends(k);
        }
        t.quiet();
        assert_eq!(
            t.end.view().pipe,
            1448 * (20 - 1 - 12 + leave as u32),
            "{rule:?}: 15 less 3 are lost, some are on their way again"
        );
    }
}

#[test]
fn a_hole_just_behind_the_front_waits_for_more_sacks_and_for_no_timer() {
    // fackets_out of 2 is not above 3, and with data to send there is no early retransmit (may_send_now).
    for rule in BOTH {
        let mut t = flying(&old(rule), 4);
        t.at_ms(100).sack(0, &[1..2]).sends(4..5).phase(Phase::Open);
        t.at_ms(190).quiet().phase(Phase::Open);
        t.at_ms(191).sack(0, &[1..3]).sends(5..6).phase(Phase::Open);
        t.at_ms(192).sack(0, &[1..4]).resends(0).phase(Phase::Recovery);
    }
}

#[test]
fn with_nothing_to_send_a_hole_is_resent_a_quarter_of_a_round_trip_later() {
    // tcp_pause_early_retransmit: max(RTT/4, 2 ms); RFC 5827 §3.1 for fewer than four segments.
    for rule in BOTH {
        let mut t = Timeline::established(&old(rule), 100);
        t.at_ms(0).app_writes_segments(3).sends(0..3);
        t.at_ms(100).sack(0, &[1..3]).quiet().phase(Phase::Open);
        t.at_ms(124).quiet();
        t.at_ms(125).leaves(Why::Recovery { evidence: Evidence::Time }).phase(Phase::Recovery).timeouts(0);
        // What was only late ends the pause.
        let mut t = Timeline::established(&old(rule), 100);
        t.at_ms(0).app_writes_segments(3).sends(0..3);
        t.at_ms(100).sack(0, &[1..3]);
        t.at_ms(110).ack(3).phase(Phase::Open);
        t.at_ms(600).quiet();
    }
}

#[test]
fn a_repair_is_lost_once_what_left_after_it_is_sacked() {
    // tcp_mark_lost_retrans (3.10), tcp_rack_mark_lost (4.9): no timeout.
    for rule in BOTH {
        let mut t = flying(&old(rule), 10);
        let mut next = 10;
        next += t.at_ms(100).sack(0, &[1..5]).resends(0).phase(Phase::Recovery).sends_as_it_likes(next);
        next += t.at_ms(102).sack(0, &[1..9]).sends_as_it_likes(next);
        assert!(next > 10, "{rule:?}");
        // 9 left before the repair and says nothing.
        next += t.at_ms(103).sack(0, &[1..10]).sends_as_it_likes(next);
        t.at_ms(202).sack(0, &[1..next]).resends(0).sends_as_it_likes(next);
        t.timeouts(0);
    }
}

#[test]
fn an_acknowledged_repair_tells_by_time_that_all_that_left_before_it_is_lost() {
    // tcp_rack_mark_lost: sent more than a millisecond before what was delivered; 3.10 has FACK alone for that.
    let repaired = |rule| {
        let mut t = flying(&old(rule), 11);
        t.at_ms(100).sack(0, &[4..5]).resends(0).phase(Phase::Recovery);
        t.at_ms(200).sack(1, &[4..5]);
        t
    };
    // tcp_cwnd_reduction: a repair was acknowledged, so slow start: two segments for the one delivered.
    let mut t = repaired(DetectRule::FackRack);
    t.resends(1).resends(2).quiet();
    assert_eq!(
        t.end.view().pipe,
        2 * 1448,
        "of ten segments one is SACKed and nine are lost, two of them on their way"
    );
    let mut t = repaired(DetectRule::FackOrder);
    t.resends(1).quiet();
    assert_eq!(t.end.view().pipe, 9 * 1448, "the first is on its way again; the others behind it may come");
}

#[test]
fn a_probe_waits_for_ten_milliseconds_at_least() {
    // draft-dukkipati-tcpm-tcp-loss-probe-01, section 2.1; tcp_schedule_loss_probe.
    let mut t = Timeline::established(&old(DetectRule::FackRack), 2);
    t.at_ms(0).app_writes_segments(5).sends(0..5);
    t.at_ms(9).quiet();
    t.at_ms(10).leaves(PROBE_OLD).quiet();
}

#[test]
fn probes_of_new_data_do_not_count_as_probes() {
    // tcp_send_loss_probe before 4.14: tlp_high_seq is set where the probe repeats data.
    let mut t = flying(&old(DetectRule::FackOrder), 10);
    t.at_ms(200).leaves(PROBE_NEW).quiet();
    let n = t.at_ms(260).ack(1).sends_as_it_likes(11);
    // Two round trips would be over at 500 ms; the RTO of the oldest segment, 430 ms, is due before: a probe in its place.
    t.at_ms(430).leaves(PROBE_NEW).timeouts(0);
    assert!(n > 0);
}
