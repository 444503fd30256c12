//! Silence is probed, and in the end believed (RFC 9293 §3.8.4).

use super::output::written;
use super::{Endpoint, Failure, Rst, Stage, Why};
use crate::timers::Timer;
use std::sync::Arc;
use wire::{Flags, Segment, Timestamps};
use wire::{Span, Time};

/// When silence is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// The first probe after so long; `None`: none at all.
    pub idle: Option<Span>,
    pub interval: Span,
    /// So many without an answer end the connection.
    pub probes: u32,
}

impl Endpoint {
    /// In place of the stack's own (SO_KEEPALIVE, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT). What was off is counted from
    /// now (tcp_set_keepalive), another time of idleness from when the peer was last heard of
    /// (tcp_sock_set_keepidle_locked).
    pub fn set_keepalive(&mut self, now: Time, to: KeepAlive) {
        let before = self.spec.send.keepalive_idle;
        let send = &mut Arc::make_mut(&mut self.spec).send;
        send.keepalive_idle = to.idle;
        send.keepalive_interval = to.interval;
        send.keepalive_probes = to.probes;
        if self.stage != Stage::Open || before == to.idle {
            return;
        }
        match (before, to.idle) {
            (_, None) => self.timers.stop(Timer::KeepAlive),
            (None, Some(idle)) => self.timers.set(Timer::KeepAlive, now + idle),
            (Some(_), Some(idle)) => self.timers.set(Timer::KeepAlive, (self.heard + idle).max(now)),
        }
    }

    /// The timer is not moved at each segment: it looks back when it fires. While something is on its way, or waits to
    /// leave, other timers ask (tcp_keepalive_timer).
    pub(super) fn on_keepalive_timer(&mut self, now: Time) {
        let Some(idle) = self.spec.send.keepalive_idle else { return };
        if !self.sender.all_acknowledged() {
            self.timers.set(Timer::KeepAlive, now + idle);
            return;
        }
        if now - self.heard < idle {
            self.timers.set(Timer::KeepAlive, self.heard + idle);
            return;
        }
        if self.is_believed_dead(now) {
            // tcp_send_active_reset
            self.rst = Some(Rst { seq: self.seq(self.sender.nxt()), ack: Some(self.rcv_nxt()) });
            self.end(Some(Failure::TimedOut));
            return;
        }
        self.keepalives += 1;
        self.keepalive_due = true;
        self.timers.start(Timer::KeepAlive, now, self.spec.send.keepalive_interval);
    }

    /// TCP_USER_TIMEOUT stands for the number of probes where it is set.
    fn is_believed_dead(&self, now: Time) -> bool {
        match self.sender.user_timeout() {
            Some(most) => self.keepalives > 0 && now - self.heard >= most,
            None => self.keepalives >= self.spec.send.keepalive_probes,
        }
    }

    /// A segment below what was sent, so that it must be answered (RFC 9293 §3.8.4).
    pub(super) fn keepalive(&mut self, now: Time, seg: &mut Segment) -> (u64, Why) {
        let offset = self.sender.nxt() - 1;
        *seg = Segment {
            seq: self.seq(offset),
            ack: self.rcv_nxt(),
            flags: Flags::ACK,
            timestamps: self.stamps.then(|| Timestamps { val: self.clock.value(now), ecr: self.recent }),
            ..Segment::default()
        };
        seg.window = self.acknowledge(now);
        written(seg, offset, Why::KeepAlive)
    }
}
