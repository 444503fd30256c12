//! What hooks are handed: the facts of `tcp` as light objects, whose numbers become Python's when they are read.

use super::answers::bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use tcp::congestion::{self, Window};
use tcp::own;
use tcp::sampler::rate;
use wire::{Span, Time};

/// The congestion window, which hooks set. One object for each connection; its numbers are those of the hook at hand.
#[pyclass(frozen, name = "Window", module = "rexmit._core")]
pub struct PyWindow {
    cwnd: AtomicU32,
    ssthresh: AtomicU32,
    smss: AtomicU32,
    /// The hook at hand may set it.
    open: AtomicBool,
}

impl PyWindow {
    pub fn unset() -> PyWindow {
        PyWindow::of(&Window { cwnd: 1, ssthresh: u32::MAX, smss: 1 }, false)
    }
    fn of(w: &Window, open: bool) -> PyWindow {
        PyWindow { cwnd: w.cwnd.into(), ssthresh: w.ssthresh.into(), smss: w.smss.into(), open: open.into() }
    }
    pub fn show(&self, w: &Window, open: bool) {
        self.cwnd.store(w.cwnd, Relaxed);
        self.ssthresh.store(w.ssthresh, Relaxed);
        self.smss.store(w.smss, Relaxed);
        self.open.store(open, Relaxed);
    }
    /// What a hook made of it.
    pub fn taken(&self) -> (u32, u32) {
        (self.cwnd.load(Relaxed), self.ssthresh.load(Relaxed))
    }
    fn set(&self, place: &AtomicU32, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if !self.open.load(Relaxed) {
            return Err(PyValueError::new_err(format!(
                "{name} cannot be set here: this hook only looks at the window"
            )));
        }
        place.store(bytes(value, name)?, Relaxed);
        Ok(())
    }
}

#[pymethods]
impl PyWindow {
    #[new]
    #[pyo3(signature = (*, cwnd, ssthresh = u32::MAX, smss = 1448))]
    fn new(cwnd: u32, ssthresh: u32, smss: u32) -> PyResult<PyWindow> {
        match smss {
            0 => Err(PyValueError::new_err("smss = 0: from 1 up")),
            _ => Ok(PyWindow::of(&Window { cwnd, ssthresh, smss }, true)),
        }
    }
    #[getter]
    fn cwnd(&self) -> u32 {
        self.cwnd.load(Relaxed)
    }
    #[setter]
    fn set_cwnd(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(&self.cwnd, "cwnd", value)
    }
    #[getter]
    fn ssthresh(&self) -> u32 {
        self.ssthresh.load(Relaxed)
    }
    #[setter]
    fn set_ssthresh(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(&self.ssthresh, "ssthresh", value)
    }
    #[getter]
    fn smss(&self) -> u32 {
        self.smss.load(Relaxed)
    }
    fn __repr__(&self) -> String {
        format!("Window(cwnd={}, ssthresh={}, smss={})", self.cwnd(), self.ssthresh(), self.smss())
    }
}

/// Facts as a class: its name, what it holds and how that is read; and how one is made by hand, to try a rule without a run.
macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident($class:literal) of $of:ty {
        $($get:ident: $type:ty $(= $default:expr)? => |$f:ident| $read:expr,)*
    } as $made:expr;)*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, name = $class, module = "rexmit._core")]
        pub struct $name(pub $of);

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (*, $($get $(= $default)?),*))]
            #[allow(clippy::too_many_arguments)] // they are keywords in Python
            fn new($($get: $type),*) -> $name {
                $name($made)
            }
            $(#[getter]
            fn $get(&self) -> $type {
                let $f = &self.0;
                $read
            })*
            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let mut parts: Vec<String> = Vec::new();
                $({
                    let value = self.$get().into_pyobject(py)?;
                    parts.push(format!("{}={}", stringify!($get), value.as_any().repr()?));
                })*
                Ok(format!("{}({})", $class, parts.join(", ")))
            }
        }
    )*};
}

fn ns(span: Option<Span>) -> Option<i64> {
    span.map(|span| span.0)
}
fn span(ns: Option<i64>) -> Option<Span> {
    ns.map(Span)
}

