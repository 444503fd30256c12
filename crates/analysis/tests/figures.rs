//! Figures as sentences have them, five figures of many values, and lists of ascending numbers.

use analysis::ascending::{Ascending, Walk};
use analysis::distribution::Accumulator;
use analysis::rows::Summary;
use analysis::words::*;

#[test]
fn lengths_of_time_carry_two_or_three_digits() {
    let said = [0.00002, 0.0042, 0.0213, 0.4871, 0.9998, 4.126, 20.34, 152.83].map(seconds);
    assert_eq!(said, ["20 µs", "4.2 ms", "21 ms", "487 ms", "1.0 s", "4.1 s", "20.3 s", "153 s"]);
    assert_eq!([0.45, 2.5, 15.0].map(period), ["450 ms", "2.50 s", "15.0 s"]);
}

#[test]
fn sizes_and_rates_are_decimal() {
    assert_eq!([536, 5_500, 55_488, 10_000_000].map(bytes), ["536 bytes", "5.5 kB", "55 kB", "10.0 MB"]);
    assert_eq!([840.0, 64e3, 10.94e6, 1.25e9].map(rate), ["840 bps", "64 kbps", "10.9 Mbps", "1.25 Gbps"]);
    assert_eq!([0.0004, 0.0213, 0.38].map(percent), ["0.04%", "2.1%", "38%"]);
}

#[test]
fn counts_and_ordinals_read_as_words() {
    assert_eq!((count(1, "timeout"), count(3, "timeout")), ("1 timeout".into(), "3 timeouts".into()));
    assert_eq!([2, 7, 11, 21, 32].map(ordinal), ["second", "7th", "11th", "21st", "32nd"]);
}

fn of(values: &[f64]) -> Summary {
    let mut a = Accumulator::new();
    values.iter().for_each(|v| a.add(*v));
    a.summary()
}

#[test]
fn five_figures_of_a_textbook_sample() {
    let s = of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
    assert_eq!((s.n, s.min, s.mean, s.max), (8, 2.0, 5.0, 9.0));
    assert!((s.stddev - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
}

#[test]
fn microseconds_on_top_of_a_large_offset_are_not_lost() {
    let values: Vec<f64> = (0..1000).map(|i| 1e6 + f64::from(i % 2) * 1e-6).collect();
    let s = of(&values);
    assert!((s.stddev - 0.5e-6 * (1000.0f64 / 999.0).sqrt()).abs() < 1e-9, "{}", s.stddev);
}

#[test]
fn nothing_and_not_a_number_leave_it_empty() {
    assert_eq!(of(&[f64::NAN, f64::INFINITY]), Summary::default());
    assert_eq!(Accumulator::new().mean(), None);
}

#[test]
fn it_takes_forty_bytes() {
    assert_eq!(size_of::<Accumulator>(), 40);
}

#[test]
fn what_was_put_in_comes_back_whatever_the_steps() {
    let mut list = Ascending::default();
    let mut numbers = vec![0, 0, 1, 127, 128, 255, 16_383, 16_384, 1 << 40, u64::MAX];
    numbers.extend([u64::MAX]);
    numbers.iter().for_each(|n| list.push(*n));
    assert_eq!(Walk::new(&list).collect::<Vec<u64>>(), numbers);
}
