//! What a packet costs at a link: `cargo run --release -p rexmit-net --example traversal [PART OF A NAME]`.
//!
//! Hosts are as cheap as can be: each data packet that arrives is answered by an ACK, each ACK by a data packet, and
//! each resets its host's timer, so that what is measured is the net. Time is this process's on a CPU, as Linux counts it.

use instant::{Span, Time};
use links::channel::random;
use links::queue::droptail;
use links::spec::*;
use links::watch::Unwatched;
use links::{Class, Facts, LinkId};
use net::{Duplex, Event, Net, NodeId, TimerId, Topology};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// As large as what the simulator carries.
#[derive(Clone, Copy)]
struct Packet {
    ordinal: u64,
    _rest: [u64; 13],
}

fn packet(ordinal: u64) -> Packet {
    Packet { ordinal, _rest: [ordinal; 13] }
}

fn link(rate_bps: u64, delay: Span, packets: u32, channels: Vec<ChannelSpec>) -> LinkSpec {
    let queue = QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(packets) });
    LinkSpec { rate_bps: Some(rate_bps), delay, framing_bytes: 0, queue, channels, arq: None }
}

fn pair(name: String, a: u32, b: u32, spec: LinkSpec) -> Duplex {
    Duplex { name, between: (NodeId(a), NodeId(b)), forward: spec.clone(), back: spec }
}

fn cpu_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(f64::NAN)
}

struct Run {
    net: Net<Packet>,
    /// (sender, receiver)
    flows: Vec<(NodeId, NodeId)>,
    window: u32,
}

/// Facts of a data packet and of its ACK.
fn facts(flow: u32, class: Class) -> Facts {
    let len = if class == Class::Data { 1500 } else { 40 };
    Facts { len, flow, class, ..Facts::default() }
}

impl Run {
    /// Until so many data packets have arrived. Lost ones are replaced, so that the window stays.
    fn go(mut self, name: &str, data_packets: u64) {
        let begin = cpu_ns();
        for (flow, (from, to)) in self.flows.clone().into_iter().enumerate() {
            for k in 0..self.window as u64 {
                self.net.send(
                    Time::ZERO,
                    from,
                    to,
                    facts(flow as u32, Class::Data),
                    packet(k),
                    &mut Unwatched,
                );
            }
        }
        let (mut data, mut check) = (0, 0u64);
        while data < data_packets {
            let Some((now, event)) = self.net.step(&mut Unwatched) else { break };
            match event {
                Event::Arrived { at, from, facts: f, packet: p } => {
                    let class = if f.class == Class::Data { Class::Ack } else { Class::Data };
                    data += (f.class == Class::Data) as u64;
                    check = check.wrapping_add(p.ordinal);
                    self.net.send(now, at, from, facts(f.flow, class), packet(p.ordinal + 1), &mut Unwatched);
                    self.net.set_timer(TimerId(at.0), Some(now + Span::from_millis(200)));
                }
                Event::Timer(TimerId(host)) => {
                    // All of a flow is lost: begin anew.
                    let flow = self.flows.iter().position(|(from, _)| from.0 == host);
                    let Some(flow) = flow else { continue };
                    let (from, to) = self.flows[flow];
                    self.net.send(now, from, to, facts(flow as u32, Class::Data), packet(0), &mut Unwatched);
                }
            }
        }
        let ns = cpu_ns() - begin;
        let crossings: u64 =
            (0..self.net.links()).map(|l| self.net.counters(LinkId(l as u32)).delivered).sum();
        let inside = self.net.inside();
        println!(
            "{name:<46} {:6.1} ns a data packet and its ACK, {:5.1} ns a link, {inside} inside ({check:x})",
            ns / data as f64,
            ns / crossings as f64
        );
    }
}

fn one_pair(channels: Vec<ChannelSpec>) -> Run {
    let spec = link(1_000_000_000, Span::from_millis(10), 1000, channels);
    let topology = Topology { nodes: 2, links: vec![pair("link".into(), 0, 1, spec)] };
    Run { net: build(&topology), flows: vec![(NodeId(0), NodeId(1))], window: 1800 }
}

