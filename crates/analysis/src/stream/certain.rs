//! What has become certain leaves the ledger.

use super::*;

impl Stream {
    /// May something have become certain? Mostly nothing has.
    #[inline(always)]
    pub fn may_advance(&self, now: Time) -> bool {
        self.ledger.may_advance(now)
    }

    /// Lets what has become certain leave, as rows.
    #[inline(never)]
    pub fn advance<S: Sink>(&mut self, now: Time, around: &mut Surroundings<'_, S>) {
        if !self.ledger.is_followed() {
            return;
        }
        let conditions = self.conditions(&around.view);
        self.ledger.settle(now, &conditions);
        self.tell_certain(around);
        self.account.end_episodes(self.ledger.settled(), self.ledger.burst_is_open(), around);
        if self.account.episodes().idle() && around.view.at != Vantage::Both {
            self.account.note_too_large(self.ledger.too_large());
            let (before, after) = self.ledger.rest();
            self.lost_around.0 += before;
            self.lost_around.1 += after;
        }
    }

    /// Bursts that ended, and retransmissions that are understood.
    pub(super) fn tell_certain<S: Sink>(&mut self, around: &mut Surroundings<'_, S>) {
        while let Some(fact) = self.ledger.next_certain(self.agreed.mss, self.fin_end) {
            self.account.certain(fact, self.id, self.base, around);
        }
    }
}
