//! What is of the sender's host and not in its capture: each is replayed, and what explains more is taken.

use crate::run::{Limit, replay_at};
use crate::tally::Replay;
use crate::transfer::Transfer;
use std::borrow::Cow;
use tcp::stack::Wire;
use wire::Time;

/// Phases are compared by the sends up to the one that is the so-manieth wrong: a replay of all of a transfer that is long
/// for each of two dozen phases tells hardly more.
const ENOUGH_WRONG: usize = 500;

/// Feeds what came in to a sender of `stack` and compares what it sends with what left.
///
/// Where in a tick of the stack's timers the capture begins is not in it, nor, where they stand in a wheel, in which of its
/// coarser steps: that one stands with which most is right, the first of equals.
///
/// Nor is it in a capture whether a transfer that it finds under way was in slow start; nor, where its first ACKs come at
/// once, whether cwnd is what was out then or what the stack has then: the same holds for these. That the
/// sender's host paced it, or waited for more duplicates than the stack does, is taken where that is ahead by more than
/// chance.
pub fn replay(transfer: &Transfer, stack: &Wire) -> Replay {
    let mut entered = Cow::Borrowed(transfer);
    let mut found = replay_at(transfer, stack, 0, Limit::NONE).unwrap_or_default();
    let mut otherwise = transfer.clone();
    if let Some(began) = &mut otherwise.under_way {
        match began.before_the_capture() {
            true => began.slow_start = true,
            false => began.flight = None,
        }
        if let Some(other) = better(&otherwise, stack, 0, &found) {
            (found, entered) = (other, Cow::Owned(otherwise));
        }
    }
    if found.wrong() > 0
        && let Some(buffer) = entered.standing_flight(stack)
    {
        let full = entered.with_buffer(buffer);
        let other = better(&full, stack, 0, &found).filter(|other| is_ahead(other, &found, transfer));
        if let Some(other) = other {
            (found, entered) = (other, Cow::Owned(full));
        }
    }
    let mut phase = 0;
    in_its_phase(&entered, stack, &mut found, &mut phase);
    let mut host = stack.clone();
    if let Some(duplicates) = transfer.remembered_duplicates(stack) {
        match transfer.sacks() {
            true => host.detect.remembered = Some(duplicates),
            false => host.detect.dupthresh = duplicates,
        }
        match ahead(&entered, &host, &mut phase, &found, transfer) {
            Some(other) => found = Replay { remembered: Some(duplicates), ..other },
            None => host.detect = stack.detect,
        }
    }
    if stack.send.offload && !stack.send.pacing && found.wrong() > 0 {
        host.send.pacing = true;
        if let Some(other) = ahead(&entered, &host, &mut phase, &found, transfer) {
            found = Replay { paced: true, remembered: found.remembered, ..other };
        }
    }
    found.buffer = entered.buffer;
    found.apart.sort_unstable();
    found
}

/// What is right of a host that has something which the stack does not say, where that is ahead of what was found.
fn ahead(
    entered: &Transfer,
    host: &Wire,
    phase: &mut u32,
    found: &Replay,
    transfer: &Transfer,
) -> Option<Replay> {
    let mut at = *phase;
    let mut other = better(entered, host, at, found)?;
    in_its_phase(entered, host, &mut other, &mut at);
    let is_ahead = is_ahead(&other, found, transfer);
    *phase = if is_ahead { at } else { *phase };
    is_ahead.then_some(other)
}

fn is_ahead(one: &Replay, other: &Replay, transfer: &Transfer) -> bool {
    is_more_right(one, other) && one.against(other, transfer).is_ahead()
}

/// Rates compared as products: what was made besides counts among the sends.
fn is_more_right(one: &Replay, other: &Replay) -> bool {
    one.all.right * other.all.sends > other.all.right * one.all.sends
}

fn better(transfer: &Transfer, stack: &Wire, phase: u32, than: &Replay) -> Option<Replay> {
    let limit = Limit { wrong: than.wrong(), ..Limit::NONE };
    replay_at(transfer, stack, phase, limit).filter(|other| is_more_right(other, than))
}

/// Looks for the phase in which most is right. Where less than one send in a hundred is, none is looked for: the stack is
/// not the sender's.
fn in_its_phase(transfer: &Transfer, stack: &Wire, found: &mut Replay, phase: &mut u32) {
    let is_unlike_or_exact = |r: &Replay| r.all.right * 100 < r.all.sends || r.wrong() == 0;
    for (step, count) in transfer.phases(stack) {
        if is_unlike_or_exact(found) {
            return;
        }
        let until = found.differences.get(ENOUGH_WRONG).map_or(Time::FAR_FUTURE, |d| d.at);
        let mut wrong = found.differences.len().min(ENOUGH_WRONG) as u64;
        let (from, mut best) = (*phase, None);
        for at in (1..count).map(|k| from + k * step) {
            let limit = Limit { wrong: wrong.saturating_sub(1), until };
            if let Some(other) = replay_at(transfer, stack, at, limit) {
                (wrong, best) = (other.wrong(), Some((at, other)));
            }
            if wrong == 0 {
                break;
            }
        }
        let Some((at, part)) = best else { continue };
        let whole = if until == Time::FAR_FUTURE { Some(part) } else { better(transfer, stack, at, found) };
        if let Some(other) = whole.filter(|other| is_more_right(other, found)) {
            (*found, *phase) = (other, at);
        }
    }
}
