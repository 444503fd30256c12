//! One flow as a page tells it: its row, its answer, its lists.

use crate::lists::Lists;
use crate::members::Members;
use crate::text::string;
use analysis::rows::IntervalRow;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampNanosecondType, UInt32Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use results::simulate::outages::Labels;
use results::tables::batch;
use results::tables::column::Columns;
use results::tables::rows::{BurstColumns, EpisodeColumns, IdleColumns};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;
use std::io;
use std::sync::Arc;
use wire::Time;

/// Bursts, episodes and gaps that a page lists of a flow: the heaviest, in order of time.
const MOST_LISTED: usize = 4096;
/// Intervals of a flow; of more, neighbours are added up.
const MOST_INTERVALS: usize = 10_000;
/// What of the flow's JSON is no part of its row.
const LISTS: [&str; 5] = ["bursts", "episodes", "idle", "outages", "answer"];
/// What says something of a flow of many segments.
const OF_LARGE: [&str; 16] = [
    "paper_rto",
    "timers",
    "inference",
    "first_data_s",
    "last_data_s",
    "probes",
    "burst_mean",
    "burst_largest",
    "max_backoff",
    "idle_blocked_s",
    "idle_longest_s",
    "acks",
    "flight_max_bytes",
    "window",
    "ecn",
    "too_large",
];

/// Everything of a flow but its packets, as members of an object. told: the flow as docs/json.md has it. brief: without
/// what only a large flow shows. outages: those that a run knows.
pub fn members(
    told: &Members,
    lists: &Lists,
    origin: Time,
    brief: bool,
    outages: Option<&Labels>,
) -> io::Result<String> {
    let out = if brief { [&LISTS[..], &OF_LARGE].concat() } else { LISTS.to_vec() };
    let mut text = format!(
        "\"row\":{},\"answer\":{},\"outages\":{}",
        told.without(&out),
        told.get("answer"),
        told.get("outages")
    );
    let episodes = heaviest(&lists.episodes, |e| e.cost.map_or(0, |c| c.0), |e| e.start);
    let bursts = heaviest(&lists.bursts, |b| b.lost_segments as i64, |b| b.start);
    let idle = heaviest(&lists.idle, |i| (i.end - i.start).0, |i| i.start);
    let left_out = [
        ("episodes", lists.episodes.len() - episodes.len()),
        ("bursts", lists.bursts.len() - bursts.len()),
        ("idle", lists.idle.len() - idle.len()),
    ];
    let of_episodes = outages.map(|known| episodes.iter().map(|row| known.of_episode(row)).collect());
    let of_bursts = outages.map(|known| bursts.iter().map(|row| known.of_burst(row)).collect());
    listed::<EpisodeColumns>(&mut text, "episodes", episodes, told, origin, of_episodes)?;
    listed::<BurstColumns>(&mut text, "bursts", bursts, told, origin, of_bursts)?;
    listed::<IdleColumns>(&mut text, "idle", idle, told, origin, None)?;
    let left_out: Vec<String> = left_out.iter().map(|(name, n)| format!("\"{name}\":{n}")).collect();
    let _ = write!(text, ",\"left_out\":{{{}}},\"intervals\":", left_out.join(","));
    intervals(&mut text, &lists.intervals, origin, brief);
    Ok(text)
}

/// The heaviest rows in order of time.
fn heaviest<R: Clone>(rows: &[R], weight: impl Fn(&R) -> i64, start: impl Fn(&R) -> Time) -> Vec<R> {
    let mut all: Vec<&R> = rows.iter().collect();
    if all.len() > MOST_LISTED {
        all.sort_by_key(|row| Reverse(weight(row)));
        all.truncate(MOST_LISTED);
    }
    all.sort_by_key(|row| start(row));
    all.into_iter().cloned().collect()
}

