//! Rows of one interval each: how much was sent and acknowledged in it.

use super::{Account, Stand, Surroundings};
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
        stand: &Stand<'_>,
        around: &mut Surroundings<'_, S>,
    ) {
        self.roll_interval(now, stand.flow, around);
        let i = &mut self.interval;
        i.sent_bytes += u64::from(payload);
        match new {
            true => i.new_bytes += u64::from(payload),
            false => {
                let segments = stand.agreed.segments(payload);
                i.retransmitted_segments = i.retransmitted_segments.saturating_add(segments);
            }
        }
        i.flight_max_bytes = i.flight_max_bytes.max(stand.flight);
    }

    /// An ACK passes.
    pub fn ack_in_interval<S: Sink>(
        &mut self,
        now: Time,
        duplicate: bool,
        window: Option<u64>,
        flow: FlowId,
        around: &mut Surroundings<'_, S>,
    ) {
        self.roll_interval(now, flow, around);
        let i = &mut self.interval;
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
        around: &mut Surroundings<'_, S>,
    ) {
        self.roll_interval(now, flow, around);
        self.interval.acked_bytes += bytes;
    }

    /// Writes the interval that ended, and those without any packet after it are left out.
    fn roll_interval<S: Sink>(&mut self, now: Time, flow: FlowId, around: &mut Surroundings<'_, S>) {
        let length = around.config.interval.0.max(1);
        // Counted from the first packet of the capture.
        let origin = around.origin;
        let start = origin + Span((now - origin).0.div_euclid(length).saturating_mul(length));
        if self.interval.start == start {
            return;
        }
        self.flush_interval(around.sink);
        self.interval = IntervalRow { flow, start, ..IntervalRow::default() };
    }

    pub(super) fn flush_interval(&mut self, sink: &mut impl Sink) {
        let row = std::mem::take(&mut self.interval);
        let opened = row.window_max_bytes.is_some_and(|w| w > 0);
        if row.sent_bytes + row.acked_bytes > 0 || opened || row.duplicate_acks > 0 {
            sink.interval(row);
        }
    }
}
