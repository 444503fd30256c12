//! What the observer of a stream's rounds is told.

use super::{Account, Context};
use crate::paths::Stretch;
use crate::rounds::Counted;
use crate::rows::{FlowId, Release, RoundRow};
use crate::sink::Sink;
use wire::{Span, Time};

/// Of a flow of fewer segments there is nothing to tell.
const LEAST_SEGMENTS: u64 = 10;

impl Account {
    fn counted(&self) -> Counted {
        Counted {
            sent_bytes: self.counts.bytes,
            resent_bytes: self.counts.resent_bytes,
            delivered_bytes: self.delivered(),
        }
    }

    /// Bytes known to have arrived, as soon as that is known.
    pub(super) fn delivered(&self) -> u64 {
        self.delivery.bytes() + self.by_duplicates
    }

    /// An ACK has been taken in; `flight` is what it met, `window` what is told of the other host's. True where a round begins:
    /// [`Account::next_round`] is to be called.
    #[inline(always)]
    pub fn ack_in_round(&mut self, now: Time, flight: u64, window: Option<u64>) -> bool {
        let delivered = self.delivered();
        match &mut self.rounds {
            Some(rounds) => rounds.on_ack(now, flight, window.unwrap_or(u64::MAX), delivered),
            None => self.counts.segments >= LEAST_SEGMENTS,
        }
    }

    /// `turn`: from here to the sender and back.
    #[inline(never)]
    pub fn next_round(&mut self, now: Time, turn: Span) {
        let (counted, rtt) = (self.counted(), self.whole_round(turn));
        if let Some(rounds) = &mut self.rounds {
            return rounds.turn(now, counted, rtt);
        }
        let mut rounds = self.spare_rounds.take().unwrap_or_default();
        rounds.begin(now, counted, rtt);
        self.rounds = Some(rounds);
    }

    /// Tells the path of rounds that ended, so that all flows between two hosts can be seen together.
    #[inline(always)]
    pub fn put_stretches<S: Sink>(&mut self, ctx: &mut Context<'_, S>) {
        if let Some(rounds) = &mut self.rounds
            && rounds.has_fresh()
        {
            for (r, silence) in rounds.take_fresh() {
                ctx.sink.stretch(ctx.path(), &Stretch::of(&r, silence).since(ctx.origin));
            }
        }
    }

    /// Ends the last round; the `last` data left then. A flow too short for rounds tells its path of all its time, from its
    /// first data to the last that is known to have arrived.
    pub fn put_last_stretch<S: Sink>(&mut self, last: Time, ctx: &mut Context<'_, S>) {
        let counted = self.counted();
        if let Some(rounds) = &mut self.rounds {
            rounds.finish(last, counted);
            return self.put_stretches(ctx);
        }
        let Some(start) = self.first_data else { return };
        let Some(last) = self.delivery.last() else { return };
        let rtt = self.rtt.by_ack();
        let stretch = Stretch {
            start,
            end: last.max(start),
            silence: (start, start),
            sent_bytes: counted.sent_bytes,
            resent_bytes: counted.resent_bytes,
            delivered_bytes: counted.delivered_bytes,
            rtt_min: self.rtt.min(),
            rtt_sum: Span::from_secs_f64(rtt.mean * rtt.n as f64),
            rtt_n: rtt.n as u32,
        };
        ctx.sink.stretch(ctx.path(), &stretch.since(ctx.origin));
    }

    /// Rows of all that have ended.
    pub fn put_rounds(&self, flow: FlowId, sink: &mut impl Sink) {
        let rows = self.rounds.iter().flat_map(|rounds| rounds.done());
        rows.for_each(|row| sink.round(RoundRow { flow, ..*row }));
    }

    /// The smoothed round trip of the path, as far as it shows here: away from the sender that of the timestamps, or at least
    /// `turn`, from here to the sender and back.
    fn whole_round(&self, turn: Span) -> Span {
        let by_timestamps = Span::from_secs_f64(self.rtt.by_timestamps().mean);
        self.rtt.srtt().max(by_timestamps).max(turn)
    }

    #[inline(always)]
    pub(super) fn rtt_in_round(&mut self, sample: Span) {
        if let Some(rounds) = &mut self.rounds {
            rounds.on_rtt(sample);
        }
    }

    /// New data passes that had waited since `from` and that this let go; nothing of it is counted yet. `answered`: since
    /// the ACK that let it go, where that is seen.
    #[inline(never)]
    pub fn wait_in_round(
        &mut self,
        (from, to): (Time, Time),
        by: Release,
        answered: Option<Span>,
        turn: Span,
    ) {
        if let Some(rounds) = &mut self.rounds
            && rounds.on_wait(from, to, by, answered)
        {
            self.pause_rounds(from, to, turn);
        }
    }

    #[cold]
    fn pause_rounds(&mut self, from: Time, to: Time, turn: Span) {
        let (counted, rtt) = (self.counted(), self.whole_round(turn));
        if let Some(rounds) = &mut self.rounds {
            rounds.pause(from, to, counted, rtt);
        }
    }
}
