//! What has become certain leaves.

use super::*;

impl Ledger {
    /// Nothing from this copy on is certain.
    #[inline(always)]
    fn oldest(&self) -> Ordinal {
        self.board.front().map_or(self.next, Entry::holds_back)
    }
    /// May something have become certain? Mostly nothing has.
    #[inline(always)]
    pub fn may_advance(&self, now: Time) -> bool {
        let Some(trouble) = &self.trouble else { return false };
        let list = &self.board.list;
        trouble.may_advance(now, list, self.oldest())
            || self.board.resent_or_unseen == 0 && list.retired().is_empty()
    }
    /// Tells apart what has waited for that until `now`.
    pub fn settle(&mut self, now: Time, conditions: &Conditions) {
        if let Some(trouble) = &mut self.trouble {
            trouble.settle(now, &mut self.board, conditions);
        }
    }
    /// The next fact that has become certain, in the order of transmission.
    pub fn next_certain(&mut self, mss: u32, fin_end: Option<u64>) -> Option<Certain> {
        let oldest = self.oldest();
        self.trouble.as_mut()?.next_certain(&mut self.board.list, oldest, &Size { mss, fin_end })
    }
    /// The oldest copy whose fate is open, once [`Ledger::next_certain`] has given all.
    pub fn settled(&self) -> Ordinal {
        self.trouble.as_ref().map_or(self.next, |t| t.settled(&self.board.list, self.oldest()))
    }
    /// A burst is known of, and not yet where it ends or what repaired it.
    pub fn burst_is_open(&self) -> bool {
        self.trouble.as_ref().is_some_and(|t| t.bursts.any())
    }
    /// If trouble is over, copies are followed no more until the next; gives those lost on their way here, and beyond.
    pub fn rest(&mut self) -> (u32, u32) {
        let lost = self.losses_around();
        let over = self.board.resent_or_unseen == 0
            && self.board.list.retired().is_empty()
            && self.trouble.as_ref().is_some_and(|t| t.repairs.is_empty() && !t.bursts.any());
        if !over {
            return (0, 0);
        }
        self.trouble = None;
        self.board.repaired.rest();
        lost
    }
    /// Nothing that is outstanding is followed any more: the fate of those copies stays unknown. Gives how many segments
    /// that were, and how many of them had never been seen.
    pub fn give_up(&mut self, conditions: &Conditions) -> (u64, u64) {
        if let Some(trouble) = &mut self.trouble {
            trouble.settle(Time(i64::MAX), &mut self.board, conditions);
        }
        let (all, mut unfilled) = (self.board.len() as u64, 0);
        while !self.board.is_empty() {
            unfilled += u64::from(self.forget_oldest());
        }
        self.board.list.trim();
        if let Some(trouble) = &mut self.trouble {
            trouble.repairs.settle_all();
        }
        (all, unfilled)
    }
    /// The stream ends: what is open stays unknown, unless it was repaired in vain. Gives how many segments are
    /// outstanding that were never seen.
    pub fn finish(&mut self, conditions: &Conditions) -> u64 {
        let Some(trouble) = &mut self.trouble else { return 0 };
        let mut unfilled = 0;
        while let Some(mut seg) = self.board.pop_front() {
            unfilled += u64::from(self.board.is_unfilled(&seg));
            let Board { list, repaired, .. } = &mut self.board;
            if !seg.is_sacked() {
                trouble.push(seg.leave_open(repaired), list);
                continue;
            }
            // SACKed and never acknowledged: arrived all the same.
            repaired.keep(&mut seg);
            trouble.push(seg.leave_settling(Time::FAR_FUTURE), list);
        }
        trouble.settle(Time(i64::MAX), &mut self.board, conditions);
        trouble.ended = true;
        unfilled
    }
}
