//! A table of what was found, handed to Python through Arrow's stream interface.

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use results::connections::{CauseRow, OwnerRow};
use results::run::Findings;
use results::simulate::Played;
use results::simulate::gather::{self, AnyTable, Gathered};
use results::simulate::series::AllSeries;
use results::simulate::tables::RunTable;
use results::spool::Table;
use results::traffic::Counted;
use results::{simulate, tables};
use std::ffi::CStr;
use std::sync::Arc;

/// The table that is made of the answers when it is asked for.
pub(super) const CAUSES: &str = "causes";
/// So is the table of who owns each moment.
pub(super) const OWNERS: &str = "owners";

/// Whose rows a table shows.
pub(super) enum Source {
    Analysis(Arc<Findings>, Table),
    /// What was found in a simulated run.
    Found(Arc<Findings>, Arc<Played>, Table),
    /// What the time of each connection went to.
    Causes(Arc<Vec<CauseRow>>),
    /// Who owns each moment of each connection.
    Owners(Arc<Vec<OwnerRow>>),
    Run(Arc<Played>, RunTable),
    Many(Arc<Gathered>, AnyTable),
    Series(Arc<AllSeries>),
    Traffic(Arc<Counted>),
}

/// The name that the Arrow PyCapsule interface gives a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// Whatever exports an Arrow stream (PyCapsule interface), read batch by batch.
pub(super) fn capsule_reader(stream: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = stream.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds such a stream; `from_raw` moves it out and leaves a released one behind.
    unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) }.map_err(refused)
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` has it
pub(super) fn refused(e: ArrowError) -> PyErr {
    PyValueError::new_err(e.to_string())
}

/// A stream as Python hands it on.
fn capsule<'py>(
    py: Python<'py>,
    stream: FFI_ArrowArrayStream,
    requested_schema: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    // A request for another schema is a wish: whoever asks casts what comes (Arrow PyCapsule interface).
    drop(requested_schema);
    PyCapsule::new_with_value(py, stream, STREAM)
}

#[pyclass(frozen, name = "Table", module = "rexmit._core")]
pub struct PyTable(pub(super) Source);

#[pymethods]
impl PyTable {
    #[getter]
    fn name(&self) -> &'static str {
        match &self.0 {
            Source::Analysis(_, table) | Source::Found(_, _, table) => table.name(),
            Source::Run(_, table) => table.name(),
            Source::Many(_, table) => table.name(),
            Source::Causes(_) => CAUSES,
            Source::Owners(_) => OWNERS,
            Source::Series(_) => "series",
            Source::Traffic(_) => "bins",
        }
    }
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = match &self.0 {
            Source::Analysis(_, table) => tables::schema(*table),
            Source::Found(_, _, table) => simulate::labelled::found_schema(*table),
            Source::Run(_, table) => simulate::tables::schema(*table),
            Source::Many(_, table) => gather::schema(*table),
            Source::Causes(_) => tables::schema_of_causes(),
            Source::Owners(_) => tables::schema_of_owners(),
            Source::Series(_) => AllSeries::schema(),
            Source::Traffic(_) => Counted::schema(),
        };
        schema.fields().iter().map(|f| f.name().clone()).collect()
    }
    fn __len__(&self) -> PyResult<usize> {
        usize::try_from(self.rows()).map_err(|e| PyIndexError::new_err(e.to_string()))
    }
    fn __repr__(&self) -> String {
        format!("<rexmit table {}: {} rows>", self.name(), self.rows())
    }
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let stream = self.stream().map_err(|e| PyOSError::new_err(e.to_string()))?;
        capsule(py, stream, requested_schema)
    }
}

impl PyTable {
    fn rows(&self) -> u64 {
        match &self.0 {
            Source::Analysis(found, table) | Source::Found(found, _, table) => found.shelf.len(*table),
            Source::Run(run, table) => run.run_rows.len(*table),
            Source::Many(rows, table) => rows.rows(*table),
            Source::Causes(rows) => rows.len() as u64,
            Source::Owners(rows) => rows.len() as u64,
            Source::Series(series) => series.rows(),
            Source::Traffic(counted) => counted.rows(),
        }
    }
    fn stream(&self) -> Result<FFI_ArrowArrayStream, ArrowError> {
        match &self.0 {
            Source::Analysis(found, table) => tables::stream(&found.shelf, *table),
            Source::Found(found, run, table) => {
                Ok(simulate::labelled::found(&found.shelf, &run.run_rows, *table)?)
            }
            Source::Run(run, table) => Ok(FFI_ArrowArrayStream::new(run.run_rows.reader(*table)?)),
            Source::Many(rows, table) => Ok(rows.stream(*table)?),
            Source::Causes(rows) => Ok(tables::causes(Arc::clone(rows))),
            Source::Owners(rows) => Ok(tables::owners(Arc::clone(rows))),
            Source::Series(series) => Ok(FFI_ArrowArrayStream::new(series.reader())),
            Source::Traffic(counted) => Ok(FFI_ArrowArrayStream::new(counted.reader())),
        }
    }
}
