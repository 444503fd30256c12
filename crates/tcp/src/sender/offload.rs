//! Segmentation offload: segments leave in packets of several, and a packet waits until it is worth its while.
//!
//! As Linux has it since 2.6 (tcp_write_xmit, tcp_tso_should_defer, tcp_tso_autosize, tcp_cwnd_test), whether or not the
//! network card helps: a packet has room for about a millisecond's data, two segments at least, and half of cwnd at most.

use super::{Blocked, Phase, Run, Sender};
use crate::packet;
use wire::{Span, Time};

/// A packet waits only while something left so lately, or its pace ended so lately.
const LATELY: Span = Span::from_millis(1);
/// With a third of the window free it does not wait (tcp_tso_win_divisor).
const PART_OF_WINDOW: u64 = 3;

/// The packet that is being sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offload {
    /// Segments that the packet has room for.
    left: u32,
    /// It has more than one.
    several: bool,
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
    /// New data waits for its packet to be full. Rules with a rate of their own say how much leaves at a time.
    #[inline(always)]
    pub(super) fn hands_over_packets(&self) -> bool {
        self.rules.offload && !(self.guided && self.congestion.drives())
    }

    /// How many segments of the packet that is being sent are left, with the one that leaves now: they are paced as one.
    pub(super) fn packet_to_be_paced(&self) -> Option<u32> {
        self.hands_over_packets().then_some(self.offload.left + 1)
    }

    /// Does the next new segment wait for more of its packet? cwnd has room for it.
    pub(super) fn waits_for_its_packet(&mut self, now: Time) -> bool {
        let begins = self.offload.left == 0;
        let segments = self.next_packet(now);
        self.offload.several = if begins { segments > 1 } else { self.offload.several };
        self.offload.left = segments.saturating_sub(1);
        segments == 0
    }

    /// A packet waits: for more of which window?
    pub(super) fn blocked_packet(&self) -> Blocked {
        if self.offload.waits_for_cwnd { Blocked::Cwnd } else { Blocked::ReceiveWindow }
    }

    /// The segment that leaves is the last of a packet of several: such packets have PSH, whatever the application said
    /// (__tcp_transmit_skb).
    pub(super) fn ends_its_packet(&self) -> bool {
        self.hands_over_packets() && self.offload.left == 0 && self.offload.several
    }

    /// How many new segments belong to the packet that is being sent, or else to the next one, if cwnd has room for a
    /// segment; 0: it waits.
    fn next_packet(&mut self, now: Time) -> u32 {
        if self.offload.left > 0 {
            return self.offload.left;
        }
        let smss = u64::from(self.window.smss);
        let waiting = self.written.saturating_sub(self.nxt);
        if waiting <= smss {
            return 1;
        }
        let cwnd = self.cwnd_segments();
        let room = cwnd.saturating_sub(self.segments_in_flight()).max(1);
        let largest = self.largest_packet();
        let by_cwnd = u64::from(room) * smss;
        let by_peer = self.edge.saturating_sub(self.nxt);
        if self.is_worth_waiting(now, by_cwnd.min(by_peer), largest)
            && by_cwnd.min(by_peer) <= waiting
            && !(self.closing && waiting <= packet::LINUX.most_bytes)
        {
            self.offload.waits_for_cwnd = by_cwnd < by_peer;
            return 0;
        }
        let within = (by_peer / smss).clamp(1, u64::from(u32::MAX)) as u32;
        room.min((cwnd / 2).max(1)).min(largest).min(within)
    }

    /// What of `all` belongs to the packet that is being sent, or to the next one; nothing while that waits.
    #[inline(never)]
    pub(super) fn run_of_packet(&mut self, now: Time, all: Run) -> Run {
        let segments = all.room / all.smss;
        if segments == 0 {
            return all;
        }
        let packet = self.next_packet(now);
        if packet < segments {
            Run { room: packet * all.smss, packet, more: packet > 0, ..all }
        } else {
            Run { packet, ..all }
        }
    }

    /// All of `run` leaves; does its last segment end a packet of several?
    #[inline]
    pub(crate) fn takes(&mut self, run: &Run) -> bool {
        if run.packet == 0 {
            return false;
        }
        if self.offload.left == 0 {
            self.offload.several = run.packet > 1;
        }
        self.offload.left = run.packet.saturating_sub(run.room / run.smss);
        self.offload.left == 0 && self.offload.several
    }

    /// The packet that is waiting, or next, ends with so many segments more.
    pub(crate) fn end_packet(&mut self, segments: u32) {
        self.offload.left = self.offload.left.max(segments);
    }

    /// tcp_tso_should_defer.
    fn is_worth_waiting(&self, now: Time, may_leave: u64, largest: u32) -> bool {
        let smss = u64::from(self.window.smss);
        let window = u64::from(self.window.cwnd).min(self.edge - self.una());
        let Some(oldest) = self.board.get(0) else { return false };
        self.phase == Phase::Open
            && now - self.last_paid_for() <= LATELY
            && may_leave < u64::from(largest) * smss
            && may_leave < window / PART_OF_WINDOW
            && self.ack_is_near(now - oldest.sent)
    }

    /// When the last packet left; where packets are paced, until when it takes at that pace (tcp_wstamp_ns).
    fn last_paid_for(&self) -> Time {
        if self.guided { self.pacing.next() } else { self.last_sent }
    }

    /// The oldest segment left so long ago: is its ACK expected within a millisecond, or half of SRTT?
    fn ack_is_near(&self, ago: Span) -> bool {
        let srtt = self.rto.srtt().unwrap_or(Span::ZERO);
        srtt - ago <= LATELY.min(Span(srtt.0 / 2))
    }

    /// So many bytes of a connection wait below TCP before more is held back, where Linux hands over packets: about a millisecond's, two segments at least, and
    /// twice that of repairs (tcp_small_queue_check). Less, in truth, since there packets count with their overhead.
    pub(crate) fn small_queue(&self, repairs: bool) -> u64 {
        if !self.rules.offload {
            return u64::MAX;
        }
        let rate = self.rate_of_window().unwrap_or(0);
        (rate >> packet::SHIFT).max(2 * u64::from(self.window.smss)) << u32::from(repairs)
    }

    fn largest_packet(&self) -> u32 {
        let rate = self.rate_of_window().unwrap_or(0);
        packet::LINUX.segments(rate, self.window.smss, self.sampler.min_rtt())
    }
}
