//! The event that released a data packet which did not follow at once on the packet before it.

use super::idle::threshold;
use super::{Account, FlowState};
use crate::rows::{Release, Wait};
use crate::stream::{Answers, View};
use wire::{Flags, Packet, Span, Time};

/// An ACK sets off data within this time at a host that is not busy; where ACKs come closer together than that, within a
/// quarter of their distance, or data that nothing set off would seem to follow on one of them.
const PROMPT: Span = Span::from_micros(500);
const PROMPT_AT_LEAST: Span = Span::from_micros(150);

/// No ACK is delayed for longer (RFC 9293 section 3.8.6.3).
const MOST_ACK_DELAY: Span = Span::from_millis(500);

/// A data packet that left after a wait, with the state that decides what released it.
pub struct Left<'a> {
    pub packet: &'a Packet,
    /// When it left its host, as far as that shows here.
    pub at: Time,
    pub view: &'a View,
    /// Away from the sender: an ACK that its sender had not heard when it sent the packet before had reached it.
    pub heard: bool,
    /// As far as its sender knew, nothing was outstanding.
    pub idle: bool,
}

/// Away from its sender: data may come so much later than the ACK that set it off took on its way, and back.
fn slack(sender_loop: Span) -> Span {
    (sender_loop / 8).max(PROMPT * 2)
}

/// Packets that left together come no further apart, where a link takes `spacing` for a full segment.
fn link_takes(spacing: Span) -> Span {
    spacing.scale(1.5)
}

impl Left<'_> {
    /// It is the end of what the program wrote, and fills no segment: Nagle's algorithm keeps it back while anything is
    /// outstanding (RFC 896).
    pub fn is_small(&self, state: &FlowState<'_>) -> bool {
        let seg = &self.packet.seg;
        seg.payload < state.full_segment() && seg.flags.has(Flags::PSH.with(Flags::FIN))
    }
}

impl Account {
    /// Away from its sender: it left together with the data before it, and came later because a link takes packets one
    /// after the other. Timestamps that are the same, or one tick apart, say so; where there are none, nothing tells a link
    /// from a sender that spaces its packets, and a wait shows only where it is long.
    pub fn left_together(&self, left: &Left<'_>, state: &FlowState<'_>) -> bool {
        let sender_loop = left.view.sender_loop;
        if sender_loop == Span::ZERO || left.heard || state.last.seen.is_none() {
            return false;
        }
        // The program had no more to send: the next packet left at a time of its own.
        let was_all = state.last.pushed && state.last.payload < state.full_segment();
        match left.packet.seg.timestamps.filter(|_| state.agreed.timestamps) {
            Some(ts) => match ts.val.wrapping_sub(state.last.ts_val) {
                0 => true,
                1 => !was_all,
                _ => false,
            },
            None => !left.idle && left.at - state.last.sent <= sender_loop / 8,
        }
    }

    fn prompt(&self, state: &FlowState<'_>) -> Span {
        // Every second segment is acknowledged (RFC 5681 section 4.2).
        let acks = (state.flight / (2 * u64::from(state.agreed.mss.max(1)))).max(1) as i64;
        (self.rtt.srtt() / (4 * acks)).clamp(PROMPT_AT_LEAST, PROMPT)
    }

    /// An ACK let it go: it came just before.
    fn by_ack(&self, left: &Left<'_>, state: &FlowState<'_>) -> bool {
        let sender_loop = left.view.sender_loop;
        if sender_loop == Span::ZERO {
            return left.at - state.last_news <= self.prompt(state);
        }
        // Where nothing is outstanding any more the next packet leaves at once, or a program wrote it later.
        left.heard && (!left.idle || left.at - state.last_news <= slack(sender_loop))
    }

    /// Where data arrives: this host held the ACK back for much longer than the slack within which data seems to follow on it.
    fn was_held(&self, state: &FlowState<'_>, sender_loop: Span) -> bool {
        state.last_news - sender_loop - state.last.sent >= slack(sender_loop) * 4
    }

    /// A burst of new data begins, unless the link lets the packet follow on the one before it as closely as it can.
    /// `spacing`: the least time between two full segments.
    #[inline(always)]
    pub fn note_burst(&mut self, left: &Left<'_>, state: &FlowState<'_>, spacing: Span) {
        let now = left.packet.time;
        let remote = left.view.sender_loop > Span::ZERO;
        // Data that an ACK lets go begins no pace: most senders send so.
        if !remote && !self.pace.has_begun() && left.at - state.last_news <= PROMPT_AT_LEAST {
            return self.pace.begin(now, state.next);
        }
        if !remote || spacing < Span::MAX && state.last.silence(now) > link_takes(spacing) {
            self.pace.on_burst(now, state.next);
        }
    }

    /// It was its turn at the sender's pace, though an ACK came before it: data leaves at equal distances, and later after an
    /// ACK than what waits for one does. Where it arrives, the sender's clock shows that no queue parts the data.
    #[inline(always)]
    fn by_pace(&self, left: &Left<'_>, state: &FlowState<'_>, spacing: Span) -> bool {
        self.pace.is_even() && self.was_its_turn(left, state, spacing)
    }

    fn was_its_turn(&self, left: &Left<'_>, state: &FlowState<'_>, spacing: Span) -> bool {
        let (sender_loop, segment) = (left.view.sender_loop, u64::from(state.last.largest));
        if sender_loop == Span::ZERO {
            let late = left.at - state.last_news > PROMPT_AT_LEAST;
            return late && self.pace.is_steady(self.rtt.srtt(), (Span::ZERO, segment));
        }
        let queued = left.packet.time - left.at;
        let tick = left.view.tsval_granularity;
        let dated = left.packet.seg.timestamps.is_some() && tick > Span::ZERO && queued <= tick;
        dated && spacing < Span::MAX && self.pace.is_steady(sender_loop, (spacing, segment))
    }

