//! Packets of several segments, and what limits the window, as Linux has them; each was seen in captures of Linux 6.18.

use super::stacks::{linux6, ms};
use super::timeline::Timeline;
use crate::congestion::aimd::{self, AimdCount};
use crate::endpoint::{Evidence, Phase, Why};
use crate::stack::{InitialWindow, LimitedBy, WindowRuleKind, Wire};

/// In congestion avoidance with 20 segments.
fn avoiding() -> Wire {
    let mut spec = linux6();
    spec.send.offload = true;
    spec.congestion.initial_window = InitialWindow::Segments(20);
    spec.congestion.initial_ssthresh_bytes = Some(1448);
    spec.congestion.grows_only_when_limited = true;
    spec
}

#[test]
fn a_segment_waits_for_its_packet_for_a_millisecond() {
    // tcp_tso_should_defer: room for one of two segments, something left within a millisecond, the next ACK is due.
    let mut t = Timeline::established(&avoiding(), 100);
    t.at_ms(0).app_writes_segments(400).sends(0..20);
    t.at_ms(100).ack(1).sends(20..21);
    t.at_ms(101).ack(2).quiet();
    t.at_ms(102).ack(3).sends(21..23);
    t.at_ms(104).ack(4).sends(23..24);
}

#[test]
fn where_it_is_paced_it_waits_for_a_millisecond_after_its_pace() {
    // tcp_tso_should_defer looks at tcp_wstamp_ns, which pacing moves on (tcp_update_skb_after_send): a segment takes 8.3 ms
    // at 1.2 cwnd in SRTT, and the silence before made up for half of that, so that 105 ms is within a millisecond of 104.2.
    let begun = |pacing| {
        let mut spec = avoiding();
        spec.send.pacing = pacing;
        spec.congestion.initial_window = InitialWindow::Segments(10);
        let mut t = Timeline::established(&spec, 100);
        t.at_ms(0).app_writes_segments(400).sends(0..10);
        t.at_ms(100).ack(1).sends(10..11);
        t
    };
    begun(false).at_ms(105).ack(2).sends(11..12);
    begun(true).at_ms(105).ack(2).quiet().at_ms(106).ack(3).sends(11..13);
}

#[test]
fn a_packet_of_several_segments_ends_with_psh() {
    // __tcp_transmit_skb: "Force a PSH flag on all (GSO) packets"; packets of one do not have it.
    let mut t = Timeline::established(&avoiding(), 100);
    t.at_ms(0).app_writes_segments(400);
    for k in 0..10 {
        t.sends_packet(2 * k..2 * k + 2);
    }
    t.at_ms(100).ack(1).sends_packet(20..21);
    t.at_ms(101).ack(2).quiet();
    t.at_ms(102).ack(3).sends_packet(21..23);
    t.at_ms(104).ack(6).sends_packet(23..25).quiet();
    let mut spec = avoiding();
    spec.send.offload = false;
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(400);
    for k in 0..20 {
        t.sends_packet(k..k + 1);
    }
}

#[test]
fn it_does_not_wait_where_the_next_ack_is_far() {
    // Linux 6.18: the oldest segment left 51 ms ago, and SRTT is 100 ms.
    let mut t = Timeline::established(&avoiding(), 100);
    t.at_ms(0).app_writes_segments(10).sends(0..10);
    t.at_ms(50).app_writes_segments(400).sends(10..20);
    t.at_ms(100).ack(10).sends(20..30);
    t.at_ms(101).ack(11).sends(30..31);
}

#[test]
fn slow_start_grows_up_to_twice_what_was_out() {
    // tcp_is_cwnd_limited: cwnd 10, and 6 segments were out, which never filled it.
    for (out, cwnd) in [(6, 16), (5, 10)] {
        let mut spec = linux6();
        spec.congestion.limited_by = LimitedBy::Window;
        let mut t = Timeline::established(&spec, 100);
        t.at_ms(0).app_writes_segments(out).sends(0..out);
        t.at_ms(100).ack(out).cwnd(cwnd);
    }
}

