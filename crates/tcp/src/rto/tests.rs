use super::*;
use crate::draws::draws;

const fn ms(v: i64) -> Span {
    Span::from_millis(v)
}

const fn secs(v: i64) -> Span {
    Span::from_secs(v)
}

fn spec(rule: RtoKind) -> RtoRule {
    let (min, max) = match rule {
        RtoKind::Rfc6298 | RtoKind::Bsd => (secs(1), secs(60)),
        _ => (ms(200), secs(120)),
    };
    RtoRule { rule, initial: secs(1), min, max, granularity: Span::ZERO, slop: Span::ZERO, wheel: false }
}

const ALL: [RtoKind; 6] =
    [RtoKind::Rfc6298, RtoKind::Linux, RtoKind::Linux22, RtoKind::Linux22Cured, RtoKind::Ns320, RtoKind::Bsd];

/// A sample from an ACK to `una` with ten segments of 1000 bytes in flight; the ACK advances.
fn sample(t: &mut Rto, rtt: Span, una: u64) {
    t.on_sample(&RttSample {
        rtt,
        now: Time(10_000_000_000 + una as i64 * 1_000_000),
        una,
        nxt: una + 10_000,
        from_timestamp: true,
    });
    t.on_ack_advance(una, una + 10_000, 10);
}

// ---- RFC 6298, section by section ----

#[test]
fn before_a_sample_the_rto_is_the_initial_one() {
    // (2.1): 1 second.
    let t = Rto::new(&spec(RtoKind::Rfc6298));
    assert_eq!((t.rto(), t.srtt(), t.rttvar(), t.backoff()), (secs(1), None, None, 0));
}

#[test]
fn the_first_sample_gives_three_times_itself() {
    // (2.2): SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR.
    let mut t = Rto::new(&spec(RtoKind::Rfc6298));
    sample(&mut t, ms(500), 1);
    assert_eq!((t.srtt(), t.rttvar(), t.rto()), (Some(ms(500)), Some(ms(250)), ms(1500)));
}

#[test]
fn later_samples_take_the_deviation_from_the_old_mean() {
    // (2.3): RTTVAR = 3/4 * 250 + 1/4 * |500 - 900| = 287.5, then SRTT = 7/8 * 500 + 1/8 * 900 = 550.
    let mut t = Rto::new(&spec(RtoKind::Rfc6298));
    sample(&mut t, ms(500), 1);
    sample(&mut t, ms(900), 2);
    assert_eq!(t.rttvar(), Some(Span::from_micros(287_500)));
    assert_eq!((t.srtt(), t.rto()), (Some(ms(550)), ms(1700)));
}

#[test]
fn the_deviation_counts_for_at_least_one_tick_of_the_clock() {
    // (2.3): max(G, K * RTTVAR).
    let mut s = spec(RtoKind::Rfc6298);
    s.min = Span::ZERO;
    s.granularity = ms(100);
    let mut t = Rto::new(&s);
    (0..200).for_each(|k| sample(&mut t, ms(300), k * 100));
    assert_eq!((t.srtt(), t.rto()), (Some(ms(300)), ms(400)));
}

#[test]
fn the_minimum_and_the_maximum_hold() {
    // (2.4) and (2.5).
    let mut t = Rto::new(&spec(RtoKind::Rfc6298));
    sample(&mut t, ms(10), 1);
    assert_eq!(t.rto(), secs(1));
    sample(&mut t, secs(300), 2);
    assert_eq!(t.rto(), secs(60));
}

#[test]
fn each_timeout_doubles_and_the_next_sample_collapses() {
    // (5.5), (2.5), and the end of §5.
    let mut t = Rto::new(&spec(RtoKind::Rfc6298));
    sample(&mut t, ms(500), 1);
    let mut seen = vec![];
    for _ in 0..7 {
        t.on_timeout();
        seen.push(t.rto().as_secs());
    }
    assert_eq!(seen, [3.0, 6.0, 12.0, 24.0, 48.0, 60.0, 60.0]);
    assert_eq!(t.backoff(), 7);
    // Karn: an ACK without a sample leaves the back-off.
    t.on_ack_advance(2, 10_002, 10);
    assert_eq!(t.backoff(), 7);
    sample(&mut t, ms(500), 3);
    // RTTVAR 3/4 * 250.
    assert_eq!((t.backoff(), t.rto()), (0, ms(1250)));
}

