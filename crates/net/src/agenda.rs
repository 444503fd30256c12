//! The event queue: which source is next. A source is a link or a timer and has one entry, its own next event.
//!
//! What comes soon is in a short row, in order. What comes later lies in the days of a calendar, each a short
//! stretch of time and in no order, until that begins. Where a moment has more events than the row has room for, and for what lies
//! beyond its last day, there is a heap. So an event costs a few stores and comparisons however many sources there are.
//! What lies behind a source's next event stays in its own FIFO and is not compared.

mod calendar;
mod heap;

use calendar::Calendar;
use heap::Heap;
use links::Key;

const ABSENT: u32 = u32::MAX;
/// So many sources need no days.
const FEW: usize = 4;
/// Room in the row.
const ROW: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    key: Key,
    source: u32,
}

const NOBODY: Entry = Entry { key: Key::NEVER, source: ABSENT };

impl Entry {
    #[inline(always)]
    fn earlier(self, other: Entry) -> Entry {
        let swap = other.key.is_before(self.key);
        Entry {
            key: Key {
                time: if swap { other.key.time } else { self.key.time },
                order: if swap { other.key.order } else { self.key.order },
            },
            source: if swap { other.source } else { self.source },
        }
    }
}

/// Where a source's entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nowhere,
    Row,
    Shelf,
    Heap,
}

/// The next event of each source that has one.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// The latest first: the next to come is at the end.
    row: [Entry; ROW],
    len: usize,
    least: Entry,
    /// Up to four sources need no more: the key of source `n` is always number `n` of these, and the least is found when
    /// it is asked for. One flow over one link has no more, and a change costs a store.
    few: bool,
    keys: [Key; FEW],
    looks_ahead: bool,
    places: Vec<Place>,
    calendar: Calendar,
    heap: Heap,
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda::new(0)
    }
}

impl Agenda {
    pub fn new(sources: usize) -> Agenda {
        Agenda::with(sources, false)
    }

    /// One that tells who comes soon.
    pub fn looking_ahead(sources: usize) -> Agenda {
        Agenda::with(sources, true)
    }

    fn with(sources: usize, looks_ahead: bool) -> Agenda {
        let mut agenda = Agenda {
            row: [NOBODY; ROW],
            len: 0,
            least: NOBODY,
            few: true,
            keys: [Key::NEVER; FEW],
            looks_ahead,
            places: Vec::new(),
            calendar: Calendar::new(looks_ahead),
            heap: Heap::default(),
        };
        if let Some(last) = sources.checked_sub(1) {
            agenda.grow(last as u32);
        }
        agenda
    }

    #[inline(always)]
    pub fn looks_ahead(&self) -> bool {
        self.looks_ahead
    }

