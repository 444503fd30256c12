//! What a link did to its packets, always counted.

use crate::facts::Cause;

/// Packets since the start. Always `offered + copies = delivered + dropped + inside`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counters {
    pub offered: u64,
    /// Made by a channel that duplicates.
    pub copies: u64,
    pub delivered: u64,
    pub queue_full: u64,
    pub aqm: u64,
    /// By whichever channel.
    pub channel: u64,
    pub flushed: u64,
    pub arq_gave_up: u64,
}

/// Of packets that passed by one after the other: how many were hit, and in what bursts. A burst is a run of hits without
/// one in between that was spared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub seen: u64,
    pub hit: u64,
    pub bursts: u64,
    pub longest_burst: u64,
    /// Hits of the burst that is under way or was last, and the number of the last.
    burst: u64,
    last: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn see(&mut self) {
        self.seen += 1;
    }
    /// What was seen last was hit.
    #[cold]
    pub(crate) fn hit(&mut self) {
        let goes_on = self.hit > 0 && self.last + 1 == self.seen;
        self.burst = if goes_on { self.burst + 1 } else { 1 };
        self.bursts += u64::from(!goes_on);
        self.longest_burst = self.longest_burst.max(self.burst);
        self.hit += 1;
        self.last = self.seen;
    }
}

/// What the channels of a link and its retries met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tallies {
    /// By the channel's place in the link's list: packets that it was asked about, and those that it dropped. With
    /// retries a channel at the wire is asked about every try.
    pub channels: Vec<(u16, Tally)>,
    /// Of a link that retries: frames on the air, each try one, and those that were lost.
    pub frames: Option<Box<Tally>>,
}

impl Counters {
    pub fn dropped(&self) -> u64 {
        self.queue_full + self.aqm + self.channel + self.flushed + self.arq_gave_up
    }
    /// Waiting, being sent, in flight or held.
    pub fn inside(&self) -> u64 {
        self.offered + self.copies - self.delivered - self.dropped()
    }
    pub(crate) fn drop(&mut self, cause: Cause) {
        match cause {
            Cause::QueueFull => self.queue_full += 1,
            Cause::Aqm => self.aqm += 1,
            Cause::Channel(_) | Cause::Policer(_) | Cause::Mtu(_) => self.channel += 1,
            Cause::Flushed(_) => self.flushed += 1,
            Cause::ArqGaveUp(_) => self.arq_gave_up += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_a_run_of_hits_and_ends_with_the_first_that_is_spared() {
        let mut tally = Tally::default();
        for hit in [true, false, true, true, true, false, false, true, true] {
            tally.see();
            if hit {
                tally.hit();
            }
        }
        assert_eq!((tally.seen, tally.hit, tally.bursts, tally.longest_burst), (9, 6, 3, 3));
        assert_eq!(Tally::default().longest_burst, 0);
    }
}
