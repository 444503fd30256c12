//! `rexmit record`, as Python sees it.

use super::runs::text;
use super::watch::Watch;
use super::{LiveError, span};
use ::live::Error;
use ::live::recorder::{self, By, Counters, End, Interface, Options, Outcome, Ring};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use results::json::write::{By as Object, Put, object};
use std::path::PathBuf;
use wire::Span;

/// Records into a folder; what became of it as JSON (docs/record.md, `record.json`). ValueError: the filter, the
/// interface or the command is none.
#[pyfunction]
#[pyo3(signature = (
    folder, *, filter = None, interface = None, command = Vec::new(), payload = false, ring = None, limit = None,
    progress = None
))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
pub fn record(
    py: Python<'_>,
    folder: PathBuf,
    filter: Option<String>,
    interface: Option<String>,
    command: Vec<String>,
    payload: bool,
    ring: Option<(usize, u64)>,
    limit: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let ring = ring.map(|(files, bytes)| Ring { files, bytes });
    let limit = span("limit", limit)?;
    let options = Options { filter, interface, command, folder, payload, ring, limit };
    let mut watch = Watch::new(progress);
    let done = py.detach(|| {
        recorder::run(&options, &mut |p| {
            watch.goes_on(|| (p.now.as_secs(), p.limit.map(Span::as_secs), p.packets))
        })
    });
    if let Some(e) = watch.failed {
        return Err(e);
    }
    let outcome = done.map_err(told)?;
    text(|out| json(&outcome, out))
}

/// Raises ValueError with a sentence if a filter is none.
#[pyfunction]
pub fn record_filter(filter: &str) -> PyResult<()> {
    recorder::check_filter(filter).map_err(told)
}

fn told(e: Error) -> PyErr {
    match e {
        Error::Scenario(text) => PyValueError::new_err(text),
        Error::Machine(text) | Error::Failed(text) => LiveError::new_err(text),
    }
}

fn json(o: &Outcome, out: &mut Vec<u8>) {
    let end = match o.end {
        End::Command => "command",
        End::Limit => "limit",
        End::Stopped => "stopped",
    };
    let (chosen_by, no_cgroup) = match &o.by {
        By::Filter => ("filter", None),
        By::Cgroup => ("cgroup", None),
        By::Sockets(why) => ("sockets", Some(why.as_str())),
    };
    let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let files: Vec<String> = o.taken.files.iter().filter_map(name).collect();
    let [retransmissions, senders, states, sockets] = o.told.rows;
    object!(out,
        "end": end,
        "kernel": o.kernel,
        "began_ns": o.began.0,
        "ended_ns": o.ended.0,
        "cpu_s": o.cpu,
        "chosen_by": chosen_by,
        "no_cgroup": no_cgroup,
        "snaplen": o.snap,
        "captures": files,
        "packets": o.taken.packets,
        "bytes": o.taken.bytes,
        "dropped": o.taken.dropped,
        "capture_error": o.taken.error.as_deref(),
        "exit": o.exit.as_ref().map(|(told, _)| told.as_str()),
        "exit_well": o.exit.as_ref().map(|(_, well)| *well),
        "kernel_tells": o.silent.is_none(),
        "kernel_silent": o.silent.as_deref(),
        "kernel_lost": o.told.lost,
        "kernel_error": o.told.error.as_deref(),
        "rows": {
            "retransmissions": retransmissions,
            "senders": senders,
            "states": states,
            "sockets": sockets,
        },
        "counters": counters(&o.counters),
        "interfaces": o.interfaces.iter().map(|i| Object(move |out: &mut Vec<u8>| interface(i, out)))
            .collect::<Vec<_>>(),
        "warnings": o.warnings,
    );
}

fn interface(i: &Interface, out: &mut Vec<u8>) {
    object!(out,
        "name": i.name,
        "up": i.is_up,
        "mtu": i.mtu,
        "queue": i.qdisc,
        "offloads": i.offloads.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(),
        "counts": counters(&i.counts),
        "queue_counts": counters(&i.queue),
    );
}

/// An object of numbers by name.
fn counters(all: &Counters) -> impl Put + '_ {
    Object(move |out: &mut Vec<u8>| {
        out.push(b'{');
        for (k, (name, value)) in all.iter().enumerate() {
            if k > 0 {
                out.push(b',');
            }
            name.as_str().put(out);
            out.push(b':');
            value.put(out);
        }
        out.push(b'}');
    })
}
