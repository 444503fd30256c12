//! What each flow sent, received and lost, interval by interval: counted while a run goes on, in memory that does not
//! grow with its packets.

use super::gather::Place;
use crate::tables::column::*;
use crate::tables::{Batches, Reader};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use instant::{Span, Time};
use scenario::model::Scenario;
use sim::rows::{DropRow, HostRow, PacketFacts};
use std::sync::Arc;

/// More intervals than this in one run are refused.
const MOST: usize = 1 << 20;

/// One direction of one flow in one interval: packets of any kind, all its connections together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub arrived_packets: u64,
    pub arrived_bytes: u64,
    pub lost_packets: u64,
}

/// The intervals of a run, by the scenario's flow and the direction: from the client, and back.
#[derive(Clone, Debug)]
pub struct Series {
    width: Span,
    /// Of each connection.
    flow_of: Vec<u32>,
    names: Vec<Arc<str>>,
    cells: Vec<[Vec<Cell>; 2]>,
    overflowed: bool,
}

impl Series {
    pub fn new(scenario: &Scenario, width: Span) -> Series {
        let flows = || scenario.flows.iter().enumerate();
        Series {
            width: Span(width.0.max(1)),
            flow_of: flows().flat_map(|(k, flow)| (0..flow.count).map(move |_| k as u32)).collect(),
            names: flows().map(|(_, flow)| flow.name.as_str().into()).collect(),
            cells: flows().map(|_| [Vec::new(), Vec::new()]).collect(),
            overflowed: false,
        }
    }

    fn cell(&mut self, time: Time, packet: &PacketFacts) -> Option<&mut Cell> {
        let flow = *self.flow_of.get(packet.connection as usize)?;
        self.at(flow as usize, packet.forward, self.interval(time))
    }

    /// Which interval a time is in.
    pub fn interval(&self, time: Time) -> usize {
        usize::try_from((time - Time::ZERO).0.max(0) / self.width.0).unwrap_or(usize::MAX)
    }

    /// One direction of a flow of the scenario in an interval.
    pub fn at(&mut self, flow: usize, forward: bool, at: usize) -> Option<&mut Cell> {
        let cells = &mut self.cells.get_mut(flow)?[usize::from(!forward)];
        if at >= MOST {
            self.overflowed = true;
            return None;
        }
        if at >= cells.len() {
            cells.resize(at + 1, Cell::default());
        }
        cells.get_mut(at)
    }

    pub fn host(&mut self, row: &HostRow) {
        let Some(cell) = self.cell(row.time, &row.packet) else { return };
        let bytes = u64::from(row.length_bytes);
        match row.sent {
            true => {
                cell.sent_packets += 1;
                cell.sent_bytes += bytes;
            }
            false => {
                cell.arrived_packets += 1;
                cell.arrived_bytes += bytes;
            }
        }
    }

    pub fn dropped(&mut self, row: &DropRow) {
        if let Some(cell) = self.cell(row.time, &row.packet) {
            cell.lost_packets += 1;
        }
    }

    /// Ends the run: every flow has an interval for each that began before `end`.
    pub fn end(&mut self, end: Time) -> Result<(), String> {
        let whole = (end - Time::ZERO).0.div_euclid(self.width.0);
        let rest = i64::from((end - Time::ZERO).0 % self.width.0 != 0);
        let intervals = usize::try_from(whole + rest).unwrap_or(0);
        if self.overflowed || intervals > MOST {
            let seconds = self.width.as_secs();
            return Err(format!("a series of more than {MOST} intervals of {seconds} s: choose longer ones"));
        }
        for cells in self.cells.iter_mut().flatten() {
            let there = cells.len();
            cells.resize(intervals.max(there), Cell::default());
        }
        Ok(())
    }
}

/// The series of runs that are over, in the order of the runs.
pub struct AllSeries(Vec<(Place, Series)>);

impl AllSeries {
    /// Those of the runs that have a place, in the order of the plan.
    pub fn of(places: &[Option<Place>], series: Vec<Option<Series>>) -> AllSeries {
        AllSeries(places.iter().zip(series).filter_map(|(place, series)| (*place).zip(series)).collect())
    }

