//! Queues that lie in one piece, with little more room than they need.
//!
//! What leaves at the front leaves its place behind, until those places are enough for what comes at the end: then
//! the rest moves there. An item is found by one addition, and is beside the one before it. Where hundreds of
//! connections have a queue each, room that doubles as it grows is what the caches are full of.

use std::mem::take;

/// A queue of fewer items keeps the room it has.
const FEW: usize = 12;

/// How many places a queue of `len` items has besides: as many come before the others have to move.
fn spare(len: usize) -> usize {
    len / 4 + 6
}

#[derive(Clone, Debug)]
pub struct Queue<T> {
    /// Those before `head` have left.
    items: Vec<T>,
    head: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue { items: Vec::new(), head: 0 }
    }
}

impl<T> Queue<T> {
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.items.len() - self.head
    }
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.items.len() == self.head
    }
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        self.items.get(self.head)
    }
    #[inline(always)]
    pub fn back(&self) -> Option<&T> {
        self.items.last().filter(|_| !self.is_empty())
    }
    #[inline(always)]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        self.items.get_mut(self.head..)?.last_mut()
    }
    #[inline(always)]
    pub fn get(&self, i: usize) -> Option<&T> {
        self.items.get(self.head + i)
    }
    #[inline(always)]
    pub fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        self.items.get_mut(self.head + i)
    }
    /// All of it, the front first.
    #[inline(always)]
    pub fn all(&self) -> &[T] {
        self.items.get(self.head..).unwrap_or_default()
    }
    #[inline(always)]
    pub fn all_mut(&mut self) -> &mut [T] {
        self.items.get_mut(self.head..).unwrap_or_default()
    }
    /// Appends an item.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        if self.items.len() == self.items.capacity() {
            self.make_room();
        }
        self.items.push(item);
    }
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let spare = spare(self.len());
        let left = self.head;
        self.close_up();
        if left < spare {
            self.items.reserve_exact(spare);
        }
    }
    /// Moves what is there to where those were that have left.
    fn close_up(&mut self) {
        self.items.drain(..self.head);
        self.head = 0;
    }
    /// Puts an item at place `i`, before what is there; near the front those before it move. Returns how many moved.
    pub fn insert(&mut self, i: usize, item: T) -> usize {
        if self.head > 0 && i <= self.len() / 2 {
            self.head -= 1;
            let before = &mut self.all_mut()[..=i];
            before.rotate_left(1);
            before[i] = item;
            return i;
        }
        if self.items.len() == self.items.capacity() {
            self.make_room();
        }
        self.items.insert(self.head + i, item);
        self.len() - i - 1
    }
    /// The front leaves, whatever it is.
    #[inline(always)]
    pub fn drop_front(&mut self) {
        self.head += usize::from(!self.is_empty());
    }
    #[inline]
    pub fn pop_front(&mut self) -> Option<T>
    where
        T: Default,
    {
        let front = take(self.items.get_mut(self.head)?);
        self.head += 1;
        Some(front)
    }
    /// Gives room back where less than a quarter is used, so that a window that swings is not followed all the time;
    /// to be called when items have left.
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
    /// Nothing is left but the room.
    pub fn clear(&mut self) {
        self.items.clear();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn room_follows_the_length_up_and_down() {
        let mut queue = Queue::default();
        for round in 0..3 {
            (0..5000).for_each(|k| queue.push(k));
            assert!(queue.items.capacity() <= 5000 + spare(5000), "{round}");
            while queue.len() > 100 {
                queue.drop_front();
                queue.trim();
            }
            assert!(queue.items.capacity() <= 200);
            assert_eq!(queue.back(), Some(&4999));
            queue.clear();
        }
    }

    #[test]
    fn a_queue_of_steady_length_keeps_its_room() {
        let mut queue = Queue::default();
        (0..100).for_each(|k| queue.push(k));
        for k in 100..10_000 {
            queue.push(k);
            assert_eq!(queue.pop_front(), Some(k - 100));
            queue.trim();
        }
        assert!(queue.items.capacity() <= 2 * 100);
        assert!(queue.all().iter().copied().eq(9_900..10_000));
    }

    #[test]
    fn it_does_what_a_ring_does() {
        let (mut queue, mut ring) = (Queue::default(), VecDeque::new());
        let mut x = 1u32;
        for k in 0..20_000 {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            match x >> 30 {
                0 | 1 => {
                    queue.push(k);
                    ring.push_back(k);
                }
                2 if x >> 29 & 1 == 0 => {
                    let at = (x >> 8) as usize % (ring.len() + 1);
                    queue.insert(at, k);
                    ring.insert(at, k);
                }
                _ => assert_eq!(queue.pop_front(), ring.pop_front()),
            }
            queue.trim();
            assert_eq!((queue.len(), queue.front(), queue.back()), (ring.len(), ring.front(), ring.back()));
            assert_eq!(queue.get(3), ring.get(3));
        }
        assert!(queue.all().iter().eq(&ring));
    }
}
