//! Simulation, as Python sees it.

use super::own;
use super::reaching::PyReach;
use super::watch::Watch;
use super::{Analysis, MOST_LISTED, PyTable, Source, span, wanted};
use analysis::Config;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use results::json::write::{By, Put, members, object};
use results::script::{Ack, Event, Script, What, put_step};
use results::simulate::gather::{AnyTable, Gathered, Keep};
use results::simulate::report::no_run;
use results::simulate::series::AllSeries;
use results::simulate::tables::RunTable;
use results::simulate::{At, Progress, Request, Wish, many, needs, run};
use results::spool::{Listing, Table};
use scenario::Override;
use scenario::describe::{KeyPage, KindPage, Section, StackLine};
use scenario::file::{self, Form};
use scenario::model::{Scenario, Workload};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tcp::stack::Kind;
use wire::Span;

pyo3::create_exception!(
    rexmit._core,
    ScenarioError,
    PyValueError,
    "A scenario or a stack that is none. A line for each mistake: file, line, key and the fix."
);

pub(super) fn refused(errors: scenario::Errors) -> PyErr {
    ScenarioError::new_err(errors.to_string())
}

/// A scenario with overrides and its place: what every variant of a study is.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Variant {
    /// A file, or `text` with the folder from which it names others; `file`: its name in messages. Text without a
    /// name was made in code: nobody has seen its lines.
    path: Option<PathBuf>,
    text: Option<String>,
    file: Option<String>,
    folder: Option<PathBuf>,
    set: Vec<(String, String)>,
    /// What stands before an override in messages.
    label: Option<String>,
    seed: Option<u64>,
    /// Where the file and all that it names have to be.
    within: Option<Py<PyReach>>,
}

impl Variant {
    fn read(&self, path: &Path, form: Form) -> Result<String, String> {
        file::read(path, form, &PyReach::of(self.within.as_ref()))
    }

    fn overrides(&self) -> Vec<Override> {
        let label = match self.label.as_deref() {
            Some("--set ") => "--set ",
            _ => "",
        };
        let set =
            self.set.iter().map(|(key, value)| Override { key: key.clone(), value: value.clone(), label });
        set.collect()
    }

    /// A sentence that begins with a key, behind the file and the line where that is said.
    pub(super) fn placed(&self, sentence: &str) -> String {
        let read = self.path.as_ref().and_then(|path| self.read(path, Form::Scenario).ok());
        let (Some(text), Some(file)) = (read.as_ref().or(self.text.as_ref()), &self.file) else {
            return sentence.to_owned();
        };
        let key = sentence.split(' ').next().unwrap_or_default().trim_end_matches(':');
        scenario::place(text, file, &self.overrides(), key) + sentence
    }

    pub(super) fn load(&self) -> PyResult<Scenario> {
        let set = self.overrides();
        let file = self.file.as_deref().unwrap_or_default();
        let mut scenario = match (&self.path, &self.text) {
            (Some(path), _) => {
                let reach = PyReach::of(self.within.as_ref());
                scenario::load_as(path, file, &set, &reach).map_err(refused)?
            }
            (None, Some(text)) => {
                let folder = self.folder.clone().unwrap_or_default();
                let read = |path: &Path, form| self.read(path, form);
                scenario::parse(text, file, &folder, &set, &read).map_err(refused)?
            }
            (None, None) => return Err(PyValueError::new_err("a scenario needs a path or a text")),
        };
        if let Some(seed) = self.seed {
            scenario.seed = seed;
        }
        Ok(scenario)
    }
}

/// A run that may not start, told with the place of the key that the sentence begins with.
fn refuse(why: Option<String>, variant: &Variant) -> PyResult<()> {
    why.map_or(Ok(()), |why| Err(ScenarioError::new_err(variant.placed(&why))))
}

/// Programs run on the live bench only.
fn simulable(scenario: Scenario) -> PyResult<Scenario> {
    match scenario.flows.iter().find(|f| matches!(f.workload, Workload::Command { .. })) {
        None => Ok(scenario),
        Some(flow) => Err(ScenarioError::new_err(format!(
            "flow.{}.workload: kind = \"command\" runs programs, which cannot be simulated: rexmit run … --bench live",
            flow.name
        ))),
    }
}

/// A scenario as resolved: presets expanded, defaults and overrides filled in.
#[pyfunction]
pub fn resolve(py: Python<'_>, variant: Variant) -> PyResult<String> {
    py.detach(|| variant.load().map(|s| scenario::to_toml(&s)))
}

pub(super) fn at(name: &str) -> PyResult<At> {
    let found = At::ALL.into_iter().find(|(known, _)| *known == name);
    found
        .map(|(_, at)| at)
        .ok_or_else(|| PyValueError::new_err(format!("at = {name:?}: one of both, sender, receiver")))
}

