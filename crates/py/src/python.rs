//! What Python sees (python/rexmit/_core.pyi).

use analysis::rows::{EpisodeKind, Vantage};
use analysis::{Config, Wanted};
use capture::Options;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use reaching::PyReach;
use results::run::{self, Findings, Request};
use results::simulate::Played;
use results::simulate::tables::RunTable;
use results::spool::{Listing, Table};
use results::told::Told;
use results::traffic::Counted;
use results::{connections, json, workers};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use table::{PyTable, Source};
use watch::ReadingWatch;
use wire::Span;

#[cfg(target_os = "linux")]
mod bench;
mod documents;
mod drilled;
mod own;
mod reaching;
#[cfg(target_os = "linux")]
mod recording;
mod replaying;
mod report;
mod runs;
mod table;
mod told;
mod watch;

pyo3::create_exception!(rexmit._core, CaptureError, pyo3::exceptions::PyException, "Nothing could be read.");

pyo3::create_exception!(
    rexmit._core,
    LiveError,
    pyo3::exceptions::PyRuntimeError,
    "The live bench cannot run here, or could not go on: one sentence with the fix."
);

#[pyclass(frozen, module = "rexmit._core")]
struct Analysis {
    found: Arc<Findings>,
    /// Of a simulated run: what only the simulator knows.
    run: Option<Arc<Played>>,
    /// Of a recording: what the senders' kernels told.
    told: OnceLock<Told>,
}

#[pymethods]
impl Analysis {
    #[pyo3(signature = (top = 5))]
    fn overview(&self, py: Python<'_>, top: usize) -> PyResult<String> {
        let text =
            py.detach(|| json::overview::write(&self.found.facts, &self.found.shelf, self.beside(), top))?;
        String::from_utf8(text).map_err(|e| PyOSError::new_err(e.to_string()))
    }

    fn flow(&self, py: Python<'_>, number: u32) -> PyResult<Option<String>> {
        let found = &self.found;
        let mut told =
            py.detach(|| json::overview::flows(&found.facts, &found.shelf, self.beside(), &[number]))?;
        let text = told.remove(&number).filter(|text| !text.is_empty());
        text.map(|text| String::from_utf8(text).map_err(|e| PyOSError::new_err(e.to_string()))).transpose()
    }

    fn flows(&self, py: Python<'_>, numbers: Vec<u32>) -> PyResult<Vec<String>> {
        let found = &self.found;
        let told =
            py.detach(|| json::overview::flows(&found.facts, &found.shelf, self.beside(), &numbers))?;
        let texts = numbers.iter().filter_map(|number| told.get(number).filter(|text| !text.is_empty()));
        let text =
            |text: &Vec<u8>| String::from_utf8(text.clone()).map_err(|e| PyOSError::new_err(e.to_string()));
        texts.map(text).collect()
    }

    fn worst(&self, py: Python<'_>, top: usize) -> PyResult<Vec<u32>> {
        Ok(py.detach(|| json::overview::worst(&self.found.shelf, top))?)
    }

    fn audit(&self, py: Python<'_>, most: usize) -> PyResult<(u64, Vec<String>)> {
        let found = &self.found;
        Ok(py.detach(|| connections::audit(&found.facts, &found.shelf, self.told.get(), most))?)
    }

    fn write_json(&self, py: Python<'_>, fd: i32) -> PyResult<()> {
        let file = lent(py, fd)?;
        py.detach(|| json::write(&*file, &self.found.facts, &self.found.shelf, self.beside()))
            .map_err(|e| os_error(&e, None))
    }

    fn table(&self, name: &str) -> PyResult<PyTable> {
        if let (Some(run), Some(table)) = (&self.run, RunTable::named(name)) {
            return match run.run_rows.holds(table) {
                true => Ok(PyTable(Source::Run(Arc::clone(run), table))),
                false => Err(PyValueError::new_err(format!(
                    "table {name} was not kept: simulate with tables=(\"{name}\",)"
                ))),
            };
        }
        if [table::CAUSES, table::OWNERS].contains(&name) {
            return self.answered(name);
        }
        let table = Table::named(name).ok_or_else(|| no_table(name, self.run.is_some()))?;
        if self.found.shelf.is_narrowed() {
            let fix = format!("table {name} was not kept whole: analyze without listed_only");
            return Err(PyValueError::new_err(fix));
        }
        if !self.found.shelf.holds(table) {
            let fix = format!("table {name} was not kept: analyze with tables=(\"{name}\",)");
            return Err(PyValueError::new_err(fix));
        }
        let found = Arc::clone(&self.found);
        Ok(PyTable(match &self.run {
            Some(run) => Source::Found(found, Arc::clone(run), table),
            None => Source::Analysis(found, table),
        }))
    }

