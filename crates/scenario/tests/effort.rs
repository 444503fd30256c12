//! A file costs no more than in proportion to its length, however many names and mistakes are in it. What is compared is CPU
//! time of one thread in one process, with a wide margin.
#![cfg(target_os = "linux")]

use scenario::parse;
use std::path::Path;

const NAMES: u32 = 10_000;
const MARGIN: f64 = 25.0;

/// Nanoseconds that this thread has spent on a processor.
fn cpu_ns() -> u64 {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}

/// As many nodes as links, and what else stands there.
fn text(link: impl Fn(u32) -> String, rest: &str) -> String {
    let nodes = (0..=NAMES).map(|i| format!("[[node]]\nname = \"n{i}\"\n")).collect::<String>();
    let link = |i| format!("[[link]]\nname = \"l{i}\"\nrate = \"1Mbps\"\nbetween = {}\n", link(i));
    let links = (0..NAMES).map(link).collect::<String>();
    format!("name = \"x\"\nduration = \"1s\"\n{rest}\n{nodes}{links}")
}

fn cost(text: &str) -> (u64, bool) {
    let start = cpu_ns();
    let refuse = |_: &Path, _| Err("there is no such file".to_owned());
    let is_right = parse(text, "x.toml", Path::new(""), &[], &refuse).is_ok();
    (cpu_ns() - start, is_right)
}

#[test]
fn no_file_costs_more_than_in_proportion_to_its_length() {
    let row = |i: u32| format!("[\"n{i}\", \"n{}\"]", i + 1);
    let flow = "[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n9\"\nstack = \"rfc-sack\"\nworkload = { kind = \"endless\" }";
    let (least, is_right) = cost(&text(row, flow));
    assert!(is_right);
    let all: Vec<String> = (0..NAMES).rev().map(|i| format!("\"l{i}\"")).collect();
    let cases = [
        ("links of nodes that there are not", text(|i| format!("[\"m{i}\", \"m\"]"), flow), false),
        (
            "all links listed",
            text(row, &format!("record = {{ queues = [{}] }}\n{flow}", all.join(", "))),
            true,
        ),
    ];
    for (name, text, right) in cases {
        let (took, is_right) = cost(&text);
        let times = took as f64 / least as f64;
        println!("{times:6.1} times as long: {name}");
        assert_eq!(is_right, right, "{name}");
        assert!(times < MARGIN, "{name}: {times:.1} times as long as without");
    }
}
