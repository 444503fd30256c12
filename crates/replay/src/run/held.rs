//! What the host held back.
//!
//! Behind an ACK of much, more may leave at once than may wait below TCP: TCP Small Queues stop it after about a
//! millisecond's data (tcp_small_queue_check), and it goes on as that has left the host, repairs first (tcp_tsq_write). But
//! that ACK also wakes the writer (tcp_new_space). While the writer has the socket it sends new data (tcp_sendmsg_locked),
//! ACKs wait in its backlog, and repairs until it lets go (tcp_release_cb). How fast the host's queue empties, and when the
//! writer comes, is not in a capture. That the window is full soon after is.

use super::{Run, TOLERANCE, next_data};
use crate::transfer::Event;
use tcp::endpoint::{Endpoint, Sent};
use wire::Time;

impl Run<'_> {
    /// The stack would send more at this ACK, of which so many bytes left: is that because the host held it back?
    pub(super) fn is_held_back(&mut self, left: u64, again: bool) -> bool {
        if self.now <= self.held_until {
            return true;
        }
        let room = u64::from(room(&self.end));
        let queue = self.end.small_queue(again);
        if self.now != self.heard || self.end.paced_until().is_some() || left <= queue || room <= queue {
            return false;
        }
        let Some(full) = self.fills_window_by() else { return false };
        self.held_until = full;
        self.found.held_back += 1;
        true
    }

    /// When the window is full by what was recorded, each of it the stack's next repair or its next new data, if it is soon.
    fn fills_window_by(&self) -> Option<Time> {
        let (outs, mut end, mut last) = (&self.transfer.outs, self.end.clone(), self.now);
        for event in &self.transfer.events[self.at..] {
            let time = event.time(outs);
            if time - self.now > TOLERANCE {
                return None;
            }
            match *event {
                Event::Opening(_) => return None,
                Event::In(_, seg) => {
                    if is_full(&end, time) {
                        return Some(last);
                    }
                    end.receive(time, &seg);
                    end.read(time, u64::MAX);
                }
                Event::Out(k) if self.entered[k] => last = time,
                Event::Out(k) => {
                    end.write_up_to(outs[k].end());
                    let same = |s: &Sent| s.offset == outs[k].offset && s.seg.payload == outs[k].payload;
                    let mut next = end.clone();
                    if !next_data(&mut next, time).is_some_and(|s| same(&s)) {
                        next = end.clone();
                        next.hold_repairs(true);
                        if !next_data(&mut next, time).is_some_and(|s| same(&s)) {
                            return None;
                        }
                        next.hold_repairs(false);
                    }
                    (end, last) = (next, time);
                }
            }
        }
        None
    }
}

/// What cwnd and the peer's window have room for, bytes.
fn room(end: &Endpoint) -> u32 {
    let view = end.view();
    view.cwnd.saturating_sub(view.pipe).min(view.peer_window.saturating_sub(view.flight))
}

/// There is no room for a segment, or for so little that it waits for its packet to be full (tcp_tso_should_defer).
fn is_full(end: &Endpoint, now: Time) -> bool {
    let room = room(end);
    let little = room < end.view().smss || u64::from(room) <= end.small_queue(false);
    little && next_data(&mut end.clone(), now).is_none()
}
