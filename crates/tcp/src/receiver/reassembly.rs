//! What has arrived: everything up to `next`, and the ranges behind holes.

use std::collections::VecDeque;
use std::sync::Arc;

/// A stretch of the stream `[start, end)`.
pub type Block = (u64, u64);

/// Contiguous data behind a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start: u64,
    pub end: u64,
    /// Larger where a segment arrived later (RFC 2018 §4 reports the most recent first).
    pub stamp: u64,
}

/// What became of a segment. Of several duplicate stretches in it the first counts (RFC 2883 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Nothing of it lies in the window.
    Outside,
    /// All of it was here, below `next`.
    Duplicate(Block),
    /// Waits behind a hole, in `block`; all of it may be a duplicate.
    Held { block: Block, duplicate: Option<Block> },
    /// `next` moved on.
    Advanced { duplicate: Option<Block> },
}

impl Arrival {
    pub fn duplicate(&self) -> Option<Block> {
        match *self {
            Arrival::Outside => None,
            Arrival::Duplicate(block) => Some(block),
            Arrival::Held { duplicate, .. } | Arrival::Advanced { duplicate } => duplicate,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Reassembly {
    next: u64,
    /// Where the FIN is, once known; `u64::MAX` before.
    fin: u64,
    finished: bool,
    /// Sorted; no two touch; all above `next`.
    /// Clones share these ranges until one of them changes its own.
    ranges: Arc<VecDeque<Range>>,
    /// Bytes in them; a FIN counts as one.
    waiting: u64,
    stamp: u64,
}

impl Reassembly {
    pub fn new(first: u64) -> Reassembly {
        Reassembly {
            next: first,
            fin: u64::MAX,
            finished: false,
            ranges: Arc::default(),
            waiting: 0,
            stamp: 0,
        }
    }

    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }
    #[inline]
    pub fn finished(&self) -> bool {
        self.finished
    }
    /// End of the data in order: `next` without the FIN.
    #[inline]
    pub fn data_end(&self) -> u64 {
        self.next - u64::from(self.finished)
    }
    pub fn ranges(&self) -> &VecDeque<Range> {
        &self.ranges
    }
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Takes the next segment while nothing is missing; false, and nothing done, in every other case.
    #[inline]
    pub fn accept_in_order(&mut self, offset: u64, end: u64, edge: u64) -> bool {
        let plain = offset == self.next && end > offset && end <= edge && end < self.fin && self.waiting == 0;
        if plain {
            self.next = end;
        }
        plain
    }

    /// Takes what of `[offset, end)` lies in the window, which ends at `edge`.
    pub fn accept(&mut self, offset: u64, end: u64, edge: u64) -> Arrival {
        if self.finished || end <= self.next {
            return match offset < self.data_end() {
                true => Arrival::Duplicate((offset, end.min(self.data_end()))),
                false => Arrival::Outside,
            };
        }
        let end = end.min(edge).min(self.fin);
        let start = offset.max(self.next);
        let old = (offset < self.next).then_some((offset, self.next.min(end)));
        if start >= end {
            return old.map_or(Arrival::Outside, Arrival::Duplicate);
        }
        if start > self.next {
            return self.hold(start, end);
        }
        let duplicate = self.advance(end);
        Arrival::Advanced { duplicate: old.or(duplicate) }
    }

    /// A FIN at `offset`; true if `next` moved over it.
    pub fn fin(&mut self, offset: u64) -> bool {
        // A second FIN elsewhere, or one below data that is here, is a broken peer's: the first stands.
        let beyond = self.ranges.back().map_or(self.next, |r| r.end);
        if self.fin == u64::MAX && offset >= beyond {
            self.fin = offset;
        }
        self.pass_fin()
    }

    /// A FIN that waits behind a hole takes its place there, as one byte; the block that it is in then.
    pub fn hold_fin(&mut self) -> Option<Block> {
        if self.fin == u64::MAX || self.fin <= self.next {
            return None;
        }
        match self.ranges.back().filter(|r| r.end > self.fin) {
            Some(here) => Some((here.start, here.end)),
            None => match self.hold(self.fin, self.fin + 1) {
                Arrival::Held { block, .. } => Some(block),
                _ => None,
            },
        }
    }

    /// From `next` to the end of what is held behind holes.
    pub fn beyond(&self) -> u64 {
        self.ranges.back().map_or(0, |last| last.end - self.next)
    }

    fn pass_fin(&mut self) -> bool {
        let passes = !self.finished && self.next >= self.fin;
        if passes {
            self.finished = true;
            self.next = self.fin + 1;
        }
        passes
    }

    /// `next` moves to `end` and over the ranges that it reaches; returns the first stretch that was here already.
    fn advance(&mut self, end: u64) -> Option<Block> {
        let mut duplicate = None;
        self.next = end;
        while let Some(&range) = self.ranges.front().filter(|r| r.start <= self.next) {
            if range.start < end {
                duplicate = duplicate.or(Some((range.start, range.end.min(end))));
            }
            self.next = self.next.max(range.end);
            self.waiting -= range.end - range.start;
            Arc::make_mut(&mut self.ranges).pop_front();
        }
        self.pass_fin();
        duplicate
    }

    fn hold(&mut self, start: u64, end: u64) -> Arrival {
        self.stamp += 1;
        let mut held = Range { start, end, stamp: self.stamp };
        // Most often it goes behind the last range or prolongs it.
        let first = match self.ranges.back() {
            Some(last) if start > last.end => self.ranges.len(),
            Some(last) if start >= last.start => self.ranges.len() - 1,
            _ => self.ranges.partition_point(|r| r.end < start),
        };
        let mut duplicate = None;
        let mut after = first;
        while let Some(range) = self.ranges.get(after).filter(|r| r.start <= end) {
            let both = (start.max(range.start), end.min(range.end));
            if both.0 < both.1 {
                duplicate = duplicate.or(Some(both));
            }
            held.start = held.start.min(range.start);
            held.end = held.end.max(range.end);
            self.waiting -= range.end - range.start;
            after += 1;
        }
        self.waiting += held.end - held.start;
        let ranges = Arc::make_mut(&mut self.ranges);
        match ranges.get_mut(first).filter(|_| after > first) {
            Some(slot) => {
                *slot = held;
                ranges.drain(first + 1..after);
            }
            None => ranges.insert(first, held),
        }
        Arrival::Held { block: (held.start, held.end), duplicate }
    }
}
