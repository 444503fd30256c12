//! What all variants share: numbers, the timed packet, timers, and how a packet leaves.

use super::vegas::SendLog;
use super::{Data, Number, Sent, Why};
use crate::rto::ticks::TickRto;
use crate::stack::OneWay;
use std::collections::VecDeque;
use wire::{Span, Time};

/// The last thing that cut cwnd (`last_cwnd_action_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastCut {
    None,
    /// A fast retransmit; its recovery goes on.
    DupAcks,
    /// A fast retransmit; its recovery is over.
    Exited,
    Timeout,
}

/// Uniform numbers in 0 ..< 1, for `overhead`.
pub(super) type Uniform = Box<dyn FnMut() -> f64 + Send>;

pub(super) struct Core {
    pub(super) spec: OneWay,
    /// Most that may be outstanding (`wnd_`).
    pub(super) window_limit: i64,
    pub(super) dupthresh: i64,

    /// The next number to send (`t_seqno_`); a timeout sets it back.
    pub(super) next: Number,
    /// The highest sent (`maxseq_`), -1 before any.
    pub(super) highest_sent: Number,
    /// What duplicate acknowledgements are compared with (`last_ack_`), -1 before any.
    pub(super) last_ack: Number,
    /// What has been acknowledged (`highest_ack_`); beyond `last_ack` only in Sack1's recovery.
    pub(super) highest_ack: Number,
    /// What was acknowledged before the last advance (`prev_highest_ack_`).
    pub(super) previous_ack: Number,
    /// Behind the last number that the application has handed over (`curseq_`).
    pub(super) end: Number,

    pub(super) cwnd: f64,
    pub(super) ssthresh: i64,
    /// Reno's and NewReno's inflation in recovery (`dupwnd_`).
    pub(super) inflation: i64,
    pub(super) initial_window: f64,
    pub(super) dupacks: i64,
    /// The highest number sent when the last loss was met (`recover_`).
    pub(super) recover: Number,
    pub(super) last_cut: LastCut,

    pub(super) rto: TickRto,
    /// The retransmission timer.
    pub(super) timer: Option<Time>,
    /// The timer of a send that `overhead` delays.
    pub(super) dither: Option<Time>,
    pub(super) uniform: Option<Uniform>,
    timing: Timing,

    /// When the first packet was sent, the last time that it was (`firstsent_`).
    pub(super) first_sent: Time,
    /// Vegas only: when each packet was sent.
    pub(super) log: Option<SendLog>,
    pub(super) out: VecDeque<Sent>,
    /// All that was handed over has been acknowledged.
    pub(super) done: bool,
}

/// The one packet whose RTT is being measured.
#[derive(Clone, Copy, Debug)]
struct Timing {
    active: bool,
    number: Number,
    sent: Time,
}

impl Core {
    pub(super) fn new(spec: &OneWay, log: Option<SendLog>) -> Core {
        let window = i64::from(spec.window_packets.max(1));
        let initial_window = f64::from(spec.initial_window_packets.max(1));
        let mut rto = TickRto::new(spec.tick, spec.tick_phase, spec.rto_initial, spec.rto_min, spec.rto_max);
        if !spec.min_before_backoff {
            rto = rto.bounded_after_backoff();
        }
        Core {
            window_limit: window,
            dupthresh: i64::from(spec.dupthresh.max(1)),
            next: 0,
            highest_sent: -1,
            last_ack: -1,
            highest_ack: -1,
            previous_ack: -1,
            end: 0,
            cwnd: if spec.syn && spec.delay_growth { 1.0 } else { initial_window },
            ssthresh: spec.initial_ssthresh_packets.map_or(window, i64::from),
            inflation: 0,
            initial_window,
            dupacks: 0,
            recover: 0,
            last_cut: LastCut::None,
            rto,
            timer: None,
            dither: None,
            uniform: None,
            timing: Timing { active: false, number: -1, sent: Time::ZERO },
            first_sent: Time::ZERO,
            log,
            out: VecDeque::new(),
            done: false,
            spec: spec.clone(),
        }
    }

    /// Sends what the window lets (`send_much`). `forced`: the wait that `overhead` imposes is over. `why` holds for
    /// the first packet if that was sent before.
    pub(super) fn send_much(&mut self, now: Time, forced: bool, mut why: Why, burst: Option<u32>) {
        if !forced && self.dither.is_some() {
            return;
        }
        if self.next == 0 {
            self.first_sent = now;
        }
        let mut sent = 0;
        while self.next <= self.highest_ack + self.window() && self.next < self.end {
            if self.must_wait(now, forced) {
                return;
            }
            self.output(now, self.next, why);
            self.next += 1;
            why = Why::GoBackN;
            sent += 1;
            if burst == Some(sent) {
                break;
            }
        }
    }

    /// `overhead`: each send waits a random time of its own, so that flows do not lock in phase.
    pub(super) fn must_wait(&mut self, now: Time, forced: bool) -> bool {
        if forced || self.spec.overhead <= Span::ZERO {
            return false;
        }
        if self.dither.is_none() {
            let u = self.uniform.as_mut().map_or(0.0, |draw| draw());
            self.dither = Some(now + self.spec.overhead.scale(u));
        }
        true
    }

