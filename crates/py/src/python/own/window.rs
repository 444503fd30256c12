//! A window rule in Python.

use super::answers::{RETURNED, bytes, truth};
use super::driving::PyDriving;
use super::facts::{PyAckFacts, PyLossFacts, PyProgress, PyRateSample};
use super::{Hooks, Kind, Rule, nothing};
use pyo3::prelude::*;
use tcp::congestion::{AckFacts, Driving, LossFacts, Window};
use tcp::own::OwnWindow;
use tcp::sampler::rate::{Progress, RateSample};
use wire::Time;

pub const HOOKS: Hooks = &[
    "measure",
    "in_slow_start",
    "avoid",
    "at_round_end",
    "rest",
    "ssthresh",
    "timed_out",
    "taken_back",
    "on_recovery_end",
    "after_idle",
    "begin",
    "drive",
    "restart",
];
const MEASURE: usize = 0;
const IN_SLOW_START: usize = 1;
const AVOID: usize = 2;
const AT_ROUND_END: usize = 3;
const REST: usize = 4;
const SSTHRESH: usize = 5;
const TIMED_OUT: usize = 6;
const TAKEN_BACK: usize = 7;
const ON_RECOVERY_END: usize = 8;
const AFTER_IDLE: usize = 9;
const BEGIN: usize = 10;
const DRIVE: usize = 11;
const RESTART: usize = 12;

#[derive(Debug)]
pub struct PyWindowRule(pub(super) Rule);

impl PyWindowRule {
    /// A hook that sets the window and the pace; both stay as they were if it goes wrong.
    fn driven(&self, hook: usize, w: &mut Window, s: Option<&RateSample>, d: &mut Driving<'_>) {
        if !self.0.has(hook) {
            return;
        }
        let told = Python::attach(|py| {
            let seen = match Py::new(py, PyDriving::of(d)) {
                Ok(seen) => seen,
                Err(e) => {
                    self.0.fail(py, HOOKS[hook], &e);
                    return None;
                }
            };
            let handed = seen.clone_ref(py);
            match s {
                Some(s) => {
                    let args = |py: Python<'_>, window| Ok((window, Py::new(py, PyRateSample(*s))?, handed));
                    self.0.set(hook, w, args, nothing)
                }
                None => self.0.set(hook, w, |_, window| Ok((window, handed)), nothing),
            }?;
            Some(seen.get().taken())
        });
        if let Some(set) = told {
            *d.pacing = set.pacing;
            d.limit_to_application = set.limit_to_application;
        }
    }
}

impl OwnWindow for PyWindowRule {
    fn measure(&mut self, w: &Window, a: &AckFacts, open: bool) {
        self.0.look(MEASURE, w, |py, window| Ok((window, Py::new(py, PyAckFacts(*a))?, open)), nothing);
    }
    fn in_slow_start(&self, w: &Window) -> bool {
        let told = self.0.look(IN_SLOW_START, w, |_, window| Ok((window,)), |value| truth(value, RETURNED));
        told.unwrap_or(w.cwnd < w.ssthresh)
    }
    fn counts_segments(&self) -> bool {
        self.0.class.flag
    }
    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32) {
        self.0.set(AVOID, w, |py, window| Ok((window, Py::new(py, PyAckFacts(*a))?, acked)), nothing);
    }
    fn at_round_end(&mut self, w: &mut Window, a: &AckFacts) -> bool {
        let args = |py: Python<'_>, window| Ok((window, Py::new(py, PyAckFacts(*a))?));
        self.0.set(AT_ROUND_END, w, args, |value| truth(value, RETURNED)).unwrap_or(false)
    }
    fn rest(&mut self, a: &AckFacts) {
        if self.0.has(REST) {
            self.0.ask(REST, |py, _| Ok((Py::new(py, PyAckFacts(*a))?,)), |value, _| nothing(value));
        }
    }
    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        let args = |py: Python<'_>, window| Ok((window, Py::new(py, PyLossFacts(*l))?));
        self.0.look(SSTHRESH, w, args, |value| bytes(value, RETURNED)).unwrap_or(w.ssthresh)
    }
    fn timed_out(&mut self, w: &Window, so_far: &Progress) {
        let args = |py: Python<'_>, window| Ok((window, Py::new(py, PyProgress(*so_far))?));
        self.0.look(TIMED_OUT, w, args, nothing);
    }
    fn taken_back(&mut self, w: &mut Window, cwnd: u32) {
        if !self.0.class.hooks[TAKEN_BACK] {
            w.cwnd = w.cwnd.max(cwnd);
        }
        self.0.set(TAKEN_BACK, w, |_, window| Ok((window, cwnd)), nothing);
    }
    fn on_recovery_end(&mut self, w: &mut Window, now: Time) {
        self.0.set(ON_RECOVERY_END, w, |_, window| Ok((window, now.0)), nothing);
    }
    fn after_idle(&mut self, w: &mut Window, now: Time) {
        self.0.set(AFTER_IDLE, w, |_, window| Ok((window, now.0)), nothing);
    }

    fn drives(&self) -> bool {
        self.0.class.kind == Kind::Driving
    }
    fn begin(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        self.driven(BEGIN, w, None, d);
    }
    fn drive(&mut self, w: &mut Window, s: &RateSample, d: &mut Driving<'_>) {
        self.driven(DRIVE, w, Some(s), d);
    }
    fn restart(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        self.driven(RESTART, w, None, d);
    }

    fn copied(&self) -> Box<dyn OwnWindow> {
        Box::new(PyWindowRule(self.0.copied()))
    }
}
