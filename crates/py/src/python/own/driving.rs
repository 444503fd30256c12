//! The sender as a rule that drives it sees it: facts, and a pacing rate to set.

use super::answers::{truth, whole};
use super::facts::PyProgress;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tcp::congestion::Driving;
use tcp::endpoint::Phase;
use tcp::pacing::Pacing;
use tcp::sampler::rate::{Lost, Progress};
use wire::{Span, Time};

/// One object for each call of a hook.
#[pyclass(frozen, name = "Driving", module = "rexmit._core")]
pub struct PyDriving {
    now: Time,
    in_flight: u32,
    phase: Phase,
    so_far: Progress,
    srtt: Option<Span>,
    min_rtt: Option<Span>,
    limited: bool,
    has_sack: bool,
    lost: Vec<Lost>,
    seed: u32,
    set: Mutex<Settings>,
}

/// What hooks set.
#[derive(Clone, Copy)]
pub struct Settings {
    pub pacing: Pacing,
    pub limit_to_application: bool,
}

const PHASES: [(Phase, &str); 3] =
    [(Phase::Open, "open"), (Phase::Recovery, "recovery"), (Phase::Loss, "loss")];

impl PyDriving {
    pub fn of(d: &Driving<'_>) -> PyDriving {
        PyDriving {
            now: d.now,
            in_flight: d.in_flight,
            phase: d.phase,
            so_far: d.so_far,
            srtt: d.srtt,
            min_rtt: d.min_rtt,
            limited: d.limited,
            has_sack: d.has_sack,
            lost: d.lost.to_vec(),
            seed: d.seed,
            set: Mutex::new(Settings { pacing: *d.pacing, limit_to_application: d.limit_to_application }),
        }
    }

    fn settings(&self) -> MutexGuard<'_, Settings> {
        // Plain numbers: nothing is left half done by what panicked.
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// What a hook made of it.
    pub fn taken(&self) -> Settings {
        *self.settings()
    }
}

/// Bytes a second.
fn rate(value: &Bound<'_, PyAny>, name: &str, least: u64) -> PyResult<u64> {
    whole(value, name, "whole bytes a second", least..=u64::MAX)
}

#[pymethods]
impl PyDriving {
    #[new]
    #[pyo3(signature = (
        *, now_ns = 0, in_flight = 0, phase = "open", so_far = None, srtt_ns = None, min_rtt_ns = None, pacing_rate = 0,
        limited = true, has_sack = true, seed = 0
    ))]
    #[allow(clippy::too_many_arguments)] // they are keywords in Python
    fn new(
        now_ns: i64,
        in_flight: u32,
        phase: &str,
        so_far: Option<&Bound<'_, PyProgress>>,
        srtt_ns: Option<i64>,
        min_rtt_ns: Option<i64>,
        pacing_rate: u64,
        limited: bool,
        has_sack: bool,
        seed: u32,
    ) -> PyResult<PyDriving> {
        let Some(&(phase, _)) = PHASES.iter().find(|(_, name)| *name == phase) else {
            return Err(PyValueError::new_err(format!("phase = {phase:?}: open, recovery or loss")));
        };
        let mut pacing = Pacing::new(true);
        if pacing_rate > 0 {
            pacing.set_rate(pacing_rate);
        }
        Ok(PyDriving {
            now: Time(now_ns),
            in_flight,
            phase,
            so_far: so_far.map_or_else(Progress::default, |p| p.get().0),
            srtt: srtt_ns.map(Span),
            min_rtt: min_rtt_ns.map(Span),
            limited,
            has_sack,
            lost: Vec::new(),
            seed,
            set: Mutex::new(Settings { pacing, limit_to_application: false }),
        })
    }
    #[getter]
    fn now_ns(&self) -> i64 {
        self.now.0
    }
    #[getter]
    fn in_flight(&self) -> u32 {
        self.in_flight
    }
    #[getter]
    fn phase(&self) -> &'static str {
        PHASES.iter().find(|(phase, _)| *phase == self.phase).map_or("", |(_, name)| name)
    }
    #[getter]
    fn so_far(&self) -> PyProgress {
        PyProgress(self.so_far)
    }
    #[getter]
    fn srtt_ns(&self) -> Option<i64> {
        self.srtt.map(|span| span.0)
    }
    #[getter]
    fn min_rtt_ns(&self) -> Option<i64> {
        self.min_rtt.map(|span| span.0)
    }
    #[getter]
    fn limited(&self) -> bool {
        self.limited
    }
    #[getter]
    fn has_sack(&self) -> bool {
        self.has_sack
    }
    /// Number, in flight as it left, lost since then, and whether the application limited.
    #[getter]
    fn lost(&self) -> Vec<(u64, u32, u64, bool)> {
        self.lost.iter().map(|l| (l.number, l.in_flight, l.since, l.app_limited)).collect()
    }
    #[getter]
    fn seed(&self) -> u32 {
        self.seed
    }

    #[getter]
    fn pacing_rate(&self) -> u64 {
        self.settings().pacing.rate()
    }
    #[setter]
    fn set_pacing_rate(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let found = rate(value, "pacing_rate", 1)?;
        self.settings().pacing.set_rate(found);
        Ok(())
    }
    /// A burst may be one segment below this rate.
    fn single_below(&self, bytes_per_s: &Bound<'_, PyAny>) -> PyResult<()> {
        let found = rate(bytes_per_s, "bytes_per_s", 0)?;
        self.settings().pacing.single_below(found);
        Ok(())
    }
    #[getter]
    fn next_ns(&self) -> i64 {
        self.settings().pacing.next().0
    }
    /// Segments of about a millisecond's data at the pacing rate.
    fn goal(&self, smss: u32) -> u32 {
        self.settings().pacing.goal(smss)
    }
    #[getter]
    fn limit_to_application(&self) -> bool {
        self.settings().limit_to_application
    }
    #[setter]
    fn set_limit_to_application(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let limit = truth(value, "limit_to_application")?;
        self.settings().limit_to_application = limit;
        Ok(())
    }
    fn __repr__(&self) -> String {
        format!(
            "Driving(now_ns={}, in_flight={}, phase='{}', pacing_rate={})",
            self.now.0,
            self.in_flight,
            self.phase(),
            self.pacing_rate()
        )
    }
}
