//! The net against the plainest simulator there is: one heap that holds every event, each link's end of transmission
//! an event of its own. Rates, lengths and delays are of a few nanoseconds, so that most events meet others at the
//! same time: order, times, drops and backlogs must be the same, ties included.

mod common;

use instant::{Span, Time};
use links::queue::droptail;
use links::random::Stream;
use links::spec::{Limit, LinkSpec, QueueSpec};
use links::watch::{Backlog, Watch};
use links::{Cause, Facts};
use net::{Duplex, Event, LinkId, Net, NodeId, TimerId, Topology};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Enqueued { link: u32, packet: u32, waiting: u32 },
    Started { link: u32, packet: u32, waiting: u32 },
    Dropped { link: u32, packet: u32 },
    Arrived { packet: u32 },
}

#[derive(Default)]
struct Log(Vec<(i64, Seen)>);

impl Watch<u32> for Log {
    fn enqueued(&mut self, link: LinkId, now: Time, _: &Facts, packet: &u32, backlog: Backlog) {
        self.0.push((now.0, Seen::Enqueued { link: link.0, packet: *packet, waiting: backlog.packets }));
    }
    fn dequeued(&mut self, link: LinkId, now: Time, _: &Facts, packet: &u32, _: Span, backlog: Backlog) {
        self.0.push((now.0, Seen::Started { link: link.0, packet: *packet, waiting: backlog.packets }));
    }
    fn dropped(&mut self, link: LinkId, now: Time, _: &Facts, packet: &u32, cause: Cause) {
        assert_eq!(cause, Cause::QueueFull);
        self.0.push((now.0, Seen::Dropped { link: link.0, packet: *packet }));
    }
}

/// What is sent: (time, from, to, bytes), each at a timer set at the start; some arrivals are answered.
struct Story {
    topology: Topology,
    sends: Vec<(i64, u32, u32, u32)>,
}

fn story(seed: u64) -> Story {
    let mut s = Stream::new(seed, "naive", "story");
    let nodes = 2 + s.below(5) as u32;
    let link = |s: &mut Stream| LinkSpec {
        // 8e9 / k bits a second: k nanoseconds a byte; or a rate that leaves fractions.
        rate_bps: Some(if s.chance(0.5) {
            8_000_000_000 / (1 + s.below(3))
        } else {
            3_000_000_000 + s.below(9)
        }),
        delay: Span(s.below(6) as i64),
        framing_bytes: s.below(2) as u32,
        queue: QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(1 + s.below(4) as u32) }),
        channels: vec![],
        arq: None,
    };
    // A tree, so that each node reaches each, and a link more.
    let mut ends: Vec<(u32, u32)> = (1..nodes).map(|n| (s.below(n as u64) as u32, n)).collect();
    if nodes > 2 {
        ends.push((0, nodes - 1));
    }
    let links = ends
        .iter()
        .map(|(a, b)| Duplex {
            name: "l".into(),
            between: (NodeId(*a), NodeId(*b)),
            forward: link(&mut s),
            back: link(&mut s),
        })
        .collect();
    let send = |s: &mut Stream| {
        let (from, to) = (s.below(nodes as u64) as u32, s.below(nodes as u64) as u32);
        (s.below(40) as i64, from, if to == from { (to + 1) % nodes } else { to }, 1 + s.below(4) as u32)
    };
    let sends = (0..60).map(|_| send(&mut s)).collect();
    Story { topology: Topology { nodes, links }, sends }
}

/// Every third packet is answered, answers are not.
fn answer(packet: u32) -> Option<u32> {
    (packet < 1000 && packet.is_multiple_of(3)).then_some(packet + 1000)
}

fn facts(len: u32) -> Facts {
    Facts { len, ..Facts::default() }
}

fn by_net(story: &Story) -> Vec<(i64, Seen)> {
    let (mut net, mut log) = (Net::new(&story.topology, 1).unwrap(), Log::default());
    for (n, send) in story.sends.iter().enumerate() {
        net.set_timer(TimerId(n as u32), Some(Time(send.0)));
    }
    while let Some((now, event)) = net.step(&mut log) {
        match event {
            Event::Timer(TimerId(n)) => {
                let (_, from, to, len) = story.sends[n as usize];
                assert!(net.send(now, NodeId(from), NodeId(to), facts(len), n, &mut log));
            }
            Event::Arrived { at, from, packet, .. } => {
                log.0.push((now.0, Seen::Arrived { packet }));
                if let Some(reply) = answer(packet) {
                    net.send(now, at, from, facts(2), reply, &mut log);
                }
            }
        }
    }
    log.0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Timer(u32),
    Done(u32),
    Arrive(u32, Packet),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    ordinal: u32,
    from: u32,
    to: u32,
    len: u32,
}

struct Wire {
    spec: LinkSpec,
    end: u32,
    busy: bool,
    waiting: VecDeque<Packet>,
    /// When the last packet has left, in units of 1 / rate nanoseconds.
    free: i128,
}

