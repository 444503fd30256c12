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
    pub fn advance<S: Sink>(&mut self, now: Time, ctx: &mut Context<'_, S>) {
        if !self.ledger.is_followed() {
            return;
        }
        let conditions = self.conditions(&ctx.view);
        self.ledger.settle(now, &conditions);
        self.tell_certain(ctx);
        self.account.end_episodes(self.ledger.settled(), self.ledger.burst_is_open(), ctx);
        if self.account.episodes().idle() && ctx.view.at != Vantage::Both {
            self.account.note_too_large(self.ledger.too_large());
            let (before, after) = self.ledger.rest();
            self.lost_around.0 += before;
            self.lost_around.1 += after;
        }
    }

    /// Bursts that ended, and retransmissions that are understood.
    pub(super) fn tell_certain<S: Sink>(&mut self, ctx: &mut Context<'_, S>) {
        while let Some(fact) = self.ledger.next_certain(self.agreed.mss, self.fin_end) {
            self.account.certain(fact, self.id, self.base, ctx);
        }
    }
}
