//! What a run that was killed leaves. Alone in its file: any run that begins meanwhile would remove it.
#![cfg(target_os = "linux")]

#[macro_use]
mod support;

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::plan;
use tempfile::TempDir;

const SCENARIO: &str = r#"
name = "t"
duration = "60s"
[chain]
nodes = ["pc", "server"]
rate = "20Mbps"
delay = "5ms"
[[flow]]
name = "up"
from = "pc"
to = "server"
stack = "linux-2.6-reno"
workload = { kind = "command", client = "exec sleep 60", server = "sleep 60 & echo on; sleep 60" }
[[flow]]
name = "traced"
from = "pc"
to = "server"
stack = "linux-2.6-reno"
workload = { kind = "endless" }
[record]
state = ["traced"]
"#;

/// The bench in a process of its own, which is killed in mid-run.
#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    needs_a_bench!();
    if let Ok(folder) = std::env::var("REXMIT_TEST_KILLED") {
        let _ = live::run(&plan(SCENARIO).expect("a plan"), folder.as_ref(), &mut |_| true);
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "what_a_killed_run_left_is_removed_by_the_next"])
        .env("REXMIT_TEST_KILLED", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("a process");
    let name = format!("rexmit-{}-", child.id());
    let left =
        || -> Vec<String> { live::clean::left_over().into_iter().filter(|n| n.starts_with(&name)).collect() };
    // Its child runs, then.
    let inside =
        || std::fs::read_to_string(folder.path().join("up.server.log")).is_ok_and(|log| log == "on\n");
    for _ in 0..200 {
        if inside() {
            break;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    assert!(inside(), "the run did not begin");
    assert_eq!(left(), Vec::<String>::new(), "of a living run nothing is left over");
    std::thread::sleep(Duration::from_millis(100));
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
    let found = left();
    assert_eq!(found.len(), 3, "{found:?}");
    let removed = live::clean::clean().expect("it can be cleaned");
    assert!(found.iter().all(|n| removed.namespaces.contains(n)), "{removed:?}");
    assert!(!removed.processes.is_empty(), "the server's child ran on");
    assert_eq!((left(), removed.left), (Vec::new(), Vec::new()));
}
