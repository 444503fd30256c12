//! What Python hears of work that takes long, and how it stops it.

use capture::{Patience, Progress};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Ten times a second: shows progress, looks for Ctrl-C.
pub struct Watch {
    progress: Option<Py<PyAny>>,
    next: Instant,
    /// When it said no.
    ended: Option<Instant>,
    pub failed: Option<PyErr>,
}

impl Watch {
    const EVERY: Duration = Duration::from_millis(100);
    const PATIENCE: Duration = Duration::from_millis(500);

    #[allow(clippy::disallowed_methods)] // the progress bar is the one place that reads the clock
    fn now() -> Instant {
        Instant::now()
    }
    pub fn new(progress: Option<Py<PyAny>>) -> Watch {
        Watch { progress, next: Watch::now() + Watch::EVERY, ended: None, failed: None }
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
        let goes_on = self.asked(told);
        if !goes_on {
            self.ended = Some(now);
        }
        goes_on
    }
    /// After it said no, or was never asked: may an answer be made of what was seen? Whoever pressed Ctrl-C waits.
    pub fn has_time(&mut self) -> bool {
        let now = Watch::now();
        let ended = *self.ended.get_or_insert(now);
        now < ended + Watch::PATIENCE && self.failed.is_none()
    }
    /// The same, at once.
    fn asked<A, B, C>(&mut self, told: impl FnOnce() -> (A, Option<B>, C)) -> bool
    where
        A: for<'py> IntoPyObject<'py>,
        B: for<'py> IntoPyObject<'py>,
        C: for<'py> IntoPyObject<'py>,
    {
        self.next = Watch::now() + Watch::EVERY;
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

/// The watch over the reading of captures: asked between packets, and by a signal that comes while none do.
#[derive(Clone)]
pub struct ReadingWatch(Arc<Mutex<(Watch, Progress)>>);

impl ReadingWatch {
    pub fn new(progress: Option<Py<PyAny>>) -> ReadingWatch {
        ReadingWatch(Arc::new(Mutex::new((Watch::new(progress), Progress::default()))))
    }
    fn held(&self) -> MutexGuard<'_, (Watch, Progress)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub fn goes_on(&self, now: Progress) -> bool {
        let (watch, last) = &mut *self.held();
        *last = now;
        watch.goes_on(|| (now.done_bytes, now.total_bytes, now.packets))
    }
    pub fn patience(&self) -> Patience {
        let this = self.clone();
        Arc::new(move || {
            let (watch, last) = &mut *this.held();
            watch.asked(|| (last.done_bytes, last.total_bytes, last.packets))
        })
    }
    /// What else than Ctrl-C ended the work.
    pub fn failure(&self) -> PyResult<()> {
        self.held().0.failed.take().map_or(Ok(()), Err)
    }
}
