//! Idle gaps: no data segment sent for longer than a threshold. Why is found in `idle_cause`.

use super::{Account, Context, FlowState, View};
use crate::idle_cause::Gap;
use crate::infer::LEAST_MSS;
use crate::rows::{Cause, FlowId, IdleCause, IdleRow};
use crate::sink::Sink;
use wire::{Packet, Span, Time};

/// The threshold: what the user set, or max(2 RTTmin, 50 ms).
pub fn threshold(set: Option<Span>, rtt_min: Option<Span>) -> Span {
    set.unwrap_or_else(|| Span::from_millis(50).max(rtt_min.unwrap_or(Span::ZERO) * 2))
}

/// What ended a gap.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// A retransmission, with its back-off.
    pub resent: Option<(Cause, u32)>,
    /// A probe with new data.
    pub probe: bool,
    /// An ACK with news reached the sender no longer before than an ACK takes to set off a packet.
    pub by_ack: bool,
    /// When the sender's SYN passed.
    pub syn: Option<Time>,
}

impl Account {
    /// A gap in the sending ends with this packet, if there was one.
    pub fn note_gap<S: Sink>(
        &mut self,
        packet: &Packet,
        by: &Ended,
        flow_state: &FlowState<'_>,
        ctx: &mut Context<'_, S>,
    ) {
        if packet.seg.payload == 0 {
            return; // a bare FIN is no data, and ends no gap
        }
        let to = ctx.view.sent;
        let any_before = flow_state.last.seen.is_some();
        let syn = by.syn.unwrap_or(to);
        let mut from = if any_before { flow_state.last.sent } else { syn };
        if to - from <= self.idle_threshold(ctx) {
            return; // and no part of it is longer
        }
        let mut gap = Gap {
            resent: by.resent,
            probe: by.probe,
            flight: flow_state.flight,
            window: flow_state.window.advertised(),
            mss: u64::from(flow_state.agreed.mss),
            by_ack: by.by_ack,
            stalled: by.by_ack && self.waited_long(from, to, flow_state, &ctx.view),
            pushed: flow_state.last.end_pushed,
            ..Gap::default()
        };
        gap.took_all_room = gap.takes_all_room(packet.seg.payload);
        if by.resent.is_none() {
            self.look_before_the_ack(&mut gap, from, to, flow_state, &ctx.view);
        }
        if !any_before {
            // Until the handshake is over nothing may be sent; what passes after that is another wait.
            from = ctx.view.established.map_or(to, |t| t.max(syn).min(to));
            self.gap_row(syn, from, &Gap { handshake: true, ..gap }, flow_state.flow, ctx);
        }
        gap.zero_window = flow_state.window.zero_since.is_some() || flow_state.window.reopened > from;
        let asked = (ctx.view.peer_data_at + ctx.view.sender_loop).min(to);
        // Data that came while something was in flight set nothing off, unless it brought the ACK.
        let free =
            flow_state.flight == 0 && (!by.by_ack || self.ack.carried) && by.resent.is_none() && !by.probe;
        if !free || asked <= from {
            self.gap_row(from, to, &gap, flow_state.flow, ctx);
            return;
        }
        let until_asked = Gap { asked: true, ..gap };
        let then = Gap { flight: 0, by_ack: false, by_window: false, ..gap };
        let long = self.idle_threshold(ctx);
        match (asked - from > long, to - asked > long) {
            (true, true) => {
                self.gap_row(from, asked, &until_asked, flow_state.flow, ctx);
                self.gap_row(asked, to, &then, flow_state.flow, ctx);
            }
            // A gap is one: what is short goes with the rest.
            _ => {
                let longer = if asked - from >= to - asked { until_asked } else { then };
                self.gap_row(from, to, &longer, flow_state.flow, ctx);
            }
        }
    }

    /// What held the sender back is what was so until the ACK came that ended the gap.
    fn look_before_the_ack(
        &self,
        gap: &mut Gap,
        from: Time,
        to: Time,
        flow_state: &FlowState<'_>,
        view: &View,
    ) {
        let advertised = flow_state.window.changed + view.sender_loop;
        let just_now = advertised > from && to - advertised <= self.timing(view, false).tolerance;
        gap.by_window = just_now && flow_state.window.now > flow_state.window.before;
        if gap.by_ack {
            let small = flow_state.last.payload < full_segment(flow_state);
            gap.of_small = gap.flight == 0 && small && !self.ack.carried;
            gap.flight += self.ack.took;
        }
        if just_now {
            gap.window = gap.window.map(|_| flow_state.window.before);
        }
    }

    /// Twice as long as the last ACK before the gap took, or longer, for all that is in flight left before it.
    fn waited_long(&self, from: Time, to: Time, flow_state: &FlowState<'_>, view: &View) -> bool {
        let before = self.rtt.at(from).map(|rtt| rtt + view.sender_loop);
        let flight = flow_state.flight + self.ack.took;
        flight >= 2 * u64::from(full_segment(flow_state)) && before.is_some_and(|rtt| to - from > rtt * 2)
    }

    fn idle_threshold<S: Sink>(&self, ctx: &Context<'_, S>) -> Span {
        threshold(ctx.config.idle, self.rtt.min().map(|r| r + ctx.view.sender_loop))
    }

    /// A row, if it is long enough for one; was it?
    pub fn gap_row<S: Sink>(
        &mut self,
        from: Time,
        to: Time,
        gap: &Gap,
        flow: FlowId,
        ctx: &mut Context<'_, S>,
    ) -> bool {
        // When a packet was sent is a guess where its queue is not seen, and no gap is known of before the capture.
        let (from, to) = (from.max(ctx.origin), to.max(ctx.origin));
        let limit = self.idle_threshold(ctx);
        if to - from <= limit {
            return false;
        }
        let cause = IdleCause::of(gap);
        self.idle.add(from, to, cause.holds_data_back(gap.flight));
        ctx.sink.idle(IdleRow {
            flow,
            start: from,
            end: to,
            excess: to - from - limit,
            cause,
            flight_bytes: gap.flight,
            told: false,
        });
        true
    }
}

/// What a segment holds that is full: less than the MSS where the path takes less (RFC 1191, RFC 8899).
fn full_segment(flow_state: &FlowState<'_>) -> u32 {
    flow_state.last.largest.max(LEAST_MSS).min(flow_state.agreed.mss)
}

/// Totals of a stream's gaps.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdleTotals {
    pub total: Span,
    /// While data waited.
    pub blocked: Span,
    pub longest: Span,
    pub gaps: u32,
}

impl IdleTotals {
    pub fn add(&mut self, from: Time, to: Time, blocked: bool) {
        let length = to - from;
        self.total += length;
        if blocked {
            self.blocked += length;
        }
        self.longest = self.longest.max(length);
        self.gaps += 1;
    }
}
