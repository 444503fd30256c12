//! A detector in Python that goes by time.

use super::answers::{RETURNED, made, returned};
use super::facts::{PyDelivery, PyHorizon, PyPatience};
use super::{Hooks, Rule, nothing};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tcp::own::{Copy, Delivery, Horizon, OwnTimeDetector, Patience};
use wire::{Span, Time};

pub const HOOKS: Hooks = &[
    "note",
    "note_plain",
    "look",
    "horizon",
    "spared_since",
    "recovery_ended",
    "taken_back",
    "taken_back_by_dsack",
    "reordering",
    "reordering_seen",
];
const NOTE: usize = 0;
const NOTE_PLAIN: usize = 1;
const LOOK: usize = 2;
const HORIZON: usize = 3;
const SPARED_SINCE: usize = 4;
const RECOVERY_ENDED: usize = 5;
const TAKEN_BACK: usize = 6;
const TAKEN_BACK_BY_DSACK: usize = 7;
const REORDERING: usize = 8;
const REORDERING_SEEN: usize = 9;

#[derive(Debug)]
pub struct PyTimeDetector(pub(super) Rule);

impl PyTimeDetector {
    fn held_against(&self, hook: usize, p: &Patience, now: Time) -> Option<Horizon> {
        if !self.0.has(hook) {
            return None;
        }
        let args = |py: Python<'_>, _: &_| Ok((Py::new(py, PyPatience(*p))?, now.0));
        self.0.ask(hook, args, |value, _| horizon(value, now))?
    }
    fn tell(&self, hook: usize) {
        if self.0.has(hook) {
            self.0.ask(hook, |_, _| Ok(()), |value, _| nothing(value));
        }
    }
}

impl OwnTimeDetector for PyTimeDetector {
    fn note_plain(&mut self, newest: Copy, now: Time) {
        if self.0.has(NOTE_PLAIN) {
            self.0.ask(
                NOTE_PLAIN,
                |_, _| Ok(((newest.sent.0, newest.end), now.0)),
                |value, _| nothing(value),
            );
        } else {
            let (una, max) = (newest.end, newest.end);
            self.note(&Delivery {
                now,
                newest: Some(newest),
                measured: None,
                reordered: None,
                dsack: false,
                una,
                max,
            });
        }
    }
    fn note(&mut self, d: &Delivery) {
        if self.0.has(NOTE) {
            self.0.ask(NOTE, |py, _| Ok((Py::new(py, PyDelivery(*d))?,)), |value, _| nothing(value));
        }
    }
    fn look(&mut self, p: &Patience, now: Time) -> Option<Horizon> {
        self.held_against(LOOK, p, now)
    }
    fn horizon(&mut self, p: &Patience, now: Time) -> Option<Horizon> {
        self.held_against(HORIZON, p, now)
    }
    fn spared_since(&self, now: Time) -> Time {
        if !self.0.has(SPARED_SINCE) {
            return now;
        }
        let read = |value: &Bound<'_, PyAny>| moment(value, now);
        self.0.ask(SPARED_SINCE, |_, _| Ok((now.0,)), |value, _| read(value)).unwrap_or(now)
    }
    fn recovery_ended(&mut self) {
        self.tell(RECOVERY_ENDED);
    }
    fn taken_back(&mut self) {
        self.tell(TAKEN_BACK);
    }
    fn taken_back_by_dsack(&mut self) {
        self.tell(TAKEN_BACK_BY_DSACK);
    }
    fn reordering(&self, dupthresh: u32) -> u32 {
        if !self.0.has(REORDERING) {
            return dupthresh;
        }
        let told = self.0.ask(REORDERING, |_, _| Ok((dupthresh,)), |value, _| count(value));
        told.unwrap_or(dupthresh)
    }
    fn reordering_seen(&self) -> u32 {
        if !self.0.has(REORDERING_SEEN) {
            return 0;
        }
        self.0.ask(REORDERING_SEEN, |_, _| Ok(()), |value, _| count(value)).unwrap_or(0)
    }
    fn copied(&self) -> Box<dyn OwnTimeDetector> {
        Box::new(PyTimeDetector(self.0.copied()))
    }
}

/// `None`, or a horizon that lies in the past and waits no longer than a run can last.
fn horizon(value: &Bound<'_, PyAny>, now: Time) -> PyResult<Option<Horizon>> {
    if value.is_none() {
        return Ok(None);
    }
    let told = made::<PyHorizon>(value, "rexmit.rules.Horizon(newest=…, wait_ns=…), or None")?.get().0;
    if told.wait.0 < 0 || told.wait > LONGEST {
        return Err(PyValueError::new_err(format!("wait_ns = {}: from 0 to {}", told.wait.0, LONGEST.0)));
    }
    if told.newest.sent > now {
        let sent = told.newest.sent.0;
        return Err(PyValueError::new_err(format!(
            "newest = ({sent}, {}): left later than now, {}",
            told.newest.end, now.0
        )));
    }
    Ok(Some(Horizon { now, ..told }))
}

/// A year: sums of times stay far from their bounds.
const LONGEST: Span = Span(365 * 86_400 * 1_000_000_000);

fn count(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    returned(value, "a whole number of segments")
}

fn moment(value: &Bound<'_, PyAny>, now: Time) -> PyResult<Time> {
    let told: i64 = returned(value, "a time, whole nanoseconds")?;
    if told > now.0 {
        return Err(PyValueError::new_err(format!("{RETURNED} = {told}: later than now, {}", now.0)));
    }
    Ok(Time(told))
}
