//! The live bench, as Python sees it.

use super::runs::{ScenarioError, Variant};
use super::watch::Watch;
use super::{Analysis, LiveError, MOST_LISTED, span};
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
