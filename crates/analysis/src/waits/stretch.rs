//! A stretch of a conversation, and what its time went to.

use crate::rows::{FlowId, Role, Wait, WaitRow};
use wire::{Span, Time};

/// About a round trip, or one pause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    pub start: Time,
    pub end: Time,
    /// By host (0: the client; 1: the server) and by what it waited for, as [`Wait::ALL`] lists them. All of them
    /// together are as long as the stretch.
    pub waited: [[Span; Wait::ALL.len()]; 2],
    /// New payload bytes that each host sent.
    pub bytes: [u64; 2],
    /// Messages that each host sent in answer to one of the other.
    pub turns: [u32; 2],
}

impl Stretch {
    pub fn length(&self) -> Span {
        self.end - self.start
    }
    pub fn of(&self, side: usize, wait: Wait) -> Span {
        self.waited[side][wait as usize]
    }
    /// For either host.
    pub fn both(&self, wait: Wait) -> Span {
        self.of(0, wait) + self.of(1, wait)
    }
    pub fn is_empty(&self) -> bool {
        self.end <= self.start && self.bytes == [0; 2]
    }

    /// Both as one. `self` came first.
    pub(crate) fn with(&self, next: &Stretch) -> Stretch {
        let mut sum = Stretch { end: next.end, ..*self };
        for side in 0..2 {
            for (a, b) in sum.waited[side].iter_mut().zip(&next.waited[side]) {
                *a += *b;
            }
            sum.bytes[side] += next.bytes[side];
            sum.turns[side] += next.turns[side];
        }
        sum
    }

    /// Its rows: one for each host and what it waited for.
    pub(crate) fn rows(self, flow: FlowId) -> impl Iterator<Item = WaitRow> {
        let mut counted = [false; 2];
        let all = [0, 1].into_iter().flat_map(|side| Wait::ALL.iter().map(move |wait| (side, *wait)));
        all.filter_map(move |(side, wait)| {
            let time = self.of(side, wait);
            // What carries counts though nobody waited for it is there, too.
            let last = wait == Wait::Nothing && !counted[side];
            let counts = last && (self.bytes[side] > 0 || self.turns[side] > 0);
            if time == Span::ZERO && !counts {
                return None;
            }
            let first = !std::mem::replace(&mut counted[side], true);
            Some(WaitRow {
                flow,
                start: self.start,
                end: self.end,
                host: Role::of(side),
                waits_for: wait,
                time,
                bytes: if first { self.bytes[side] } else { 0 },
                turns: if first { self.turns[side] } else { 0 },
            })
        })
    }

    /// The stretches that rows of one conversation came from, in order.
    pub fn gather(rows: &[WaitRow]) -> Vec<Stretch> {
        let mut all: Vec<Stretch> = Vec::new();
        for row in rows {
            if all.last().is_none_or(|s| (s.start, s.end) != (row.start, row.end)) {
                all.push(Stretch { start: row.start, end: row.end, ..Stretch::default() });
            }
            if let Some(s) = all.last_mut() {
                let side = row.host as usize;
                s.waited[side][row.waits_for as usize] += row.time;
                s.bytes[side] += row.bytes;
                s.turns[side] += row.turns;
            }
        }
        all
    }
}
