//! Queues with little more room than they need.
//!
//! A ring's places are used in turn, all of them. Where hundreds of connections have one each, room that doubles as
//! it grows is what the caches are full of.

use std::collections::VecDeque;

/// A queue of fewer items keeps the room it has.
const FEW: usize = 32;

/// Appends an item.
#[inline]
pub fn push<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() == queue.capacity() {
        make_room(queue);
    }
    queue.push_back(item);
}

/// Puts an item at place `i`, before what is there.
pub fn insert<T>(queue: &mut VecDeque<T>, i: usize, item: T) {
    if queue.len() == queue.capacity() {
        make_room(queue);
    }
    queue.insert(i, item);
}

#[cold]
fn make_room<T>(queue: &mut VecDeque<T>) {
    queue.reserve_exact(queue.len() / 4 + 12);
}

/// Gives room back where less than a quarter is used, so that a window that swings is not followed all the time; to be called when items have left.
#[inline]
pub fn trim<T>(queue: &mut VecDeque<T>) {
    if queue.len() * 4 < queue.capacity() && queue.capacity() > FEW {
        give_back(queue);
    }
}

#[cold]
fn give_back<T>(queue: &mut VecDeque<T>) {
    queue.shrink_to((queue.len() + queue.len() / 4 + 12).max(FEW));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_follows_the_length_up_and_down() {
        let mut queue = VecDeque::new();
        for round in 0..3 {
            (0..5000).for_each(|k| push(&mut queue, k));
            assert!(queue.capacity() <= 5000 + 5000 / 4 + 12, "{round}");
            while queue.len() > 100 {
                queue.pop_front();
                trim(&mut queue);
            }
            assert!(queue.capacity() <= 200);
            assert_eq!(queue.back(), Some(&4999));
            queue.clear();
        }
    }
}
