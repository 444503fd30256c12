//! The driver: every target answers its first inputs, and an input that exceeds a limit ends the process.

use fuzz::limits::{Limits, within};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

/// Names the work of [`it_exceeds_a_limit`] when it runs in a process of its own.
const WORK: &str = "FUZZ_TEST_EXCEEDS";

fn fuzz(words: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuzz"));
    command.args(words).env("CARGO_TARGET_DIR", folder.path()).output().expect("it starts")
}

#[test]
fn every_target_answers_its_first_inputs() {
    for target in fuzz::targets::ALL {
        let done = fuzz(&[target.name, "--seed", "1", "--executions", "40"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert!(String::from_utf8_lossy(&done.stdout).contains("40 executions"), "{}", target.name);
    }
}

/// Inputs that once panicked or exceeded a limit, in a folder for each target.
#[test]
fn what_once_failed_is_answered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for target in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry")) {
        let inputs = std::fs::read_dir(target.path()).expect("a folder of inputs");
        let inputs: Vec<String> =
            inputs.map(|e| e.expect("an entry").path().to_string_lossy().into_owned()).collect();
        let name = target.file_name().to_string_lossy().into_owned();
        let words: Vec<&str> = [&name].into_iter().chain(&inputs).map(String::as_str).collect();
        let done = fuzz(&words);
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn what_it_does_not_know_is_refused_with_how_to_call_it() {
    for words in [&["nothing"][..], &["analyze", "--seed"], &["analyze", "--seed", "x"], &["show", "analyze"]]
    {
        let done = fuzz(words);
        assert_eq!(done.status.code(), Some(2), "{words:?}");
        assert!(String::from_utf8_lossy(&done.stderr).contains("fuzz TARGET"), "{words:?}");
    }
}

/// The work of the next test, in a process that it starts; alone it has nothing to do.
#[test]
fn it_exceeds_a_limit() {
    let limits = Limits { cpu: Duration::from_millis(100), bytes: 1 << 20 };
    match std::env::var(WORK).as_deref() {
        Ok("memory") => within(limits, || drop(std::hint::black_box(vec![1u8; 2 << 20]))),
        Ok("time") => within(limits, || {
            for n in 0..u64::MAX {
                std::hint::black_box(n);
            }
        }),
        _ => {}
    }
}

#[test]
fn an_input_that_exceeds_a_limit_ends_the_process() {
    let this = std::env::current_exe().expect("a path");
    for (work, says) in [("memory", "its limit of memory"), ("time", "its limit of processor time")] {
        let mut command = Command::new(&this);
        let command = command.args(["--exact", "it_exceeds_a_limit", "--nocapture"]).env(WORK, work);
        let done = command.output().expect("it starts");
        assert!(!done.status.success(), "{work}");
        assert!(String::from_utf8_lossy(&done.stderr).contains(says), "{work}: {done:?}");
    }
}
