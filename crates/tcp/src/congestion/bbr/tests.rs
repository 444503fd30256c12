//! The parts by themselves; the whole is told at the endpoint (`endpoint/tests/bbr.rs`).

use super::*;

fn so_far(ms: i64, delivered: u64, lost: u64) -> Progress {
    Progress { delivered, delivered_at: Time(ms * 1_000_000), lost, app_limited: false }
}
fn look(so_far: &Progress, lost: bool) -> Look<'_> {
    Look {
        so_far,
        lost,
        app_limited: false,
        round_began: true,
        probing_bw: true,
        smss: 1448,
        margin_percent: MARGIN_PERCENT,
    }
}

/// `lost` of each hundred, a round trip of 100 ms with a hundred delivered each time.
fn rounds(p: &mut Policer, from: i64, n: i64, lost: u64, delivered: u64) -> Vec<Verdict> {
    let told = |k: i64| p.look(&look(&so_far(100 * k, delivered * k as u64, lost * k as u64), lost > 0));
    (from..from + n).map(told).collect()
}

#[test]
fn two_like_intervals_with_a_fifth_lost_are_a_policer_for_48_round_trips() {
    let mut p = Policer::default();
    let told = rounds(&mut p, 1, 10, 25, 100);
    assert_eq!(told.iter().filter(|t| **t == Verdict::Policed).count(), 1, "{told:?}");
    let at = told.iter().position(|t| *t == Verdict::Policed).unwrap() as i64;
    // 100 in 100 ms.
    assert_eq!(p.rate(), Some(units::bandwidth(100, 100_000)));
    let after = rounds(&mut p, at + 2, 60, 0, 100);
    let over = after.iter().position(|t| *t == Verdict::Over);
    assert!(over.is_some_and(|n| (38..=48).contains(&n)), "{over:?}");
    assert_eq!(p.rate(), None);
}

#[test]
fn few_losses_or_unlike_intervals_are_no_policer() {
    let mut p = Policer::default();
    assert!(rounds(&mut p, 1, 30, 10, 100).iter().all(|t| *t == Verdict::Nothing));
    let mut p = Policer::default();
    let mut delivered = 0;
    let mut lost = 0;
    for k in 1..12 {
        // Each interval half as fast again.
        let n = 100 * 3_u64.pow(k / 4) / 2_u64.pow(k / 4);
        (delivered, lost) = (delivered + n, lost + n / 3);
        assert_eq!(
            p.look(&look(&so_far(100 * i64::from(k), delivered, lost), true)),
            Verdict::Nothing,
            "{k}"
        );
    }
}

#[test]
fn what_the_bandwidth_does_not_explain_is_room_in_cwnd() {
    // 1 segment a ms; they come ten at a time.
    let bw = units::bandwidth(1, 1000);
    let mut a = Aggregation::new(Time::ZERO);
    let sample = RateSample {
        newly_delivered: 10,
        delivered: Some(10),
        interval: Some(Span::from_millis(10)),
        ..RateSample::default()
    };
    for k in 1..100 {
        a.note(&sample, k % 5 == 0, bw, Time(k * 10_000_000), 50);
    }
    assert!((10..=11).contains(&a.allowance(bw)), "the bandwidth is rounded down");
    assert_eq!(a.allowance(0), 0, "at most a tenth of a second's");
}

#[test]
fn rates_and_products_are_whole_and_do_not_overflow() {
    let bw = units::bandwidth(100, 50_000);
    assert_eq!(units::product(bw, 50_000, UNIT), 100);
    assert_eq!(units::product(bw, 50_000, 2 * UNIT), 200);
    // 2000 segments a second of 1448 bytes, 1% less, and what rounding takes.
    assert!((2_867_000..=2_867_040).contains(&units::bytes_per_s(bw, 1448, UNIT, 1)));
    assert!(units::product(u64::MAX >> 30, 1 << 40, HIGH_GAIN) > 0);
}