/// The tables of the simulator among `names`, and the rest.
fn wish(names: Vec<String>) -> (Wish, Vec<String>) {
    let mut wish = Wish::default();
    let mut rest = Vec::new();
    for name in names {
        match RunTable::named(&name) {
            Some(RunTable::State) => wish.state = true,
            Some(RunTable::Queues) => wish.queues = true,
            Some(RunTable::Drops) => wish.drops = true,
            Some(RunTable::Truth) => wish.truth = true,
            Some(RunTable::Hosts) => wish.hosts = true,
            Some(RunTable::Applications) => wish.applications = true,
            Some(RunTable::Blocked) => wish.blocked = true,
            Some(RunTable::Held) => wish.held = true,
            None => rest.push(name),
        }
    }
    (wish, rest)
}

fn config(idle: Option<f64>, interval: f64, tables: &[String]) -> PyResult<Config> {
    if interval <= 0.0 {
        return Err(PyValueError::new_err(format!("interval = {interval}: must be above 0 seconds")));
    }
    Ok(Config {
        vantage: None,
        idle: span("idle", idle)?,
        interval: span("interval", Some(interval))?.unwrap_or(Span::from_secs(1)),
        wanted: wanted(tables, true)?,
        ..Config::default()
    })
}

#[pyfunction]
#[pyo3(signature = (
    variant, *, at = "both", idle = None, interval = 1.0, tables = Vec::new(), captures = None,
    flows = Some(MOST_LISTED), listed_only = false, max_memory = None, progress = None
))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
pub fn simulate(
    py: Python<'_>,
    variant: Variant,
    at: &str,
    idle: Option<f64>,
    interval: f64,
    tables: Vec<String>,
    captures: Option<PathBuf>,
    flows: Option<usize>,
    listed_only: bool,
    max_memory: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Analysis> {
    let (wish, tables) = wish(tables);
    let (at, config) = (self::at(at)?, config(idle, interval, &tables)?);
    let mut scenario = simulable(py.detach(|| variant.load())?)?;
    refuse(py.detach(|| needs::refusal(&scenario, 1, max_memory)), &variant)?;
    own::bind(py, &mut scenario)?;
    let listing = Listing { most: flows, only: listed_only };
    let request = Request { seed: scenario.seed, scenario, at, config, listing, wish, captures, max_memory };
    let mut watch = Watch::new(progress);
    let mut go_on = |p: Progress| match p.ending {
        true => watch.has_time(),
        false => watch.goes_on(|| (p.done.as_secs(), p.total.map(Span::as_secs), p.events)),
    };
    let done = if own::has_own(&request.scenario) {
        // A rule is asked at every ACK: to let go of the interpreter in between would cost more than the rule.
        let held = own::Held::over(py)?;
        run(&request, &mut |p| go_on(p) && (p.ending || held.goes_on()))
    } else {
        py.detach(|| run(&request, &mut go_on))
    };
    if let Some(e) = watch.failed {
        return Err(e);
    }
    let (found, played) = done.map_err(PyOSError::new_err)?;
    Ok(Analysis::of(found, Some(played)))
}

/// Runs what is planned (a variant's number and a seed each), one after the other. `at_once`: so many such calls share the
/// memory.
#[pyfunction]
#[pyo3(signature = (
    variants, plan, *, at = "both", idle = None, interval = 1.0, tables = Vec::new(), bin = None,
    at_once = 1, max_memory = None, progress = None
))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
pub fn simulate_many(
    py: Python<'_>,
    variants: Vec<Variant>,
    plan: Vec<(usize, Option<u64>)>,
    at: &str,
    idle: Option<f64>,
    interval: f64,
    tables: Vec<String>,
    bin: Option<f64>,
    at_once: usize,
    max_memory: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Batch> {
    let width = super::bin_width(bin)?;
    let keep = kept(at, idle, interval, tables, max_memory.map(|bytes| bytes / at_once.max(1) as u64))?;
    let scenarios = py.detach(|| {
        let mut scenarios =
            variants.iter().map(|v| v.load().and_then(simulable)).collect::<PyResult<Vec<Scenario>>>()?;
        Python::attach(|py| scenarios.iter_mut().try_for_each(|scenario| own::bind(py, scenario)))?;
        for (scenario, variant) in scenarios.iter().zip(&variants) {
            refuse(needs::refusal(scenario, at_once, max_memory), variant)?;
        }
        Ok::<_, PyErr>(scenarios)
    })?;
    let runs = seeded(&plan, &scenarios);
    let planned = many::Plan { scenarios: &scenarios, runs: &runs, keep, width };
    let mut watch = Watch::new(progress);
    let mut go_on = |done| watch.goes_on(|| (done, Some(runs.len()), 0));
    let done = if scenarios.iter().any(own::has_own) {
        // A rule is asked at every ACK: to let go of the interpreter in between would cost more than the rule.
        let held = own::Held::over(py)?;
        many::run(&planned, &mut |done| go_on(done) && held.goes_on())
    } else {
        py.detach(|| many::run(&planned, &mut go_on))
    };
    match watch.failed {
        Some(e) => Err(e),
        None => Batch::new(&scenarios, &runs, done),
    }
}

/// The classes of rules in Python that stacks of these name.
#[pyfunction]
pub fn own_classes(py: Python<'_>, variants: Vec<Variant>) -> PyResult<Vec<String>> {
    py.detach(|| {
        let scenarios = variants.iter().map(Variant::load).collect::<PyResult<Vec<Scenario>>>()?;
        Ok(own::classes(&scenarios))
    })
}

/// What is kept of each run, if anything is.
pub(super) fn kept(
    at: &str,
    idle: Option<f64>,
    interval: f64,
    tables: Vec<String>,
    max_memory: Option<u64>,
) -> PyResult<Option<Keep>> {
    let named = |name: &String| {
        let found = Table::named(name).map(AnyTable::Found);
        found.or_else(|| RunTable::named(name).map(AnyTable::Own))
    };
    let mut kept: Vec<AnyTable> = Vec::new();
    for table in tables.iter().filter_map(named) {
        if !kept.contains(&table) {
            kept.push(table);
        }
    }
    let (wish, tables) = wish(tables);
    let (at, config) = (self::at(at)?, config(idle, interval, &tables)?);
    Ok((!kept.is_empty()).then_some(Keep { at, config, tables: kept, wish, max_memory }))
}

/// A plan whose every run has a seed: its scenario's own where none is said.
pub(super) fn seeded(plan: &[(usize, Option<u64>)], scenarios: &[Scenario]) -> Vec<(usize, u64)> {
    let own = |which: usize| scenarios.get(which).map_or(0, |s| s.seed);
    plan.iter().map(|(k, seed)| (*k, seed.unwrap_or_else(|| own(*k)))).collect()
}

/// What became of many runs.
#[pyclass(frozen, module = "rexmit._core")]
pub struct Batch {
    /// JSON, in the order of the plan; None for those that were stopped.
    #[pyo3(get)]
    runs: Vec<Option<String>>,
    rows: Option<Arc<Gathered>>,
    /// What happened in each interval, if `bin` said how long they are.
    series: Option<Arc<AllSeries>>,
}

impl Batch {
    pub(super) fn new(scenarios: &[Scenario], plan: &[(usize, u64)], done: many::Outcome) -> PyResult<Batch> {
        let utf8 = |json: Vec<u8>| String::from_utf8(json).map_err(|e| PyValueError::new_err(e.to_string()));
        let told = |((which, seed), counted): (&(usize, u64), Option<many::Counted>)| {
            let name = scenarios.get(*which).map_or("", |s| s.name.as_str());
            let json = counted.map(|counted| match counted {
                Ok(report) => report.json(),
                Err(why) => no_run(name, *seed, &why),
            });
            json.map(utf8).transpose()
        };
        let runs = plan.iter().zip(done.runs).map(told).collect::<PyResult<_>>()?;
        Ok(Batch { runs, rows: done.rows.map(Arc::new), series: done.series.map(Arc::new) })
    }
}

#[pymethods]
impl Batch {
    fn table(&self, name: &str) -> PyResult<PyTable> {
        let kept = self.rows.as_ref().and_then(|rows| Some((rows, rows.named(name)?)));
        let (rows, table) = kept.ok_or_else(|| {
            let fix = format!("table {name} was not kept: simulate_many with tables=(\"{name}\",)");
            PyValueError::new_err(fix)
        })?;
        Ok(PyTable(Source::Many(Arc::clone(rows), table)))
    }
    fn series(&self) -> PyResult<PyTable> {
        let series = self.series.as_ref().map(|series| PyTable(Source::Series(Arc::clone(series))));
        series.ok_or_else(|| PyValueError::new_err("there is no series: simulate_many with bin=SECONDS"))
    }
    /// Sentences about rows that could not be kept.
    fn warnings(&self) -> Vec<String> {
        self.rows.as_ref().map_or(Vec::new(), |rows| rows.complaints.clone())
    }
}

/// What a script's event says; which of its keys are there is Python's to see to.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Happening {
    at: f64,
    kind: String,
    /// Bytes that are written; what is acknowledged; where the peer's data begins.
    from: i64,
    /// Where the peer's data ends.
    to: i64,
    sack: Vec<(i64, i64)>,
    window: Option<u32>,
    echo: Option<f64>,
}

