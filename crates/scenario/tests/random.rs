//! Scenarios drawn at random as data: written as TOML they read back the same.

use instant::{Span, Time};
use links::channel::{bit_error, delay_step, duplicate, jitter, list, mtu, policer, random, reorder};
use links::queue::{codel, droptail, fq_codel, red};
use links::spec::*;
use scenario::model::*;
use scenario::reader::{Reader, pauses, rate, stops};
use scenario::{load_stack, parse, to_toml};
use std::path::Path;

/// xorshift64*: the seed of a failure is in its message.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// From a microsecond to some minutes, of every magnitude.
    fn span(&mut self) -> Span {
        let magnitude = 10u64.pow(3 + self.below(8) as u32);
        Span((1 + self.below(99)) as i64 * magnitude as i64)
    }
    fn maybe<T>(&mut self, value: T) -> Option<T> {
        self.flag().then_some(value)
    }
}

fn limit(d: &mut Draws) -> Limit {
    if d.flag() { Limit::Packets(1 + d.below(1 << 31) as u32) } else { Limit::Bytes(1 + d.below(1 << 40)) }
}

fn queue(d: &mut Draws) -> QueueSpec {
    let limit = limit(d);
    let (target, interval, ecn) = (d.span(), d.span(), d.flag());
    match d.below(4) {
        0 => QueueSpec::DropTail(droptail::Params { limit }),
        1 => {
            let min_threshold = 1.0 + d.unit() * 100.0;
            QueueSpec::Red(red::Params {
                limit,
                min_threshold,
                max_threshold: min_threshold * 3.0,
                max_probability: d.unit(),
                weight: d.unit().max(1e-9),
                gentle: d.flag(),
                ecn,
            })
        }
        2 => QueueSpec::CoDel(codel::Params { limit, target, interval, ecn }),
        _ => {
            let (flows, quantum_bytes) = (1 + d.below(65_536) as u32, 1 + d.below(100_000) as u32);
            QueueSpec::FqCoDel(fq_codel::Params { limit, target, interval, flows, quantum_bytes, ecn })
        }
    }
}

fn schedule(d: &mut Draws) -> Schedule {
    match d.below(3) {
        0 => {
            let length = d.span();
            Schedule::Periodic { every: length + d.span(), length, phase: d.span() }
        }
        1 => Schedule::Exponential { up_mean: d.span(), down_mean: d.span() },
        _ => {
            let mut at = Time::ZERO;
            let mut list = Vec::new();
            for _ in 0..=d.below(3) {
                at += d.span();
                let length = d.span();
                list.push((at, length));
                at += length;
            }
            Schedule::Intervals(list)
        }
    }
}

fn kind(d: &mut Draws, delay: Span) -> ChannelKind {
    match d.below(11) {
        0 => ChannelKind::Outage(Outage {
            schedule: schedule(d),
            anchor: if d.flag() { Anchor::Start } else { Anchor::FirstSyn },
            hold: d.flag(),
            flush: [Flush::Nothing, Flush::Queue, Flush::Flight][d.below(3) as usize],
        }),
        1 => {
            let dwell = match d.below(3) {
                0 => Dwell::Packets { good_to_bad: d.unit(), bad_to_good: d.unit().max(1e-6) },
                1 => Dwell::PacketLengths { good_mean: 1.0 + d.unit() * 1e3, bad_mean: 0.01 + d.unit() },
                _ => Dwell::Time { good_mean: d.span(), bad_mean: d.span() },
            };
            let loss_good = d.unit() / 2.0;
            ChannelKind::GilbertElliott(GilbertElliott {
                dwell,
                loss_good,
                loss_bad: loss_good + d.unit() / 2.0,
            })
        }
        2 => ChannelKind::BitError(bit_error::Params {
            per: [PerUnit::Bit, PerUnit::Byte, PerUnit::Packet][d.below(3) as usize],
            rate: d.unit(),
        }),
        3 => ChannelKind::Random(random::Params { loss: d.unit() }),
        4 => ChannelKind::List(list::Params { ordinals: (0..4).map(|k| k * 1000 + d.below(1000)).collect() }),
        5 => ChannelKind::DelayStep(delay_step::Params {
            steps: vec![(Time(d.span().0), -delay), (Time(1 << 42), d.span())],
            reorders: d.flag(),
        }),
        6 => ChannelKind::Reorder(reorder::Params { probability: d.unit(), by: d.span() }),
        7 => {
            ChannelKind::Duplicate(duplicate::Params { probability: d.unit(), copies: 1 + d.below(9) as u32 })
        }
        8 => ChannelKind::Policer(policer::Params {
            rate_bps: 1 + d.below(1 << 40),
            burst_bytes: 1 + d.below(1 << 30),
        }),
        9 => ChannelKind::Mtu(mtu::Params { most_bytes: 1 + d.below(1 << 30) as u32 }),
        _ => {
            let spread = match d.below(3) {
                0 => Spread::Uniform { mean: d.span() },
                1 => Spread::Exponential { mean: d.span() },
                _ => Spread::Normal { mean: d.span(), deviation: d.span() },
            };
            ChannelKind::Jitter(jitter::Params { spread, reorders: d.flag() })
        }
    }
}

