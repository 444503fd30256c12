//! A detector in Python.

use super::answers::made;
use super::facts::{PyDetectFacts, PyVerdict};
use super::{Hooks, Rule};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tcp::own::{DetectFacts, OwnDetector, Verdict};

pub const HOOKS: Hooks = &["judge"];
const JUDGE: usize = 0;

#[derive(Debug)]
pub struct PyDetector(pub(super) Rule);

impl OwnDetector for PyDetector {
    fn judge(&self, f: &DetectFacts<'_>) -> Verdict {
        let nothing = Verdict { lost_below: f.una, begins: false };
        if !self.0.has(JUDGE) {
            return nothing;
        }
        let read = |value: &Bound<'_, PyAny>| verdict(value, f.una, f.nxt);
        let told =
            self.0.ask(JUDGE, |py, _| Ok((Py::new(py, PyDetectFacts(f.into()))?,)), |value, _| read(value));
        told.unwrap_or(nothing)
    }
    fn counts_news(&self) -> bool {
        self.0.class.flag
    }
    fn copied(&self) -> Box<dyn OwnDetector> {
        Box::new(PyDetector(self.0.copied()))
    }
}

/// Nothing is lost that is acknowledged or was not sent.
fn verdict(value: &Bound<'_, PyAny>, una: u64, nxt: u64) -> PyResult<Verdict> {
    let verdict = made::<PyVerdict>(value, "rexmit.rules.Verdict(lost_below=…, begins=…)")?.get().0;
    if verdict.lost_below < una || verdict.lost_below > nxt {
        return Err(PyValueError::new_err(format!(
            "lost_below = {}: from una, {una}, to nxt, {nxt}",
            verdict.lost_below
        )));
    }
    Ok(verdict)
}
