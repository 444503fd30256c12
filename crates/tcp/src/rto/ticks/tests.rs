use super::*;

const fn ms(v: i64) -> Span {
    Span::from_millis(v)
}

/// "Old": tick 0.1 s, initial 6 s, 0 to 64 s.
fn old(phase: f64) -> TickRto {
    TickRto::new(ms(100), phase, ms(6000), Span::ZERO, Span::from_secs(64))
}

fn at_ms(v: i64) -> Time {
    Time(v * 1_000_000)
}

#[test]
fn the_first_time_out_is_the_initial_one_doubled_at_each_timeout_up_to_the_maximum() {
    let mut t = old(0.0);
    let mut seen = vec![t.rto().as_secs()];
    (0..5).for_each(|_| {
        t.on_timeout();
        seen.push(t.rto().as_secs());
    });
    assert_eq!(seen, [6.0, 12.0, 24.0, 48.0, 64.0, 64.0]);
}

#[test]
fn an_rtt_counts_the_ticks_that_begin_in_it_at_least_one() {
    // Sent at 0.95 s, acknowledged at 1.19 s.
    let ticks = |phase| {
        let mut t = old(phase);
        t.on_sample(ms(240), at_ms(1190));
        t.rtt_ticks()
    };
    assert_eq!(ticks(0.0), 2, "1.0 and 1.1 s");
    assert_eq!(ticks(0.5), 2, "1.05 and 1.15 s; the one at 0.95 s had begun");
    assert_eq!(ticks(0.2), 3, "0.98, 1.08 and 1.18 s");
    let mut t = old(0.0);
    t.on_sample(ms(10), at_ms(1050));
    assert_eq!(t.rtt_ticks(), 1);
}

#[test]
fn the_first_sample_gives_three_rtts() {
    let mut t = old(0.0);
    t.on_sample(ms(500), at_ms(1000));
    // 5 ticks: SRTT 5, RTTVAR 2.5, RTO 5 + 10.
    assert_eq!((t.rto(), t.srtt(), t.rttvar()), (ms(1500), Some(ms(500)), Some(ms(250))));
}

#[test]
fn no_time_out_is_below_two_ticks() {
    let t = TickRto::new(ms(100), 0.0, ms(10), Span::ZERO, Span::from_secs(64));
    assert_eq!(t.rto(), ms(200));
    // The deviation never decays below half a tick, so that samples alone do not get there.
    let mut t = old(0.0);
    (0..50).for_each(|_| t.on_sample(ms(1), at_ms(1001)));
    assert_eq!(t.rto(), ms(300));
}

#[test]
fn the_minimum_is_doubled_like_any_time_out() {
    let mut t = TickRto::new(ms(10), 0.0, ms(3000), ms(200), Span::from_secs(60));
    (0..60).for_each(|k| t.on_sample(ms(20), at_ms(1000 + k * 20)));
    assert_eq!(t.rto(), ms(200));
    t.on_timeout();
    assert_eq!((t.rto(), t.backoff()), (ms(400), 2));
    t.on_sample(ms(20), at_ms(5000));
    assert_eq!((t.rto(), t.backoff()), (ms(200), 1));
}

#[test]
fn after_four_timeouts_the_mean_is_forgotten() {
    let mut t = old(0.0);
    (0..20).for_each(|_| t.on_sample(ms(500), at_ms(1000)));
    let current = t.rto();
    (0..4).for_each(|_| t.on_timeout());
    assert_eq!(t.srtt(), None);
    assert_eq!(t.rto(), current * 16, "the time-out itself stays until a sample comes");
    t.on_sample(ms(200), at_ms(1000));
    assert_eq!(t.rto(), ms(600), "as from a first sample");
}

#[test]
fn the_back_off_passes_64_only_while_the_time_out_is_below_its_maximum() {
    let mut t = TickRto::new(ms(10), 0.0, ms(3000), ms(200), Span::from_secs(60));
    (0..60).for_each(|_| t.on_sample(ms(10), at_ms(1000)));
    (0..12).for_each(|_| t.on_timeout());
    // 0.2 s * 256 = 51.2 s is still below, 512 is not.
    assert_eq!((t.rto(), t.backoff()), (Span::from_secs(60), 512));
}

#[test]
fn nothing_overflows_whatever_comes() {
    for (tick, phase) in [(Span(0), 0.0), (Span(1), f64::NAN), (Span::MAX, 7.0), (ms(100), -3.0)] {
        let mut t = TickRto::new(tick, phase, Span::MAX, Span::ZERO, Span::MAX);
        for rtt in [Span(i64::MIN), Span(-1), Span::ZERO, Span(1), Span::MAX, Span(i64::MAX)] {
            t.on_sample(rtt, Time::FAR_FUTURE);
            t.on_sample(rtt, Time::FAR_PAST);
            (0..100).for_each(|_| t.on_timeout());
            assert!(t.rto() > Span::ZERO, "tick {tick}, rtt {rtt}");
        }
    }
}

#[test]
fn before_2002_the_minimum_bounds_what_was_backed_off_and_the_back_off_ends_at_64() {
    let mut t = TickRto::new(ms(10), 0.0, ms(3000), ms(200), Span::from_secs(60)).bounded_after_backoff();
    (0..60).for_each(|_| t.on_sample(ms(20), at_ms(1000)));
    assert_eq!(t.rto(), ms(200));
    t.on_timeout();
    assert_eq!(t.rto(), ms(200), "50 ms * 2 is still below");
    (0..12).for_each(|_| t.on_timeout());
    assert_eq!(t.backoff(), 64);
}

#[test]
fn a_timestamps_rtt_is_rounded_to_the_nearest_tick_and_leaves_the_back_off() {
    let mut t = old(0.0);
    t.on_timeout();
    t.on_timestamp(ms(249));
    assert_eq!((t.rtt_ticks(), t.backoff()), (2, 2));
    t.on_timestamp(ms(250));
    assert_eq!(t.rtt_ticks(), 3);
    t.end_backoff();
    assert_eq!(t.backoff(), 1);
}
