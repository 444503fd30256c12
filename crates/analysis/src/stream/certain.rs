//! What has become certain leaves: bursts, retransmissions and episodes, as rows and in the counts.

use super::ledger::Certain;
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
        let mss = self.mss;
        let fin_end = self.fin_end;
        ledger.advance(mss, fin_end, |c| self.certain(c, around));
        let settled = ledger.base();
        let open = ledger.burst_is_open();
        if self.episodes.any_ended() {
            let mut episodes = std::mem::take(&mut self.episodes);
            episodes.take_certain(settled, open, |row| self.episode_row(row, around));
            self.episodes = episodes;
        }
        // Trouble is over: forget the ledger, the board alone will do until the next.
        let over = self.board.troubled == 0
            && self.settling.is_empty()
            && self.episodes.idle()
            && !open
            && !ledger.has_resends();
        if !over || around.view.at == Vantage::Both {
            self.ledger = Some(ledger);
        } else {
            self.lost_around.0 += ledger.lost_before;
            self.lost_around.1 += ledger.lost_after;
        }
    }

    pub(super) fn certain<S: Sink>(&mut self, fact: Certain, around: &mut Surroundings<'_, S>) {
        match fact {
            Certain::Burst(mut row) => {
                row.flow = self.id;
                row.seq_start = self.relative(row.seq_start);
                row.seq_end = self.relative(row.seq_end);
                // Copies lost on their way here cannot be counted: repairs may have been lost there too.
                let copies = row.lost_copies.unwrap_or(row.lost_segments);
                self.counts.copies_unknown |= row.lost_copies.is_none();
                self.episodes.on_burst(&row);
                self.counts.bursts += 1;
                self.counts.lost_segments += u64::from(row.lost_segments);
                self.counts.lost_copies += u64::from(copies);
                self.counts.largest_burst = self.counts.largest_burst.max(copies);
                around.sink.burst(row);
            }
            Certain::Resend(row) => self.resend_row(row, around),
        }
    }

    fn resend_row<S: Sink>(&mut self, row: RetransmissionRow, around: &mut Surroundings<'_, S>) {
        let n = u64::from(row.segments);
        self.counts.by_cause[row.cause as usize] += n;
        match row.needless {
            Needless::Yes(_) => {
                self.counts.needless += n;
                self.episodes.on_needless(row.episode, row.segments);
            }
            Needless::Unknown => self.counts.needless_unknown += n,
            Needless::No => {}
        }
        if around.config.wanted.retransmissions {
            around.sink.retransmission(row);
        }
    }

    pub(super) fn episode_row<S: Sink>(&mut self, row: EpisodeRow, around: &mut Surroundings<'_, S>) {
        if let Some(cost) = row.cost {
            self.counts.cost = Some(self.counts.cost.unwrap_or(Span::ZERO) + cost);
        }
        around.sink.episode(row);
    }
}
