//! packetdrill scripts, run on one endpoint of `tcp`: no kernel, no root, and the clock is the script's.
//!
//! A script is read ([`script`]), its sysctl lines become parameters of the stack (`settings`), and its events are
//! played in order (`runner`): what it injects is received, what it expects is held against what left, as packetdrill
//! does it. What a script needs and rexmit has not is named, and the script counts as unsupported.

mod code;
mod command;
mod info;
mod ladder;
mod lexer;
pub mod mutate;
mod offload;
mod parser;
mod runner;
pub mod script;
mod settings;
mod sockets;
mod words;

use scenario::Errors;
pub use script::Script;
use tcp::stack::{Kind, Stack};

/// Why a script did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is no script: the place is wrong in the language itself.
    Malformed(At),
    /// It needs what rexmit has not.
    Unsupported(At),
    /// Something else happened than it says.
    Failed(At),
}

/// A sentence about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    pub line: u32,
    pub says: String,
}

impl Stop {
    pub(crate) fn malformed(line: u32, says: impl Into<String>) -> Stop {
        Stop::Malformed(At { line, says: says.into() })
    }
    pub(crate) fn unsupported(line: u32, says: impl Into<String>) -> Stop {
        Stop::Unsupported(At { line, says: says.into() })
    }
    pub(crate) fn failed(line: u32, says: impl Into<String>) -> Stop {
        Stop::Failed(At { line, says: says.into() })
    }
    pub fn at(&self) -> &At {
        match self {
            Stop::Malformed(at) | Stop::Unsupported(at) | Stop::Failed(at) => at,
        }
    }
}

/// What became of one script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// `None`: it passed.
    pub stop: Option<Stop>,
    /// What was expected beside what came, up to where it stopped; empty where nothing was played.
    pub ladder: Vec<String>,
}

/// Runs a script as it stands on a stack of the library, or of a file.
pub fn run(text: &str, stack: &str) -> Result<Outcome, Errors> {
    let stack = scenario::describe::load(stack)?;
    Ok(match parser::parse(text) {
        Ok(script) => play(&script, &stack),
        Err(stop) => Outcome { stop: Some(stop), ladder: Vec::new() },
    })
}

/// The same where both are read already.
pub fn play(script: &Script, stack: &Stack) -> Outcome {
    let Kind::Wire(wire) = &stack.kind else {
        let says = format!("{} is a one-way agent: it hears no segments; name a real endpoint", stack.name);
        return Outcome { stop: Some(Stop::unsupported(1, says)), ladder: Vec::new() };
    };
    runner::play(script, stack, wire)
}

/// A script may have so many bytes. Scripts have some thousands; a token of one byte takes forty bytes of memory and more.
const LONGEST: usize = 1 << 20;

/// A script as it is written, or what is wrong with it.
pub fn read(text: &str) -> Result<Script, Stop> {
    if text.len() > LONGEST {
        let says = format!("a script has at most {LONGEST} bytes, and this one has {}", text.len());
        return Err(Stop::malformed(1, says));
    }
    parser::parse(text)
}
