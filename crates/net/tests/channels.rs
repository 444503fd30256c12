//! Channels and retries on a link, as stories with times. 1000 bytes take 1 ms, then 10 ms on the way.

mod common;

use common::*;
use instant::{Span, Time};
use links::channel::{delay_step, duplicate, jitter, list, random, rate_trace, reorder};
use links::spec::*;
use links::{Cause, LinkId};

fn outage(begin_ms: i64, length_ms: i64) -> Outage {
    let schedule = Schedule::Intervals(vec![(ms(begin_ms), Span::from_millis(length_ms))]);
    Outage { schedule, anchor: Anchor::Start, hold: false, flush: Flush::Nothing }
}

fn with_outage(at: Place, outage: Outage) -> net::Topology {
    pair(with(vec![channel("down", at, ChannelKind::Outage(outage))]))
}

/// One packet each ms from 0 on: n is sent at n, leaves at n + 1, arrives at n + 11.
fn each_ms(n: i64) -> Vec<Time> {
    (0..n).map(ms).collect()
}

/// Down from 20 to 25 ms, the end left out.
#[test]
fn an_outage_loses_what_is_at_its_place_while_it_lasts() {
    let table = [(Place::Ingress, 20..25), (Place::Wire, 19..24), (Place::Egress, 9..14)];
    for (at, lost) in table {
        let log = send_at(&with_outage(at, outage(20, 5)), &each_ms(40));
        assert_eq!(log.lost(), lost.collect::<Vec<u32>>(), "{at:?}");
        assert!(
            log.dropped
                .iter()
                .all(|(t, _, cause)| (20..25).contains(&(t.0 / 1_000_000)) && *cause == Cause::Channel(0))
        );
    }
}

#[test]
fn held_packets_come_in_order_when_the_outage_ends() {
    let held = |at| send_at(&with_outage(at, Outage { hold: true, ..outage(20, 5) }), &each_ms(40));
    // At the wire: 19 to 23 have left by 25 and arrive at 35.
    let log = held(Place::Wire);
    assert_eq!(log.ordinals(), (0..40).collect::<Vec<u32>>());
    assert_eq!(
        log.in_ms()[18..26],
        [(29, 18), (35, 19), (35, 20), (35, 21), (35, 22), (35, 23), (35, 24), (36, 25)]
    );
    // At the far end: those that would arrive from 20 on arrive at 25.
    let log = held(Place::Egress);
    assert_eq!(
        log.in_ms()[8..16],
        [(19, 8), (25, 9), (25, 10), (25, 11), (25, 12), (25, 13), (25, 14), (26, 15)]
    );
    // Before the queue: 20 to 24 come to it at 25 and are sent one after the other, 25 behind them.
    let log = held(Place::Ingress);
    assert_eq!(log.ordinals(), (0..40).collect::<Vec<u32>>());
    assert_eq!(log.in_ms()[19..26], [(30, 19), (36, 20), (37, 21), (38, 22), (39, 23), (40, 24), (41, 25)]);
}

#[test]
fn the_beginning_of_an_outage_may_destroy_the_queue_or_everything() {
    // 30 at once: at 5.5 ms 5 have left, one is being sent, 24 wait.
    let begin = Time(5_500_000);
    let schedule = Schedule::Intervals(vec![(begin, Span::from_millis(2))]);
    let destroys = |flush| {
        let outage = Outage { schedule: schedule.clone(), flush, ..outage(0, 1) };
        send_at(&with_outage(Place::Wire, outage), &[ms(0); 30])
    };
    // What is being sent leaves at 6 ms, within the outage.
    let log = destroys(Flush::Queue);
    assert_eq!(log.ordinals(), [0, 1, 2, 3, 4]);
    let flushed: Vec<u32> =
        log.dropped.iter().filter(|d| d.2 == Cause::Flushed(0) && d.0 == begin).map(|d| d.1).collect();
    assert_eq!(flushed, (6..30).collect::<Vec<u32>>());
    assert_eq!(log.dropped.last(), Some(&(ms(6), 5, Cause::Channel(0))));
    // The queue first, then what is in flight.
    let log = destroys(Flush::Flight);
    assert_eq!(log.ordinals(), []);
    assert_eq!(log.lost(), (6..30).chain(0..6).collect::<Vec<u32>>());
    assert!(log.dropped.iter().all(|d| d.0 == begin && d.2 == Cause::Flushed(0)));
}

