//! The largest transfer of a capture is replayed through a stack.

use super::analyze::capture_of;
use super::{is_a_sentence, is_json};
use crate::scratch;
use analysis::rows::Vantage;
use results::replay::{Request, load, rank, write};
use std::sync::OnceLock;
use tcp::stack::{Kind, Stack};

/// The built-in stacks, except for ns-2's one-way agents.
pub fn endpoints() -> &'static [Stack] {
    static STACKS: OnceLock<Vec<Stack>> = OnceLock::new();
    STACKS.get_or_init(|| {
        let all =
            scenario::built_in_stacks().map(|name| scenario::describe::load(name).expect("it is built in"));
        all.filter(|stack| matches!(stack.kind, Kind::Wire(_))).collect()
    })
}

pub fn run(bytes: &[u8]) {
    let [_, at, which, ..] = *bytes else { return };
    let path = scratch::file("a.pcap", &capture_of(bytes));
    let at = if at % 8 == 0 { None } else { Some(Vantage::Sender) };
    let request = Request { paths: vec![path], at, ..Request::default() };
    let loaded = match load(&request, None, &mut |_| true) {
        Ok(loaded) => loaded,
        Err(why) => return is_a_sentence(&why),
    };
    let stacks = endpoints();
    let first = usize::from(which) % stacks.len();
    let mut out = Vec::new();
    match write(&loaded, &stacks[first], 8, &mut out) {
        Ok(()) => is_json(&out),
        Err(why) => is_a_sentence(&why),
    }
    if bytes[1] % 32 == 1 {
        let few = &stacks[first.saturating_sub(2)..=first];
        is_json(&rank(&loaded, few, 3, &mut |_, _| true).unwrap_or_else(|| b"null".to_vec()));
    }
}