    /// Once whenever a day was cleared: then those that stood on it are in the row, and come after a few events, and
    /// those on the next day after a few dozen.
    #[inline(always)]
    pub fn take_cleared(&mut self) -> bool {
        self.calendar.take_cleared()
    }
    pub fn soon(&self) -> impl Iterator<Item = u32> + '_ {
        self.row[..self.len].iter().map(|entry| entry.source)
    }
    pub fn later(&self) -> impl Iterator<Item = u32> + '_ {
        self.calendar.upcoming()
    }

    /// Room for sources up to this number.
    pub fn grow(&mut self, source: u32) {
        let sources = (source as usize + 1).max(self.places.len());
        self.places.resize(sources, Place::Nowhere);
        if sources <= FEW {
            return;
        }
        self.heap.grow(sources);
        let entries = self.calendar.grow(sources);
        self.sort_into_days(entries);
        if self.few {
            self.few = false;
            self.least = NOBODY;
            for (source, key) in (0..).zip(self.keys) {
                self.set(source, key);
            }
            self.close();
        }
    }

    #[inline(always)]
    fn set_of_few(&mut self, source: u32, key: Key) {
        self.keys[source as usize % FEW] = key;
    }
    #[inline(always)]
    fn find_least_of_few(&mut self) {
        let entry = |source: u32| Entry { key: self.keys[source as usize], source };
        let least = entry(0).earlier(entry(1));
        self.least = if self.places.len() <= 2 { least } else { least.earlier(entry(2).earlier(entry(3))) };
    }

    /// Who is first. [`Agenda::close`] is to be called before asking.
    #[inline]
    pub fn first(&self) -> Option<(Key, u32)> {
        (self.least.key != Key::NEVER).then_some((self.least.key, self.least.source))
    }
    #[inline(always)]
    pub fn first_key(&self) -> Key {
        self.least.key
    }
    /// Of no use if nobody is.
    #[inline(always)]
    pub fn first_source(&self) -> u32 {
        self.least.source
    }

    /// The source's next event is now this one; [`Key::NEVER`] for none.
    #[inline(always)]
    pub fn set(&mut self, source: u32, key: Key) {
        if self.few { self.set_of_few(source, key) } else { self.set_of_many(source, key) }
    }

    #[inline(never)]
    fn set_of_many(&mut self, source: u32, key: Key) {
        if self.places[source as usize] != Place::Nowhere {
            self.take(source);
        }
        if key != Key::NEVER {
            self.add(Entry { key, source });
        }
    }

    /// The same for the source that is first.
    #[inline(always)]
    pub fn set_first(&mut self, key: Key) {
        if self.few { self.set_of_few(self.least.source, key) } else { self.set_first_of_many(key) }
    }

    #[inline(never)]
    fn set_first_of_many(&mut self, key: Key) {
        let source = self.least.source;
        match self.places.get(source as usize) {
            Some(Place::Row) => {
                self.len -= 1;
                self.places[source as usize] = Place::Nowhere;
                self.find_least();
            }
            Some(_) => self.take(source),
            None => return,
        }
        if key != Key::NEVER {
            self.add(Entry { key, source });
        }
    }

    /// Makes sure of who is first.
    #[inline(always)]
    pub fn close(&mut self) {
        if self.few {
            self.find_least_of_few();
        } else if !self.calendar.is_soon(self.least.key.time) {
            self.settle();
        }
    }

    /// Nothing is soon: clears the next day.
    #[inline(never)]
    fn settle(&mut self) {
        let entries = self.calendar.look();
        self.sort_into_days(entries);
        while !self.calendar.is_soon(self.least.key.time) && self.calendar.turn(self.least.key) {
            let Agenda { calendar, heap, places, row, len, .. } = self;
            calendar.clear(|entry| {
                places[entry.source as usize] = match insert(row, len, entry) {
                    true => Place::Row,
                    false => {
                        heap.add(entry);
                        Place::Heap
                    }
                }
            });
            self.find_least();
        }
    }

    #[inline(always)]
    fn find_least(&mut self) {
        let of_row = if self.len > 0 { self.row[(self.len - 1) % ROW] } else { NOBODY };
        self.least = if self.heap.is_empty() { of_row } else { of_row.earlier(self.heap.first()) };
    }

    #[inline(always)]
    fn add(&mut self, entry: Entry) {
        if self.calendar.is_soon(entry.key.time) { self.add_to_row(entry) } else { self.add_to_day(entry) }
    }

    #[inline]
    fn add_to_row(&mut self, entry: Entry) {
        if !insert(&mut self.row, &mut self.len, entry) {
            return self.add_to_heap(entry);
        }
        self.places[entry.source as usize] = Place::Row;
        self.least = self.least.earlier(entry);
    }

    #[inline(always)]
    fn add_to_day(&mut self, entry: Entry) {
        if self.calendar.put(entry) {
            self.places[entry.source as usize] = Place::Shelf;
        } else {
            self.add_to_heap(entry);
        }
    }

    #[inline(never)]
    fn add_to_heap(&mut self, entry: Entry) {
        self.heap.add(entry);
        self.places[entry.source as usize] = Place::Heap;
        self.least = self.least.earlier(entry);
    }

    /// Anew, as stretches or days are others now.
    fn sort_into_days(&mut self, entries: Vec<Entry>) {
        entries.into_iter().for_each(|entry| self.add_to_day(entry));
    }

    /// Takes a source's entry away.
    #[inline(never)]
    fn take(&mut self, source: u32) {
        match std::mem::replace(&mut self.places[source as usize], Place::Nowhere) {
            Place::Nowhere => {}
            Place::Shelf => return self.calendar.take(source),
            Place::Heap => self.heap.take(source),
            Place::Row => {
                let row = &mut self.row[..self.len];
                if let Some(at) = row.iter().position(|entry| entry.source == source) {
                    row.copy_within(at + 1.., at);
                    self.len -= 1;
                }
            }
        }
        self.find_least();
    }
}

/// Into the row, at its place; false if it is full.
#[inline(always)]
fn insert(row: &mut [Entry; ROW], len: &mut usize, entry: Entry) -> bool {
    let mut at = *len;
    if at >= ROW {
        return false;
    }
    // What is added is most often among the next to come.
    while at > 0 && row[at - 1].key.is_before(entry.key) {
        row[at % ROW] = row[at - 1];
        at -= 1;
    }
    row[at % ROW] = entry;
    *len += 1;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use instant::{Span, Time};
    use links::random::Stream;

    #[test]
    fn sources_may_become_more() {
        let mut agenda = Agenda::default();
        for source in 0..9 {
            agenda.grow(source);
            agenda.set(source, Key { time: Time(100 - i64::from(source)), order: 1 });
            agenda.close();
            assert_eq!(agenda.first().map(|f| f.1), Some(source));
        }
    }

    /// Against a plain list, over thousands of random changes.
    #[test]
    fn the_first_is_always_the_least() {
        for seed in 0..20 {
            let mut stream = Stream::new(seed, "agenda", "test");
            let sources = 1 + stream.below(70) as usize;
            let (mut agenda, mut plain) = (Agenda::new(sources), vec![Key::NEVER; sources]);
            for order in 0..3000 {
                let source = stream.below(sources as u64) as usize;
                let key = match stream.below(4) {
                    0 => Key::NEVER,
                    1 => Key { time: Time(stream.below(1 << 40) as i64), order },
                    _ => Key { time: Time(stream.below(50) as i64), order },
                };
                agenda.set(source as u32, key);
                plain[source] = key;
                agenda.close();
                let least = (0..sources).min_by_key(|s| (plain[*s].time, plain[*s].order)).unwrap();
                let expected = (plain[least] != Key::NEVER).then_some((plain[least], least as u32));
                assert_eq!(agenda.first(), expected, "seed {seed}");
                if let (Some((first, source)), 0) = (expected, stream.below(3)) {
                    let later = Key { time: first.time + Span(stream.below(9) as i64), order: 3000 + order };
                    let later = if stream.chance(0.2) { Key::NEVER } else { later };
                    agenda.set_first(later);
                    if stream.chance(0.5) {
                        agenda.close();
                    }
                    plain[source as usize] = later;
                    continue;
                }
            }
        }
    }
}
