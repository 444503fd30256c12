//! The stretches that a conversation keeps, in few bytes: of what it waited for most are 0, and times and counts are small
//! numbers, of which each seven bits take a byte.

use super::Stretch;
use crate::rows::Wait;
use wire::{Span, Time};

/// Most stretches take fewer bytes.
const ROOM: usize = 64;

/// In the first byte of a stretch, beside the number of its waits: the client sent new data, the server did, a turn
/// was taken.
const SENT: [u8; 2] = [0x20, 0x40];
const TURNS: u8 = 0x80;
const _: () = assert!(2 * Wait::ALL.len() < SENT[0] as usize);

/// Stretches in order of time, each where the one before it ends.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    start: Time,
    lines: usize,
    /// Of each stretch: how many waits it has, and marks for what it has besides; its bytes and turns, where it has some;
    /// what was waited for, by host, and for how long.
    bytes: Vec<u8>,
}

impl Kept {
    /// None yet; the first one begins at `start`.
    pub fn begin(&mut self, start: Time) {
        (self.start, self.lines) = (start, 0);
        self.bytes.clear();
    }
    pub fn len(&self) -> usize {
        self.lines
    }
    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }

    pub fn push(&mut self, s: &Stretch) {
        // Room for what most stretches take: a conversation has it for as long as it lasts.
        if self.bytes.capacity() - self.bytes.len() < ROOM {
            self.bytes.reserve_exact(2 * ROOM);
        }
        let waited = || s.waited.as_flattened().iter().enumerate().filter(|(_, time)| **time != Span::ZERO);
        let turned = s.turns != [0; 2];
        let mut head = waited().count() as u8 | if turned { TURNS } else { 0 };
        for (mark, bytes) in SENT.into_iter().zip(s.bytes) {
            head |= if bytes > 0 { mark } else { 0 };
        }
        self.bytes.push(head);
        s.bytes.into_iter().filter(|n| *n > 0).for_each(|n| self.put(n));
        s.turns.into_iter().filter(|_| turned).for_each(|n| self.put(u64::from(n)));
        for (what, time) in waited() {
            self.bytes.push(what as u8);
            self.put(time.0 as u64);
        }
        self.lines += 1;
    }

    fn put(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.bytes.push(n as u8);
    }

    /// Behind the first `fine` each two neighbours become one.
    pub fn merge_pairs(&mut self, fine: usize) {
        let mut merged = Kept { start: self.start, lines: 0, bytes: Vec::new() };
        let mut all = self.iter();
        all.by_ref().take(fine).for_each(|s| merged.push(&s));
        while let Some(first) = all.next() {
            merged.push(&all.next().map_or(first, |second| first.with(&second)));
        }
        *self = merged;
    }

    pub fn iter(&self) -> Iter<'_> {
        Iter { start: self.start, rest: &self.bytes }
    }
}

pub struct Iter<'a> {
    start: Time,
    rest: &'a [u8],
}

impl Iter<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }
    fn number(&mut self) -> Option<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Some(n)
    }
}

impl Iterator for Iter<'_> {
    type Item = Stretch;
    fn next(&mut self) -> Option<Stretch> {
        let head = self.byte()?;
        let mut s = Stretch { start: self.start, end: self.start, ..Stretch::default() };
        for (mark, bytes) in SENT.into_iter().zip(&mut s.bytes) {
            *bytes = if head & mark != 0 { self.number()? } else { 0 };
        }
        for turns in &mut s.turns {
            *turns = if head & TURNS != 0 { self.number()? as u32 } else { 0 };
        }
        for _ in 0..head & (SENT[0] - 1) {
            let what = usize::from(self.byte()?);
            let time = Span(self.number()? as i64);
            s.waited[what / Wait::ALL.len()][what % Wait::ALL.len()] = time;
            s.end += time;
        }
        self.start = s.end;
        Some(s)
    }
}
