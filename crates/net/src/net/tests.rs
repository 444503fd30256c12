use super::*;
use instant::Span;
use links::queue::droptail;
use links::random::Stream;
use links::spec::{Limit, LinkSpec, QueueSpec};
use links::{Class, Unwatched};

/// Six pairs of hosts, whose links are of so many kinds that some have no lanes, on both sides of a link in the middle.
fn dumbbell(s: &mut Stream) -> Topology {
    let kinds = 1 + s.below(7);
    let link = |between: (u32, u32), s: &mut Stream| {
        let kind = s.below(kinds);
        let spec = LinkSpec {
            rate_bps: (kind != 1).then_some(1_000_000 * (1 + kind)),
            delay: Span::from_millis(kind as i64 * 2 % 5),
            framing_bytes: s.below(2) as u32 * 18,
            queue: QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(4) }),
            channels: vec![],
            arq: None,
        };
        Duplex {
            name: format!("{between:?}"),
            between: (NodeId(between.0), NodeId(between.1)),
            forward: spec.clone(),
            back: spec,
        }
    };
    let mut links = vec![link((0, 1), s)];
    links.extend((0..6).flat_map(|k| [(2 + 2 * k, 0), (1, 3 + 2 * k)]).map(|between| link(between, s)));
    Topology { nodes: 14, links }
}

/// What arrives or is sent, and what each link has counted by then.
type Log = Vec<(Time, Option<(NodeId, u32)>, Vec<[Counters; 2]>)>;

fn run(net: &mut Net<u32>, mut load: Stream) -> Log {
    let mut log = vec![];
    let mut now = Time::ZERO;
    for n in 0..400 {
        now += Span(load.below(3) as i64 * 500_000);
        let step = |net: &mut Net<u32>| net.step_until(now, &mut Unwatched);
        while let Some((time, Event::Arrived { at, packet, .. })) = step(net) {
            log.push((time, Some((at, packet)), net.counters_of_pairs()));
        }
        let pair = load.below(6) as u32;
        let (near, far) = (NodeId(2 + 2 * pair), NodeId(3 + 2 * pair));
        let (from, to) = if load.chance(0.7) { (near, far) } else { (far, near) };
        let len = [1500, 1500, 52, 64, 600][load.below(5) as usize];
        net.send(now, from, to, Facts { len, class: Class::Data, ..Facts::default() }, n, &mut Unwatched);
        let counters = net.counters_of_pairs();
        assert_eq!(counters.iter().flatten().map(Counters::inside).sum::<u64>(), net.inside() as u64);
        let one = LinkId(load.below(26) as u32);
        assert_eq!(net.counters(one), counters[one.pair()][usize::from(!one.is_forward())]);
        log.push((now, None, counters));
    }
    while let Some((time, Event::Arrived { at, packet, .. })) = net.step(&mut Unwatched) {
        log.push((time, Some((at, packet)), net.counters_of_pairs()));
    }
    assert_eq!((net.inside(), net.next()), (0, None));
    log
}

/// Ties included: delays and rates are such that many packets arrive at the same time.
#[test]
fn lanes_change_nothing() {
    let mut ties = 0;
    for seed in 0..300 {
        let mut s = Stream::new(seed, "net", "lanes");
        let topology = dumbbell(&mut s);
        let [with, without] = [true, false].map(|has_lanes| {
            let mut net: Net<u32> = Net::with(&topology, seed, has_lanes).unwrap();
            (run(&mut net, Stream::new(seed, "net", "load")), net.scheduled())
        });
        assert!(with == without, "seed {seed}");
        ties +=
            with.0.windows(2).filter(|w| w[0].0 == w[1].0 && w[0].1.is_some() && w[1].1.is_some()).count();
    }
    assert!(ties > 500, "{ties}");
}
