//! A stack file: read, written, and a transfer run with it.

use super::is_a_sentence;
use super::scenario::play;
use crate::text;
use scenario::file::Form;
use std::path::Path;
use std::sync::OnceLock;

const SCENARIO: &str = r#"
name = "fuzzed"
duration = "2s"
seed = 1
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "l"
between = ["a", "b"]
rate = "5Mbps"
delay = "10ms"
queue = { kind = "droptail", packets = 20 }
[[link.channel]]
name = "e"
kind = "random"
loss = 0.02
[[flow]]
name = "u"
from = "a"
to = "b"
stack = "./fuzzed-stack.toml"
workload = { kind = "endless" }
"#;

pub fn stacks() -> &'static [String] {
    static STACKS: OnceLock<Vec<String>> = OnceLock::new();
    text::of_folder(&STACKS, "stacks", "toml")
}

fn text(bytes: &[u8]) -> String {
    text::of_input(bytes, text::toml, stacks())
}

pub fn text_of(bytes: &[u8]) -> Vec<u8> {
    text(bytes).into_bytes()
}

pub fn run(bytes: &[u8]) {
    let [_, which, ..] = bytes else { return };
    let text = text(bytes);
    let read = |_: &Path, _: Form| Ok(text.clone());
    match scenario::parse_stack(&text, "fuzzed-stack.toml", Path::new("nowhere"), &read) {
        Ok(stack) => drop(scenario::stack_to_toml(&stack)),
        Err(errors) => is_a_sentence(&errors.to_string()),
    }
    match scenario::parse(SCENARIO, "fuzzed.toml", Path::new("nowhere"), &[], &read) {
        Ok(scenario) => play(scenario, *which),
        Err(errors) => is_a_sentence(&errors.to_string()),
    }
}