/// A packet that would arrive just when the link goes down is lost; the transmitter is busy until it would have been
/// free; what comes while the link is down is lost, and the first after it passes.
#[test]
fn going_down_comes_before_all_that_happens_at_the_same_time() {
    let outage = Outage { flush: Flush::Flight, ..outage(11, 3) };
    let log = send_at(&with_outage(Place::Wire, outage), &[ms(0), ms(10), ms(11), ms(13), ms(14)]);
    assert_eq!(log.in_ms(), [(25, 4)]);
    let causes: Vec<(u32, Cause)> = log.dropped.iter().map(|d| (d.1, d.2)).collect();
    let (flushed, refused) = (Cause::Flushed(0), Cause::Channel(0));
    assert_eq!(causes, [(0, flushed), (1, flushed), (2, refused), (3, refused)]);
}

#[test]
fn a_schedule_can_begin_with_the_first_packet_in_either_direction() {
    let schedule = Schedule::Periodic {
        every: Span::from_millis(50),
        length: Span::from_millis(10),
        phase: Span::from_millis(20),
    };
    let anchored = Outage { schedule, anchor: Anchor::FirstSyn, ..outage(0, 1) };
    let topology = with_outage(Place::Ingress, anchored);
    // The first comes at 100: down from 120 to 130, from 170 to 180, ...
    let log = send_at(&topology, &[100, 119, 120, 129, 130, 169, 170, 180].map(ms));
    assert_eq!(log.lost(), [2, 3, 6]);
    // A packet the other way at 7 ms: down from 27 on.
    let mut net = net::Net::new(&topology, 1).unwrap();
    let mut log = Log::default();
    net.send(ms(7), FAR, NEAR, data(40, 0), 0, &mut log);
    while net.step_until(ms(26), &mut log).is_some() {}
    net.send(ms(26), NEAR, FAR, data(40, 0), 1, &mut log);
    while net.step_until(ms(28), &mut log).is_some() {}
    net.send(ms(28), NEAR, FAR, data(40, 0), 2, &mut log);
    assert_eq!(log.lost(), [2]);
}

/// Both directions are down at the same times, whoever asks first and how often.
#[test]
fn an_outage_at_random_is_the_same_in_both_directions() {
    let schedule =
        Schedule::Exponential { up_mean: Span::from_millis(300), down_mean: Span::from_millis(100) };
    let topology = with_outage(Place::Ingress, Outage { schedule, ..outage(0, 1) });
    let mut net = net::Net::new(&topology, 42).unwrap();
    let mut log = Log::default();
    let (mut down, mut offered) = (0, 0);
    for n in 0..20_000u32 {
        let now = ms(5 * n as i64);
        while net.step_until(now, &mut log).is_some() {}
        let before = net.counters(LinkId::forward(0)).channel;
        net.send(now, NEAR, FAR, data(40, 0), n, &mut log);
        let lost = net.counters(LinkId::forward(0)).channel > before;
        down += lost as u32;
        if n % 3 == 0 {
            let before = net.counters(LinkId::back(0)).channel;
            net.send(now, FAR, NEAR, data(40, 0), n, &mut log);
            assert_eq!(net.counters(LinkId::back(0)).channel > before, lost, "packet {n}");
        }
        offered += 1;
    }
    // A quarter of the time; correlation time 75 ms, 100 s in all: 670 independent looks.
    let share = down as f64 / offered as f64;
    assert!((share - 0.25).abs() < 5.0 * (0.25f64 * 0.75 / 670.0).sqrt(), "{share}");
}

#[test]
fn a_channel_for_data_or_acks_counts_no_others() {
    let list = |only| {
        let kind = ChannelKind::List(list::Params { ordinals: vec![1] });
        pair(with(vec![ChannelSpec { only, ..channel("list", Place::Wire, kind) }]))
    };
    let ack = links::Facts { class: links::Class::Ack, ..data(40, 0) };
    let syn = links::Facts { class: links::Class::Other, ..data(60, 0) };
    let packets = [(ms(0), ack), (ms(1), data(1000, 0)), (ms(3), syn), (ms(5), data(1000, 0))];
    assert_eq!(send(&list(Only::Data), &packets, 1).lost(), [3]);
    assert_eq!(send(&list(Only::Acks), &packets, 1).lost(), [2]);
    assert_eq!(send(&list(Only::All), &packets, 1).lost(), [1]);
}

