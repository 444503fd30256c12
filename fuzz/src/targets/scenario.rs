//! A scenario: read, written as resolved, and run for some thousands of events.

use super::{is_a_sentence, is_json};
use crate::text;
use analysis::Config;
use results::json::overview;
use results::simulate::{At, Request, Wish, needs, run as simulate};
use results::spool::Listing;
use scenario::file::Form;
use scenario::model::{Scenario, Workload};
use std::path::Path;
use std::sync::OnceLock;

/// A run is stopped the first time that it reports progress after so many events.
const EVENTS: u64 = 5_000;
/// Memory that a run may take.
const BYTES: u64 = 200_000_000;

pub fn scenarios() -> &'static [String] {
    static SCENARIOS: OnceLock<Vec<String>> = OnceLock::new();
    text::of_folder(&SCENARIOS, "scenarios", "toml")
}

fn text(bytes: &[u8]) -> String {
    text::of_input(bytes, text::toml, scenarios())
}

pub fn text_of(bytes: &[u8]) -> Vec<u8> {
    text(bytes).into_bytes()
}

pub fn run(bytes: &[u8]) {
    let [_, which, ..] = bytes else { return };
    let text = text(bytes);
    // Every file that it names has this text again.
    let read = |_: &Path, _: Form| Ok(text.clone());
    match scenario::parse(&text, "fuzzed.toml", Path::new("nowhere"), &[], &read) {
        Ok(scenario) => play(scenario, *which),
        Err(errors) => is_a_sentence(&errors.to_string()),
    }
}

/// Written as resolved, read again, and run.
pub fn play(scenario: Scenario, which: u8) {
    let written = scenario::to_toml(&scenario);
    let refused = |_: &Path, _: Form| Err("it is not here".to_owned());
    let again = scenario::parse(&written, "resolved.toml", Path::new("nowhere"), &[], &refused);
    // A scenario that names a trace is refused the second time, as the file is not there.
    if let Ok(again) = again {
        assert_eq!(scenario::to_toml(&again), written, "a resolved scenario is written as it was read");
    }
    if scenario.flows.iter().any(|f| matches!(f.workload, Workload::Command { .. })) {
        return;
    }
    if let Some(why) = needs::refusal(&scenario, 1, Some(BYTES)) {
        return is_a_sentence(&why);
    }
    let all = which.is_multiple_of(4);
    let request = Request {
        seed: 1,
        scenario,
        at: At::ALL[usize::from(which / 4) % At::ALL.len()].1,
        config: Config::default(),
        listing: Listing::default(),
        wish: Wish {
            state: all,
            queues: all,
            drops: all,
            truth: all,
            hosts: all,
            applications: all,
            blocked: all,
            held: all,
        },
        captures: None,
        max_memory: Some(BYTES),
    };
    match simulate(&request, &mut |p| p.events < EVENTS) {
        Ok((found, _)) => {
            let page = overview::write(&found.facts, &found.shelf, Default::default(), 3);
            is_json(&page.expect("rows can be read back"));
        }
        Err(why) => is_a_sentence(&why),
    }
}
