//! The data of a report's page, as Python asks for it.

use super::Analysis;
use super::table::{capsule_reader, refused};
use super::watch::Watch;
use arrow_array::RecordBatchReader;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use report::{About, Copies, Gone, Limits, Source, States, Written};
use results::simulate::tables::RunTable;
use std::collections::HashMap;
use std::io;

/// A table `state` as an Arrow stream, and by its flows those that they are here.
type StateTable<'py> = (Bound<'py, PyAny>, HashMap<u32, Vec<u32>>);

/// One capture or run of a page, its packets and round trips ready to be asked.
#[pyclass(frozen, name = "ReportSource", module = "rexmit._core")]
pub struct PySource {
    analysis: Py<Analysis>,
    source: Source,
    states: States,
    label: String,
    place: Option<String>,
    run: Option<String>,
    view: String,
}

#[pymethods]
impl PySource {
    #[new]
    #[pyo3(signature = (
        analysis, number, label, *, place = None, run = None, view = String::new(), state = None,
        limits = HashMap::new(), progress = None
    ))]
    #[allow(clippy::too_many_arguments)] // they are keywords in Python
    fn new(
        py: Python<'_>,
        analysis: Py<Analysis>,
        number: usize,
        label: String,
        place: Option<String>,
        run: Option<String>,
        view: String,
        state: Option<StateTable<'_>>,
        limits: HashMap<String, usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<PySource> {
        let states = states(analysis.get(), state)?;
        let limits = limited(&limits)?;
        let mut watch = Watch::new(progress);
        let found = &analysis.get().found;
        let mut go_on = |done, all| watch.goes_on(|| (done, Some(all), 0));
        let read = py.detach(|| Source::read(found, number, limits, &mut go_on));
        let source = match (watch.failed, read) {
            (Some(failed), _) => return Err(failed),
            (None, Err(e)) if e.kind() == io::ErrorKind::Interrupted => {
                return Err(PyKeyboardInterrupt::new_err(()));
            }
            (None, read) => read?,
        };
        Ok(PySource { analysis, source, states, label, place, run, view })
    }
    #[getter]
    fn number(&self) -> usize {
        self.source.number
    }
    #[getter]
    fn label(&self) -> &str {
        &self.label
    }
    /// Rows of packets: a SYN has one in each direction.
    fn __len__(&self) -> usize {
        self.source.packets.size()
    }
    fn holds(&self, flow: u32) -> bool {
        !self.source.packets.of(flow).is_empty()
    }
    fn window<'py>(
        &self,
        py: Python<'py>,
        flow: u32,
        from_ns: i64,
        to_ns: i64,
        columns: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let found = py.detach(|| self.source.window(flow, from_ns, to_ns, columns));
        Ok(PyBytes::new(py, &found.map_err(PyValueError::new_err)?))
    }
    fn rtt<'py>(
        &self,
        py: Python<'py>,
        flow: u32,
        from_ns: i64,
        to_ns: i64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let found = py.detach(|| self.source.round_trips(flow, from_ns, to_ns));
        Ok(PyBytes::new(py, &found.map_err(PyValueError::new_err)?))
    }
    fn levels<'py>(&self, py: Python<'py>, flow: u32, most: u32) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        if most == 0 {
            return Err(PyValueError::new_err("most = 0: at least one bin"));
        }
        let made = py.detach(|| self.source.levels_in(flow, most));
        Ok(made.iter().map(|level| PyBytes::new(py, level)).collect())
    }
    fn warm(&self, py: Python<'_>, flow: u32) {
        py.detach(|| self.source.warm(flow));
    }
    fn load(&self, py: Python<'_>, flow: u32) -> PyResult<Option<String>> {
        Ok(py.detach(|| report::load(&self.about(), flow))?)
    }
    fn blob<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = py.detach(|| report::blob(&self.about(), name))?;
        Ok(found.map(|blob| PyBytes::new(py, &blob)))
    }
}

impl PySource {
    fn about(&self) -> About<'_> {
        let analysis = self.analysis.get();
        About {
            found: &analysis.found,
            beside: analysis.beside(),
            source: &self.source,
            states: &self.states,
            label: &self.label,
            place: self.place.as_deref(),
            run: self.run.as_deref(),
            view: &self.view,
        }
    }
}

