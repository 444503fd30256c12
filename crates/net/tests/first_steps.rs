//! A packet's way through links and nodes, and timers, as stories with times.

use instant::{Span, Time};
use links::channel::list;
use links::queue::droptail;
use links::spec::{ChannelKind, ChannelSpec, Limit, LinkSpec, Only, Place, QueueSpec};
use links::watch::Unwatched;
use links::{Class, Facts};
use net::{Duplex, Event, LinkId, Net, NodeId, TimerId, Topology};

fn link(rate_bps: u64, delay_ms: i64, packets: u32) -> LinkSpec {
    LinkSpec {
        rate_bps: Some(rate_bps),
        delay: Span::from_millis(delay_ms),
        framing_bytes: 0,
        queue: QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(packets) }),
        channels: vec![],
        arq: None,
    }
}

fn duplex(name: &str, a: u32, b: u32, spec: LinkSpec) -> Duplex {
    Duplex { name: name.into(), between: (NodeId(a), NodeId(b)), forward: spec.clone(), back: spec }
}

fn data(len: u32) -> Facts {
    Facts { len, class: Class::Data, ..Facts::default() }
}

/// FH, BS and MH of paper `wireless`: 1.5 Mb/s and 10 ms, then 0.8 Mb/s and 100 ms.
fn wireless(queue: u32) -> Topology {
    let links = vec![
        duplex("FH-BS", 0, 1, link(1_500_000, 10, queue)),
        duplex("BS-MH", 1, 2, link(800_000, 100, queue)),
    ];
    Topology { nodes: 3, links }
}

fn arrivals(net: &mut Net<u32>) -> Vec<(i64, u32)> {
    let mut seen = Vec::new();
    while let Some((time, Event::Arrived { packet, .. })) = net.step(&mut Unwatched) {
        seen.push((time.0, packet));
    }
    seen
}

#[test]
fn a_packet_crosses_two_links_in_the_time_they_take() {
    let mut net = Net::new(&wireless(50), 1).unwrap();
    assert!(net.send(Time::ZERO, NodeId(0), NodeId(2), data(1024), 7, &mut Unwatched));
    // 5.461333 + 10 + 10.24 + 100 ms
    assert_eq!(arrivals(&mut net), [(125_701_333, 7)]);
    assert_eq!(net.next(), None);
    assert_eq!(net.inside(), 0);
}

/// The packet being sent is not counted: of 10 at once with a queue of 5, six pass.
#[test]
fn a_drop_tail_queue_holds_its_limit_beside_the_packet_being_sent() {
    let mut net = Net::new(&wireless(5), 1).unwrap();
    for n in 0..10 {
        net.send(Time::ZERO, NodeId(0), NodeId(1), data(1500), n, &mut Unwatched);
    }
    let seen: Vec<u32> = arrivals(&mut net).into_iter().map(|(_, n)| n).collect();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    let counters = net.counters(LinkId::forward(0));
    assert_eq!((counters.offered, counters.delivered, counters.queue_full), (10, 6, 4));
}

#[test]
fn a_list_channel_loses_the_listed_packets() {
    let mut topology = wireless(50);
    let kind = ChannelKind::List(list::Params { ordinals: vec![1, 3] });
    let channel =
        ChannelSpec { name: "list".into(), at: Place::Ingress, only: Only::All, flows: vec![], kind };
    topology.links[0].forward.channels.push(channel);
    let mut net = Net::new(&topology, 1).unwrap();
    for n in 0..5 {
        net.send(Time::ZERO, NodeId(0), NodeId(1), data(1500), n, &mut Unwatched);
    }
    // Lost before the queue, they took no time of the link: 8 ms a packet, 10 ms on the way.
    assert_eq!(arrivals(&mut net), [(18_000_000, 0), (26_000_000, 2), (34_000_000, 4)]);
}

#[test]
fn timers_fire_in_the_order_of_their_deadlines_and_of_being_set() {
    let mut net: Net<()> = Net::new(&wireless(5), 1).unwrap();
    let at = |ms| Some(Time::ZERO + Span::from_millis(ms));
    net.set_timer(TimerId(0), at(10));
    net.set_timer(TimerId(1), at(5));
    net.set_timer(TimerId(2), at(7));
    net.set_timer(TimerId(3), at(8));
    net.set_timer(TimerId(1), at(9)); // later
    net.set_timer(TimerId(2), None);
    net.set_timer(TimerId(3), at(2)); // earlier
    net.set_timer(TimerId(4), at(9)); // the same, but set after
    net.set_timer(TimerId(5), at(1));
    net.set_timer(TimerId(5), None);
    assert_eq!(net.next(), at(2));
    let fired: Vec<u32> = std::iter::from_fn(|| net.step(&mut Unwatched))
        .map(|(_, e)| if let Event::Timer(id) = e { id.0 } else { panic!("{e:?}") })
        .collect();
    assert_eq!(fired, [3, 1, 4, 0]);
    assert_eq!(net.next(), None);
}

#[test]
fn no_way_there_is_told_and_nothing_after_the_limit_happens() {
    let mut topology = wireless(5);
    topology.nodes = 4;
    let mut net = Net::new(&topology, 1).unwrap();
    assert!(!net.send(Time::ZERO, NodeId(0), NodeId(3), data(100), 1, &mut Unwatched));
    assert_eq!(net.route(NodeId(0), NodeId(3)), None);
    assert_eq!(net.route(NodeId(2), NodeId(0)), Some(vec![LinkId::back(1), LinkId::back(0)]));
    net.send(Time::ZERO, NodeId(0), NodeId(2), data(1024), 1, &mut Unwatched);
    assert_eq!(net.step_until(Time(125_701_332), &mut Unwatched), None);
    assert!(net.step_until(Time(125_701_333), &mut Unwatched).is_some());
}

#[test]
fn a_timer_moved_nearer_fires_at_its_new_time() {
    let mut net: Net<()> = Net::new(&wireless(5), 1).unwrap();
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    net.set_timer(TimerId(0), Some(at(10)));
    net.set_timer(TimerId(1), Some(at(20)));
    net.set_timer(TimerId(1), Some(at(5)));
    net.set_timer(TimerId(2), Some(at(3)));
    net.set_timer(TimerId(2), Some(at(30)));
    let fired: Vec<(Time, Event<()>)> = std::iter::from_fn(|| net.step(&mut Unwatched)).collect();
    let timer = |ms, id| (at(ms), Event::Timer(TimerId(id)));
    assert_eq!(fired, [timer(5, 1), timer(10, 0), timer(30, 2)]);
}
