//! A recovery rule in Python.

use super::answers::{RETURNED, truth};
use super::facts::PyRepairFacts;
use super::{Hooks, Rule, nothing};
use pyo3::prelude::*;
use tcp::congestion::Window;
use tcp::own::{OwnRecovery, RepairFacts};

pub const HOOKS: Hooks = &["enter", "on_ack", "sent", "exit", "partial_ack_restarts_timer"];
const ENTER: usize = 0;
const ON_ACK: usize = 1;
const SENT: usize = 2;
const EXIT: usize = 3;
const PARTIAL_ACK_RESTARTS_TIMER: usize = 4;

#[derive(Debug)]
pub struct PyRecovery(pub(super) Rule);

impl OwnRecovery for PyRecovery {
    fn enter(&mut self, w: &mut Window, dupthresh: u32, f: &RepairFacts) {
        let args = |py: Python<'_>, window| Ok((window, dupthresh, Py::new(py, PyRepairFacts(*f))?));
        self.0.set(ENTER, w, args, nothing);
    }
    fn on_ack(&mut self, w: &mut Window, f: &RepairFacts) {
        self.0.set(ON_ACK, w, |py, window| Ok((window, Py::new(py, PyRepairFacts(*f))?)), nothing);
    }
    fn sent(&mut self, bytes: u32) {
        if self.0.has(SENT) {
            self.0.ask(SENT, |_, _| Ok((bytes,)), |value, _| nothing(value));
        }
    }
    fn exit(&mut self, w: &mut Window, f: &RepairFacts) {
        self.0.set(EXIT, w, |py, window| Ok((window, Py::new(py, PyRepairFacts(*f))?)), nothing);
    }
    fn uses_pipe(&self) -> bool {
        self.0.class.flag
    }
    fn partial_ack_restarts_timer(&self, first: bool) -> bool {
        if !self.0.has(PARTIAL_ACK_RESTARTS_TIMER) {
            return true;
        }
        let told =
            self.0.ask(PARTIAL_ACK_RESTARTS_TIMER, |_, _| Ok((first,)), |value, _| truth(value, RETURNED));
        told.unwrap_or(true)
    }
    fn copied(&self) -> Box<dyn OwnRecovery> {
        Box::new(PyRecovery(self.0.copied()))
    }
}
