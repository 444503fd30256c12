//! ACKs and timers where detection goes by time (RFC 8985), in the order in which Linux takes them
//! (net/ipv4/tcp_input.c, tcp_ack and tcp_fastretrans_alert): what was needless is taken back, what is lost is marked,
//! then a repair begins, goes on or ends, and only then the window moves.

use super::ack::{AckIn, News};
use super::board::{Found, TimeNews};
use super::{Phase, Sender};
use crate::congestion::AckFacts;
use crate::detect::rack::{Delivery, Patience};
use crate::endpoint::Evidence;
use crate::recovery;
use crate::timers::{Timer, Timers};
use wire::{Span, Time};

impl Sender {
    pub(super) fn on_ack_by_time(
        &mut self,
        a: &AckIn,
        news: &mut News,
        flight: u32,
        limited: bool,
        timers: &mut Timers,
    ) {
        let by_fack = self.finds_by_fack();
        if by_fack {
            self.gives_timer_back(a.now, timers);
        }
        let min_rtt = self.sampler.min_rtt().unwrap_or(Span::ZERO);
        let too_soon = a.now - min_rtt + Span(1);
        self.board.begin_ack(self.recover, too_soon, too_soon.min(self.stamped_later(a)));
        self.read(a, news);
        if !by_fack {
            self.count_what_came_twice(news);
        }
        let time = self.board.time_news();
        self.note_delivery(a, news, &time);
        let sample = self.sample_by_time(a, news, &time);
        let fresh = self.timer_follows(news, &time);
        self.on_tail_ack(a, news);
        let mut facts = self.facts(a, news, &sample, flight, limited);
        let twice = news.twice.saturating_mul(self.window.smss);
        (facts.acked, facts.segments) = (news.delivered() + twice, news.delivered_segments());

        self.new_first = false;
        // pkts_acked: before 4.2 only what advances is measured.
        if news.advanced || !by_fack {
            self.congestion.measure(&mut self.window, &facts, self.phase == Phase::Open);
        }
        let looks = match self.phase {
            Phase::Open => {
                self.undo_in_open(a, news);
                true
            }
            Phase::Recovery => self.step_in_recovery(a, news),
            Phase::Loss => {
                self.step_in_loss(a, news, time.original_below);
                true
            }
        };
        let found = match looks {
            true if by_fack => self.look_by_fack(a.now, news, timers),
            true => self.look_by_time(a.now, timers),
            false => Found::default(),
        };
        self.go_on(a, news, &facts, found);
        let waits = found.ask_again.is_some() || (by_fack && timers.is_set(Timer::Reorder));
        if !waits && (fresh || self.board.out() == 0) {
            self.time_ack(a.now, true, timers);
        }
    }

    /// A needless retransmission is delivered as others are: the window grows by it, and proportional reduction counts it.
    /// Not so where more came twice than ever left again: the network doubled it (tcp_dsack_seen).
    fn count_what_came_twice(&mut self, news: &mut News) {
        let Some((left, right)) = news.dsack.filter(|(left, right)| left < right) else { return };
        let segments = (right - left).div_ceil(u64::from(self.window.smss));
        self.came_twice = self.came_twice.saturating_add(segments);
        if self.came_twice <= self.board.resent {
            news.twice = u32::try_from(segments).unwrap_or(u32::MAX);
            // Rates are of what is delivered there (tcp_count_delivered); BBR's draft counts data.
            if self.undo.is_linux()
                && let Some(rates) = self.board.rates_mut()
            {
                rates.came_twice(news.twice);
            }
        }
    }

    /// Copies that left from then on carry a later timestamp than the one that is echoed (RFC 8985 §6.2 step 2). Says
    /// nothing of what was SACKed: the echo is of what came in order.
    fn stamped_later(&self, a: &AckIn) -> Time {
        let tick = self.rules.timestamp_tick.0.max(1);
        let now = a.now.0.div_euclid(tick);
        let since = a.tsecr.map(|ecr| (now as u32).wrapping_sub(ecr) as i32);
        match since {
            Some(since) if since >= 0 => Time((now - i64::from(since) + 1) * tick),
            _ => Time::FAR_FUTURE,
        }
    }

    fn note_delivery(&mut self, a: &AckIn, news: &News, time: &TimeNews) {
        let (una, max, smss) = (self.una(), self.max, u64::from(self.window.smss));
        let behind = |late: u64| {
            let highest = self.board.runs().highest().unwrap_or(una).max(time.highest);
            highest.saturating_sub(late).div_ceil(smss) as u32
        };
        let delivery = Delivery {
            now: a.now,
            newest: time.newest,
            measured: time.last_sent(),
            reordered: time.late.map(behind),
            dsack: news.dsack.is_some_and(|(_, right)| !self.tail.was(right)),
            una,
            max,
        };
        if let Some(rack) = self.detector.by_time_mut() {
            rack.note(&delivery);
        }
    }

    fn sample_by_time(&mut self, a: &AckIn, news: &News, time: &TimeNews) -> crate::sampler::Sample {
        if news.advanced {
            self.timeouts = 0;
            self.probes = 0;
            self.dupacks = 0;
        }
        let which = self.rto.samples();
        let sample = if which == crate::sampler::Samples::Exact {
            self.sampler.take_exact(&news.acked, time.sacked_sent, a.echoed.filter(|_| news.advanced), a.now)
        } else {
            self.sampler.take(&news.acked, a.echoed, a.now, which)
        };
        self.take_sample(a, &sample);
        sample
    }

