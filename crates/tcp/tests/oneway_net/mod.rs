//! A path of two links for the one-way agents, FH - BS - MH, as the ns-2.35 reference scripts lay it: drop-tail
//! queues, packets lost by their ordinal, and a radio link that goes down with everything on it.
//!
//! Events at the same time happen in the order in which they were scheduled, as ns-2's do.

mod cases;
mod link;
mod random;
mod reference;

pub use cases::{listed, stack, variant_named};
pub use reference::{matches_events, matches_outage, matches_state, read};

use link::{Enqueued, Link, Packet};
use random::Mrg32k3a;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tcp::oneway::{Sender, Sink, View};
use tcp::stack::{OneWay, OneWayVariant};
use wire::time::{Span, Time};

/// The four one-way links, in the order in which packets meet them.
pub const FH_BS: usize = 0;
pub const BS_MH: usize = 1;
pub const MH_BS: usize = 2;
pub const BS_FH: usize = 3;

/// One run: a stack, a path, what goes wrong on it, and what the application writes.
#[derive(Clone, Debug)]
pub struct Case {
    pub stack: OneWay,
    /// Ordinals, counted from 0, of data packets lost before FH - BS, and of ACKs lost before MH - BS.
    pub drops: Vec<u64>,
    pub ack_drops: Vec<u64>,
    /// As ns-2 counts it: with the packet that is being sent.
    pub queue_packets: usize,
    /// BS - MH is down from the first to the second of each pair, seconds.
    pub outages: Vec<(f64, f64)>,
    /// Seconds and packets; `u64::MAX` never ends.
    pub writes: Vec<(f64, u64)>,
    pub end_s: f64,
    /// Of the generator that `overhead` draws from, after the agent was made.
    pub seed: i64,
}

impl Case {
    pub fn new(stack: OneWay) -> Case {
        Case {
            stack,
            drops: vec![],
            ack_drops: vec![],
            queue_packets: 50,
            outages: vec![],
            writes: vec![(0.0, u64::MAX)],
            end_s: 12.0,
            seed: 2,
        }
    }
}

/// What happened to a packet, and on which link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Enqueue,
    Start,
    Arrive,
    Drop,
    /// Lost at the door of a link that is down; ns-2 leaves no trace of these.
    DropUnseen,
}

#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub at: Time,
    pub what: What,
    pub link: usize,
    pub number: i64,
}

/// The sender's state when it changed.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub at: Time,
    pub view: View,
}

enum Event {
    Arrive { link: usize, era: u32, packet: Packet },
    Free { link: usize },
    SenderTimer,
    SinkTimer,
    LinkDown,
    LinkUp,
    Write { packets: u64 },
}

pub struct Net {
    links: [Link; 4],
    sender: Sender,
    sink: Sink,
    events: BinaryHeap<Reverse<(Time, u64, usize)>>,
    bodies: Vec<Option<Event>>,
    sender_timer: Option<Time>,
    sink_timer: Option<Time>,
    pub lines: Vec<Line>,
    pub states: Vec<State>,
}

impl Net {
    pub fn run(case: &Case) -> Net {
        let mut net = Net::new(case);
        let end = Time::ZERO + Span::from_secs_f64(case.end_s);
        while let Some(Reverse((now, _, at))) = net.events.pop() {
            if now >= end {
                break;
            }
            if let Some(event) = net.bodies[at].take() {
                net.happen(now, event);
            }
        }
        net
    }

    fn new(case: &Case) -> Net {
        let near = |drops: &[u64]| Link::new(1_500_000, Span::from_millis(10), case.queue_packets, drops);
        let radio = |drops: &[u64]| Link::new(800_000, Span::from_millis(100), case.queue_packets, drops);
        let mut sender = Sender::new(&case.stack);
        let mut random = Mrg32k3a::new(case.seed);
        let made = if case.stack.variant == OneWayVariant::Vegas { 3 } else { 2 };
        (0..made).for_each(|_| _ = random.draw());
        sender.set_uniform(move || random.draw());
        let mut net = Net {
            links: [near(&case.drops), radio(&[]), radio(&case.ack_drops), near(&[])],
            states: vec![State { at: Time::ZERO, view: sender.view() }],
            sender,
            sink: Sink::new(&case.stack),
            events: BinaryHeap::new(),
            bodies: Vec::new(),
            sender_timer: None,
            sink_timer: None,
            lines: Vec::new(),
        };
        let time = |s: f64| Time::ZERO + Span::from_secs_f64(s);
        for &(down, up) in &case.outages {
            net.schedule(time(down), Event::LinkDown);
            net.schedule(time(up), Event::LinkUp);
        }
        for &(at, packets) in &case.writes {
            net.schedule(time(at), Event::Write { packets });
        }
        net
    }

