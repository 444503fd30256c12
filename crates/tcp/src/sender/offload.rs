//! Segmentation offload: segments leave in packets of several, and a packet waits until it is worth its while.
//!
//! As Linux has it since 2.6 (tcp_write_xmit, tcp_tso_should_defer, tcp_tso_autosize, tcp_cwnd_test), whether or not the
//! network card helps: a packet has room for about a millisecond's data, two segments at least, and half of cwnd at most.

use super::{Phase, Sender};
use crate::pacing::Pacing;
use wire::{Span, Time};

/// A packet waits only while something left so lately.
const LATELY: Span = Span::from_millis(1);
/// With a third of the window free it does not wait (tcp_tso_win_divisor).
const PART_OF_WINDOW: u64 = 3;
/// So much may stand behind one FIN, bytes (GSO_LEGACY_MAX_SIZE).
const MOST_BYTES: u64 = 65_536;

/// The packet that is being sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offload {
    /// Segments that the packet has room for.
    left: u32,
    /// A packet waits for cwnd.
    waits_for_cwnd: bool,
}

impl Offload {
    /// An ACK comes: the next packet is begun anew. Had one waited for cwnd?
    #[inline]
    pub(super) fn begin(&mut self) -> bool {
        self.left = 0;
        std::mem::take(&mut self.waits_for_cwnd)
    }
}

impl Sender {
    /// Does the next new segment wait for more of its packet? cwnd has room for it.
    pub(super) fn waits_for_its_packet(&mut self, now: Time) -> bool {
        if self.offload.left > 0 {
            self.offload.left -= 1;
            return false;
        }
        let smss = u64::from(self.window.smss);
        let waiting = self.written.saturating_sub(self.nxt);
        if waiting <= smss {
            return false;
        }
        let out = self.board.pipe_segments().saturating_sub(self.assumed_sacked);
        let cwnd = self.cwnd_segments();
        let room = cwnd.saturating_sub(out).max(1);
        let largest = self.largest_packet();
        let by_cwnd = u64::from(room) * smss;
        let by_peer = self.edge.saturating_sub(self.nxt);
        if self.is_worth_waiting(now, by_cwnd.min(by_peer), largest)
            && by_cwnd.min(by_peer) <= waiting
            && !(self.closing && waiting <= MOST_BYTES)
        {
            self.offload.waits_for_cwnd = by_cwnd < by_peer;
            return true;
        }
        self.offload.left = room.min((cwnd / 2).max(1)).min(largest) - 1;
        false
    }

    /// The packet that is waiting, or next, ends with one segment more.
    pub(crate) fn end_packet(&mut self) {
        self.offload.left = self.offload.left.max(1);
    }

    /// tcp_tso_should_defer.
    fn is_worth_waiting(&self, now: Time, may_leave: u64, largest: u32) -> bool {
        let smss = u64::from(self.window.smss);
        let window = u64::from(self.window.cwnd).min(self.edge - self.una());
        let Some(oldest) = self.board.get(0) else { return false };
        self.phase == Phase::Open
            && now - self.last_sent <= LATELY
            && may_leave < u64::from(largest) * smss
            && may_leave < window / PART_OF_WINDOW
            && self.ack_is_near(now - oldest.sent)
    }

    /// The oldest segment left so long ago: is its ACK expected within a millisecond, or half of SRTT?
    fn ack_is_near(&self, ago: Span) -> bool {
        let srtt = self.rto.srtt().unwrap_or(Span::ZERO);
        srtt - ago <= LATELY.min(Span(srtt.0 / 2))
    }

    fn largest_packet(&self) -> u32 {
        let mut pace = Pacing::new(false);
        let out = self.board.segments().saturating_mul(self.window.smss);
        pace.follow(self.window.cwnd, self.window.ssthresh, out, self.rto.srtt());
        pace.largest(self.window.smss, self.sampler.min_rtt())
    }
}
