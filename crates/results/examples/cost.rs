//! What the core does for one command, so that its instructions can be counted (benches/cost.py).
//!
//!     cost analyze CAPTURE | pair SENDER RECEIVER | replay CAPTURE | nothing
//!
//! One thread, every table; the answer is written and thrown away.

use analysis::{Config, Wanted};
use results::run::{self, Request};
use results::{json, replay};
use std::path::PathBuf;
use std::process::ExitCode;

const STACK: &str = "linux-6-cubic";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let what = words.next().unwrap_or_default();
    let mut paths: Vec<PathBuf> = words.map(PathBuf::from).collect();
    let done = match (what.as_str(), paths.len()) {
        ("nothing", 0) => Ok(()),
        ("analyze", 1) => analyzed(paths, Vec::new()),
        ("pair", 2) => {
            let receiver = paths.split_off(1);
            analyzed(paths, receiver)
        }
        ("replay", 1) => replayed(paths),
        _ => Err("cost analyze CAPTURE | pair SENDER RECEIVER | replay CAPTURE | nothing".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn analyzed(paths: Vec<PathBuf>, receiver: Vec<PathBuf>) -> Result<(), String> {
    let wanted = Wanted { retransmissions: true, intervals: true, rtts: true, packets: true };
    let config = Config { wanted, ..Config::default() };
    let request = Request { paths, receiver, config, threads: 1, ..Request::default() };
    let found = run::analyze(&request, None, &mut |_| true)?;
    json::write(std::io::sink(), &found.facts, &found.shelf, json::Beside::default())
        .map_err(|e| e.to_string())
}

fn replayed(paths: Vec<PathBuf>) -> Result<(), String> {
    let request = replay::Request { paths, options: capture::Options::default(), at: None };
    let loaded = replay::load(&request, None, &mut |_| true)?;
    let stack = scenario::describe::load(STACK).map_err(|e| e.to_string())?;
    replay::write(&loaded, &stack, 0, &mut Vec::new())
}
