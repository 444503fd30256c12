//! The rows of a list that weigh most: in bounded memory, whatever the list's length.

use super::lists::Item;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A row with its weight and its place; the lightest, and among equals the last, is the first to go.
struct Weighed<R> {
    weight: i64,
    place: Reverse<usize>,
    row: R,
}

impl<R> Weighed<R> {
    fn key(&self) -> (i64, Reverse<usize>) {
        (self.weight, self.place)
    }
}
impl<R> PartialEq for Weighed<R> {
    fn eq(&self, o: &Self) -> bool {
        self.key() == o.key()
    }
}
impl<R> Eq for Weighed<R> {}
impl<R> PartialOrd for Weighed<R> {
    fn partial_cmp(&self, o: &Self) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}
impl<R> Ord for Weighed<R> {
    fn cmp(&self, o: &Self) -> Ordering {
        self.key().cmp(&o.key())
    }
}

pub struct Heaviest<R> {
    limit: usize,
    seen: usize,
    heap: BinaryHeap<Reverse<Weighed<R>>>,
}

impl<R: Item> Heaviest<R> {
    pub fn of(limit: usize) -> Heaviest<R> {
        Heaviest { limit, seen: 0, heap: BinaryHeap::new() }
    }
    pub fn offer(&mut self, row: R) {
        let new = Weighed { weight: row.weight(), place: Reverse(self.seen), row };
        self.seen += 1;
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(new));
        } else if let Some(mut least) = self.heap.peek_mut()
            && least.0 < new
        {
            *least = Reverse(new);
        }
    }
    /// The rows, the heaviest first.
    pub fn rows(self) -> Vec<R> {
        self.heap.into_sorted_vec().into_iter().map(|w| w.0.row).collect()
    }
}
