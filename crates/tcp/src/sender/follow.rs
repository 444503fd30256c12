//! Following a capture: what left is entered as sent, whatever this sender would have done.

use super::{ProbeDue, Sender};
use crate::endpoint::Why;
use crate::timers::{Timer, Timers};
use wire::Time;

/// Data of this side that a capture shows leaving, once or again. `offset` counts as in [`crate::endpoint::Sent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    pub offset: u64,
    pub payload: u32,
    pub fin: bool,
}

impl Sender {
    /// cwnd, ssthresh and all that was decided stay; the board, SND.NXT and the timers are as the copy leaves them. False
    /// where it repeats what is acknowledged, or begins or ends elsewhere than the segments on the board.
    pub(crate) fn follow(&mut self, now: Time, copy: &Followed, tsval: u32, timers: &mut Timers) -> bool {
        let end = copy.offset + u64::from(copy.payload);
        self.written = self.written.max(end);
        self.closing |= copy.fin;
        if copy.offset >= self.board.end() {
            return self.follow_new(now, copy, timers);
        }
        if copy.offset < self.una() {
            return false;
        }
        let exact = self.board.offset(self.board.find(copy.offset)) == copy.offset;
        let mut at = copy.offset;
        let end = (end + u64::from(copy.fin)).min(self.board.end());
        while at < end {
            let entry = self.board.find(at);
            let Some(seg) = self.board.get(entry) else { break };
            at = self.board.offset(entry) + u64::from(seg.space());
            self.follow_resend(entry, now, tsval, timers);
        }
        exact && at == end
    }

    fn follow_new(&mut self, now: Time, copy: &Followed, timers: &mut Timers) -> bool {
        let exact = copy.offset == self.board.end();
        // What the capture misses has left, too.
        let mut missing = copy.offset - self.board.end();
        self.nxt = self.board.end();
        while missing > 0 {
            let payload = missing.min(u64::from(self.window.smss)) as u32;
            self.send_new(payload, false, false, Why::New, now, timers);
            missing -= u64::from(payload);
        }
        self.send_new(copy.payload, copy.fin, false, Why::New, now, timers);
        exact
    }

    fn follow_resend(&mut self, entry: usize, now: Time, tsval: u32, timers: &mut Timers) {
        if entry == 0 {
            self.resend_first = None;
        }
        self.probe_due = ProbeDue::None;
        // The capture shows it: it left again.
        self.board.take_for_lost(entry);
        let why = self.why_recovery();
        self.resend(entry, why, now, tsval, timers);
        if !timers.is_set(Timer::Retransmit) && !timers.is_set(Timer::Reorder) {
            timers.arm(Timer::Retransmit, self.rto.fires_at(now, self.rto.rto()));
        }
    }

    /// See [`crate::endpoint::Endpoint::assume_window`].
    pub(crate) fn assume_window(&mut self, cwnd: u32, slow_start: bool) {
        self.window.cwnd = cwnd.max(self.pipe()).max(self.window.smss);
        self.congestion.taken_up();
        self.window.ssthresh = if slow_start { u32::MAX } else { self.window.cwnd };
    }

    pub(crate) fn hold_repairs(&mut self, held: bool) {
        self.holds_repairs = held;
    }

    pub(crate) fn raise_window(&mut self) {
        self.window.cwnd = self.window.cwnd.max(self.pipe());
    }

    /// More has been written than was known.
    pub(crate) fn write_up_to(&mut self, offset: u64) {
        let more = offset.saturating_sub(self.written);
        if more == 0 {
            return;
        }
        if self.guided {
            self.look_for_silence();
        }
        self.written = offset;
        self.held = false;
        if self.board.out() == 0 {
            self.burst_left = self.rules.max_burst;
        }
    }
}
