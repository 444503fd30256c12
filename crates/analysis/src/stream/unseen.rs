//! Data that must have been sent and has not been seen here: holes, and tails that were lost as a whole.

use super::board::Sent;
use super::data::Piece;
use super::*;
use crate::Fate;

/// How often a timer that starts at `rto` and doubles has fired within `waited`, not counting the last time.
pub(super) fn expiries_in(waited: Span, rto: Span) -> u32 {
    let ratio = waited.as_secs() / rto.as_secs().max(1e-3);
    ((ratio + 1.3).log2().floor().max(1.0) as u32) - 1
}

/// Repairs that may have been lost besides, each sent by a timer that doubles.
const ATTEMPTS: u64 = 16;

impl Stream {
    /// Data from beyond a gap: what lies between was sent before it and has not been seen.
    pub(super) fn reveal_hole(&mut self, p: &Piece) {
        self.keep_ledger();
        let ordinal = self.next_ordinal;
        self.next_ordinal += 1;
        if let Some(ledger) = &mut self.ledger {
            ledger.push(p.packet.time, self.next, (p.start - self.next) as u32, 0, p.ts);
            if let Some(copy) = ledger.copy_mut(ordinal) {
                copy.unseen = true;
            }
        }
        let mut hole = Sent::hole(self.next, p.start, p.packet.time, p.ts, ordinal);
        hole.ip_id = p.packet.ip_id;
        self.board.push(hole);
        self.next = p.start;
    }

    /// Takes in the identification of a data packet, and what it tells of how its host counts. `in_turn`: new
    /// data, right behind what was sent just before it.
    pub(super) fn note_id(&mut self, p: &Piece, in_turn: bool) {
        let (id, segments) = (p.packet.ip_id, self.segments(p.packet.seg.payload));
        let counted = self.ids.are_counted();
        if p.start >= self.next && self.ids.is_behind(id) && self.ids.has_come(id) {
            self.ids.count_otherwise();
        }
        self.ids.note(id, segments);
        if !counted || self.ids.skipped == 0 {
            return;
        }
        // A window cannot have lost more than it holds.
        let payload = (self.counts.bytes / self.counts.packets.max(1)).max(1);
        let window = (!self.limits.mid_stream && self.window.max > 0).then_some(self.window.max / payload);
        if window.is_some_and(|w| u64::from(self.ids.skipped) > w + ATTEMPTS) {
            self.ids.are_shared();
            self.sent_up_to = 0;
        } else if in_turn {
            // No repair comes so soon after what was sent before the data that it repeats.
            self.ids.spent_elsewhere();
        }
    }

    /// Data in order, and yet not new: packets that carried it before were lost on their way here. Hosts that
    /// count their packets in the IP identification show that: more are missing than there are holes. True if so.
    pub(super) fn unseen_tail<S: Sink>(&mut self, p: &Piece, around: &Surroundings<'_, S>) -> bool {
        if !matches!(around.view.at, Vantage::Receiver | Vantage::Middle) || p.start < self.next {
            return false;
        }
        if self.first_data.is_none() {
            return false; // what a host that only acknowledges has lost before its FIN may well be an ACK
        }
        let pace = self.pace(&around.view);
        // A sender of small messages fills no segment.
        let unit = u64::from(self.limits.largest_payload.max(p.packet.seg.payload).clamp(1, self.mss.max(1)));
        self.ids.accounted_for((p.start - self.next).div_ceil(unit));
        let owed = self.ids.owed;
        let lately = around.view.sent - self.last_repair < (pace.srtt * 2).max(self.ids.open_for());
        let believed = self.ids.are_counted() && self.board.is_empty() && (self.ids.skipped > 0 || lately);
        if believed && owed > 0 {
            self.sent_up_to = p.start + u64::from(owed) * unit;
        } else if !lately && self.ids.skipped == 0 {
            self.ids.owed = 0; // what was missing was no data: ACKs, or repairs lost in vain
        }
        if p.start < self.sent_up_to {
            if p.start > self.next {
                self.reveal_hole(p);
            }
            self.ids.accounted_for(u64::from(self.segments(p.packet.seg.payload)));
            let hole = Sent::hole(p.start, p.end, self.last_sent, 0, self.next_ordinal);
            self.keep_ledger();
            let ordinal = self.copy(&Piece { fate: Fate::Unknown, ..*p }, around.view.heard);
            if let Some(copy) = self.ledger.as_mut().and_then(|l| l.copy_mut(ordinal)) {
                copy.unseen = true;
                copy.time = self.last_data.unwrap_or(p.packet.time);
            }
            self.board.push(hole);
            self.next = p.end;
            return true;
        }
        false
    }
}