/// Both directions of a link: channels that both have, and some of each one's own.
fn link(d: &mut Draws, name: String, between: (usize, usize)) -> Link {
    let rate = 1 + d.below(1 << 40);
    let forward = LinkSpec {
        rate_bps: d.maybe(rate),
        delay: d.span(),
        framing_bytes: d.below(100) as u32,
        queue: queue(d),
        channels: Vec::new(),
        arq: d.flag().then(|| ArqSpec {
            tries: 1 + d.below(9) as u32,
            overhead: d.span(),
            backoff: d.span(),
        }),
    };
    let mut back = forward.clone();
    if d.flag() {
        let rate = 1 + d.below(1 << 30);
        back = LinkSpec { rate_bps: d.maybe(rate), delay: d.span(), queue: queue(d), arq: None, ..back };
    }
    let mut link = Link { name, between, forward, back };
    for k in 0..d.below(6) {
        let which = d.below(3);
        let delay = if which == 1 { link.back.delay } else { link.forward.delay.min(link.back.delay) };
        let kind = kind(d, delay);
        // Only at the wire can a step take from the propagation.
        let at = match kind {
            ChannelKind::DelayStep(_) => Place::Wire,
            _ => [Place::Ingress, Place::Wire, Place::Egress][d.below(3) as usize],
        };
        let only = [Only::All, Only::Data, Only::Acks][d.below(3) as usize];
        let channel = ChannelSpec { name: format!("c{k}"), at, only, flows: Vec::new(), kind };
        if which != 1 {
            link.forward.channels.push(channel.clone());
        }
        if which != 0 {
            link.back.channels.push(channel);
        }
    }
    link
}

fn distribution(d: &mut Draws) -> Distribution {
    match d.below(3) {
        0 => Distribution::Constant(d.span()),
        1 => Distribution::Exponential { mean: d.span() },
        _ => Distribution::Pareto { mean: d.span(), shape: 1.01 + d.unit() },
    }
}

fn workload(d: &mut Draws, transport: Transport) -> Workload {
    let rate_bps = 1 + d.below(1 << 40);
    let bytes = 1 + d.below(1 << 40);
    let (tcp, message_bytes) = match transport {
        Transport::Tcp { .. } => (true, bytes),
        Transport::Datagram { packet_bytes } => (false, packet_bytes.into()),
    };
    match d.below(if tcp { 5 } else { 3 }) {
        0 => Workload::File { bytes },
        1 => Workload::ConstantRate { rate_bps, message_bytes },
        2 => {
            // One law for both, as the file says one.
            let (on, off) = match distribution(d) {
                Distribution::Constant(on) => (Distribution::Constant(on), Distribution::Constant(d.span())),
                Distribution::Exponential { mean } => {
                    (Distribution::Exponential { mean }, Distribution::Exponential { mean: d.span() })
                }
                Distribution::Pareto { mean, shape } => {
                    (Distribution::Pareto { mean, shape }, Distribution::Pareto { mean: d.span(), shape })
                }
            };
            Workload::OnOff { on, off, rate_bps, message_bytes }
        }
        3 => Workload::Endless,
        _ => {
            let (think, count) = (distribution(d), 1 + d.below(100));
            Workload::RequestResponse {
                request_bytes: 100,
                response_bytes: bytes,
                think,
                count: d.maybe(count),
            }
        }
    }
}

fn reader(d: &mut Draws) -> Reader {
    match d.below(4) {
        0 => Reader::Rate(rate::Params { rate_bps: 1 + d.below(1 << 40), piece_bytes: 1 + d.below(1 << 30) }),
        1 => Reader::Pauses(pauses::Params { every: d.span() }),
        2 => {
            let length = d.span();
            Reader::Stops(stops::Params { after: d.span(), length: d.maybe(length) })
        }
        _ => Reader::default(),
    }
}

