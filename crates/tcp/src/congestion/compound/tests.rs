use super::super::tests::{COMPOUND, Run, SMSS};
use super::*;

fn dwnd(r: &Run) -> u32 {
    let super::super::Rule::Compound(c) = &r.c.rule else { panic!("another rule") };
    c.dwnd
}

#[test]
fn the_delay_window_changes_by_the_law_of_the_draft() {
    let c = Compound::new(&Params { alpha: 0.125, beta: 0.5, eta: 1.0, k: 0.75, gamma: 30.0 });
    let ms = Span::from_millis;
    // No queue: alpha win^k - 1. 16^0.75 = 8: exactly nothing below 16 segments.
    for (win, change) in [(1.0, 0.0), (16.0, 0.0), (81.0, 27.0 / 8.0 - 1.0), (256.0, 7.0), (4096.0, 63.0)] {
        assert!((c.change(win, ms(100), ms(100)) - change).abs() < 1e-9, "win {win}");
    }
    // Diff = win (1 - base / RTT): 100 * 0.2 = 20 is below gamma, 100 * 0.5 = 50 is not.
    assert!(c.change(100.0, ms(100), ms(125)) > 0.0);
    assert!((c.change(100.0, ms(100), ms(200)) + 50.0).abs() < 1e-9);
    // At gamma it shrinks: eta Diff.
    let half = Compound { eta: 0.5, gamma: 50.0, ..c };
    assert!((half.change(100.0, ms(100), ms(200)) + 25.0).abs() < 1e-9);
}

#[test]
fn on_an_empty_path_the_delay_window_grows_beside_the_loss_window() {
    let mut r = Run::avoiding(COMPOUND, 256);
    r.round(1);
    let (win, d) = (r.segments(), dwnd(&r));
    for _ in 0..3 {
        r.round(1);
    }
    // Per round trip one segment of the loss window and about 7 of dwnd.
    let grown = r.segments() - win;
    assert!((19.0..=29.0).contains(&grown), "{grown}");
    assert!(dwnd(&r) > d + 14 * SMSS);
    assert!(r.w.cwnd - dwnd(&r) >= 256 * SMSS, "the loss window is apart from it");
}

#[test]
fn a_queue_drains_the_delay_window_down_to_what_reno_has() {
    let mut r = Run::avoiding(COMPOUND, 256);
    (0..10).for_each(|_| r.round(1));
    assert!(dwnd(&r) > 50 * SMSS);
    let loss_window = r.w.cwnd - dwnd(&r);
    r.rtt = Span::from_millis(200);
    (0..4).for_each(|_| r.round(1));
    assert_eq!(dwnd(&r), 0);
    assert!(r.w.cwnd >= loss_window, "the loss window does not shrink");
}

#[test]
fn a_loss_leaves_half_of_both_and_a_timeout_no_delay_window() {
    let mut r = Run::avoiding(COMPOUND, 256);
    (0..10).for_each(|_| r.round(1));
    let (win, loss_window) = (r.w.cwnd, r.w.cwnd - dwnd(&r));
    r.w.ssthresh = r.loss(false);
    // beta = 1/2: win / 2 in all, dwnd makes up what the halved loss window lacks.
    assert_eq!(r.w.ssthresh, win / 2);
    assert!(dwnd(&r).abs_diff(win / 2 - loss_window / 2) <= 1, "{}", dwnd(&r));
    r.w.cwnd = r.w.ssthresh;
    r.c.on_recovery_end(&mut r.w, r.now);
    let mut t = Run::avoiding(COMPOUND, 256);
    (0..10).for_each(|_| t.round(1));
    assert_eq!(t.loss(true), win / 2);
    assert_eq!(dwnd(&t), 0);
}

#[test]
fn a_window_that_recovery_made_smaller_keeps_a_segment_of_loss_window() {
    let mut r = Run::avoiding(COMPOUND, 256);
    (0..30).for_each(|_| r.round(1));
    r.w.ssthresh = r.loss(false);
    // RFC 6582 §3.2 step 3: min(ssthresh, FlightSize + SMSS), and little was in flight.
    r.w.cwnd = 2 * SMSS;
    r.c.on_recovery_end(&mut r.w, r.now);
    assert_eq!((r.w.cwnd, dwnd(&r)), (2 * SMSS, SMSS));
}

#[test]
fn small_windows_are_renos() {
    let (mut c, mut reno) = (Run::avoiding(COMPOUND, 8), Run::avoiding(super::super::tests::RENO, 8));
    for _ in 0..7 {
        c.round(1);
        reno.round(1);
        assert_eq!(c.w, reno.w);
    }
}
