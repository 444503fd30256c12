//! Linux without SACK: losses are found by counting, and needless repairs are taken back all the same (Linux 6.18,
//! tcp_process_loss, tcp_try_undo_loss, tcp_try_undo_recovery, tcp_is_non_sack_preventing_reopen).

use super::stacks::linux6;
use super::timeline::Timeline;
use crate::endpoint::Phase;
use crate::stack::InitialWindow;

/// `n` segments are on their way; RTT 100 ms.
fn flying(n: u32) -> Timeline {
    let mut spec = linux6();
    spec.options.sack = false;
    spec.congestion.initial_window = InitialWindow::Segments(n);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(400).sends(0..u64::from(n));
    t
}

#[test]
fn an_echo_from_before_the_timeout_restores_the_window_and_an_original_ends_the_loss_state() {
    let mut t = flying(10);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).phase(Phase::Loss).cwnd(1).ssthresh(7);
    t.echo_of_originals(t.stamp_of(1));
    // 10 as before, and one more for the segment that arrived, in slow start again.
    t.at_ms(timer + 20).ack(1).sends(10..12).phase(Phase::Loss).cwnd(11);
    t.at_ms(timer + 21).ack(2).sends(12..14).phase(Phase::Open).cwnd(12).timeouts(1);
}

#[test]
fn an_echo_of_the_repair_restores_nothing() {
    let mut t = flying(10);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0);
    // F-RTO: new data first; a duplicate says that the loss was real.
    t.at_ms(timer + 100).ack(1).sends(10..12).phase(Phase::Loss).cwnd(2).ssthresh(7);
    t.at_ms(timer + 200).ack(1).resends(1).phase(Phase::Loss);
}

#[test]
fn a_recovery_lasts_until_more_than_its_end_is_acknowledged() {
    let mut t = flying(10);
    t.at_ms(100).ack(0).sends(10..11);
    t.at_ms(101).ack(0).sends(11..12);
    t.at_ms(102).ack(0).resends(0).phase(Phase::Recovery).ssthresh(7);
    let mut next = 12;
    for ms in 103..112 {
        next += t.at_ms(ms).ack(0).sends_as_it_likes(next);
    }
    // All that was out as it began; duplicates of what was resent may follow.
    next += t.at_ms(200).ack(12).phase(Phase::Recovery).sends_as_it_likes(next);
    // Its last ACK lets the window grow by what it says was delivered.
    t.at_ms(201).ack(13).phase(Phase::Open).ssthresh(7).cwnd(7).sends_as_it_likes(next);
    t.timeouts(0);
}

#[test]
fn duplicates_behind_the_end_of_the_loss_state_leave_the_window_alone() {
    let mut t = flying(10);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0);
    t.at_ms(timer + 100).ack(1).sends(10..12);
    t.at_ms(timer + 200).ack(1).resends(1);
    // 0 and 1 were lost alone: what was out as the timer fired is acknowledged, and no more.
    let next = 12 + t.at_ms(timer + 300).ack(10).phase(Phase::Loss).sends_as_it_likes(12);
    t.at_ms(timer + 301).ack(10).quiet();
    t.at_ms(timer + 302).ack(10).quiet().phase(Phase::Loss);
    t.at_ms(timer + 303).ack(11).phase(Phase::Open);
    t.sends_as_it_likes(next);
}

#[test]
fn where_the_peers_window_has_no_room_for_a_segment_f_rto_is_over() {
    // tcp_xmit_recovery: nothing new leaves, since the window ends within segment 12, and repairs go on at once.
    for (out, has_room) in [(11, true), (12, false)] {
        let mut t = flying(out);
        let timer = t.timer_ms();
        t.at_ms(timer).times_out(0);
        t.at_ms(timer + 100).window(1).ack(1);
        if has_room {
            t.sends(11..12).quiet();
        } else {
            t.resends(1).resends(2);
        }
    }
}

#[test]
fn duplicates_within_the_loss_state_begin_a_recovery_behind_it() {
    // tcp_process_loss leaves what it counted as it ends, and tcp_newreno_mark_lost looks at it at once: duplicates of what
    // was resent stand for new data.
    for (duplicates, phase) in [(2, Phase::Open), (3, Phase::Recovery)] {
        let mut t = flying(10);
        let timer = t.timer_ms();
        t.at_ms(timer).times_out(0);
        t.at_ms(timer + 100).ack(1).sends(10..12);
        t.at_ms(timer + 101).ack(1).resends(1);
        let next = 12 + t.at_ms(timer + 200).ack(9).phase(Phase::Loss).resends(9).sends_as_it_likes(12);
        let mut next = next;
        for k in 1..=duplicates {
            next += t.at_ms(timer + 200 + k).ack(9).phase(Phase::Loss).sends_as_it_likes(next);
        }
        next += t.at_ms(timer + 300).ack(10).phase(Phase::Loss).sends_as_it_likes(next);
        t.at_ms(timer + 301).ack(11).phase(phase);
        if phase == Phase::Recovery {
            t.resends(11);
        }
        t.sends_as_it_likes(next);
    }
}

#[test]
fn behind_a_recovery_that_was_taken_back_the_next_may_begin() {
    // tcp_time_to_recover asks for no more than the state: a repair that was real keeps it for as long as need be.
    let mut t = flying(10);
    t.at_ms(100).ack(0).sends(10..11).at_ms(101).ack(0).sends(11..12);
    t.at_ms(102).ack(0).resends(0).phase(Phase::Recovery);
    t.echo_of_originals(t.stamp_of(1));
    let mut next = 12;
    next += t.at_ms(104).ack(1).sends_as_it_likes(next);
    next += t.at_ms(105).ack(2).phase(Phase::Open).sends_as_it_likes(next);
    for ms in 106..108 {
        next += t.at_ms(ms).ack(2).phase(Phase::Open).sends_as_it_likes(next);
    }
    t.at_ms(108).ack(2).resends(2).phase(Phase::Recovery);
}

#[test]
fn more_duplicates_than_can_have_arrived_are_reordering_and_begin_no_repair() {
    // tcp_limit_reno_sacked: of three segments two at most have arrived where the first has not.
    let mut t = flying(10);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0);
    t.at_ms(timer + 100).ack(1).sends(10..12);
    // 11 are out, 9 of them lost: the third duplicate is of what was sent in vain (tcp_check_reno_reordering).
    t.at_ms(timer + 101).ack(1).resends(1).at_ms(timer + 102).ack(1).resends(2);
    t.at_ms(timer + 103).ack(1).quiet();
    let mut next = 12;
    next += t.at_ms(timer + 200).ack(12).phase(Phase::Open).sends_as_it_likes(next);
    for ms in 0..10 {
        next += t.at_ms(timer + 300 + ms).ack(12).phase(Phase::Open).sends_as_it_likes(next);
    }
    t.at_ms(timer + 310).ack(12).resends(12).phase(Phase::Recovery);
    t.sends_as_it_likes(next);
}

#[test]
fn two_segments_behind_the_first_are_no_three_duplicates() {
    let mut spec = linux6();
    spec.options.sack = false;
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(3).sends(0..3);
    for ms in 100..104 {
        t.at_ms(ms).ack(0).quiet().phase(Phase::Open);
    }
}