    /// An ACK that advances sets the timer anew; so does a SACK of what left after the oldest segment did last, else the
    /// timer would be put off by what left before (tcp_clean_rtx_queue).
    fn timer_follows(&self, news: &News, time: &TimeNews) -> bool {
        let sacks_count = !self.detector.by_time().is_some_and(|rack| rack.goes_by_order());
        news.advanced
            || sacks_count
                && match (self.board.get(0), time.sacked_sent) {
                    (Some(oldest), Some((sacked, _))) => sacked < oldest.sent,
                    _ => false,
                }
    }

    fn patience(&self) -> Patience {
        Patience {
            repairing: self.phase != Phase::Open,
            sacked_segments: self.board.sacked.segments,
            dupthresh: self.rules.detect.dupthresh,
            min_rtt: self.sampler.min_rtt(),
            srtt: self.rto.srtt(),
        }
    }

    /// RFC 8985 §6.2 step 5.
    fn look_by_time(&mut self, now: Time, timers: &mut Timers) -> Found {
        let patience = self.patience();
        let Some(horizon) = self.detector.by_time_mut().and_then(|rack| rack.look(&patience, now)) else {
            return Found::default();
        };
        let found = self.board.mark_lost_by_time(&horizon);
        if let Some(at) = found.ask_again {
            let wait = self.rto.in_ticks(at - now + self.rules.detect.timer_slack);
            timers.arm(Timer::Reorder, self.rto.fires_at(now, wait));
        }
        found
    }

    /// A repair begins, goes on, or the window grows.
    fn go_on(&mut self, a: &AckIn, news: &News, facts: &AckFacts, found: Found) {
        let begins = match self.phase {
            Phase::Open => self.board.lost.segments > 0,
            Phase::Loss => found.repair_lost,
            Phase::Recovery => false,
        };
        if begins {
            self.evidence = Evidence::Sack;
            self.recover_by_time(a.now, news);
        } else if self.phase == Phase::Recovery {
            let facts =
                recovery::Facts { repair_lost: found.repair_lost, ..self.recovery_facts(news, found.lost) };
            self.recovery.on_ack(&mut self.window, &facts);
        } else if self.reduces_by_echo(a, news) {
            // The reduction owns the window.
        } else if news.advanced || self.grows_out_of_order(news) {
            self.congestion.grow(&mut self.window, facts);
        }
    }

    /// Where much comes out of order, the window grows by what is SACKed, too (tcp_may_raise_cwnd).
    fn grows_out_of_order(&self, news: &News) -> bool {
        news.sacked.segments > 0 && self.reordering() > self.rules.detect.dupthresh
    }

    fn recover_by_time(&mut self, now: Time, news: &News) {
        self.tail.forget();
        if self.end_reducing() {
            // The window is on its way down already (tcp_in_cwnd_reduction).
            self.begin_undo();
            self.phase = Phase::Recovery;
            self.recover = self.board.end();
            let facts = self.recovery_facts(news, true);
            self.recovery.on_ack(&mut self.window, &facts);
            return;
        }
        let before = self.begin_recovery(now, news);
        let facts = recovery::Facts { flight: before, more_lost: true, ..self.recovery_facts(news, true) };
        self.recovery.enter(&mut self.window, self.rules.detect.dupthresh, &facts);
    }

    /// DSACKs count after everything is acknowledged, too.
    pub(crate) fn hears_late_reports(&self) -> bool {
        self.detector.by_time().is_some()
    }

    /// What was only late is lost by now (RFC 8985 §6.3).
    pub(crate) fn on_reorder_timer(&mut self, now: Time, timers: &mut Timers) {
        let found = if self.finds_by_fack() {
            self.retransmit_early();
            Found { lost: true, ..Found::default() }
        } else {
            let patience = self.patience();
            match self.detector.by_time_mut().and_then(|rule| rule.horizon(&patience, now)) {
                Some(horizon) => self.board.mark_lost_by_time(&horizon),
                None => Found::default(),
            }
        };
        if found.lost && self.phase != Phase::Recovery {
            self.evidence = Evidence::Time;
            let one = News::of_one(self.window.smss);
            self.recover_by_time(now, &one);
        }
        self.rearm_from_oldest(now, timers);
    }

    /// Whether losses are looked for after this ACK.
    fn step_in_recovery(&mut self, a: &AckIn, news: &News) -> bool {
        let reported = self.counts_dsack(a, news);
        if a.ack >= self.recover {
            if reported || self.is_late(a) {
                self.take_back(true);
            } else {
                if let Some(rack) = self.detector.by_time_mut() {
                    rack.recovery_ended();
                }
                let facts =
                    recovery::Facts { flight: self.flight(), acked: news.acked.bytes, ..Default::default() };
                self.recovery.exit(&mut self.window, &facts);
            }
            self.congestion.on_recovery_end(&mut self.window, a.now);
            self.open();
            return true;
        }
        if news.advanced && self.is_late(a) {
            if self.board.repaired.segments > 0 {
                // Needless so far, but repairs are on their way: new data goes out, nothing more is repaired.
                return false;
            }
            self.take_back(true);
            self.open();
        } else if reported {
            self.take_back(false);
            self.open();
        }
        true
    }
}
