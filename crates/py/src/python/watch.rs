//! What Python hears of work that takes long, and how it stops it.

use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// Ten times a second: shows progress, looks for Ctrl-C.
pub struct Watch {
    progress: Option<Py<PyAny>>,
    next: Instant,
    pub failed: Option<PyErr>,
}

impl Watch {
    const EVERY: Duration = Duration::from_millis(100);

    #[allow(clippy::disallowed_methods)] // the progress bar is the one place that reads the clock
    fn now() -> Instant {
        Instant::now()
    }
    pub fn new(progress: Option<Py<PyAny>>) -> Watch {
        Watch { progress, next: Watch::now() + Watch::EVERY, failed: None }
    }
    /// Done, of how much if that is known, and what else is counted: in any unit, as `progress` takes them.
    pub fn goes_on<A, B, C>(&mut self, told: impl FnOnce() -> (A, Option<B>, C)) -> bool
    where
        A: for<'py> IntoPyObject<'py>,
        B: for<'py> IntoPyObject<'py>,
        C: for<'py> IntoPyObject<'py>,
    {
        let now = Watch::now();
        if now < self.next {
            return true;
        }
        self.next = now + Watch::EVERY;
        Python::attach(|py| match self.tell(py, told()) {
            Ok(goes_on) => goes_on,
            // Ctrl-C ends the work, and keeps what was done.
            Err(e) if e.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => false,
            Err(e) => {
                self.failed = Some(e);
                false
            }
        })
    }
    fn tell<A, B, C>(&self, py: Python<'_>, told: (A, Option<B>, C)) -> PyResult<bool>
    where
        A: for<'py> IntoPyObject<'py>,
        B: for<'py> IntoPyObject<'py>,
        C: for<'py> IntoPyObject<'py>,
    {
        py.check_signals()?;
        match &self.progress {
            Some(f) => f.call1(py, told)?.is_truthy(py),
            None => Ok(true),
        }
    }
}
