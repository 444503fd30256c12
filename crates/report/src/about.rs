//! A source with what a page says of it.

use crate::members::Members;
use crate::source::Source;
use crate::state::States;
use analysis::rows::FlowId;
use results::json::{Beside, overview};
use results::run::Findings;
use std::collections::HashMap;
use std::io;

/// One capture of a page: the sender's end first, where there are two.
pub struct About<'a> {
    pub found: &'a Findings,
    pub beside: Beside<'a>,
    pub source: &'a Source,
    pub states: &'a States,
    pub label: &'a str,
    /// Where it was taken, if it is one of a pair.
    pub place: Option<&'a str>,
    /// What is known of the run, as JSON; None of a capture.
    pub run: Option<&'a str>,
    /// The command that shows every packet.
    pub view: &'a str,
}

impl About<'_> {
    /// The flow of each number as docs/json.md has it.
    pub fn told(&self, flows: &[FlowId]) -> io::Result<HashMap<FlowId, Members>> {
        let texts = overview::flows(&self.found.facts, &self.found.shelf, self.beside, flows)?;
        let told = texts.into_iter().filter(|(_, text)| !text.is_empty());
        told.map(|(flow, text)| Ok((flow, Members::of(&text)?))).collect()
    }
}
