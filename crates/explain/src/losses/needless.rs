//! Nothing was lost: packets overtook each other, the timer was too short, or data or ACKs were kept on the way.

use super::{Episode, late_timer};
use crate::assumptions::{AT_ONCE, RETURN};
use crate::cause::Cause;
use crate::certainty::Certainty;
use analysis::rows::Trigger;
use wire::Span;

pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    // All that timers sent again had arrived: what they waited for had been kept on the way. Some of it was lost when it was
    // let go.
    let by_timers = e.row.timeouts > 0 && e.row.needless >= e.row.timeouts && e.lost() > 0;
    // Each copy that arrives is answered: by a duplicate ACK or a DSACK. Of several that the timer had sent one after the other,
    // the first answer would have ended the wait, had it come when it was due.
    let several = e.row.retransmissions > 1 && e.row.retransmissions == e.row.timeouts + e.row.probes;
    let needless = e.flow.needless.max(u64::from(e.row.needless));
    let told = several && e.seen_leaving() && e.flow.dsacks >= needless;
    // Both captures: nothing was lost before the repair, no copy and no ACK.
    let none_lost = (e.row.lost_copies, e.row.lost_acks) == (Some(0), Some(0));
    let all_answered = told || none_lost || e.flow.duplicate_acks >= needless;
    if by_timers && all_answered && !e.is_asked() && e.row.needless * 2 >= e.row.retransmissions {
        return Some((Cause::PacketsHeld, Certainty::Likely));
    }
    // No repair was needed: each copy that was sent before arrived.
    if e.row.retransmissions == 0 || e.row.needless < e.row.retransmissions {
        return None;
    }
    let sure = e.as_seen();
    let base = e.conversation.base_rtt.unwrap_or(Span::ZERO);
    let waited = (e.row.first_repair - e.row.start).max(e.row.silence.unwrap_or(Span::ZERO));
    // Where data arrives: original and repair came one behind the other, after a silence in which neither came.
    if !e.seen_leaving() && waited <= AT_ONCE && e.silence_before() > base.max(AT_ONCE) {
        return Some((Cause::PacketsHeld, Certainty::Likely));
    }
    // Before a round trip is over no ACK can have told anything: a timer that fires by then is too short.
    let told = base.scale(RETURN);
    if waited < told && waited > AT_ONCE {
        return Some((Cause::Timer, sure));
    }
    if e.row.timeouts == 0 && e.row.probes == 0 && e.row.trigger == Trigger::Ack {
        // Duplicate ACKs set it off: what they asked for came late.
        return Some((Cause::Reordering, sure));
    }
    if waited < told {
        return Some((Cause::Timer, Certainty::Likely));
    }
    if e.is_answer_too_large() {
        return Some((Cause::Mtu, Certainty::Likely));
    }
    // Each copy that arrives is answered (RFC 9293 section 3.10.7.4). Where copies were kept on the way all the answers come
    // once they are let go; where ACKs were lost only the last one comes, a round trip after the repair that it answers.
    let soon = base.scale(2.0 - RETURN) + AT_ONCE;
    // Both hosts wait for their timers, and these are about as long: the answer had been lost, and comes again. Where it comes
    // twice it had been kept.
    let mut answers = e.conversation.flows[1 - e.side].episodes.iter();
    let twice = answers
        .any(|a| a.needless > 0 && a.first_repair < e.end() + base && a.end.is_none_or(|t| t > e.row.start));
    let at_once = e.row.timeouts <= 1 && e.row.end.is_some_and(|end| end - e.row.first_repair <= soon);
    let came_again = e.is_asked() && !twice && at_once;
    let answered = e.row.end.map_or(base, |end| end - e.row.last_repair);
    let too_late = answered > soon;
    let too_soon = e.seen_leaving() && answered < told;
    let cause = match () {
        // Whatever was lost, RFC 6298 has it come again sooner.
        () if e.seen_leaving() && late_timer::waited_too_long(e) => Cause::Timer,
        () if came_again => Cause::LossRandom,
        () if all_answered => Cause::PacketsHeld,
        // The answer, which would have carried the ACK, was lost itself.
        () if e.is_asked() && e.row.max_backoff > 0 && e.is_single() => Cause::Outage,
        () if e.is_asked() => Cause::LossRandom,
        () if too_soon || too_late => Cause::PacketsHeld,
        () => Cause::AckLoss,
    };
    Some((cause, Certainty::Likely))
}
