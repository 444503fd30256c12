//! One link pair between two nodes, and what comes out of it.
#![allow(dead_code)]

use instant::{Span, Time};
use links::queue::droptail;
use links::spec::*;
use links::watch::{Backlog, Watch};
use links::{Cause, Class, Facts};
use net::{Duplex, Event, LinkId, Net, NodeId, Topology};

pub const NEAR: NodeId = NodeId(0);
pub const FAR: NodeId = NodeId(1);
pub const THERE: LinkId = LinkId::forward(0);

pub fn ms(ms: i64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// 1000 bytes take 1 ms; 10 ms on the way; room for 100.
pub fn megabyte_link() -> LinkSpec {
    LinkSpec {
        rate_bps: Some(8_000_000),
        delay: Span::from_millis(10),
        framing_bytes: 0,
        queue: QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(100) }),
        channels: vec![],
        arq: None,
    }
}

pub fn channel(name: &str, at: Place, kind: ChannelKind) -> ChannelSpec {
    ChannelSpec { name: name.into(), at, only: Only::All, flows: vec![], kind }
}

pub fn with(channels: Vec<ChannelSpec>) -> LinkSpec {
    LinkSpec { channels, ..megabyte_link() }
}

pub fn pair(spec: LinkSpec) -> Topology {
    let duplex = Duplex { name: "link".into(), between: (NEAR, FAR), forward: spec.clone(), back: spec };
    Topology { nodes: 2, links: vec![duplex] }
}

pub fn data(len: u32, flow: u32) -> Facts {
    Facts { len, flow, class: Class::Data, ..Facts::default() }
}

/// Everything that a watcher hears, in order.
#[derive(Default, Debug, PartialEq)]
pub struct Log {
    pub arrived: Vec<(Time, u32)>,
    pub dropped: Vec<(Time, u32, Cause)>,
    pub marked: Vec<u32>,
    pub waited: Vec<Span>,
    pub copied: u32,
    pub last: Time,
}

impl Log {
    fn at(&mut self, now: Time) {
        assert!(now >= self.last, "told of {now} after {}", self.last);
        self.last = now;
    }
    pub fn ordinals(&self) -> Vec<u32> {
        self.arrived.iter().map(|(_, n)| *n).collect()
    }
    pub fn lost(&self) -> Vec<u32> {
        self.dropped.iter().map(|(_, n, _)| *n).collect()
    }
    /// Arrivals as (whole ms, ordinal).
    pub fn in_ms(&self) -> Vec<(i64, u32)> {
        self.arrived.iter().map(|(t, n)| (t.0.div_euclid(1_000_000), *n)).collect()
    }
}

impl Watch<u32> for Log {
    fn enqueued(&mut self, _: LinkId, now: Time, _: &Facts, _: &u32, backlog: Backlog) {
        self.at(now);
        assert!(backlog.packets > 0);
    }
    fn dequeued(&mut self, _: LinkId, now: Time, _: &Facts, _: &u32, waited: Span, _: Backlog) {
        self.at(now);
        assert!(waited >= Span::ZERO);
        self.waited.push(waited);
    }
    fn dropped(&mut self, _: LinkId, now: Time, _: &Facts, packet: &u32, cause: Cause) {
        self.at(now);
        self.dropped.push((now, *packet, cause));
    }
    fn marked(&mut self, _: LinkId, now: Time, _: &Facts, packet: &u32) {
        self.at(now);
        self.marked.push(*packet);
    }
    fn copied(&mut self, _: LinkId, now: Time, _: &Facts, _: &u32) {
        self.at(now);
        self.copied += 1;
    }
    fn delivered(&mut self, _: LinkId, now: Time, _: &Facts, _: &u32) {
        self.at(now);
    }
}

/// Sends packets of 1000 bytes at these times, to the far end, and runs until nothing is left.
pub fn send_at(topology: &Topology, times: &[Time]) -> Log {
    let packets: Vec<(Time, Facts)> = times.iter().map(|t| (*t, data(1000, 0))).collect();
    send(topology, &packets, 1)
}

pub fn send(topology: &Topology, packets: &[(Time, Facts)], seed: u64) -> Log {
    let mut net = Net::new(topology, seed).unwrap_or_else(|e| panic!("{e}"));
    let mut log = Log::default();
    for (n, (time, facts)) in packets.iter().enumerate() {
        run(&mut net, *time, &mut log);
        net.send(*time, NEAR, FAR, *facts, n as u32, &mut log);
    }
    run(&mut net, Time::FAR_FUTURE, &mut log);
    assert_eq!(net.next(), None);
    assert_eq!(net.inside(), 0);
    let c = net.counters(THERE);
    assert_eq!(c.offered + c.copies, c.delivered + c.dropped());
    assert_eq!((c.delivered, c.dropped()), (log.arrived.len() as u64, log.dropped.len() as u64));
    log
}

fn run(net: &mut Net<u32>, until: Time, log: &mut Log) {
    while let Some((now, event)) = net.step_until(until, log) {
        let Event::Arrived { packet, .. } = event else { panic!("no timer was set") };
        log.arrived.push((now, packet));
    }
}
