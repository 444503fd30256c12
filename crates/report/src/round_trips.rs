//! The round-trip samples of a capture as columns, flow by flow.

use crate::column::{Column, Filling};
use crate::container::{self, Values, pack};
use crate::packets::place;
use crate::places::Places;
use crate::text::list;
use analysis::rows::{FlowId, RttKind, RttRow};
use std::io;
use std::ops::Range;
use wire::Time;

#[derive(Default)]
pub struct RoundTrips {
    places: Places,
    pub time_ns: Column<i64>,
    pub rtt_us: Column<u32>,
    kind: Column<u8>,
}

/// Samples that are being read.
pub struct Reading {
    places: Places,
    time_ns: Filling<i64>,
    rtt_us: Filling<u32>,
    kind: Filling<u8>,
}

impl Reading {
    /// in_files: there are more than memory is to hold.
    pub fn new(in_files: bool) -> io::Result<Reading> {
        Ok(Reading {
            places: Places::default(),
            time_ns: Filling::new(in_files)?,
            rtt_us: Filling::new(in_files)?,
            kind: Filling::new(in_files)?,
        })
    }
    pub fn push(&mut self, row: &RttRow, origin: Time) {
        let time_ns = row.time.0 - origin.0;
        self.places.push(row.flow, time_ns);
        self.time_ns.push(time_ns);
        // Halves to even, as numbers in tables are rounded.
        let micro = (row.rtt.as_secs() * 1e6).round_ties_even();
        self.rtt_us.push(micro.clamp(0.0, f64::from(u32::MAX)) as u32);
        self.kind.push(place(row.kind));
    }
    /// Called now and then.
    pub fn pass_on(&mut self) -> io::Result<()> {
        self.time_ns.pass_on()?;
        self.rtt_us.pass_on()?;
        self.kind.pass_on()
    }
    pub fn end(self) -> io::Result<RoundTrips> {
        let Reading { places, time_ns, rtt_us, kind } = self;
        Ok(RoundTrips { places, time_ns: time_ns.end()?, rtt_us: rtt_us.end()?, kind: kind.end()? })
    }
}

impl RoundTrips {
    /// The rows of a flow.
    pub fn of(&self, flow: FlowId) -> Range<usize> {
        self.places.of(flow)
    }
    /// The rows of a flow from the first to the last in a stretch of time, both ends in it.
    pub fn within(&self, flow: FlowId, from_ns: i64, to_ns: i64) -> Range<usize> {
        self.places.within(flow, &self.time_ns, from_ns, to_ns)
    }
    /// As a page reads them.
    pub fn container(&self, rows: Range<usize>) -> Vec<u8> {
        let columns = [
            container::Column::of("time_ns", Values::real(&self.time_ns[rows.clone()]), true),
            container::Column::of("rtt_us", Values::U32(self.rtt_us[rows.clone()].to_vec()), false),
            container::Column::of("kind", Values::U8(self.kind[rows].to_vec()), false),
        ];
        let kinds = list(RttKind::ALL.iter().map(|k| k.name()));
        pack("table", &columns, &format!(",\"words\":{{\"kind\":{kinds}}}"))
    }
}
