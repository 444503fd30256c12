//! Timeouts that look spurious: does the sender treat them as spurious (RFC 5682, RFC 3522, RFC 3708)?

use super::{AckEvent, RetransmittedSegment, SenderModel, State, Verdict};
use crate::assumptions::DUP_THRESH;
use crate::rows::{Cause, Evidence};
use wire::Time;

/// The model has left the loss state, because an ACK showed the timeout to be spurious or because everything was
/// acknowledged. A sender without such detection, or with more in flight than was seen, goes on retransmitting.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpuriousRto {
    pub(super) since: Time,
    pub(super) high: u64,
    pub(super) first_ts: u32,
    /// Everything known to be in flight has been acknowledged; away from the sender there may have been more.
    pub(super) all_acked: bool,
    /// The ACK at that time moved the cumulative ACK.
    pub(super) moved: bool,
    /// ACKs since then that SACKed something.
    pub(super) sacks: u32,
    /// New data was sent since: as F-RTO's test (RFC 5682 §2.1 step 2b), or because the sender saw the timeout as spurious.
    pub(super) tested: bool,
    /// New segments sent since.
    pub(super) sent: u32,
    /// A DSACK reported the timer's retransmission as a duplicate (RFC 3708).
    pub(super) proven: bool,
}

impl SenderModel {
    pub(super) fn on_ack_in_loss(
        &mut self,
        news: &AckEvent,
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
        // RFC 5682 §3.1: data sent once, before the timeout, has arrived, so not all of it was lost. Retransmitted data
        // does not count, even if a lost ACK had reported its first copy.
        let original = f_rto
            && (1..=high).contains(&news.original_end)
            && news.original_end.max(news.ack) > self.trace.end;
        // RFC 3708: the only retransmission was the timer's, and its data had arrived before.
        let proven = self.era.since_2013()
            && news.dsack
            && f_rto
            && self.timer.firings == 1
            && self.trace.at == self.timer.fired_at;
        let since = self.last_news;
        let doubt = SpuriousRto {
            since,
            high,
            first_ts,
            all_acked: false,
            moved,
            sacks: 0,
            tested: false,
            sent: 0,
            proven,
        };
        if self.una >= high {
            self.leave();
            self.spurious_rto = Some(Box::new(SpuriousRto { all_acked: true, ..doubt }));
        } else if proven || (delayed || original) && !self.trace.ignored_undo {
            self.leave();
            self.spurious_rto = Some(Box::new(doubt));
        } else if f_rto && next > high && (news.sacked > 0 || news.duplicate) {
            // RFC 5682 §3.1 step 3a: new data was sent, and a duplicate ACK came: the loss was real.
            self.state = State::Loss { high, f_rto: false, first_ts };
        }
    }

    /// Data from before the timeout was SACKed after it, and the sender has sent nothing since: it does not treat the timeout
    /// as spurious, and waits until its retransmission is acknowledged.
    pub(super) fn return_to_loss_if_silent(&mut self) {
        if let Some(d) = &self.spurious_rto
            && !d.all_acked
            && !d.moved
            && self.last_sent < d.since
        {
            self.state = State::Loss { high: d.high, f_rto: false, first_ts: d.first_ts };
        }
    }

    /// New data after a timeout that looked spurious: the sender treats it as spurious, too. Without SACK or timestamps it
    /// waits for one more ACK (RFC 5682 §2.1 step 3).
    #[inline]
    pub(super) fn on_new_data_after_rto(&mut self) {
        match &mut self.spurious_rto {
            Some(d) if d.all_acked || d.proven && (self.era.since_2013() || !self.basic) => {
                self.spurious_rto = None
            }
            Some(d) => d.tested = true,
            None => {}
        }
    }

    /// More than the two new segments of F-RTO's test (RFC 5682 §3.1 step 2b) show that cwnd was restored.
    #[inline]
    pub fn note_new_segments(&mut self, segments: u32) {
        if let Some(d) = &mut self.spurious_rto {
            d.sent += segments;
            if d.sent > 2 && !self.basic {
                self.spurious_rto = None;
            }
        }
    }

    /// A retransmission without evidence of a loss after a timeout that had looked spurious: the sender did not treat it as
    /// spurious, and the model returns to the loss state.
    pub(super) fn confirm_or_revert(&mut self, a: &RetransmittedSegment, verdict: Verdict) -> Verdict {
        let Some(doubt) = self.spurious_rto.take() else { return verdict };
        // On that very ACK a sender that undid the timeout would have sent new data; one with RACK (RFC 8985 §6.2) may know
        // at once what else was lost.
        let later = self.last_news > doubt.since;
        let evidence = match (a.sack_permitted, self.basic) {
            _ if doubt.proven => true,
            (true, _) if self.era.since_2013() => a.sacked_above,
            _ if !later => false,
            (true, false) => a.sacked_above && (!doubt.tested || doubt.sacks >= DUP_THRESH),
            (true, true) => a.sacked_above && (doubt.all_acked || doubt.sacks >= DUP_THRESH),
            (false, _) => self.duplicates >= DUP_THRESH,
        };
        let lost_again = a.previous_was_resend && a.previous >= self.timer.fired_at;
        if verdict.cause != Cause::Recovery || evidence || lost_again {
            return verdict;
        }
        self.trace.ignored_undo |= !doubt.all_acked;
        self.state = State::Loss { high: doubt.high.max(a.next), f_rto: false, first_ts: doubt.first_ts };
        Verdict { cause: Cause::LossState, evidence: Evidence::None, ..verdict }
    }
}
