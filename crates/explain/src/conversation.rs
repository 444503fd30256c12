//! The rows of one conversation, and what they say together before anybody judges.

use crate::assumptions::{QUEUE_LEAST, QUEUE_OF_RTT};
use crate::certainty::Certainty;
use analysis::rows::Role;
use analysis::rows::{BurstRow, Closed, EpisodeRow, FlowRow, IdleRow, PathRow, RoundRow, Vantage};
use analysis::waits::Stretch;
use wire::{Span, Time};

/// The rows of one data direction, each list in order of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowRows<'a> {
    pub flow: Option<&'a FlowRow>,
    pub bursts: &'a [BurstRow],
    pub episodes: &'a [EpisodeRow],
    pub idle: &'a [IdleRow],
    pub rounds: &'a [RoundRow],
    /// All flows from its sender's host to its receiver's.
    pub path: &'a [PathRow],
    /// All flows that its sending host sends, and all that its receiving host receives, where a capture was taken there and has
    /// several paths; round trips are counted from the least of each path.
    pub hosts: [&'a [PathRow]; 2],
}

impl FlowRows<'_> {
    fn has_others(&self) -> bool {
        has_others(self.path, self.rounds)
    }
}

/// Flows besides that of the rounds brought data on a path. A bin's share of a round trip is a guess; that all of it is one
/// flow's is none.
pub fn has_others(path: &[PathRow], rounds: &[RoundRow]) -> bool {
    let all: u64 = path.iter().map(|r| r.delivered_bytes).sum();
    let mine: u64 = rounds.iter().map(|r| r.delivered_bytes).sum();
    all > mine + mine / 50
}

/// The rows of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows<'a> {
    /// By sending host: the client's data, the server's.
    pub flows: [FlowRows<'a>; 2],
    pub waits: &'a [Stretch],
    /// The first packet of the capture: times in words count from it.
    pub origin: Time,
}

/// A conversation with what follows from its rows at once.
#[derive(Clone, Debug)]
pub struct Conversation<'a> {
    pub flows: [FlowRows<'a>; 2],
    pub waits: &'a [Stretch],
    pub start: Time,
    pub end: Time,
    /// The least round trip of the whole path, where one shows.
    pub base_rtt: Option<Span>,
    pub largest_rtt: Option<Span>,
    /// Messages of each host in answer to one of the other.
    pub turns: [u64; 2],
}

impl<'a> Conversation<'a> {
    pub fn of(rows: &Rows<'a>) -> Conversation<'a> {
        let some = || rows.flows.iter().filter_map(|f| f.flow);
        let start = rows.waits.first().map(|w| w.start).or(some().map(|f| f.start).min());
        let end = rows.waits.last().map(|w| w.end).or(some().map(|f| f.end).max());
        let trips = rows.flows.iter().filter_map(round_trips);
        let (mut least, mut most) = (None::<Span>, None::<Span>);
        for (low, high) in trips {
            least = least.into_iter().chain([low]).min();
            most = most.max(Some(high));
        }
        // A queue that stood from its first packet on shows by what other flows between the two hosts met before or behind it.
        let leaves = |f: &&FlowRows<'a>| {
            f.flow.is_some_and(|row| matches!(row.vantage, Vantage::Sender | Vantage::Both)) && f.has_others()
        };
        let of_path = rows.flows.iter().filter(leaves).flat_map(|f| f.path).filter_map(|r| r.rtt_min);
        let least = least.and_then(|own| of_path.chain([own]).min());
        Conversation {
            flows: rows.flows,
            waits: rows.waits,
            start: start.unwrap_or(Time::ZERO),
            end: end.unwrap_or(Time::ZERO),
            base_rtt: least,
            largest_rtt: most,
            turns: [0, 1].map(|side| rows.waits.iter().map(|w| u64::from(w.turns[side])).sum()),
        }
    }

    pub fn row(&self, side: usize) -> Option<&'a FlowRow> {
        self.flows[side].flow
    }
    /// A connection has one vantage point, but each direction is seen from its own.
    pub fn vantage(&self, side: usize) -> Vantage {
        self.row(side).map_or(Vantage::Unknown, |f| f.vantage)
    }
    pub fn seen_leaving(&self, side: usize) -> bool {
        matches!(self.vantage(side), Vantage::Sender | Vantage::Both)
    }
    /// How sure a statement is that the packets of this direction show as they leave: where they arrive they do if none is missing,
    /// and else it is likely.
    pub fn as_seen(&self, side: usize) -> Certainty {
        let none_missing = self.row(side).is_some_and(|f| f.none_missing && f.retransmitted_segments == 0);
        if self.seen_leaving(side) || none_missing { Certainty::Known } else { Certainty::Likely }
    }
    pub fn mss(&self, side: usize) -> u64 {
        self.row(side).map_or(1, |f| u64::from(f.mss.max(1)))
    }
    pub fn bytes(&self, side: usize) -> u64 {
        self.row(side).map_or(0, |f| f.bytes)
    }
    pub fn closed(&self) -> Closed {
        self.flows.iter().filter_map(|f| f.flow).map(|f| f.closed).next().unwrap_or_default()
    }
    /// How much of a wait beyond the base is a queue's, and not jitter.
    pub fn least_queue(&self) -> Span {
        self.base_rtt.map_or(QUEUE_LEAST, |b| b.scale(QUEUE_OF_RTT).max(QUEUE_LEAST))
    }
    /// Its round trips are all as long, but for jitter: no queue grew or shrank.
    pub fn has_steady_trips(&self) -> bool {
        self.base_rtt.zip(self.largest_rtt).is_some_and(|(low, high)| high - low < self.least_queue() * 2)
    }
    /// The host with more data, whose direction a bulk transfer goes.
    pub fn main_sender(&self) -> Role {
        Role::of(usize::from(self.bytes(1) > self.bytes(0)))
    }
}

/// The least and the largest round trip that a flow shows of the whole path.
fn round_trips(flow: &FlowRows<'_>) -> Option<(Span, Span)> {
    let row = flow.flow?;
    let handshake = row.handshake.filter(|h| row.handshake_resent == 0 && *h > Span::ZERO);
    let of = |s: analysis::rows::Summary| {
        (s.n > 0).then(|| (Span::from_secs_f64(s.min), Span::from_secs_f64(s.max)))
    };
    let seen = match row.vantage {
        Vantage::Sender | Vantage::Both => of(row.rtt_ack).or(of(row.rtt_timestamps)),
        // Away from the sender ACKs show this host's own time to answer; echoed timestamps show the path.
        Vantage::Receiver | Vantage::Middle => {
            let whole = |t: &(Span, Span)| handshake.is_none_or(|h| t.0 >= h / 2);
            of(row.rtt_timestamps).filter(whole)
        }
        Vantage::Unknown => of(row.rtt_timestamps),
    };
    match (seen, handshake) {
        (Some((low, high)), Some(h)) => Some((low.min(h), high.max(h))),
        (Some(seen), None) => Some(seen),
        (None, Some(h)) => Some((h, h)),
        (None, None) => None,
    }
}
