//! What ACKs tell of what is outstanding, and of what they have taken off since.

use super::settle::echoes_older;
use super::*;

impl Ledger {
    /// Takes the front off if all of it lies below `ack` and it was sent just once.
    #[inline(always)]
    pub fn pop_plain(&mut self, ack: u64) -> Option<AckedOnce> {
        let seg = self.board.pop_plain(ack)?;
        if let Some(trouble) = &mut self.trouble {
            trouble.note_arrival(&seg);
            trouble.push_arrived(&seg, &mut self.board);
        } else if !seg.is_plain() {
            seg.leave(&mut self.board.repaired);
        }
        Some(AckedOnce {
            end: seg.end(),
            len: seg.len(),
            sacked: seg.is_sacked(),
            time: seg.time,
            ts: seg.last_ts(),
        })
    }
    /// Takes off what of the front lies below `ack`: its copies met their fates, or will be told apart after `wait`.
    pub fn pop_acked(&mut self, ack: u64, by: &AckSeen, wait: impl FnOnce() -> Span) -> Option<Acked> {
        let seg = self.board.pop_acked(ack)?;
        let board = &mut self.board;
        let mut acked = Acked::of(&seg, board.repaired.of(&seg));
        let Some(trouble) = self.trouble.as_mut() else {
            seg.leave(&mut board.repaired);
            return Some(acked);
        };
        let of = seg.kept().filter(|_| acked.resent).and_then(|at| board.repaired.get_mut(at));
        let Some(of) = of else {
            acked.unseen = seg.is_hole();
            trouble.note_arrival(&seg);
            trouble.push_arrived(&seg, board);
            return Some(acked);
        };
        let at_head = seg.start() == by.head;
        if !acked.sacked {
            of.reported = by.time;
            of.echo = by.echo.filter(|_| at_head).unwrap_or(0);
            of.answers = match () {
                () if at_head && by.answers == Some(seg.time) => Answers::OfLast,
                () if by.deaf => Answers::Lost,
                () => Answers::Unknown,
            };
        }
        of.last_time = seg.time;
        of.unblocked = if at_head { Time::FAR_FUTURE } else { by.newest_delivered };
        // Where an earlier copy set the ACK off, the later ones may be right behind it, however long ago they left.
        let since = if echoes_older(of.echo, seg.last_ts()) { by.time } else { seg.time };
        trouble.push(seg.leave_settling(by.time.max(since + wait())), &mut board.list);
        Some(acked)
    }
    /// Marks `[left, right)` as SACKed and hands each segment that newly is to `each`.
    pub fn sack(&mut self, left: u64, right: u64, now: Time, mut each: impl FnMut(&Acked)) {
        let mut told = self.trouble.as_mut().filter(|trouble| trouble.knows_losses());
        self.board.sack(left, right, now, |seg, acked| {
            if let Some(trouble) = told.as_mut().filter(|_| !acked.resent) {
                trouble.note_arrival(seg);
            }
            each(acked);
        });
    }
    /// The receiver got `[left, right)` once more than it needed; all before `una` is acknowledged.
    pub fn take_dsack(&mut self, (left, right): (u64, u64), una: u64, now: Time) {
        self.board.each_settling((left, right), |of| {
            of.note_dsack(now);
            true
        });
        let Some(mut i) = self.board.find(left.max(una)) else { return };
        while self.board.get(i).is_some_and(|seg| seg.start() < right) {
            self.board.note_dsack(i, now);
            i += 1;
        }
    }
    /// Without SACK a duplicate ACK does the work of a DSACK: data below the cumulative ACK that arrives again
    /// is answered at once (RFC 9293 §3.10.7.4). Packets arrive in order, so it speaks of the oldest
    /// retransmission not spoken of yet that has had the time, `soonest`; and of none that left before `delivered`, when
    /// the newest of what is known to have arrived did. True if there is one.
    pub fn take_duplicate_ack(&mut self, now: Time, soonest: Span, delivered: Time) -> bool {
        let (mut any, mut since) = (false, None);
        self.board.each_settling((0, u64::MAX), |of| {
            if !any {
                let open = of.dsacks == 0 && of.last_time >= of.unblocked.max(delivered);
                any = open && of.last_time + soonest <= now;
                if any {
                    of.note_dsack(now);
                    since = (!of.behind).then_some((of.reported, of.last_time));
                }
            }
            // So came what left behind it.
            if let Some((reported, left)) = since {
                of.behind |= of.reported == reported && of.last_time >= left;
            }
            !any || since.is_some()
        });
        any
    }
}
