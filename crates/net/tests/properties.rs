//! What holds for every link: over random links and loads, with the seed in the failure message.

mod common;

use common::*;
use instant::{Span, Time};
use links::channel::{bit_error, delay_step, duplicate, jitter, list, random, rate_trace, reorder};
use links::queue::{codel, droptail, fq_codel, red};
use links::random::Stream;
use links::spec::*;
use links::{Class, Ecn, Facts};
use net::{Event, LinkId, Net, Topology};

fn span(s: &mut Stream, most_us: u64) -> Span {
    Span::from_micros(1 + s.below(most_us) as i64)
}

fn queue(s: &mut Stream) -> QueueSpec {
    let limit = match s.below(2) {
        0 => Limit::Packets(1 + s.below(40) as u32),
        _ => Limit::Bytes(500 + s.below(40_000)),
    };
    let (target, interval, ecn) = (span(s, 5000), span(s, 50_000), s.chance(0.5));
    match s.below(4) {
        0 => QueueSpec::DropTail(droptail::Params { limit }),
        1 => QueueSpec::Red(red::Params {
            limit,
            min_threshold: s.uniform() * 8.0,
            max_threshold: 9.0 + s.uniform() * 20.0,
            max_probability: s.uniform(),
            weight: 0.002 + s.uniform() * 0.5,
            gentle: s.chance(0.5),
            ecn,
        }),
        2 => QueueSpec::CoDel(codel::Params { limit, target, interval, ecn }),
        _ => {
            let (flows, quantum_bytes) = (1 + s.below(16) as u32, 100 + s.below(2000) as u32);
            QueueSpec::FqCoDel(fq_codel::Params { limit, target, interval, flows, quantum_bytes, ecn })
        }
    }
}

fn kind(s: &mut Stream, delay: Span) -> ChannelKind {
    let p = s.uniform() * 0.5;
    match s.below(10) {
        0 => {
            let every = Span::from_millis(2 + s.below(50) as i64);
            let schedule = match s.below(3) {
                0 => Schedule::Periodic { every, length: span(s, 1500), phase: span(s, 20_000) },
                1 => Schedule::Exponential { up_mean: span(s, 20_000), down_mean: span(s, 9000) },
                _ => Schedule::Intervals(vec![(ms(5), Span::from_millis(3)), (ms(8), span(s, 9000))]),
            };
            let anchor = if s.chance(0.5) { Anchor::Start } else { Anchor::FirstSyn };
            let flush = [Flush::Nothing, Flush::Queue, Flush::Flight][s.below(3) as usize];
            ChannelKind::Outage(Outage { schedule, anchor, hold: s.chance(0.4), flush })
        }
        1 => {
            let dwell = match s.below(3) {
                0 => Dwell::Packets { good_to_bad: p, bad_to_good: s.uniform() },
                1 => Dwell::PacketLengths { good_mean: 0.1 + s.uniform() * 9.0, bad_mean: 0.1 + s.uniform() },
                _ => Dwell::Time { good_mean: span(s, 9000), bad_mean: span(s, 9000) },
            };
            ChannelKind::GilbertElliott(GilbertElliott { dwell, loss_good: 0.0, loss_bad: s.uniform() })
        }
        2 => {
            let per = [PerUnit::Bit, PerUnit::Byte, PerUnit::Packet][s.below(3) as usize];
            ChannelKind::BitError(bit_error::Params { per, rate: s.uniform() * 1e-4 })
        }
        3 => ChannelKind::Random(random::Params { loss: p }),
        4 => ChannelKind::List(list::Params { ordinals: (0..5).map(|_| s.below(100)).collect() }),
        5 => ChannelKind::DelayStep(delay_step::Params {
            steps: vec![(ms(4), Span::ZERO), (ms(20), delay)],
            reorders: s.chance(0.5),
        }),
        6 => ChannelKind::RateTrace(rate_trace::Params { opportunities_ms: (1..=1 + s.below(20)).collect() }),
        7 => ChannelKind::Reorder(reorder::Params { probability: p, by: span(s, 9000) }),
        8 => ChannelKind::Duplicate(duplicate::Params { probability: p, copies: s.below(4) as u32 }),
        _ => {
            let mean = span(s, 3000);
            let spread = match s.below(3) {
                0 => Spread::Uniform { mean },
                1 => Spread::Exponential { mean },
                _ => Spread::Normal { mean, deviation: span(s, 3000) },
            };
            ChannelKind::Jitter(jitter::Params { spread, reorders: s.chance(0.5) })
        }
    }
}

fn link(s: &mut Stream) -> LinkSpec {
    let delay = span(s, 9000);
    let mut channels: Vec<ChannelSpec> = Vec::new();
    for n in 0..s.below(5) {
        let at = [Place::Ingress, Place::Wire, Place::Egress][s.below(3) as usize];
        let kind = kind(s, delay);
        let is_trace = |k: &ChannelKind| matches!(k, ChannelKind::RateTrace(_));
        let again = is_trace(&kind) && channels.iter().any(|c| is_trace(&c.kind));
        let only = [Only::All, Only::Data, Only::Acks][if is_trace(&kind) { 0 } else { s.below(3) as usize }];
        if !again {
            channels.push(ChannelSpec { only, ..channel(&format!("c{n}"), at, kind) });
        }
    }
    let tries = 1 + s.below(5) as u32;
    let retry =
        ArqSpec { tries, overhead: Span(s.below(200_000) as i64), backoff: Span(s.below(200_000) as i64) };
    LinkSpec {
        rate_bps: s.chance(0.9).then(|| 100_000 + s.below(20_000_000)),
        delay,
        framing_bytes: s.below(40) as u32,
        queue: queue(s),
        channels,
        arq: s.chance(0.4).then_some(retry),
    }
}