    pub fn rows(&self) -> u64 {
        let cells = |s: &Series| s.cells.iter().flatten().map(Vec::len).sum::<usize>() as u64;
        self.0.iter().map(|(_, series)| cells(series)).sum()
    }

    pub fn schema() -> Schema {
        SeriesColumns::schema()
    }

    /// By run, flow, direction and time.
    pub fn reader(self: &Arc<AllSeries>) -> Reader {
        let all = Arc::clone(self);
        // Cells are read where they lie: a cursor over them, since an iterator would borrow what it owns.
        let (mut run, mut way, mut at) = (0, 0, 0);
        let rows = std::iter::from_fn(move || {
            loop {
                let (place, series) = all.0.get(run)?;
                let Some(cells) = series.cells.iter().flatten().nth(way) else {
                    (run, way, at) = (run + 1, 0, 0);
                    continue;
                };
                let Some(cell) = cells.get(at) else {
                    (way, at) = (way + 1, 0);
                    continue;
                };
                let start = series.width * at as i64;
                at += 1;
                let flow = Arc::clone(&series.names[way / 2]);
                return Some(Ok(SeriesRow {
                    place: *place,
                    flow,
                    forward: way % 2 == 0,
                    start,
                    cell: *cell,
                }));
            }
        });
        Box::new(Batches::<SeriesColumns, _>::of(rows))
    }
}

pub struct SeriesRow {
    place: Place,
    flow: Arc<str>,
    forward: bool,
    start: Span,
    cell: Cell,
}

table! { SeriesColumns of SeriesRow {
        place, flow, forward, start,
        cell: Cell { sent_packets, sent_bytes, arrived_packets, arrived_bytes, lost_packets },
    } =>
    run: Int = place.run as i64,
    variant: Int = place.variant as i64,
    seed: Seed = place.seed,
    flow: Shared,
    direction: Word = if forward { "forward" } else { "back" },
    start_s: Secs = start,
    sent_packets: Int, sent_bytes: Int, arrived_packets: Int, arrived_bytes: Int, lost_packets: Int,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::many::{Plan, run};
    use crate::simulate::tests::{OUTAGE, UPLOAD, scenario};

    /// By flow, each direction's intervals.
    type Cells = Vec<[Vec<Cell>; 2]>;

    fn counted(width: Span) -> Result<(Cells, u64), String> {
        let scenarios = [scenario(UPLOAD, OUTAGE)];
        let plan = Plan { scenarios: &scenarios, runs: &[(0, 1)], keep: None, width: Some(width) };
        let done = run(&plan, &mut |_| true);
        done.runs.into_iter().next().flatten().ok_or("stopped")??;
        let all = done.series.ok_or("no series")?;
        let rows = all.rows();
        let cells = all.0.iter().flat_map(|(_, series)| series.cells.clone()).collect();
        Ok((cells, rows))
    }

    #[test]
    fn intervals_of_any_length_have_the_same_sums() {
        let sums = |width: Span| {
            let (cells, _) = counted(width).expect("a run");
            cells.iter().flatten().flatten().fold([0; 3], |sum, c| {
                [sum[0] + c.sent_packets, sum[1] + c.arrived_packets, sum[2] + c.lost_packets]
            })
        };
        let [sent, arrived, lost] = sums(Span::from_secs(1));
        assert_eq!(sums(Span::from_secs_f64(0.01)), [sent, arrived, lost]);
        // Nothing is on the way when the run has ended.
        assert!(lost > 0 && sent == arrived + lost, "{sent} {arrived} {lost}");
    }

    #[test]
    fn every_direction_has_an_interval_for_all_of_the_run() {
        let (cells, rows) = counted(Span::from_secs_f64(0.1)).expect("a run");
        let lengths: Vec<usize> = cells.iter().flatten().map(Vec::len).collect();
        assert!(lengths.windows(2).all(|w| w[0] == w[1]) && lengths[0] > 1, "{lengths:?}");
        assert_eq!(rows, lengths.iter().sum::<usize>() as u64);
    }

    #[test]
    fn intervals_too_short_to_be_kept_are_refused() {
        let why = counted(Span(1)).expect_err("a billion intervals");
        assert!(why.contains("choose longer ones"), "{why}");
    }
}
