//! Paper `interruption`, Figs. 9, 10 and 11: how real stacks came back from a burst of losses.

use super::stacks::*;
use super::timeline::Timeline;
use crate::endpoint::Phase;
use crate::stack::InitialWindow;

fn open_with(spec: &mut crate::stack::Wire, segments: u32) {
    spec.congestion.initial_window = InitialWindow::Segments(segments);
}

#[test]
fn fig_9_the_first_sack_after_an_outage_starts_recovery_without_a_timeout() {
    let mut spec = linux();
    open_with(&mut spec, 310);
    let mut t = Timeline::established(&spec, 40);
    t.at_ms(0).app_writes_segments(310).sends(0..310);
    t.at_ms(40).ack(10);
    // 88 segments vanish (a); the next one arrives (b) and is SACKed (c).
    t.at_ms(250).sack(10, &[98..99]).resends(10).phase(Phase::Recovery);
    t.at_ms(251).sack(10, &[98..100]).resends(11);
    // One retransmission at most for each ACK; the window comes down by one for every second one.
    let mut next = 12;
    for right in 101..=310 {
        t.at_ms(152 + right as i64).sack(10, &[98..right]);
        if next < 98 && t.resends_one_or_none(next) {
            next += 1;
        }
    }
    assert!(next > 90, "only up to {next}");
    // The retransmissions arrive (e), and each of their ACKs brings the next (f).
    let mut acked = 11;
    while acked < 98 {
        t.at_ms(470 + acked as i64).sack(acked, &[98..310]);
        if next < 98 && t.resends_one_or_none(next) {
            next += 1;
        }
        acked += 1;
    }
    assert_eq!(next, 98);
    t.at_ms(600).ack(310).phase(Phase::Open).timeouts(0);
}

#[test]
fn fig_10_a_timeout_a_dsack_two_new_segments_and_repair_by_sack() {
    let mut spec = linux();
    open_with(&mut spec, 60);
    let mut t = Timeline::established(&spec, 40);
    t.at_ms(0).app_writes_segments(100).sends(0..60);
    // Segment 0 arrives, its ACK does not; 1 to 59 vanish (a). The timer: 40 ms + 200 ms (b).
    t.at_ms(240).times_out(0);
    // It was there already: DSACK (c). F-RTO sends two new segments (d), and does not take anything back.
    t.at_ms(280).sack(1, &[0..1]).sends(60..62).phase(Phase::Loss);
    // A duplicate with SACK (e): the losses are real, and SACK drives the repair (f).
    t.at_ms(320).sack(1, &[60..61]).resends(1).resends(2);
    t.at_ms(321).sack(1, &[60..62]).resends(3);
    // Each ACK of a repair (g) brings the next ones (h), in slow start.
    t.at_ms(360).sack(2, &[60..62]).resends(4).resends(5);
    t.at_ms(361).sack(3, &[60..62]).resends(6).resends(7);
    t.timeouts(1);
}

#[test]
fn fig_11_one_timeout_for_every_lost_segment() {
    // OS X 10.7: 46 segments vanish, and the queue is empty afterwards, so that the retransmission's own ACK comes
    // in less than the smoothed RTT.
    let mut spec = osx();
    open_with(&mut spec, 46);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(200).sends(0..46);
    let mut now = t.timer_ms();
    let mut k = 0;
    loop {
        // A timeout retransmission (b, f) ...
        t.at_ms(now).times_out(k).cwnd(1);
        let blocks = if k == 0 { vec![] } else { vec![46..46 + k] };
        t.at_ms(now + 20).sack(k + 1, &blocks);
        if t.end.phase() == Phase::Loss {
            break;
        }
        // ... its ACK within the SRTT, which undoes the timeout (c): one new segment goes out (d) ...
        t.sends(46 + k..47 + k).cwnd(46);
        // ... one duplicate ACK with SACK comes back, below the threshold of two (e), and nothing is resent.
        let sacked = 46..47 + k;
        t.at_ms(now + 40).sack(k + 1, &[sacked]).quiet();
        now = t.timer_ms();
        k += 1;
    }
    assert!(
        (30..46).contains(&k) && now > 10_000,
        "{k} losses took {now} ms; the paper saw more than ten seconds"
    );
    // By now the short round trips have brought the SRTT down to theirs, and the cycle ends (g): the timeout
    // stands, and one ACK brings two repairs (h).
    t.resends(k + 1).resends(k + 2).timeouts(k as u32 + 1);
}

#[test]
fn os_x_recovers_at_once_where_the_rtt_did_not_fall() {
    // The same, but the ACK takes the full SRTT: the timeout stands, and everything is resent in slow start.
    let mut spec = osx();
    open_with(&mut spec, 46);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(200).sends(0..46);
    let now = t.timer_ms();
    t.at_ms(now).times_out(0);
    t.at_ms(now + 101).ack(1).resends(1).resends(2).phase(Phase::Loss);
    t.at_ms(now + 202).ack(3).resends(3).resends(4).resends(5).resends(6);
    t.timeouts(1);
}

#[test]
fn the_defect_begins_where_the_rtt_falls_below_the_srtt() {
    // The first sample counts from one: an SRTT of 101 ms.
    for (rtt_ms, undone) in [(50, true), (90, true), (100, true), (101, false), (102, false), (150, false)] {
        let mut spec = osx();
        open_with(&mut spec, 46);
        let mut t = Timeline::established(&spec, 100);
        t.at_ms(0).app_writes_segments(46).sends(0..46);
        let now = t.timer_ms();
        t.at_ms(now).times_out(0).at_ms(now + rtt_ms).ack(1);
        let phase = if undone { Phase::Open } else { Phase::Loss };
        t.phase(phase);
    }
}
