//! IPv4 identifications, as each host numbers its packets. They stand in captures only.

use instant::{Span, Time};
use links::random::Stream;
use net::NodeId;
use scenario::model::{IpId, Node, Numbering, Scenario};

/// Hosts that count each connection by itself need none of it.
#[derive(Debug)]
pub struct IpIds {
    hosts: Vec<Host>,
}

#[derive(Debug)]
struct Host {
    numbering: Numbering,
    next: u16,
    draws: Stream,
    /// When the next of the packets leaves that nobody sees.
    unseen: Time,
}

impl IpIds {
    pub fn new(scenario: &Scenario, seed: u64) -> IpIds {
        let is_usual = |numbering: Numbering| numbering.rule == IpId::PerConnection && !numbering.swapped;
        if scenario.nodes.iter().all(|node| is_usual(node.numbering)) {
            return IpIds { hosts: Vec::new() };
        }
        let host = |node: &Node| {
            let mut host = Host {
                numbering: node.numbering,
                next: 0,
                draws: Stream::new(seed, &node.name, "ip-id"),
                unseen: Time::ZERO,
            };
            host.next = host.draws.next_u64() as u16;
            host.await_unseen();
            host
        };
        IpIds { hosts: scenario.nodes.iter().map(host).collect() }
    }

    /// The number of a packet that leaves host `at`; `own` is the one that its connection counts up.
    pub fn number(&mut self, now: Time, at: NodeId, own: u16) -> u16 {
        self.hosts.get_mut(at.0 as usize).map_or(own, |host| host.number(now, own))
    }
}

impl Host {
    fn number(&mut self, now: Time, own: u16) -> u16 {
        let number = match self.numbering.rule {
            IpId::PerConnection => own,
            IpId::PerHost => self.count(now),
            IpId::Random => self.draws.next_u64() as u16,
            IpId::Zero => 0,
        };
        if self.numbering.swapped { number.swap_bytes() } else { number }
    }

    fn count(&mut self, now: Time) -> u16 {
        while self.unseen <= now {
            self.next = self.next.wrapping_add(1);
            self.await_unseen();
        }
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        number
    }

    fn await_unseen(&mut self) {
        self.unseen = match self.numbering.unseen_per_s {
            0 => Time::FAR_FUTURE,
            rate => self.unseen + self.draws.exponential_span(Span(1_000_000_000 / rate as i64)),
        };
    }
}
