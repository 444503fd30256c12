//! Segments that are found lost, one by one or all at once, and taken back.

use super::{Board, LOST, REPAIRED, SACKED, Tally};

impl Board {
    /// Everything below `frontier` that is not SACKed is lost. Returns whether that is news.
    pub(crate) fn mark_lost_below(&mut self, frontier: u64) -> bool {
        let frontier = frontier.min(self.end);
        if frontier <= self.lost_to {
            return false;
        }
        let mut news = false;
        let mut at = self.find(self.lost_to);
        while let Some(seg) = self.segs.get(at) {
            let end = self.una + u64::from(seg.low.wrapping_sub(self.una as u32)) + u64::from(seg.space());
            if end > frontier {
                break;
            }
            news |= self.find_lost(at);
            at += 1;
        }
        self.lost_to = frontier;
        news
    }

    /// The oldest segment is lost, whatever lies above (entry of recovery; partial ACK without SACK).
    pub(crate) fn mark_first_lost(&mut self) {
        if !self.segs.is_empty() && self.find_lost(0) {
            self.repair_from = self.una;
        }
    }

    /// Entry `at` is taken for lost, unless it is SACKed; nothing else follows. Returns whether that is news.
    #[inline]
    pub(crate) fn take_for_lost(&mut self, at: usize) -> bool {
        let seg = &mut self.segs[at];
        let news = seg.marks & (SACKED | LOST) == 0;
        if news {
            seg.marks |= LOST;
            self.lost.add(seg.space());
        }
        news
    }

    /// Entry `at` is found lost, if it is neither that nor SACKed. Returns whether that is news.
    #[inline]
    fn find_lost(&mut self, at: usize) -> bool {
        let news = self.take_for_lost(at);
        if news {
            self.count_loss(at);
        }
        news
    }

    /// Everything below `limit` that is not SACKed is lost (timeout). Repairs that are on their way stay so.
    pub(crate) fn mark_all_lost(&mut self, limit: u64) {
        let within = limit.saturating_sub(self.una) as u32;
        let base = self.una as u32;
        for at in 0..self.segs.len() {
            if self.segs[at].low.wrapping_sub(base) >= within {
                break;
            }
            self.find_lost(at);
        }
        self.lost_to = self.lost_to.max(limit);
        self.repair_from = self.una;
    }

    /// Nothing is lost after all, or a new search for what is begins.
    pub(crate) fn forget_losses(&mut self) {
        if self.lost.segments > 0 || self.repaired.segments > 0 {
            self.segs.for_each_mut(|seg| seg.marks &= !(LOST | REPAIRED));
        }
        self.lost = Tally::default();
        self.repaired = Tally::default();
        self.lost_to = self.una;
        self.repair_from = self.una;
        self.hole_from = self.una;
    }
}