/// Every channel is asked about every packet: what one loses shifts nobody's draws or counts.
#[test]
fn what_one_channel_loses_another_counts_all_the_same() {
    let list = |name: &str, ordinals: &[u64]| {
        channel(name, Place::Wire, ChannelKind::List(list::Params { ordinals: ordinals.to_vec() }))
    };
    let log = send_at(&pair(with(vec![list("a", &[2, 3]), list("b", &[3, 5])])), &each_ms(8));
    let causes: Vec<(u32, Cause)> = log.dropped.iter().map(|d| (d.1, d.2)).collect();
    assert_eq!(causes, [(2, Cause::Channel(0)), (3, Cause::Channel(0)), (5, Cause::Channel(1))]);
    let random = |before: Vec<ChannelSpec>| {
        let loss = channel("loss", Place::Wire, ChannelKind::Random(random::Params { loss: 0.3 }));
        let log = send_at(&pair(with([before, vec![loss]].concat())), &each_ms(500));
        log.dropped.iter().filter(|d| d.2 != Cause::Channel(0) || d.1 > 10).map(|d| d.1).collect::<Vec<u32>>()
    };
    let alone = random(vec![]);
    let beside = random(vec![list("first", &(0..=10).collect::<Vec<u64>>())]);
    assert_eq!(alone.iter().filter(|n| **n > 10).copied().collect::<Vec<u32>>(), beside);
}

#[test]
fn a_step_down_in_delay_overtakes_only_where_it_may() {
    let step = |reorders| {
        let steps = vec![(Time(5_500_000), Span::from_millis(-8))];
        send_at(
            &pair(with(vec![channel(
                "step",
                Place::Wire,
                ChannelKind::DelayStep(delay_step::Params { steps, reorders }),
            )])),
            &each_ms(12),
        )
    };
    // 0 to 4 leave by 5 ms and take 10 ms; 5 leaves at 6 and would arrive at 8.
    let log = step(false);
    assert_eq!(log.ordinals(), (0..12).collect::<Vec<u32>>());
    assert_eq!(log.in_ms()[4..], [(15, 4), (15, 5), (15, 6), (15, 7), (15, 8), (15, 9), (15, 10), (15, 11)]);
    let log = step(true);
    let expected = [
        (8, 5),
        (9, 6),
        (10, 7),
        (11, 0),
        (11, 8),
        (12, 1),
        (12, 9),
        (13, 2),
        (13, 10),
        (14, 3),
        (14, 11),
        (15, 4),
    ];
    let mut seen = log.in_ms();
    seen.sort();
    assert_eq!(seen, expected);
    assert!(log.arrived.is_sorted_by_key(|(t, _)| *t));
}

#[test]
fn a_packet_held_back_is_passed_by_later_ones() {
    let kind = ChannelKind::Reorder(reorder::Params { probability: 0.1, by: Span::from_micros(2500) });
    for at in [Place::Ingress, Place::Wire, Place::Egress] {
        let log = send_at(&pair(with(vec![channel("late", at, kind.clone())])), &each_ms(2000));
        let mut sorted = log.ordinals();
        let late = log.ordinals().windows(2).filter(|w| w[1] < w[0]).count();
        assert!((120..260).contains(&late), "{at:?}: {late}");
        sorted.sort();
        assert_eq!(sorted, (0..2000).collect::<Vec<u32>>());
    }
}

