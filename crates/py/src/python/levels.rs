//! Packets as bins of time, for reports: columns come as an Arrow stream, bins leave as one.

use super::table::{STREAM, capsule};
use analysis::rows::Cause;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt8Type, UInt32Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, UInt32Array};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyramid::{Grid, Range, Rows, Sack};
use results::names::in_column;
use std::sync::Arc;

/// A packet's cause is its place in the list of causes, from 1.
const CAUSES: usize = Cause::ALL.len();
type Bin = pyramid::Bin<CAUSES>;
type Level = pyramid::Level<CAUSES>;

/// Bins of one length; made of a stream of packets, or of finer ones.
#[pyclass(frozen, name = "Level", module = "rexmit._core")]
pub struct PyLevel(Level);

#[pymethods]
impl PyLevel {
    #[getter]
    fn start_ns(&self) -> i64 {
        self.0.grid().start_ns
    }
    #[getter]
    fn bin_ns(&self) -> i64 {
        self.0.grid().bin_ns
    }
    #[getter]
    fn bins(&self) -> u32 {
        self.0.grid().bins
    }
    fn coarser(&self, py: Python<'_>, times: u32) -> PyResult<PyLevel> {
        if times < 2 {
            return Err(PyValueError::new_err(format!("times = {times}: 2 or more")));
        }
        Ok(PyLevel(py.detach(|| self.0.coarser(times))))
    }
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let batch = py.detach(|| table(&self.0)).map_err(refused)?;
        let schema = batch.schema();
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
        capsule(py, stream, requested_schema)
    }
}

/// Packets, and round trips beside them, in bins: as many as hold both ends of the time, `most` at most.
#[pyfunction]
#[pyo3(signature = (packets, start_ns, end_ns, most, rtts = None))]
pub fn level(
    py: Python<'_>,
    packets: &Bound<'_, PyAny>,
    start_ns: i64,
    end_ns: i64,
    most: u32,
    rtts: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyLevel> {
    if most == 0 || end_ns < start_ns {
        let says =
            format!("{most} bins from {start_ns} to {end_ns}: at least one, and an end behind its start");
        return Err(PyValueError::new_err(says));
    }
    let mut level = Level::new(Grid::over(start_ns, end_ns, most));
    let mut add = |stream: &Bound<'_, PyAny>,
                   each: fn(&mut Level, &RecordBatch) -> Result<(), ArrowError>| {
        for batch in reader(stream)? {
            py.check_signals()?;
            let batch = batch.map_err(refused)?;
            py.detach(|| each(&mut level, &batch)).map_err(refused)?;
        }
        Ok::<(), PyErr>(())
    };
    add(packets, add_packets)?;
    if let Some(rtts) = rtts {
        add(rtts, add_rtts)?;
    }
    Ok(PyLevel(level))
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` has it
fn refused(e: ArrowError) -> PyErr {
    PyValueError::new_err(e.to_string())
}

/// Whatever exports an Arrow stream (PyCapsule interface), read batch by batch.
fn reader(stream: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = stream.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a stream; `from_raw` moves it out and leaves a released one behind.
    unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) }.map_err(refused)
}

fn add_packets(level: &mut Level, batch: &RecordBatch) -> Result<(), ArrowError> {
    let mut sack = [Sack::default(); 4];
    for (k, block) in (1..).zip(&mut sack) {
        let end = |end: &str| column::<Int64Type>(batch, &format!("sack{k}_{end}"));
        *block = Sack { start: end("start")?, end: end("end")? };
    }
    let rows = Rows {
        time_ns: column::<Int64Type>(batch, "time_ns")?,
        data: column::<UInt8Type>(batch, "data")?,
        seq: column::<Int64Type>(batch, "seq")?,
        len: column::<UInt32Type>(batch, "len")?,
        ack: column::<Int64Type>(batch, "ack")?,
        window: column::<Int64Type>(batch, "window")?,
        sack,
        dsack: column::<UInt8Type>(batch, "dsack")?,
        cause: column::<UInt8Type>(batch, "cause")?,
        flight: column::<Int64Type>(batch, "flight")?,
        lost: column::<UInt8Type>(batch, "lost")?,
        needless: column::<UInt8Type>(batch, "needless")?,
    };
    level.add(&rows).map_err(|name| ArrowError::SchemaError(format!("column {name} is too short")))
}

fn add_rtts(level: &mut Level, batch: &RecordBatch) -> Result<(), ArrowError> {
    level.add_rtts(column::<Int64Type>(batch, "time_ns")?, column::<UInt32Type>(batch, "rtt_us")?);
    Ok(())
}

fn column<'a, T: ArrowPrimitiveType>(
    batch: &'a RecordBatch,
    name: &str,
) -> Result<&'a [T::Native], ArrowError> {
    let found = batch.column_by_name(name).and_then(|c| c.as_primitive_opt::<T>());
    let found = found.filter(|c| c.nulls().is_none_or(|nulls| nulls.null_count() == 0));
    let lacks =
        || ArrowError::SchemaError(format!("column {name}: {} without nulls is wanted", T::DATA_TYPE));
    found.map(|c| c.values().as_ref()).ok_or_else(lacks)
}

/// A row for each bin in which something happened.
fn table(level: &Level) -> Result<RecordBatch, ArrowError> {
    let all: Vec<(u32, &Bin)> = level.taken().collect();
    let count = |of: &dyn Fn(&Bin) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(all.iter().map(|(_, bin)| of(bin))))
    };
    let whole = |of: &dyn Fn(&Bin) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(all.iter().map(|(_, bin)| of(bin).max(-1))))
    };
    let places = UInt32Array::from_iter_values(all.iter().map(|(place, _)| *place));
    let bytes = Float64Array::from_iter_values(all.iter().map(|(_, bin)| bin.bytes as f64));
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("bin".into(), Arc::new(places)),
        ("packets".into(), count(&|bin| bin.packets)),
        ("bytes".into(), Arc::new(bytes)),
        ("ack_max".into(), whole(&|bin| bin.ack_most)),
        ("edge_max".into(), whole(&|bin| bin.edge_most)),
        ("lost".into(), count(&|bin| bin.lost)),
        ("needless".into(), count(&|bin| bin.needless)),
        ("sack".into(), count(&|bin| bin.sack)),
        ("dsack".into(), count(&|bin| bin.dsack)),
        ("flight_max".into(), whole(&|bin| bin.flight_most)),
    ];
    for (k, &cause) in Cause::ALL.iter().enumerate() {
        columns.push((format!("again_{}", in_column(cause)), count(&|bin| bin.again[k])));
    }
    let mut ends = |name: &str, unit: &str, of: &dyn Fn(&Bin) -> Range| {
        let ends = |bin: &Bin| of(bin).ends().unwrap_or((-1, -1));
        columns.push((format!("{name}_min{unit}"), whole(&|bin| ends(bin).0)));
        columns.push((format!("{name}_max{unit}"), whole(&|bin| ends(bin).1)));
    };
    ends("seq", "", &|bin| bin.seq);
    ends("lost", "", &|bin| bin.lost_seq);
    ends("again", "", &|bin| bin.again_seq);
    ends("sack", "", &|bin| bin.sack_seq);
    ends("rtt", "_us", &|bin| bin.rtt_us);
    RecordBatch::try_from_iter(columns)
}
