//! Parts of a flow for whoever asks window by window: packets where few enough lie in one, else bins.

use crate::levels::{self, FINEST, Level};
use crate::source::Source;
use crate::text::grouped;
use analysis::rows::FlowId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Flows whose levels are kept.
const KEPT: usize = 8;
/// Columns of a screen.
const MOST_COLUMNS: u32 = 16_384;

/// The levels of the flows that were asked for last, the newest at the end.
#[derive(Default)]
pub struct Kept(Mutex<VecDeque<(FlowId, Arc<Vec<Level>>)>>);

impl Source {
    /// What a page shows of a flow in a stretch of time, in about `columns` bins or more if it is bins. Err: a sentence.
    pub fn window(&self, flow: FlowId, from_ns: i64, to_ns: i64, columns: u32) -> Result<Vec<u8>, String> {
        if to_ns < from_ns {
            return Err(format!("to_ns = {to_ns} is before from_ns = {from_ns}"));
        }
        let columns = columns.clamp(1, MOST_COLUMNS);
        let rows = self.packets.within(flow, from_ns, to_ns);
        if rows.len() <= self.limits.window {
            let complete = rows == self.packets.of(flow);
            return Ok(self.packets.container(&[rows], complete));
        }
        let wanted_ns = ((i128::from(to_ns) - i128::from(from_ns)) / i128::from(columns)).max(1);
        let known = self.levels(flow);
        // The coarsest that is fine enough.
        if let Some(level) = known.iter().rev().find(|level| i128::from(level.grid().bin_ns) <= wanted_ns) {
            let grid = level.grid();
            let behind = grid.start_ns.saturating_add(grid.bin_ns.saturating_mul(i64::from(grid.bins)));
            if to_ns < grid.start_ns || from_ns >= behind {
                return Ok(levels::part(level, 0..0));
            }
            return Ok(levels::part(level, grid.place(from_ns)..grid.place(to_ns) + 1));
        }
        let trips = self.trips.within(flow, from_ns, to_ns);
        let level = levels::over(&self.packets, rows, (from_ns, to_ns), columns, (&self.trips, trips));
        Ok(levels::container(&level))
    }

    /// The round-trip samples of a stretch of time. Err: a sentence, where they are too many.
    pub fn round_trips(&self, flow: FlowId, from_ns: i64, to_ns: i64) -> Result<Vec<u8>, String> {
        let rows = self.trips.within(flow, from_ns, to_ns);
        if rows.len() > self.limits.samples {
            let [found, most] = [rows.len(), self.limits.samples].map(|n| grouped(n as u64));
            return Err(format!("{found} samples there; {most} at most: use bins"));
        }
        Ok(self.trips.container(rows))
    }

    /// The levels of a flow, the finest first; made when they are first asked for.
    fn levels(&self, flow: FlowId) -> Arc<Vec<Level>> {
        let mut kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(of, _)| *of == flow).and_then(|at| kept.remove(at));
        let (_, found) =
            known.unwrap_or_else(|| (flow, Arc::new(levels::all(&self.packets, &self.trips, flow, FINEST))));
        kept.push_back((flow, Arc::clone(&found)));
        if kept.len() > KEPT {
            kept.pop_front();
        }
        found
    }
    /// Makes what a page asks for first, of a flow that has more packets than a window shows one by one.
    pub fn warm(&self, flow: FlowId) {
        if self.packets.of(flow).len() > self.limits.window {
            self.levels(flow);
        }
    }
    /// The levels of a flow as a page reads them, the finest of `most` bins at most.
    pub fn levels_in(&self, flow: FlowId, most: u32) -> Vec<Vec<u8>> {
        levels::all(&self.packets, &self.trips, flow, most).iter().map(levels::container).collect()
    }
}