impl Happening {
    fn event(&self, unit: u64) -> PyResult<Event> {
        let bytes = |n: i64| {
            let n = u64::try_from(n).ok().and_then(|n| n.checked_mul(unit));
            n.ok_or_else(|| PyValueError::new_err("an offset is a whole number from 0 up"))
        };
        let (from, to) = (bytes(self.from)?, bytes(self.to)?);
        let block = |(left, right): &(i64, i64)| Ok((bytes(*left)?, bytes(*right)?));
        let at = span("at", Some(self.at))?.unwrap_or(Span::ZERO);
        let what = match self.kind.as_str() {
            "write" => What::Write(from),
            "close" => What::Close,
            "data" => What::Data { from, to },
            "ack" => What::Ack(Ack {
                next: from,
                sack: self.sack.iter().map(block).collect::<PyResult<_>>()?,
                window: self.window,
                echo: span("echo", self.echo)?,
            }),
            _ => What::Wait,
        };
        Ok(Event { at, what })
    }
}

/// What a stack's endpoint does about events; JSON, a list of steps.
#[pyfunction]
#[pyo3(signature = (stack, events, *, rtt = 0.1, mss = None, in_bytes = false))]
pub fn script(
    py: Python<'_>,
    stack: &str,
    events: Vec<Happening>,
    rtt: f64,
    mss: Option<u16>,
    in_bytes: bool,
) -> PyResult<String> {
    let mut loaded = scenario::describe::load(stack).map_err(refused)?;
    own::bind_stack(py, &mut loaded)?;
    let Kind::Wire(mut spec) = loaded.kind.clone() else {
        let says = format!("{stack} is a one-way agent: it hears no segments; name a real endpoint");
        return Err(ScenarioError::new_err(says));
    };
    spec.options.mss_bytes = mss.unwrap_or(spec.options.mss_bytes);
    let script = Script::new(&spec, span("rtt", Some(rtt))?.unwrap_or(Span::ZERO));
    let unit = if in_bytes { 1 } else { u64::from(script.smss()) };
    let events = events.iter().map(|e| e.event(unit)).collect::<PyResult<Vec<Event>>>()?;
    let steps = py.detach(|| script.play(&events)).map_err(PyValueError::new_err)?;
    own::mishap(&loaded)?;
    text(|out| each(&steps, put_step).put(out))
}