facts! {
    /// What an ACK told.
    PyAckFacts("AckFacts") of congestion::AckFacts {
        now_ns: i64 = 0 => |f| f.now.0,
        acked: u32 = 0 => |f| f.acked,
        delivered: u32 = 0 => |f| f.delivered,
        segments: u32 = 1 => |f| f.segments,
        rtt_ns: Option<i64> = None => |f| ns(f.rtt),
        min_rtt_ns: Option<i64> = None => |f| ns(f.min_rtt),
        srtt_ns: Option<i64> = None => |f| ns(f.srtt),
        flight: u32 = 0 => |f| f.flight,
        una: u64 = 1 => |f| f.una,
        nxt: u64 = 1 => |f| f.nxt,
        limited: bool = true => |f| f.limited,
    } as congestion::AckFacts {
        now: Time(now_ns),
        rtt: span(rtt_ns),
        stamped: None,
        min_rtt: span(min_rtt_ns),
        srtt: span(srtt_ns),
        acked, delivered, segments, flight, una, nxt, limited,
        paced: false,
    };
    /// What was known when a loss was found.
    PyLossFacts("LossFacts") of congestion::LossFacts {
        now_ns: i64 = 0 => |f| f.now.0,
        flight: u32 = 0 => |f| f.flight,
        una: u64 = 1 => |f| f.una,
        nxt: u64 = 1 => |f| f.nxt,
        timeout: bool = false => |f| f.timeout,
    } as congestion::LossFacts { now: Time(now_ns), flight, una, nxt, timeout };
    /// How much was delivered so far.
    PyProgress("Progress") of rate::Progress {
        delivered: u64 = 0 => |f| f.delivered,
        delivered_at_ns: i64 = 0 => |f| f.delivered_at.0,
        lost: u64 = 0 => |f| f.lost,
        app_limited: bool = false => |f| f.app_limited,
    } as rate::Progress { delivered, delivered_at: Time(delivered_at_ns), lost, app_limited };
    /// What one ACK says of the delivery rate. Segments.
    PyRateSample("RateSample") of rate::RateSample {
        delivered: Option<u64> = None => |f| f.delivered,
        prior_delivered: u64 = 0 => |f| f.prior_delivered,
        interval_ns: Option<i64> = None => |f| ns(f.interval),
        app_limited: bool = false => |f| f.app_limited,
        newly_delivered: u32 = 0 => |f| f.newly_delivered,
        newly_lost: u32 = 0 => |f| f.newly_lost,
        prior_in_flight: u32 = 0 => |f| f.prior_in_flight,
        in_flight_then: u32 = 0 => |f| f.in_flight_then,
        lost_since: u64 = 0 => |f| f.lost_since,
        rtt_ns: Option<i64> = None => |f| ns(f.rtt),
        ack_delayed: bool = false => |f| f.ack_delayed,
    } as rate::RateSample {
        interval: span(interval_ns),
        rtt: span(rtt_ns),
        delivered, prior_delivered, app_limited, newly_delivered, newly_lost, prior_in_flight, in_flight_then, lost_since,
        ack_delayed,
    };
    /// What an ACK in recovery told. Bytes.
    PyRepairFacts("RepairFacts") of own::RepairFacts {
        acked: u32 = 0 => |f| f.acked,
        delivered: u32 = 0 => |f| f.delivered,
        pipe: u32 = 0 => |f| f.pipe,
        flight: u32 = 0 => |f| f.flight,
        duplicate: bool = false => |f| f.duplicate,
        more_lost: bool = false => |f| f.more_lost,
        repair_lost: bool = false => |f| f.repair_lost,
        repair_acked: bool = false => |f| f.repair_acked,
    } as own::RepairFacts { acked, delivered, pipe, flight, duplicate, more_lost, repair_lost, repair_acked };
    /// What a detector may look at.
    PyDetectFacts("DetectFacts") of Seen {
        sacked: Vec<(u64, u64)> = Vec::new() => |f| f.sacked.clone(),
        una: u64 = 1 => |f| f.una,
        nxt: u64 = 1 => |f| f.nxt,
        smss: u32 = 1448 => |f| f.smss,
        dupthresh: u32 = 3 => |f| f.dupthresh,
        dupacks: u32 = 0 => |f| f.dupacks,
        sacked_segments: u32 = 0 => |f| f.sacked_segments,
        sack: bool = false => |f| f.sack,
    } as Seen { sacked, una, nxt, smss, dupthresh, dupacks, sacked_segments, sack };
    /// What an ACK said about time and order. Copies: when they left, ns, and where they end.
    PyDelivery("Delivery") of own::Delivery {
        now_ns: i64 = 0 => |f| f.now.0,
        newest: Option<(i64, u64)> = None => |f| f.newest.map(|c| (c.sent.0, c.end)),
        measured_ns: Option<i64> = None => |f| f.measured.map(|t| t.0),
        reordered: Option<u32> = None => |f| f.reordered,
        dsack: bool = false => |f| f.dsack,
        una: u64 = 1 => |f| f.una,
        max: u64 = 1 => |f| f.max,
    } as own::Delivery {
        now: Time(now_ns),
        newest: newest.map(copy),
        measured: measured_ns.map(Time),
        reordered, dsack, una, max,
    };
    /// For how long a detector by time may wait.
    PyPatience("Patience") of own::Patience {
        repairing: bool = false => |f| f.repairing,
        sacked_segments: u32 = 0 => |f| f.sacked_segments,
        dupthresh: u32 = 3 => |f| f.dupthresh,
        min_rtt_ns: Option<i64> = None => |f| ns(f.min_rtt),
        srtt_ns: Option<i64> = None => |f| ns(f.srtt),
    } as own::Patience {
        min_rtt: span(min_rtt_ns),
        srtt: span(srtt_ns),
        repairing, sacked_segments, dupthresh,
    };
    /// Against what copies are held.
    PyHorizon("Horizon") of own::Horizon {
        newest: (i64, u64) => |f| (f.newest.sent.0, f.newest.end),
        wait_ns: i64 = 0 => |f| f.wait.0,
    } as own::Horizon { newest: copy(newest), wait: Span(wait_ns), now: Time::ZERO };
    /// What a detector makes of them.
    PyVerdict("Verdict") of own::Verdict {
        lost_below: u64 => |f| f.lost_below,
        begins: bool => |f| f.begins,
    } as own::Verdict { lost_below, begins };
}

fn copy((sent, end): (i64, u64)) -> own::Copy {
    own::Copy { sent: Time(sent), end }
}

/// A detector's facts, taken out of the sender.
pub struct Seen {
    /// From the highest down.
    sacked: Vec<(u64, u64)>,
    una: u64,
    nxt: u64,
    smss: u32,
    dupthresh: u32,
    dupacks: u32,
    sacked_segments: u32,
    sack: bool,
}

impl From<&own::DetectFacts<'_>> for Seen {
    fn from(f: &own::DetectFacts<'_>) -> Seen {
        Seen {
            sacked: f.sacked().collect(),
            una: f.una,
            nxt: f.nxt,
            smss: f.smss,
            dupthresh: f.dupthresh,
            dupacks: f.dupacks,
            sacked_segments: f.sacked_segments,
            sack: f.sack,
        }
    }
}
