//! An ACK: what it acknowledges, what it says about losses, and what follows for the window.

use super::board::{Acked, Sacked};
use super::{Phase, Sender};
use crate::congestion::AckFacts;
use crate::detect::rack::Copy;
use crate::endpoint::Evidence;
use crate::recovery;
use crate::rto::RttSample;
use crate::sampler::Sample;
use crate::stack::PipeUnit;
use crate::timers::{Timer, Timers};
use wire::{Span, Time};

/// An acceptable ACK (SND.UNA <= ack <= SND.MAX) as the sender needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckIn<'a> {
    pub(crate) now: Time,
    pub(crate) ack: u64,
    /// No payload, SYN or FIN, and the window as it was: may be a duplicate (RFC 5681 §2).
    pub(crate) bare: bool,
    /// It echoes a mark (ECE), and ECN was negotiated.
    pub(crate) ece: bool,
    /// In the order received; offsets.
    pub(crate) blocks: &'a [(u64, u64)],
    pub(crate) tsecr: Option<u32>,
    /// The time since that echo, if timestamps are in use.
    pub(crate) echoed: Option<Span>,
}

/// What the ACK turned out to say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    pub(super) acked: Acked,
    pub(super) sacked: Sacked,
    pub(super) advanced: bool,
    pub(super) duplicate: bool,
    /// A DSACK block.
    pub(super) dsack: Option<(u64, u64)>,
    /// Segments that it says came twice, where those are delivered, too.
    pub(super) twice: u32,
}

impl News {
    /// As if one segment of so many bytes had been delivered: what a timer begins a repair with.
    pub(super) fn of_one(bytes: u32) -> News {
        News { sacked: Sacked { bytes, segments: 1, ..Sacked::default() }, ..News::default() }
    }

    /// DeliveredData of RFC 9937, bytes.
    pub(super) fn delivered(&self) -> u32 {
        self.acked.bytes.saturating_sub(self.acked.known.bytes) + self.sacked.bytes
    }
    pub(super) fn delivered_segments(&self) -> u32 {
        self.acked.segments.saturating_sub(self.acked.known.segments) + self.sacked.segments + self.twice
    }
}

