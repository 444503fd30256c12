//! The bindings. Errors are the sentences of the command line.

mod blob;
mod report;

use analysis::Config;
use blob::Blob;
use capture::Progress;
use js_sys::Function;
use report::{MOST_PACKETS, Report};
use results::json::{self, Beside};
use results::run::{self, Findings, Request};
use results::spool::Listing;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

/// How many flows the JSON lists, as on the command line.
const MOST_LISTED: usize = 10_000;

thread_local! {
    /// What went wrong in rexmit itself, if anything has.
    static FAILURE: RefCell<String> = const { RefCell::new(String::new()) };
    /// Bytes of the files that were handed over.
    static SIZE: Cell<f64> = const { Cell::new(0.0) };
}

/// Called once, before anything else.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| FAILURE.set(panic.to_string())));
}

/// After a call that did not return: what failed, and where in the source.
#[wasm_bindgen]
pub fn failure() -> String {
    FAILURE.with_borrow(String::clone)
}

/// The files that may be read from now on. names: how results and errors call them. sizes: bytes of each.
/// read(file, from, length): the bytes of the file of this number, which has as many.
#[wasm_bindgen]
pub fn hand_over(names: Vec<String>, sizes: Vec<f64>, read: Function) {
    let blob = |(number, (name, size)): (usize, (String, f64))| {
        let blob: Rc<dyn capture::Bytes> = Rc::new(Blob::new(number, size as u64, read.clone()));
        (PathBuf::from(name), blob)
    };
    SIZE.set(sizes.iter().sum());
    capture::hand_over(names.into_iter().zip(sizes).enumerate().map(blob));
}

/// Files of up to so many bytes hold no more packets than a report shows, unless they are compressed: a packet with its
/// headers takes 70 at least.
const SMALL: f64 = 70.0 * MOST_PACKETS as f64;

/// What the captures tell.
#[wasm_bindgen]
pub struct Analysis {
    request: Request,
    progress: Function,
    /// Until its rows make room for those of a report.
    found: Option<Findings>,
    /// It has the rows that a report shows.
    serves: bool,
    packets: u64,
}

/// Reads captures: one, a rotation, or with `receiver` both ends of the same transfers.
/// progress(bytes done, bytes in all, packets) is called now and then.
#[wasm_bindgen]
pub fn analyze(paths: Vec<String>, receiver: Vec<String>, progress: Function) -> Result<Analysis, String> {
    let of = |names: Vec<String>| names.into_iter().map(PathBuf::from).collect();
    let narrow = Request {
        paths: of(paths),
        receiver: of(receiver),
        listing: Listing { most: Some(MOST_LISTED), only: true },
        threads: 1,
        ..Request::default()
    };
    // One pass is enough where memory holds the rows of all flows: those of a report, too.
    let small = SIZE.get() <= SMALL;
    let listing = Listing { only: false, ..narrow.listing };
    let config = Config { wanted: report::wanted(small), ..Config::default() };
    let whole = Request { listing, config, ..narrow.clone() };
    let mut found = run::analyze(&whole, None, &mut |p| tell(&progress, p))?;
    let held = found.shelf.losses().is_empty();
    if !held {
        drop(found);
        found = run::analyze(&narrow, None, &mut |p| tell(&progress, p))?;
    }
    let packets = found.facts.info.packets;
    let serves = held && small == (packets <= MOST_PACKETS);
    Ok(Analysis { request: narrow, progress, found: Some(found), serves, packets })
}

/// Reading goes on: the page ends the worker if it is to stop.
fn tell(progress: &Function, at: Progress) -> bool {
    let total = at.total_bytes.unwrap_or(at.done_bytes);
    let [done, total, packets] = [at.done_bytes, total, at.packets].map(|n| JsValue::from(n as f64));
    let _ = progress.call3(&JsValue::NULL, &done, &total, &packets);
    true
}

#[wasm_bindgen]
impl Analysis {
    /// What `rexmit analyze --json` prints.
    pub fn json(&self) -> Result<Vec<u8>, String> {
        let mut text = Vec::new();
        if let Some(Findings { facts, shelf }) = &self.found {
            json::write(&mut text, facts, shelf, Beside::default()).map_err(|e| e.to_string())?;
        }
        Ok(text)
    }
    /// Whether rexmit failed on something: its exit code would be 1.
    pub fn failed(&self) -> bool {
        self.found.as_ref().is_some_and(Findings::has_failed)
    }
    /// What `rexmit report` shows. The captures are read once more where memory did not hold its rows.
    pub fn report(&mut self) -> Result<Report, String> {
        let found = self.found.take().filter(|_| self.serves);
        report::make(&self.request, found, self.packets, &mut |p| tell(&self.progress, p))
    }
}
