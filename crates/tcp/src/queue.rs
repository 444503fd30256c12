//! A queue with cheap clones. The replay of a capture clones an endpoint at every packet to see what the endpoint would
//! send; a plain `VecDeque` would copy an entry for each outstanding segment each time.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// Entries of a chunk. A queue of fewer than twice as many entries has no chunks.
const CHUNK: usize = 256;

type Chunks<T> = VecDeque<Arc<[T; CHUNK]>>;

/// A queue whose oldest entries lie in chunks that clones share until one of them changes an entry.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    chunks: Option<Arc<Chunks<T>>>,
    /// Entries of the first chunk that were popped.
    popped: usize,
    /// The newest entries.
    tail: VecDeque<T>,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue { chunks: None, popped: 0, tail: VecDeque::new() }
    }
}

impl<T: Copy> Clone for Queue<T> {
    fn clone(&self) -> Queue<T> {
        let mut tail = VecDeque::with_capacity(self.tail.len());
        let (one, other) = self.tail.as_slices();
        tail.extend(one);
        tail.extend(other);
        Queue { chunks: self.chunks.clone(), popped: self.popped, tail }
    }
}

impl<T: Copy> Queue<T> {
    /// Entries in chunks, including those of the first chunk that were popped.
    #[inline]
    fn chunked(&self) -> usize {
        self.chunks.as_ref().map_or(0, |chunks| chunks.len() * CHUNK)
    }
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.chunked() - self.popped + self.tail.len()
    }
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_none() && self.tail.is_empty()
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        (at < self.len()).then(|| &self[at])
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        (at < self.len()).then(|| &mut self[at])
    }
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.get(0)
    }
    // While there are chunks the tail is not empty, because entries leave only at the front.
    #[inline]
    pub(crate) fn back(&self) -> Option<&T> {
        self.tail.back()
    }
    #[inline]
    pub(crate) fn back_mut(&mut self) -> Option<&mut T> {
        self.tail.back_mut()
    }

    #[inline]
    pub(crate) fn push_back(&mut self, entry: T) {
        self.tail.push_back(entry);
        if self.tail.len() >= 2 * CHUNK {
            self.move_oldest_into_chunk();
        }
    }

    #[cold]
    fn move_oldest_into_chunk(&mut self) {
        let chunk: Arc<[T; CHUNK]> = Arc::new(std::array::from_fn(|at| self.tail[at]));
        self.tail.drain(..CHUNK);
        Arc::make_mut(self.chunks.get_or_insert_default()).push_back(chunk);
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        match &self.chunks {
            None => self.tail.pop_front(),
            Some(_) => self.pop_from_chunk(),
        }
    }

    fn pop_from_chunk(&mut self) -> Option<T> {
        let entry = self.get(0).copied();
        self.popped += 1;
        if self.popped == CHUNK {
            self.popped = 0;
            let is_last = self.chunks.as_ref().is_some_and(|chunks| chunks.len() == 1);
            match &mut self.chunks {
                Some(chunks) if !is_last => drop(Arc::make_mut(chunks).pop_front()),
                chunks => *chunks = None,
            }
        }
        entry
    }

    pub(crate) fn clear(&mut self) {
        (self.chunks, self.popped) = (None, 0);
        self.tail.clear();
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        (0..self.len()).map(|at| &self[at])
    }

    /// The entries from place `at` on. Chunks are gone through one by one, which costs less than an index each.
    pub(crate) fn iter_from(&self, at: usize) -> impl Iterator<Item = &T> {
        let (from, in_chunks) = (at + self.popped, self.chunked());
        let chunks = self.chunks.iter().flat_map(move |chunks| chunks.iter().skip(from / CHUNK));
        let oldest = chunks.flat_map(|chunk| chunk.iter()).skip(from % CHUNK);
        let newest = self.tail.iter().skip(from.saturating_sub(in_chunks));
        oldest.chain(newest)
    }

    /// Changes every entry.
    pub(crate) fn for_each_mut(&mut self, mut change: impl FnMut(&mut T)) {
        for chunk in self.chunks.iter_mut().flat_map(|chunks| Arc::make_mut(chunks).iter_mut()) {
            Arc::make_mut(chunk).iter_mut().for_each(&mut change);
        }
        self.tail.iter_mut().for_each(change);
    }

    /// The first place whose entry does not satisfy `holds`. All entries before it have to satisfy it.
    pub(crate) fn partition_point(&self, holds: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match holds(&self[middle]) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

impl<T: Copy> Index<usize> for Queue<T> {
    type Output = T;
    #[inline]
    fn index(&self, at: usize) -> &T {
        let Some(chunks) = &self.chunks else { return &self.tail[at] };
        let at = at + self.popped;
        match chunks.get(at / CHUNK) {
            Some(chunk) => &chunk[at % CHUNK],
            None => &self.tail[at - chunks.len() * CHUNK],
        }
    }
}

impl<T: Copy> IndexMut<usize> for Queue<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        let Some(chunks) = &mut self.chunks else { return &mut self.tail[at] };
        let at = at + self.popped;
        if at / CHUNK >= chunks.len() {
            return &mut self.tail[at - chunks.len() * CHUNK];
        }
        let chunk = &mut Arc::make_mut(chunks)[at / CHUNK];
        &mut Arc::make_mut(chunk)[at % CHUNK]
    }
}

impl<T: Copy> FromIterator<T> for Queue<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Queue<T> {
        let mut queue = Queue::default();
        entries.into_iter().for_each(|entry| queue.push_back(entry));
        queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::draws;

    fn same(queue: &Queue<u32>, model: &VecDeque<u32>) {
        assert_eq!(queue.len(), model.len());
        assert_eq!((queue.is_empty(), queue.back()), (model.is_empty(), model.back()));
        assert!(queue.iter().eq(model.iter()) && queue.iter().rev().eq(model.iter().rev()));
        assert_eq!(queue.get(model.len()), None);
        for at in [0, 1, model.len() / 2, model.len()] {
            assert!(queue.iter_from(at).eq(model.iter().skip(at)));
        }
    }

    #[test]
    fn a_queue_behaves_as_a_plain_one_and_a_clone_does_not_change_with_it() {
        for seed in 1..40 {
            let mut draw = draws(seed);
            let (mut queue, mut model) = (Queue::default(), VecDeque::new());
            let mut before = (queue.clone(), model.clone());
            for step in 0..6_000u32 {
                // Longer at first, shorter later.
                let pops = if step < 3_000 { 2 } else { 7 };
                match draw(10) {
                    at if at < pops => assert_eq!(queue.pop_front(), model.pop_front(), "seed {seed}"),
                    9 if !model.is_empty() => {
                        let at = draw(model.len() as u64) as usize;
                        (queue[at], model[at]) = (step, step);
                        assert_eq!(queue.get_mut(at), model.get_mut(at), "seed {seed}");
                    }
                    _ => {
                        queue.push_back(step);
                        model.push_back(step);
                    }
                }
                if draw(500) == 0 {
                    queue.for_each_mut(|entry| *entry += 1);
                    model.iter_mut().for_each(|entry| *entry += 1);
                    same(&queue, &model);
                    same(&before.0, &before.1);
                    before = (queue.clone(), model.clone());
                }
            }
            queue.clear();
            same(&queue, &VecDeque::new());
            same(&before.0, &before.1);
        }
    }

    #[test]
    fn entries_in_order_are_found_by_halving() {
        let queue: Queue<u32> = (0..2_000).collect();
        (0..=2_000).for_each(|n| assert_eq!(queue.partition_point(|entry| *entry < n), n as usize));
    }
}
