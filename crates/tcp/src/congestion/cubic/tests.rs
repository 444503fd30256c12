use super::super::tests::{CUBIC, Run, SMSS, spec};
use super::*;
use crate::congestion::WindowRuleKind;

/// RFC 9438 §5.
const PARAMS: Params = Params { c: 0.4, beta: 0.7, fast_convergence: true, tcp_friendly: true };
/// Without the Reno-friendly region: the curve alone.
const CURVE: WindowRuleKind = WindowRuleKind::Cubic(Params { tcp_friendly: false, ..PARAMS });

#[test]
fn k_is_the_time_in_which_the_curve_comes_back() {
    // §4.2 (2) with W_max = 1000 and cwnd 700: K = cbrt(300 / 0.4) = 9.086 s.
    let mut c = Cubic::new(&PARAMS);
    c.w_max = 1000.0;
    let e = c.start(700.0, Time::ZERO);
    assert!((e.k - 9.085_602_964_160_698).abs() < 1e-12, "{}", e.k);
    assert!((e.w_cubic(0.4, 0.0) - 700.0).abs() < 1e-9);
    assert!((e.w_cubic(0.4, e.k) - 1000.0).abs() < 1e-9);
    // Symmetric about K: as far above at 2 K as below at 0.
    assert!((e.w_cubic(0.4, 2.0 * e.k) - 1300.0).abs() < 1e-9);
}

#[test]
fn the_window_follows_the_curve_of_the_rfc() {
    let mut r = Run::avoiding(CURVE, 1000);
    r.lose(false);
    assert_eq!(r.segments(), 700.0);
    let start = r.now;
    let k = libm::cbrt(300.0 / 0.4);
    for round in 0..200 {
        r.round(1);
        // At the end of a round cwnd has come to about where the curve is; the target is an RTT ahead, and one
        // round's ACKs move cwnd by 1 - 1/e of the gap.
        let t = (r.now - start).as_secs() - k;
        let curve = |t: f64| 0.4 * t * t * t + 1000.0;
        let (low, high) = (curve(t - 0.2), curve(t + 0.1));
        let got = r.segments();
        assert!(got > low - 1.0 && got < high + 1.0, "round {round}: {low} {got} {high}");
    }
    assert!(r.segments() > 1000.0, "20 s are past the plateau");
}

#[test]
fn growth_is_never_faster_than_half_the_window_per_round_trip() {
    // §4.2: the target is at most 1.5 cwnd. An RTT of 10 s: the curve is far above.
    let mut r = Run::avoiding(CURVE, 100);
    r.rtt = Span::from_secs(10);
    r.lose(false);
    let before = r.segments();
    r.now += Span::from_secs(60);
    r.round(1);
    assert!(r.segments() <= before * 1.65 && r.segments() > before * 1.4, "{} to {}", before, r.segments());
}

#[test]
fn a_loss_leaves_seven_tenths_and_two_segments_at_least() {
    // §4.6, by FlightSize.
    let mut r = Run::avoiding(CUBIC, 100);
    assert_eq!(r.loss(false), 70 * SMSS);
    let mut r = Run::avoiding(CUBIC, 2);
    assert_eq!(r.loss(false), 2 * SMSS);
}

#[test]
fn fast_convergence_lowers_the_plateau_when_losses_come_below_it() {
    // §4.7.
    let mut c = Cubic::new(&PARAMS);
    let l = LossFacts { now: Time::ZERO, flight: 100 * SMSS, una: 0, nxt: 0, timeout: false };
    let w = |segments: u32| Window { cwnd: segments * SMSS, ssthresh: SMSS, smss: SMSS };
    c.ssthresh(&w(100), &l);
    assert_eq!(c.w_max, 100.0);
    c.ssthresh(&w(90), &l);
    assert!((c.w_max - 90.0 * 0.85).abs() < 1e-12);
    c.ssthresh(&w(95), &l);
    assert_eq!(c.w_max, 95.0, "above the lowered plateau: none");
    let mut c = Cubic { fast_convergence: false, ..c };
    c.ssthresh(&w(80), &l);
    assert_eq!(c.w_max, 80.0);
}

