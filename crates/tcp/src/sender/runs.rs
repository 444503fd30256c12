//! The SACKed ranges above SND.UNA: disjoint, ascending, not touching.

use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// Clones share these runs until one of them changes its own.
    runs: Arc<VecDeque<(u64, u64)>>,
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
    /// True if one run holds all of `[left, right)`. New information is about the top or the bottom most often,
    /// and most blocks repeat what is known.
    #[inline]
    pub(crate) fn covers(&self, left: u64, right: u64) -> bool {
        match self.runs.back() {
            None => false,
            Some(&(l, r)) if l <= left => right <= r,
            Some(_) => {
                let at = self.runs.partition_point(|&(l, _)| l <= left);
                at > 0 && self.runs[at - 1].1 >= right
            }
        }
    }

    /// Adds a range that is not covered yet.
    pub(crate) fn insert(&mut self, left: u64, right: u64) -> Inserted {
        // The runs from `first` up to `last` touch it.
        let runs = Arc::make_mut(&mut self.runs);
        let first = runs.partition_point(|&(_, r)| r < left);
        let last = runs.partition_point(|&(l, _)| l <= right);
        if first == last {
            runs.insert(first, (left, right));
            return Inserted { run: (left, right), fresh: (left, right) };
        }
        let (below, above) = (runs[first], runs[last - 1]);
        let fresh =
            (if below.0 <= left { below.1 } else { left }, if above.1 >= right { above.0 } else { right });
        let run = (left.min(below.0), right.max(above.1));
        runs[first] = run;
        if last - first > 1 {
            runs.drain(first + 1..last);
        }
        Inserted { run, fresh }
    }

    #[inline]
    pub(crate) fn forget_below(&mut self, una: u64) {
        while let Some(&first) = self.runs.front()
            && first.0 < una
        {
            let runs = Arc::make_mut(&mut self.runs);
            match first.1 > una {
                true => runs[0].0 = una,
                false => drop(runs.pop_front()),
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    /// The offset after the highest SACKed byte.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.runs.back().map(|r| r.1)
    }
    /// From the highest down.
    pub(crate) fn downwards(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs.iter().rev().copied()
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
