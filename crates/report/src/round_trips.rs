//! Round-trip samples as columns.

use crate::container::{Column, Values, pack};
use crate::text::list;
use analysis::rows::{RttKind, RttRow};
use std::ops::Range;
use wire::Time;

#[derive(Default)]
pub struct RoundTrips {
    pub time_ns: Vec<i64>,
    pub rtt_us: Vec<u32>,
    kind: Vec<u8>,
}

impl RoundTrips {
    pub fn size(&self) -> usize {
        self.time_ns.len()
    }
    pub fn push(&mut self, row: &RttRow, origin: Time) {
        self.time_ns.push(row.time.0 - origin.0);
        // Halves to even, as numbers in tables are rounded.
        let micro = (row.rtt.as_secs() * 1e6).round_ties_even();
        self.rtt_us.push(micro.clamp(0.0, f64::from(u32::MAX)) as u32);
        let kind = RttKind::ALL.iter().position(|k| k.name() == row.kind.name()).unwrap_or(0);
        self.kind.push(kind as u8);
    }
    /// As a page reads them.
    pub fn container(&self, rows: Range<usize>) -> Vec<u8> {
        let columns = [
            Column::of("time_ns", Values::real(&self.time_ns[rows.clone()]), true),
            Column::of("rtt_us", Values::U32(self.rtt_us[rows.clone()].to_vec()), false),
            Column::of("kind", Values::U8(self.kind[rows].to_vec()), false),
        ];
        let kinds = list(RttKind::ALL.iter().map(|k| k.name()));
        pack("table", &columns, &format!(",\"words\":{{\"kind\":{kinds}}}"))
    }
}
