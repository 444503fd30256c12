//! The event queue: which source is next. A source is a link or a timer and has one entry, its own next event.
//!
//! An indexed heap with four children to a node: two levels for sixteen sources, and a node's children share a
//! cache line or two. What lies behind a source's next event stays in its own FIFO and is not compared.

use path::Key;

const ABSENT: u32 = u32::MAX;
const CHILDREN: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    key: Key,
    source: u32,
}

/// The next event of each source that has one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    len: usize,
    /// `len` sources and nobody behind them: a node always has four children to compare.
    heap: Vec<Entry>,
    /// Where each source is in the heap.
    place: Vec<u32>,
}

const NOBODY: Entry = Entry { key: Key::NEVER, source: ABSENT };

impl Agenda {
    pub fn new(sources: usize) -> Agenda {
        Agenda { len: 0, heap: Vec::new(), place: vec![ABSENT; sources] }
    }

    /// Room for sources up to this number.
    pub fn grow(&mut self, source: u32) {
        if source as usize >= self.place.len() {
            self.place.resize(source as usize + 1, ABSENT);
        }
    }

    #[inline]
    pub fn first(&self) -> Option<(Key, u32)> {
        self.heap.first().filter(|e| e.source != ABSENT).map(|e| (e.key, e.source))
    }

    #[inline]
    pub fn first_key(&self) -> Key {
        self.heap.first().map_or(Key::NEVER, |e| e.key)
    }

    pub fn key_of(&self, source: u32) -> Option<Key> {
        match self.place.get(source as usize) {
            Some(&place) if place != ABSENT => Some(self.heap[place as usize].key),
            _ => None,
        }
    }

    /// The source's next event is now this one; [`Key::NEVER`] for none.
    #[inline]
    pub fn set(&mut self, source: u32, key: Key) {
        let place = self.place[source as usize];
        if place == ABSENT {
            if key != Key::NEVER {
                self.add(Entry { key, source });
            }
            return;
        }
        let place = place as usize;
        let old = self.heap[place].key;
        if key == Key::NEVER {
            self.remove(place);
        } else if old != key {
            let entry = Entry { key, source };
            if key.is_before(old) { self.rise(place, entry) } else { self.sink(place, entry) }
        }
    }

    /// The same for the source that is first.
    #[inline]
    pub fn set_first(&mut self, key: Key) {
        let Some(first) = self.heap.first() else { return };
        if key == Key::NEVER {
            return self.remove(0);
        }
        // Its next event is never before the one that was handled.
        let entry = Entry { key, source: first.source };
        self.sink(0, entry);
    }

    #[cold]
    fn widen(&mut self) {
        self.heap.resize(self.heap.len().max(CHILDREN + 1) * 2, NOBODY);
    }

    fn add(&mut self, entry: Entry) {
        // Behind the last there is always room for four children that are nobody.
        if self.len + CHILDREN >= self.heap.len() {
            self.widen();
        }
        self.len += 1;
        self.rise(self.len - 1, entry);
    }

    fn remove(&mut self, place: usize) {
        let gone = self.heap[place];
        self.place[gone.source as usize] = ABSENT;
        self.len -= 1;
        let last = self.heap[self.len];
        self.heap[self.len] = NOBODY;
        if self.len == place {
            return;
        }
        if last.key.is_before(gone.key) { self.rise(place, last) } else { self.sink(place, last) }
    }

    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if !entry.key.is_before(self.heap[parent].key) {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    #[inline]
    fn sink(&mut self, mut place: usize, entry: Entry) {
        loop {
            let first = place * CHILDREN + 1;
            if first >= self.len {
                break;
            }
            let Some(children) = self.heap.get(first..first + CHILDREN) else { break };
            let least = least_of_four(children);
            let child = children[least & 3];
            if !child.key.is_before(entry.key) {
                break;
            }
            self.put(place, child);
            place = first + least;
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.place[entry.source as usize] = place as u32;
    }
}

/// Without branches: which child is least can not be predicted.
#[inline(always)]
fn least_of_four(children: &[Entry]) -> usize {
    let key = |child: usize| children[child & 3].key;
    let left = key(1).is_before(key(0)) as usize;
    let right = 2 + key(3).is_before(key(2)) as usize;
    let take_right = key(right).is_before(key(left)) as usize;
    left + take_right * (right - left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::random::Stream;
    use time::{Span, Time};

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
                    _ => Key { time: Time(stream.below(50) as i64), order },
                };
                agenda.set(source as u32, key);
                plain[source] = key;
                let least = (0..sources).min_by_key(|s| (plain[*s].time, plain[*s].order)).unwrap();
                let expected = (plain[least] != Key::NEVER).then_some((plain[least], least as u32));
                assert_eq!(agenda.first(), expected, "seed {seed}");
                if let (Some((first, source)), 0) = (expected, stream.below(3)) {
                    let later = Key { time: first.time + Span(stream.below(9) as i64), order: 3000 + order };
                    let later = if stream.chance(0.2) { Key::NEVER } else { later };
                    agenda.set_first(later);
                    plain[source as usize] = later;
                    continue;
                }
                assert_eq!(agenda.key_of(source as u32), (key != Key::NEVER).then_some(key));
            }
        }
    }
}
