//! What senders told of themselves: the rows of the table `state`, by flow.

use crate::container::{Column, Values, pack};
use crate::text::list;
use analysis::rows::FlowId;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, TimestampNanosecondType, UInt32Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::ArrowError;
use std::collections::{BTreeSet, HashMap};
use wire::Time;

/// The rows of one sender, in the order of the table.
#[derive(Default)]
struct State {
    time_ns: Vec<f64>,
    /// Bytes; NaN where nobody told.
    cwnd: Vec<f64>,
    ssthresh: Vec<f64>,
    phase: Vec<String>,
    /// 0 where there is none.
    srtt_us: Vec<u32>,
    rto_us: Vec<u32>,
}

#[derive(Default)]
pub struct States(HashMap<FlowId, State>);

impl States {
    /// Rows of the table. flows: those of the capture that a flow of the table is, by its number there; None: it has the
    /// same number.
    pub fn add(
        &mut self,
        batch: &RecordBatch,
        origin: Time,
        flows: Option<&HashMap<FlowId, Vec<FlowId>>>,
    ) -> Result<(), ArrowError> {
        let column = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| ArrowError::SchemaError(format!("no column {name}")))
        };
        let other = |name: &str| ArrowError::SchemaError(format!("column {name} is of another type"));
        let real = |name: &str| column(name)?.as_primitive_opt::<Float64Type>().ok_or_else(|| other(name));
        let flow = column("flow")?.as_primitive_opt::<UInt32Type>().ok_or_else(|| other("flow"))?;
        let time =
            column("time")?.as_primitive_opt::<TimestampNanosecondType>().ok_or_else(|| other("time"))?;
        let phase = column("phase")?.as_string_opt::<i32>().ok_or_else(|| other("phase"))?;
        let (cwnd, ssthresh) = (real("cwnd_bytes")?, real("ssthresh_bytes")?);
        let (srtt, rto) = (real("srtt_s")?, real("rto_s")?);
        let micro = |seconds: f64| (seconds * 1e6).round_ties_even() as u32;
        for row in (0..batch.num_rows()).filter(|&row| flow.is_valid(row) && time.is_valid(row)) {
            let told = |column: &arrow_array::Float64Array, none: f64| {
                if column.is_valid(row) { column.value(row) } else { none }
            };
            let own = [flow.value(row)];
            let here = match flows {
                Some(known) => known.get(&own[0]).map_or(&[][..], Vec::as_slice),
                None => &own,
            };
            for flow in here {
                let state = self.0.entry(*flow).or_default();
                state.time_ns.push((time.value(row) - origin.0) as f64);
                state.cwnd.push(told(cwnd, f64::NAN));
                state.ssthresh.push(told(ssthresh, f64::NAN));
                state.phase.push(if phase.is_valid(row) { phase.value(row) } else { "" }.to_owned());
                state.srtt_us.push(micro(told(srtt, 0.0)));
                state.rto_us.push(micro(told(rto, 0.0)));
            }
        }
        Ok(())
    }

    pub fn rows(&self, flow: FlowId) -> usize {
        self.0.get(&flow).map_or(0, |state| state.time_ns.len())
    }

    /// As a page reads them.
    pub fn container(&self, flow: FlowId) -> Vec<u8> {
        let none = State::default();
        let state = self.0.get(&flow).unwrap_or(&none);
        let words: BTreeSet<&str> = state.phase.iter().map(String::as_str).collect();
        let places: HashMap<&str, u8> = words.iter().copied().zip(0..).collect();
        let columns = [
            Column::of("time_ns", Values::F64(state.time_ns.clone()), true),
            Column::of("cwnd", Values::F64(state.cwnd.clone()), false),
            Column::of("ssthresh", Values::F64(state.ssthresh.clone()), false),
            Column::of(
                "phase",
                Values::U8(
                    state.phase.iter().map(|word| places.get(word.as_str()).copied().unwrap_or(0)).collect(),
                ),
                false,
            ),
            Column::of("srtt_us", Values::U32(state.srtt_us.clone()), false),
            Column::of("rto_us", Values::U32(state.rto_us.clone()), false),
        ];
        pack("table", &columns, &format!(",\"words\":{{\"phase\":{}}}", list(words)))
    }
}
