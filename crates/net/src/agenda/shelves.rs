//! What does not come soon: shelves for short stretches of time, one after the other, each in no order.
//!
//! The shelf whose time has come is cleared into the row, and everything up to its end is "soon" from then on. How
//! long a stretch is follows from how many events fell into the last ones: a few each, so that the row has little
//! to order and clearing a shelf is worth it. (A calendar queue, Brown 1988, whose days are the shelves.)

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
pub(super) struct Shelves {
    /// Everything before this is soon.
    until: Time,
    /// The stretch that ends then, counted from time zero; a stretch is 2^`shift` ns.
    current: i64,
    shift: u32,
    /// The first source on each shelf; a stretch's shelf is its number modulo their count, a power of two.
    heads: Vec<u32>,
    /// A bit for each shelf that is not empty.
    taken: Vec<u64>,
    /// How many sources are on shelves.
    count: usize,
    /// By source.
    slots: Vec<Slot>,
    /// Half events that a shelf is to hold.
    halves: RangeInclusive<u32>,
    books: Books,
    /// A shelf was cleared since this was asked last.
    cleared: bool,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: Key,
    /// Who stands behind it on the shelf.
    next: u32,
}

/// Since the last look at whether stretches are right.
#[derive(Clone, Copy, Debug, Default)]
struct Books {
    events: u32,
    /// Of these, beyond all shelves.
    beyond: u32,
    turns: u32,
}

const FREE: Slot = Slot { key: Key::NEVER, next: ABSENT };

impl Shelves {
    /// None, until they [grow](Shelves::grow).
    pub fn new(looks_ahead: bool) -> Shelves {
        Shelves {
            until: Time::ZERO,
            current: -1,
            shift: FIRST_SHIFT,
            heads: Vec::new(),
            taken: Vec::new(),
            count: 0,
            slots: Vec::new(),
            // What is to be fetched ahead must be known some dozen events ahead.
            halves: if looks_ahead { 16..=64 } else { 5..=12 },
            books: Books::default(),
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

    /// Not for what is soon. False if it lies beyond all shelves.
    #[inline(always)]
    pub fn put(&mut self, entry: Entry) -> bool {
        let stretch = entry.key.time.0 >> self.shift;
        self.books.events += 1;
        if stretch - self.current >= self.heads.len() as i64 {
            self.books.beyond += 1;
            return false;
        }
        let shelf = self.shelf(stretch);
        let next = std::mem::replace(&mut self.heads[shelf], entry.source);
        self.taken[shelf / 64] |= 1 << (shelf % 64);
        self.slots[entry.source as usize] = Slot { key: entry.key, next };
        self.count += 1;
        true
    }

    /// Takes a source off its shelf.
    pub fn take(&mut self, source: u32) {
        let Slot { key, next } = self.slots[source as usize];
        let shelf = self.shelf(key.time.0 >> self.shift);
        let mut before = self.heads[shelf];
        if before == source {
            self.heads[shelf] = next;
            if next == ABSENT {
                self.taken[shelf / 64] &= !(1 << (shelf % 64));
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

    /// Goes on to the stretch of the first event, which is this one unless an earlier one is on a shelf. False if there
    /// is none at all. What is on the shelf of that stretch is to be cleared next.
    pub fn turn(&mut self, first: Key) -> bool {
        let on_shelf = self.next_taken();
        if first == Key::NEVER && on_shelf.is_none() {
            return false;
        }
        let stretch = first.time.0 >> self.shift;
        self.current = on_shelf.map_or(stretch, |on_shelf| on_shelf.min(stretch));
        self.until = Time((self.current + 1) << self.shift);
        self.books.turns += 1;
        self.cleared = true;
        true
    }

    /// Takes all of the present stretch off its shelf.
    #[inline]
    pub fn clear(&mut self, mut each: impl FnMut(Entry)) {
        let shelf = self.shelf(self.current);
        let mut source = std::mem::replace(&mut self.heads[shelf], ABSENT);
        self.taken[shelf / 64] &= !(1 << (shelf % 64));
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

    /// Who is on the next shelf that is not empty.
    pub fn upcoming(&self) -> impl Iterator<Item = u32> + '_ {
        let first = self.next_taken().map_or(ABSENT, |stretch| self.heads[self.shelf(stretch)]);
        let there = |source: u32| (source != ABSENT).then_some(source);
        std::iter::successors(there(first), move |source| there(self.slots[*source as usize].next))
    }

    #[inline(always)]
    fn shelf(&self, stretch: i64) -> usize {
        stretch as usize & (self.heads.len() - 1)
    }

    /// The next stretch that has something on its shelf.
    fn next_taken(&self) -> Option<i64> {
        if self.count == 0 {
            return None;
        }
        let from = self.current + 1;
        let start = self.shelf(from);
        let words = self.taken.len();
        // The word in which the search begins comes again at its end, for the bits below the start.
        let mut bits = self.taken[start / 64] >> (start % 64) << (start % 64);
        let mut word = start / 64;
        for _ in 0..=words {
            if bits != 0 {
                let shelf = word * 64 + bits.trailing_zeros() as usize;
                return Some(from + (shelf.wrapping_sub(start) & (self.heads.len() - 1)) as i64);
            }
            word = (word + 1) & (words - 1);
            bits = self.taken[word];
        }
        None
    }

    /// Every thousand events: are stretches of the right length? Gives back who has to be put anew. What is soon is
    /// counted by nobody: it shows in how seldom a shelf is cleared.
    #[inline]
    pub fn look(&mut self) -> Vec<Entry> {
        if self.books.events < LOOK_EVERY { Vec::new() } else { self.adapt() }
    }

    #[cold]
    fn adapt(&mut self) -> Vec<Entry> {
        let Books { events, beyond, turns } = std::mem::take(&mut self.books);
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

    /// Times are spread over more than all shelves, and stretches change: everybody is cleared, and in their order.
    #[test]
    fn what_is_cleared_lies_behind_what_was_cleared_before() {
        let mut stream = Stream::new(1, "shelves", "test");
        let mut shelves = Shelves::new(false);
        shelves.grow(1000);
        let (mut now, mut next, mut shifts) = (0, 0u32, vec![]);
        let mut waiting = 0;
        for round in 0..200_000u64 {
            let spread = [100, 100_000, 1 << 30][(round / 70_000) as usize];
            let time = shelves.until.0.max(now) + stream.below(spread) as i64;
            if waiting < 500 {
                next = (next + 1) % 1000;
                waiting += u32::from(
                    shelves.slots[next as usize].key == Key::NEVER
                        && shelves.put(Entry { key: Key { time: Time(time), order: round }, source: next }),
                );
                continue;
            }
            for entry in shelves.look() {
                if !shelves.put(entry) {
                    shelves.slots[entry.source as usize] = FREE;
                    waiting -= 1;
                }
            }
            shifts.push(shelves.shift);
            assert!(shelves.turn(Key::NEVER));
            let begin = shelves.current << shelves.shift;
            assert!(begin >= now, "{begin} after {now}");
            let (mut cleared, until) = (vec![], shelves.until.0);
            shelves.clear(|entry| cleared.push(entry));
            for entry in cleared {
                assert!((begin..until).contains(&entry.key.time.0));
                shelves.slots[entry.source as usize] = FREE;
                waiting -= 1;
            }
            now = begin;
        }
        shifts.dedup();
        assert!(shifts.len() > 5, "{shifts:?}");
    }
}
