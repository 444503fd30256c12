//! A reset that came while data was still to be acknowledged: a failure, or the choice of a program that had had enough.

use crate::certainty::Certainty;
use crate::conversation::Conversation;
use analysis::rows::{PathRow, Reset};
use wire::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutOff {
    /// The host whose data was cut off, and the one that sent the reset (0: the client).
    pub side: usize,
    pub by: usize,
    /// A program closed its connection while the other host still sent to it: its host answers what comes then with a reset
    /// (RFC 9293 section 3.6.1). Whoever measures for ten seconds ends so.
    pub chosen: bool,
    /// How sure it is that no program chose it.
    pub sure: Certainty,
    /// Payload that was not acknowledged.
    pub missing_bytes: u64,
}

/// Of the data that was cut off, the client's first.
pub fn of(c: &Conversation<'_>) -> Option<CutOff> {
    (0..2).find_map(|side| {
        let row = c.row(side)?;
        let reset = row.reset.filter(|_| row.acked_bytes < row.bytes)?;
        let by = if reset.by_sender { side } else { 1 - side };
        let went_on = |counts: fn(&PathRow, Time) -> bool| by != side && lives_on(c, by, &reset, counts);
        let chosen = by != side && reset.closed_before || went_on(|r, reset| r.start >= reset);
        // In the same few milliseconds, before the reset or behind it.
        let may_be_chosen = went_on(|r, reset| r.start + r.width > reset);
        let sure = if may_be_chosen && !chosen { Certainty::Likely } else { Certainty::Known };
        Some(CutOff { side, by, chosen, sure, missing_bytes: row.bytes - row.acked_bytes })
    })
}

/// The host that reset this connection went on answering the other one over another, so it had not failed. `counts`: whether a
/// bin of the path does, for the time of the reset.
fn lives_on(c: &Conversation<'_>, by: usize, reset: &Reset, counts: fn(&PathRow, Time) -> bool) -> bool {
    let rows = c.flows[by];
    let all: u64 = rows.path.iter().filter(|r| counts(r, reset.time)).map(|r| r.delivered_bytes).sum();
    let own = rows.rounds.iter().filter(|r| r.end > reset.time).map(|r| r.delivered_bytes);
    all > own.sum()
}