/// Rows of a table with their times in ns, how sure they are where the answer says so, and what a run knows of each: the
/// outage that it is due to.
fn listed<C: Columns>(
    text: &mut String,
    name: &str,
    rows: Vec<C::Row>,
    told: &Members,
    origin: Time,
    outages: Option<Vec<Option<Arc<str>>>>,
) -> io::Result<()> {
    let mut known = HashMap::new();
    for row in told.each(name)? {
        let start = row.number("start_s").unwrap_or_default();
        known.insert((start * 1e9).round_ties_even() as i64, row);
    }
    let batch = batch::<C>(rows).map_err(io::Error::other)?;
    let _ = write!(text, ",\"{name}\":[");
    for row in 0..batch.num_rows() {
        text.push_str(if row == 0 { "{" } else { ",{" });
        let start = put_row(text, &batch, row, origin).map_err(io::Error::other)?;
        if let Some(sure) = start.and_then(|start| known.get(&start)) {
            let of_the_answer = ["certainty", "evidence", "outage"];
            let of_the_answer = if outages.is_some() { &of_the_answer[..2] } else { &of_the_answer[..] };
            for member in of_the_answer.iter().filter(|member| sure.has(member)) {
                let _ = write!(text, ",\"{member}\":{}", sure.get(member));
            }
        }
        if let Some(outages) = &outages {
            let outage = outages[row].as_deref().map_or("null".into(), string);
            let _ = write!(text, ",\"outage\":{outage}");
        }
        text.push('}');
    }
    text.push(']');
    Ok(())
}

/// The cells of a row as members, instants as whole ns since the origin; gives the one that it starts at.
fn put_row(
    text: &mut String,
    batch: &RecordBatch,
    row: usize,
    origin: Time,
) -> Result<Option<i64>, ArrowError> {
    let mut start = None;
    let mut comma = "";
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let name = field.name();
        if name == "flow" {
            continue;
        }
        if let DataType::Timestamp(..) = field.data_type() {
            let at = column.as_primitive::<TimestampNanosecondType>();
            let at = at.is_valid(row).then(|| at.value(row) - origin.0);
            if name == "start" {
                start = at;
            }
            let at = at.map_or("null".into(), |ns| ns.to_string());
            let _ = write!(text, "{comma}\"{name}_ns\":{at}");
        } else {
            let _ = write!(text, "{comma}\"{name}\":{}", cell(column, row)?);
        }
        comma = ",";
    }
    Ok(start)
}

/// A cell as JSON.
pub fn cell(column: &dyn Array, row: usize) -> Result<String, ArrowError> {
    if column.is_null(row) {
        return Ok("null".into());
    }
    Ok(match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::Float64 => number(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Utf8 => string(column.as_string::<i32>().value(row)),
        other => return Err(ArrowError::SchemaError(format!("a cell of type {other}"))),
    })
}

/// Null for what is no number.
pub fn number(value: f64) -> String {
    serde_json::Number::from_f64(value).map_or("null".into(), |n| n.to_string())
}

/// The table `intervals` as columns, with how long each is.
fn intervals(text: &mut String, rows: &[IntervalRow], origin: Time, brief: bool) {
    let step = rows.len().div_ceil(MOST_INTERVALS).max(1);
    let parts: Vec<&[IntervalRow]> = rows.chunks(step).collect();
    let mut comma = "{";
    let mut column = |name: &str, of: &dyn Fn(&[IntervalRow]) -> i64| {
        let values: Vec<String> = parts.iter().map(|part| of(part).to_string()).collect();
        let _ = write!(text, "{comma}\"{name}\":[{}]", values.join(","));
        comma = ",";
    };
    column("start_ns", &|part| part[0].start.0 - origin.0);
    column("sent_bytes", &|part| part.iter().map(|i| i.sent_bytes as i64).sum());
    column("new_bytes", &|part| part.iter().map(|i| i.new_bytes as i64).sum());
    column("acked_bytes", &|part| part.iter().map(|i| i.acked_bytes as i64).sum());
    if !brief {
        column("retransmitted_segments", &|part| {
            part.iter().map(|i| i64::from(i.retransmitted_segments)).sum()
        });
        column("duplicate_acks", &|part| part.iter().map(|i| i64::from(i.duplicate_acks)).sum());
        column("flight_max_bytes", &|part| part.iter().map(|i| i.flight_max_bytes as i64).max().unwrap_or(0));
    }
    let shortest = rows.windows(2).map(|pair| (pair[1].start - pair[0].start).as_secs()).reduce(f64::min);
    let length = shortest.map_or("null".into(), |s| number(s * step as f64));
    let _ = write!(text, ",\"length_s\":{length}}}");
}