/// What senders told of themselves: those of a run, or rows of a table with the flows here that a flow there is.
fn states(analysis: &Analysis, given: Option<StateTable<'_>>) -> PyResult<States> {
    let (mut states, origin) = (States::default(), analysis.found.facts.origin);
    if let Some(run) = analysis.run.as_ref().filter(|run| run.run_rows.holds(RunTable::State)) {
        for batch in run.run_rows.reader(RunTable::State)? {
            states.add(&batch.map_err(refused)?, origin, None).map_err(refused)?;
        }
    } else if let Some((table, flows)) = given {
        for batch in capsule_reader(&table)? {
            states.add(&batch.map_err(refused)?, origin, Some(&flows)).map_err(refused)?;
        }
    }
    Ok(states)
}

fn limited(asked: &HashMap<String, usize>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    match asked.iter().find(|(name, most)| !limits.set(name, **most)) {
        Some((name, _)) => Err(PyValueError::new_err(format!("{name:?} is no limit of a page"))),
        None => Ok(limits),
    }
}

fn abouts(sources: &[Py<PySource>]) -> Vec<About<'_>> {
    sources.iter().map(|source| source.get().about()).collect()
}

type File<'py> = (String, Vec<String>, HashMap<String, Bound<'py, PyBytes>>);

/// Sources as a file holds them: of each JSON, sentences about what it leaves out, and blobs in raw deflate.
#[pyfunction]
pub fn report_file(py: Python<'_>, sources: Vec<Py<PySource>>, firsts: Vec<u32>) -> PyResult<Vec<File<'_>>> {
    let written = py.detach(|| report::written(&abouts(&sources), &firsts))?;
    let file = |Written { text, notes, blobs }: Written| {
        let bytes = blobs.into_iter().map(|(name, blob)| (name, PyBytes::new(py, &blob)));
        (text, notes, bytes.collect())
    };
    Ok(written.into_iter().map(file).collect())
}

/// Sources whose packets are asked for, as JSON.
#[pyfunction]
pub fn report_view(py: Python<'_>, sources: Vec<Py<PySource>>, firsts: Vec<u32>) -> PyResult<Vec<String>> {
    Ok(py.detach(|| report::served(&abouts(&sources), &firsts))?)
}

/// META that tells of nothing as yet.
#[pyfunction]
pub fn report_meta() -> PyResult<String> {
    Ok(report::meta("", "", "", &[], &[])?)
}

/// How much a page holds, by name.
#[pyfunction]
pub fn report_limits() -> HashMap<&'static str, usize> {
    Limits::default().all().into_iter().collect()
}

/// Columns of numbers as a container.
#[pyfunction]
pub fn report_table<'py>(py: Python<'py>, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let reader = capsule_reader(table)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    Ok(PyBytes::new(py, &report::container::table(&schema, &batches).map_err(refused)?))
}

/// Which packets were lost, as bursts tell: 1 for these. bursts: of each when its first and its last copy were sent, its
/// first sequence number, the one behind its last, and how many copies it has (0: not known).
#[pyfunction]
pub fn lost_copies<'py>(
    py: Python<'py>,
    time_ns: Vec<i64>,
    data: Vec<u8>,
    seq: Vec<i64>,
    len: Vec<u32>,
    bursts: Vec<(i64, i64, i64, i64, usize)>,
) -> PyResult<Bound<'py, PyBytes>> {
    if [data.len(), seq.len(), len.len()] != [time_ns.len(); 3] {
        return Err(PyValueError::new_err("the columns are not of one length"));
    }
    let gone: Vec<Gone> = bursts
        .into_iter()
        .map(|(first_ns, last_ns, low, high, copies)| Gone { first_ns, last_ns, low, high, copies })
        .collect();
    let mut lost = vec![0; time_ns.len()];
    for place in report::lost_among(&Copies { time_ns: &time_ns, data: &data, seq: &seq, len: &len }, &gone) {
        lost[place] = 1;
    }
    Ok(PyBytes::new(py, &lost))
}

/// JSON in which what would be obeyed is drawn.
#[pyfunction]
pub fn report_visible(json: &str) -> String {
    report::visible(json)
}

/// The same as it may stand in an element of a page.
#[pyfunction]
pub fn report_in_html(json: &str) -> String {
    report::in_html(json)
}
