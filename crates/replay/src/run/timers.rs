//! Timers of the replayed sender: those that fire before the next event, and those that the capture shows to have fired.

use super::{Run, TOLERANCE, next_data};
use crate::transfer::BURST;
use tcp::endpoint::{Endpoint, Sent};
use wire::Time;

impl Run<'_> {
    pub(super) fn let_timers_fire(&mut self, until: Time) {
        while let Some(due) = self.end.next_wakeup()
            && due <= until
            && self.refused != Some(due)
        {
            let moment = due.max(self.now);
            if let Some((k, later)) = self.recorded_pace(due, moment) {
                self.end.pace_until(later);
                self.paced = Some((k, due));
                continue;
            }
            let mut ahead = self.end.ahead();
            ahead.wake(moment);
            match next_data(&mut ahead, moment) {
                Some(sent) if self.recorded(&sent, moment + TOLERANCE).is_none() => {
                    self.now = moment;
                    self.made_besides(&sent);
                    self.refused = Some(due);
                    return;
                }
                Some(_) => {
                    self.now = moment;
                    self.end.wake(moment);
                    self.drain(moment, moment + TOLERANCE);
                }
                None => self.end.do_as(ahead, |end| {
                    end.wake(moment);
                    next_data(end, moment);
                }),
            }
            if self.end.next_wakeup() == Some(due) {
                return;
            }
        }
    }

    /// What waits for its pace until `due` was recorded a little later: which, and when. The host's timer was late, or the
    /// rate that was captured a little less; what follows is paced from there.
    fn recorded_pace(&self, due: Time, moment: Time) -> Option<(usize, Time)> {
        let is_set = self.paced.is_some_and(|(k, _)| self.transfer.outs[k].time == due);
        if is_set || self.end.pace() != Some(due) {
            return None;
        }
        let mut ahead = self.end.clone();
        ahead.wake(moment);
        let k = self.recorded(&next_data(&mut ahead, moment)?, due + TOLERANCE)?;
        let later = self.transfer.outs[k].time;
        (later > moment).then_some((k, later))
    }

    /// Would it be sent now, or by a timer that is about to fire?
    pub(super) fn look_for(&mut self, k: usize) {
        let out = self.transfer.outs[k];
        self.drain(self.now, self.now + BURST);
        if self.predicted[k].is_some() || self.look_for_a_packets_end(k) || self.look_for_what_overtook(k) {
            return;
        }
        let due = self.end.data_timer();
        let near = due - self.now <= TOLERANCE && self.now - due <= TOLERANCE;
        // What leaves soon after an ACK is no timer's, unless one is about to fire.
        let is_due = due != Time::FAR_FUTURE && (near || self.now - self.heard > TOLERANCE);
        if !is_due || !self.end.timer_can_send(out.offset, self.now) {
            return;
        }
        let before = self.end.clone();
        self.end.fire_early(self.now);
        let mut ahead = self.end.clone();
        let same = |s: &Sent| s.offset == out.offset && s.seg.payload == out.payload;
        if next_data(&mut ahead, self.now).is_some_and(|s| same(&s)) {
            *self.end = ahead;
            self.enter(k);
            if near {
                self.predicted[k] = Some(due);
                // The rest of its burst.
                self.drain(self.now, self.now + BURST);
            } else {
                self.off = Some((k, self.now - due));
            }
        } else {
            *self.end = before;
        }
    }

    /// An ACK is looked at twice: for what is lost, and then for new data, each with the pace that holds then
    /// (tcp_xmit_retransmit_queue, tcp_write_xmit). Where the pace ends as the ACK comes, new data may leave before what is
    /// lost: in which order the host saw both is not in the capture.
    pub(super) fn see_whether_new_data_overtook(&mut self) {
        if self.transfer.outs.get(self.next).is_some_and(|out| out.time - self.now <= BURST) {
            self.look_for_what_overtook(self.next);
        }
    }

    fn look_for_what_overtook(&mut self, k: usize) -> bool {
        let out = self.transfer.outs[k];
        let ends_now = |until: Time| until - self.heard <= BURST && self.heard - until <= BURST;
        let near = out.time - self.heard <= BURST && self.end.paced_until().is_some_and(ends_now);
        if out.again || !near {
            return false;
        }
        let mut ahead = self.end.clone();
        if ahead.pace().is_some() {
            ahead.fire_early(self.now);
        }
        let mut repairs = ahead.clone();
        if !next_data(&mut repairs, self.now).is_some_and(|s| s.why.is_retransmission()) {
            return false;
        }
        ahead.hold_repairs(true);
        let overtook = self.leaves_now(ahead, k);
        if overtook {
            self.found.overtaken += 1;
            self.drain(self.now, self.now + BURST);
            self.end.hold_repairs(false);
        }
        overtook
    }

    /// The stack has room for it and waits for more of its packet: it ended there, then, in the buffer of the sender, or
    /// behind those that left with it.
    fn look_for_a_packets_end(&mut self, k: usize) -> bool {
        let out = self.transfer.outs[k];
        if out.again {
            return false;
        }
        let segments = self.transfer.index.segments(k);
        let mut ahead = self.end.clone();
        ahead.end_packet(segments as u32);
        let ends = self.leaves_now(ahead, k);
        if ends {
            self.found.packet_ends += 1;
            // The others left at the same moment, whatever the capture shows between them.
            for other in k + 1..k + segments {
                let ahead = self.end.clone();
                if !self.leaves_now(ahead, other) {
                    break;
                }
            }
        }
        ends
    }

    /// The sender, as `ahead` has it, sends what was recorded as `k`: it is entered, and right.
    fn leaves_now(&mut self, mut ahead: Endpoint, k: usize) -> bool {
        let out = self.transfer.outs[k];
        let same = |s: &Sent| s.offset == out.offset && s.seg.payload == out.payload;
        let leaves = next_data(&mut ahead, self.now).is_some_and(|s| same(&s));
        if leaves {
            *self.end = ahead;
            self.enter(k);
            self.predicted[k] = Some(self.now);
        }
        leaves
    }
}
