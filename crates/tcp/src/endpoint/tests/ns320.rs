//! What ns-3.20's sender does unlike the RFCs; its traces (`sim`'s tests) show most of it.

use super::stacks::ns320;
use super::timeline::Timeline;
use crate::endpoint::Phase;
use crate::stack::*;

/// `n` segments are on their way; SMSS 1000, RTT 100 ms.
fn flying(variant: Ns320, n: u32) -> Timeline {
    let mut spec = ns320(variant);
    spec.congestion.initial_window = InitialWindow::Segments(n);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(200).sends(0..u64::from(n));
    t
}

/// Duplicates of segment 0, one a millisecond from `ms` on.
fn duplicates(t: &mut Timeline, ms: i64, n: i64) {
    for k in 0..n {
        t.at_ms(ms + k).ack(0);
    }
}

#[test]
fn the_third_duplicate_sends_one_segment_whatever_cwnd_allows() {
    for variant in [Ns320::Reno, Ns320::NewReno] {
        let mut t = flying(variant, 4);
        duplicates(&mut t, 100, 3);
        // Room for one more than the four in flight.
        t.resends(0).quiet().ssthresh(2).cwnd(5);
        t.at_ms(103).ack(0).sends(4..6).cwnd(6);
    }
}

#[test]
fn what_the_application_writes_ends_that_wait() {
    let mut spec = ns320(Ns320::NewReno);
    spec.congestion.initial_window = InitialWindow::Segments(10);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(4).sends(0..4);
    duplicates(&mut t, 100, 3);
    t.resends(0).quiet().app_writes_segments(3).sends(4..5);
}

#[test]
fn the_ack_that_ends_recovery_lets_the_window_grow() {
    for variant in [Ns320::Reno, Ns320::NewReno] {
        let mut t = flying(variant, 10);
        duplicates(&mut t, 100, 3);
        t.resends(0).at_ms(200).ack(10).phase(Phase::Open).sends(10..15);
        // 5 segments, and then 1000 * 1000 / 5000 bytes.
        assert_eq!((t.end.view().cwnd, t.end.take_cwnd_step()), (5200, Some(5000)));
        assert_eq!(t.end.take_cwnd_step(), None, "it is told once");
    }
}

#[test]
fn a_partial_ack_changes_cwnd_twice() {
    let mut t = flying(Ns320::NewReno, 10);
    duplicates(&mut t, 100, 3);
    t.resends(0).cwnd(8).at_ms(200).ack(2).resends(2).quiet().cwnd(7);
    assert_eq!(t.end.take_cwnd_step(), Some(6000));
}

#[test]
fn duplicates_count_on_over_a_timeout_and_the_third_acts_also_while_going_back() {
    let mut t = flying(Ns320::NewReno, 10);
    duplicates(&mut t, 100, 2);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).cwnd(1).ssthresh(5).phase(Phase::Loss);
    t.at_ms(timer + 1).ack(0).resends(0).quiet().cwnd(8).phase(Phase::Recovery);
    // Going back goes on within the inflated window.
    t.at_ms(timer + 2).ack(0);
    for k in 1..9 {
        t.resends(k);
    }
    t.quiet().cwnd(9);
}

#[test]
fn beyond_the_third_duplicates_do_nothing_after_a_timeout() {
    for variant in [Ns320::Tahoe, Ns320::Reno, Ns320::NewReno] {
        let mut t = flying(variant, 10);
        duplicates(&mut t, 100, 3);
        t.resends(0);
        let timer = t.timer_ms();
        t.at_ms(timer).times_out(0).cwnd(1);
        duplicates(&mut t, timer + 1, 5);
        t.quiet().cwnd(1);
    }
}

#[test]
fn reno_that_leaves_recovery_on_the_way_back_goes_on_going_back() {
    let mut t = flying(Ns320::Reno, 10);
    duplicates(&mut t, 100, 2);
    let timer = t.timer_ms();
    t.at_ms(timer).times_out(0).at_ms(timer + 1).ack(0).resends(0).quiet();
    // cwnd = ssthresh = 5, grown to 5.2: of what was sent before, five leave again.
    t.at_ms(timer + 100).ack(1).resends(1).resends(2).resends(3).resends(4).resends(5).quiet();
    t.phase(Phase::Loss).at_ms(timer + 200).ack(10).phase(Phase::Open).sends(10..15).timeouts(1);
}

#[test]
fn tahoe_halves_cwnd_and_leaves_the_timer_alone() {
    let mut spec = ns320(Ns320::Tahoe);
    spec.congestion.initial_window = InitialWindow::Segments(10);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(6).sends(0..6);
    let timer = t.timer_ms();
    duplicates(&mut t, 100, 3);
    // Half of ten, with six in flight.
    t.resends(0).ssthresh(5).cwnd(1).phase(Phase::Loss);
    assert_eq!(t.timer_ms(), timer);
    // At each timeout it is cwnd that is halved: one segment now, and two is the least.
    t.at_ms(timer).times_out(0).ssthresh(2);
}

#[test]
fn the_syn_has_a_timer_of_its_own_that_the_estimate_does_not_see() {
    // ConnTimeout 3 s, doubled
    use crate::endpoint::{Endpoint, Why};
    use wire::Seq;
    use wire::{Span, Time};
    let mut end = Endpoint::connect(&ns320(Ns320::NewReno), Seq(1), Time::ZERO);
    for at in [0, 3, 9, 21] {
        let now = Time::ZERO + Span::from_secs(at);
        end.wake(now);
        assert_eq!(end.transmit(now).map(|s| s.why), Some(Why::Handshake), "{at} s");
        assert_eq!(end.transmit(now), None);
    }
    let t = flying(Ns320::NewReno, 2);
    assert_eq!((t.end.view().srtt, t.end.view().backoff), (None, 0));
}
