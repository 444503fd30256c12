//! An indexed heap with four children to a node: two levels for sixteen sources, and a node's children share a cache
//! line or two.

use super::{ABSENT, Entry, NOBODY};

const CHILDREN: usize = 4;
const ROOT: usize = CHILDREN - 1;

#[derive(Clone, Debug)]
pub(super) struct Heap {
    len: usize,
    /// The four children of each place together, so that they are compared without looking whether they are there:
    /// behind the last source all are [`NOBODY`]. Places count from the first group on; the root is place 3, and
    /// the children of place `p` are group `p - 2`.
    groups: Vec<[Entry; CHILDREN]>,
    /// Where each source is.
    place: Vec<u32>,
}

impl Default for Heap {
    fn default() -> Heap {
        Heap { len: 0, groups: vec![[NOBODY; CHILDREN]], place: Vec::new() }
    }
}

impl Heap {
    pub fn grow(&mut self, sources: usize) {
        self.place.resize(sources, ABSENT);
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Nobody where it is empty.
    #[inline]
    pub fn first(&self) -> Entry {
        self.groups[0][ROOT]
    }

    pub fn add(&mut self, entry: Entry) {
        let last = ROOT + self.len;
        if last / CHILDREN >= self.groups.len() {
            self.groups.push([NOBODY; CHILDREN]);
        }
        self.len += 1;
        self.rise(last, entry);
    }

    /// A source that is in it.
    pub fn take(&mut self, source: u32) {
        let place = self.place[source as usize] as usize;
        let gone = self.at(place);
        let last = self.take_last();
        if last != gone {
            if last.key.is_before(gone.key) { self.rise(place, last) } else { self.sink(place, last) }
        }
    }

    fn take_last(&mut self) -> Entry {
        self.len -= 1;
        let end = ROOT + self.len;
        let last = self.at(end);
        self.groups[end / CHILDREN][end % CHILDREN] = NOBODY;
        last
    }

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
    }

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
    }

    #[inline]
    fn at(&self, place: usize) -> Entry {
        self.groups[place / CHILDREN][place % CHILDREN]
    }
    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.groups[place / CHILDREN][place % CHILDREN] = entry;
        self.place[entry.source as usize] = place as u32;
    }
}

/// Without branches: which child is least cannot be predicted.
#[inline(always)]
fn least_of_four(children: &[Entry; CHILDREN]) -> usize {
    let key = |child: usize| children[child & 3].key;
    let left = key(1).is_before(key(0)) as usize;
    let right = 2 + key(3).is_before(key(2)) as usize;
    let take_right = key(right).is_before(key(left)) as usize;
    left + take_right * (right - left)
}
