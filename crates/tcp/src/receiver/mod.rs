//! The receiver half: what has arrived, when it is acknowledged, which blocks an ACK reports, which window it offers.
//!
//! Four pages, one question each: `reassembly` (what is here?), `ack_policy` (when is it acknowledged?), `sack`
//! (what does the ACK report beside the number?), `window` (how much more may come?). The stream is counted in
//! offsets from the peer's ISN; bytes themselves are never held. A segment in order touches no container.

mod ack_policy;
mod reassembly;
mod sack;
mod window;

use crate::stack;
use ack_policy::{AckPolicy, Segment};
use reassembly::{Arrival, Reassembly};
use sack::Report;
use window::Window;
use wire::{Span, Time};

pub use window::scale_for;

/// What the acknowledgment policy wants after a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// Nothing new is to be acknowledged.
    None,
    /// At once.
    Now,
    /// With the next segment that leaves anyway, at the latest when [`Receiver::ack_deadline`] says.
    Later,
}

/// The receiver half of one connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    stream: Reassembly,
    window: Window,
    policy: AckPolicy,
    report: Report,
    sacks_fin: bool,
}

impl Receiver {
    /// `mss` is the payload of a full segment, bytes; `first` the offset of the first byte expected; `sack` whether
    /// it was negotiated. Until [`Receiver::negotiated`] the window is not scaled.
    pub fn new(spec: &stack::Receive, mss: u32, first: u64, sack: bool) -> Receiver {
        let mss = mss.max(1);
        Receiver {
            stream: Reassembly::new(first),
            window: Window::new(spec.window, mss, first),
            policy: AckPolicy::new(spec.delayed_ack, mss),
            report: Report::new(sack, spec.dsack),
            sacks_fin: spec.sack_fin,
        }
    }

    /// What the handshake settled, where the receiver was made before it. `shift` is the scale of the windows that
    /// this side sends: with it [`Receiver::window`] goes beyond 65,535 bytes and comes in multiples of 2^shift.
    pub fn negotiated(&mut self, mss: u32, sack: bool, shift: u8) {
        self.window.negotiated(mss.max(1), shift);
        self.policy.set_mss(mss.max(1));
        self.report.set_sack(sack);
    }

    /// The connection stands.
    pub fn established(&mut self, now: Time) {
        self.window.established(now);
    }

    /// A segment with payload `[offset, offset + len)`; returns what the ACK policy wants.
    #[inline]
    pub fn on_data(&mut self, now: Time, offset: u64, len: u32, psh: bool) -> Ack {
        let end = offset.saturating_add(u64::from(len));
        if self.stream.accept_in_order(offset, end, self.window.edge()) {
            return self.on_in_order(now, len, psh);
        }
        self.on_any_data(now, offset, end, len)
    }

    /// A FIN whose own place is `offset`; its payload went through `on_data` before.
    pub fn on_fin(&mut self, now: Time, offset: u64) -> Ack {
        if offset > self.window.edge() {
            return self.policy.at_once(now);
        }
        if self.stream.fin(offset) {
            self.report.advanced(self.stream.next());
        } else if self.sacks_fin
            && let Some(block) = self.stream.hold_fin()
        {
            self.report.held(block);
        }
        self.policy.at_once(now)
    }

    /// When a delayed ACK must go; [`Time::FAR_FUTURE`] if none waits.
    #[inline(always)]
    pub fn ack_deadline(&self) -> Time {
        self.policy.deadline()
    }

    /// The ACK that leaves at the deadline was held back by a timer.
    pub fn holds_ack(&self) -> bool {
        self.policy.is_held()
    }

    /// RCV.NXT, the FIN included once everything before it is here.
    #[inline]
    pub fn next(&self) -> u64 {
        self.stream.next()
    }

    /// The FIN and everything before it have arrived.
    #[inline]
    pub fn finished(&self) -> bool {
        self.stream.finished()
    }

