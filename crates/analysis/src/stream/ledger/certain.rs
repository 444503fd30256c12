//! What has become certain leaves.

use super::*;

impl Ledger {
    /// May something have become certain? Mostly nothing has.
    #[inline(always)]
    pub fn may_advance(&self, now: Time) -> bool {
        let Some(copies) = &self.copies else { return false };
        let due = match self.settling.front() {
            Some(s) => s.until <= now,
            None => self.board.troubled == 0,
        };
        due || copies.may_advance()
    }
    /// Tells apart what has waited for that until `now`.
    pub fn settle(&mut self, now: Time, judge: &Judge) {
        let Some(copies) = &mut self.copies else { return };
        while let Some(s) = self.settling.front().filter(|s| s.until <= now) {
            s.settle(copies, judge);
            self.settling.drop_front();
        }
    }
    /// The next fact that has become certain, in the order of transmission.
    pub fn next_certain(&mut self, mss: u32, fin_end: Option<u64>) -> Option<Certain> {
        self.copies.as_mut()?.next_certain(mss, fin_end)
    }
    /// The oldest copy whose fate is open, once [`Ledger::next_certain`] has given all.
    pub fn settled(&self) -> Ordinal {
        self.copies.as_ref().map_or(self.next, |c| c.base())
    }
    /// A burst is known of, and not yet where it ends or what repaired it.
    pub fn burst_is_open(&self) -> bool {
        self.copies.as_ref().is_some_and(|c| c.burst_is_open())
    }
    /// If trouble is over, copies are followed no more until the next; gives those lost on their way here, and beyond.
    pub fn rest(&mut self) -> (u32, u32) {
        let lost = self.losses_around();
        let over = self.board.troubled == 0
            && self.settling.is_empty()
            && self.copies.as_ref().is_some_and(|c| !c.burst_is_open() && !c.has_resends());
        if !over {
            return (0, 0);
        }
        self.copies = None;
        lost
    }
    /// Nothing that is outstanding is followed any more: the fate of those copies stays unknown. Gives how many segments
    /// that were, and how many of them had never been seen.
    pub fn give_up(&mut self, judge: &Judge) -> (u64, u64) {
        if let Some(copies) = &mut self.copies {
            self.settling.all_mut().iter().for_each(|s| s.settle(copies, judge));
        }
        self.settling = Queue::default();
        let (all, mut unfilled) = (self.board.len() as u64, 0);
        while !self.board.is_empty() {
            unfilled += u64::from(self.forget_oldest());
        }
        self.board.shrink();
        if let Some(copies) = &mut self.copies {
            copies.settle_all();
        }
        (all, unfilled)
    }
    /// The stream ends: what is open stays unknown, unless it was repaired in vain. Gives how many segments are
    /// outstanding that were never seen.
    pub fn finish(&mut self, judge: &Judge) -> u64 {
        let Some(copies) = &mut self.copies else { return 0 };
        for s in self.settling.drain() {
            s.settle(copies, judge);
        }
        let mut unfilled = 0;
        // SACKed and never acknowledged: arrived all the same.
        for seg in self.board.drain() {
            unfilled += u64::from(seg.is_unfilled());
            if seg.sacked {
                let reported = seg.sacked_time();
                let (dsacks, last_dsack) = (seg.dsacks(), seg.last_dsack());
                let until = reported;
                let unblocked = Time::FAR_FUTURE;
                let s = Settling { seg, reported, echo: None, dsacks, last_dsack, until, unblocked };
                s.settle(copies, judge);
            }
        }
        copies.end();
        unfilled
    }
}
