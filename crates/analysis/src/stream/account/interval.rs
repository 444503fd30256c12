//! Rows of one interval each: how much was sent and acknowledged in it.

use super::{Account, Context, FlowState};
use crate::rows::{FlowId, IntervalRow};
use crate::sink::Sink;
use wire::{Span, Time};

impl Account {
    /// Data passes, of which so much is `new`, or none.
    pub fn data_in_interval<S: Sink>(
        &mut self,
        now: Time,
        payload: u32,
        new: bool,
        flow_state: &FlowState<'_>,
        ctx: &mut Context<'_, S>,
    ) {
        let i = self.interval_at(now, flow_state.flow, ctx);
        i.sent_bytes += u64::from(payload);
        match new {
            true => i.new_bytes += u64::from(payload),
            false => {
                let segments = flow_state.agreed.segments(payload);
                i.retransmitted_segments = i.retransmitted_segments.saturating_add(segments);
            }
        }
        i.flight_max_bytes = i.flight_max_bytes.max(flow_state.flight);
    }

    /// An ACK passes.
    pub fn ack_in_interval<S: Sink>(
        &mut self,
        now: Time,
        duplicate: bool,
        window: Option<u64>,
        flow: FlowId,
        ctx: &mut Context<'_, S>,
    ) {
        let i = self.interval_at(now, flow, ctx);
        i.duplicate_acks += u32::from(duplicate);
        if let Some(window) = window {
            i.window_max_bytes = i.window_max_bytes.max(Some(window));
            i.window_min_bytes = Some(i.window_min_bytes.map_or(window, |least| least.min(window)));
        }
    }

    pub(super) fn acked_in_interval<S: Sink>(
        &mut self,
        now: Time,
        bytes: u64,
        flow: FlowId,
        ctx: &mut Context<'_, S>,
    ) {
        self.interval_at(now, flow, ctx).acked_bytes += bytes;
    }

    /// The interval that `now` is in. Writes the one before, if that ended; those without any packet are left out.
    fn interval_at<S: Sink>(
        &mut self,
        now: Time,
        flow: FlowId,
        ctx: &mut Context<'_, S>,
    ) -> &mut IntervalRow {
        let length = ctx.config.interval.0.max(1);
        // Counted from the first packet of the capture.
        let origin = ctx.origin;
        let start = origin + Span((now - origin).0.div_euclid(length).saturating_mul(length));
        let fresh = || IntervalRow { flow, start, ..IntervalRow::default() };
        let row = self.interval.get_or_insert_with(|| Box::new(fresh()));
        if row.start != start {
            write(std::mem::replace(&mut **row, fresh()), ctx.sink);
        }
        row
    }

    pub(super) fn flush_interval(&mut self, sink: &mut impl Sink) {
        if let Some(row) = self.interval.take() {
            write(*row, sink);
        }
    }
}

/// The row of an interval in which anything was sent, acknowledged or offered.
fn write(row: IntervalRow, sink: &mut impl Sink) {
    let opened = row.window_max_bytes.is_some_and(|w| w > 0);
    if row.sent_bytes + row.acked_bytes > 0 || opened || row.duplicate_acks > 0 {
        sink.interval(row);
    }
}
