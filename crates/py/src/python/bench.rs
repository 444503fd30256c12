//! The live bench, as Python sees it.

use super::runs::{ScenarioError, Variant, text};
use super::watch::Watch;
use super::{Analysis, LiveError, MOST_LISTED, span};
use crate::json::write::{By, Put, object};
use crate::spool::Listing;
use analysis::Config;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use wire::Span;

/// Runs a scenario on the live bench. Everything is kept: what happened once does not happen again.
#[pyfunction]
#[pyo3(signature = (
    variant, *, at = "both", idle = None, interval = 1.0, captures = None,
    flows = Some(MOST_LISTED), listed_only = false, progress = None
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
    progress: Option<Py<PyAny>>,
) -> PyResult<Analysis> {
    if interval <= 0.0 {
        return Err(PyValueError::new_err(format!("interval = {interval}: must be above 0 seconds")));
    }
    let request = crate::live::Request {
        scenario: py.detach(|| variant.load())?,
        at: super::runs::at(at)?,
        config: Config {
            vantage: None,
            idle: span("idle", idle)?,
            interval: span("interval", Some(interval))?.unwrap_or(Span::from_secs(1)),
            wanted: Default::default(),
        },
        listing: Listing { most: flows, only: listed_only },
        captures,
    };
    let mut watch = Watch::new(progress);
    let done = py.detach(|| {
        crate::live::run(&request, &mut |p| {
            watch.goes_on(|| (p.now.as_secs(), p.duration.map(Span::as_secs), p.packets))
        })
    });
    if let Some(e) = watch.failed {
        return Err(e);
    }
    let (found, played) = done.map_err(|e| match e {
        ::live::Error::Scenario(text) => ScenarioError::new_err(text),
        ::live::Error::Machine(text) | ::live::Error::Failed(text) => LiveError::new_err(text),
    })?;
    Ok(Analysis { found: Arc::new(found), run: Some(Arc::new(played)) })
}

/// What this machine can do: JSON, a list of {what, found, mend, needed}.
#[pyfunction]
pub fn live_check(py: Python<'_>) -> PyResult<String> {
    let found = py.detach(::live::check::machine);
    let put = |f: &::live::check::Finding, out: &mut Vec<u8>| {
        object!(out, "what": f.what, "found": f.found, "mend": f.mend.as_deref(), "needed": f.needed);
    };
    text(|out| found.iter().map(|f| By(move |out: &mut Vec<u8>| put(f, out))).collect::<Vec<_>>().put(out))
}

/// Removes what killed runs left: JSON, {namespaces, processes, left}.
#[pyfunction]
pub fn live_clean(py: Python<'_>) -> PyResult<String> {
    let removed = py.detach(::live::clean::clean).map_err(|e| LiveError::new_err(e.to_string()))?;
    text(|out| {
        object!(out, "namespaces": removed.namespaces, "processes": removed.processes.len(), "left": removed.left);
    })
}
