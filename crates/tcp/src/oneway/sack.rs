//! Sack1 (Fall and Floyd 1996): in recovery `pipe` counts what is in the network, and holes are resent before new
//! packets are sent.

use super::board::Board;
use super::core::{Core, LastCut};
use super::window::CutTo;
use super::{Ack, Number, Why};
use wire::Time;

#[derive(Clone, Debug)]
pub(super) struct Sack {
    board: Board,
    recovering: bool,
    /// Resending after a timeout: until an acknowledgement advances, blocks are not looked at.
    timed_out: bool,
    /// Packets thought to be in the network.
    pipe: i64,
    /// Where partial acknowledgements go on resending (`sack_partial_ack_sends`).
    partial_next: Number,
    had_partial: bool,
}

impl Sack {
    pub(super) fn new() -> Sack {
        Sack {
            board: Board::new(),
            recovering: false,
            timed_out: false,
            pipe: -1,
            partial_next: 0,
            had_partial: false,
        }
    }

    pub(super) fn pipe(&self) -> i64 {
        self.pipe
    }
    pub(super) fn is_recovering(&self) -> bool {
        self.recovering
    }

    pub(super) fn receive(&mut self, c: &mut Core, now: Time, ack: &Ack) {
        let valid = ack.cumulative >= c.last_ack || c.spec.burst_on_old_acks;
        let may_send = if self.recovering {
            self.in_recovery(c, now, ack);
            true
        } else {
            self.outside_recovery(c, now, ack);
            c.dupacks == 0
        };
        if valid && may_send {
            self.send_much(c, now, false, Why::GoBackN);
        }
    }

    fn outside_recovery(&mut self, c: &mut Core, now: Time, ack: &Ack) {
        if ack.cumulative > c.last_ack {
            self.had_partial = false;
            c.advance(now, ack.cumulative, ack.echo);
            c.open();
            self.timed_out = false;
            self.board.clear();
            c.grow_from_syn();
        } else if ack.cumulative == c.last_ack && !self.timed_out {
            let news = self.board.update(c.highest_ack, ack.sack.as_slice());
            if news {
                self.duplicate(c, now);
            }
        }
    }

    fn duplicate(&mut self, c: &mut Core, now: Time) {
        c.dupacks += 1;
        if c.dupacks == c.dupthresh {
            if c.may_fast_retransmit() {
                self.enter_recovery(c, now);
            }
        } else if c.dupacks < c.dupthresh && c.spec.limited_transmit {
            c.send_one(now);
        }
    }

    fn enter_recovery(&mut self, c: &mut Core, now: Time) {
        c.recover = c.highest_sent;
        self.pipe = self.first_pipe(c);
        c.restart_timer(now);
        self.recovering = true;
        self.board.mark_resent(c.highest_ack + 1);
        c.last_cut = LastCut::DupAcks;
        c.slow_down(CutTo::Half);
        c.output(now, c.last_ack + 1, Why::FastRetransmit);
    }

    /// DupThresh packets have left; with limited transmit as many but one came instead, which
    /// `LimTransmitFix_` takes into account.
    fn first_pipe(&self, c: &Core) -> i64 {
        let outstanding = c.highest_sent - c.highest_ack;
        if c.spec.sack_pipe_from_cwnd {
            c.cwnd as i64 - c.dupthresh
        } else if c.spec.limited_transmit && c.spec.sack_limited_transmit_pipe {
            outstanding - 1
        } else {
            outstanding - c.dupthresh
        }
    }

    fn in_recovery(&mut self, c: &mut Core, now: Time, ack: &Ack) {
        self.pipe -= 1;
        if ack.cumulative >= c.recover {
            c.recover = 0;
            self.recovering = false;
            c.advance(now, ack.cumulative, ack.echo);
            self.timed_out = false;
            self.board.clear();
        } else if ack.cumulative > c.highest_ack {
            self.partial_ack(c, now, ack);
        } else if !self.timed_out {
            let news = self.board.update(c.highest_ack, ack.sack.as_slice());
            if news && c.dupacks > 0 {
                c.dupacks += 1;
            }
        }
    }

    fn partial_ack(&mut self, c: &mut Core, now: Time, ack: &Ack) {
        c.highest_ack = ack.cumulative;
        self.board.update(c.highest_ack, ack.sack.as_slice());
        if c.spec.sack_partial_ack_sends {
            self.resend_two(c, now);
            self.pipe += 1;
            if !self.had_partial {
                c.renew_timer(now, ack.cumulative);
                c.rto.end_backoff();
                self.had_partial = true;
            }
        } else {
            // The retransmission that it answers has left, too: never slower than slow start.
            self.pipe -= 1;
            c.renew_timer(now, ack.cumulative);
            c.rto.end_backoff();
        }
    }

    fn resend_two(&mut self, c: &mut Core, now: Time) {
        self.partial_next = self.partial_next.max(c.highest_ack + 1);
        for _ in 0..2 {
            if let Some(hole) = self.board.next_unacknowledged(self.partial_next) {
                self.partial_next = self.partial_next.max(hole);
            }
            c.next = c.next.max(self.partial_next);
            c.output(now, self.partial_next, Why::PartialAck);
            self.board.mark_resent(self.partial_next);
            self.partial_next += 1;
        }
    }

    pub(super) fn on_timeout(&mut self, c: &mut Core, now: Time) -> Why {
        c.dupacks = 0;
        self.recovering = false;
        self.timed_out = true;
        c.last_ack = c.last_ack.max(c.highest_ack);
        self.board.clear();
        c.on_timeout(now)
    }

    /// While the pipe (in recovery) or the window has room: holes first, then new packets.
    pub(super) fn send_much(&mut self, c: &mut Core, now: Time, forced: bool, mut why: Why) {
        if !forced && c.dither.is_some() {
            return;
        }
        let mut window = c.window();
        let mut sent = 0;
        while self.has_room(c, window) && c.last_ack + 1 < c.end {
            if c.must_wait(now, forced) {
                return;
            }
            let number = match self.board.next_hole() {
                Some(hole) => {
                    if c.recover <= 0 || hole > c.highest_ack + c.window_limit {
                        break;
                    }
                    self.board.mark_resent(hole);
                    window = c.window();
                    why = Why::Hole;
                    hole
                }
                None if self.may_send_next(c, window) => c.next,
                None => break,
            };
            c.output(now, number, why);
            c.next = c.next.max(number + 1);
            why = Why::GoBackN;
            sent += 1;
            self.pipe += 1;
            if c.spec.max_burst_packets == Some(sent) {
                break;
            }
        }
    }

    fn has_room(&self, c: &Core, window: i64) -> bool {
        if self.recovering { self.pipe < c.cwnd as i64 } else { c.next <= c.last_ack + window }
    }

    fn may_send_next(&self, c: &Core, window: i64) -> bool {
        let within = if self.recovering { c.window_limit } else { window };
        c.next <= c.highest_ack + within && c.next < c.end
    }
}
