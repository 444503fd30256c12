//! What a capture delivered between two hosts, bin by bin of time, however many connections there were and in which order they
//! ended.

use analysis::paths::{MAX_BINS, MAX_BINS_PER_PATH, MAX_PATHS, Paths, SharedEnd, Stretch};
use analysis::rows::PathRow;
use wire::{Host, Span, Time};

fn hosts() -> (Host, Host) {
    (Host::v4([10, 0, 0, 1]), Host::v4([10, 0, 0, 2]))
}

fn of_hosts(paths: &Paths) -> Vec<PathRow> {
    paths.rows(hosts().0, hosts().1)
}

fn stretch(start_ms: i64, end_ms: i64, bytes: u64) -> Stretch {
    Stretch {
        start: Time(start_ms * 1_000_000),
        end: Time(end_ms * 1_000_000),
        silence: (Time(start_ms * 1_000_000), Time(start_ms * 1_000_000)),
        sent_bytes: bytes,
        resent_bytes: 0,
        delivered_bytes: bytes,
        rtt_min: Some(Span::from_millis(20)),
        rtt_sum: Span::from_millis(75),
        rtt_n: 3,
    }
}

/// xorshift64* (Vigna 2016).
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33
}

#[test]
fn bytes_are_kept_whatever_the_width() {
    let mut paths = Paths::default();
    let mut sum = 0;
    for i in 0..5_000 {
        paths.add(hosts(), &stretch(i * 37, i * 37 + 50, 1_000 + i as u64));
        sum += 1_000 + i as u64;
    }
    let rows = of_hosts(&paths);
    assert!(rows.len() <= MAX_BINS_PER_PATH);
    assert_eq!(rows.iter().map(|r| r.delivered_bytes).sum::<u64>(), sum);
    assert_eq!(rows.iter().map(|r| r.rtt_n).sum::<u64>(), 15_000);
}

#[test]
fn a_bin_has_the_mean_of_the_round_trips_in_it() {
    let mut paths = Paths::default();
    paths.add(hosts(), &stretch(0, 400, 9_000));
    for row in of_hosts(&paths) {
        assert_eq!(row.rtt_sum, Span::from_millis(25) * row.rtt_n as i64, "{row:?}");
    }
}

#[test]
fn a_host_with_several_paths_has_their_sum_and_their_queues() {
    let (client, server, other) = (hosts().0, hosts().1, Host::v4([10, 0, 0, 3]));
    let with = |rtt_ms: i64, s: Stretch| Stretch {
        rtt_min: Some(Span::from_millis(rtt_ms)),
        rtt_sum: Span::from_millis(rtt_ms) * 3,
        ..s
    };
    let mut paths = Paths::default();
    paths.add((client, server), &with(20, stretch(0, 8, 1_000)));
    assert!(paths.sums().of(server, SharedEnd::Receiver).is_empty(), "one path is no sum");
    // The path of another client is longer, and a queue adds 15 ms to one of its round trips.
    paths.add((other, server), &with(50, stretch(0, 8, 2_000)));
    paths.add((other, server), &with(65, stretch(0, 8, 3_000)));
    let sums = paths.sums();
    let rows = sums.of(server, SharedEnd::Receiver);
    assert_eq!(rows.iter().map(|r| r.delivered_bytes).sum::<u64>(), 6_000);
    assert_eq!(rows.iter().map(|r| r.rtt_n).sum::<u64>(), 9);
    assert_eq!(rows.iter().fold(Span::ZERO, |sum, r| sum + r.rtt_sum), Span::from_millis(45));
    assert!(sums.of(other, SharedEnd::Sender).is_empty() && sums.of(server, SharedEnd::Sender).is_empty());
}

#[test]
fn what_is_no_tcp_counts_only_between_hosts_that_have_paths() {
    let (client, server, other) = (hosts().0, hosts().1, Host::v4([10, 0, 0, 3]));
    let ms = |ms: i64| Time(ms * 1_000_000);
    let mut beside = Paths::default();
    beside.add_udp((other, server), ms(0), ms(8), 700);
    beside.add_udp((other, Host::v4([10, 0, 0, 4])), ms(0), ms(8), 900);
    let mut paths = Paths::default();
    paths.begun(Time::ZERO);
    paths.add((client, server), &stretch(0, 8, 1_000));
    paths.merge_udp(&beside);
    let sum: u64 = paths.sums().of(server, SharedEnd::Receiver).iter().map(|r| r.delivered_bytes).sum();
    assert_eq!(sum, 1_700);
    assert!(paths.rows(other, Host::v4([10, 0, 0, 4])).is_empty());
}

#[test]
fn rows_do_not_depend_on_how_connections_were_divided() {
    for seed in 1..40u64 {
        let mut state = seed * 0x9e37_79b9;
        let stretches: Vec<Stretch> = (0..1_500)
            .map(|_| {
                let at = random(&mut state) as i64 % 400_000;
                stretch(at, at + random(&mut state) as i64 % 3_000, random(&mut state) % 100_000)
            })
            .collect();
        let all = |parts: u64, state: &mut u64| {
            let mut split = vec![Paths::default(); parts as usize];
            for s in &stretches {
                let part = (random(state) % parts) as usize;
                split[part].add(hosts(), s);
                split[part].lose(hosts(), s.end, 1);
            }
            let mut sum = Paths::default();
            split.into_iter().for_each(|p| sum.merge(p));
            of_hosts(&sum)
        };
        let one = all(1, &mut state);
        assert_eq!(one, all(3, &mut state), "seed {seed}");
    }
}

#[test]
fn rows_do_not_depend_on_the_order_where_there_are_too_many_paths() {
    for paths in [300u64, 2 * MAX_PATHS as u64] {
        let ends = |n: u64| (Host::v4((n as u32).to_be_bytes()), Host::v4([10, 0, 0, 2]));
        let told = |n: u64| stretch(n as i64 % 977 * 100, n as i64 % 977 * 100 + 90 * 35, 40_000 + n);
        let all = |parts: usize, forward: bool| {
            let mut split = vec![Paths::default(); parts];
            for n in 0..paths {
                let n = if forward { n } else { paths - 1 - n };
                for other in [n, (n + 7) % paths] {
                    split[(n as usize * 31 + other as usize) % parts].add(ends(n), &told(other));
                }
            }
            let mut sum = Paths::default();
            split.into_iter().for_each(|p| sum.merge(p));
            sum
        };
        let (one, other) = (all(1, true), all(3, false));
        let rows = |paths: &Paths, n: u64| paths.rows(ends(n).0, ends(n).1);
        (0..paths).for_each(|n| assert_eq!(rows(&one, n), rows(&other, n), "{paths} paths, {n}"));
        let kept: Vec<usize> = (0..paths).map(|n| rows(&one, n).len()).filter(|bins| *bins > 0).collect();
        assert!(kept.len() <= MAX_PATHS && kept.len() as u64 >= paths.min(MAX_PATHS as u64 / 3));
        assert!(kept.iter().sum::<usize>() <= MAX_BINS);
    }
}

#[test]
fn a_stretch_of_days_fills_no_more_bins_than_there_are() {
    let mut paths = Paths::default();
    paths.add(hosts(), &stretch(0, 400_000_000, 7));
    assert!(of_hosts(&paths).len() <= MAX_BINS_PER_PATH);
    assert_eq!(of_hosts(&paths).iter().map(|r| r.delivered_bytes).sum::<u64>(), 7);
}
