use super::*;
use crate::rto::Rto;
use crate::stack::{RtoKind, RtoRule};
use wire::Time;

const fn ms(v: i64) -> Span {
    Span::from_millis(v)
}

fn linux() -> Rto {
    Rto::new(&RtoRule {
        rule: RtoKind::Linux,
        initial: Span::from_secs(3),
        min: ms(200),
        max: Span::from_secs(120),
        granularity: Span::ZERO,
        slop: Span::ZERO,
        wheel: false,
    })
}

fn sample(t: &mut Rto, rtt: Span, una: u64) {
    t.on_sample(&RttSample { rtt, now: Time(1_000_000_000), una, nxt: una + 10, from_timestamp: true });
}

/// Equal but for what integer rounding leaves in the steady state.
fn about(a: Span, b: Span) -> bool {
    (a - b).0.abs() < 1000
}

/// `rounds` round trips of ten ACKs each, all with the same RTT; the next offset.
fn steady(t: &mut Rto, rtt: Span, from: u64, rounds: u64) -> u64 {
    (from..from + rounds * 10).for_each(|una| sample(t, rtt, una));
    from + rounds * 10
}

#[test]
fn a_steady_path_gives_srtt_plus_200_ms() {
    let mut t = linux();
    steady(&mut t, ms(40), 0, 100);
    assert_eq!((t.rto(), t.srtt(), t.rttvar()), (ms(240), Some(ms(40)), Some(ms(50))));
}

#[test]
fn the_first_sample_gives_three_rtts_or_200_ms_above_it() {
    let mut t = linux();
    sample(&mut t, ms(300), 1);
    assert_eq!(t.rto(), ms(900));
    let mut t = linux();
    sample(&mut t, ms(10), 1);
    assert_eq!(t.rto(), ms(210));
}

#[test]
fn a_falling_rtt_does_not_lengthen_the_time_out() {
    let mut t = linux();
    let una = steady(&mut t, ms(400), 0, 100);
    assert!(about(t.rto(), ms(600)), "{}", t.rto());
    // The sample is 360 ms short: SRTT falls by 45 ms, and an eighth of the deviation's gain is 45 ms, below the
    // 200 ms that count in any case.
    sample(&mut t, ms(40), una);
    assert!(about(t.rto(), ms(555)), "{}", t.rto());
    // A rise by as much counts in full: SRTT 85 ms and a deviation of 360 ms.
    let mut t = linux();
    let una = steady(&mut t, ms(40), 0, 100);
    sample(&mut t, ms(400), una);
    assert!(about(t.rto(), ms(85 + 360)), "{}", t.rto());
}

#[test]
fn the_largest_deviation_decays_by_a_quarter_of_the_gap_each_round_trip() {
    let mut t = linux();
    let mut una = steady(&mut t, ms(40), 0, 100);
    sample(&mut t, ms(1040), una);
    let peak = t.rttvar().expect("sampled");
    assert_eq!(peak, ms(250), "a quarter of the second");
    let mut last = peak;
    for round in 0..40 {
        una = steady(&mut t, ms(40), una, 1) + 1;
        let now = t.rttvar().expect("sampled");
        assert!(now <= last, "round {round}");
        last = now;
    }
    assert!(last < ms(51) && last >= ms(50), "{last}");
}

#[test]
fn a_sample_ends_the_back_off_and_nothing_else_does() {
    let mut t = linux();
    steady(&mut t, ms(40), 0, 100);
    let mut seen = vec![];
    for _ in 0..12 {
        t.on_timeout();
        seen.push(t.rto());
    }
    assert_eq!(&seen[..3], [ms(480), ms(960), ms(1920)]);
    assert_eq!(seen[11], Span::from_secs(120));
    t.on_ack_advance(2000, 2010, 1);
    assert_eq!(t.backoff(), 12, "Karn: no sample, no end");
    sample(&mut t, ms(40), 2001);
    assert_eq!((t.rto(), t.backoff()), (ms(240), 0));
}

#[test]
fn jiffies_of_4_ms_truncate_as_the_kernel_does() {
    let mut t = Rto::new(&RtoRule {
        rule: RtoKind::Linux,
        initial: Span::from_secs(3),
        min: ms(200),
        max: Span::from_secs(120),
        granularity: ms(4),
        slop: Span::ZERO,
        wheel: false,
    });
    // 41 ms ending at 1000 ms: readings 250 and 239, 11 jiffies; the first sample gives 3 of them, but the
    // deviation counts for at least 50 jiffies.
    sample(&mut t, ms(41), 1);
    assert_eq!((t.srtt(), t.rto()), (Some(ms(44)), ms(244)));
}

#[test]
fn what_is_doubled_is_rounded_up_to_a_tick() {
    // tcp_set_rto, tcp_retransmit_timer: 201 ms are 51 jiffies of 4 ms, and the third timeout comes after 204 of them.
    let mut t = Rto::new(&RtoRule {
        rule: RtoKind::LinuxMicroseconds,
        initial: ms(1000),
        min: ms(200),
        max: Span::from_secs(120),
        granularity: ms(4),
        slop: Span::ZERO,
        wheel: true,
    });
    steady(&mut t, ms(1), 0, 100);
    assert_eq!(t.rto(), ms(204));
    t.on_timeout();
    t.on_timeout();
    assert_eq!(t.rto(), ms(816));
}
