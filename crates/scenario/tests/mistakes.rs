//! Every mistake is answered by one sentence that names the file, the line, the key and the fix.

use scenario::{Override, parse, parse_stack};
use std::path::Path;

/// A scenario that is right, line by line; each case changes one thing.
const GOOD: &str = r#"name = "good"
duration = "60s"
seed = 1
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "lonely"
[[link]]
name = "air"
between = ["a", "b"]
rate = "5Mbps"
delay = "2ms"
queue = { kind = "droptail", packets = 100 }
[[link.channel]]
name = "fade"
kind = "outage"
schedule = { every = "5s", for = "200ms", phase = "3s" }
[[flow]]
name = "up"
from = "a"
to = "b"
stack = "rfc-sack"
workload = { kind = "file", size = "10MiB" }
[record]
capture = ["a"]
"#;

fn files(path: &Path, _: scenario::file::Form) -> Result<String, String> {
    match path.to_str() {
        Some("dir/bad.trace") => Ok("3.0 0.2\nfive 1\n".to_owned()),
        Some("dir/bad.rate") => Ok("1\n2\n1\n".to_owned()),
        Some("dir/loop.toml") => Ok("name = \"loop\"\nbased_on = \"loop.toml\"\n".to_owned()),
        Some("dir/wrong.toml") => Ok("name = \"wrong\"\n[rto]\nmin = 200\n".to_owned()),
        _ => Err("there is no such file".to_owned()),
    }
}

/// `{stacks}` stands for the list of built-in stacks, which grows.
fn with_stacks(expected: &str) -> String {
    expected.replace("{stacks}", &scenario::built_in_stacks().collect::<Vec<_>>().join(", "))
}

fn stack_answer(text: &str) -> String {
    match parse_stack(text, "s.toml", Path::new("dir"), &files) {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(errors) => errors.to_string(),
    }
}

fn answer(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<Override> = overrides.iter().map(|o| Override::from_argument(o).unwrap()).collect();
    match parse(text, "x.toml", Path::new("dir"), &overrides, &files) {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(errors) => errors.to_string(),
    }
}

/// One case of a file: lines by their sign.
struct Case {
    out: String,
    put: String,
    answer: String,
}

fn cases(text: &str) -> Vec<Case> {
    let body = text.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n");
    let blocks = body.split("\n\n").map(str::trim).filter(|b| !b.is_empty());
    let part = |block: &str, sign: char| {
        let lines = block.lines().filter_map(|l| l.strip_prefix(sign));
        lines.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect::<Vec<_>>().join("\n")
    };
    blocks
        .map(|b| Case { out: part(b, '-'), put: part(b, '+'), answer: with_stacks(&part(b, '=')) })
        .collect()
}

fn check(text: &str, least: usize, answer: impl Fn(&Case) -> String) {
    let cases = cases(text);
    assert!(cases.len() >= least, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let found = answer(case);
        if found != case.answer {
            wrong.push(format!("{}\n   said: {found}\n wanted: {}", case.put, case.answer));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_scenario_itself_is_right() {
    assert_eq!(answer(GOOD, &[]), "nothing is wrong");
}

#[test]
fn each_mistake_has_its_sentence() {
    check(include_str!("mistakes/changes.txt"), 100, |case| {
        assert_eq!(GOOD.matches(&case.out).count(), 1, "{:?} stands once in the scenario", case.out);
        answer(&GOOD.replace(&case.out, &case.put), &[])
    });
}

#[test]
fn what_was_said_is_found_by_its_key() {
    let set = |word: &str| Override::from_argument(word).unwrap();
    let place = |key: &str| scenario::place(GOOD, "x.toml", &[set("flow.up.packet=9kB")], key);
    assert_eq!(place("flow.up.stack"), "x.toml:24: ");
    assert_eq!(place("link.air.channel.fade.schedule.for"), "x.toml:19: ");
    assert_eq!(place("flow.up.packet"), "--set flow.up.packet=9kB: ");
    assert_eq!(place("node.b.input"), "x.toml:6: ", "what is not said is at what it is of");
    assert_eq!(place("300"), "x.toml: ");
}

#[test]
fn each_mistake_in_an_override_names_the_override() {
    check(include_str!("mistakes/overrides.txt"), 20, |case| answer(GOOD, &[&case.put]));
}

#[test]
fn each_mistake_in_a_stack_has_its_sentence() {
    check(include_str!("mistakes/stacks.txt"), 20, |case| stack_answer(&case.put));
}

#[test]
fn all_mistakes_are_told_in_the_order_of_the_lines() {
    let text = GOOD.replace("5Mbps", "5").replace("10MiB", "10").replace("seed = 1", "seed = true");
    let answer = answer(&text, &[]);
    let lines: Vec<&str> = answer.lines().map(|l| l.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["x.toml:3", "x.toml:13", "x.toml:25"]);
}

/// Whatever stands in a file, reading it ends without a panic, and what is refused is refused in one line each.
#[test]
fn no_file_makes_the_reader_panic() {
    let lines: Vec<&str> = GOOD.lines().collect();
    for cut in 0..GOOD.len() {
        for said in answer(&GOOD[..cut], &[]).lines() {
            assert!(said.starts_with("x.toml:") || said == "nothing is wrong", "{said}");
        }
    }
    let values = [
        "\"\"",
        "\"é\"",
        "-1",
        "0",
        "1e400",
        "nan",
        "inf",
        "[]",
        "{}",
        "[[1]]",
        "true",
        "1979-05-27",
        "99999999999999999999",
    ];
    for at in 0..lines.len() {
        let Some((key, _)) = lines[at].split_once(" = ") else { continue };
        for value in values {
            let changed = format!("{key} = {value}");
            let text: Vec<&str> =
                (0..lines.len()).map(|i| if i == at { &*changed } else { lines[i] }).collect();
            answer(&text.join("\n"), &[]);
        }
    }
}

#[test]
fn a_link_that_a_preset_makes_is_set_with_the_preset() {
    let text = "name = \"x\"\nduration = \"1s\"\n[chain]\nnodes = [\"a\", \"b\"]\nrate = \"1Mbps\"\n[[flow]]\nname = \"up\"\n\
                from = \"a\"\nto = \"b\"\nstack = \"rfc-sack\"\nworkload = { kind = \"endless\" }\n";
    assert_eq!(
        answer(text, &["link.a-b.delay=5ms"]),
        "--set link.a-b.delay=5ms: link.a-b does not exist: what a preset makes is set with it (chain.delay, \
         dumbbell.bottleneck.delay)"
    );
}
