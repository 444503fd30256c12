//! What nearly every segment is: the next one (header prediction, Van Jacobson 1990), and either data for an end that has
//! none under way itself, or a bare ACK of some that is. What [`Endpoint::receive_any`] would do, without what cannot be.

use super::{Endpoint, Stage};
use crate::sender::AckIn;
use wire::Time;
use wire::{Flags, Segment};

impl Endpoint {
    /// Takes the segment if it is one of these. False, and nothing done, in every other case.
    #[inline(always)]
    pub(super) fn take_expected(&mut self, now: Time, seg: &Segment) -> bool {
        let (next, una) = (self.receiver.next(), self.sender.una());
        let follows = self.stage == Stage::Open
            && seg.seq == self.peer_seq(next)
            && seg.flags.without(Flags::PSH) == Flags::ACK
            && (!self.stamps || seg.timestamps.is_some_and(|t| t.val.wrapping_sub(self.recent) as i32 >= 0));
        let step = seg.ack - self.seq(una);
        if !follows || step < 0 {
            return false;
        }
        let ack = una + step as u64;
        if seg.payload > 0 {
            let tells_nothing =
                self.sender.max() == una && ack == una && self.window_of(seg) == self.peer_window;
            if tells_nothing {
                self.take_data(now, seg, next, una);
            }
            return tells_nothing;
        }
        let acknowledges = ack > una && ack <= self.sender.max() && seg.sack.is_empty();
        if acknowledges {
            self.take_ack(now, seg, next, ack);
        }
        acknowledges
    }

    #[inline(always)]
    fn take_data(&mut self, now: Time, seg: &Segment, next: u64, una: u64) {
        self.note_heard(now, seg, next);
        self.update_window(seg, next as i64, una);
        self.on_text(now, seg, next, next);
        if self.receiver.finished() {
            self.on_peer_closed(now);
        }
    }

    #[inline(always)]
    fn take_ack(&mut self, now: Time, seg: &Segment, next: u64, ack: u64) {
        self.note_heard(now, seg, next);
        self.update_window(seg, next as i64, ack);
        let tsecr = if self.stamps { seg.timestamps.map(|t| t.ecr) } else { None };
        let echoed = tsecr.and_then(|ecr| self.clock.since(ecr, now));
        let a = AckIn { now, ack, bare: false, ece: false, blocks: &[], tsecr, echoed };
        self.sender.on_ack(&a, &mut self.timers);
        self.sender.window_seen(now, &mut self.timers);
        if self.receiver.finished() {
            self.on_peer_closed(now);
        }
    }

    #[inline(always)]
    fn note_heard(&mut self, now: Time, seg: &Segment, next: u64) {
        self.heard = now;
        self.keepalives = 0;
        if self.stamps {
            self.note_stamp(now, seg, next as i64);
        }
    }
}
