//! Rules of one's own in Python: classes that stacks name, found before a run and asked during it.
//!
//! python/rexmit/rules finds and looks over the classes; here they become what `tcp` asks. A hook that raises, or returns
//! what cannot be, is told once ([`Mishap`]), and nothing is asked any more: the run ends with that event.

mod answers;
mod by_time;
mod detector;
pub(super) mod driving;
pub(super) mod facts;
mod recovery;
mod window;

use super::runs::ScenarioError;
use answers::nothing;
use facts::PyWindow;
use params::Plain;
use params::problem::{Errors, Problem};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use scenario::model::Scenario;
use std::sync::{Arc, OnceLock};
use tcp::congestion::Window;
use tcp::own::{Habits, Make, Mishap, OwnDetector, OwnRecovery, OwnRule, OwnTimeDetector, OwnWindow};
use tcp::stack::{Kind as StackKind, Stack, Undo, UndoRule};

/// Ctrl-C, noted rather than raised while rules are asked.
pub struct Held<'py>(Bound<'py, PyAny>);

impl<'py> Held<'py> {
    pub fn over(py: Python<'py>) -> PyResult<Held<'py>> {
        let loading = py.import(intern!(py, "rexmit.rules.loading"))?;
        loading.call_method0(intern!(py, "Held")).map(Held)
    }
    pub fn goes_on(&self) -> bool {
        let pressed = self.0.getattr(intern!(self.0.py(), "pressed")).and_then(|pressed| pressed.is_truthy());
        !pressed.unwrap_or(false)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Nothing can be done about a handler that cannot be put back.
        let _ = self.0.call_method0(intern!(self.0.py(), "release"));
    }
}

/// From which of the classes of `rexmit.rules` a class derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Window,
    /// A window rule that drives the sender.
    Driving,
    Detector,
    /// A detector that goes by time.
    TimeDetector,
    Recovery,
}

impl Kind {
    /// By the name of that class.
    const ALL: [(&str, Kind, Hooks); 5] = [
        ("WindowRule", Kind::Window, window::HOOKS),
        ("DrivingRule", Kind::Driving, window::HOOKS),
        ("Detector", Kind::Detector, detector::HOOKS),
        ("TimeDetector", Kind::TimeDetector, by_time::HOOKS),
        ("Recovery", Kind::Recovery, recovery::HOOKS),
    ];
}

/// A class that was found, and which hooks it has.
#[derive(Debug)]
struct Class {
    /// As files name it, without the folders.
    name: String,
    /// `rexmit.rules.loading.Found`.
    found: Py<PyAny>,
    kind: Kind,
    /// In the order of the question's list.
    hooks: Vec<bool>,
    habits: Habits,
    /// What the class says once: `counts_segments`, `counts_news` or `uses_pipe`.
    flag: bool,
}

/// The hooks of a question, by name; a rule's are called by their place.
type Hooks = &'static [&'static str];

/// Whether a stack of the scenario has such rules.
pub fn has_own(scenario: &Scenario) -> bool {
    scenario.stacks.iter().any(is_own)
}

/// As their stacks name them.
pub fn classes(scenarios: &[Scenario]) -> Vec<String> {
    let stacks = scenarios.iter().flat_map(|scenario| &scenario.stacks);
    let own = stacks.filter_map(|stack| match &stack.kind {
        StackKind::Wire(wire) => Some(&wire.own),
        StackKind::OneWay(_) => None,
    });
    own.flat_map(|own| own.all().map(|(_, rule)| rule.name().to_owned())).collect()
}

fn is_own(stack: &Stack) -> bool {
    matches!(&stack.kind, StackKind::Wire(wire) if !wire.own.is_empty())
}

/// Finds the classes that the scenario's stacks name, which runs the user's code.
pub fn bind(py: Python<'_>, scenario: &mut Scenario) -> PyResult<()> {
    scenario.stacks.iter_mut().try_for_each(|stack| bind_stack(py, stack))
}

pub fn bind_stack(py: Python<'_>, stack: &mut Stack) -> PyResult<()> {
    let StackKind::Wire(wire) = &mut stack.kind else { return Ok(()) };
    let undo = wire.undo;
    for (section, rule) in wire.own.all_mut() {
        let class = load(py, section, rule)?;
        if let Some(says) = undone_otherwise(class.kind, &undo) {
            return Err(refused(rule, says.to_owned()));
        }
        rule.maker = Some(Arc::new(Maker(Arc::new(class))));
    }
    Ok(())
}

/// Each way back reads what its own kind of detection knows, as the scenario's own check has it for rules in Rust.
fn undone_otherwise(kind: Kind, undo: &Undo) -> Option<&'static str> {
    match (kind, undo.rule) {
        (Kind::TimeDetector, UndoRule::Rfc) if *undo != Undo::default() => {
            Some("goes by time, and what [undo] has is for detectors that count: set undo.rule = \"linux\"")
        }
        (Kind::Detector, UndoRule::Linux) => {
            Some("counts, and undo.rule = \"linux\" needs a detector that goes by time")
        }
        _ => None,
    }
}

