//! What is of the sender's host and not in its capture: each is replayed, and what explains more is taken.

use crate::run::replay_at;
use crate::tally::Replay;
use crate::transfer::Transfer;
use tcp::stack::Wire;

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
    let mut otherwise = transfer.clone();
    if let Some(began) = &mut otherwise.under_way {
        match began.before_the_capture() {
            true => began.slow_start = true,
            false => began.flight = None,
        }
    }
    let (mut found, mut entered) = (replay_in_phase(transfer, stack), transfer);
    if otherwise.under_way.is_some() {
        let other = replay_in_phase(&otherwise, stack);
        if is_more_right(&other, &found) {
            (found, entered) = (other, &otherwise);
        }
    }
    let mut host = stack.clone();
    if let Some(duplicates) = transfer.remembered_duplicates(stack) {
        match transfer.sacks() {
            true => host.detect.remembered = Some(duplicates),
            false => host.detect.dupthresh = duplicates,
        }
        let other = Replay { remembered: Some(duplicates), ..replay_in_phase(entered, &host) };
        if is_ahead(&other, &found, transfer) {
            found = other;
        } else {
            host.detect = stack.detect;
        }
    }
    if stack.send.offload && !stack.send.pacing && found.all.right < found.all.sends {
        host.send.pacing = true;
        let other = Replay { paced: true, remembered: found.remembered, ..replay_in_phase(entered, &host) };
        if is_ahead(&other, &found, transfer) {
            found = other;
        }
    }
    found
}

fn is_ahead(one: &Replay, other: &Replay, transfer: &Transfer) -> bool {
    is_more_right(one, other) && one.against(other, transfer).is_ahead()
}

/// Rates compared as products: what was made besides counts among the sends.
fn is_more_right(one: &Replay, other: &Replay) -> bool {
    one.all.right * other.all.sends > other.all.right * one.all.sends
}

/// The replay of the phase in which most is right. Where less than one send in a hundred is, no phase is looked for: the
/// stack is not the sender's.
fn replay_in_phase(transfer: &Transfer, stack: &Wire) -> Replay {
    let (mut best, mut phase) = (replay_at(transfer, stack, 0), 0);
    let is_unlike_or_exact = |r: &Replay| r.all.right * 100 < r.all.sends || r.all.right == r.all.sends;
    for (step, count) in transfer.phases(stack) {
        let from = phase;
        for at in (1..count).map(|k| from + k * step) {
            if is_unlike_or_exact(&best) {
                break;
            }
            let other = replay_at(transfer, stack, at);
            if is_more_right(&other, &best) {
                (best, phase) = (other, at);
            }
        }
    }
    best.apart.sort_unstable();
    best
}