fn load(s: &mut Stream) -> Vec<(Time, Facts)> {
    let mut now = Time(s.below(3_000_000) as i64);
    let mut packet = || {
        now += if s.chance(0.5) { Span::ZERO } else { span(s, 2000) };
        let class = [Class::Data, Class::Ack, Class::Other][s.below(3) as usize];
        let ecn = [Ecn::NotCapable, Ecn::Capable0][s.below(2) as usize];
        (now, Facts { len: s.below(1600) as u32, flow: s.below(6) as u32, class, ecn })
    };
    (0..300).map(|_| packet()).collect()
}

/// Sends both ways, checks conservation after every event, and runs until nothing is left.
fn run(topology: &Topology, load: &[(Time, Facts)], seed: u64) -> Log {
    let mut net: Net<u32> = Net::new(topology, seed).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let mut log = Log::default();
    let links: Vec<LinkId> = (0..net.links() as u32).map(LinkId).collect();
    let step = |net: &mut Net<u32>, until, log: &mut Log| {
        let event = net.step_until(until, log);
        let inside: u64 = links.iter().map(|l| net.counters(*l).inside()).sum();
        assert_eq!(inside, net.inside() as u64, "seed {seed}");
        match event {
            Some((now, Event::Arrived { packet, .. })) => log.arrived.push((now, packet)),
            Some(other) => panic!("seed {seed}: {other:?}"),
            None => return false,
        }
        true
    };
    for (n, (time, facts)) in load.iter().enumerate() {
        while step(&mut net, *time, &mut log) {}
        let (from, to) = if n % 5 == 0 { (FAR, NEAR) } else { (NEAR, FAR) };
        net.send(*time, from, to, *facts, n as u32, &mut log);
    }
    while step(&mut net, Time::FAR_FUTURE, &mut log) {}
    assert_eq!((net.inside(), net.next()), (0, None), "seed {seed}");
    for link in links {
        let c = net.counters(link);
        assert_eq!((c.offered + c.copies, c.inside()), (c.delivered + c.dropped(), 0), "seed {seed}");
    }
    log
}

fn may_reorder(spec: &LinkSpec) -> bool {
    let fair = matches!(spec.queue, QueueSpec::FqCoDel(fq_codel::Params { .. }));
    fair || spec.channels.iter().any(|c| match &c.kind {
        ChannelKind::Reorder(_) => true,
        ChannelKind::DelayStep(delay_step::Params { reorders, .. })
        | ChannelKind::Jitter(jitter::Params { reorders, .. }) => *reorders,
        _ => false,
    })
}

/// Offered + copied = delivered + dropped + inside at every event; nothing is delivered that was lost; order is kept
/// where nothing may change it; the same seed gives the same events; a link that nothing is sent to falls silent.
#[test]
fn every_link_keeps_its_books() {
    let (mut reordering, mut drops) = (0, 0);
    for seed in 0..3000 {
        let mut s = Stream::new(seed, "properties", "links");
        let topology = pair(link(&mut s));
        let load = load(&mut s);
        let log = run(&topology, &load, seed);
        assert_eq!(log, run(&topology, &load, seed), "seed {seed}: twice the same");
        let spec = &topology.links[0].forward;
        let there: Vec<u32> = log.ordinals().into_iter().filter(|n| n % 5 != 0).collect();
        if may_reorder(spec) {
            reordering += 1;
        } else {
            assert!(there.is_sorted(), "seed {seed}: out of order over {spec:?}");
        }
        for (time, n) in &log.arrived {
            assert!(*time >= load[*n as usize].0, "seed {seed}: {n} arrived before it was sent");
        }
        if log.copied == 0 {
            let mut all: Vec<u32> = log.ordinals();
            all.extend(log.lost());
            all.sort();
            assert_eq!(all, (0..load.len() as u32).collect::<Vec<u32>>(), "seed {seed}");
        }
        drops += log.dropped.len();
    }
    assert!(reordering > 500 && reordering < 2500 && drops > 100_000, "{reordering} {drops}");
}

/// Another flow's packets shift nobody's draws: a channel gives the k-th packet the k-th draw, whatever the times.
#[test]
fn losses_by_packet_do_not_depend_on_times() {
    for seed in 0..50 {
        let dwell = Dwell::Packets { good_to_bad: 0.1, bad_to_good: 0.3 };
        let ge = ChannelKind::GilbertElliott(GilbertElliott { dwell, loss_good: 0.01, loss_bad: 0.7 });
        let spec = with(vec![
            channel("ge", Place::Wire, ge),
            channel("loss", Place::Wire, ChannelKind::Random(random::Params { loss: 0.1 })),
        ]);
        let lost = |every_us: i64| {
            let packets: Vec<(Time, Facts)> =
                (0..90).map(|n| (Time(n * every_us * 1000), data(1000, 0))).collect();
            send(&pair(spec.clone()), &packets, seed).lost()
        };
        assert_eq!(lost(10), lost(5000), "seed {seed}");
    }
}
