//! What has become certain: bursts, retransmissions and episodes, as rows and in the counts.

use super::{Account, Context};
use crate::rows::{FlowId, Needless, RetransmissionRow};
use crate::sink::Sink;
use crate::stream::ledger::Certain;
use wire::Time;

impl Account {
    /// A fact of the ledger's; offsets in rows count from `base`.
    pub fn certain<S: Sink>(&mut self, fact: Certain, flow: FlowId, base: u64, ctx: &mut Context<'_, S>) {
        match fact {
            Certain::Burst(mut row) => {
                row.flow = flow;
                row.seq_start = row.seq_start.saturating_sub(base);
                row.seq_end = row.seq_end.saturating_sub(base);
                // Copies lost on their way here cannot be counted: repairs may have been lost there too.
                let copies = row.lost();
                let trouble = self.counts.trouble();
                trouble.copies_unknown |= row.lost_copies.is_none();
                trouble.bursts += 1;
                trouble.lost_segments += u64::from(row.lost_segments);
                trouble.lost_copies += u64::from(copies);
                trouble.largest_burst = trouble.largest_burst.max(copies);
                self.silences.put_into(&mut row);
                self.episodes.on_burst(&row);
                let since = Time(row.start.0.saturating_sub(ctx.origin.0));
                ctx.sink.lost(ctx.path(), since, u64::from(copies));
                ctx.sink.burst(row);
            }
            Certain::Resend(mut row) => {
                row.flow = flow;
                row.seq_start = row.seq_start.saturating_sub(base);
                row.seq_end = row.seq_end.saturating_sub(base);
                self.resend_row(row, ctx);
            }
        }
    }

    fn resend_row<S: Sink>(&mut self, row: RetransmissionRow, ctx: &mut Context<'_, S>) {
        let n = u64::from(row.segments);
        let trouble = self.counts.trouble();
        trouble.by_cause[row.cause as usize] += n;
        match row.needless {
            Needless::Yes(_) => {
                trouble.needless += n;
                self.episodes.on_needless(row.episode, row.segments);
            }
            Needless::Unknown => trouble.needless_unknown += n,
            Needless::No => {}
        }
        if ctx.config.wanted.retransmissions {
            ctx.sink.retransmission(row);
        }
    }

    /// Episodes that ended leave once every copy of theirs is `settled`: none before that one is open.
    pub fn end_episodes<S: Sink>(&mut self, settled: u64, burst_open: bool, ctx: &mut Context<'_, S>) {
        if self.episodes.any_ended() {
            let counts = &mut self.counts;
            self.episodes.take_certain(settled, burst_open, |row| {
                counts.add_cost(row.cost);
                ctx.sink.episode(row);
            });
        }
    }

    /// The stream is over, with `una` acknowledged: so are its episodes, and the interval.
    pub fn finish<S: Sink>(&mut self, now: Time, una: u64, ctx: &mut Context<'_, S>) {
        let (counts, delivered) = (&mut self.counts, self.delivery.bytes());
        self.episodes.finish(now, una, delivered, |row| {
            counts.add_cost(row.cost);
            ctx.sink.episode(row);
        });
        if ctx.config.wanted.intervals {
            self.flush_interval(ctx.sink);
        }
    }
}
