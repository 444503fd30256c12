//! The client asked, its last message was acknowledged, and the server never answered that one, until one of them closed or the
//! capture ended.

use crate::assumptions::{NEGLIGIBLE, SMALL_MESSAGE_SEGMENTS, TIMER_LEAST};
use crate::conversation::Conversation;
use analysis::rows::Wait;
use analysis::waits::Stretch;

pub(super) fn is(c: &Conversation<'_>) -> bool {
    let [asks, answers] = [0, 1].map(|side| c.row(side));
    let Some((asks, first, last)) = asks.and_then(|f| Some((f, f.first_data?, f.last_data?))) else {
        return false;
    };
    let begins = answers.and_then(|f| f.first_data).is_none_or(|t| t > first);
    let ends = answers.and_then(|f| f.last_data).is_none_or(|t| t < last);
    let small = asks.bytes <= SMALL_MESSAGE_SEGMENTS * c.mss(0) * (c.turns[0] + 1);
    // Who goes on without an answer waits for none.
    let goes_on = |w: &Stretch| w.start >= first && w.of(0, Wait::Program) > NEGLIGIBLE && w.turns[0] == 0;
    let closed = [Some(asks), answers].into_iter().flatten().filter_map(|f| f.fin).min();
    let waited = closed.map_or(c.end, |t| t.min(c.end)) - last;
    let asked = begins && small && !c.waits.iter().any(goes_on);
    asked && ends && asks.acked_bytes == asks.bytes && waited >= TIMER_LEAST
}
