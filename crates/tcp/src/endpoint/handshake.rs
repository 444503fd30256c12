//! Opening: SYNs, their options, and what both sides make of them.

use super::{Endpoint, Failure, Owed, Rst, Stage, scale_for};
use crate::stack::EcnUse;
use crate::timers::Timer;
use wire::Time;
use wire::{Flags, Segment, Seq, Timestamps};

/// Without an MSS option (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;
/// RFC 7323 §2.3.
const SHIFT_MAX: u8 = 14;
/// The timestamps option with its padding (RFC 7323, appendix A), bytes.
const STAMPS: u16 = 12;

impl Endpoint {
    pub(super) fn in_listen(&mut self, now: Time, seg: &Segment) {
        if seg.flags.has(Flags::RST) {
            return;
        }
        if seg.flags.has(Flags::ACK) {
            self.refuse(seg);
            return;
        }
        if !seg.flags.has(Flags::SYN) {
            return;
        }
        self.settle_options(now, seg);
        self.stage = Stage::SynReceived;
        self.syn_due = true;
    }

    /// RFC 9293 §3.10.7.3.
    pub(super) fn in_syn_sent(&mut self, now: Time, seg: &Segment) {
        let acked = seg.flags.has(Flags::ACK);
        if acked && seg.ack != self.isn + 1 {
            if !seg.flags.has(Flags::RST) {
                self.rst = Some(Rst { seq: seg.ack, ack: None });
            }
            return;
        }
        if seg.flags.has(Flags::RST) {
            if acked {
                self.end(Some(Failure::Refused));
            }
            return;
        }
        if !seg.flags.has(Flags::SYN) {
            return;
        }
        self.settle_options(now, seg);
        if acked {
            self.establish(now, seg);
            // Alone, as applications cannot write before they are told that the connection stands.
            self.owed = Owed::Alone;
        } else {
            // Both opened at once.
            self.stage = Stage::SynReceived;
            self.syn_due = true;
        }
    }

    /// Returns whether the segment may go on to ordinary processing.
    pub(super) fn in_syn_received(&mut self, now: Time, seg: &Segment) -> bool {
        if seg.flags.has(Flags::RST) {
            if seg.seq == self.peer_isn + 1 {
                self.end(Some(Failure::Refused));
            }
            return false;
        }
        if seg.flags.has(Flags::SYN) {
            // The SYN again: so is the SYN-ACK. A SYN-ACK of a simultaneous open goes on below.
            if seg.seq == self.peer_isn && !seg.flags.has(Flags::ACK) {
                self.syn_due = true;
                return false;
            }
            if seg.seq != self.peer_isn {
                return false;
            }
        }
        if !seg.flags.has(Flags::ACK) {
            return false;
        }
        if seg.ack != self.isn + 1 {
            self.rst = Some(Rst { seq: seg.ack, ack: None });
            return false;
        }
        self.establish(now, seg);
        true
    }

    fn shift_offered(&self) -> u8 {
        self.spec.options.window_shift.unwrap_or_else(|| scale_for(self.spec.receive.window))
    }

    /// What both SYNs offer holds.
    fn settle_options(&mut self, now: Time, seg: &Segment) {
        let options = self.spec.options;
        self.peer_isn = seg.seq;
        self.heard = now;
        self.stamps = options.timestamps && seg.timestamps.is_some();
        if let (true, Some(t)) = (self.stamps, seg.timestamps) {
            (self.recent, self.recent_at) = (t.val, now);
        }
        if let (true, Some(shift)) = (options.window_scale, seg.window_scale) {
            self.scaled = true;
            self.shift_in = shift.min(SHIFT_MAX);
            self.shift_out = self.shift_offered();
        }
        // RFC 3168 §6.1.1: the SYN asks with both flags, the SYN-ACK agrees with ECE alone.
        let both = (seg.flags.has(Flags::ECE), seg.flags.has(Flags::CWR));
        self.ecn = match seg.flags.has(Flags::ACK) {
            true => self.asked_for_ecn && both == (true, false),
            false => options.ecn != EcnUse::Off && both == (true, true),
        };
        let sack = options.sack && seg.sack_permitted;
        let mss = self.mss.min(seg.mss.unwrap_or(DEFAULT_MSS).max(1));
        let smss = if self.stamps { mss.saturating_sub(STAMPS).max(1) } else { mss };
        self.sender.negotiated(&self.spec, u32::from(smss), sack, self.stamps);
        self.receiver.negotiated(u32::from(smss), sack, self.shift_out);
        self.last_ack_sent = 1;
    }

