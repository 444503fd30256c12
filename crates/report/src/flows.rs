//! The list of flows, as columns.

use crate::detail::cell;
use crate::members::Members;
use crate::text::string;
use analysis::rows::{FlowId, FlowRow};
use results::spool::Shelf;
use results::tables::batch;
use results::tables::flows::FlowColumns;
use std::collections::HashMap;
use std::fmt::Write;
use std::io;

/// Flows that a page lists, the worst first.
pub const MOST: usize = 50_000;
/// Flows, of the worst, whose answer's cause the list says.
pub const MOST_CAUSES: usize = 500;
const COLUMNS: [&str; 10] = [
    "flow",
    "sender",
    "receiver",
    "bytes",
    "duration_s",
    "throughput_bps",
    "lost_copies",
    "retransmitted_segments",
    "episodes",
    "timeouts",
];

/// `flows` of a source. ranked: those that are listed, the worst first. told: of the worst, the flow as docs/json.md has
/// it.
pub fn listed(shelf: &Shelf, ranked: &[FlowId], told: &HashMap<FlowId, Members>) -> io::Result<String> {
    let ranks: HashMap<FlowId, usize> = ranked.iter().copied().zip(0..).collect();
    let mut rows: Vec<Option<FlowRow>> = vec![None; ranked.len()];
    let mut left_out = 0u64;
    for row in shelf.rows::<FlowRow>()? {
        let row = row?;
        match ranks.get(&row.flow) {
            Some(&rank) => rows[rank] = Some(row),
            None => left_out += 1,
        }
    }
    let rows: Vec<FlowRow> = rows.into_iter().flatten().collect();
    let numbers: Vec<FlowId> = rows.iter().map(|row| row.flow).collect();
    let batch = batch::<FlowColumns>(rows).map_err(io::Error::other)?;
    let mut text = String::from("{\"columns\":{");
    for name in COLUMNS {
        let column =
            batch.column_by_name(name).ok_or_else(|| io::Error::other(format!("no column {name}")))?;
        let cells: Result<Vec<String>, _> = (0..batch.num_rows()).map(|row| cell(column, row)).collect();
        let _ = write!(text, "\"{name}\":[{}],", cells.map_err(io::Error::other)?.join(","));
    }
    let mut causes = Vec::new();
    for number in numbers.iter().take(MOST_CAUSES) {
        causes.push(told.get(number).map(|flow| flow.within("answer")).transpose()?.unwrap_or_default());
    }
    let none = Members::default();
    for (name, of) in [("cause", "cause"), ("cause_s", "seconds")] {
        let cells = (0..numbers.len()).map(|k| causes.get(k).unwrap_or(&none).get(of));
        let _ = write!(text, "{}:[{}],", string(name), cells.collect::<Vec<_>>().join(","));
    }
    let ranks: Vec<String> = (0..numbers.len()).map(|k| k.to_string()).collect();
    let _ = write!(text, "\"rank\":[{}]}},\"left_out\":{left_out}}}", ranks.join(","));
    Ok(text)
}
