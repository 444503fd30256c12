//! The rows of a list that weigh most: in bounded memory, whatever the list's length.

use super::lists::Item;
use std::cmp::Reverse;

/// Takes rows one by one and keeps the heaviest `limit`; of equals those that came first.
pub struct Heaviest<R> {
    limit: usize,
    /// Up to twice as many as are to stay, in order of arrival: so the choice is made once for each `limit` rows.
    rows: Vec<R>,
    /// Some have been left out.
    some: bool,
}

/// What orders rows from the heaviest to the lightest.
fn key<R: Item>(place: usize, row: &R) -> (Reverse<i64>, usize) {
    (Reverse(row.weight()), place)
}

impl<R: Item> Heaviest<R> {
    pub fn of(limit: usize) -> Heaviest<R> {
        Heaviest { limit: limit.max(1), rows: Vec::new(), some: false }
    }
    pub fn offer(&mut self, row: R) {
        self.rows.push(row);
        if self.rows.len() == 2 * self.limit {
            self.choose();
        }
    }
    /// The rows, in order of arrival.
    pub fn rows(self) -> Vec<R> {
        self.rows_and_all().0
    }
    /// The same, and whether they are all that were offered.
    pub fn rows_and_all(mut self) -> (Vec<R>, bool) {
        self.choose();
        (self.rows, !self.some)
    }
    fn choose(&mut self) {
        if self.rows.len() <= self.limit {
            return;
        }
        self.some = true;
        let mut keys: Vec<_> = self.rows.iter().enumerate().map(|(i, row)| key(i, row)).collect();
        let (_, &mut last, _) = keys.select_nth_unstable(self.limit - 1);
        let mut place = 0;
        self.rows.retain(|row| {
            place += 1;
            key(place - 1, row) <= last
        });
    }
}

/// The heaviest `limit` of a list, in its order.
pub fn heaviest<R: Item>(rows: &[R], limit: usize) -> Vec<&R> {
    let mut keys: Vec<_> = rows.iter().enumerate().map(|(i, row)| key(i, row)).collect();
    keys.sort_unstable();
    keys.truncate(limit);
    keys.sort_unstable_by_key(|(_, place)| *place);
    keys.into_iter().map(|(_, place)| &rows[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::rows::BurstRow;
    use proptest::prelude::*;

    fn bursts(lost: &[u32]) -> Vec<BurstRow> {
        let row = |(i, &lost): (usize, &u32)| BurstRow {
            lost_segments: lost,
            seq_start: i as u64,
            ..BurstRow::default()
        };
        lost.iter().enumerate().map(row).collect()
    }

    proptest! {
        #[test]
        fn a_list_too_long_to_keep_leaves_the_same_rows_as_one_that_was_kept_and_sorted(
            lost in prop::collection::vec(0u32..9, 0..200),
            limit in 1usize..40,
        ) {
            let all = bursts(&lost);
            let mut few = Heaviest::of(limit);
            all.iter().cloned().for_each(|row| few.offer(row));
            let few = few.rows();
            prop_assert_eq!(few.iter().collect::<Vec<_>>(), heaviest(&all, limit));
            let mut sorted = all.clone();
            sorted.sort_by_key(|row| Reverse(row.lost_segments)); // stable: of equals the first
            sorted.truncate(limit);
            sorted.sort_by_key(|row| row.seq_start);
            prop_assert_eq!(few, sorted);
        }
    }
}