    /// Limited transmit (`send_one`, RFC 3042): one new packet, cwnd as it is.
    pub(super) fn send_one(&mut self, now: Time) {
        let beyond_cwnd = self.highest_ack as f64 + self.cwnd + self.dupacks as f64;
        if self.next <= self.highest_ack + self.window_limit
            && self.next < self.end
            && self.next as f64 <= beyond_cwnd
        {
            self.output(now, self.next, Why::GoBackN);
            self.next += 1;
        }
    }

    /// A packet leaves. `again`: the reason if it has left before.
    pub(super) fn output(&mut self, now: Time, number: Number, again: Why) {
        let first = number > self.highest_sent;
        let syn = number == 0 && self.spec.sends_syn();
        if syn && self.highest_sent == -1 {
            self.end = self.end.saturating_add(1);
        }
        // A late duplicate ACK asks for what comes next, and there may be nothing.
        if first && number >= self.end {
            return;
        }
        if let Some(log) = &mut self.log {
            log.record(number, now - self.first_sent);
        }
        let data = Data { number, bytes: self.bytes_of(number, syn), sent: now, syn };
        let why = match first {
            true if syn => Why::Syn,
            true => Why::New,
            false => again,
        };
        self.out.push_back(Sent { data, why });
        // Vegas has an `output` of its own, which does without this.
        let restart = self.log.is_none() && self.highest_ack == self.highest_sent;
        if first {
            self.highest_sent = number;
            self.time_packet(now, number);
        }
        if self.timer.is_none() || restart {
            self.set_timer(now);
        }
    }

    /// The SYN has a header's size; timestamps add to every other packet. Vegas sends neither.
    fn bytes_of(&self, number: Number, syn: bool) -> u32 {
        match () {
            _ if syn => self.spec.ack_bytes,
            _ if self.spec.timestamps && self.log.is_none() && number != 0 => {
                self.spec.packet_bytes + self.spec.timestamp_bytes
            }
            _ => self.spec.packet_bytes,
        }
    }

    fn time_packet(&mut self, now: Time, number: Number) {
        if self.timing.active {
            return;
        }
        // Active even where nothing new is timed: a number is timed once.
        self.timing.active = true;
        if number > self.timing.number {
            self.timing.number = number;
            self.timing.sent = now;
        }
    }

    pub(super) fn stop_timing(&mut self) {
        self.timing.active = false;
    }

    /// The timed packet, if `cumulative` acknowledges it: when it was sent. It is timed no longer.
    pub(super) fn take_timed(&mut self, cumulative: Number) -> Option<Time> {
        if !self.timing.active || cumulative < self.timing.number {
            return None;
        }
        self.timing.active = false;
        Some(self.timing.sent)
    }

    pub(super) fn set_timer(&mut self, now: Time) {
        self.timer = Some(now + self.rto.rto());
    }

    /// After an acknowledgement (`newtimer`): anew while anything is or could be outstanding.
    pub(super) fn renew_timer(&mut self, now: Time, cumulative: Number) {
        if self.next > cumulative || cumulative < self.highest_sent || self.cwnd < 1.0 {
            self.set_timer(now);
        } else {
            self.timer = None;
        }
    }

    /// At a loss (`reset_rtx_timer`): the timer anew, no packet timed.
    pub(super) fn restart_timer(&mut self, now: Time) {
        self.set_timer(now);
        self.stop_timing();
    }

    /// Everything behind the acknowledged is sent again (`reset_rtx_timer` with `mild` 0).
    pub(super) fn go_back(&mut self) {
        self.next = self.highest_ack + 1;
    }

    /// An acknowledgement that advances (`newack`): numbers, RTT, timer.
    pub(super) fn advance(&mut self, now: Time, cumulative: Number, echo: Time) {
        if !self.spec.timer_after_rtt {
            self.renew_timer(now, cumulative);
        }
        self.dupacks = 0;
        self.last_ack = cumulative;
        self.previous_ack = self.highest_ack;
        self.highest_ack = cumulative;
        self.next = self.next.max(cumulative + 1);
        self.measure(now, cumulative, echo);
        if self.spec.timer_after_rtt {
            self.renew_timer(now, cumulative);
        }
        if self.highest_ack >= self.end - 1 {
            self.done = true;
        }
    }

    fn measure(&mut self, now: Time, cumulative: Number, echo: Time) {
        if self.spec.timestamps {
            self.rto.on_timestamp(now - echo);
            if self.spec.timestamps_end_backoff {
                self.rto.end_backoff();
            }
        }
        let Some(sent) = self.take_timed(cumulative) else { return };
        if self.spec.timestamps {
            self.rto.end_backoff();
        } else {
            self.rto.on_sample(now - sent, now);
        }
    }

    /// Where packet 0 stands for the SYN, data starts with the initial window.
    pub(super) fn grow_from_syn(&mut self) {
        if self.last_ack == 0 && self.spec.delay_growth {
            self.cwnd = self.initial_window;
        }
    }
}
