//! A fault of rexmit in the analysis of one connection: it is caught, named, and the other connections go on.
//!
//! Whatever panics within [`caught`] prints nothing: its place in the source and its message become a sentence. Where
//! a panic ends the process (WebAssembly), and in fuzzing, nothing is caught.

use crate::rows::{FlowId, FlowRow};
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;
use wire::{Time, Tuple};

/// Whether faults are caught at all.
pub const CATCHES: bool = cfg!(panic = "unwind") && !cfg!(fuzzing);
/// As much of a message is told.
const LONGEST: usize = 200;

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `work`. Returns its result or, if it panics, a sentence about the fault; the caller then drops the data that `work`
/// was changing, or makes it anew.
pub fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    if !CATCHES {
        return Ok(work());
    }
    listen();
    let before = WATCHED.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    WATCHED.set(before);
    done.map_err(|_| LAST.take())
}

/// The process's panic hook is asked first whether the panic is one that [`caught`] tells of.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| match WATCHED.get() {
            true => LAST.set(sentence(info)),
            false => usual(info),
        }));
    });
}

fn sentence(info: &PanicHookInfo<'_>) -> String {
    let place =
        info.location().map_or("an unknown place".to_owned(), |at| format!("{}:{}", at.file(), at.line()));
    let message = info.payload_as_str().unwrap_or_default().lines().next().unwrap_or_default();
    let message: String = message.chars().take(LONGEST).collect();
    format!("rexmit failed at {place} ({message}): a fault of rexmit, please report it")
}

/// The row of a connection that was given up: its endpoints, its time and its fault. It stands for both directions.
pub(crate) fn row(number: u32, tuple: &Tuple, from: Time, to: Time, fault: String) -> FlowRow {
    FlowRow {
        flow: FlowId::from(number) * 2,
        sender: tuple.src,
        receiver: tuple.dst,
        start: from,
        end: to,
        observed_until: to,
        fault: Some(fault.into()),
        ..FlowRow::default()
    }
}

/// Where a test has the analysis of a connection fail: the one with this port. Nothing else sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    pub port: u16,
    pub at: TripAt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripAt {
    /// Once it is followed in full.
    Grows,
    /// A packet repeats data.
    Resends,
    /// It ends.
    Ends,
    /// Of two captures one lacks a packet of it.
    Misses,
}

impl Trip {
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(crate) fn check(self, at: TripAt, tuple: &Tuple) {
        let its = [tuple.src.port, tuple.dst.port].contains(&self.port);
        assert!(!(self.at == at && its), "a test had it fail");
    }
}