    /// The event that released the packet, and the wait that it ended where that was not for room in a window.
    pub fn release(&self, left: &Left<'_>, state: &FlowState<'_>, spacing: Span) -> (Release, Option<Wait>) {
        let view = left.view;
        let (from, sender_loop, mss) = (state.last.sent, view.sender_loop, u64::from(state.agreed.mss));
        let by_ack = self.by_ack(left, state);
        let small = left.is_small(state);
        let idle = left.idle;
        let peer_data_at = view.peer_data_at + sender_loop;
        let first = state.last.seen.is_none();
        let after_small = state.last.payload < state.full_segment();
        // The host acknowledges a part of what is under way to it: it sent as soon as that part had come, where all that
        // it had to send before had left.
        if view.answers == Answers::Part && !first && small && state.last.pushed && after_small {
            return (Release::Message, None);
        }
        let near = sender_loop <= PROMPT;
        // An ACK that comes behind the other host's message lets a small segment go at once: Nagle's algorithm had kept it.
        let kept = !first && by_ack && small && near && state.last_news > view.peer_data_at;
        let spoken = (peer_data_at > from || first) && view.answers != Answers::Nothing;
        // Data that goes on in the middle of a message waited for room: an answer that came with the ACK did not release it.
        let goes_on = by_ack && state.goes_on(state.window.edge_before);
        if idle && spoken && view.peer_data_at > Time::FAR_PAST && !kept && !goes_on {
            // A host whose program takes longer acknowledges the message before: what came, or its answer, was lost.
            let late = left.at - (view.peer_data_at + view.answer_loop) > MOST_ACK_DELAY;
            return (Release::Message, (late && view.answers == Answers::Rest).then_some(Wait::Timer));
        }
        if first {
            // The ACK that ends the handshake lets the first data go, unless that takes far longer than a bare packet does.
            let at_once = |t: Time| left.at - (t + view.answer_loop) <= self.prompt(state);
            let by = if view.established.is_some_and(at_once) { Release::Ack } else { Release::Write };
            return (by, None);
        }
        // A window that takes no segment is closed (RFC 9293 section 3.8.6.2); what leaves without any news is a probe of it.
        // A sender that fills more than the window has room for heeds none.
        let fits = state.window.now == 0 || u64::from(left.packet.seg.payload) <= state.window.now;
        let closed = state.window.known && state.window.now < mss && fits;
        if idle && closed && !by_ack {
            return (Release::Timer, Some(Wait::Closed));
        }
        if idle && small && !after_small && !by_ack {
            return (Release::Write, None);
        }
        if self.window_was_full(by_ack, state, mss) && !(idle && small) {
            let was_closed = state.window.before < mss && state.window.changed + sender_loop > from;
            let closed = was_closed || closed || state.window.reopened + sender_loop > from;
            return (Release::Window, closed.then_some(Wait::Closed));
        }
        // Nagle's algorithm keeps a small segment back while another is outstanding, and what waits for a window fills its segments:
        // it left as soon as the program had written it.
        if !idle && small && after_small && state.last.pushed {
            return (Release::Write, Some(Wait::Program));
        }
        if !idle && self.by_pace(left, state, spacing) {
            return (Release::Pace, None);
        }
        let silence = left.at - state.last_news.max(from);
        match () {
            () if idle && small && by_ack && near => (Release::Ack, Some(Wait::Small)),
            () if idle && small && by_ack && self.was_held(state, sender_loop) => {
                (Release::Ack, Some(Wait::Small))
            }
            // Away from its sender an ACK comes in nearly every gap. What fills its segments as long as it has more to send, and
            // did not, waited for its program.
            () if by_ack
                && sender_loop > Span::ZERO
                && state.last.pushed
                && after_small
                && u64::from(state.last.payload) < mss =>
            {
                (Release::Ack, Some(Wait::Program))
            }
            () if by_ack => (Release::Ack, None),
            // What is written as soon as a part of the other host's message has come answers that part.
            () if near && peer_data_at > from && left.at - peer_data_at <= self.prompt(state) => {
                (Release::Message, None)
            }
            // A program's last segment has PSH (RFC 9293 §3.9.1.2): a full one without it left more to send.
            () if idle && (state.last.pushed || after_small || first) => (Release::Write, None),
            // A sender that has more to send fills its segments.
            () if state.last.pushed && after_small => (Release::Write, None),
            // No pace spaces packets by two round trips and a pause: a program stopped in the middle of its message.
            () if idle && near && silence >= threshold(None, self.rtt.min()) => (Release::Write, None),
            // A tail-loss probe took the next segment, which Nagle's algorithm had kept (RFC 8985 section 7.3).
            () if near && small && silence >= self.rtt.srtt() * 2 => (Release::Timer, Some(Wait::Small)),
            () => (Release::Pace, None),
        }
    }

    /// The receive window had no room for another segment when the data before left. Senders that let the card cut their
    /// segments wait for room for two.
    fn window_was_full(&self, by_ack: bool, state: &FlowState<'_>, mss: u64) -> bool {
        let widened = state.window.changed > state.last.sent && state.window.now > state.window.before;
        (by_ack || widened) && state.window.was_full(state.next, 2 * mss)
    }
}