#[test]
fn a_timeout_starts_the_curve_at_its_plateau() {
    // §4.8.
    let mut r = Run::avoiding(CURVE, 1000);
    r.lose(true);
    assert_eq!(r.w.ssthresh, 700 * SMSS);
    while r.w.cwnd < r.w.ssthresh {
        r.round(1);
    }
    let (start, at) = (r.now, r.segments());
    (0..20).for_each(|_| r.round(1));
    let t = (r.now - start).as_secs();
    let curve = |t: f64| at + 0.4 * t * t * t;
    let got = r.segments();
    assert!(got > curve(t - 0.3) - 1.0 && got < curve(t + 0.2) + 1.0, "{got}, curve {}", curve(t));
    // After a fast retransmit of the same window it would be near 1000 K earlier: concave, much faster at first.
    let mut fast = Run::avoiding(CURVE, 1000);
    fast.lose(false);
    (0..20).for_each(|_| fast.round(1));
    assert!(fast.segments() > got + 50.0);
}

#[test]
fn in_the_reno_friendly_region_the_window_grows_like_an_aimd_of_its_average() {
    // §4.3: alpha = 3 (1 - 0.7) / (1 + 0.7) = 9/17 of a segment per RTT, and 1 above cwnd_prior.
    let mut r = Run::avoiding(CUBIC, 20);
    r.rtt = Span::from_millis(10);
    r.lose(false);
    assert_eq!(r.segments(), 14.0);
    (0..10).for_each(|_| r.round(1));
    let grown = r.segments() - 14.0;
    assert!((grown - 10.0 * 9.0 / 17.0).abs() < 0.4, "{grown}");
    while r.segments() < 20.0 {
        r.round(1);
    }
    let before = r.segments();
    (0..5).for_each(|_| r.round(1));
    let grown = r.segments() - before;
    assert!((grown - 5.0).abs() < 0.3, "{grown}");
}

#[test]
fn time_in_which_the_application_limits_does_not_count() {
    // §4.2, §5.8.
    let run = |rest: i64| {
        let mut r = Run::avoiding(CURVE, 1000);
        r.lose(false);
        (0..20).for_each(|_| r.round(1));
        for _ in 0..rest {
            r.now += r.rtt;
            let a = AckFacts { limited: false, ..r.facts(SMSS) };
            r.c.on_ack(&mut r.w, &a);
        }
        let before = r.segments();
        r.round(1);
        r.segments() - before
    };
    // Two minutes later the curve would be thousands of segments higher.
    assert!((run(1200) - run(0)).abs() < 2.0, "{} against {}", run(1200), run(0));
    let mut r = Run::new(&crate::stack::Congestion { restart_after_idle: false, ..spec(CURVE) });
    (r.w.cwnd, r.w.ssthresh) = (1000 * SMSS, 2 * SMSS);
    r.fill();
    r.lose(false);
    (0..20).for_each(|_| r.round(1));
    r.now += Span::from_secs(120);
    r.c.after_idle(&mut r.w, r.now);
    let before = r.segments();
    r.round(1);
    assert!((r.segments() - before - run(0)).abs() < 2.0);
}

#[test]
fn fractions_of_a_byte_are_not_lost() {
    // A small gain per ACK on a large window: 10^5 segments of one byte each.
    let mut c = Cubic::new(&Params { tcp_friendly: false, ..PARAMS });
    let mut w = Window { cwnd: 100_000, ssthresh: 10, smss: 1 };
    c.w_max = 100_100.0;
    let a = AckFacts {
        now: Time::ZERO,
        acked: 1,
        delivered: 1,
        segments: 1,
        rtt: None,
        stamped: None,
        min_rtt: None,
        srtt: None,
        flight: 100_000,
        una: 1,
        nxt: 2,
        limited: true,
        paced: false,
    };
    c.avoid(&mut w, &a, 1);
    let k = libm::cbrt(100.0 / 0.4);
    // 10 s on, the curve is 0.4 (10 - K)^3 above the plateau: each ACK gains about a thousandth.
    let gap = 100.0 + 0.4 * (10.0 - k) * (10.0 - k) * (10.0 - k);
    for _ in 0..10_000 {
        c.avoid(&mut w, &AckFacts { now: Time(10_000_000_000), ..a }, 1);
    }
    let gained = f64::from(w.cwnd) - 100_000.0;
    assert!((gained - gap * (1.0 - libm::exp(-0.1))).abs() < 1.5, "{gained} of {gap}");
}
