//! Where packets wait for their time: a chain for those in order, a heap beside it for those out of order.

use crate::key::Key;
use crate::pool::{Chain, PacketId, Pool};
use instant::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Packets in the order of their keys; each comes no earlier than the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    chain: Chain,
    /// The key of the head, so that asking touches no packet.
    next: Key,
}

impl Default for Line {
    fn default() -> Line {
        Line { chain: Chain::default(), next: Key::NEVER }
    }
}

impl Line {
    #[inline(always)]
    pub fn next(&self) -> Key {
        self.next
    }
    #[inline(always)]
    pub fn head(&self) -> Option<PacketId> {
        self.chain.head()
    }
    #[inline]
    pub fn push<P: Copy>(&mut self, pool: &mut Pool<P>, id: PacketId, key: Key) {
        if self.chain.is_empty() {
            self.next = key;
        }
        self.chain.push(pool, id).key = key;
    }
    #[inline]
    pub fn pop<P: Copy>(&mut self, pool: &Pool<P>) -> Option<PacketId> {
        let id = self.chain.pop(pool)?;
        self.next = match self.chain.head() {
            None => Key::NEVER,
            Some(head) => pool.parcel(head).key,
        };
        Some(id)
    }
}

/// Packets whose times do not ascend, because a channel lets them overtake or be overtaken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strays {
    heap: BinaryHeap<Reverse<(Time, u64, PacketId)>>,
}

impl Strays {
    pub fn next(&self) -> Key {
        self.heap.peek().map_or(Key::NEVER, |Reverse((time, order, _))| Key { time: *time, order: *order })
    }
    pub fn push(&mut self, id: PacketId, key: Key) {
        self.heap.push(Reverse((key.time, key.order, id)));
    }
    pub fn pop(&mut self) -> Option<PacketId> {
        self.heap.pop().map(|Reverse((.., id))| id)
    }
}

/// A line for packets that a channel made late, with what is needed to keep or break their order.
#[derive(Clone, Debug)]
pub(crate) struct DelayLine {
    line: Line,
    strays: Strays,
    /// When the last packet in order comes.
    last: Time,
}

impl Default for DelayLine {
    fn default() -> DelayLine {
        DelayLine { line: Line::default(), strays: Strays::default(), last: Time(i64::MIN) }
    }
}

impl DelayLine {
    pub fn next(&self) -> Key {
        self.line.next().earlier(self.strays.next())
    }
    /// A packet in order that came through now would overtake one that waits.
    pub fn blocks(&self) -> bool {
        self.line.next() != Key::NEVER
    }
    pub fn push<P: Copy>(&mut self, pool: &mut Pool<P>, id: PacketId, key: Key, order: Ordering) {
        match place(order, key.time, &mut self.last) {
            Some(time) => self.line.push(pool, id, Key { time, ..key }),
            None => self.strays.push(id, key),
        }
    }
    pub fn pop<P: Copy>(&mut self, pool: &Pool<P>) -> Option<PacketId> {
        if self.line.next().is_before(self.strays.next()) { self.line.pop(pool) } else { self.strays.pop() }
    }
}

/// What a late packet does to the order of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ordering {
    /// It waits for those before it, and those behind it wait for it.
    #[default]
    Kept,
    /// It may come before those ahead of it.
    Overtakes,
    /// Those behind it do not wait for it.
    StepsAside,
}

/// When a packet comes that stays in order; `None` for one that goes its own way.
pub(crate) fn place(order: Ordering, time: Time, last: &mut Time) -> Option<Time> {
    if order == Ordering::StepsAside || (order == Ordering::Overtakes && time < *last) {
        return None;
    }
    *last = time.max(*last);
    Some(*last)
}
