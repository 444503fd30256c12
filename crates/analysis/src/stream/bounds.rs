//! What following a stream may cost. Captures exist, made with intent or by a broken host, in which each packet makes
//! the analysis look at all that is outstanding, or keep ever more of it. A stream earns steps and memory with its
//! packets; one that has spent both loses detail, so that time and memory stay in proportion to the packets.

use super::*;

/// Steps (segments, copies or ACKs looked at) that each packet earns, and that a stream has to begin with: a window of
/// ten thousand segments with a thousand holes needs less.
const STEPS: u64 = 256;
const FIRST_STEPS: u64 = 1 << 20;

/// The same of bytes. A capture has 70 bytes a packet or more.
const BYTES: u64 = 128;
const FIRST_BYTES: u64 = 256 << 10;

impl Stream {
    /// To be called whenever a packet may have made the stream look at much, or keep more.
    #[inline]
    pub(super) fn keep_in_bounds<S: Sink>(&mut self, now: Time, around: &mut Surroundings<'_, S>) {
        if self.ledger.is_followed() || self.ledger.steps() > FIRST_STEPS {
            self.compare_with_bounds(now, around);
        }
    }

    fn compare_with_bounds<S: Sink>(&mut self, now: Time, around: &mut Surroundings<'_, S>) {
        let packets = self.ledger.next_ordinal() + self.account.acks();
        if self.ledger.steps() > FIRST_STEPS + STEPS * packets || self.held() > FIRST_BYTES + BYTES * packets
        {
            self.give_up_detail(now, around);
        }
    }

    /// Bytes that are kept of what is outstanding or not understood yet.
    pub fn held(&self) -> u64 {
        self.ledger.held()
            + (self.on_the_way.len() * size_of::<AckNews>()) as u64
            + self.account.episodes().bytes()
    }

    /// What is outstanding is followed no more: the fate of those copies stays unknown, and the answer says so.
    #[cold]
    fn give_up_detail<S: Sink>(&mut self, now: Time, around: &mut Surroundings<'_, S>) {
        let conditions = self.conditions(&around.view);
        let (segments, unfilled) = self.ledger.give_up(&conditions);
        self.limits.not_followed += segments;
        self.limits.unfilled_gaps += unfilled;
        while let Some(old) = self.on_the_way.pop_front() {
            self.repair.on_ack(&old, old.time + around.view.turn, self.next);
        }
        self.on_the_way = VecDeque::new();
        self.advance(now, around);
    }
}
