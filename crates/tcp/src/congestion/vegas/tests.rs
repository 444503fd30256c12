use super::super::tests::{Run, SMSS, VEGAS};
use super::*;
use crate::congestion::WindowRuleKind;

const LINUX: WindowRuleKind = WindowRuleKind::Vegas(Params { alpha: 2.0, beta: 4.0, gamma: 1.0 });

#[test]
fn truth_table_of_the_thresholds() {
    use Verdict::*;
    let ns2 = Vegas::new(&Params { alpha: 1.0, beta: 3.0, gamma: 1.0 });
    let linux = Vegas::new(&Params { alpha: 2.0, beta: 4.0, gamma: 1.0 });
    for (diff, slow_start, of_ns2, of_linux) in [
        (0.0, true, Grow, Grow),
        (1.0, true, Grow, Grow),
        (1.1, true, LeaveSlowStart, LeaveSlowStart),
        (9.0, true, LeaveSlowStart, LeaveSlowStart),
        (0.0, false, Grow, Grow),
        (0.9, false, Grow, Grow),
        (1.0, false, Stay, Grow),
        (1.9, false, Stay, Grow),
        (2.0, false, Stay, Stay),
        (3.0, false, Stay, Stay),
        (3.1, false, Shrink, Stay),
        (4.0, false, Shrink, Stay),
        (4.1, false, Shrink, Shrink),
    ] {
        assert_eq!(verdict(diff, slow_start, &ns2), of_ns2, "1, 3: diff {diff}, slow start {slow_start}");
        assert_eq!(verdict(diff, slow_start, &linux), of_linux, "2, 4: diff {diff}, slow start {slow_start}");
    }
}

/// A path of `rate` segments a second and 100 ms: the queue is what the window has beyond 0.1 s of it.
fn on_a_path(r: &mut Run, rate: f64, rounds: u32) {
    for _ in 0..rounds {
        r.rtt = Span::from_secs_f64((r.segments() / rate).max(0.1));
        r.round(1);
    }
}

#[test]
fn the_queue_settles_between_the_thresholds() {
    for (rule, low, high) in [(VEGAS, 1.0, 3.0), (LINUX, 2.0, 4.0)] {
        for start in [10, 90, 130] {
            let mut r = Run::avoiding(rule, start);
            // The base is learnt from one short RTT.
            r.round(1);
            on_a_path(&mut r, 1000.0, 200);
            // cwnd (1 - base / RTT) with RTT = cwnd / rate is cwnd - rate * base.
            let queue = r.segments() - 100.0;
            assert!(queue >= low - 0.1 && queue <= high + 0.1, "{rule:?} from {start}: {queue} segments");
        }
    }
}

#[test]
fn the_window_moves_by_one_segment_a_round_trip() {
    let mut r = Run::avoiding(VEGAS, 50);
    r.round(1);
    r.round(1);
    let at = r.w.cwnd;
    r.round(1);
    assert_eq!(r.w.cwnd, at + SMSS);
    // 40% more RTT: 14 segments in the queue.
    r.rtt = Span::from_millis(140);
    r.round(1);
    let at = r.w.cwnd;
    r.round(1);
    assert_eq!(r.w.cwnd, at - SMSS);
}

#[test]
fn slow_start_ends_when_more_than_gamma_waits() {
    let mut r = Run::new(&super::super::tests::spec(VEGAS));
    r.fill();
    on_a_path(&mut r, 1000.0, 30);
    assert!(r.w.cwnd > r.w.ssthresh, "left slow start: {:?}", r.w);
    assert!(r.segments() < 130.0, "and not far above the path's 100 segments: {:?}", r.w);
}

#[test]
fn two_samples_a_round_trip_are_no_ground_for_a_judgement() {
    // Four segments, every second one acknowledged: grows as Reno, whatever the RTT.
    let mut r = Run::avoiding(VEGAS, 4);
    r.round(2);
    r.rtt = Span::from_millis(900);
    (0..6).for_each(|_| r.round(2));
    assert!(r.w.cwnd > 4 * SMSS, "{:?}", r.w);
}

#[test]
fn from_a_loss_until_its_repair_nothing_is_judged() {
    let mut r = Run::avoiding(VEGAS, 50);
    (0..3).for_each(|_| r.round(1));
    r.w.ssthresh = r.loss(false);
    r.w.cwnd = r.w.ssthresh;
    // Not all that was outstanding is acknowledged: long RTTs shrink nothing.
    r.rtt = Span::from_millis(500);
    let before = r.w.cwnd;
    for _ in 0..20 {
        r.ack(SMSS);
    }
    assert!(r.w.cwnd >= before);
    r.una = r.nxt;
    r.fill();
    (0..3).for_each(|_| r.round(1));
    assert!(r.w.cwnd < before, "judged again, too much waits: {:?}", r.w);
}

#[test]
fn the_window_never_falls_below_two_segments() {
    let mut r = Run::avoiding(VEGAS, 5);
    r.round(1);
    r.rtt = Span::from_secs(10);
    (0..40).for_each(|_| r.round(1));
    assert!(r.w.cwnd >= 2 * SMSS, "{:?}", r.w);
}
