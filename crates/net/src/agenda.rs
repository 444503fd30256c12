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

/// The next event of each source that has one.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    len: usize,
    /// The four children of each place together, so that they are compared without looking whether they are there:
    /// behind the last source all are [`NOBODY`]. Places count from the first group on; the root is place 3, and
    /// the children of place `p` are group `p - 2`.
    groups: Vec<[Entry; CHILDREN]>,
    /// Where each source is in the heap.
    place: Vec<u32>,
    /// Up to four sources need no heap: source `n` is always entry `n` of the first group, and this is the least.
    /// One flow over one link has no more, and a change costs a store and three comparisons.
    few: bool,
    least: Entry,
    /// The first was taken out and nobody has its place yet: see [`Agenda::set_first`].
    hole: bool,
    /// Places below this are near the top; none is where nobody looks ahead.
    near_end: usize,
    /// Who came near the top, into each of its levels but the root, since [`Agenda::take_near`] was asked last.
    near: [u32; LEVELS],
}

/// How many levels below the root are near: 4 and 16 sources.
const LEVELS: usize = 2;
const NEAR_END: usize = ROOT + 1 + CHILDREN + CHILDREN * CHILDREN;

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda::new(0)
    }
}

const NOBODY: Entry = Entry { key: Key::NEVER, source: ABSENT };
const ROOT: usize = CHILDREN - 1;

impl Agenda {
    pub fn new(sources: usize) -> Agenda {
        Agenda {
            len: 0,
            groups: vec![[NOBODY; CHILDREN]],
            place: vec![ABSENT; sources],
            few: sources <= CHILDREN,
            least: NOBODY,
            hole: false,
            near_end: 0,
            near: [ABSENT; LEVELS],
        }
    }

    /// One that tells who comes near the top.
    pub fn looking_ahead(sources: usize) -> Agenda {
        Agenda { near_end: NEAR_END, ..Agenda::new(sources) }
    }
    #[inline(always)]
    pub fn looks_ahead(&self) -> bool {
        self.near_end > 0
    }

    /// Who will be first after a few more events, and who after a few dozen: those that came into the first level
    /// below the root, and into the second. Each is told once, if it came alone.
    #[inline(always)]
    pub fn take_near(&mut self) -> [Option<u32>; LEVELS] {
        let near = std::mem::replace(&mut self.near, [ABSENT; LEVELS]);
        near.map(|source| (source != ABSENT).then_some(source))
    }

    /// Room for sources up to this number.
    pub fn grow(&mut self, source: u32) {
        if source as usize >= self.place.len() {
            self.place.resize(source as usize + 1, ABSENT);
        }
        if self.few && self.place.len() > CHILDREN {
            self.few = false;
            let entries = std::mem::replace(&mut self.groups, vec![[NOBODY; CHILDREN]]);
            entries.as_flattened().iter().filter(|e| e.key != Key::NEVER).for_each(|e| self.add(*e));
        }
    }

    #[inline]
    fn set_of_few(&mut self, source: u32, key: Key) {
        let Some(group) = self.groups.first_mut() else { return };
        group[source as usize & 3] = Entry { key, source };
        // By value: an entry that was just stored in parts and is read whole would be waited for.
        self.least = group[0].earlier(group[1]).earlier(group[2].earlier(group[3]));
    }

    #[inline]
    fn root(&self) -> Entry {
        self.least
    }
    #[inline]
    pub fn first(&self) -> Option<(Key, u32)> {
        let root = self.root();
        (root.key != Key::NEVER).then_some((root.key, root.source))
    }

    #[inline]
    pub fn first_key(&self) -> Key {
        self.root().key
    }

