//! packetdrill scripts.

use super::own;
use super::runs::refused;
use ::drill::{Outcome, Stop};
use pyo3::prelude::*;
use tcp::stack::Stack;

/// `result`, `why`, `line`, and the ladder.
type Told = (&'static str, Option<String>, Option<u32>, Vec<String>);

fn told(outcome: Outcome) -> Told {
    let word = match &outcome.stop {
        None => "pass",
        Some(Stop::Failed(_)) => "fail",
        Some(Stop::Unsupported(_)) => "unsupported",
        Some(Stop::Malformed(_)) => "malformed",
    };
    let (why, line) = match outcome.stop {
        None => (None, None),
        Some(stop) => (Some(stop.at().says.clone()), Some(stop.at().line)),
    };
    (word, why, line, outcome.ladder)
}

/// What becomes of a script on a stack.
#[pyfunction]
pub fn drill(py: Python<'_>, text: &str, stack: &str) -> PyResult<Told> {
    own::refuse(&scenario::describe::load(stack).map_err(refused)?, "rexmit drill")?;
    let outcome = py.detach(|| ::drill::run(text, stack)).map_err(refused)?;
    Ok(told(outcome))
}

/// What becomes of each alteration of a script: line, what was altered, result.
#[pyfunction]
pub fn drill_altered(
    py: Python<'_>,
    text: &str,
    stack: &str,
) -> PyResult<Vec<(u32, &'static str, &'static str)>> {
    let loaded: Stack = scenario::describe::load(stack).map_err(refused)?;
    let Ok(script) = ::drill::read(text) else { return Ok(Vec::new()) };
    Ok(py.detach(|| {
        let all = ::drill::mutate::alterations(&script);
        all.into_iter().map(|a| (a.line, a.what, told(::drill::play(&a.script, &loaded)).0)).collect()
    }))
}
