use super::super::tests::{Run, SMSS};
use super::*;
use crate::congestion::WindowRuleKind;
use wire::Span;

const RULE: WindowRuleKind = WindowRuleKind::CubicLinux26(Params { hystart: false, since: Since::V2_6_29 });

#[test]
fn the_cube_root_is_exact() {
    for n in [0, 1, 7, 8, 26, 27, 999_999_999, 1_000_000_000, 1 << 60, u64::MAX] {
        let root = u128::from(cube_root(n));
        assert!(root.pow(3) <= u128::from(n) && (root + 1).pow(3) > u128::from(n), "{n}: {root}");
    }
}

#[test]
fn constants_come_out_as_the_kernel_computes_them_at_start_up() {
    // 2^40 / 410; 8 * 1741 / 3 / 307.
    assert_eq!((K_CUBED, RENO_ACKS8), (2_681_735_677, 15));
}

#[test]
fn a_loss_leaves_717_of_1024_in_whole_segments() {
    let left = |segments| Run::avoiding(RULE, segments).loss(false) / SMSS;
    assert_eq!([2, 3, 10, 100, 1000].map(left), [2, 2, 7, 70, 700]);
}

#[test]
fn the_window_follows_the_curve() {
    let mut r = Run::avoiding(RULE, 1000);
    // Long enough for the smallest RTT to be known, and for one ACK a segment to be learnt.
    (0..20).for_each(|_| r.round(1));
    r.w.cwnd = 1000 * SMSS;
    r.lose(false);
    let start = r.now;
    // C = 0.4: K = cbrt(300 / 0.4) = 9.09 s (41/1024 * 10 is 0.4004).
    let curve = |t: f64| {
        let d = t - libm::cbrt(300.0 / 0.4004);
        0.4004 * d * d * d + 1000.0
    };
    for round in 0..150 {
        r.round(1);
        let t = (r.now - start).as_secs();
        let got = r.segments();
        assert!(
            got > curve(t - 0.3) - 4.0 && got < curve(t + 0.2) + 6.0,
            "round {round}: {got}, curve {}",
            curve(t)
        );
    }
}

#[test]
fn a_timeout_forgets_the_plateau_and_the_smallest_rtt() {
    let mut r = Run::avoiding(RULE, 100);
    (0..20).for_each(|_| r.round(1));
    r.lose(true);
    let super::super::Rule::CubicLinux26(c) = &r.c.rule else { panic!("another rule") };
    assert_eq!((c.last_max, c.delay_min8, c.epoch, c.ratio16), (0, 0, None, 32));
}

#[test]
fn delayed_acks_are_learnt_and_made_up_for() {
    let grown = |each| {
        let mut r = Run::avoiding(RULE, 200);
        (0..10).for_each(|_| r.round(each));
        r.w.cwnd = 200 * SMSS;
        r.lose(false);
        (0..20).for_each(|_| r.round(each));
        r.segments() - 140.0
    };
    let (every, second) = (grown(1), grown(2));
    assert!((every - second).abs() < 0.25 * every, "{every} segments against {second}");
}

#[test]
fn samples_of_an_epochs_first_second_do_not_count() {
    let mut r = Run::avoiding(RULE, 50);
    r.rtt = Span::from_millis(40);
    r.ack(SMSS);
    let delay = |r: &Run| {
        let super::super::Rule::CubicLinux26(c) = &r.c.rule else { panic!("another rule") };
        c.delay_min8
    };
    assert_eq!(delay(&r), 10 << 3, "before the epoch begins: 40 ms are 10 jiffies");
    r.rtt = Span::from_millis(20);
    r.now += Span::from_millis(900);
    r.ack(SMSS);
    assert_eq!(delay(&r), 10 << 3);
    r.now += Span::from_millis(100);
    r.ack(SMSS);
    assert_eq!(delay(&r), 5 << 3);
}

#[test]
fn below_the_curve_the_window_keeps_up_with_reno() {
    // 10 ms: 20 segments are the Reno-friendly region. 8/15 of cwnd ACKs... one segment per 15/8 cwnd ACKs.
    let mut r = Run::avoiding(RULE, 20);
    r.rtt = Span::from_millis(10);
    (0..200).for_each(|_| r.round(1));
    r.w.cwnd = 20 * SMSS;
    r.lose(false);
    assert_eq!(r.segments(), 14.0);
    (0..30).for_each(|_| r.round(1));
    let grown = r.segments() - 14.0;
    assert!((grown - 30.0 * 8.0 / 15.0).abs() < 5.0, "{grown}");
}

/// Linux 2.6.39 and later, bictcp_update: without a loss before, a segment for 20 ACKs at least.
#[test]
fn before_any_loss_the_window_grows_by_a_twentieth_since_2_6_39() {
    let grown = |since| {
        let (mut c, mut w) = (
            CubicLinux26::new(&Params { hystart: false, since }),
            Window { cwnd: 100 * SMSS, ssthresh: SMSS, smss: SMSS },
        );
        c.ratio16 = 16;
        for _ in 0..101 {
            c.look(w.segments(), 0);
            count_acks(&mut c.counted, c.every, &mut w);
        }
        w.segments()
    };
    // Twenty ACKs are counted, and the next one finds that they are enough.
    assert_eq!(grown(Since::V2_6_39), 104);
    assert!(grown(Since::V2_6_29) <= 101, "{}", grown(Since::V2_6_29));
}
