//! Which segment goes again next? NextSeg of RFC 6675 §4, each search from where the last one ended.

use super::{Board, LOST, REPAIRED, SACKED};

impl Board {
    /// The lowest segment that is lost and not resent: NextSeg (1) of RFC 6675 §4.
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        let (at, wants_repair) = self.search_lost()?;
        self.repair_from = if at < self.segs.len() { self.offset(at) } else { self.end };
        wants_repair.then_some(at)
    }

    /// The same without a note of how far the search has come.
    pub(crate) fn has_lost(&self) -> Option<usize> {
        self.search_lost().filter(|(_, wants_repair)| *wants_repair).map(|(at, _)| at)
    }

    /// Where the search ends, and whether the segment there is one that is looked for.
    #[inline(always)]
    fn search_lost(&self) -> Option<(usize, bool)> {
        if self.lost.segments == 0 || self.repair_from >= self.end {
            return None;
        }
        let mut at = self.find(self.repair_from);
        while let Some(seg) = self.segs.get(at) {
            if seg.wants_repair() {
                return Some((at, true));
            }
            // What is not marked yet may be later: the search goes on from here then. By time, marks have gaps.
            let unmarked = seg.marks & (LOST | SACKED) == 0;
            if unmarked && (self.by_time.is_none() || self.offset(at) >= self.lost_to) {
                break;
            }
            at += 1;
        }
        Some((at, false))
    }

    /// The lowest segment that is neither SACKed nor resent, below the highest SACKed one: NextSeg (3) of RFC 6675 §4.
    pub(crate) fn next_hole(&mut self) -> Option<usize> {
        let highest = self.runs.highest()?.min(self.end);
        let mut offset = self.hole_from.max(self.una);
        if offset >= highest {
            return None;
        }
        let mut at = self.find(offset);
        offset = self.offset(at);
        while let Some(seg) = self.segs.get(at)
            && offset < highest
        {
            if seg.marks & (SACKED | REPAIRED) == 0 {
                self.hole_from = offset;
                return Some(at);
            }
            offset += u64::from(seg.space());
            at += 1;
        }
        self.hole_from = offset;
        None
    }

    /// The highest segment that is not SACKed: NextSeg (4) of RFC 6675 §4.
    pub(crate) fn last_unsacked(&self) -> Option<usize> {
        (0..self.segs.len()).rev().find(|&at| !self.segs[at].sacked())
    }
}
