//! RED, CoDel (RFC 8289) and FQ-CoDel (RFC 8290) on a link that sends 1000 bytes in 1 ms.

mod common;

use common::*;
use instant::{Span, Time};
use links::queue::{codel, droptail, fq_codel, red};
use links::spec::*;
use links::{Cause, Ecn, Facts};

const LIMIT: Limit = Limit::Packets(1000);
const TARGET: Span = Span::from_millis(5);
const INTERVAL: Span = Span::from_millis(100);

fn under(queue: QueueSpec) -> net::Topology {
    pair(LinkSpec { queue, ..megabyte_link() })
}

fn codel(ecn: bool) -> net::Topology {
    under(QueueSpec::CoDel(codel::Params { limit: LIMIT, target: TARGET, interval: INTERVAL, ecn }))
}

fn fq_codel(limit: Limit, ecn: bool) -> net::Topology {
    under(QueueSpec::FqCoDel(fq_codel::Params {
        limit,
        target: TARGET,
        interval: INTERVAL,
        flows: 1024,
        quantum_bytes: 1000,
        ecn,
    }))
}

/// `n` packets every `us` microseconds.
fn steady(n: i64, us: i64) -> Vec<(Time, Facts)> {
    (0..n).map(|k| (Time(k * us * 1000), data(1000, 0))).collect()
}

/// The control law: the first drop comes when packets have waited 5 ms or more for 100 ms; the k-th drop follows
/// 100 ms / sqrt(k) after the one before. The queue grows by 1 packet each 10 ms.
#[test]
fn codel_drops_at_the_times_of_its_control_law() {
    let log = send(&codel(false), &steady(1000, 900), 1);
    assert!(log.dropped.iter().all(|d| d.2 == Cause::Aqm));
    // A packet waits 5 ms for the first time when the sixth waits: packet 51 waits 5.1 ms and is taken at 51 ms.
    let first = log.waited.iter().position(|w| *w >= TARGET).unwrap() as i64;
    assert_eq!(first, 50);
    let times: Vec<f64> = log
        .dropped
        .iter()
        .take(5)
        .map(|d| d.0.since(ms(first + INTERVAL.as_millis() as i64)).as_millis())
        .collect();
    let mut law = 0.0;
    for (k, time) in times.iter().enumerate() {
        // A drop waits for the end of the packet that is being sent, 1 ms at most.
        assert!((law..law + 1.0).contains(time), "drop {k} at {time}, by the law {law}");
        law += 100.0 / ((k + 1) as f64).sqrt();
    }
}

#[test]
fn codel_leaves_a_short_burst_and_a_queue_of_one_packet_alone() {
    // 60 at once wait up to 59 ms, but not for 100 ms.
    assert_eq!(send(&codel(false), &[(ms(0), data(1000, 0)); 60], 1).dropped, []);
    // Steady, below the rate.
    assert_eq!(send(&codel(false), &steady(2000, 1001), 1).dropped, []);
    // Packets of 20 ms: each waits longer than the target, but no more than one waits behind it.
    let slow = pair(LinkSpec {
        rate_bps: Some(400_000),
        queue: QueueSpec::CoDel(codel::Params {
            limit: LIMIT,
            target: TARGET,
            interval: INTERVAL,
            ecn: false,
        }),
        ..megabyte_link()
    });
    let mut packets = vec![(ms(0), data(1000, 0)); 2];
    packets.extend((0..100).map(|k| (ms(10 + 20 * k), data(1000, 0))));
    let log = send(&slow, &packets, 1);
    assert_eq!(log.dropped, []);
    assert!(log.waited[2..].iter().all(|w| *w >= TARGET));
}

/// The dequeue routine of section 5: where dropping stopped less than 16 intervals ago it goes on at the rate that
/// had helped; after a longer time it begins with one drop an interval.
#[test]
fn codel_goes_on_where_it_stopped_unless_that_was_long_ago() {
    let in_second_load = |pause_ms: i64| {
        let mut packets = steady(1500, 900);
        let again = packets[1499].0 + Span::from_millis(pause_ms);
        packets.extend(steady(1000, 900).into_iter().map(|(t, f)| (again + (t - Time::ZERO), f)));
        let log = send(&codel(false), &packets, 1);
        let gaps: Vec<Time> = log.dropped.iter().filter(|d| d.1 >= 1500).map(|d| d.0).collect();
        (gaps[1] - gaps[0]).as_millis()
    };
    assert!(in_second_load(400) < 70.0, "{}", in_second_load(400));
    assert!((99.0..=101.0).contains(&in_second_load(2500)), "{}", in_second_load(2500));
}

