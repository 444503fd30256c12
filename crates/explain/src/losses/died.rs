//! From some time on nothing came through any more, to the end of what was seen.

use super::Episode;
use crate::assumptions::OFTEN;
use crate::cause::Cause;
use crate::certainty::Certainty;
use wire::Time;

/// From when on nothing came through: the first copy behind which none arrived.
pub(super) fn since(e: &Episode<'_>) -> Time {
    e.bursts.iter().filter(|b| b.back.is_none()).map(|b| b.start).min().unwrap_or(e.row.start)
}

pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    let open = e.row.end.is_none() && e.row.max_backoff as usize + 1 >= OFTEN;
    // Whatever else went the same way came through: it was no death of the path. The last wait is half of all.
    let half = e.row.last_repair - (e.row.last_repair - e.row.first_repair) / 2;
    let others = e.path.delivers(half, e.conversation.end);
    // A path that has delivered nothing yet may take small packets all the same.
    let delivered = e.conversation.row(e.side).is_some_and(|flow| flow.last_answer.is_some());
    let sure = if delivered { Certainty::Likely } else { Certainty::Open };
    (open && !others).then_some((Cause::PathDied, sure))
}