/// What a rule could not go on for, as an error; nothing where all went well.
pub fn mishap(stack: &Stack) -> PyResult<()> {
    match &stack.kind {
        StackKind::Wire(wire) => {
            wire.own.mishap.told().map_or(Ok(()), |why| Err(PyRuntimeError::new_err(why.to_owned())))
        }
        StackKind::OneWay(_) => Ok(()),
    }
}

/// For what no class can be asked by.
pub fn refuse(stack: &Stack, what: &str) -> PyResult<()> {
    let StackKind::Wire(wire) = &stack.kind else { return Ok(()) };
    match wire.own.all().next() {
        Some((_, rule)) => {
            Err(refused(rule, format!("is a rule in Python, and {what} asks none: rexmit run does")))
        }
        None => Ok(()),
    }
}

fn load(py: Python<'_>, section: &'static str, rule: &OwnRule) -> PyResult<Class> {
    let loading = py.import(intern!(py, "rexmit.rules.loading"))?;
    let params = PyDict::new(py);
    for (key, value) in &rule.params {
        params.set_item(key, plain(py, value)?)?;
    }
    let found = match loading.call_method1(intern!(py, "load"), (section, rule.name(), params)) {
        Ok(found) => found,
        Err(e) if e.is_instance(py, &loading.getattr(intern!(py, "NoRule"))?) => {
            return Err(refused(rule, e.value(py).to_string()));
        }
        Err(e) => return Err(e),
    };
    let own: Vec<String> =
        found.getattr(intern!(py, "hooks"))?.try_iter()?.map(|h| h?.extract()).collect::<PyResult<_>>()?;
    let base: String = found.getattr(intern!(py, "kind"))?.extract()?;
    let Some(&(_, kind, list)) = Kind::ALL.iter().find(|(name, ..)| *name == base) else {
        return Err(PyRuntimeError::new_err(format!("{base} is no class that rules derive from")));
    };
    let habits: Vec<bool> =
        found.getattr(intern!(py, "habits"))?.try_iter()?.map(|h| h?.extract()).collect::<PyResult<_>>()?;
    Ok(Class {
        name: rule.short().to_owned(),
        kind,
        hooks: list.iter().map(|hook| own.iter().any(|name| name == hook)).collect(),
        habits: self::habits(&habits),
        flag: found.getattr(intern!(py, "flag"))?.extract()?,
        found: found.unbind(),
    })
}

/// In the order of `rexmit.rules.Habits`.
fn habits(told: &[bool]) -> Habits {
    match *told {
        [
            slow_start,
            ends_at_any_advance,
            reduces_cwnd,
            remembers_repairs,
            enters_with_one_segment,
            fast_retransmit_restarts_timer,
            last_ack_grows,
        ] => Habits {
            slow_start,
            ends_at_any_advance,
            reduces_cwnd,
            remembers_repairs,
            enters_with_one_segment,
            fast_retransmit_restarts_timer,
            last_ack_grows,
        },
        _ => Habits::RFC,
    }
}

fn refused(rule: &OwnRule, says: String) -> PyErr {
    let class = &rule.class;
    let problem = Problem {
        origin: class.origin.clone(),
        key: class.path.clone(),
        found: Some(class.shown.clone()),
        says,
    };
    ScenarioError::new_err(Errors(vec![problem]).to_string())
}

