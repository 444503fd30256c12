//! A script on a stack.

use super::is_a_sentence;
use super::replay::endpoints;
use crate::text;
use drill::mutate::alterations;
use drill::{play, read};
use std::sync::OnceLock;

pub fn scripts() -> &'static [String] {
    static SCRIPTS: OnceLock<Vec<String>> = OnceLock::new();
    text::of_folder(&SCRIPTS, "crates/drill/tests/scripts", "pkt")
}

fn script(bytes: &[u8]) -> String {
    text::of_input(bytes, text::script, scripts())
}

pub fn script_of(bytes: &[u8]) -> Vec<u8> {
    script(bytes).into_bytes()
}

pub fn run(bytes: &[u8]) {
    let [is_edit, which, ..] = bytes else { return };
    let script = script(bytes);
    let stacks = endpoints();
    let stack = &stacks[usize::from(*which) % stacks.len()];
    let script = match read(&script) {
        Ok(script) => script,
        Err(stop) => return is_a_sentence(&stop.at().says),
    };
    let outcome = play(&script, stack);
    if let Some(stop) = outcome.stop {
        is_a_sentence(&stop.at().says);
    }
    if is_edit % 16 == 1 {
        alterations(&script).iter().take(8).for_each(|altered| drop(play(&altered.script, stack)));
    }
}
