//! Sack1's scoreboard: runs of packets that SACK blocks have reported, and how far the holes have been resent.
//!
//! A hole is resent once: `resent_to` only moves up, until the board is cleared. What ns-2.35 shares with its
//! reassembly queue is kept: a block that reaches `lowest` moves it, a hole counts only below some block, and a block
//! that was known before changes nothing, so that an acknowledgement without news is no duplicate.

use super::{Number, Run};

#[derive(Clone, Debug)]
pub(super) struct Board {
    /// Apart from each other, in order.
    runs: Vec<Run>,
    /// In the runs.
    packets: i64,
    /// Holes begin here at the earliest (`sack_min`).
    lowest: Number,
    /// Holes below have been resent (`h_seqno_`).
    resent_to: Number,
}

impl Board {
    pub(super) fn new() -> Board {
        Board { runs: Vec::new(), packets: 0, lowest: -1, resent_to: -1 }
    }

    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.packets = 0;
        self.resent_to = -1;
    }

    /// An acknowledgement's blocks. True if they told anything new.
    pub(super) fn update(&mut self, acknowledged: Number, blocks: &[Run]) -> bool {
        let before = self.packets;
        let mut news = false;
        if self.lowest <= acknowledged {
            self.lowest = acknowledged + 1;
            news = !self.runs.is_empty();
            self.drop_below(self.lowest);
        }
        for b in blocks {
            self.add(*b);
        }
        news || self.packets != before
    }

    /// The next hole to resend.
    pub(super) fn next_hole(&mut self) -> Option<Number> {
        self.resent_to = self.resent_to.max(self.lowest);
        let (hole, below_a_run) = self.hole_from(self.resent_to)?;
        if hole <= 0 || !below_a_run {
            return None;
        }
        self.resent_to = self.resent_to.max(hole);
        Some(hole)
    }

    pub(super) fn mark_resent(&mut self, number: Number) {
        if number >= self.resent_to {
            self.resent_to = number + 1;
        }
    }

    /// The first packet at or above `number` that is in no run, if there is a run to compare with.
    pub(super) fn next_unacknowledged(&self, number: Number) -> Option<Number> {
        self.hole_from(number).map(|(hole, _)| hole)
    }

    /// The hole, and whether a run lies above it.
    fn hole_from(&self, number: Number) -> Option<(Number, bool)> {
        let at = self.runs.partition_point(|r| r.right < number);
        let run = self.runs.get(at)?;
        if run.left > number {
            return Some((number, true));
        }
        Some((run.right, at + 1 < self.runs.len()))
    }

    fn drop_below(&mut self, number: Number) {
        let gone = self.runs.partition_point(|r| r.right <= number);
        self.packets -= self.runs.drain(..gone).map(|r| r.right - r.left).sum::<i64>();
        if let Some(first) = self.runs.first_mut()
            && first.left < number
        {
            self.packets -= number - first.left;
            first.left = number;
        }
    }

    /// Joins what it overlaps or touches. A run that `lowest` lies in or behind moves it to the run's end.
    fn add(&mut self, block: Run) {
        if block.left >= block.right {
            return;
        }
        let (from, to) = self.overlapped(block);
        if self.runs.get(from) == Some(&block) {
            return;
        }
        let reports_first = self.reports_first_run(block, from, to);
        let joined = self.join(block);
        let reported = if reports_first { self.runs[0] } else { joined };
        if self.lowest >= reported.left {
            self.lowest = reported.right;
        }
    }

    /// `from ..< to` of the runs.
    fn overlapped(&self, block: Run) -> (usize, usize) {
        let from = self.runs.partition_point(|r| r.right <= block.left);
        let to = self.runs.partition_point(|r| r.left < block.right);
        (from, to)
    }

    fn join(&mut self, block: Run) -> Run {
        let from = self.runs.partition_point(|r| r.right < block.left);
        let to = self.runs.partition_point(|r| r.left <= block.right);
        let mut joined = block;
        if from < to {
            joined.left = joined.left.min(self.runs[from].left);
            joined.right = joined.right.max(self.runs[to - 1].right);
        }
        let replaced = self.runs.splice(from..to, [joined]).map(|r| r.right - r.left).sum::<i64>();
        self.packets += joined.right - joined.left - replaced;
        joined
    }

    /// ns-2's queue looks at its first run, not at the one that changed, where a block adds to a single run and there
    /// is no other on that side. The two differ only once blocks from below `lowest` have come in (reordered
    /// acknowledgements, DSACK). `from ..< to` are overlapped; those that the block covers as a whole do not count.
    fn reports_first_run(&self, block: Run, from: usize, to: usize) -> bool {
        let in_part = |r: &&Run| r.left < block.left || r.right > block.right;
        let overlapped = &self.runs[from..to];
        let run = match (overlapped.first().filter(in_part), overlapped.last().filter(in_part)) {
            (Some(a), Some(b)) if a != b => return false,
            (Some(run), _) | (None, Some(run)) => run,
            (None, None) => return false,
        };
        let (beyond_left, beyond_right) = (block.left < run.left, block.right > run.right);
        let inside = !beyond_left && !beyond_right;
        inside || (beyond_right && to == self.runs.len()) || (beyond_left && from == 0)
    }
}
