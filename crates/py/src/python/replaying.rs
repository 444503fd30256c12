//! A capture's transfer, replayed through stacks.

use super::runs::{ScenarioError, refused};
use super::watch::ReadingWatch;
use super::{CaptureError, selection, vantage};
use capture::Options;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use results::replay::{Request, load, write};
use std::path::PathBuf;

/// What `stack` would have sent where a capture's sender sent; JSON.
#[pyfunction]
#[pyo3(signature = (paths, stack, *, flow = None, at = None, listed = 0, progress = None))]
pub fn replay(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    stack: &str,
    flow: Option<&str>,
    at: Option<&str>,
    listed: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let stack = scenario::describe::load(stack).map_err(refused)?;
    let options =
        Options { flow: flow.map(capture::parse_flow).transpose().map_err(selection)?, ..Options::default() };
    let request = Request { paths, options, at: at.map(vantage).transpose()? };
    let watch = ReadingWatch::new(progress);
    let loaded = py.detach(|| load(&request, Some(watch.patience()), &mut |p| watch.goes_on(p)));
    watch.failure()?;
    let loaded = loaded.map_err(CaptureError::new_err)?;
    let mut out = Vec::new();
    py.detach(|| write(&loaded, &stack, listed, &mut out)).map_err(ScenarioError::new_err)?;
    String::from_utf8(out).map_err(|e| PyValueError::new_err(e.to_string()))
}
