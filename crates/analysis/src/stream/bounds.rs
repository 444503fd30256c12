//! The time and memory that following a stream may cost. In some captures, made with intent or by a broken host, each
//! packet makes the analysis look at everything outstanding, or keep ever more of it. A stream earns steps and memory
//! with its packets; one that has spent either loses detail, so that both stay in proportion to the packets.

use super::*;

/// Each packet earns this many steps (a step looks at one segment, copy or ACK), and a stream begins with
/// `INITIAL_STEPS`. A window of ten thousand segments with a thousand holes needs fewer.
const STEPS_PER_PACKET: u64 = 256;
const INITIAL_STEPS: u64 = 1 << 20;

/// Bytes of memory that each packet earns, and that a stream begins with. A packet takes at least 70 bytes in a
/// capture, so memory stays in proportion to the file.
const BYTES_PER_PACKET: u64 = 128;
const INITIAL_BYTES: u64 = 256 << 10;

impl Stream {
    /// To be called whenever a packet may have made the stream look at much, or keep more.
    #[inline]
    pub(super) fn keep_in_bounds<S: Sink>(&mut self, now: Time, ctx: &mut Context<'_, S>) {
        if self.ledger.is_followed() || self.ledger.steps() > INITIAL_STEPS {
            self.compare_with_bounds(now, ctx);
        }
    }

    fn compare_with_bounds<S: Sink>(&mut self, now: Time, ctx: &mut Context<'_, S>) {
        let packets = self.ledger.next_ordinal() + self.account.acks();
        if self.ledger.steps() > INITIAL_STEPS + STEPS_PER_PACKET * packets
            || self.held() > INITIAL_BYTES + BYTES_PER_PACKET * packets
        {
            self.give_up_detail(now, ctx);
        }
    }

    /// Bytes that are kept of what is outstanding or not understood yet.
    #[inline]
    pub fn held(&self) -> u64 {
        self.ledger.held()
            + (self.acks_in_flight.len() * size_of::<AckEvent>()) as u64
            + self.account.episodes().bytes()
    }

    /// Outstanding data is no longer followed copy by copy: whether those copies were lost stays unknown, and the
    /// flow's limits count them.
    #[cold]
    fn give_up_detail<S: Sink>(&mut self, now: Time, ctx: &mut Context<'_, S>) {
        let conditions = self.conditions(&ctx.view);
        let (segments, unfilled) = self.ledger.give_up(&conditions);
        self.limits.not_followed += segments;
        self.limits.unfilled_gaps += unfilled;
        while let Some(old) = self.acks_in_flight.pop_front() {
            self.repair.on_ack(&old, old.time + ctx.view.sender_loop, self.next);
        }
        self.acks_in_flight = VecDeque::new();
        self.advance(now, ctx);
    }
}
