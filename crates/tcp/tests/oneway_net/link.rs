//! One direction of a link: a drop-tail queue, a rate, a delay, and the packets on their way.

use std::collections::VecDeque;
use tcp::oneway::{Ack, Data};
use wire::time::Span;

#[derive(Clone, Copy, Debug)]
pub enum Packet {
    Data(Data),
    Ack(Ack),
}

impl Packet {
    pub fn number(&self) -> i64 {
        match self {
            Packet::Data(d) => d.number,
            Packet::Ack(a) => a.cumulative,
        }
    }
    fn bytes(&self) -> i64 {
        i64::from(match self {
            Packet::Data(d) => d.bytes,
            Packet::Ack(a) => a.bytes,
        })
    }
}

pub struct Link {
    bits_per_s: i64,
    pub delay: Span,
    limit: usize,
    /// Ordinals of packets to lose, and how many have come.
    drops: Vec<u64>,
    seen: u64,
    waiting: VecDeque<Packet>,
    busy: bool,
    up: bool,
    /// On their way, the one that is being sent included; only for the trace of a loss.
    flying: VecDeque<Packet>,
    /// Counts the times that the link went down: what left before never arrives.
    pub era: u32,
}

pub enum Enqueued {
    /// Lost by its ordinal, before the queue.
    Listed,
    /// The link is down.
    Down,
    Full,
    Waits,
    /// Nothing is ahead of it.
    First,
}

impl Link {
    pub fn new(bits_per_s: i64, delay: Span, limit: usize, drops: &[u64]) -> Link {
        Link {
            bits_per_s,
            delay,
            limit,
            drops: drops.to_vec(),
            seen: 0,
            waiting: VecDeque::new(),
            busy: false,
            up: true,
            flying: VecDeque::new(),
            era: 0,
        }
    }

    pub fn enqueue(&mut self, packet: Packet) -> Enqueued {
        if !self.up {
            return Enqueued::Down;
        }
        let ordinal = self.seen;
        self.seen += 1;
        if self.drops.contains(&ordinal) {
            return Enqueued::Listed;
        }
        if self.waiting.len() + 1 >= self.limit {
            return Enqueued::Full;
        }
        self.waiting.push_back(packet);
        if self.busy { Enqueued::Waits } else { Enqueued::First }
    }

    /// The next packet, and how long it takes to send.
    pub fn start(&mut self) -> Option<(Packet, Span)> {
        let packet = self.waiting.pop_front();
        self.busy = packet.is_some();
        let packet = packet?;
        self.flying.push_back(packet);
        let bits = packet.bytes() * 8;
        Some((packet, Span((bits * 1_000_000_000 + self.bits_per_s / 2) / self.bits_per_s)))
    }

    /// False for a packet that was on the link when it went down.
    pub fn take_arrival(&mut self, era: u32) -> bool {
        let alive = era == self.era;
        if alive {
            self.flying.pop_front();
        }
        alive
    }

    /// Everything on the link is lost; the sending of the current packet still takes its time.
    pub fn down(&mut self) -> Vec<Packet> {
        self.up = false;
        self.era += 1;
        self.waiting.drain(..).chain(self.flying.drain(..)).collect()
    }

    pub fn up(&mut self) {
        self.up = true;
    }
}