    /// The peer acknowledged the SYN.
    fn establish(&mut self, now: Time, seg: &Segment) {
        self.stage = Stage::Open;
        self.syn_due = false;
        self.timers.stop(Timer::Retransmit);
        // A window in a SYN is not scaled (RFC 7323 §2.2).
        let shift = if seg.flags.has(Flags::SYN) { 0 } else { self.shift_in };
        self.peer_window = u32::from(seg.window) << shift;
        self.sender.set_edge(1, self.peer_window);
        (self.wl1, self.wl2) = (0, 1);
        if self.syns > 1 {
            self.sender.handshake_was_resent();
        } else if self.syns == 1 {
            // Karn: a SYN that was sent once only.
            self.sender.handshake_took(now, now - self.syn_at);
        }
        self.sender.begin(now, self.isn.0);
        self.receiver.established(now);
        self.heard = now;
        if let Some(idle) = self.spec.send.keepalive_idle {
            self.timers.start(Timer::KeepAlive, now, idle);
        }
    }

    pub(super) fn on_handshake_timer(&mut self) {
        let most = self.spec.send.max_retries;
        if most > 0 && self.syns > most {
            self.end(Some(Failure::TimedOut));
            return;
        }
        self.sender.rto.on_handshake_timeout();
        self.syn_due = true;
    }

    /// The SYN, which offers what the stack has, or the SYN-ACK, which takes what was offered.
    pub(super) fn handshake_segment(&mut self, now: Time) -> Segment {
        self.syn_due = false;
        if self.syns == 0 {
            self.syn_at = now;
        }
        self.timers.start(Timer::Retransmit, now, self.sender.rto.handshake_rto(self.syns));
        self.syns += 1;
        let answers = self.stage == Stage::SynReceived;
        let options = self.spec.options;
        let either = |taken: bool, offered: bool| if answers { taken } else { offered };
        let stamps = either(self.stamps, options.timestamps);
        let scaled = either(self.scaled, options.window_scale);
        let mut seg = Segment {
            seq: self.isn,
            flags: Flags::SYN,
            window: self.receiver.window().min(0xffff) as u16,
            mss: options.announces_mss.then_some(self.mss),
            sack_permitted: either(self.sender.sack, options.sack),
            window_scale: scaled.then(|| self.shift_offered()),
            timestamps: stamps.then(|| Timestamps { val: self.clock.value(now), ecr: self.recent }),
            ..Segment::default()
        };
        // A SYN that was lost is asked again without: something on the way may not like it (Linux, tcp_ecn_fallback).
        self.asked_for_ecn = !answers && options.ecn == EcnUse::On && self.syns == 1;
        if self.asked_for_ecn {
            seg.flags = seg.flags.with(Flags::ECE).with(Flags::CWR);
        }
        if answers && self.ecn {
            seg.flags = seg.flags.with(Flags::ECE);
        }
        if answers {
            seg.flags = seg.flags.with(Flags::ACK);
            seg.ack = self.peer_isn + 1;
            self.receiver.ack_sent(now);
        }
        seg
    }

    /// A RST for what belongs to no connection (RFC 9293 §3.10.7.1).
    pub(super) fn refuse(&mut self, seg: &Segment) {
        if seg.flags.has(Flags::RST) {
            return;
        }
        self.rst = Some(if seg.flags.has(Flags::ACK) {
            Rst { seq: seg.ack, ack: None }
        } else {
            Rst { seq: Seq(0), ack: Some(seg.seq + seg.seq_len()) }
        });
    }
}
