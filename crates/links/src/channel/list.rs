//! Exactly these packets are lost, counted from 0 among those that the channel looks at.

use super::{Answer, Asked, Channel, Passing, Seeds, Standing};
use crate::check::Checked;
use params::keys::{Kind, Variant, key, variant, whole};
use params::problem::Problems;
use params::{Item, Lines, Values};

/// Exactly these packets, counted from 0 among those that the channel looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    pub ordinals: Vec<u64>,
}

impl params::Params for Params {
    const VARIANT: Variant = variant(
        "list",
        "Exactly these packets are lost.",
        &[key(
            "packets",
            Kind::List { of: &whole(0, u64::MAX / 2), least: 1 },
            "Their numbers, counted from 0 among those that the channel looks at, in each direction.",
        )],
    );
    fn read(v: &Values, _: &mut Problems) -> Option<Params> {
        let mut ordinals: Vec<u64> =
            v.item("packets")?.list().iter().map(Item::whole).collect::<Option<_>>()?;
        ordinals.sort_unstable();
        ordinals.dedup();
        Some(Params { ordinals })
    }
    fn write(&self, out: &mut Lines) {
        out.wholes("packets", &self.ordinals);
    }
}

impl Channel for Params {
    type Law = List;
    fn law(&self, _: &str, _: Seeds) -> Option<List> {
        Some(List::new(&self.ordinals))
    }
    fn check(&self, _: &Standing) -> Checked {
        Ok(())
    }
}

impl Asked for List {
    fn ask(&mut self, _: Passing) -> Answer {
        self.answer()
    }
}

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