struct Naive {
    wires: Vec<Wire>,
    heap: BinaryHeap<Reverse<(i64, u64, What)>>,
    order: u64,
    now: i64,
    seen: Vec<(i64, Seen)>,
    /// The link to take, by node and destination.
    ways: Vec<Vec<u32>>,
}

impl Naive {
    fn schedule(&mut self, at: i64, what: What) {
        self.order += 1;
        self.heap.push(Reverse((at, self.order, what)));
    }
    fn note(&mut self, seen: Seen) {
        self.seen.push((self.now, seen));
    }
    fn offer(&mut self, here: u32, packet: Packet) {
        let link = self.ways[here as usize][packet.to as usize];
        let wire = &mut self.wires[link as usize];
        let QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(room) }) = wire.spec.queue else {
            panic!()
        };
        if wire.busy && wire.waiting.len() as u32 == room {
            return self.note(Seen::Dropped { link, packet: packet.ordinal });
        }
        wire.waiting.push_back(packet);
        let (waiting, busy) = (wire.waiting.len() as u32, wire.busy);
        self.note(Seen::Enqueued { link, packet: packet.ordinal, waiting });
        if !busy {
            self.start(link);
        }
    }
    fn start(&mut self, link: u32) {
        let wire = &mut self.wires[link as usize];
        let Some(packet) = wire.waiting.pop_front() else {
            wire.busy = false;
            return;
        };
        wire.busy = true;
        let rate = wire.spec.rate_bps.unwrap() as i128;
        let begin =
            if wire.free.div_euclid(rate) == self.now as i128 { wire.free } else { self.now as i128 * rate };
        wire.free = begin + (packet.len + wire.spec.framing_bytes) as i128 * 8_000_000_000;
        let end = wire.free.div_euclid(rate) as i64;
        let (arrives, waiting) = (end + wire.spec.delay.0, wire.waiting.len() as u32);
        self.note(Seen::Started { link, packet: packet.ordinal, waiting });
        self.schedule(arrives, What::Arrive(link, packet));
        self.schedule(end, What::Done(link));
    }
    fn run(&mut self, sends: &[(i64, u32, u32, u32)]) {
        while let Some(Reverse((at, _, what))) = self.heap.pop() {
            self.now = at;
            match what {
                What::Timer(ordinal) => {
                    let (_, from, to, len) = sends[ordinal as usize];
                    self.offer(from, Packet { ordinal, from, to, len });
                }
                What::Done(link) => self.start(link),
                What::Arrive(link, packet) => {
                    let here = self.wires[link as usize].end;
                    if here != packet.to {
                        self.offer(here, packet);
                        continue;
                    }
                    self.note(Seen::Arrived { packet: packet.ordinal });
                    if let Some(ordinal) = answer(packet.ordinal) {
                        self.offer(here, Packet { ordinal, from: here, to: packet.from, len: 2 });
                    }
                }
            }
        }
    }
}

fn by_naive(story: &Story) -> Vec<(i64, Seen)> {
    let wire = |spec: &LinkSpec, end: NodeId| Wire {
        spec: spec.clone(),
        end: end.0,
        busy: false,
        waiting: VecDeque::new(),
        free: -1,
    };
    let links = &story.topology.links;
    let wires =
        links.iter().flat_map(|l| [wire(&l.forward, l.between.1), wire(&l.back, l.between.0)]).collect();
    // Routes are tested on their own.
    let mut net: Net<u32> = Net::new(&story.topology, 1).unwrap();
    let nodes = story.topology.nodes;
    let mut way = |a: u32, b: u32| {
        net.route(NodeId(a), NodeId(b)).and_then(|r| r.first().map(|l| l.0)).unwrap_or(u32::MAX)
    };
    let ways = (0..nodes).map(|a| (0..nodes).map(|b| way(a, b)).collect()).collect();
    let mut naive = Naive { wires, heap: BinaryHeap::new(), order: 0, now: 0, seen: vec![], ways };
    for (n, send) in story.sends.iter().enumerate() {
        naive.schedule(send.0, What::Timer(n as u32));
    }
    naive.run(&story.sends);
    naive.seen
}

#[test]
fn the_same_events_in_the_same_order_as_with_one_heap() {
    let (mut drops, mut ties, mut events) = (0, 0, 0);
    for seed in 0..2000 {
        let story = story(seed);
        let (net, naive) = (by_net(&story), by_naive(&story));
        if let Some(n) = (0..net.len().max(naive.len())).find(|n| net.get(*n) != naive.get(*n)) {
            panic!("seed {seed}: event {n} is {:?}, should be {:?}", net.get(n), naive.get(n));
        }
        drops += net.iter().filter(|(_, s)| matches!(s, Seen::Dropped { .. })).count();
        ties += net.windows(2).filter(|w| w[0].0 == w[1].0).count();
        events += net.len();
    }
    // The stories must be such that it matters.
    assert!(drops * 20 > events && ties * 2 > events, "{drops} drops and {ties} ties in {events} events");
}