fn flow(d: &mut Draws, k: usize, nodes: usize) -> Flow {
    let transport = if d.flag() {
        Transport::Tcp { stack: 0, receiver: d.below(2) as usize }
    } else {
        Transport::Datagram { packet_bytes: 1 + d.below(65_535) as u32 }
    };
    let at = Time(d.below(1 << 40) as i64);
    let spread = match d.below(3) {
        0 => StartSpread::Together,
        1 => StartSpread::Spaced { by: d.span() },
        _ => StartSpread::Random { within: d.span() },
    };
    let stop = at + d.span();
    let tcp = matches!(transport, Transport::Tcp { .. });
    Flow {
        name: format!("f{k}"),
        from: 0,
        to: nodes - 1,
        count: 1 + d.below(1000) as u32,
        start: Start { at, spread },
        stop: d.maybe(stop),
        transport,
        workload: workload(d, transport),
        readers: if tcp { [reader(d), reader(d)] } else { Default::default() },
    }
}

fn node(d: &mut Draws, n: usize) -> Node {
    let rules = [IpId::PerConnection, IpId::PerHost, IpId::Random, IpId::Zero];
    Node {
        name: format!("n.{n}"),
        input: if d.flag() { Input::InTurn } else { Input::AtOnce },
        numbering: Numbering {
            rule: rules[d.below(4) as usize],
            swapped: d.flag(),
            unseen_per_s: d.below(3) * 50,
        },
    }
}

fn live(d: &mut Draws, nodes: usize) -> Live {
    let some = |d: &mut Draws| match d.flag() {
        true => vec![("net.ipv4.tcp_rmem".to_owned(), "4096 131072 6291456".to_owned())],
        false => Vec::new(),
    };
    Live {
        sysctls: some(d),
        hosts: if d.flag() { vec![(nodes - 1, some(d))] } else { Vec::new() },
        real_time: d.flag(),
    }
}

/// Some channels look at some flows: not those that empty a whole link.
fn name_flows(d: &mut Draws, link: &mut Link, flows: &[Flow]) {
    let mut named = std::collections::BTreeMap::new();
    for channel in link.forward.channels.iter_mut().chain(&mut link.back.channels) {
        let empties = matches!(&channel.kind, ChannelKind::Outage(outage) if outage.flush != Flush::Nothing);
        let first = d.below(flows.len() as u64) as usize;
        let chosen = named.entry(channel.name.clone()).or_insert_with(|| {
            let before: u32 = flows[..first].iter().map(|flow| flow.count).sum();
            let range = before * 2..(before + flows[first].count) * 2;
            if empties || d.flag() { Vec::new() } else { vec![range] }
        });
        channel.flows = chosen.clone();
    }
}

fn draw(seed: u64) -> Scenario {
    let d = &mut Draws(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let nodes = 2 + d.below(4) as usize;
    let mut links: Vec<Link> = (1..nodes).map(|n| link(d, format!("l{n}"), (n - 1, n))).collect();
    let stacks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stacks");
    let stack = |name: &str| load_stack(&stacks.join(name)).unwrap_or_else(|e| panic!("{e}"));
    let mut flows: Vec<Flow> = (0..4).map(|k| flow(d, k, nodes)).collect();
    // Both stacks are used, in this order.
    flows[0].transport = Transport::Tcp { stack: 0, receiver: 1 };
    flows[0].workload = Workload::Endless;
    links.iter_mut().for_each(|link| name_flows(d, link, &flows));
    let commands = match d.flag() {
        true => vec![Command {
            server: d.maybe(0).map(|_| "serve \"{server}\"".to_owned()),
            client: "a | b".to_owned(),
        }],
        false => Vec::new(),
    };
    if !commands.is_empty() {
        flows[1].transport = Transport::Tcp { stack: 1, receiver: 1 };
        flows[1].workload = Workload::Command { command: 0 };
        flows[1].readers = Default::default();
    }
    Scenario {
        name: format!("s{seed}"),
        about: "quotes \" and \\ and\nlines, é and \u{1}".to_owned(),
        source: (0..seed % 3).map(|k| format!("Fig. {k} of \"it\"")).collect(),
        duration: Some(Span::from_secs(3600)),
        seed,
        nodes: (0..nodes).map(|n| node(d, n)).collect(),
        links,
        flows,
        record: Record {
            capture: vec![0, nodes - 1],
            snap_bytes: d.maybe(96),
            state: vec![1],
            queues: vec![0],
            drops: d.flag(),
            retransmissions: d.flag(),
            packets: d.flag(),
            applications: d.flag(),
            blocked: d.flag(),
            held: d.flag(),
        },
        live: live(d, nodes),
        commands,
        stacks: vec![stack("linux-2.6-reno.toml"), stack("osx-10.7.toml")],
    }
}

#[test]
fn any_scenario_reads_back_the_same() {
    let no_files = |_: &Path, _: scenario::file::Form| Err("there is no such file".to_owned());
    for seed in 0..2000 {
        let drawn = draw(seed);
        let text = to_toml(&drawn);
        let read = parse(&text, "drawn.toml", Path::new(""), &[], &no_files);
        let read = read.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(read, drawn, "seed {seed}\n{text}");
    }
}
