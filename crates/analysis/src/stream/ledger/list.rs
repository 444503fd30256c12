//! First copies in the order of their transmission, which is that of sequence numbers: those that have left and are not
//! told yet, and behind them those that are outstanding. They lie in one piece of memory:
//!
//! ```text
//! | free | left, not told | free | outstanding | room |
//!        from             to     head
//! ```
//!
//! What leaves makes the place free that it takes among those that left, or that nothing takes if it joins the one before
//! it. When there is no room at the end, all of them move to the front, and the list grows if that frees too little: room
//! that doubles is what the caches would be full of, where hundreds of connections have a list each.

use super::entry::Entry;

/// A list with this capacity or less never releases memory.
const FEW: usize = 12;

/// How many unused places a list of `len` entries keeps: as many can be added before the others have to move, and
/// moving a short list is cheap.
fn spare(len: usize) -> usize {
    if len < 128 { len / 8 + 6 } else { len / 4 }
}

#[derive(Clone, Debug, Default)]
pub struct List {
    items: Vec<Entry>,
    from: usize,
    to: usize,
    head: usize,
}

impl List {
    /// Those that are outstanding, the oldest first.
    #[inline(always)]
    pub fn outstanding(&self) -> &[Entry] {
        self.items.get(self.head..).unwrap_or_default()
    }
    #[inline(always)]
    pub fn outstanding_mut(&mut self) -> &mut [Entry] {
        self.items.get_mut(self.head..).unwrap_or_default()
    }
    /// The oldest that is outstanding.
    #[inline(always)]
    pub fn head(&self) -> Option<&Entry> {
        self.items.get(self.head)
    }
    /// Those that have left, the oldest first.
    #[inline(always)]
    pub fn retired(&self) -> &[Entry] {
        self.items.get(self.from..self.to).unwrap_or_default()
    }
    #[inline(always)]
    pub fn retired_mut(&mut self) -> &mut [Entry] {
        self.items.get_mut(self.from..self.to).unwrap_or_default()
    }
    /// The one that left last.
    #[inline(always)]
    pub fn last_retired(&mut self) -> Option<&mut Entry> {
        let last = self.to.checked_sub(1).filter(|last| *last >= self.from)?;
        self.items.get_mut(last)
    }
    fn len(&self) -> usize {
        self.items.len() - self.head + self.to - self.from
    }

    /// Another one is outstanding.
    #[inline(always)]
    pub fn push(&mut self, entry: Entry) {
        if self.items.len() == self.items.capacity() {
            self.make_room();
        }
        self.items.push(entry);
    }
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let (len, free) = (self.len(), self.items.len() - self.len());
        self.close_up();
        if free < spare(len) {
            self.items.reserve_exact(spare(len));
        }
    }
    /// Moves all to the front.
    fn close_up(&mut self) {
        let len = self.len();
        self.items.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        self.items.copy_within(self.head.., self.to);
        self.head = self.to;
        self.items.truncate(len);
    }
    /// Puts one at place `i` of those outstanding, before what is there; near the front those before it move. Returns how
    /// many moved.
    pub fn insert(&mut self, i: usize, entry: Entry) -> usize {
        let len = self.outstanding().len();
        if self.head > self.to && i <= len / 2 {
            self.head -= 1;
            let before = &mut self.outstanding_mut()[..=i];
            before.rotate_left(1);
            before[i] = entry;
            return i;
        }
        if self.items.len() == self.items.capacity() {
            self.make_room();
        }
        self.items.insert(self.head + i, entry);
        len - i
    }
    /// The oldest is outstanding no more.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Entry> {
        let head = *self.items.get(self.head)?;
        self.head += 1;
        Some(head)
    }

    /// Puts one among those that left, at place `i` of them: mostly at their end.
    pub fn insert_retired(&mut self, i: usize, entry: Entry) {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        }
        let at = self.from + i;
        if self.to == self.head {
            // It was never outstanding.
            self.items.insert(at, entry);
            self.head += 1;
        } else {
            self.items.copy_within(at..self.to, at + 1);
            self.items[at] = entry;
        }
        self.to += 1;
    }
    /// The oldest that left.
    pub fn pop_retired(&mut self) -> Option<Entry> {
        let oldest = *self.retired().first()?;
        self.from += 1;
        Some(oldest)
    }

    /// Gives room back where less than a quarter is used, so that a window that swings is not followed all the time;
    /// to be called when some have left.
    #[inline(always)]
    pub fn trim(&mut self) {
        if self.len() * 4 < self.items.capacity() && self.items.capacity() > FEW {
            self.give_back();
        }
    }
    #[cold]
    #[inline(never)]
    fn give_back(&mut self) {
        self.close_up();
        self.items.shrink_to((self.len() + spare(self.len())).max(FEW));
    }
    /// Removes all entries and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.items.clear();
        (self.from, self.to, self.head) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use wire::Time;

    fn entry(k: u64) -> Entry {
        Entry::new(k * 100, k * 100 + 100, Time(0), 0, k)
    }

    #[test]
    fn room_follows_the_length_up_and_down() {
        let mut list = List::default();
        for round in 0..3 {
            (0..5000).for_each(|k| list.push(entry(k)));
            assert!(list.items.capacity() <= 5000 + spare(5000), "{round}");
            while list.outstanding().len() > 100 {
                list.pop();
                list.trim();
            }
            assert!(list.items.capacity() <= 200);
            list.clear();
        }
    }

    #[test]
    fn a_list_of_steady_length_keeps_its_room() {
        let mut list = List::default();
        (0..100).for_each(|k| list.push(entry(k)));
        for k in 100..10_000 {
            list.push(entry(k));
            let left = list.pop().expect("it is outstanding");
            assert_eq!(left.first(), k - 100);
            list.insert_retired(list.retired().len(), left);
            if list.retired().len() > 50 {
                list.pop_retired();
            }
            list.trim();
        }
        assert!(list.items.capacity() <= 2 * 150);
        assert!(list.outstanding().iter().map(Entry::first).eq(9_900..10_000));
        assert!(list.retired().iter().map(Entry::first).eq(9_850..9_900));
    }

    #[test]
    fn it_does_what_two_rings_do() {
        let (mut list, mut out, mut left) = (List::default(), VecDeque::new(), VecDeque::new());
        let mut x = 1u32;
        for k in 0..20_000 {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            let at = |len: usize| (x >> 8) as usize % (len + 1);
            match x >> 28 {
                0..6 => {
                    list.push(entry(k));
                    out.push_back(k);
                }
                6 => {
                    list.insert(at(out.len()), entry(k));
                    out.insert(at(out.len()), k);
                }
                7 => {
                    list.insert_retired(at(left.len()), entry(k));
                    left.insert(at(left.len()), k);
                }
                8..11 => {
                    let (one, other) = (list.pop(), out.pop_front());
                    assert_eq!(one.map(|e| e.first()), other);
                    if let Some(one) = one {
                        list.insert_retired(left.len(), one);
                        left.extend(other);
                    }
                }
                11..14 => assert_eq!(list.pop_retired().map(|e| e.first()), left.pop_front()),
                _ => assert_eq!(list.pop().map(|e| e.first()), out.pop_front()),
            }
            list.trim();
            assert!(list.outstanding().iter().map(Entry::first).eq(out.iter().copied()));
            assert!(list.retired().iter().map(Entry::first).eq(left.iter().copied()));
        }
    }
}
