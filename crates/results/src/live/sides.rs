//! The hosts' captures as the two sides of each connection: the host that sent more of its data is the sender.

use crate::pair::{Whole, see_anew};
use crate::run::Source;
use crate::simulate::At;
use crate::simulate::sides::{far, seen_at};
use crate::spool::Shelf;
use analysis::join::Side;
use analysis::rows::FlowRow;
use capture::{Info, Options, Progress, Reader};
use instant::{Span, Time};
use live::Plan;
use live::report::{Outcome, TCP, Taken};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use wire::{Endpoint, Host, Packet};

/// The sender's host of each connection, under both orders of its ends.
type Senders = HashMap<(Endpoint, Endpoint), Host>;

pub struct Sides {
    /// Each host's capture.
    captures: Vec<(Host, PathBuf)>,
    senders: Arc<Senders>,
    /// Where all connections have the same two hosts and the same sender: its place.
    plain: Option<usize>,
    /// How much later the tables say it was than captures do.
    later: Span,
}

fn host(address: u32) -> Host {
    Host::v4(address.to_be_bytes())
}

impl Sides {
    /// `origin`: what the tables say the time of the beginning is.
    pub fn new(plan: &Plan, outcome: &Outcome, origin: Time) -> Sides {
        let of = |t: &Taken| (host(u32::from(plan.address(t.node))), t.path.clone());
        let captures: Vec<(Host, PathBuf)> = outcome.captures.iter().map(of).collect();
        let mut senders = Senders::new();
        for passed in outcome.passed.iter().filter(|p| p.ends.protocol == TCP) {
            let end = |(address, port): (u32, u16)| Endpoint { host: host(address), port };
            let (client, server) = (end(passed.ends.client), end(passed.ends.server));
            let [up, down] = passed.ways.map(|w| w.payload_bytes);
            let sender = if down > up { server.host } else { client.host };
            senders.insert((client, server), sender);
            senders.insert((server, client), sender);
        }
        let place = |sender: Host| captures.iter().position(|(host, _)| *host == sender);
        let mut all: Vec<Option<usize>> = senders.values().map(|s| place(*s)).collect();
        all.sort_unstable();
        all.dedup();
        let plain = match all[..] {
            [Some(at)] if captures.len() == 2 => Some(at),
            _ => None,
        };
        Sides { captures, senders: Arc::new(senders), plain, later: origin - outcome.origin }
    }

    /// Puts right where the small direction of an exchange was seen, whose large one was seen at `at`.
    pub fn label(&self, shelf: &mut Shelf, at: At) -> std::io::Result<()> {
        let is_small = |row: &FlowRow| {
            self.senders.get(&(row.sender, row.receiver)).is_some_and(|sender| *sender != row.sender.host)
        };
        see_anew(shelf, |row| is_small(row).then(|| seen_at(far(at), row)))
    }

    /// When captures began and ended, and what was on its way then; `None` if they may lack anything, or if their clock
    /// was set meanwhile.
    pub fn whole(&self, outcome: &Outcome) -> Option<Whole> {
        let lacks = |t: &Taken| t.dropped > 0 || t.error.is_some();
        if outcome.captures.iter().any(lacks) || outcome.quality.clock_steps > 0 {
            return None;
        }
        let start = outcome.origin + self.later;
        let under_way = outcome.inside.iter().filter_map(|inside| {
            let packet = inside.segment?;
            let sender = self.senders.get(&(packet.tuple.src, packet.tuple.dst))?;
            let to = if packet.tuple.src.host == *sender { Side::Receiver } else { Side::Sender };
            Some((to, packet))
        });
        Some(Whole { start, end: start + Span(outcome.time.0), under_way: under_way.collect() })
    }

    pub fn open(&self, side: Side) -> Result<Opened, String> {
        let sender = side == Side::Sender;
        let read = |path: &PathBuf| {
            capture::open(std::slice::from_ref(path), &Options::default()).map_err(|e| e.to_string())
        };
        if let Some(at) = self.plain {
            let at = if sender { at } else { 1 - at };
            let from = From::One(Box::new(read(&self.captures[at].1)?));
            return Ok(Opened { from, later: self.later });
        }
        let part = |(host, path): &(Host, PathBuf)| {
            Ok::<_, String>(Part { reader: read(path)?, host: *host, batch: Vec::new(), next: 0 })
        };
        let parts = self.captures.iter().map(part).collect::<Result<Vec<Part>, String>>()?;
        let senders = Arc::clone(&self.senders);
        let from = From::Many(Box::new(Merged { parts, senders, sender, info: Info::default() }));
        Ok(Opened { from, later: self.later })
    }
}

/// One side of all connections.
pub struct Opened {
    from: From,
    later: Span,
}

enum From {
    One(Box<Reader>),
    Many(Box<Merged>),
}

impl Source for Opened {
    fn read_batch(&mut self, batch: &mut Vec<Packet>, most: usize) -> bool {
        let more = match &mut self.from {
            From::One(reader) => reader.read_batch(batch, most),
            From::Many(merged) => merged.read_batch(batch, most),
        };
        for packet in batch {
            packet.time += self.later;
        }
        more
    }
    fn info(&self) -> &Info {
        match &self.from {
            From::One(reader) => reader.info(),
            From::Many(merged) => &merged.info,
        }
    }
    fn progress(&self) -> Progress {
        match &self.from {
            From::One(reader) => reader.progress(),
            From::Many(merged) => merged.parts[0].reader.progress(),
        }
    }
}

/// One host's capture while it is merged with the others.
struct Part {
    reader: Reader,
    host: Host,
    batch: Vec<Packet>,
    next: usize,
}

impl Part {
    fn peek(&mut self) -> Option<&Packet> {
        if self.next >= self.batch.len() {
            self.next = 0;
            if !self.reader.read_batch(&mut self.batch, crate::run::BATCH) {
                self.batch.clear();
            }
        }
        self.batch.get(self.next)
    }
}

/// Several hosts' captures in order of time, of each connection those packets that its one end saw.
pub struct Merged {
    parts: Vec<Part>,
    senders: Arc<Senders>,
    sender: bool,
    info: Info,
}

impl Merged {
    fn read_batch(&mut self, batch: &mut Vec<Packet>, most: usize) -> bool {
        batch.clear();
        while batch.len() < most {
            let times = self.parts.iter_mut().enumerate().filter_map(|(k, p)| Some((p.peek()?.time, k)));
            let Some((_, first)) = times.min() else { break };
            let part = &mut self.parts[first];
            let packet = part.batch[part.next];
            part.next += 1;
            let sender = self.senders.get(&(packet.tuple.src, packet.tuple.dst));
            if sender.is_some_and(|host| (*host == part.host) == self.sender) {
                self.info.count(packet.time, packet.wire_len);
                batch.push(Packet { number: self.info.packets, ..packet });
            }
        }
        if batch.is_empty() {
            self.end();
        }
        !batch.is_empty()
    }

    /// What the files themselves were.
    fn end(&mut self) {
        if self.info.files.is_empty() {
            for part in &self.parts {
                let info = part.reader.info();
                self.info.files.extend(info.files.iter().cloned());
                self.info.warnings.extend(info.warnings.iter().cloned());
            }
        }
    }
}
