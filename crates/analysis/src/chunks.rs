//! A list that grows without moving what is in it.
//!
//! A vector that doubles holds its old and its new room at once while it is copied. Of a million connections that is
//! hundreds of megabytes; in chunks it is one chunk.

use std::ops::{Index, IndexMut};

/// As many items make a chunk; a power of two.
const ROOM: usize = 1 << 13;

pub struct Chunks<T> {
    /// Of the last one the end may be unused. Of a fixed length, so that a place in one needs no check.
    chunks: Vec<Box<[T; ROOM]>>,
    len: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks { chunks: Vec::new(), len: 0 }
    }
}

impl<T: Default> Chunks<T> {
    pub fn len(&self) -> usize {
        self.len
    }
    /// Appends an item; returns its place.
    pub fn push(&mut self, item: T) -> usize {
        if self.len.is_multiple_of(ROOM) {
            let unused: Vec<T> = std::iter::repeat_with(T::default).take(ROOM).collect();
            self.chunks.extend(unused.try_into().ok());
        }
        let place = self.len;
        self[place] = item;
        self.len += 1;
        place
    }
    #[inline]
    pub fn get(&self, i: usize) -> Option<&T> {
        let chunk = self.chunks.get(i / ROOM).filter(|_| i < self.len)?;
        Some(&chunk[i % ROOM])
    }
    #[inline]
    pub fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        let chunk = self.chunks.get_mut(i / ROOM).filter(|_| i < self.len)?;
        Some(&mut chunk[i % ROOM])
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;
    #[inline]
    fn index(&self, i: usize) -> &T {
        &self.chunks[i / ROOM][i % ROOM]
    }
}

impl<T> IndexMut<usize> for Chunks<T> {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut T {
        &mut self.chunks[i / ROOM][i % ROOM]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_it_is_found_in_its_place_and_stays_where_it_is() {
        let mut list = Chunks::default();
        assert_eq!(list.push(0), 0);
        let first: *const usize = &list[0];
        for k in 1..3 * ROOM + 5 {
            assert_eq!(list.push(k), k);
        }
        assert_eq!(list.len(), 3 * ROOM + 5);
        assert!((0..list.len()).all(|k| list[k] == k));
        assert_eq!(list.get(list.len()), None);
        assert!(std::ptr::eq(first, &list[0]));
        list[ROOM] = 7;
        assert_eq!(list.get(ROOM), Some(&7));
    }
}