#[test]
fn a_handshake_that_timed_out_leaves_three_seconds_for_the_data() {
    // (5.7)
    let mut t = Rto::new(&spec(RtoKind::Rfc6298));
    t.on_timeout();
    assert_eq!(t.rto(), secs(2));
    t.on_late_handshake();
    assert_eq!((t.rto(), t.backoff()), (secs(3), 0));
    let mut t = Rto::new(&spec(RtoKind::Rfc6298));
    sample(&mut t, ms(500), 1);
    t.on_late_handshake();
    assert_eq!(t.rto(), ms(1500), "where timestamps gave a sample it stands");
}

// ---- grain and slop, whatever the rule ----

#[test]
fn a_coarse_clock_measures_the_difference_of_two_readings() {
    let mut s = spec(RtoKind::Linux);
    s.granularity = ms(10);
    let bounds = Bounds::new(&s);
    let units = |sent_ms: i64, rtt_ms: i64| {
        bounds.measured_units(&RttSample {
            rtt: ms(rtt_ms),
            now: Time((sent_ms + rtt_ms) * 1_000_000),
            una: 1,
            nxt: 1,
            from_timestamp: true,
        })
    };
    assert_eq!([units(0, 9), units(1, 9), units(9, 1), units(9, 12), units(3, 20)], [0, 1, 1, 2, 2]);
}

#[test]
fn the_time_out_is_set_in_whole_ticks_and_the_slop_comes_on_top() {
    let mut s = spec(RtoKind::Rfc6298);
    (s.min, s.granularity, s.slop) = (Span::ZERO, ms(10), ms(200));
    let mut t = Rto::new(&s);
    sample(&mut t, ms(30), 1);
    // 30 + 4 * 15 = 90, and the second sample: 30 + 4 * 11.25 = 75, in ticks 80.
    assert_eq!(t.rto(), ms(290));
    sample(&mut t, ms(30), 11);
    assert_eq!(t.rto(), ms(280));
}

// ---- ns-3.20 ----

#[test]
fn ns320_weighs_mean_and_deviation_by_a_tenth_and_cuts_to_milliseconds() {
    let mut t = Rto::new(&spec(RtoKind::Ns320));
    assert_eq!(t.rto(), secs(1));
    sample(&mut t, ms(100), 1);
    assert_eq!((t.srtt(), t.rttvar(), t.rto()), (Some(ms(100)), Some(ms(100)), ms(500)));
    // Mean 100 + 0.1 * 10; deviation 100 + 0.1 * (10 - 100).
    sample(&mut t, ms(110), 2);
    assert_eq!((t.srtt(), t.rttvar(), t.rto()), (Some(ms(101)), Some(ms(91)), ms(465)));
    // Mean 101 + 0.1 * (100.5 - 101) = 100.95; deviation 91 + 0.1 * (0.5 - 91) = 81.95: cut to 100 and 81.
    sample(&mut t, Span::from_micros(100_500), 3);
    assert_eq!(t.rto(), ms(100 + 4 * 81));
}

#[test]
fn ns320_raises_to_the_minimum_before_it_multiplies_up_to_64_times() {
    let mut t = Rto::new(&RtoRule { max: secs(1000), ..spec(RtoKind::Ns320) });
    sample(&mut t, ms(12), 1);
    let mut seen = vec![t.rto().as_secs()];
    for _ in 0..8 {
        t.on_timeout();
        seen.push(t.rto().as_secs());
    }
    assert_eq!(seen, [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 12.8, 12.8]);
    sample(&mut t, ms(12), 2);
    assert_eq!(t.rto(), ms(200));
}

// ---- BSD ----

#[test]
fn bsd_counts_half_seconds() {
    let s = RtoRule { initial: secs(6), max: secs(64), granularity: ms(500), ..spec(RtoKind::Bsd) };
    let mut t = Rto::new(&s);
    assert_eq!(t.rto(), secs(6));
    // 1.5 s from a tick on: the counter stands at 4, SRTT 4 ticks, deviation 2, RTO 4 + 4 * 2 = 12 ticks.
    sample(&mut t, ms(1500), 0);
    assert_eq!((t.srtt(), t.rttvar(), t.rto()), (Some(secs(2)), Some(secs(1)), secs(6)));
    // Again 3 ticks: error -1, SRTT 31/8 (3 ticks), deviation 8 + 1 - 2 = 7 quarters, RTO 3 + 7.
    sample(&mut t, ms(1500), 0);
    assert_eq!((t.srtt(), t.rto()), (Some(ms(1500)), secs(5)));
}

