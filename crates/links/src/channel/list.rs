//! Exactly these packets are lost, counted from 0 among those that the channel looks at.

use super::Answer;

#[derive(Clone, Debug)]
pub(crate) struct List {
    /// Ascending; those before `place` have passed.
    ordinals: Vec<u64>,
    place: usize,
    count: u64,
}

impl List {
    pub fn new(ordinals: &[u64]) -> List {
        let mut ordinals = ordinals.to_vec();
        ordinals.sort_unstable();
        ordinals.dedup();
        List { ordinals, place: 0, count: 0 }
    }

    #[inline]
    pub fn answer(&mut self) -> Answer {
        let ordinal = self.count;
        self.count += 1;
        if self.ordinals.get(self.place) != Some(&ordinal) {
            return Answer::Deliver;
        }
        self.place += 1;
        Answer::Drop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loses_the_listed_packets_and_no_others_in_whatever_order_they_are_listed() {
        let mut list = List::new(&[4, 1, 1, 9, 0]);
        let lost: Vec<u32> = (0..20).filter(|_| list.answer() == Answer::Drop).collect();
        assert_eq!(lost, [0, 1, 4, 9]);
        assert_eq!(List::new(&[]).answer(), Answer::Deliver);
    }
}
