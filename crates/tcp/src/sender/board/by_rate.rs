//! The board beside its samples of the delivery rate: what they need to know of a copy as it leaves.

use super::Board;
use crate::sampler::rate::Rates;
use wire::Time;

impl Board {
    /// From now on delivery rates are sampled.
    pub(crate) fn keep_rates(&mut self, now: Time) {
        self.rates = Some(Box::new(Rates::new(now)));
    }
    pub(crate) fn rates(&self) -> Option<&Rates> {
        self.rates.as_deref()
    }
    pub(crate) fn rates_mut(&mut self) -> Option<&mut Rates> {
        self.rates.as_deref_mut()
    }

    /// The newest segment has left.
    #[inline(never)]
    pub(super) fn rate_new(&mut self, now: Time) {
        let (alone, end, in_flight) = (self.segments() == 1, self.end as u32, self.pipe_segments());
        let lost = self.losses;
        if let Some(rates) = &mut self.rates {
            rates.left(now, end, in_flight, lost, alone);
        }
    }

    /// The copy of entry `at` that left last was found lost.
    #[inline]
    pub(super) fn count_loss(&mut self, at: usize) {
        self.losses += 1;
        if let Some(rates) = &mut self.rates {
            rates.lost(at, self.losses);
        }
    }

    /// Entry `at` has left again.
    #[inline(never)]
    pub(super) fn rate_resend(&mut self, at: usize, now: Time) {
        let (in_flight, lost) = (self.pipe_segments(), self.losses);
        if let Some(rates) = &mut self.rates {
            rates.left_again(at, now, in_flight, lost);
        }
    }
}
