//! Something was lost, and the timer that repaired it waited far longer than RFC 6298 has it.

use super::Episode;
use crate::assumptions::{NEAR, TIMER_FAR, TIMER_LEAST};
use crate::cause::Cause;
use crate::certainty::Certainty;
use crate::conversation::Conversation;
use wire::Span;

/// Beyond so many a timer of a second is at its upper bound of a minute (RFC 6298 section 2.5).
const MOST_DOUBLINGS: u32 = 6;

/// RFC 6298 section 2: the smoothed round trip and four times its variation, and one second at least.
pub fn due(c: &Conversation<'_>) -> Span {
    c.base_rtt.map_or(TIMER_LEAST, |rtt| (rtt * 4).max(TIMER_LEAST))
}

/// For so many timeouts, each of which doubles the next wait (section 5.5).
pub fn due_in_all(c: &Conversation<'_>, timeouts: u32) -> Span {
    due(c) * ((1 << timeouts.clamp(1, MOST_DOUBLINGS)) - 1)
}

/// A timer that waits this long is not the one of RFC 6298.
pub fn is_late(waited: Span, due: Span) -> bool {
    waited > due.scale(TIMER_FAR)
}

/// So is the timer that set this repair off.
pub(super) fn waited_too_long(e: &Episode<'_>) -> bool {
    e.row.silence.filter(|_| e.timed_out()).is_some_and(|waited| is_late(waited, due(e.conversation)))
}

pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    if !waited_too_long(e) {
        return None;
    }
    // Three duplicate ACKs had asked for it (RFC 5681 section 3.2), and their sender did nothing.
    let mss = e.conversation.mss(e.side);
    let asked = e.row.sent_after_loss_bytes / mss >= u64::from(e.lost()) + 3;
    if !asked && !e.seen_leaving() && !is_usual(e) {
        return None;
    }
    let cause = if asked { Cause::SenderStalled } else { Cause::Timer };
    // They passed the capture, so many for each time that something was repaired.
    let seen = e.flow.duplicate_acks >= 3 * e.conversation.flows[e.side].episodes.len() as u64;
    let sure = (seen || !asked) && !may_be_backed_off(e);
    Some((cause, if sure { e.as_seen() } else { Certainty::Likely }))
}

/// Where data arrives repairs that were lost as well do not show, and their waits look like one. A timer that is too long is so
/// each time, and more than once; what several lost repairs take is now this long and now that.
fn is_usual(e: &Episode<'_>) -> bool {
    let least = e.row.silence.map_or(Span::ZERO, |s| s.scale(1.0 - NEAR));
    let others = e.conversation.flows[e.side].episodes.iter().filter(|other| other.number != e.row.number);
    let mut silences = others.filter(|other| other.timeouts > 0).filter_map(|other| other.silence).peekable();
    silences.peek().is_some() && silences.all(|silence| silence >= least)
}

/// A timer stays as long as timeouts before have made it until a round trip is measured again (RFC 6298 section 5).
fn may_be_backed_off(e: &Episode<'_>) -> bool {
    let all = e.conversation.flows[e.side].episodes;
    let before = all.iter().filter(|b| b.number < e.row.number).max_by_key(|b| b.number);
    let doublings = before.map_or(0, |b| b.timeouts).min(MOST_DOUBLINGS);
    let due = due(e.conversation) * (1 << doublings);
    e.row.silence.is_none_or(|waited| !is_late(waited, due))
}