/// The built-in stacks.
#[pyfunction]
pub fn stacks() -> PyResult<String> {
    let lines = scenario::describe::stacks().map_err(refused)?;
    text(|out| each(&lines, |line, out| put_line(line, &[], out)).put(out))
}

/// What a stack is made of.
#[pyfunction]
pub fn stack(name: &str) -> PyResult<String> {
    let page = scenario::describe::stack(name).map_err(refused)?;
    text(|out| put_line(&page.line, &page.sections, out))
}

/// What links can have.
#[pyfunction]
pub fn channels() -> PyResult<String> {
    let (common, channels) = scenario::describe::channels();
    let queues = scenario::describe::queues();
    text(|out| {
        object!(out,
            "common": each(&common, put_key),
            "channels": each(&channels, put_kind),
            "queues": each(&queues, put_kind),
        );
    })
}

pub(super) fn text(put: impl FnOnce(&mut Vec<u8>)) -> PyResult<String> {
    let mut out = Vec::new();
    put(&mut out);
    String::from_utf8(out).map_err(|e| PyValueError::new_err(e.to_string()))
}

fn each<T>(all: &[T], put: fn(&T, &mut Vec<u8>)) -> Vec<impl Put + '_> {
    all.iter().map(|one| By(move |out: &mut Vec<u8>| put(one, out))).collect()
}

fn put_key(k: &KeyPage, out: &mut Vec<u8>) {
    object!(out, "name": k.name, "value": k.value, "default": k.default, "about": k.about);
}

fn put_kind(k: &KindPage, out: &mut Vec<u8>) {
    object!(out, "name": k.name, "about": k.about, "forms": k.forms, "keys": each(&k.keys, put_key));
}

fn put_line(line: &StackLine, sections: &[Section], out: &mut Vec<u8>) {
    out.push(b'{');
    members!(out, "",
        "name": line.name,
        "about": line.about,
        "based_on": line.based_on,
        "wire": line.wire,
        "sources": line.sources,
    );
    if !sections.is_empty() {
        members!(out, ",", "sections": each(sections, put_section));
    }
    out.push(b'}');
}

fn put_section(s: &Section, out: &mut Vec<u8>) {
    object!(out,
        "name": s.name,
        "about": s.about,
        "entries": each(&s.entries, |e, out| {
            object!(out, "key": e.key, "value": e.value, "about": e.about, "said": e.said);
        }),
        "sources": s.sources,
        "assumed": s.assumed,
    );
}
