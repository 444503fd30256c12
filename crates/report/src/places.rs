//! Where the rows of each flow lie in a store: together, flow after flow in rising order.

use analysis::rows::FlowId;
use std::ops::Range;

struct Place {
    flow: FlowId,
    first: usize,
    /// No row is earlier than the one before it.
    ordered: bool,
}

#[derive(Default)]
pub struct Places {
    all: Vec<Place>,
    rows: usize,
    last_ns: i64,
}

impl Places {
    /// The next row is one of this flow.
    pub fn push(&mut self, flow: FlowId, time_ns: i64) {
        match self.all.last_mut() {
            Some(place) if place.flow == flow => place.ordered &= self.last_ns <= time_ns,
            _ => self.all.push(Place { flow, first: self.rows, ordered: true }),
        }
        self.last_ns = time_ns;
        self.rows += 1;
    }
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }
    fn find(&self, flow: FlowId) -> Option<usize> {
        self.all.binary_search_by_key(&flow, |place| place.flow).ok()
    }
    fn rows_at(&self, k: usize) -> Range<usize> {
        self.all[k].first..self.all.get(k + 1).map_or(self.rows, |next| next.first)
    }
    pub fn of(&self, flow: FlowId) -> Range<usize> {
        self.find(flow).map_or(0..0, |k| self.rows_at(k))
    }
    /// The flows that have rows, in rising order, with these.
    pub fn each(&self) -> impl Iterator<Item = (FlowId, Range<usize>)> {
        (0..self.all.len()).map(|k| (self.all[k].flow, self.rows_at(k)))
    }
    /// The rows of a flow from the first to the last in a stretch of time, both ends in it. time_ns: of all rows.
    pub fn within(&self, flow: FlowId, time_ns: &[i64], from_ns: i64, to_ns: i64) -> Range<usize> {
        let Some(k) = self.find(flow) else { return 0..0 };
        let rows = self.rows_at(k);
        let time = &time_ns[rows.clone()];
        let (first, behind) = if self.all[k].ordered {
            (time.partition_point(|t| *t < from_ns), time.partition_point(|t| *t <= to_ns))
        } else {
            let inside = |t: &i64| (from_ns..=to_ns).contains(t);
            let first = time.iter().position(inside).unwrap_or(0);
            (first, time.iter().rposition(inside).map_or(first, |last| last + 1))
        };
        rows.start + first..rows.start + behind.max(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_within_a_stretch_of_time_are_found_in_order_and_out_of_it() {
        let rows = [(3, 10), (3, 20), (3, 20), (3, 40), (7, 5), (7, 30), (7, 20), (7, 50)];
        let mut places = Places::default();
        rows.iter().for_each(|&(flow, time)| places.push(flow, time));
        let time = rows.map(|(_, time)| time);
        let all: Vec<_> = places.each().collect();
        assert_eq!(all, [(3, 0..4), (7, 4..8)]);
        assert_eq!((places.of(7), places.of(4)), (4..8, 0..0));
        assert_eq!(places.within(3, &time, 20, 39), 1..3);
        assert!(places.within(3, &time, 21, 39).is_empty());
        // From the first to the last that lies in it, whatever lies between them.
        assert_eq!(places.within(7, &time, 20, 30), 5..7);
        assert!(places.within(7, &time, 60, 70).is_empty());
    }
}