    /// The source's next event is now this one; [`Key::NEVER`] for none.
    #[inline]
    pub fn set(&mut self, source: u32, key: Key) {
        if self.few {
            return self.set_of_few(source, key);
        }
        let place = self.place[source as usize];
        if place == ABSENT {
            if key != Key::NEVER {
                self.add(Entry { key, source });
            }
            return;
        }
        self.close();
        let place = self.place[source as usize] as usize;
        let old = self.at(place).key;
        if key == Key::NEVER {
            self.remove(place);
        } else if old != key {
            let entry = Entry { key, source };
            if key.is_before(old) { self.rise(place, entry) } else { self.sink(place, entry) }
        }
    }

    /// The same for the source that is first. If it has no further event, its place stays open for the next source
    /// that is added, which is most often at once: the link that the packet goes on to. [`Agenda::close`] is to be
    /// called before asking who is first.
    #[inline]
    pub fn set_first(&mut self, key: Key) {
        let first = self.root();
        if first.key == Key::NEVER {
            return;
        }
        if self.few {
            return self.set_of_few(first.source, key);
        }
        if key == Key::NEVER {
            self.place[first.source as usize] = ABSENT;
            self.hole = true;
            return;
        }
        // Its next event is never before the one that was handled.
        self.sink(ROOT, Entry { key, source: first.source });
    }

    /// Nobody took the place of the first that was taken out.
    #[inline(always)]
    pub fn close(&mut self) {
        if self.hole {
            self.fill();
        }
    }

    fn fill(&mut self) {
        self.hole = false;
        let last = self.take_last();
        if self.len > 0 { self.sink(ROOT, last) } else { self.least = NOBODY }
    }

    fn take_last(&mut self) -> Entry {
        self.len -= 1;
        let end = ROOT + self.len;
        let last = self.at(end);
        self.groups[end / CHILDREN][end % CHILDREN] = NOBODY;
        last
    }

    #[inline]
    fn add(&mut self, entry: Entry) {
        if self.hole {
            self.hole = false;
            return self.sink(ROOT, entry);
        }
        let last = ROOT + self.len;
        if last / CHILDREN >= self.groups.len() {
            self.groups.push([NOBODY; CHILDREN]);
        }
        self.len += 1;
        self.rise(last, entry);
    }

    fn remove(&mut self, place: usize) {
        let gone = self.at(place);
        self.place[gone.source as usize] = ABSENT;
        let last = self.take_last();
        if last == gone {
            self.least = self.groups[0][ROOT];
            return;
        }
        if last.key.is_before(gone.key) { self.rise(place, last) } else { self.sink(place, last) }
    }

    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > ROOT {
            let parent = place / CHILDREN + 2;
            let above = self.at(parent);
            if !entry.key.is_before(above.key) {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
        self.least = self.groups[0][ROOT];
    }

    #[inline]
    fn sink(&mut self, mut place: usize, entry: Entry) {
        // Not one level too far: four that are nobody cost as much as any.
        while (place - 2) * CHILDREN < ROOT + self.len {
            let Some(children) = self.groups.get(place - 2) else { break };
            let least = least_of_four(children);
            let child = children[least & 3];
            if !child.key.is_before(entry.key) {
                break;
            }
            self.put(place, child);
            place = (place - 2) * CHILDREN + least;
        }
        self.put(place, entry);
        self.least = self.groups[0][ROOT];
    }

    #[inline]
    fn at(&self, place: usize) -> Entry {
        self.groups[place / CHILDREN][place % CHILDREN]
    }
    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.groups[place / CHILDREN][place % CHILDREN] = entry;
        self.place[entry.source as usize] = place as u32;
        if place < self.near_end {
            self.near[usize::from(place > ROOT + CHILDREN)] = entry.source;
        }
    }
}

/// Without branches: which child is least can not be predicted.
#[inline(always)]
fn least_of_four(children: &[Entry; CHILDREN]) -> usize {
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

    #[test]
    fn sources_may_become_more() {
        let mut agenda = Agenda::default();
        for source in 0..9 {
            agenda.grow(source);
            agenda.set(source, Key { time: Time(100 - i64::from(source)), order: 1 });
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