/// As many link pairs as flows, each alone.
fn many_pairs(n: u32) -> Run {
    let spec = link(10_000_000, Span::from_millis(10), 100, vec![]);
    let links = (0..n).map(|k| pair(format!("link{k}"), 2 * k, 2 * k + 1, spec.clone())).collect();
    let net = build(&Topology { nodes: 2 * n, links });
    Run { net, flows: (0..n).map(|k| (NodeId(2 * k), NodeId(2 * k + 1))).collect(), window: 10 }
}

/// Hosts on both sides of one bottleneck: three links a way.
fn dumbbell(n: u32, window: u32) -> Run {
    let access = link(1_000_000_000, Span::from_millis(1), 1000, vec![]);
    let mut links =
        vec![pair("bottleneck".into(), 0, 1, link(1_000_000_000, Span::from_millis(10), 1000, vec![]))];
    for k in 0..n {
        links.push(pair(format!("left{k}"), 2 + 2 * k, 0, access.clone()));
        links.push(pair(format!("right{k}"), 1, 3 + 2 * k, access.clone()));
    }
    let net = build(&Topology { nodes: 2 + 2 * n, links });
    Run { net, flows: (0..n).map(|k| (NodeId(2 + 2 * k), NodeId(3 + 2 * k))).collect(), window }
}

fn build(topology: &Topology) -> Net<Packet> {
    Net::new(topology, 1).unwrap_or_else(|e| panic!("{e}"))
}

fn channel(name: &str, kind: ChannelKind) -> ChannelSpec {
    ChannelSpec { name: name.into(), at: Place::Wire, only: Only::All, flows: vec![], kind }
}

/// The yardstick: one binary heap that holds every packet, two events a packet and a link, and nothing else. What
/// the machine gives today is told by it.
fn one_heap(packets: u64) {
    let mut heap = BinaryHeap::new();
    for n in 0..1800u64 {
        heap.push(Reverse((n * 12_000, n, packet(n).stamp())));
    }
    let begin = cpu_ns();
    let mut check = 0u64;
    for n in 0..2 * packets {
        let Some(Reverse((at, _, p))) = heap.pop() else { break };
        check = check.wrapping_add(p.0[0]);
        // End of transmission and arrival in turn, about an RTT and about a packet ahead.
        let ahead = if n % 2 == 0 { 12_000 } else { 21_000_000 + (check & 1023) };
        heap.push(Reverse((at + ahead, n + 1800, p)));
    }
    let ns = (cpu_ns() - begin) / packets as f64;
    println!("{:<46} {ns:6.1} ns a packet ({check:x})", "yardstick: one heap of 1800 packets");
}

/// What lies in the yardstick's heap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp([u64; 14]);

impl Packet {
    fn stamp(&self) -> Stamp {
        Stamp([self.ordinal; 14])
    }
}

fn main() {
    let n = 2_000_000;
    let dwell = Dwell::Packets { good_to_bad: 0.0001, bad_to_good: 0.01 };
    let ge = ChannelKind::GilbertElliott(GilbertElliott { dwell, loss_good: 0.0, loss_bad: 0.0 });
    let only = std::env::args().nth(1).unwrap_or_default();
    let go = |name: &str, run: &dyn Fn() -> Run, data_packets| {
        if name.contains(&only) {
            run().go(name, data_packets);
        }
    };
    let random = channel("loss", ChannelKind::Random(random::Params { loss: 0.0 }));
    let ge = channel("ge", ge);
    if "yardstick".contains(&only) {
        one_heap(n);
    }
    go("one pair, 1800 in flight", &|| one_pair(vec![]), n);
    go("one pair with a random channel", &|| one_pair(vec![random.clone()]), n);
    go("one pair with Gilbert-Elliott", &|| one_pair(vec![ge.clone()]), n);
    go("100 pairs, each alone", &|| many_pairs(100), n);
    go("10,000 pairs, each alone", &|| many_pairs(10_000), n);
    go("dumbbell of 100 flows (6 links)", &|| dumbbell(100, 25), n / 2);
    go("dumbbell of 10,000 flows (6 links)", &|| dumbbell(10_000, 1), n / 2);
}