    fn records(&self, name: &str) -> bool {
        let table = RunTable::named(name);
        self.run.as_ref().zip(table).is_some_and(|(run, table)| run.run_rows.holds(table))
    }

    fn captures(&self) -> Vec<PathBuf> {
        self.run.as_ref().map_or(Vec::new(), |run| run.captures.clone())
    }

    fn failure(&self) -> Option<String> {
        self.run.as_ref().and_then(|run| run.report.failure())
    }

    fn tell(&self, flows: Vec<told::Flow>) -> PyResult<()> {
        let told = told::told(flows)?;
        self.told.set(told).map_err(|_| PyValueError::new_err("the kernel's word was told before"))
    }

    fn failed(&self) -> bool {
        self.found.has_failed()
    }

    fn interrupted(&self) -> bool {
        self.found.facts.interrupted
    }

    fn swapped(&self) -> bool {
        self.found.facts.swapped
    }
}

impl Analysis {
    fn of(found: Findings, run: Option<Played>) -> Analysis {
        Analysis { found: Arc::new(found), run: run.map(Arc::new), told: OnceLock::new() }
    }
    /// The outages that a run knows, and what a recording was told.
    /// What the time of each connection went to, altogether or moment by moment.
    fn answered(&self, name: &str) -> PyResult<PyTable> {
        let (facts, shelf) = (&self.found.facts, &self.found.shelf);
        if shelf.is_narrowed() {
            let fix = format!("table {name} needs what was not kept whole: analyze without listed_only");
            return Err(PyValueError::new_err(fix));
        }
        let source = match name {
            table::OWNERS => Source::Owners(Arc::new(connections::owners(facts, shelf, self.told.get())?)),
            _ => Source::Causes(Arc::new(connections::causes(facts, shelf, self.told.get())?)),
        };
        Ok(PyTable(source))
    }

    fn beside(&self) -> json::Beside<'_> {
        json::Beside {
            outages: self.run.as_ref().map(|run| run.run_rows.names().outages()),
            told: self.told.get(),
        }
    }
}

/// The file behind a descriptor of Python's, which stays the caller's: ManuallyDrop keeps it from being closed here.
#[cfg(not(windows))]
#[allow(clippy::unnecessary_wraps)] // on Windows it can fail
fn lent(_: Python<'_>, fd: i32) -> PyResult<ManuallyDrop<File>> {
    use std::os::fd::FromRawFd;
    // SAFETY: the caller lends the descriptor for as long as this call lasts.
    Ok(ManuallyDrop::new(unsafe { File::from_raw_fd(fd) }))
}

/// Windows' descriptors are the C library's own, and only Python knows with which one it was built.
#[cfg(windows)]
fn lent(py: Python<'_>, fd: i32) -> PyResult<ManuallyDrop<File>> {
    use std::os::windows::io::{FromRawHandle, RawHandle};
    let handle: isize = py.import("msvcrt")?.call_method1("get_osfhandle", (fd,))?.extract()?;
    // SAFETY: the caller lends the descriptor, and its handle with it, for as long as this call lasts.
    Ok(ManuallyDrop::new(unsafe { File::from_raw_handle(handle as RawHandle) }))
}

/// With its number, and the file's name, as Python's own errors have them.
fn os_error(e: &std::io::Error, file: Option<PathBuf>) -> PyErr {
    let text = e.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    match e.raw_os_error() {
        Some(number) => PyOSError::new_err((number, text, file)),
        None => PyOSError::new_err(text),
    }
}

fn span(name: &str, seconds: Option<f64>) -> PyResult<Option<Span>> {
    match seconds {
        Some(s) if !(0.0..=9e9).contains(&s) => {
            Err(PyValueError::new_err(format!("{name} = {s}: not a number of seconds from 0 on")))
        }
        s => Ok(s.map(Span::from_secs_f64)),
    }
}

/// The length of intervals, if any are wanted.
fn bin_width(seconds: Option<f64>) -> PyResult<Option<Span>> {
    match seconds {
        Some(s) if !(1e-9..=9e9).contains(&s) => {
            Err(PyValueError::new_err(format!("bin = {s}: must be above 0 seconds")))
        }
        s => Ok(s.map(Span::from_secs_f64)),
    }
}

