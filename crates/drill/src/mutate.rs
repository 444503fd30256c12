//! A script that passes proves something only if it would not have passed otherwise: here are its alterations, one at a
//! time, each of which must fail.

use crate::script::{Action, Packet, Script, TcpOption, When};
use wire::{Flags, Span};

/// One thing changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Altered {
    pub line: u32,
    pub what: &'static str,
    pub script: Script,
}

/// Every expected packet, altered in its bytes, flags, acknowledgment, options, window and time; every assertion, turned
/// around.
pub fn alterations(script: &Script) -> Vec<Altered> {
    let mut all = Vec::new();
    for (at, event) in script.events.iter().enumerate() {
        let mut put = |what: &'static str, change: &dyn Fn(&mut Action, &mut When)| {
            let mut altered = script.clone();
            let e = &mut altered.events[at];
            change(&mut e.what, &mut e.when);
            all.push(Altered { line: event.line, what, script: altered });
        };
        match &event.what {
            Action::Expect(p) => {
                for (what, packet) in packets(p) {
                    put(what, &|action, _| *action = Action::Expect(packet.clone()));
                }
                if event.when != When::Any {
                    put("time", &|_, when| *when = later(*when));
                }
            }
            Action::Code(code) => {
                for turned in turned(code) {
                    put("assertion", &|action, _| *action = Action::Code(turned.clone()));
                }
            }
            _ => {}
        }
    }
    all
}

fn packets(p: &Packet) -> Vec<(&'static str, Packet)> {
    // A SYN's number is where the script begins to count.
    let bytes = match p.flags.has(Flags::SYN) {
        true => Packet { payload: p.payload + 1, ..p.clone() },
        false => Packet { seq: p.seq.wrapping_add(1), ..p.clone() },
    };
    let mut all = vec![
        ("bytes", bytes),
        ("flags", Packet { flags: Flags(p.flags.0 ^ Flags::PSH.0), ..p.clone() }),
        ("ack", Packet { ack: p.ack.wrapping_add(1), ..p.clone() }),
    ];
    if let Some(window) = p.window {
        all.push(("window", Packet { window: Some(window ^ 1), ..p.clone() }));
    }
    if let Some(list) = &p.options {
        let options = match list.iter().position(|o| *o != TcpOption::Nop) {
            Some(at) => list.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, o)| o.clone()).collect(),
            None => vec![TcpOption::Mss(1)],
        };
        all.push(("options", Packet { options: Some(options), ..p.clone() }));
    }
    all
}

/// Beyond any tolerance.
fn later(when: When) -> When {
    let by = Span::from_millis(700);
    match when {
        When::Absolute { from, to } => When::Absolute { from: from + by, to: to + by },
        When::Relative { from, to } => When::Relative { from: from + by, to: to + by },
        When::Any => When::Any,
    }
}

/// The code with one of its comparisons turned around, for each that an `assert` makes first.
fn turned(code: &str) -> Vec<String> {
    let turns = [("==", "!="), ("!=", "=="), ("<=", ">"), (">=", "<"), ("<", ">="), (">", "<=")];
    let mut all = Vec::new();
    for (at, _) in code.match_indices("assert") {
        let end = code[at..].find(['\n', ';', '#']).map_or(code.len(), |n| at + n);
        let first = turns.iter().filter_map(|(old, new)| Some((code[at..end].find(old)?, *old, *new)));
        if let Some((found, old, new)) = first.min_by_key(|(found, old, _)| (*found, usize::MAX - old.len()))
        {
            let from = at + found;
            all.push(format!("{}{new}{}", &code[..from], &code[from + old.len()..]));
        }
    }
    all
}
