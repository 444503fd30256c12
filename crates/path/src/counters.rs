//! What a link did to its packets, always counted.

use crate::facts::Cause;

/// Packets since the start. Always `offered + copies = delivered + dropped + inside`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub offered: u64,
    /// Made by a channel that duplicates.
    pub copies: u64,
    pub delivered: u64,
    pub queue_full: u64,
    pub aqm: u64,
    pub channel: u64,
    pub flushed: u64,
    pub arq_gave_up: u64,
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
            Cause::Channel(_) => self.channel += 1,
            Cause::Flushed(_) => self.flushed += 1,
            Cause::ArqGaveUp(_) => self.arq_gave_up += 1,
        }
    }
}
