//! What the parts of an analysis took, as one: the rows of all, under the numbers that one analysis of all connections
//! would have given them.

use super::{Shelf, Table};
use analysis::ascending::{Ascending, Walk};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// `births`: with which of the capture's packets each of a part's connections began. A connection's number is its place
/// among all of them.
pub fn gather(parts: Vec<(Shelf, Ascending)>) -> Option<Shelf> {
    let births: Vec<&Ascending> = parts.iter().map(|(_, births)| births).collect();
    let numbers: Vec<Arc<Ascending>> = numbers(&births).into_iter().map(Arc::new).collect();
    let mut parts = parts.into_iter().map(|(shelf, _)| shelf).zip(&numbers);
    let mut all = parts.next().map(|(first, numbers)| first.numbered(numbers))?;
    for (part, numbers) in parts {
        all.take_in(part.numbered(numbers));
    }
    Some(all)
}

/// The numbers of each part's connections among all.
fn numbers(births: &[&Ascending]) -> Vec<Ascending> {
    let mut of_parts = vec![Ascending::default(); births.len()];
    let mut walks: Vec<_> = births.iter().map(|births| Walk::new(*births)).collect();
    let heads = walks.iter_mut().enumerate().filter_map(|(part, walk)| Some(Reverse((walk.next()?, part))));
    let mut heads: BinaryHeap<_> = heads.collect();
    for number in 0.. {
        let Some(mut head) = heads.peek_mut() else { break };
        let Reverse((_, part)) = *head;
        of_parts[part].push(number);
        match walks[part].next() {
            Some(birth) => *head = Reverse((birth, part)),
            None => drop(std::collections::binary_heap::PeekMut::pop(head)),
        }
    }
    of_parts
}

impl Shelf {
    fn numbered(mut self, numbers: &Arc<Ascending>) -> Shelf {
        self.stores = self.stores.map(|store| store.numbered(numbers));
        self.worst.number(numbers);
        self
    }
    fn take_in(&mut self, part: Shelf) {
        let mut stores = part.stores;
        for table in Table::ALL {
            let at = table as usize;
            self.stores[at].take_in(std::mem::take(&mut stores[at]));
        }
        self.sums.take_in(&part.sums);
        self.paths.merge(part.paths);
        self.worst.take_in(part.worst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascending(numbers: &[u64]) -> Ascending {
        let mut all = Ascending::default();
        numbers.iter().for_each(|n| all.push(*n));
        all
    }

    #[test]
    fn connections_are_numbered_as_they_began_whosever_they_are() {
        let births = [ascending(&[1, 9, 11]), ascending(&[]), ascending(&[2, 3, 10, 500])];
        let numbers = numbers(&births.iter().collect::<Vec<_>>());
        assert_eq!(numbers, [ascending(&[0, 3, 5]), ascending(&[]), ascending(&[1, 2, 4, 6])]);
    }
}
