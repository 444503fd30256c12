//! The targets: each a function of bytes, with the limits of one execution.

mod analyze;
mod drill;
mod pair;
mod replay;
mod scenario;
mod stack;

pub(crate) use drill::scripts as drill_scripts;
pub(crate) use scenario::scenarios as scenario_texts;
pub(crate) use stack::stacks as stack_texts;

use crate::limits::{Limits, within};
use std::time::Duration;

/// A function of bytes, and the time and memory that one call may take.
pub struct Target {
    pub name: &'static str,
    pub about: &'static str,
    run: fn(&[u8]),
    shown: fn(&[u8]) -> Vec<u8>,
    limits: Limits,
    /// The corpus.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

const fn limits(seconds: u64, mib: usize) -> Limits {
    Limits { cpu: Duration::from_secs(seconds), bytes: mib << 20 }
}

pub const ANALYZE: Target = Target {
    name: "analyze",
    about: "a capture: JSON, page, every table, annotated, traffic; on one thread and on several",
    run: analyze::run,
    shown: analyze::capture_of,
    limits: limits(10, 256),
    seeds: crate::seeds::captures,
};
pub const PAIR: Target = Target {
    name: "pair",
    about: "two captures of one transfer: compared, and all that comes of it",
    run: pair::run,
    shown: pair::first_of,
    limits: limits(10, 256),
    seeds: crate::seeds::pairs,
};
pub const REPLAY: Target = Target {
    name: "replay",
    about: "a capture's largest transfer through a stack",
    run: replay::run,
    shown: analyze::capture_of,
    limits: limits(20, 256),
    seeds: crate::seeds::captures,
};
pub const DRILL: Target = Target {
    name: "drill",
    about: "a packetdrill script on a stack, and its alterations",
    run: drill::run,
    shown: drill::script_of,
    limits: limits(10, 256),
    seeds: crate::seeds::scripts,
};
pub const SCENARIO: Target = Target {
    name: "scenario",
    about: "a scenario: read, written as resolved, and run for a while",
    run: scenario::run,
    shown: scenario::text_of,
    limits: limits(20, 512),
    seeds: crate::seeds::scenarios,
};
pub const STACK: Target = Target {
    name: "stack",
    about: "a stack file: read, written, and a transfer run with it",
    run: stack::run,
    shown: stack::text_of,
    limits: limits(20, 512),
    seeds: crate::seeds::stacks,
};

pub const ALL: [&Target; 6] = [&ANALYZE, &PAIR, &REPLAY, &DRILL, &SCENARIO, &STACK];

impl Target {
    pub fn named(name: &str) -> Option<&'static Target> {
        ALL.into_iter().find(|t| t.name == name)
    }
    /// The file that is built of an input.
    pub fn shown(&self, bytes: &[u8]) -> Vec<u8> {
        (self.shown)(bytes)
    }
    /// Panics where the target does, and ends the process where it exceeds a limit.
    pub fn check(&self, bytes: &[u8]) {
        within(self.limits, || (self.run)(bytes));
    }
}

/// Asserts that an answer in JSON is JSON.
fn is_json(text: &[u8]) {
    read_json::<serde::de::IgnoredAny>(text);
}

/// What `T` has of an answer in JSON.
fn read_json<'a, T: serde::Deserialize<'a>>(text: &'a [u8]) -> T {
    serde_json::from_slice(text)
        .unwrap_or_else(|e| panic!("no JSON ({e}): {}", String::from_utf8_lossy(text)))
}

/// Asserts that an error says something.
fn is_a_sentence(text: &str) {
    assert!(!text.trim().is_empty(), "an error without a word");
}
