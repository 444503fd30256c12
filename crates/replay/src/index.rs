//! Places of events and sends of a transfer, worked out once. At each event the replay asks for the next burst of packets
//! that came in, or for the recorded copies of a segment; a search at each event would make the cost of a replay quadratic.

use crate::transfer::{BURST, Event, Out};
use std::collections::HashMap;
use wire::Span;

/// The segments of one packet have one time in the sender (tcp_wstamp_ns). A capture behind offload shows them less than a
/// microsecond after each other: this is well above that, and well below the time between ACKs.
pub(crate) const OF_ONE_PACKET: Span = Span::from_micros(5);

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// For each event: the first event at or after it that is a packet that came in.
    next_in: Vec<usize>,
    /// For each packet that came in: the first later one that came in more than [`BURST`] after its predecessor.
    next_burst: Vec<usize>,
    /// For each send: its event.
    events: Vec<usize>,
    /// For each send: how many segments left as one packet, counted from this one.
    segments: Vec<usize>,
    /// For each send: the last send up to it, itself included, that is no retransmission.
    last_new: Vec<Option<usize>>,
    /// The first send of each segment.
    first: HashMap<Same, usize>,
    /// For each send: the next one of the same segment.
    next: Vec<Option<usize>>,
}

/// What makes two sends the same segment: offset, payload, and whether it is a retransmission.
pub(crate) type Same = (u64, u32, bool);

fn same(out: &Out) -> Same {
    (out.offset, out.payload, out.again)
}

impl Index {
    pub(crate) fn new(events: &[Event], outs: &[Out]) -> Index {
        let mut index = Index { events: vec![0; outs.len()], ..Index::default() };
        index.next_in = vec![events.len(); events.len() + 1];
        index.next_burst = vec![events.len(); events.len()];
        for at in (0..events.len()).rev() {
            let next = index.next_in[at + 1];
            index.next_in[at] = next;
            match events[at] {
                Event::In(time, _) => {
                    index.next_in[at] = at;
                    let goes_on = events.get(next).is_some_and(|e| e.time(outs) - time <= BURST);
                    index.next_burst[at] = if goes_on { index.next_burst[next] } else { next };
                }
                Event::Out(k) => index.events[k] = at,
                Event::Opening(_) => {}
            }
        }
        index.segments = vec![1; outs.len()];
        index.next = vec![None; outs.len()];
        for k in (0..outs.len()).rev() {
            let goes_on = |next: &Out| !next.again && next.time - outs[k].time <= OF_ONE_PACKET;
            if outs.get(k + 1).is_some_and(goes_on) {
                index.segments[k] += index.segments[k + 1];
            }
            index.next[k] = index.first.insert(same(&outs[k]), k);
        }
        let mut last = None;
        for (k, out) in outs.iter().enumerate() {
            last = if out.again { last } else { Some(k) };
            index.last_new.push(last);
        }
        index
    }

    /// The first packet from event `at` on that came in, or the number of events.
    pub(crate) fn next_in(&self, at: usize) -> usize {
        self.next_in[at]
    }
    /// For a packet that came in: the first one that came in after its burst, or the number of events.
    pub(crate) fn next_burst(&self, at: usize) -> usize {
        self.next_burst[at]
    }
    /// The event that a send is.
    pub(crate) fn event(&self, k: usize) -> Option<usize> {
        self.events.get(k).copied()
    }
    /// How many segments left as one packet, counted from this send.
    pub(crate) fn segments(&self, k: usize) -> usize {
        self.segments[k]
    }
    /// The last of the sends before `end` that is no retransmission.
    pub(crate) fn last_new(&self, end: usize) -> Option<usize> {
        self.last_new[end.checked_sub(1)?]
    }
    /// The first send of a segment.
    pub(crate) fn first(&self, of: Same) -> Option<usize> {
        self.first.get(&of).copied()
    }
    /// The next send of the same segment.
    pub(crate) fn next(&self, k: usize) -> Option<usize> {
        self.next[k]
    }
}
