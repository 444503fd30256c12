//! How a sender repairs several losses of one window, told from how many segments it resends per round trip.

use crate::rows::{Cause, Inferred, RecoveryStyle};
use wire::{Span, Time};

const STYLES: [RecoveryStyle; 4] =
    [RecoveryStyle::GoBackN, RecoveryStyle::NewReno, RecoveryStyle::Sack, RecoveryStyle::OnePerTimeout];

/// One episode under way, and the verdicts on those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Repairs {
    first: Option<Time>,
    /// Segments resent in the first, second, third and fourth round trip after the first repair.
    per_round: [u16; 4],
    resent: u32,
    timeouts: u32,
    /// Timeouts after which the ACK advanced.
    timeouts_with_progress: u32,
    progress_since_timeout: bool,
    new_data: bool,
    /// Every resent segment followed the one resent before it.
    contiguous: bool,
    last_end: u64,
    votes: [u16; STYLES.len()],
}

impl Repairs {
    pub fn on_retransmission(
        &mut self,
        now: Time,
        cause: Cause,
        start: u64,
        end: u64,
        segments: u32,
        rtt: Span,
    ) {
        if matches!(cause, Cause::Handshake | Cause::Persist | Cause::Probe) {
            return;
        }
        let first = *self.first.get_or_insert(now);
        if self.resent == 0 {
            self.contiguous = true;
        } else {
            self.contiguous &= start == self.last_end;
        }
        self.last_end = end;
        self.resent = self.resent.saturating_add(segments);
        if rtt > Span::ZERO {
            let round = ((now - first).0 / rtt.0).clamp(0, 4) as usize;
            if let Some(count) = self.per_round.get_mut(round) {
                *count = count.saturating_add(segments.min(1000) as u16);
            }
        }
    }
    /// Something was resent in this episode.
    pub fn begun(&self) -> bool {
        self.resent > 0
    }
    pub fn on_timeout(&mut self) {
        self.timeouts += 1;
        self.progress_since_timeout = false;
    }
    pub fn on_new_data(&mut self) {
        self.new_data = true;
    }
    pub fn on_progress(&mut self) {
        if self.timeouts > 0 && !self.progress_since_timeout {
            self.progress_since_timeout = true;
            self.timeouts_with_progress += 1;
        }
    }

    /// The episode is over: counts its verdict, if it allows one.
    pub fn close(&mut self, sack: bool) {
        if let Some(at) = self.style(sack).and_then(|s| STYLES.iter().position(|of| *of == s)) {
            self.votes[at] = self.votes[at].saturating_add(1);
        }
        *self = Repairs { votes: self.votes, ..Repairs::default() };
    }

    fn style(&self, sack: bool) -> Option<RecoveryStyle> {
        if self.timeouts >= 3
            && self.timeouts_with_progress >= 3
            && self.resent <= self.timeouts + self.timeouts / 4
        {
            return Some(RecoveryStyle::OnePerTimeout);
        }
        // After a timeout every sender resends in slow start.
        if self.timeouts > 0 || self.resent < 3 {
            return None;
        }
        match self.per_round {
            [1, 1, 0..=1, 0..=1] => Some(RecoveryStyle::NewReno),
            [1, 2..=u16::MAX, 3..=u16::MAX, _] if !sack && self.contiguous && !self.new_data => {
                Some(RecoveryStyle::GoBackN)
            }
            [2..=u16::MAX, ..] if sack => Some(RecoveryStyle::Sack),
            _ => None,
        }
    }

    pub fn report(&self, sack: bool) -> Inferred<RecoveryStyle> {
        let mut all = *self;
        all.close(sack);
        let total: u16 = all.votes.iter().fold(0, |a, v| a.saturating_add(*v));
        let (at, most) = all.votes.iter().enumerate().max_by_key(|(_, v)| **v)?;
        if *most * 2 <= total {
            return None;
        }
        let share = f32::from(*most) / f32::from(total);
        Some((STYLES[at], share * (1.0 - 0.4 / f32::from(*most))))
    }
}
