use super::*;
use crate::draws::draws;

const SMSS: u32 = 1000;
fn us(v: i64) -> Time {
    Time(1_000_000_000 + v * 1000)
}

/// Sends as soon as it may: when each segment left, microseconds.
fn times(p: &mut Pacing, from: Time, n: usize, cwnd: u32) -> Vec<i64> {
    let mut now = from;
    let mut left = Vec::new();
    for _ in 0..n {
        if let Some(until) = p.waits(now) {
            now = until;
        }
        assert_eq!(p.waits(now), None);
        p.sent(now, SMSS, SMSS, cwnd, Some(Span::from_millis(50)), None);
        left.push((now - from).0 / 1000);
    }
    left
}

#[test]
fn the_first_ten_leave_at_once_and_then_two_at_a_time() {
    // tcp_update_skb_after_send (data_segs_out >= 10); 1 MB/s is 1 ms a segment, and less than two in a burst's time.
    let mut p = Pacing::new(true);
    p.set_rate(1_000_000);
    let left = times(&mut p, us(0), 18, 100);
    // The tenth's burst is paid for.
    assert_eq!(left, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2000, 2000, 4000, 4000, 6000, 6000, 8000, 8000]);
}

#[test]
fn a_burst_is_a_millisecond_and_half_of_cwnd_at_most() {
    // tcp_tso_autosize: 100 MB/s >> 10 is 97 segments of 1000 bytes, and 65,536 bytes hold 65.
    let burst = |cwnd| {
        let mut p = Pacing::new(true);
        p.set_rate(100_000_000);
        let left = times(&mut p, us(0), 200, cwnd);
        let later = left.iter().find(|t| **t > left[99]).copied().unwrap();
        left.iter().filter(|t| **t == later).count()
    };
    assert_eq!((burst(1000), burst(40)), (65, 20));
}

#[test]
fn silence_makes_up_for_half_of_a_burst() {
    let mut p = Pacing::new(true);
    p.set_rate(1_000_000);
    times(&mut p, us(0), 20, 100);
    let later = times(&mut p, us(1_000_000), 6, 100);
    assert_eq!(later, [0, 0, 1000, 1000, 3000, 3000]);
}

#[test]
fn without_a_rate_and_without_pacing_nothing_waits() {
    for mut p in [Pacing::new(true), Pacing::new(false)] {
        assert!(times(&mut p, us(0), 50, 100).iter().all(|t| *t == 0));
    }
}

/// Whenever it is asked, from the tenth segment on never more than the rate, but for two bursts.
#[test]
fn the_rate_is_kept_over_any_time() {
    for seed in 0..300 {
        let mut draw = draws(seed);
        let rate = 20_000 + draw(10_000_000);
        let mut p = Pacing::new(true);
        p.set_rate(rate);
        times(&mut p, us(0), 12, 1000);
        let begin = p.next().max(us(0)) + Span::from_millis(draw(100) as i64);
        let (mut now, mut bytes) = (begin, 0);
        for _ in 0..500 {
            now += Span(draw(3) as i64 * draw(2_000_000) as i64);
            while p.waits(now).is_none() {
                p.sent(now, SMSS, SMSS, 1000, None, None);
                bytes += u64::from(SMSS);
            }
            let burst = u64::from(SMSS) * u64::from(p.bursts().segments(p.rate, SMSS, None));
            let may = (now - begin).as_secs() * rate as f64;
            assert!(bytes as f64 <= may + 2.0 * burst as f64, "seed {seed}: {bytes} of {may}");
        }
    }
}
