//! The live bench, as Python sees it.

use super::runs::{Batch, ScenarioError, Variant, kept, seeded, text};
use super::watch::Watch;
use super::{Analysis, LiveError, MOST_LISTED, span};
use analysis::Config;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use results::json::write::{By, Put, object};
use results::live::many;
use results::spool::Listing;
use scenario::model::Scenario;
use std::path::PathBuf;
use wire::Span;

/// Runs a scenario on the live bench. Everything is kept: what happened once does not happen again.
#[pyfunction]
#[pyo3(signature = (
    variant, *, at = "both", idle = None, interval = 1.0, captures = None,
    flows = Some(MOST_LISTED), listed_only = false, accept_late = false, progress = None
))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
pub fn live(
    py: Python<'_>,
    variant: Variant,
    at: &str,
    idle: Option<f64>,
    interval: f64,
    captures: Option<PathBuf>,
    flows: Option<usize>,
    listed_only: bool,
    accept_late: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Analysis> {
    if interval <= 0.0 {
        return Err(PyValueError::new_err(format!("interval = {interval}: must be above 0 seconds")));
    }
    let request = results::live::Request {
        scenario: py.detach(|| variant.load()).and_then(by_kernels)?,
        at: super::runs::at(at)?,
        config: Config {
            vantage: None,
            idle: span("idle", idle)?,
            interval: span("interval", Some(interval))?.unwrap_or(Span::from_secs(1)),
            wanted: Default::default(),
            ..Config::default()
        },
        listing: Listing { most: flows, only: listed_only },
        captures,
        bin: None,
        accept_late,
        from_zero: false,
    };
    let mut watch = Watch::new(progress);
    let done = py.detach(|| {
        results::live::run(&request, &mut |p| {
            watch.goes_on(|| (p.now.as_secs(), p.duration.map(Span::as_secs), p.packets))
        })
    });
    if let Some(e) = watch.failed {
        return Err(e);
    }
    let (found, played) = done.map_err(|e| told(&variant, e))?;
    Ok(Analysis::of(found, Some(played)))
}

/// A stack that a kernel does not stand for runs here, where nothing waits for Python.
fn by_kernels(scenario: Scenario) -> PyResult<Scenario> {
    let own = scenario.stacks.iter().filter(|stack| stack.kernel.is_none());
    own.into_iter().try_for_each(|stack| super::own::refuse(stack, "the live bench"))?;
    Ok(scenario)
}

fn told(variant: &Variant, e: ::live::Error) -> PyErr {
    match e {
        ::live::Error::Scenario(text) => ScenarioError::new_err(variant.placed(&text)),
        ::live::Error::Machine(text) | ::live::Error::Failed(text) => LiveError::new_err(text),
    }
}

/// Runs what is planned (a variant's number and a seed each) on the live bench, one after the other.
#[pyfunction]
#[pyo3(signature = (
    variants, plan, *, at = "both", idle = None, interval = 1.0, tables = Vec::new(), bin = None, progress = None
))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
pub fn live_many(
    py: Python<'_>,
    variants: Vec<Variant>,
    plan: Vec<(usize, Option<u64>)>,
    at: &str,
    idle: Option<f64>,
    interval: f64,
    tables: Vec<String>,
    bin: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Batch> {
    let width = super::bin_width(bin)?;
    let keep = kept(at, idle, interval, tables, None)?;
    let mut watch = Watch::new(progress);
    let done = py.detach(|| {
        let scenarios =
            variants.iter().map(|v| v.load().and_then(by_kernels)).collect::<PyResult<Vec<Scenario>>>()?;
        let runs = seeded(&plan, &scenarios);
        let go_on = &mut |done, _| watch.goes_on(|| (done, Some(runs.len()), 0));
        let done = many::run(&scenarios, &runs, keep.as_ref(), width, go_on).map_err(|(which, e)| {
            variants.get(which).map_or_else(|| LiveError::new_err(e.to_string()), |v| told(v, e.clone()))
        })?;
        Batch::new(&scenarios, &runs, done)
    });
    match watch.failed {
        Some(e) => Err(e),
        None => done,
    }
}

/// What this machine can do: JSON, a list of {what, found, fix, needed}.
#[pyfunction]
pub fn live_check(py: Python<'_>) -> PyResult<String> {
    let found = py.detach(::live::check::machine);
    let put = |f: &::live::check::Finding, out: &mut Vec<u8>| {
        object!(out, "what": f.what, "found": f.found, "fix": f.fix.as_deref(), "needed": f.needed);
    };
    text(|out| found.iter().map(|f| By(move |out: &mut Vec<u8>| put(f, out))).collect::<Vec<_>>().put(out))
}

/// Removes what killed runs left: JSON, {namespaces, folders, processes, left}.
#[pyfunction]
pub fn live_clean(py: Python<'_>) -> PyResult<String> {
    let removed = py.detach(::live::clean::everything).map_err(|e| LiveError::new_err(e.to_string()))?;
    text(|out| {
        object!(out,
            "namespaces": removed.namespaces,
            "cgroups": removed.cgroups,
            "folders": removed.folders,
            "processes": removed.processes.len(),
            "left": removed.left,
        );
    })
}
