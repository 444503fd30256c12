//! A timeout that looks needless: does the sender think so too (RFC 5682, RFC 3522, RFC 3708)?

use super::{AckNews, Attempt, Repair, State, Verdict};
use crate::assumptions::DUP_THRESH;
use crate::rows::{Cause, Evidence};
use wire::Time;

/// The repair after a timeout seemed to be over: an ACK said that it had been needless, or all was acknowledged.
/// A sender that does not look for the one (RFC 5682, RFC 3522), or knows better about the other, goes on repairing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    pub(super) since: Time,
    pub(super) high: u64,
    pub(super) first_ts: u32,
    /// All that was known to be in flight has been acknowledged: away from the sender there may have been more.
    pub(super) over: bool,
    /// The cumulative ACK moved then.
    pub(super) moved: bool,
    /// ACKs since then that SACKed something.
    pub(super) sacks: u32,
    /// New data was sent since: to see what becomes of it (RFC 5682 §2.1 step 2b), or because all was well.
    pub(super) tested: bool,
    /// New segments sent since.
    pub(super) sent: u32,
    /// A DSACK of its own said that the timer's copy had not been needed (RFC 3708).
    pub(super) proven: bool,
}

impl Repair {
    pub(super) fn on_ack_in_loss(
        &mut self,
        news: &AckNews,
        moved: bool,
        high: u64,
        f_rto: bool,
        first_ts: u32,
        next: u64,
    ) {
        // Eifel detection (RFC 3522): the ACK echoes a clock from before the timer's retransmission.
        let delayed = moved
            && first_ts != 0
            && news.ecr.is_some_and(|e| e != 0 && (e.wrapping_sub(first_ts) as i32) < 0);
        // RFC 5682 §3.1: data sent once, before the timeout, has arrived: not all of it was lost. What is sent again
        // does not count, though an ACK that was lost had told of its first copy.
        let original = f_rto
            && (1..=high).contains(&news.original_end)
            && news.original_end.max(news.ack) > self.resent.end;
        // RFC 3708: all that was sent again, one copy by the timer, had arrived before.
        let proven = self.age.recent()
            && news.dsack
            && f_rto
            && self.timer.firings == 1
            && self.resent.at == self.timer.fired_at;
        let since = self.last_news;
        let doubt =
            Doubt { since, high, first_ts, over: false, moved, sacks: 0, tested: false, sent: 0, proven };
        if self.una >= high {
            self.leave();
            self.doubt = Some(Doubt { over: true, ..doubt });
        } else if proven || (delayed || original) && !self.resent.goes_on {
            self.leave();
            self.doubt = Some(doubt);
        } else if f_rto && next > high && (news.sacked > 0 || news.duplicate) {
            // RFC 5682 §3.1 step 3a: new data was sent, and a duplicate ACK came: the loss was real.
            self.state = State::Loss { high, f_rto: false, first_ts };
        }
    }

    /// Data from before the timeout was SACKed after it, and the sender has sent nothing since: it does not take the timeout
    /// for needless, and waits until its own retransmission is acknowledged.
    pub(super) fn still_repairs(&mut self) {
        if let Some(d) = &self.doubt
            && !d.over
            && !d.moved
            && self.last_sent < d.since
        {
            self.state = State::Loss { high: d.high, f_rto: false, first_ts: d.first_ts };
        }
    }

    /// New data after a timeout that looked spurious: the sender has seen it, too. Without SACK or timestamps it
    /// waits for one more ACK (RFC 5682 §2.1 step 3).
    #[inline]
    pub(super) fn new_data_in_doubt(&mut self) {
        match &mut self.doubt {
            Some(d) if d.over || d.proven && (self.age.recent() || !self.basic) => self.doubt = None,
            Some(d) => d.tested = true,
            None => {}
        }
    }

    /// More than the two new segments that test a timeout (RFC 5682 §3.1 step 2b) are a window that was restored.
    #[inline]
    pub fn note_new_segments(&mut self, segments: u32) {
        if let Some(d) = &mut self.doubt {
            d.sent += segments;
            if d.sent > 2 && !self.basic {
                self.doubt = None;
            }
        }
    }

    /// A repair without any evidence of a loss, after a timeout that had looked spurious: the sender did not think so.
    pub(super) fn settle_doubt(&mut self, a: &Attempt, verdict: Verdict) -> Verdict {
        let Some(doubt) = self.doubt.take() else { return verdict };
        // What it sends on that very ACK, a sender that had thought so would have been new; one that has the whole SACK
        // rules to hand (RFC 8985 §6.2) may know at once what else was lost.
        let later = self.last_news > doubt.since;
        let evidence = match (a.sack_permitted, self.basic) {
            _ if doubt.proven => true,
            (true, _) if self.age.recent() => a.sacked_above,
            _ if !later => false,
            (true, false) => a.sacked_above && (!doubt.tested || doubt.sacks >= DUP_THRESH),
            (true, true) => a.sacked_above && (doubt.over || doubt.sacks >= DUP_THRESH),
            (false, _) => self.duplicates >= DUP_THRESH,
        };
        let lost_again = a.previous_was_resend && a.previous >= self.timer.fired_at;
        if verdict.cause != Cause::Recovery || evidence || lost_again {
            return verdict;
        }
        self.resent.goes_on |= !doubt.over;
        self.state = State::Loss { high: doubt.high.max(a.next), f_rto: false, first_ts: doubt.first_ts };
        Verdict { cause: Cause::LossState, evidence: Evidence::None, ..verdict }
    }
}