fn plain<'py>(py: Python<'py>, value: &Plain) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Plain::Text(text) => text.into_pyobject(py)?.into_any(),
        Plain::Whole(n) => n.into_pyobject(py)?.into_any(),
        Plain::Number(x) => x.into_pyobject(py)?.into_any(),
        Plain::Flag(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Plain::List(items) => {
            let items = items.iter().map(|item| plain(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Plain::Table(entries) => {
            let table = PyDict::new(py);
            for (key, value) in entries {
                table.set_item(key, plain(py, value)?)?;
            }
            table.into_any()
        }
    })
}

/// Makes rules of a class, one for each connection.
#[derive(Debug)]
struct Maker(Arc<Class>);

impl Make for Maker {
    fn window(&self, mishap: &Mishap) -> Option<Box<dyn OwnWindow>> {
        Some(Box::new(window::PyWindowRule(Rule::new(&self.0, window::HOOKS, mishap))))
    }
    fn detector(&self, mishap: &Mishap) -> Option<Box<dyn OwnDetector>> {
        (self.0.kind == Kind::Detector).then_some(())?;
        Some(Box::new(detector::PyDetector(Rule::new(&self.0, detector::HOOKS, mishap))))
    }
    fn time_detector(&self, mishap: &Mishap) -> Option<Box<dyn OwnTimeDetector>> {
        (self.0.kind == Kind::TimeDetector).then_some(())?;
        Some(Box::new(by_time::PyTimeDetector(Rule::new(&self.0, by_time::HOOKS, mishap))))
    }
    fn recovery(&self, mishap: &Mishap) -> Option<Box<dyn OwnRecovery>> {
        Some(Box::new(recovery::PyRecovery(Rule::new(&self.0, recovery::HOOKS, mishap))))
    }
    fn habits(&self) -> Habits {
        self.0.habits
    }
}

/// A rule of one connection. Its object is made when it is first asked: most ends of connections send nothing.
#[derive(Debug)]
struct Rule {
    class: Arc<Class>,
    names: Hooks,
    mishap: Mishap,
    made: OnceLock<Made>,
}

#[derive(Debug)]
struct Made {
    object: Py<PyAny>,
    /// The object's own, bound to it.
    hooks: Vec<Option<Py<PyAny>>>,
    window: Py<PyWindow>,
}

impl Rule {
    fn new(class: &Arc<Class>, names: Hooks, mishap: &Mishap) -> Rule {
        Rule { class: Arc::clone(class), names, mishap: mishap.clone(), made: OnceLock::new() }
    }

    /// Whether the class has the hook, and nothing has gone wrong so far.
    fn has(&self, hook: usize) -> bool {
        self.class.hooks[hook] && self.mishap.told().is_none()
    }

    fn made<'a>(&'a self, py: Python<'_>) -> PyResult<&'a Made> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let object = self.class.found.bind(py).call_method0(intern!(py, "make"))?;
        let window = Py::new(py, PyWindow::unset())?;
        let made = self.bound(object, window)?;
        Ok(self.made.get_or_init(|| made))
    }

    fn bound(&self, object: Bound<'_, PyAny>, window: Py<PyWindow>) -> PyResult<Made> {
        let hook =
            |(name, has): (&&str, &bool)| has.then(|| object.getattr(*name).map(Bound::unbind)).transpose();
        let hooks = self.names.iter().zip(&self.class.hooks).map(hook).collect::<PyResult<_>>()?;
        Ok(Made { object: object.unbind(), hooks, window })
    }

    /// Calls a hook that the class has. `None`: it went wrong, which has been told.
    fn ask<A, R>(
        &self,
        hook: usize,
        args: impl FnOnce(Python<'_>, &Made) -> PyResult<A>,
        read: impl FnOnce(&Bound<'_, PyAny>, &Made) -> PyResult<R>,
    ) -> Option<R>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        Python::attach(|py| {
            let asked = self.made(py).and_then(|made| {
                let args = args(py, made)?;
                match &made.hooks[hook] {
                    Some(hook) => read(hook.bind(py).call1(args)?.as_any(), made).map(Some),
                    None => Ok(None),
                }
            });
            asked.unwrap_or_else(|e| {
                self.fail(py, self.names[hook], &e);
                None
            })
        })
    }

    /// Calls a hook that looks at the window. `None`: the class has none, or it went wrong.
    fn look<A, R>(
        &self,
        hook: usize,
        w: &Window,
        args: impl FnOnce(Python<'_>, Py<PyWindow>) -> PyResult<A>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        let args = |py: Python<'_>, made: &Made| {
            made.window.get().show(w, false);
            args(py, made.window.clone_ref(py))
        };
        self.has(hook).then(|| self.ask(hook, args, |value, _| read(value)))?
    }

    /// Calls a hook that sets the window. `None` as for `look`, and the window stays as it was.
    fn set<A, R>(
        &self,
        hook: usize,
        w: &mut Window,
        args: impl FnOnce(Python<'_>, Py<PyWindow>) -> PyResult<A>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        if !self.has(hook) {
            return None;
        }
        let args = |py: Python<'_>, made: &Made| {
            made.window.get().show(w, true);
            args(py, made.window.clone_ref(py))
        };
        let (read, cwnd, ssthresh) = self.ask(hook, args, |value, made| {
            let (cwnd, ssthresh) = made.window.get().taken();
            Ok((read(value)?, cwnd, ssthresh))
        })?;
        (w.cwnd, w.ssthresh) = (cwnd, ssthresh);
        Some(read)
    }

    fn fail(&self, py: Python<'_>, hook: &str, e: &PyErr) {
        let told = py
            .import(intern!(py, "rexmit.rules.loading"))
            .and_then(|loading| loading.call_method1(intern!(py, "told"), (e.clone_ref(py).into_value(py),)))
            .and_then(|text| text.extract::<String>())
            .unwrap_or_else(|_| e.to_string());
        self.mishap.tell(format!("{} of the rule {} failed: {told}", hook, self.class.name));
    }

    /// One that shares nothing that either changes.
    fn copied(&self) -> Rule {
        let copy = Rule::new(&self.class, self.names, &self.mishap);
        let Some(made) = self.made.get().filter(|_| self.mishap.told().is_none()) else { return copy };
        Python::attach(|py| {
            let copied = py
                .import(intern!(py, "copy"))
                .and_then(|module| module.call_method1(intern!(py, "deepcopy"), (&made.object,)))
                .and_then(|object| copy.bound(object, made.window.clone_ref(py)));
            match copied {
                Ok(made) => {
                    let _ = copy.made.set(made);
                }
                Err(e) => self.fail(py, "a copy, for undo,", &e),
            }
        });
        copy
    }
}
