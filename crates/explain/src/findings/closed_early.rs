//! A program closed its connection while the other host still sent to it.

use super::{Finding, Kind};
use crate::cause::capital;
use crate::certainty::Certainty;
use crate::cut_off;
use crate::waits::Facts;
use analysis::rows::Role;
use analysis::words::bytes;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let cut = cut_off::of(facts.conversation).filter(|cut| cut.chosen && cut.side == side)?;
    Some(Finding {
        kind: Kind::ClosedEarly,
        certainty: Certainty::Likely,
        text: format!(
            "{} closed the connection while data still came: {} from {} had not been acknowledged.",
            capital(Role::of(cut.by).in_words()),
            bytes(cut.missing_bytes),
            Role::of(cut.side).in_words(),
        ),
    })
}
