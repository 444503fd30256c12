//! A capture's transfer, replayed through stacks.

use super::own;
use super::runs::{ScenarioError, refused};
use super::watch::{ReadingWatch, Watch};
use super::{CaptureError, selection, vantage};
use capture::Options;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use results::replay::{Loaded, Request, infer, load, rank, write};
use results::run::Findings;
use std::path::PathBuf;
use tcp::stack::Stack;

fn request(paths: Vec<PathBuf>, flow: Option<&str>, at: Option<&str>) -> PyResult<Request> {
    let options =
        Options { flow: flow.map(capture::parse_flow).transpose().map_err(selection)?, ..Options::default() };
    Ok(Request { paths, options, at: at.map(vantage).transpose()? })
}

fn read(py: Python<'_>, request: &Request, progress: Option<Py<PyAny>>) -> PyResult<Loaded> {
    let watch = ReadingWatch::new(progress);
    let loaded = py.detach(|| load(request, Some(watch.patience()), &mut |p| watch.goes_on(p)));
    watch.failure()?;
    loaded.map_err(CaptureError::new_err)
}

fn text(json: Vec<u8>) -> PyResult<String> {
    String::from_utf8(json).map_err(|e| PyValueError::new_err(e.to_string()))
}

fn built_in() -> PyResult<Vec<Stack>> {
    scenario::built_in_stacks().map(|name| scenario::describe::load(name).map_err(refused)).collect()
}

/// Which stack the sender with the most data is like, into what was found. Ctrl-C ends it, and what was found stays.
pub(super) fn infer_stack(
    py: Python<'_>,
    found: &mut Findings,
    paths: &[PathBuf],
    options: &Options,
) -> PyResult<()> {
    let stacks = built_in()?;
    let mut watch = Watch::new(None);
    py.detach(|| infer(found, paths, options, &stacks, &mut |_, _| watch.goes_on(|| (0, None::<u64>, 0))));
    watch.failed.map_or(Ok(()), Err)
}

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
    let mut stack = scenario::describe::load(stack).map_err(refused)?;
    own::bind_stack(py, &mut stack)?;
    let loaded = read(py, &request(paths, flow, at)?, progress)?;
    let mut out = Vec::new();
    py.detach(|| write(&loaded, &stack, listed, &mut out)).map_err(ScenarioError::new_err)?;
    own::mishap(&stack)?;
    text(out)
}

/// The same through every built-in stack, ranked by how well each explains the sender; JSON. `progress` hears of replays.
#[pyfunction]
#[pyo3(signature = (paths, *, flow = None, at = None, listed = 0, progress = None))]
pub fn rank_stacks(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    flow: Option<&str>,
    at: Option<&str>,
    listed: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let stacks = built_in()?;
    let loaded = read(py, &request(paths, flow, at)?, None)?;
    let mut watch = Watch::new(progress);
    let ranked = py.detach(|| {
        rank(&loaded, &stacks, listed, &mut |done, total| watch.goes_on(|| (done, Some(total), 0)))
    });
    match (ranked, watch.failed) {
        (Some(json), _) => text(json),
        (None, Some(failure)) => Err(failure),
        (None, None) => Err(PyKeyboardInterrupt::new_err(())),
    }
}