    fn schedule(&mut self, at: Time, event: Event) {
        let order = self.bodies.len();
        self.bodies.push(Some(event));
        self.events.push(Reverse((at, order as u64, order)));
    }

    fn happen(&mut self, now: Time, event: Event) {
        match event {
            Event::Arrive { link, era, packet } => {
                if self.links[link].take_arrival(era) {
                    self.arrive(now, link, packet);
                }
            }
            Event::Free { link } => self.send_on(now, link),
            Event::SenderTimer => {
                if self.sender_timer == Some(now) {
                    self.sender_timer = None;
                    self.sender.wake(now);
                    self.after_sender(now);
                }
            }
            Event::SinkTimer => {
                if self.sink_timer == Some(now) {
                    self.sink_timer = None;
                    let ack = self.sink.wake(now);
                    self.after_sink(now, ack);
                }
            }
            Event::LinkDown => [BS_MH, MH_BS].into_iter().for_each(|link| self.down(now, link)),
            Event::LinkUp => [BS_MH, MH_BS].into_iter().for_each(|link| self.links[link].up()),
            Event::Write { packets } => {
                self.sender.write(now, packets);
                self.after_sender(now);
            }
        }
    }

    fn arrive(&mut self, now: Time, link: usize, packet: Packet) {
        self.line(now, What::Arrive, link, packet);
        match (link, packet) {
            (FH_BS, p) => self.enqueue(now, BS_MH, p),
            (MH_BS, p) => self.enqueue(now, BS_FH, p),
            (_, Packet::Data(data)) => {
                let ack = self.sink.receive(now, &data);
                self.after_sink(now, ack);
            }
            (_, Packet::Ack(ack)) => {
                self.sender.receive(now, &ack);
                self.after_sender(now);
            }
        }
    }

    fn after_sink(&mut self, now: Time, ack: Option<tcp::oneway::Ack>) {
        if let Some(ack) = ack {
            self.enqueue(now, MH_BS, Packet::Ack(ack));
        }
        if self.sink.next_wakeup() != self.sink_timer {
            self.sink_timer = self.sink.next_wakeup();
            self.sink_timer.into_iter().for_each(|at| self.schedule(at, Event::SinkTimer));
        }
    }

    fn after_sender(&mut self, now: Time) {
        while let Some(sent) = self.sender.transmit(now) {
            self.enqueue(now, FH_BS, Packet::Data(sent.data));
        }
        if self.sender.next_wakeup() != self.sender_timer {
            self.sender_timer = self.sender.next_wakeup();
            self.sender_timer.into_iter().for_each(|at| self.schedule(at, Event::SenderTimer));
        }
        self.states.push(State { at: now, view: self.sender.view() });
    }

    fn enqueue(&mut self, now: Time, link: usize, packet: Packet) {
        match self.links[link].enqueue(packet) {
            Enqueued::Listed => self.line(now, What::Drop, link, packet),
            Enqueued::Down => self.line(now, What::DropUnseen, link, packet),
            Enqueued::Full => {
                self.line(now, What::Enqueue, link, packet);
                self.line(now, What::Drop, link, packet);
            }
            Enqueued::Waits => self.line(now, What::Enqueue, link, packet),
            Enqueued::First => {
                self.line(now, What::Enqueue, link, packet);
                self.send_on(now, link);
            }
        }
    }

    /// The link is free for the next packet.
    fn send_on(&mut self, now: Time, link: usize) {
        let Some((packet, takes)) = self.links[link].start() else { return };
        self.line(now, What::Start, link, packet);
        let (delay, era) = (self.links[link].delay, self.links[link].era);
        self.schedule(now + takes + delay, Event::Arrive { link, era, packet });
        self.schedule(now + takes, Event::Free { link });
    }

    fn down(&mut self, now: Time, link: usize) {
        for packet in self.links[link].down() {
            self.line(now, What::Drop, link, packet);
        }
    }

    fn line(&mut self, at: Time, what: What, link: usize, packet: Packet) {
        self.lines.push(Line { at, what, link, number: packet.number() });
    }
}
