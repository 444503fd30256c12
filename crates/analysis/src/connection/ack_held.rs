//! ACKs that were sent apart and come together: something on their way held them back.

use super::*;

/// Sent at least so long apart. Network cards hold what has come back for less.
const APART: Span = Span::from_millis(4);
/// They come so many times closer to each other.
const CLOSER: i64 = 8;

impl Connection {
    /// An ACK without data passes: did it come together with the one before, though its timestamp says that it was sent later?
    #[inline(always)]
    pub(super) fn note_held_ack(&mut self, packet: &Packet, side: usize) {
        let Some(ts) = packet.seg.timestamps else { return };
        let s = &mut self.sides[side];
        let ticks = ts.val.wrapping_sub(std::mem::replace(&mut s.bare_ts, ts.val)) as i32;
        let came = packet.time - std::mem::replace(&mut s.bare_at, packet.time);
        if ticks <= 1 {
            return; // nearly all ACKs leave in the same tick as the one before, or in the next
        }
        // A tick less, for where within it each was sent.
        let apart = s.clock.tick() * (i64::from(ticks) - 1);
        if apart >= APART && came < apart / CLOSER && self.is_at_sender(1 - side) {
            self.streams[1 - side].ack_way().held += 1;
        }
    }
}
