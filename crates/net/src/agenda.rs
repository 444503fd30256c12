//! The event queue: which source is next. A source is a link or a timer and has one entry, its own next event.
//!
//! An indexed heap with four children to a node: two levels for sixteen sources, and a node's children share a
//! cache line or two. What lies behind a source's next event stays in its own FIFO and is not compared.

use path::Key;

const ABSENT: u32 = u32::MAX;
const CHILDREN: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    source: u32,
}

/// The next event of each source that has one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    heap: Vec<Entry>,
    /// Where each source is in the heap.
    place: Vec<u32>,
}

impl Agenda {
    pub fn new(sources: usize) -> Agenda {
        Agenda { heap: Vec::new(), place: vec![ABSENT; sources] }
    }

    /// Room for sources up to this number.
    pub fn grow(&mut self, source: u32) {
        if source as usize >= self.place.len() {
            self.place.resize(source as usize + 1, ABSENT);
        }
    }

    #[inline]
    pub fn first(&self) -> Option<(Key, u32)> {
        self.heap.first().map(|e| (e.key, e.source))
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
                self.heap.push(Entry { key, source });
                self.rise(self.heap.len() - 1);
            }
            return;
        }
        let place = place as usize;
        let old = self.heap[place].key;
        if key == Key::NEVER {
            self.remove(place);
        } else if old != key {
            self.heap[place].key = key;
            if key.is_before(old) { self.rise(place) } else { self.sink(place) }
        }
    }

    fn remove(&mut self, place: usize) {
        let gone = self.heap.swap_remove(place);
        self.place[gone.source as usize] = ABSENT;
        let Some(moved) = self.heap.get(place) else { return };
        if moved.key.is_before(gone.key) { self.rise(place) } else { self.sink(place) }
    }

    #[inline]
    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
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
    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = place * CHILDREN + 1;
            if first >= self.heap.len() {
                break;
            }
            let last = (first + CHILDREN).min(self.heap.len());
            let mut least = first;
            for child in first + 1..last {
                if self.heap[child].key.is_before(self.heap[least].key) {
                    least = child;
                }
            }
            if !self.heap[least].key.is_before(entry.key) {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.place[entry.source as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::random::Stream;
    use time::Time;

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
                assert_eq!(agenda.key_of(source as u32), (key != Key::NEVER).then_some(key));
            }
        }
    }
}
