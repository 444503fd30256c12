//! For a while nothing of this direction got through, and then it did again.

use super::{Episode, late_timer};
use crate::assumptions::{AT_ONCE, OFTEN, RUN, TIMER_LEAST};
use crate::cause::Cause;
use crate::certainty::Certainty;
use analysis::rows::{BurstRow, EpisodeRow};
use wire::{Span, Time};

/// The longest time within an episode in which every copy that was sent was lost: from the first of a run of lost copies
/// to the first copy behind it that arrived, as sent.
pub(super) fn dark(row: &EpisodeRow, bursts: &[&BurstRow]) -> Option<(Time, Time)> {
    let longest = bursts.iter().max_by_key(|b| b.last - b.start)?;
    let back = longest.back.or(longest.first_repair).or(row.end)?;
    Some((longest.start, back.max(longest.last)))
}

/// From when on nothing got through, for how long at least and at most. Where data arrives, only the silence before the
/// timer's repair tells.
pub(super) fn told(e: &Episode<'_>) -> (Time, Span, Option<Span>) {
    if let Some((from, to)) = e.silence().filter(|_| e.timed_out() && !e.seen_leaving()) {
        return (from, Span::ZERO, Some(to - from));
    }
    let (least, most) = lasted(e);
    (e.dark.map_or(e.row.start, |(from, _)| from), least, most)
}

/// The same of the copies that were lost, as they were sent.
fn lasted(e: &Episode<'_>) -> (Span, Option<Span>) {
    let least = e.bursts.iter().map(|b| b.last - b.start).max().unwrap_or(Span::ZERO);
    let most = e.dark.map(|(from, back)| back - from);
    (least, most)
}

pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    let (least, most) = lasted(e);
    let longest = e.bursts.iter().map(|b| b.lost()).max().unwrap_or(0);
    // What was sent in one go, one full queue drops. What was sent over a time vanished over a time.
    let spread = longest >= RUN && least >= AT_ONCE;
    // A window that vanished whole, with its ACKs, until a timer.
    let window = e.timed_out() && longest >= RUN && most.is_some_and(|m| m >= AT_ONCE);
    // A timer that backed off: its repairs vanished, too. A path that loses much does so again and again.
    let repairs = e.row.max_backoff >= 2 && e.row.end.is_some() && e.is_single();
    // Where data arrives: a window and its first repairs never came, be it in the middle of another repair.
    let silence = e.silence().filter(|_| !e.seen_leaving() && e.timed_out());
    let unseen = silence.is_some_and(|(from, to)| {
        late_timer::is_late(to - from, late_timer::due(e.conversation))
            && longest.max(lost_behind(e, to)) >= RUN
    });
    // A policer drops what comes until its bucket has filled again; a timer waits for longer than that.
    let once = (spread || window) && e.path.policer.is_none();
    if !(once || repairs || unseen) {
        return None;
    }
    // What was under way before is acknowledged within a round trip.
    let (from, back) = silence.filter(|_| unseen).or(e.dark).unwrap_or((e.row.start, e.end()));
    if e.path.delivers(from + e.conversation.largest_rtt.unwrap_or_default(), back) {
        return None;
    }
    // A timer may wait for other lost packets, and for longer than the path was dark.
    let mostly = least * 2 >= e.end() - e.row.start;
    let both = e.row.lost_acks.is_some_and(|n| n > 0) && spread && mostly;
    // A window, and then one repair after the other over a second, on a path where that happens once.
    let shows =
        e.seen_leaving() && repairs && longest >= RUN && least >= TIMER_LEAST && loses_no_others_in_a_row(e);
    Some((Cause::Outage, if both || shows { Certainty::Known } else { Certainty::Likely }))
}

/// The most that is missing in a row behind what had arrived, as the first packets after the silence show it: it was sent after
/// what was repaired, and a sender that stood still would have sent nothing.
fn lost_behind(e: &Episode<'_>, silence_over: Time) -> u32 {
    let all = e.conversation.flows[e.side].bursts.iter();
    let shown = all.filter(|b| b.start >= silence_over && b.start <= e.end());
    shown.map(|b| b.lost()).max().unwrap_or(0)
}

/// A channel that loses packets in bursts takes one repair after the other as well, and does so at other times too.
fn loses_no_others_in_a_row(e: &Episode<'_>) -> bool {
    let mut others = e.conversation.flows[e.side].bursts.iter().filter(|b| b.episode != Some(e.row.number));
    others.all(|b| (b.lost() as usize) < OFTEN)
}