fn vantage(name: &str) -> PyResult<Vantage> {
    match name {
        "sender" => Ok(Vantage::Sender),
        "receiver" => Ok(Vantage::Receiver),
        "middle" => Ok(Vantage::Middle),
        _ => Err(PyValueError::new_err(format!("at = {name:?}: one of sender, receiver, middle"))),
    }
}

/// `simulated`: the tables that only a simulator has are named, too.
fn no_table(name: &str, simulated: bool) -> PyErr {
    let own = RunTable::ALL.into_iter().filter(|_| simulated).map(RunTable::name);
    let all: Vec<&str> =
        Table::ALL.into_iter().map(Table::name).chain([table::CAUSES, table::OWNERS]).chain(own).collect();
    PyValueError::new_err(format!("{name:?} is no table: {}", all.join(", ")))
}

fn wanted(names: &[String], simulated: bool) -> PyResult<Wanted> {
    let mut wanted = Wanted::default();
    for name in names {
        match Table::named(name) {
            Some(Table::Retransmissions) => wanted.retransmissions = true,
            Some(Table::Intervals) => wanted.intervals = true,
            Some(Table::Rtt) => wanted.rtts = true,
            Some(Table::Packets) => wanted.packets = true,
            Some(_) => {}
            None => return Err(no_table(name, simulated)),
        }
    }
    Ok(wanted)
}

fn selection(e: capture::Error) -> PyErr {
    PyValueError::new_err(e.to_string())
}

/// More threads than these are not started, whatever is asked for.
const MOST_THREADS: usize = 64;
/// How many flows the JSON lists unless told otherwise.
const MOST_LISTED: usize = 10_000;

