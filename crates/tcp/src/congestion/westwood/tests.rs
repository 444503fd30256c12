use super::super::tests::{Run, SMSS};
use super::*;
use crate::congestion::WindowRuleKind;

const RULE: WindowRuleKind = WindowRuleKind::WestwoodPlus(Params {});

fn state(r: &Run) -> WestwoodPlus {
    let super::super::Rule::WestwoodPlus(w) = &r.c.rule else { panic!("another rule") };
    **w
}

#[test]
fn the_filter_starts_at_the_first_sample_and_weighs_the_next_by_an_eighth_twice() {
    let mut w = WestwoodPlus::new(&Params {});
    w.filter(800.0);
    assert_eq!((w.once, w.bandwidth), (800.0, 800.0));
    w.filter(1600.0);
    // (7 * 800 + 1600) / 8 = 900, (7 * 800 + 900) / 8 = 812.5.
    assert_eq!((w.once, w.bandwidth), (900.0, 812.5));
    w.filter(0.0);
    assert_eq!((w.once, w.bandwidth), (787.5, (7.0 * 812.5 + 787.5) / 8.0));
}

#[test]
fn a_sample_spans_more_than_an_rtt_and_50_ms_at_least() {
    for (rtt_ms, sample_ms) in [(10, 60), (50, 60), (200, 210)] {
        let mut r = Run::avoiding(RULE, 10);
        r.rtt = Span::from_millis(rtt_ms);
        let begin = r.now;
        let mut first = None;
        for _ in 0..40 {
            r.ack(SMSS);
            if state(&r).bandwidth > 0.0 {
                first.get_or_insert(r.now - begin);
            }
            r.now += Span::from_millis(10);
        }
        assert_eq!(first, Some(Span::from_millis(sample_ms)), "RTT {rtt_ms} ms");
    }
}

#[test]
fn a_loss_leaves_what_the_path_carries_in_the_smallest_rtt() {
    // One segment each 10 ms, smallest RTT 100 ms: 10 segments, however large the window has become.
    let mut r = Run::avoiding(RULE, 40);
    for k in 0..2000 {
        r.rtt = Span::from_millis(if k == 0 { 100 } else { 400 });
        r.ack(SMSS);
        r.now += Span::from_millis(10);
    }
    assert!((state(&r).bandwidth - 100_000.0).abs() < 5_000.0, "{}", state(&r).bandwidth);
    let ssthresh = r.loss(false) / SMSS;
    assert!((9..=10).contains(&ssthresh), "{ssthresh} segments");
    assert!(r.w.cwnd > 40 * SMSS, "Reno would have kept half of this");
}

#[test]
fn the_end_of_recovery_sets_both_from_what_was_measured_in_it() {
    let mut r = Run::avoiding(RULE, 40);
    for _ in 0..500 {
        r.ack(SMSS);
        r.now += Span::from_millis(10);
    }
    r.w.ssthresh = r.loss(false);
    let at_loss = r.w.ssthresh;
    // In recovery the path delivers twice as fast.
    for _ in 0..500 {
        let a = r.facts(SMSS);
        r.c.measure(&mut r.w, &a, false);
        r.now += Span::from_millis(5);
    }
    r.c.on_recovery_end(&mut r.w, r.now);
    assert_eq!(r.w.cwnd, r.w.ssthresh);
    assert!(r.w.cwnd > at_loss + at_loss / 2, "{at_loss} then {}", r.w.cwnd);
}

#[test]
fn a_timeout_takes_the_next_rtt_as_the_smallest() {
    let mut r = Run::avoiding(RULE, 40);
    r.ack(SMSS);
    assert_eq!(state(&r).rtt_min, Some(Span::from_millis(100)));
    r.lose(true);
    r.rtt = Span::from_millis(300);
    r.ack(SMSS);
    assert_eq!(state(&r).rtt_min, Some(Span::from_millis(300)));
}

#[test]
fn duplicates_without_sack_count_once() {
    let mut r = Run::avoiding(RULE, 10);
    let a = r.facts(0);
    (0..3).for_each(|_| r.c.measure(&mut r.w, &a, false));
    assert_eq!((state(&r).bytes, state(&r).counted_early), (3_000, 3_000));
    // The hole is filled: four segments are acknowledged, three of them were counted.
    let a = r.facts(4 * SMSS);
    r.c.measure(&mut r.w, &a, false);
    assert_eq!((state(&r).bytes, state(&r).counted_early), (4_000, 0));
}

#[test]
fn before_a_sample_a_loss_leaves_two_segments() {
    assert_eq!(Run::avoiding(RULE, 40).loss(false), 2 * SMSS);
}