/// Full load for long: the delay that is left is near the target's order, far below the queue's limit.
#[test]
fn codel_bounds_the_delay_where_drop_tail_fills() {
    // A load that answers each drop by pausing, as a window would, is not at hand: 3% overload instead.
    let log = send(&codel(false), &steady(20_000, 970), 1);
    let late = &log.waited[10_000..];
    let mean = late.iter().map(|w| w.as_millis()).sum::<f64>() / late.len() as f64;
    assert!(mean < 40.0, "{mean} ms");
    assert!(log.dropped.len() > 400 && log.dropped.iter().all(|d| d.2 == Cause::Aqm));
    let tail = under(QueueSpec::DropTail(droptail::Params { limit: LIMIT }));
    let log = send(&tail, &steady(20_000, 970), 1);
    assert!(log.waited[19_000] > Span::from_millis(500));
}

#[test]
fn codel_marks_instead_of_dropping_where_both_sides_can() {
    let capable =
        |ecn| steady(1000, 900).into_iter().map(|(t, f)| (t, Facts { ecn, ..f })).collect::<Vec<_>>();
    let log = send(&codel(true), &capable(Ecn::Capable0), 1);
    assert!(log.dropped.is_empty() && log.marked.len() > 5);
    let log = send(&codel(true), &capable(Ecn::NotCapable), 1);
    assert!(log.marked.is_empty() && log.dropped.len() > 5);
    let log = send(&codel(false), &capable(Ecn::Capable0), 1);
    assert!(log.marked.is_empty() && log.dropped.len() > 5);
}

/// Flow 0 has 90 packets waiting when flow 1 begins: its packet is next but one.
#[test]
fn fq_codel_lets_a_new_flow_pass() {
    let mut packets = vec![(ms(0), data(1000, 0)); 90];
    packets.push((Time(500_000), data(1000, 1)));
    let log = send(&fq_codel(LIMIT, false), &packets, 1);
    assert_eq!(log.ordinals()[..3], [0, 90, 1]);
}

/// Section 4.2: a flow that ran empty takes a turn among the old ones before it can be new again. Beside three floods
/// a flow of short packets, one about each ms, passes with its first, and then waits for its turns.
#[test]
fn fq_codel_gives_no_priority_to_a_flow_that_trickles() {
    let mut packets: Vec<(Time, Facts)> = (0..120).map(|k| (ms(0), data(1000, 10 + k % 3))).collect();
    packets.extend((0..30).map(|k| (Time(20_500_000 + 1_150_000 * k), data(100, 1))));
    packets.sort_by_key(|(t, _)| *t);
    let log = send(&fq_codel(LIMIT, false), &packets, 1);
    let thin = log.arrived.iter().filter(|(_, n)| packets[*n as usize].1.flow == 1);
    // 10 ms on the way and 0.1 ms to be sent.
    let waited: Vec<f64> = thin.map(|(t, n)| (*t - packets[*n as usize].0).as_millis() - 10.1).collect();
    assert_eq!(waited.len(), 30);
    assert!(waited[0] < 1.0, "{}", waited[0]);
    // New each time, it would wait for the packet being sent and no other: 1 ms at most.
    let behind_others = waited[1..].iter().filter(|w| **w > 1.01).count();
    assert!((5..25).contains(&behind_others), "{behind_others} of 29: {waited:?}");
}

/// A flow that comes back begins with one quantum, whatever it had left: of packets of 600 bytes two go while it is
/// new (1000 bytes, then 400 are left) and, as flow 0 has just spent its quantum, two in its first turn among the old
/// (800, then 200).
#[test]
fn fq_codel_gives_a_new_flow_one_quantum() {
    let mut packets = vec![(ms(0), data(1000, 0)); 60];
    packets.push((Time(500_000), data(100, 1)));
    packets.extend([(Time(10_500_000), data(600, 1)); 6]);
    packets.sort_by_key(|(t, _)| *t);
    let log = send(&fq_codel(LIMIT, false), &packets, 1);
    let flows: Vec<u32> = log.ordinals().iter().map(|n| packets[*n as usize].1.flow).collect();
    let first = 2 + flows[2..].iter().position(|f| *f == 1).unwrap();
    assert_eq!(flows[first..first + 6], [1, 1, 1, 1, 0, 1]);
}