#[pyfunction]
#[pyo3(signature = (
    paths, *, receiver = None, flow = None, host = None, port = None, start = None, end = None, at = None,
    idle = None, interval = 1.0, checksums = false, tables = Vec::new(), flows = Some(MOST_LISTED),
    listed_only = false, max_memory = None, threads = None, like = false, within = None, progress = None
))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
fn analyze(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    receiver: Option<Vec<PathBuf>>,
    flow: Option<&str>,
    host: Option<&str>,
    port: Option<u16>,
    start: Option<f64>,
    end: Option<f64>,
    at: Option<&str>,
    idle: Option<f64>,
    interval: f64,
    checksums: bool,
    tables: Vec<String>,
    flows: Option<usize>,
    listed_only: bool,
    max_memory: Option<u64>,
    threads: Option<usize>,
    like: bool,
    within: Option<Py<PyReach>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Analysis> {
    if interval <= 0.0 {
        return Err(PyValueError::new_err(format!("interval = {interval}: must be above 0 seconds")));
    }
    let options = Options {
        flow: flow.map(capture::parse_flow).transpose().map_err(selection)?,
        host: host.map(capture::parse_host).transpose().map_err(selection)?,
        port,
        from: span("start", start)?,
        to: span("end", end)?,
        verify_checksums: checksums,
        reach: PyReach::of(within.as_ref()),
    };
    let config = Config {
        vantage: at.map(vantage).transpose()?,
        idle: span("idle", idle)?,
        interval: span("interval", Some(interval))?.unwrap_or(Span::from_secs(1)),
        wanted: wanted(&tables, false)?,
        ..Config::default()
    };
    let listing = Listing { most: flows, only: listed_only };
    let threads = match threads {
        Some(0) => return Err(PyValueError::new_err("threads = 0: must be at least 1")),
        Some(n) => n.min(MOST_THREADS),
        None => workers::usual(&paths),
    };
    let request = Request {
        paths,
        receiver: receiver.unwrap_or_default(),
        options,
        config,
        listing,
        max_memory,
        threads,
        ..Request::default()
    };
    let watch = ReadingWatch::new(progress);
    let found = py.detach(|| run::analyze(&request, Some(watch.patience()), &mut |p| watch.goes_on(p)));
    watch.failure()?;
    let mut found = found.map_err(CaptureError::new_err)?;
    if like && !found.facts.interrupted {
        replaying::infer_stack(py, &mut found, &request.paths, &request.options)?;
    }
    Ok(Analysis::of(found, None))
}

/// Asks Python about Ctrl-C now and then.
fn undisturbed(failed: &mut Option<PyErr>) -> bool {
    match Python::attach(|py| py.check_signals()) {
        Ok(()) => true,
        Err(e) => {
            *failed = Some(e);
            false
        }
    }
}

#[pyfunction]
#[pyo3(signature = (analysis, paths, out, answer = ""))]
fn annotate(
    py: Python<'_>,
    analysis: &Analysis,
    paths: Vec<PathBuf>,
    out: PathBuf,
    answer: &str,
) -> PyResult<u64> {
    let shelf = &analysis.found.shelf;
    if !shelf.holds(Table::Retransmissions) || !shelf.holds(Table::Packets) {
        let fix = "annotate: retransmissions and packets were not kept: \
                    analyze with tables=(\"retransmissions\", \"packets\")";
        return Err(PyValueError::new_err(fix));
    }
    let mut failed = None;
    let done = py.detach(|| {
        let owners = connections::owners(&analysis.found.facts, shelf, analysis.told.get())?;
        let comments = results::annotate::comments(shelf, &owners)?;
        let go_on = |_| undisturbed(&mut failed);
        Ok::<_, std::io::Error>(capture::annotate(&paths, &out, answer, comments, go_on))
    });
    match (failed, done) {
        (Some(e), _) => Err(e),
        (None, Err(spool)) => Err(spool.into()),
        // With its number and the file's name, as Python's own.
        (None, Ok(Err(capture::Error::Write { reason, .. }))) => Err(os_error(&reason, Some(out))),
        (None, Ok(Err(e))) => Err(CaptureError::new_err(e.to_string())),
        (None, Ok(Ok(done))) => Ok(done.comments),
    }
}

/// Whether `annotate` wrote this file and nobody rewrote it since.
#[pyfunction]
fn is_annotated(path: PathBuf) -> PyResult<bool> {
    capture::is_annotated(&path).map_err(|e| os_error(&e, Some(path)))
}

/// What a capture holds, frame by frame.
#[pyclass(frozen, module = "rexmit._core")]
struct Traffic(Arc<Counted>);

#[pymethods]
impl Traffic {
    fn overview(&self) -> PyResult<String> {
        String::from_utf8(self.0.json()).map_err(|e| PyOSError::new_err(e.to_string()))
    }
    fn bins(&self) -> PyTable {
        PyTable(Source::Traffic(Arc::clone(&self.0)))
    }
}

#[pyfunction]
#[pyo3(signature = (paths, *, bin, progress = None))]
fn traffic(py: Python<'_>, paths: Vec<PathBuf>, bin: f64, progress: Option<Py<PyAny>>) -> PyResult<Traffic> {
    let width = bin_width(Some(bin))?.unwrap_or(Span::from_secs(1));
    let watch = ReadingWatch::new(progress);
    let found = py.detach(|| capture::traffic(&paths, width, Some(watch.patience()), |p| watch.goes_on(p)));
    watch.failure()?;
    let found = found.map_err(|e| CaptureError::new_err(e.to_string()))?;
    Ok(Traffic(Arc::new(Counted { found, width })))
}

#[pyfunction]
fn closed_sets() -> PyResult<String> {
    String::from_utf8(results::names::closed_sets()).map_err(|e| PyValueError::new_err(e.to_string()))
}

#[pyfunction]
fn one_per_timeout(kind: &str, timeouts: u32, lost_segments: u32) -> bool {
    EpisodeKind::ALL.iter().any(|k| k.name() == kind && k.one_per_timeout(timeouts, lost_segments))
}

#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::LiveError;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::bench::{live, live_check, live_clean, live_many};
    #[pymodule_export]
    use super::documents::document;
    #[pymodule_export]
    use super::drilled::{drill, drill_altered};
    #[pymodule_export]
    use super::own::driving::PyDriving;
    #[pymodule_export]
    use super::own::facts::{
        PyAckFacts, PyDelivery, PyDetectFacts, PyHorizon, PyLossFacts, PyPatience, PyProgress, PyRateSample,
        PyRepairFacts, PyVerdict, PyWindow,
    };
    #[pymodule_export]
    use super::reaching::{OutsideError, PyReach};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::recording::{record, record_filter};
    #[pymodule_export]
    use super::replaying::{rank_stacks, replay};
    #[pymodule_export]
    use super::report::{
        PySource, lost_copies, report_file, report_in_html, report_limits, report_meta, report_table,
        report_view, report_visible,
    };
    #[pymodule_export]
    use super::runs::{
        Batch, ScenarioError, channels, own_classes, resolve, script, simulate, simulate_many, stack, stacks,
    };
    #[pymodule_export]
    use super::{
        Analysis, CaptureError, PyTable, Traffic, analyze, annotate, closed_sets, is_annotated,
        one_per_timeout, traffic,
    };

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))?;
        m.add("__build__", env!("REXMIT_BUILD"))
    }
}