#[test]
fn a_window_that_was_full_stays_what_limits_until_its_data_is_acknowledged() {
    // tcp_cwnd_validate: full at 0 ms; the application pauses, and ACKs of that window still let it grow.
    let mut spec = linux6();
    spec.congestion.rule = WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count: AimdCount::Segments });
    spec.congestion.initial_window = InitialWindow::Segments(4);
    spec.congestion.initial_ssthresh_bytes = Some(4 * 1448);
    for (limited_by, cwnd) in [(LimitedBy::Window, 5), (LimitedBy::Now, 4)] {
        spec.congestion.limited_by = limited_by;
        let mut t = Timeline::established(&spec, 100);
        t.at_ms(0).app_writes_segments(4).sends(0..4);
        for k in 1..=4 {
            t.at_ms(90 + k as i64 * 10).ack(k);
        }
        t.cwnd(cwnd);
    }
}

#[test]
fn a_probe_after_300_ms_leaves_at_a_moment_of_the_wheel() {
    // 75 ticks of 4 ms from tick 2500 on are a wait of the second level, which ends at every eighth tick: at 2576.
    let mut spec = linux6();
    spec.rto.granularity = ms(4);
    spec.rto.wheel = true;
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(1).sends(0..1);
    t.at_ms(303).quiet();
    t.at_ms(304).leaves(Why::Probe { new: false });
}

#[test]
fn prr_lets_a_segment_go_as_soon_as_a_part_of_it_may() {
    // tcp_cwnd_reduction counts segments, and rounds up: 7 of 10 are 1, 2, 3, 3 after so many delivered.
    let mut t = Timeline::established(&linux6(), 100);
    t.at_ms(0).app_writes_segments(400).sends(0..10);
    t.at_ms(100).sack(0, &[1..2]).sends(10..11);
    t.at_ms(101).sack(0, &[1..3]).sends(11..12);
    t.at_ms(102).sack(0, &[1..4]).leaves(Why::Recovery { evidence: Evidence::Sack }).ssthresh(7);
    t.at_ms(103).sack(0, &[1..5]).sends(12..13);
    t.at_ms(104).sack(0, &[1..6]).sends(13..14);
    t.at_ms(105).sack(0, &[1..7]).quiet();
}

#[test]
fn what_an_ack_acknowledges_gives_racks_rtt_though_it_sacks_newer_data() {
    // tcp_rack_advance: blocks are taken first, so RACK.rtt is 150 ms of segment 0 and not 100 ms of segment 4.
    let mut spec = linux6();
    spec.congestion.initial_window = InitialWindow::Segments(20);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(3).sends(0..3);
    t.at_ms(50).app_writes_segments(3).sends(3..6);
    t.at_ms(150).sack(1, &[4..5]).quiet().phase(Phase::Open);
    // With the next SACK it is that one's.
    t.at_ms(151).sack(1, &[4..6]).leaves(Why::Recovery { evidence: Evidence::Sack });
}

#[test]
fn a_paced_repair_leaves_in_packets_of_the_queue() {
    // tcp_xmit_retransmit_queue: each packet is paced, as it was queued. The first ten segments left in twos; the timer's
    // retransmission is cut off its packet, whose other half leaves alone.
    let mut spec = avoiding();
    spec.send.pacing = true;
    spec.congestion.initial_window = InitialWindow::Segments(10);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(10).sends(0..10);
    let at = t.timer_ms();
    t.at_ms(at).leaves(Why::Probe { new: false });
    let at = t.timer_ms();
    t.at_ms(at).times_out(0);
    t.at_ms(at + 100).ack(1).resends(1);
    let paced = t.timer_ms();
    assert!(paced > at + 100, "a segment takes 60 ms at two in SRTT and a fifth");
}