/// Two flows, one with packets of 500 bytes and one of 1000: each gets half of the bytes.
#[test]
fn fq_codel_shares_by_bytes() {
    let mut packets = Vec::new();
    for _ in 0..300 {
        packets.push((ms(0), data(500, 7)));
        packets.push((ms(0), data(1000, 8)));
    }
    let log = send(&fq_codel(LIMIT, false), &packets, 1);
    let bytes = |flow: usize| {
        log.ordinals()[..90].iter().filter(|n| **n as usize % 2 == flow).count() * [500, 1000][flow]
    };
    assert!(bytes(0).abs_diff(bytes(1)) <= 1500, "{} and {}", bytes(0), bytes(1));
}

/// Section 4.1: over the limit half of the fattest queue goes, from its head, 64 packets at most; not the newcomer.
#[test]
fn fq_codel_over_its_limit_drops_from_the_fattest_flow() {
    let mut packets = vec![(ms(0), data(1000, 0)); 20];
    packets.extend([(ms(0), data(1000, 1)); 2]);
    // One is being sent: 19 + 2 wait, the last over the limit.
    let log = send(&fq_codel(Limit::Packets(20), false), &packets, 1);
    let full: Vec<u32> = log.dropped.iter().filter(|d| d.2 == Cause::QueueFull).map(|d| d.1).collect();
    assert_eq!(full, (1..10).collect::<Vec<u32>>());
    let log = send(&fq_codel(Limit::Bytes(150_000), false), &[(ms(0), data(1000, 0)); 152], 1);
    assert_eq!(log.dropped.iter().filter(|d| d.2 == Cause::QueueFull).count(), 64);
}

/// A flow that floods is under CoDel; one that sends little is neither delayed nor dropped.
#[test]
fn fq_codel_spares_a_thin_flow() {
    let mut packets = steady(8000, 500);
    packets.extend((0..200).map(|k| (ms(20 * k), data(200, 1))));
    packets.sort_by_key(|(t, _)| *t);
    let thin: Vec<bool> = packets.iter().map(|(_, f)| f.flow == 1).collect();
    let log = send(&fq_codel(LIMIT, false), &packets, 1);
    assert!(log.dropped.len() > 500 && log.lost().iter().all(|n| !thin[*n as usize]));
    for (arrival, n) in log.arrived.iter().filter(|(_, n)| thin[*n as usize]) {
        // 0.2 ms of its own, 1 ms for the packet being sent, 1 ms for another before its turn.
        let delay = *arrival - packets[*n as usize].0;
        assert!(delay < Span::from_micros(12_300), "{delay}");
    }
}

/// A queue that grows steadily past the thresholds: drops begin above the lower one and all is dropped above the
/// upper one. With ECN the first are marks.
#[test]
fn red_drops_more_as_the_mean_queue_grows() {
    let red = |ecn| {
        under(QueueSpec::Red(red::Params {
            limit: LIMIT,
            min_threshold: 20.0,
            max_threshold: 60.0,
            max_probability: 0.1,
            weight: 0.02,
            gentle: false,
            ecn,
        }))
    };
    let capable: Vec<(Time, Facts)> =
        steady(4000, 500).into_iter().map(|(t, f)| (t, Facts { ecn: Ecn::Capable1, ..f })).collect();
    let log = send(&red(false), &capable, 1);
    let backlog = |n: u32| log.lost().iter().filter(|lost| **lost < n).count();
    // The queue grows by one each ms, two packets; its mean lags behind by 50 packets.
    assert_eq!(backlog(40), 0);
    assert!(log.dropped.iter().all(|d| d.2 == Cause::Aqm));
    assert!(log.waited.iter().all(|w| w.as_millis() < 130.0));
    let marked = send(&red(true), &capable, 1);
    assert!(!marked.marked.is_empty());
    assert!(marked.dropped.iter().all(|d| d.2 == Cause::Aqm));
}
