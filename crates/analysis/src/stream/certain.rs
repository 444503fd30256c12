//! What has become certain leaves the ledger.

use super::*;

impl Stream {
    /// May something have become certain? Mostly nothing has.
    #[inline(always)]
    pub fn may_advance(&self, now: Time) -> bool {
        let Some(ledger) = &self.ledger else { return false };
        let due = match self.settling.front() {
            Some(s) => s.until <= now,
            None => self.board.troubled == 0,
        };
        due || ledger.may_advance()
    }

    /// Lets what has become certain leave, as rows.
    #[inline(never)]
    pub fn advance<S: Sink>(&mut self, now: Time, around: &mut Surroundings<'_, S>) {
        let Some(mut ledger) = self.ledger.take() else { return };
        if self.settling.front().is_some_and(|s| s.until <= now) {
            let judge = self.judge(&around.view);
            while let Some(s) = self.settling.front().filter(|s| s.until <= now) {
                s.settle(&mut ledger, &judge);
                self.settling.drop_front();
            }
        }
        let (id, base) = (self.id, self.base);
        ledger.advance(self.agreed.mss, self.fin_end, |c| self.account.certain(c, id, base, around));
        let open = ledger.burst_is_open();
        self.account.end_episodes(ledger.base(), open, around);
        // Trouble is over: forget the ledger, the board alone will do until the next.
        let over = self.board.troubled == 0
            && self.settling.is_empty()
            && self.account.episodes().idle()
            && !open
            && !ledger.has_resends();
        if !over || around.view.at == Vantage::Both {
            self.ledger = Some(ledger);
        } else {
            self.lost_around.0 += ledger.lost_before;
            self.lost_around.1 += ledger.lost_after;
        }
    }
}
