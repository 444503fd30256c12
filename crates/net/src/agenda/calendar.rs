//! What does not come soon: a calendar queue (Brown 1988), whose days are short stretches of time, each in no order.
//!
//! The day whose time has come is cleared into the row, and everything up to its end is "soon" from then on. How
//! long a stretch is follows from how many events fell into the last ones: a few each, so that the row has little
//! to order and clearing a day is worth it.

use super::{ABSENT, Entry};
use instant::Time;
use links::Key;
use std::ops::RangeInclusive;

/// Events between two looks at whether the stretches are right.
const LOOK_EVERY: u32 = 1024;
/// The first stretch, 2^12 ns: a frame's time on most links.
const FIRST_SHIFT: u32 = 12;
/// From 16 ns to some 70 s.
const SHIFTS: RangeInclusive<u32> = 4..=36;

#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// Everything before this is soon.
    until: Time,
    /// The stretch that ends then, counted from time zero; a stretch is 2^`shift` ns.
    current: i64,
    shift: u32,
    /// The first source on each day; a stretch's day is its number modulo their count, a power of two.
    heads: Vec<u32>,
    /// A bit for each day that is not empty.
    taken: Vec<u64>,
    /// How many sources are in days.
    count: usize,
    /// By source.
    slots: Vec<Slot>,
    /// Half events that a day is to hold.
    halves: RangeInclusive<u32>,
    load: Load,
    /// A day was cleared since this was asked last.
    cleared: bool,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: Key,
    /// Who stands behind it in its day.
    next: u32,
}

/// Since the last look at whether stretches are right.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    events: u32,
    /// Of these, beyond all days.
    beyond: u32,
    turns: u32,
}

const FREE: Slot = Slot { key: Key::NEVER, next: ABSENT };

impl Calendar {
    /// None, until they [grow](Calendar::grow).
    pub fn new(looks_ahead: bool) -> Calendar {
        Calendar {
            until: Time::ZERO,
            current: -1,
            shift: FIRST_SHIFT,
            heads: Vec::new(),
            taken: Vec::new(),
            count: 0,
            slots: Vec::new(),
            // What is to be fetched ahead must be known some dozen events ahead.
            halves: if looks_ahead { 16..=64 } else { 5..=12 },
            load: Load::default(),
            cleared: false,
        }
    }

    /// Room for so many sources. Gives back who has to be put anew.
    pub fn grow(&mut self, sources: usize) -> Vec<Entry> {
        self.slots.resize(sources, FREE);
        let wanted = (sources / 2).next_power_of_two().clamp(256, 1 << 16);
        if wanted <= self.heads.len() {
            return Vec::new();
        }
        let entries = self.take_all();
        self.heads = vec![ABSENT; wanted];
        self.taken = vec![0; wanted / 64];
        entries
    }

    #[inline(always)]
    pub fn is_soon(&self, time: Time) -> bool {
        time < self.until
    }

    /// Not for what is soon. False if it lies beyond all days.
    #[inline(always)]
    pub fn put(&mut self, entry: Entry) -> bool {
        let stretch = entry.key.time.0 >> self.shift;
        self.load.events += 1;
        if stretch - self.current >= self.heads.len() as i64 {
            self.load.beyond += 1;
            return false;
        }
        let day = self.day(stretch);
        let next = std::mem::replace(&mut self.heads[day], entry.source);
        self.taken[day / 64] |= 1 << (day % 64);
        self.slots[entry.source as usize] = Slot { key: entry.key, next };
        self.count += 1;
        true
    }

    /// Takes a source off its day.
    pub fn take(&mut self, source: u32) {
        let Slot { key, next } = self.slots[source as usize];
        let day = self.day(key.time.0 >> self.shift);
        let mut before = self.heads[day];
        if before == source {
            self.heads[day] = next;
            if next == ABSENT {
                self.taken[day / 64] &= !(1 << (day % 64));
            }
        } else {
            while let Some(slot) = self.slots.get_mut(before as usize) {
                if slot.next == source {
                    slot.next = next;
                    break;
                }
                before = slot.next;
            }
        }
        self.count -= 1;
    }

    /// Goes on to the stretch of the first event, which is this one unless an earlier one is in a day. False if there
    /// is none at all. What is in the day of that stretch is to be cleared next.
    pub fn turn(&mut self, first: Key) -> bool {
        let on_day = self.next_taken();
        if first == Key::NEVER && on_day.is_none() {
            return false;
        }
        let stretch = first.time.0 >> self.shift;
        self.current = on_day.map_or(stretch, |on_day| on_day.min(stretch));
        self.until = Time((self.current + 1) << self.shift);
        self.load.turns += 1;
        self.cleared = true;
        true
    }