impl Sender {
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, a: &AckIn, timers: &mut Timers) {
        if self.guided { self.on_guided_ack(a, timers) } else { self.take_ack(a, timers) }
    }

    #[inline(always)]
    pub(super) fn take_ack(&mut self, a: &AckIn, timers: &mut Timers) {
        // As they were before this ACK.
        let flight = self.flight();
        let limited = self.is_limited();
        self.burst_left = self.rules.max_burst;
        self.held = false;
        self.unanswered = 0;
        let plain = self.phase == Phase::Open
            && a.ack > self.una()
            && a.blocks.is_empty()
            && self.dupacks == 0
            && !self.tail.is_out()
            && !a.ece
            && !self.is_reducing()
            && self.board.runs().is_empty();
        if plain {
            self.on_plain_ack(a, flight, limited, timers)
        } else {
            self.on_any_ack(a, flight, limited, timers)
        }
    }

    /// The next ACK while nothing is wrong, which is nearly every one: [`Sender::on_any_ack`] without what cannot
    /// be.
    #[inline(always)]
    fn on_plain_ack(&mut self, a: &AckIn, flight: u32, limited: bool, timers: &mut Timers) {
        let acked = self.board.advance(a.ack);
        self.nxt = self.nxt.max(a.ack);
        self.max = self.max.max(self.nxt);
        let news = News { acked, advanced: true, ..News::default() };
        if acked.original
            && let Some(rack) = self.detector.by_time_mut()
        {
            rack.note_plain(Copy { sent: acked.newest_original, end: a.ack }, a.now);
        }
        let sample = self.advanced(a, &news);
        self.assumed_sacked = 0;
        let facts = self.facts(a, &news, &sample, flight, limited);
        self.congestion.on_ack(&mut self.window, &facts);
        self.settle_advance(a, true, timers);
    }

    #[inline(never)]
    fn on_any_ack(&mut self, a: &AckIn, flight: u32, limited: bool, timers: &mut Timers) {
        let mut news = News { advanced: a.ack > self.una(), ..News::default() };
        if self.detector.by_time().is_some() {
            return self.on_ack_by_time(a, &mut news, flight, limited, timers);
        }
        self.read(a, &mut news);
        let mut sample = Sample::default();
        if news.advanced {
            sample = self.advanced(a, &news);
        }
        let restarts = news.advanced && self.restarts_timer();
        if !self.undone(a, &news) {
            let mut facts = self.facts(a, &news, &sample, flight, limited);
            self.count_assumed(&mut facts);
            match self.phase {
                Phase::Open => self.ack_in_open(a, &news, &facts, timers),
                Phase::Recovery => self.ack_in_recovery(a, &news, &facts, timers),
                Phase::Loss => self.ack_in_loss(a, &news, &facts, timers),
            }
        }
        self.on_echo(a);
        if news.advanced {
            self.settle_advance(a, restarts, timers);
        }
    }

    /// The timer after an ACK that advanced.
    #[inline(always)]
    pub(super) fn settle_advance(&mut self, a: &AckIn, restarts: bool, timers: &mut Timers) {
        if self.rto.follows_acks() {
            self.rto.on_ack_advance(a.ack, self.board.end(), self.cwnd_segments());
        }
        if self.tail.shares_timer() {
            self.time_ack(a.now, restarts, timers);
        } else {
            self.move_timer(a.now, restarts, timers);
        }
    }

    /// Takes the ACK onto the board.
    #[inline]
    pub(super) fn read(&mut self, a: &AckIn, news: &mut News) {
        let out = self.board.out();
        if news.advanced {
            news.acked = self.board.advance(a.ack);
            self.nxt = self.nxt.max(a.ack);
            self.max = self.max.max(self.nxt);
        }
        if self.sack && !a.blocks.is_empty() {
            self.read_blocks(a, news);
        }
        news.duplicate = if self.sack && self.detector.counts_news() {
            // RFC 6675 §2: what tells something new, even if it does more than that.
            news.sacked.bytes > 0
        } else {
            !news.advanced && a.bare && out > 0
        };
    }

    #[inline(never)]
    fn read_blocks(&mut self, a: &AckIn, news: &mut News) {
        let mut blocks = a.blocks;
        if let [first, rest @ ..] = blocks {
            // RFC 2883 §4: a first block below the ACK or inside the second reports a duplicate.
            let inside = rest.first().is_some_and(|second| second.0 <= first.0 && first.1 <= second.1);
            if first.1 <= a.ack || inside {
                news.dsack = Some(*first);
                blocks = rest;
            }
        }
        for &(left, right) in blocks {
            if left < right && left >= a.ack && right <= self.max {
                self.board.sack(left, right, self.recover, &mut news.sacked);
            }
        }
    }

    /// SND.UNA moved.
    #[inline(always)]
    pub(super) fn advanced(&mut self, a: &AckIn, news: &News) -> Sample {
        self.timeouts = 0;
        self.probes = 0;
        if self.phase == Phase::Open {
            self.limited_bytes = 0;
        }
        let sample = self.sampler.take(&news.acked, a.echoed, a.now, self.rto.samples());
        self.take_sample(a, &sample);
        sample
    }

    #[inline]
    pub(super) fn take_sample(&mut self, a: &AckIn, sample: &Sample) {
        if let Some(rates) = self.board.rates_mut() {
            rates.note_rtt(sample.exact.or(sample.rto));
        }
        if let Some(rtt) = sample.rto {
            self.rto.on_sample(&RttSample {
                rtt,
                now: a.now,
                una: a.ack,
                nxt: self.board.end(),
                from_timestamp: sample.from_timestamp,
            });
        }
    }

    /// Of partial ACKs not every one does (RFC 6582 §4).
    #[inline]
    fn restarts_timer(&self) -> bool {
        let partial = self.phase == Phase::Recovery && self.una() < self.recover;
        !partial || self.recovery.partial_ack_restarts_timer(self.partial_acks == 0)
    }

    /// RFC 6298 (5.2), (5.3).
    #[inline]
    fn move_timer(&mut self, now: Time, restarts: bool, timers: &mut Timers) {
        if self.una() >= self.board.end() {
            timers.stop(Timer::Retransmit);
        } else if restarts {
            timers.set(Timer::Retransmit, self.rto.fires_at(now, self.rto.rto()));
        }
    }

    #[inline(always)]
    pub(super) fn facts(
        &self,
        a: &AckIn,
        news: &News,
        sample: &Sample,
        flight: u32,
        limited: bool,
    ) -> AckFacts {
        AckFacts {
            now: a.now,
            acked: news.acked.bytes,
            delivered: news.delivered(),
            segments: news.acked.segments,
            rtt: sample.exact,
            stamped: sample.stamped,
            min_rtt: self.sampler.min_rtt(),
            srtt: self.rto.srtt(),
            flight,
            una: a.ack,
            nxt: self.board.end(),
            limited,
            paced: self.guided,
        }
    }

    #[inline]
    fn ack_in_open(&mut self, a: &AckIn, news: &News, facts: &AckFacts, timers: &mut Timers) {
        if news.advanced {
            self.dupacks = 0;
            self.assumed_sacked = 0;
            self.congestion.on_ack(&mut self.window, facts);
        }
        if news.duplicate {
            self.dupacks += 1;
            self.assume_sacked();
        }
        if self.dupacks > 0 || !self.board.runs().is_empty() {
            self.look_for_losses(a, news, timers);
        }
    }

    /// Does recovery begin?
    #[inline(never)]
    fn look_for_losses(&mut self, a: &AckIn, news: &News, timers: &mut Timers) {
        let facts = self.detect_facts();
        let verdict = self.detector.judge(&facts);
        if !verdict.begins || !self.may_recover() {
            return;
        }
        self.evidence = if facts.runs.is_empty() { Evidence::DupAck } else { Evidence::Sack };
        if self.rules.habits.slow_start {
            self.slow_start_at_once(a.now, timers);
            return;
        }
        self.enter_recovery(a, news, verdict, timers);
    }

    /// After a timeout and behind a recovery, duplicates may come of what was resent (RFC 6582 §3.2 (2),
    /// RFC 6675 §5); with SACK the blocks tell.
    fn may_recover(&self) -> bool {
        if !self.rules.habits.remembers_repairs {
            return self.dupacks == self.rules.detect.dupthresh;
        }
        if !self.sack && self.undo.is_linux() {
            // There a repair keeps its state for that; behind one that was taken back the next may begin.
            return true;
        }
        if self.sack { self.una() >= self.recover } else { self.una() > self.recover }
    }

    /// What duplicates stood for was delivered then: where segments are counted, an ACK that advances behind them has
    /// delivered only the rest, one at least (Linux, tcp_remove_reno_sacks).
    fn count_assumed(&self, facts: &mut AckFacts) {
        if self.assumed_sacked == 0 || self.rules.recovery.pipe != PipeUnit::Segments {
            return;
        }
        let before = facts.segments.max(1);
        facts.segments = before.saturating_sub(self.assumed_sacked).max(1);
        facts.acked = facts.acked.min(facts.segments.saturating_mul(self.window.smss));
    }

    pub(super) fn assume_sacked(&mut self) {
        if !self.sack && self.recovery.uses_pipe() {
            self.assumed_sacked += 1;
            self.limit_assumed(0);
        }
    }

    #[inline(never)]
    fn ack_in_recovery(&mut self, a: &AckIn, news: &News, facts: &AckFacts, timers: &mut Timers) {
        if news.advanced {
            self.congestion.measure(&mut self.window, facts, false);
            self.take_from_assumed(news.acked.segments);
            if self.undo.is_linux() && self.count_in_recovery(a, news, facts) {
                return;
            }
            if a.ack >= self.recover || self.rules.habits.ends_at_any_advance {
                self.exit_recovery(a, timers, news, facts);
                return;
            }
            self.partial_acks += 1;
            self.dupacks = 0;
            if !self.recovery.uses_pipe() {
                self.resend_first = Some(self.why_recovery());
            } else if !self.sack {
                self.board.mark_first_lost();
            }
        } else if news.duplicate {
            self.dupacks += 1;
            self.assume_sacked();
        }
        let verdict = self.detector.judge(&self.detect_facts());
        let more_lost = self.board.mark_lost_below(verdict.lost_below);
        // Without SACK the next hole is lost (tcp_newreno_mark_lost).
        let counts = !self.sack && self.rules.recovery.pipe == PipeUnit::Segments;
        let more_lost = more_lost || (news.advanced && counts);
        let repair = self.recovery_after_counting(news, facts, more_lost);
        self.recovery.on_ack(&mut self.window, &repair);
    }

    /// Without SACK, where segments are counted: what duplicates stood for was delivered then (tcp_remove_reno_sacks).
    pub(super) fn recovery_after_counting(
        &self,
        news: &News,
        ack: &AckFacts,
        more_lost: bool,
    ) -> recovery::Facts {
        let mut facts = self.recovery_facts(news, more_lost);
        if news.advanced && !self.sack && self.rules.recovery.pipe == PipeUnit::Segments {
            facts.delivered = ack.segments.saturating_mul(self.window.smss);
        }
        facts
    }

    /// DeliveredData of RFC 9937, as the stack counts.
    pub(super) fn delivered(&self, news: &News) -> u32 {
        match self.rules.recovery.pipe {
            PipeUnit::Bytes => news.delivered(),
            PipeUnit::Segments if self.detector.by_time().is_some() => {
                news.delivered_segments().saturating_mul(self.window.smss)
            }
            PipeUnit::Segments => news.delivered(),
        }
    }

    pub(super) fn recovery_facts(&self, news: &News, more_lost: bool) -> recovery::Facts {
        let assumed = !self.sack && !news.advanced && news.duplicate;
        recovery::Facts {
            acked: news.acked.bytes,
            // RFC 9937 §5.4: without SACK a duplicate stands for one segment delivered.
            delivered: if assumed { self.window.smss } else { self.delivered(news) },
            pipe: self.pipe(),
            flight: self.flight(),
            duplicate: news.duplicate,
            more_lost,
            repair_lost: false,
            repair_acked: news.acked.resent,
        }
    }

    #[inline(never)]
    fn ack_in_loss(&mut self, a: &AckIn, news: &News, facts: &AckFacts, timers: &mut Timers) {
        if self.undo.is_linux() {
            return self.count_in_loss(a, news, facts, timers);
        }
        if self.frto_step(a, news) {
            return;
        }
        if !news.advanced {
            if news.duplicate && !self.rules.habits.remembers_repairs {
                self.dupacks += 1;
                self.look_for_losses(a, news, timers);
            }
            return;
        }
        self.dupacks = 0;
        self.congestion.on_ack(&mut self.window, facts);
        if a.ack >= self.recover {
            self.end_repair(a.now);
        }
    }
}
