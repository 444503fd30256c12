//! Packets of several segments: what leaves again leaves in those of the queue, so that it is known where each begins.

use super::{Board, PACKET};

impl Board {
    /// The packet that ended with the segment before entry `at` holds no more.
    pub(crate) fn begin_packet(&mut self, at: usize) {
        if let Some(seg) = self.segs.get_mut(at) {
            seg.marks |= PACKET;
        }
    }

    /// The newest segment is the first of its packet.
    pub(crate) fn begin_packet_with_newest(&mut self) {
        if let Some(seg) = self.segs.back_mut() {
            seg.marks |= PACKET;
        }
    }

    /// Entry `at` leaves again: with so many of the segments behind it, one packet of the queue as far as it is lost, and
    /// `room` segments at most; more are cut off (tcp_retransmit_skb, tcp_fragment).
    pub(crate) fn repairs_of_packet(&mut self, at: usize, room: u32) -> u32 {
        // One more than `room` tells that there is more.
        let behind = self.segs.iter_from(at + 1).take(room as usize + 1);
        let whole = behind.take_while(|s| s.wants_repair() && s.marks & PACKET == 0).count() as u32;
        let leaves = whole.min(room);
        if leaves < whole {
            self.begin_packet(at + 1 + leaves as usize);
        }
        leaves
    }
}
