//! What keeps the next segment from leaving, for those who ask: nothing here is asked on the way of a segment.

use super::Sender;
use wire::Time;

/// What keeps a sender from sending more, once all that may leave has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blocked {
    /// The connection does not stand yet.
    #[default]
    Handshake,
    /// Nothing: a segment may leave now.
    Nothing,
    /// The application has written nothing that has not left.
    Application,
    /// The congestion window, what else limits what is sent before the next ACK included.
    Cwnd,
    /// The window that the peer offers has no room for a segment that is worth sending.
    ReceiveWindow,
    /// The pace of the sender.
    Pacing,
    /// A small segment waits for the ACK of what is out (Nagle).
    Nagle,
    /// The application has closed, and all that it wrote has left; or the connection is over.
    Closed,
}

impl Sender {
    /// What [`Sender::next_of_all`] would find at `now`, in its order. It is asked when that has given nothing.
    pub(crate) fn blocked(&self, now: Time) -> Blocked {
        if let Some(repair) = self.blocked_repair(now) {
            return repair;
        }
        let waiting = self.written - self.nxt.min(self.written);
        match waiting {
            0 if !self.closing => Blocked::Application,
            0 if self.fin_sent => Blocked::Closed,
            0 => Blocked::Nothing,
            _ if self.held || self.only_repairs() => Blocked::Cwnd,
            _ => self.blocked_new(now, waiting),
        }
    }

    /// The same of what was sent before and has to go again.
    fn blocked_repair(&self, now: Time) -> Option<Blocked> {
        let (at, within) = if self.nxt < self.board.end() {
            let at = self.board.find(self.nxt);
            let end = self.board.offset(at) + u64::from(self.board.get(at)?.space());
            (at, end <= self.edge || at == 0)
        } else if self.repairs_by_marks() && !self.new_first {
            (self.board.has_lost()?, true)
        } else {
            return None;
        };
        if self.held {
            return Some(Blocked::Cwnd);
        }
        let room = self.blocked_by_room(self.board.get(at)?.space(), now);
        Some(if within || room != Blocked::Nothing { room } else { Blocked::ReceiveWindow })
    }

    /// `waiting` bytes were written and have not left.
    fn blocked_new(&self, now: Time, waiting: u64) -> Blocked {
        let mut payload = waiting.min(u64::from(self.window.smss));
        let allowed = self.edge.saturating_sub(self.nxt);
        if allowed < payload {
            if !self.is_worth_sending(allowed) {
                return Blocked::ReceiveWindow;
            }
            payload = allowed;
        }
        let payload = payload as u32;
        if payload < self.window.smss && self.held_by_nagle(waiting, payload) {
            return Blocked::Nagle;
        }
        if self.new_allowed > 0 {
            return Blocked::Nothing;
        }
        if self.burst_left == 0 {
            return Blocked::Cwnd;
        }
        match self.blocked_by_room(payload, now) {
            Blocked::Nothing if self.hands_over_packets() => self.blocked_packet(),
            by => by,
        }
    }

    fn blocked_by_room(&self, bytes: u32, now: Time) -> Blocked {
        if !self.has_room(bytes) {
            Blocked::Cwnd
        } else if self.guided && self.pacing.waits(now).is_some() {
            Blocked::Pacing
        } else {
            Blocked::Nothing
        }
    }
}