#[test]
fn bsd_backs_off_by_its_table_and_forgets_the_mean_at_the_fourth_timeout() {
    let s = RtoRule { initial: secs(6), max: secs(1000), granularity: ms(500), ..spec(RtoKind::Bsd) };
    let mut t = Rto::new(&s);
    // No tick passes between 10.3 and 10.4 s. The deviation cannot decay below three quarters of a tick.
    (0..60).for_each(|_| sample(&mut t, ms(100), 400));
    assert_eq!(t.rto(), ms(1500));
    let mut seen = vec![];
    for timeouts in 1..=8 {
        t.on_timeout();
        seen.push(t.rto().as_secs());
        assert_eq!(t.srtt().is_none(), timeouts >= 4, "{timeouts} timeouts");
    }
    assert_eq!(seen, [3.0, 6.0, 12.0, 24.0, 48.0, 96.0, 96.0, 96.0]);
    // The next sample starts afresh: the counter stands at 1, the RTO at 1 + 2 ticks.
    sample(&mut t, ms(100), 400);
    assert_eq!((t.rto(), t.backoff(), t.srtt()), (ms(1500), 0, Some(ms(500))));
}

// ---- properties of them all ----

#[test]
fn whatever_comes_the_rto_stays_positive_and_within_its_bounds() {
    for seed in 0..400 {
        let mut draw = draws(seed);
        let rule = ALL[draw(6) as usize];
        let s = RtoRule {
            granularity: [Span::ZERO, Span(1), ms(1), ms(10), ms(500)][draw(5) as usize],
            slop: [Span::ZERO, ms(200)][draw(2) as usize],
            wheel: false,
            ..spec(rule)
        };
        let mut t = Rto::new(&s);
        let mut una = 1;
        for step in 0..300 {
            let context = || format!("seed {seed}, step {step}, {rule:?}");
            let before = t.rto();
            match draw(4) {
                0 => {
                    t.on_timeout();
                    assert!(t.rto() >= before, "{}: a timeout shortened the RTO", context());
                }
                1 => t.on_ack_advance(una, una + draw(2) * 1000, draw(100) as u32),
                _ => {
                    let exponent = draw(40) as u32;
                    una += draw(3000);
                    sample(&mut t, Span(draw(1 << 20) as i64 * (1 << exponent.min(30)) - 5), una);
                }
            }
            assert!(t.rto() > s.slop, "{}", context());
            // Ticks round up, and the slop comes on top.
            assert!(t.rto() <= s.max.max(s.initial) + s.slop + s.granularity, "{}: {}", context(), t.rto());
            assert!(t.srtt().is_none_or(|v| v >= Span::ZERO), "{}", context());
            assert!(t.rttvar().is_none_or(|v| v >= Span::ZERO), "{}", context());
        }
    }
}

#[test]
fn extreme_parameters_overflow_nothing() {
    let extremes = [Span(i64::MIN), Span(-1), Span::ZERO, Span(1), Span::MAX, Span(i64::MAX)];
    for rule in ALL {
        for (a, b) in extremes.into_iter().flat_map(|a| extremes.map(|b| (a, b))) {
            let mut t = Rto::new(&RtoRule {
                rule,
                initial: a,
                min: b,
                max: a,
                granularity: b,
                slop: a,
                wheel: false,
            });
            for rtt in extremes {
                sample(&mut t, rtt, 1 << 30);
                (0..70).for_each(|_| t.on_timeout());
                assert!(t.rto() > Span::ZERO, "{rule:?}, {a:?}, {b:?}, rtt {rtt:?}");
            }
        }
    }
}

#[test]
fn a_steady_path_has_a_steady_time_out_under_every_rule() {
    for rule in ALL {
        let mut t = Rto::new(&spec(rule));
        (0..2000).for_each(|k| sample(&mut t, ms(300), k * 1000));
        let settled = t.rto();
        sample(&mut t, ms(300), 3_000_000);
        assert_eq!(t.rto(), settled, "{rule:?}");
        let srtt = t.srtt().expect("there were samples");
        assert!((srtt.0 - ms(300).0).abs() <= 10, "{rule:?}: SRTT {srtt}");
    }
}

#[test]
fn ticks_are_rounded_up_as_a_division_would() {
    let mut draw = crate::draws::draws(3);
    for _ in 0..200_000 {
        let (grain_bits, wait_bits) = (draw(35), draw(58));
        let (grain, wait) = (1 + draw(1 << grain_bits) as i64, draw(1 << wait_bits) as i64);
        let bounds = Bounds::new(&RtoRule { granularity: Span(grain), ..spec(RtoKind::Linux) });
        let up = i128::from(wait + grain - 1) / i128::from(grain) * i128::from(grain);
        assert_eq!(i128::from(bounds.up_to_tick(Span(wait)).0), up, "{wait} in {grain}");
    }
}