#[test]
fn jitter_keeps_the_order_unless_it_may_not() {
    let jitter = |at, reorders| {
        let spread = Spread::Exponential { mean: Span::from_millis(3) };
        send_at(
            &pair(with(vec![channel(
                "jitter",
                at,
                ChannelKind::Jitter(jitter::Params { spread, reorders }),
            )])),
            &each_ms(1000),
        )
    };
    for at in [Place::Ingress, Place::Wire, Place::Egress] {
        assert_eq!(jitter(at, false).ordinals(), (0..1000).collect::<Vec<u32>>(), "{at:?}");
        let log = jitter(at, true);
        assert!(!log.ordinals().is_sorted() && log.arrived.len() == 1000, "{at:?}");
        // On its own each would take 11 ms and 3 on average, at the ingress more, as it waits in the queue.
        let delay = |(t, n): &(Time, u32)| (*t - ms(*n as i64)).as_millis();
        let mean = log.arrived.iter().map(delay).sum::<f64>() / 1000.0;
        assert!(mean > 13.5 && (at == Place::Ingress || mean < 14.5), "{at:?}: {mean}");
    }
}

#[test]
fn duplicates_arrive_together_and_take_time_only_before_the_queue() {
    let twice = |at| {
        let kind = ChannelKind::Duplicate(duplicate::Params { probability: 1.0, copies: 2 });
        send_at(&pair(with(vec![channel("twice", at, kind)])), &[ms(0), ms(5)])
    };
    assert_eq!(twice(Place::Ingress).in_ms(), [(11, 0), (12, 0), (13, 0), (16, 1), (17, 1), (18, 1)]);
    for at in [Place::Wire, Place::Egress] {
        assert_eq!(twice(at).in_ms(), [(11, 0), (11, 0), (11, 0), (16, 1), (16, 1), (16, 1)]);
        assert_eq!(twice(at).copied, 4);
    }
}

/// Mahimahi's example: a packet each 4 ms is 3 Mb/s; two short ones share an opportunity.
#[test]
fn a_rate_trace_replaces_the_rate() {
    let kind = ChannelKind::RateTrace(rate_trace::Params { opportunities_ms: vec![4, 8] });
    let topology = pair(LinkSpec { rate_bps: None, ..with(vec![channel("lte", Place::Wire, kind)]) });
    let packets: Vec<(Time, links::Facts)> =
        [1500, 1500, 700, 700, 1500].map(|len| (ms(0), data(len, 0))).into();
    assert_eq!(send(&topology, &packets, 1).in_ms(), [(14, 0), (18, 1), (22, 2), (22, 3), (26, 4)]);
}

fn arq(tries: u32, lost: &[u64]) -> net::Topology {
    let list = channel("noise", Place::Wire, ChannelKind::List(list::Params { ordinals: lost.to_vec() }));
    let arq = Some(ArqSpec { tries, overhead: Span::from_millis(1), backoff: Span::ZERO });
    pair(LinkSpec { arq, ..with(vec![list]) })
}

/// Each try takes 1 ms and 1 ms of overhead, and asks the channel anew.
#[test]
fn retries_spend_the_air_time_while_others_wait() {
    // Tries 0, 1 (packet 0), 2 (packet 1), 3, 4, 5 (packet 2), 6 (packet 3).
    let log = send_at(&arq(4, &[0, 3, 4]), &[ms(0); 4]);
    assert_eq!(log.in_ms(), [(14, 0), (16, 1), (22, 2), (24, 3)]);
}

#[test]
fn after_the_last_try_the_frame_is_given_up() {
    let log = send_at(&arq(3, &[0, 1, 2]), &[ms(0); 2]);
    assert_eq!(log.dropped, [(ms(6), 0, Cause::ArqGaveUp(0))]);
    assert_eq!(log.in_ms(), [(18, 1)]);
}

/// Loss p a try and n tries leave p^n; the mean number of tries is (1 - p^n) / (1 - p).
#[test]
fn retries_leave_the_loss_that_they_should() {
    let noise = channel("noise", Place::Wire, ChannelKind::Random(random::Params { loss: 0.5 }));
    let retry = ArqSpec { tries: 3, overhead: Span::ZERO, backoff: Span::from_micros(100) };
    let topology = pair(LinkSpec { arq: Some(retry), ..with(vec![noise]) });
    let times: Vec<Time> = (0..20_000).map(|n| ms(10 * n)).collect();
    let log = send_at(&topology, &times);
    let lost = log.dropped.len() as f64;
    assert!((lost - 2500.0).abs() < 5.0 * (20_000f64 * 0.125 * 0.875).sqrt(), "{lost}");
    assert!(log.ordinals().is_sorted());
}
