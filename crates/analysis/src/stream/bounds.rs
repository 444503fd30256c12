//! What following a stream may cost. Captures exist, made with intent or by a broken host, in which each packet makes
//! the analysis look at all that is outstanding, or keep ever more of it. A stream earns steps and memory with its
//! packets; one that has spent both loses detail, so that time and memory stay in proportion to the packets.

use super::board::Sent;
use super::ledger::{Copy, Resend};
use super::settle::Settling;
use super::*;

/// Steps (segments, copies or ACKs looked at) that each packet earns, and that a stream has to begin with: a window of
/// ten thousand segments with a thousand holes needs less.
const STEPS: u64 = 256;
const FIRST_STEPS: u64 = 1 << 20;

/// The same of bytes. A capture has 70 bytes a packet or more.
const BYTES: u64 = 128;
const FIRST_BYTES: u64 = 256 << 10;

/// Copies of one segment that are told apart; a sender gives up after 15 timeouts or so (RFC 9293 §3.8.3).
pub(super) const MOST_COPIES: u8 = 128;

impl Stream {
    /// To be called whenever a packet may have made the stream look at much, or keep more.
    #[inline]
    pub(super) fn keep_in_bounds<S: Sink>(&mut self, now: Time, around: &mut Surroundings<'_, S>) {
        if self.ledger.is_some() || self.board.steps > FIRST_STEPS {
            self.compare_with_bounds(now, around);
        }
    }

    fn compare_with_bounds<S: Sink>(&mut self, now: Time, around: &mut Surroundings<'_, S>) {
        let packets = self.next_ordinal + self.account.acks();
        if self.board.steps > FIRST_STEPS + STEPS * packets || self.held() > FIRST_BYTES + BYTES * packets {
            self.give_up_detail(now, around);
        }
    }

    /// Bytes that are kept of what is outstanding or not understood yet.
    fn held(&self) -> u64 {
        let of = |n: usize, size: usize| (n * size) as u64;
        let ledger = self.ledger.as_ref().map_or(0, |l| {
            of(l.copies(), size_of::<Copy>()) + of(l.resends(), size_of::<Resend>()) + l.bytes_of_bursts()
        });
        of(self.board.len(), size_of::<Sent>())
            + self.board.more_bytes
            + of(self.settling.len(), size_of::<Settling>())
            + of(self.on_the_way.len(), size_of::<AckNews>())
            + self.account.episodes().bytes()
            + ledger
    }

    /// What is outstanding is followed no more: the fate of those copies stays unknown, and the answer says so.
    #[cold]
    fn give_up_detail<S: Sink>(&mut self, now: Time, around: &mut Surroundings<'_, S>) {
        self.limits.not_followed += self.board.len() as u64;
        let judge = self.judge(&around.view);
        if let Some(ledger) = &mut self.ledger {
            self.settling.all_mut().iter().for_each(|s| s.settle(ledger, &judge));
        }
        self.settling = Queue::default();
        while !self.board.is_empty() {
            self.forget_oldest();
        }
        self.board.shrink();
        while let Some(old) = self.on_the_way.pop_front() {
            self.repair.on_ack(&old, old.time + around.view.turn, self.next);
        }
        self.on_the_way = VecDeque::new();
        if let Some(ledger) = &mut self.ledger {
            ledger.settle_all();
        }
        self.advance(now, around);
    }
}
