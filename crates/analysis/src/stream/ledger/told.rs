//! What ACKs tell of what is outstanding, and of what they have taken off since.

use super::*;

impl Ledger {
    /// Takes the front off if all of it lies below `ack` and it was sent just once.
    #[inline(always)]
    pub fn pop_plain(&mut self, ack: u64) -> Option<Plain> {
        let (next, trouble) = (self.board.second(), &mut self.trouble);
        self.board.pop_plain(ack, |seg| {
            if let Some(trouble) = trouble {
                trouble.push_arrived(seg, next);
            }
        })
    }
    /// Takes off what of the front lies below `ack`: its copies met their fates, or will be told apart after `wait`.
    pub fn pop_acked(&mut self, ack: u64, by: &AckSeen, wait: impl FnOnce() -> Span) -> Option<Acked> {
        let seg = self.board.pop_acked(ack)?;
        let mut acked = Acked::of(&seg);
        let Some(trouble) = &mut self.trouble else { return Some(acked) };
        let next = self.board.front().map(|s| s.first);
        if !acked.resent {
            trouble.push_arrived(&seg, next);
            acked.unseen = seg.hole;
            return Some(acked);
        }
        let settling = Settling {
            reported: if seg.sacked { seg.sacked_time() } else { by.time },
            echo: (seg.start == by.head && !seg.sacked).then_some(by.echo).flatten(),
            dsacks: seg.dsacks(),
            last_dsack: seg.last_dsack(),
            until: by.time.max(seg.last_time + wait()),
            answered: seg.start == by.head && !seg.sacked && by.answers == Some(seg.last_time),
            behind: false,
            unblocked: if seg.start == by.head { Time::FAR_FUTURE } else { by.newest_delivered },
            seg,
        };
        trouble.push(Left::settling(settling), next);
        Some(acked)
    }
    /// Marks `[left, right)` as SACKed and hands each segment that newly is to `each`.
    pub fn sack(&mut self, left: u64, right: u64, now: Time, mut each: impl FnMut(&Acked)) {
        self.board.sack(left, right, now, |seg| {
            each(&Acked { sacked: true, unseen: seg.is_unfilled(), ..Acked::of(seg) });
        });
    }
    /// The receiver got `[left, right)` once more than it needed; all before `una` is acknowledged.
    pub fn take_dsack(&mut self, (left, right): (u64, u64), una: u64, now: Time) {
        if let Some(trouble) = &mut self.trouble {
            // They were acknowledged in the order of their numbers.
            let all = trouble.left.all_mut();
            let first = all.partition_point(|l| l.end <= left);
            for range in all[first..].iter_mut().take_while(|l| l.start < right) {
                if let Some(s) = &mut range.settling {
                    s.dsacks = s.dsacks.saturating_add(1);
                    s.last_dsack = now;
                }
                self.board.steps += 1;
            }
        }
        let Some(mut i) = self.board.find(left.max(una)) else { return };
        while self.board.get(i).is_some_and(|seg| seg.start < right) {
            self.board.note_dsack(i, now);
            i += 1;
        }
    }
    /// Without SACK a duplicate ACK does the work of a DSACK: data below the cumulative ACK that arrives again
    /// is answered at once (RFC 9293 §3.10.7.4). Packets arrive in order, so it speaks of the oldest
    /// retransmission not spoken of yet that has had the time, `soonest`; and of none that left before `delivered`, when
    /// the newest of what is known to have arrived did. True if there is one.
    pub fn take_duplicate_ack(&mut self, now: Time, soonest: Span, delivered: Time) -> bool {
        let Some(trouble) = &mut self.trouble else { return false };
        let mut found = None;
        for (i, range) in trouble.left.all_mut().iter_mut().enumerate() {
            self.board.steps += 1;
            let Some(s) = &mut range.settling else { continue };
            let open = s.dsacks == 0 && s.seg.last_time >= s.unblocked.max(delivered);
            if open && s.seg.last_time + soonest <= now {
                (s.dsacks, s.last_dsack) = (1, now);
                found = (!s.behind).then_some((i, s.reported, s.seg.last_time));
                if found.is_none() {
                    return true;
                }
                break;
            }
        }
        let Some((at, reported, left)) = found else { return false };
        // So came what left behind it.
        for range in &mut trouble.left.all_mut()[at..] {
            self.board.steps += 1;
            if let Some(s) = range.settling.as_mut().filter(|s| s.reported == reported) {
                s.behind |= s.seg.last_time >= left;
            }
        }
        true
    }
}
