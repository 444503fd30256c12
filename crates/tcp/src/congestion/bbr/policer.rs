//! Is the path policed? Token-bucket policers let a burst through and drop all above a rate after it: two intervals of
//! like throughput in which much is lost. Their mean is then the bandwidth for a while (Linux: bbr_lt_bw_sampling; Flach
//! et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016).

use crate::congestion::units;
use crate::sampler::rate::Progress;

/// Round trips of an interval at least, and at most; and for which the rate holds.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
const HOLDS_ROUNDS: u32 = 48;
/// Lost for each 256 delivered: a fifth.
const LOSSY: u64 = 50;
/// Two intervals are alike within an eighth, or within so many bytes a second.
const ALIKE: u64 = 8;
const ALIKE_BYTES: u64 = 4000 / 8;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    /// As the interval began.
    start: Progress,
    rounds: u32,
    /// Of the interval before; the bandwidth to go by, if `found`.
    bw: u64,
    found: bool,
}

/// What the rest of the rule does after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Nothing,
    /// The path is policed from now on.
    Policed,
    /// It was long enough: probe again.
    Over,
}

/// What an ACK, or a timeout, says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) so_far: &'a Progress,
    pub(super) lost: bool,
    pub(super) app_limited: bool,
    pub(super) round_began: bool,
    pub(super) probing_bw: bool,
    pub(super) smss: u32,
    pub(super) margin_percent: u64,
}

impl Policer {
    /// The policed rate, if that is what to go by.
    pub(super) fn rate(&self) -> Option<u64> {
        self.found.then_some(self.bw)
    }

    pub(super) fn forget(&mut self) {
        *self = Policer::default();
    }

    pub(super) fn look(&mut self, l: &Look<'_>) -> Verdict {
        if self.found {
            self.rounds += u32::from(l.probing_bw && l.round_began);
            if self.rounds >= HOLDS_ROUNDS {
                self.forget();
                return Verdict::Over;
            }
            return Verdict::Nothing;
        }
        if !self.sampling {
            // The first loss tells that the tokens are spent: before, the burst would be measured.
            if !l.lost {
                return Verdict::Nothing;
            }
            self.sampling = true;
            self.begin(l.so_far);
        }
        if l.app_limited {
            self.forget();
            return Verdict::Nothing;
        }
        self.rounds += u32::from(l.round_began);
        if self.rounds > MOST_ROUNDS {
            self.forget();
        } else if self.rounds >= LEAST_ROUNDS && l.lost {
            return self.interval(l);
        }
        Verdict::Nothing
    }

    fn begin(&mut self, so_far: &Progress) {
        self.start = *so_far;
        self.rounds = 0;
    }

    fn interval(&mut self, l: &Look<'_>) -> Verdict {
        let lost = l.so_far.lost - self.start.lost;
        let delivered = l.so_far.delivered - self.start.delivered;
        let took_ms = (l.so_far.delivered_at.0 / 1_000_000) - (self.start.delivered_at.0 / 1_000_000);
        if delivered == 0 || lost * 256 < LOSSY * delivered || took_ms < 1 {
            return Verdict::Nothing;
        }
        let bw = units::bandwidth(delivered, took_ms as u64 * 1000);
        if self.bw > 0 {
            let apart = bw.abs_diff(self.bw);
            let bytes = units::bytes_per_s(apart, l.smss, units::UNIT, l.margin_percent);
            if apart * ALIKE <= self.bw || bytes <= ALIKE_BYTES {
                *self = Policer { bw: (bw + self.bw) / 2, found: true, ..Policer::default() };
                return Verdict::Policed;
            }
        }
        self.bw = bw;
        self.begin(l.so_far);
        Verdict::Nothing
    }
}