    /// Takes all of the present stretch off its day.
    #[inline]
    pub fn clear(&mut self, mut each: impl FnMut(Entry)) {
        let day = self.day(self.current);
        let mut source = std::mem::replace(&mut self.heads[day], ABSENT);
        self.taken[day / 64] &= !(1 << (day % 64));
        while let Some(Slot { key, next }) = self.slots.get(source as usize) {
            each(Entry { key: *key, source });
            self.count -= 1;
            source = *next;
        }
    }

    #[inline(always)]
    pub fn take_cleared(&mut self) -> bool {
        std::mem::take(&mut self.cleared)
    }

    /// Who is on the next day that is not empty.
    pub fn upcoming(&self) -> impl Iterator<Item = u32> + '_ {
        let first = self.next_taken().map_or(ABSENT, |stretch| self.heads[self.day(stretch)]);
        let there = |source: u32| (source != ABSENT).then_some(source);
        std::iter::successors(there(first), move |source| there(self.slots[*source as usize].next))
    }

    #[inline(always)]
    fn day(&self, stretch: i64) -> usize {
        stretch as usize & (self.heads.len() - 1)
    }

    /// The next stretch that has something on its day.
    fn next_taken(&self) -> Option<i64> {
        if self.count == 0 {
            return None;
        }
        let from = self.current + 1;
        let start = self.day(from);
        let words = self.taken.len();
        // The word in which the search begins comes again at its end, for the bits below the start.
        let mut bits = self.taken[start / 64] >> (start % 64) << (start % 64);
        let mut word = start / 64;
        for _ in 0..=words {
            if bits != 0 {
                let day = word * 64 + bits.trailing_zeros() as usize;
                return Some(from + (day.wrapping_sub(start) & (self.heads.len() - 1)) as i64);
            }
            word = (word + 1) & (words - 1);
            bits = self.taken[word];
        }
        None
    }

    /// Every thousand events: are stretches of the right length? Gives back who has to be put anew. What is soon is
    /// counted by nobody: it shows in how seldom a day is cleared.
    #[inline]
    pub fn look(&mut self) -> Vec<Entry> {
        if self.load.events < LOOK_EVERY { Vec::new() } else { self.adapt() }
    }

    #[cold]
    fn adapt(&mut self) -> Vec<Entry> {
        let Load { events, beyond, turns } = std::mem::take(&mut self.load);
        let per_turn = events * 2 / turns.max(1);
        let shift = if per_turn > *self.halves.end() {
            self.shift - 1
        } else if per_turn < *self.halves.start() || beyond > events / 4 {
            self.shift + 1
        } else {
            self.shift
        };
        if shift == self.shift || !SHIFTS.contains(&shift) {
            return Vec::new();
        }
        let entries = self.take_all();
        self.shift = shift;
        // What is soon stays so.
        self.current = (self.until.0 >> shift) - 1;
        entries
    }

    fn take_all(&mut self) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(self.count);
        for head in &mut self.heads {
            let mut source = std::mem::replace(head, ABSENT);
            while let Some(slot) = self.slots.get(source as usize) {
                entries.push(Entry { key: slot.key, source });
                source = slot.next;
            }
        }
        self.taken.fill(0);
        self.count = 0;
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use links::random::Stream;

    /// Times are spread over more than all days, and stretches change: everybody is cleared, and in their order.
    #[test]
    fn what_is_cleared_lies_behind_what_was_cleared_before() {
        let mut stream = Stream::new(1, "calendar", "test");
        let mut calendar = Calendar::new(false);
        calendar.grow(1000);
        let (mut now, mut next, mut shifts) = (0, 0u32, vec![]);
        let mut waiting = 0;
        for round in 0..200_000u64 {
            let spread = [100, 100_000, 1 << 30][(round / 70_000) as usize];
            let time = calendar.until.0.max(now) + stream.below(spread) as i64;
            if waiting < 500 {
                next = (next + 1) % 1000;
                waiting += u32::from(
                    calendar.slots[next as usize].key == Key::NEVER
                        && calendar.put(Entry { key: Key { time: Time(time), order: round }, source: next }),
                );
                continue;
            }
            for entry in calendar.look() {
                if !calendar.put(entry) {
                    calendar.slots[entry.source as usize] = FREE;
                    waiting -= 1;
                }
            }
            shifts.push(calendar.shift);
            assert!(calendar.turn(Key::NEVER));
            let begin = calendar.current << calendar.shift;
            assert!(begin >= now, "{begin} after {now}");
            let (mut cleared, until) = (vec![], calendar.until.0);
            calendar.clear(|entry| cleared.push(entry));
            for entry in cleared {
                assert!((begin..until).contains(&entry.key.time.0));
                calendar.slots[entry.source as usize] = FREE;
                waiting -= 1;
            }
            now = begin;
        }
        shifts.dedup();
        assert!(shifts.len() > 5, "{shifts:?}");
    }
}
