//! A list that grows without moving what is in it.
//!
//! A vector that doubles holds its old and its new room at once while it is copied. Of a million connections that is
//! hundreds of megabytes. Of chunks only the last has room unused, and pages that nobody touched are not resident.

use std::array;
use std::ops::{Index, IndexMut};

/// Items in the first chunk, a power of two. Each other chunk has room for twice as many as the one before it.
const FIRST_CHUNK: usize = 1 << 13;
/// Twenty chunks hold more than 2^32 items, and indices are kept in 32 bits.
const MAX_CHUNKS: usize = 20;

#[derive(Debug)]
pub struct Chunks<T> {
    /// They are filled in order.
    chunks: [Vec<T>; MAX_CHUNKS],
    len: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks { chunks: array::from_fn(|_| Vec::new()), len: 0 }
    }
}

/// The chunk that holds item `i`, and the position in it.
#[inline(always)]
fn locate(i: usize) -> (usize, usize) {
    if i < FIRST_CHUNK {
        return (0, i);
    }
    let bits = (i + FIRST_CHUNK).ilog2();
    ((bits - FIRST_CHUNK.ilog2()) as usize, (i + FIRST_CHUNK) ^ (1 << bits))
}

impl<T> Chunks<T> {
    pub fn len(&self) -> usize {
        self.len
    }
    /// Appends an item and returns its index.
    pub fn push(&mut self, item: T) -> usize {
        let (chunk, at) = locate(self.len);
        let chunk = &mut self.chunks[chunk];
        if at == 0 {
            chunk.reserve_exact(self.len + FIRST_CHUNK);
        }
        chunk.push(item);
        self.len += 1;
        self.len - 1
    }
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().flatten()
    }
    #[inline]
    pub fn get(&self, i: usize) -> Option<&T> {
        let (chunk, at) = locate(i);
        self.chunks.get(chunk)?.get(at)
    }
    #[inline]
    pub fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        let (chunk, at) = locate(i);
        self.chunks.get_mut(chunk)?.get_mut(at)
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;
    #[inline]
    fn index(&self, i: usize) -> &T {
        let (chunk, at) = locate(i);
        &self.chunks[chunk][at]
    }
}

impl<T> IndexMut<usize> for Chunks<T> {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut T {
        let (chunk, at) = locate(i);
        &mut self.chunks[chunk][at]
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
        for k in 1..3 * FIRST_CHUNK + 5 {
            assert_eq!(list.push(k), k);
        }
        assert_eq!(list.len(), 3 * FIRST_CHUNK + 5);
        assert!((0..list.len()).all(|k| list[k] == k));
        assert_eq!(list.get(list.len()), None);
        assert!(std::ptr::eq(first, &list[0]));
        list[FIRST_CHUNK] = 7;
        assert_eq!(list.get(FIRST_CHUNK), Some(&7));
    }
}
