//! Scenarios from text, and reference traces from files.
#![allow(dead_code)]

use flate2::read::GzDecoder;
use scenario::model::Scenario;
use sim::{Rows, Simulation, Summary};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A scenario from TOML text; panics with its errors.
pub fn scenario(text: &str) -> Scenario {
    let read = |_: &Path, _: scenario::file::Form| Err("these scenarios name no files".to_owned());
    match scenario::parse(text, "test.toml", Path::new("."), &[], &read) {
        Ok(s) => s,
        Err(e) => panic!("{e}\n{text}"),
    }
}

/// Runs it with everything recorded that it asks for.
pub fn run(scenario: &Scenario, seed: u64) -> (Summary, Rows) {
    let mut run = Simulation::recorded(scenario, seed, Rows::default()).expect("a net can be built");
    let summary = run.run(&mut |_| true);
    let (_, rows) = run.finish();
    (summary, rows)
}

pub fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference").join(name)
}

/// The lines of a file, which may be compressed.
pub fn lines(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    let read = if path.extension().is_some_and(|e| e == "gz") {
        GzDecoder::new(&bytes[..]).read_to_string(&mut text)
    } else {
        (&bytes[..]).read_to_string(&mut text)
    };
    read.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(str::to_owned).collect()
}
