//! The inputs of the sender's model, and its verdict.

use super::evidence::Observed;
use super::judges::{Judge, JudgedFrom};
use crate::rows::{Cause, Evidence, Trigger};
use wire::{Span, Time};

/// An ACK as it reaches the sender: what it changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEvent {
    pub time: Time,
    pub ack: u64,
    /// Bytes that the cumulative ACK moved on by.
    pub advanced: u64,
    /// Bytes newly SACKed.
    pub sacked: u64,
    /// A duplicate ACK (RFC 5681 §2).
    pub duplicate: bool,
    pub dsack: bool,
    /// Bytes among them that no SACK had reported before.
    pub advanced_new: u64,
    /// Data sent only once became acknowledged or SACKed: the end of the lowest such segment, 0 for none.
    pub original_end: u64,
    pub ecr: Option<u32>,
    /// The ACK's own timestamp, by which data that echoes it shows that it was heard.
    pub ts: Option<u32>,
    /// The sending time of the newest copy it proves delivered (RACK.xmit_ts, RFC 8985 §6.2).
    pub newest_delivered: Time,
    pub nothing_outstanding: bool,
    /// Nothing beyond has been SACKed by then.
    pub sacked_up_to: u64,
    /// Up to where the receiver takes data, by this ACK.
    pub edge: u64,
}

impl AckEvent {
    /// Data that was sent only once, up to `end`, has arrived: tells a needless timeout (RFC 5682).
    #[inline]
    pub fn note_original(&mut self, end: u64) {
        if self.original_end == 0 || end < self.original_end {
            self.original_end = end;
        }
    }

    /// This ACK and one before it that was lost, as one.
    pub(super) fn with(&self, before: &AckEvent) -> AckEvent {
        let mut both = *self;
        both.sacked += before.sacked;
        both.advanced_new += before.advanced_new;
        both.newest_delivered = self.newest_delivered.max(before.newest_delivered);
        if before.original_end != 0 {
            both.note_original(before.original_end);
        }
        both
    }
}

/// A retransmission to be explained.
#[derive(Clone, Copy, Debug)]
pub struct RetransmittedSegment {
    pub now: Time,
    /// It repeats the first segment not acknowledged; the last one sent.
    pub head: bool,
    pub tail: bool,
    pub start: u64,
    pub end: u64,
    /// All of it had been acknowledged.
    pub acknowledged: bool,
    /// When the copy before it was sent, and whether that was a retransmission itself.
    pub previous: Time,
    pub previous_was_resend: bool,
    /// Data above it has been SACKed.
    pub sacked_above: bool,
    /// It has not been acknowledged, and nothing beyond it has been SACKed.
    pub untold: bool,
    pub sack_permitted: bool,
    /// The copy before it was not seen.
    pub unseen: bool,
    /// Packets that the sender sent right before it and that did not come here, where that is known.
    pub missing: Option<u32>,
    /// Duplicate ACKs that have passed here and are assumed not to have reached the sender.
    pub duplicates_in_flight: u32,
    /// ACKs of this stream pass here at all.
    pub acks_seen: bool,
    /// The highest sequence number sent.
    pub next: u64,
    pub ts: u32,
    /// It is no longer than a segment, as far as is known: no timer sends more (RFC 5681 §3.1, the loss window).
    pub one_segment: bool,
    /// When it passed here, without correction by its timestamp.
    pub seen: Time,
    /// A packet that was sent after it came before it.
    pub overtaken: bool,
    /// At the sender: when the last left of what is outstanding and left before the newest that was delivered.
    pub last_before: Time,
    /// At the sender: the most that RACK may wait for what is out of order (RFC 8985 §6.2 step 4).
    pub reordering: Span,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub cause: Cause,
    pub evidence: Evidence,
    pub trigger: Trigger,
    pub backoff: u32,
    /// Away from the sender: observations about it.
    pub observed: Option<Observed>,
    /// The cause that fits nearly as well.
    pub other: Option<Cause>,
}

/// Round trips and timers of this path.
#[derive(Clone, Copy, Debug)]
pub struct PathTiming {
    /// How close to an ACK a packet must be to have been sent because of it: max(2 ms, RTTmin/10).
    pub tolerance: Span,
    pub srtt: Span,
    /// The least round trip.
    pub least: Span,
    /// The RTO: at the sender as Linux computes it, else as RFC 6298 does with Linux's floor of 200 ms.
    pub rto: Span,
    /// Which judge applies here.
    pub judged_from: JudgedFrom,
}

impl PathTiming {
    #[inline]
    pub fn judge(&self) -> &dyn Judge {
        self.judged_from.judge()
    }
}
