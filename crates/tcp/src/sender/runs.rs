//! The SACKed ranges above SND.UNA: disjoint, ascending, not touching.

use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// The end of each run by its beginning. Clones share these until one of them changes its own. A tree, because a
    /// receiver may SACK in any order, and behind each run that begins in between all others would move.
    runs: Arc<BTreeMap<u64, u64>>,
}

/// What a new range became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inserted {
    /// The run that it is part of now.
    pub(crate) run: (u64, u64),
    /// All that was not known is in here; most often nothing else is.
    pub(crate) fresh: (u64, u64),
}

impl Runs {
    /// True if one run holds all of `[left, right)`.
    #[inline]
    pub(crate) fn covers(&self, left: u64, right: u64) -> bool {
        self.runs.range(..=left).next_back().is_some_and(|(_, &end)| end >= right)
    }

    /// Adds a range that is not covered yet.
    pub(crate) fn insert(&mut self, left: u64, right: u64) -> Inserted {
        let runs = Arc::make_mut(&mut self.runs);
        let (mut run, mut fresh) = ((left, right), (left, right));
        // The runs that touch it, from the highest down.
        while let Some((&start, &end)) = runs.range(..=right).next_back()
            && end >= left
        {
            if end >= right {
                fresh.1 = start;
            }
            if start <= left {
                fresh.0 = end;
            }
            run = (run.0.min(start), run.1.max(end));
            runs.remove(&start);
        }
        runs.insert(run.0, run.1);
        Inserted { run, fresh }
    }

    #[inline]
    pub(crate) fn forget_below(&mut self, una: u64) {
        while let Some((&start, &end)) = self.runs.first_key_value()
            && start < una
        {
            let runs = Arc::make_mut(&mut self.runs);
            runs.pop_first();
            if end > una {
                runs.insert(una, end);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    /// The offset after the highest SACKed byte.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.runs.last_key_value().map(|(_, &end)| end)
    }
    /// From the highest down.
    pub(crate) fn downwards(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs.iter().rev().map(|(&start, &end)| (start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(of: &[(u64, u64)]) -> Runs {
        let mut r = Runs::default();
        for &(l, right) in of {
            r.insert(l, right);
        }
        r
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let mut r = runs(&[(10, 20), (30, 40), (50, 60)]);
        assert_eq!(r.insert(20, 30), Inserted { run: (10, 40), fresh: (20, 30) });
        assert_eq!(r.downwards().collect::<Vec<_>>(), [(50, 60), (10, 40)]);
        assert_eq!(r.insert(5, 55), Inserted { run: (5, 60), fresh: (5, 50) });
        assert_eq!(r.insert(20, 70), Inserted { run: (5, 70), fresh: (60, 70) });
        assert_eq!(r.insert(80, 90), Inserted { run: (80, 90), fresh: (80, 90) });
        assert_eq!(r.insert(1, 2), Inserted { run: (1, 2), fresh: (1, 2) });
        assert_eq!(r.downwards().collect::<Vec<_>>(), [(80, 90), (5, 70), (1, 2)]);
    }

    #[test]
    fn what_is_covered_is_no_news() {
        let r = runs(&[(10, 20), (30, 40)]);
        assert!(r.covers(10, 20) && r.covers(12, 15) && r.covers(30, 31));
        assert!(!r.covers(9, 12) && !r.covers(15, 31) && !r.covers(39, 41) && !r.covers(0, 5));
    }

    #[test]
    fn acknowledged_runs_are_forgotten() {
        let mut r = runs(&[(10, 20), (30, 40)]);
        r.forget_below(15);
        assert_eq!(r.downwards().last(), Some((15, 20)));
        r.forget_below(20);
        assert_eq!(r.downwards().last(), Some((30, 40)));
        r.forget_below(99);
        assert!(r.is_empty());
    }
}