    /// Bytes in order that the application has not read.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.stream.data_end() - self.window.read_to()
    }

    /// Bytes that wait behind a hole.
    #[inline]
    pub fn out_of_order(&self) -> u64 {
        self.stream.waiting()
    }

    /// The application reads up to `max` bytes; returns how many there were. Drives right-sizing.
    #[inline]
    pub fn read(&mut self, now: Time, max: u64) -> u64 {
        let bytes = self.readable().min(max);
        if bytes > 0 {
            self.window.on_read(now, bytes);
            if self.readable() == 0 {
                self.policy.all_read(now);
            }
        }
        bytes
    }

    /// Bytes to advertise, not shifted: what this side sends is this `>> shift`. The right edge never moves left
    /// (RFC 9293 §3.8.6) and moves right in steps worth it (§3.8.6.2.2).
    #[inline]
    pub fn window(&self) -> u32 {
        self.window.advertised(self.stream.next())
    }

    /// Reads have opened so much room that the sender should hear of it now.
    #[inline]
    pub fn window_update_due(&self) -> bool {
        self.window.update_due(self.stream.next())
    }

    /// Is there anything that [`Receiver::blocks`] could report?
    #[inline]
    pub fn has_report(&self) -> bool {
        self.stream.waiting() > 0 || self.report.is_pending()
    }

    /// SACK blocks of the ACK that leaves now, at most `room` of them: a duplicate first (RFC 2883), then the most
    /// recent blocks (RFC 2018 §4). Returns their count. A duplicate is reported once.
    pub fn blocks(&mut self, out: &mut [(u64, u64); 4], room: usize) -> usize {
        self.report.blocks(&self.stream, out, room)
    }

    /// A segment with the ACK bit leaves; returns [`Receiver::window`], which is to be in it.
    #[inline(always)]
    pub fn ack_sent(&mut self, now: Time) -> u32 {
        let window = self.window.sent(self.stream.next());
        self.policy.sent(now, self.stream.next());
        window
    }

    /// Of ACKs that leave at once one after the other, the second and those behind it change nothing.
    #[inline]
    pub fn acks_alike(&self) -> bool {
        self.policy.acks_alike()
    }

    /// Payload left for the peer: a conversation, in which ACKs can wait for answers (Linux).
    #[inline]
    pub fn data_sent(&mut self, now: Time) {
        self.policy.data_sent(now);
    }

    /// See [`Receiver::rtt_hint`]: of segments that echo the same timestamp Linux takes the first.
    #[inline]
    pub fn tells_rtt(&mut self, echo: u32) -> bool {
        self.window.tells_rtt(echo)
    }

    /// A round trip seen from this side (echoed timestamp of a full segment), for right-sizing and delayed ACKs.
    #[inline]
    pub fn rtt_hint(&mut self, rtt: Span) {
        self.window.rtt_hint(rtt);
    }

    #[inline]
    fn on_in_order(&mut self, now: Time, len: u32, psh: bool) -> Ack {
        let next = self.stream.next();
        let grows = self.window.on_arrival(now, next, len, 0);
        self.policy.in_order(now, next, Segment { len, psh, grows }, &self.window)
    }

    /// Everything that is not the next segment while nothing is missing.
    #[inline(never)]
    fn on_any_data(&mut self, now: Time, offset: u64, end: u64, len: u32) -> Ack {
        if offset == end {
            return Ack::None;
        }
        let arrival = self.stream.accept(offset, end, self.window.edge());
        if let Some(duplicate) = arrival.duplicate() {
            self.report.duplicate(duplicate);
        }
        match arrival {
            // RFC 9293 §3.10.7.4: what is outside the window is answered by an ACK.
            Arrival::Outside | Arrival::Duplicate(_) => self.policy.unneeded(&self.window),
            Arrival::Held { block, .. } => {
                self.report.held(block);
                if self.window.on_held(len, self.stream.waiting(), self.stream.beyond()) {
                    self.policy.window_grows();
                }
                if self.report.tells_blocks_alone() {
                    return self.policy.behind_a_hole(now, self.stream.next(), &self.window);
                }
            }
            // It filled all of a gap or a part of one (RFC 5681 §4.2), or part of it was here before.
            Arrival::Advanced { .. } => {
                let next = self.stream.next();
                self.report.advanced(next);
                if self.window.on_arrival(now, next, len, self.stream.waiting()) {
                    self.policy.window_grows();
                }
                if self.stream.waiting() > 0 {
                    // The first ACK of the next hole, which Linux never holds back.
                    return self.policy.behind_a_hole(now, next, &self.window);
                }
            }
        }
        self.policy.at_once(now)
    }
}

#[cfg(test)]
mod tests;
