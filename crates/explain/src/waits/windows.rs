//! Whose window was full: the receiver's, the sender's own by its buffer, or cwnd, and then what keeps cwnd small.

use super::Facts;
use crate::assumptions::{MOSTLY, NEAR, PLATEAU, PLATEAU_ROUNDS, TRAIN_SEGMENTS};
use crate::cause::Cause;
use crate::certainty::Certainty;
use crate::paths::is_even;
use analysis::rows::RoundRow;
use analysis::waits::Stretch;
use wire::Span;

/// A receive window that data fills: it is small, or its program does not keep up.
pub(super) fn receive(facts: &Facts<'_>, side: usize, row: &Stretch) -> (Cause, Certainty) {
    let sure = facts.conversation.as_seen(side);
    // The window grows as its buffer does: so far.
    let rounds = facts.paths[side].rounds;
    let sofar = &rounds[..rounds.partition_point(|r| r.start < row.end)];
    let most = sofar.iter().filter_map(|r| r.window_max_bytes).max();
    let least = facts.paths[side].rounds_in(row.start, row.end).filter_map(|r| r.window_min_bytes).min();
    // A program that reads leaves the window as large as it was; what it does not read is taken off.
    let shrinks = most.zip(least).is_some_and(|(most, least)| 2 * least < most);
    match shrinks {
        true => (Cause::ReceiverNotReading, sure),
        false => (Cause::ReceiveWindow, sure),
    }
}

/// A window of the sender's own, or its pace.
pub(super) fn own(facts: &Facts<'_>, side: usize, row: &Stretch) -> (Cause, Certainty) {
    let leaves = facts.conversation.seen_leaving(side);
    if is_spaced(facts, side, row) {
        return paced(facts, side, row);
    }
    let cut = facts.troubles[side].cut_before(row.end);
    // Where data arrives a window that was cut looks like one that is small; and where a short queue is overrun again and
    // again that is what flights end at.
    let shows = leaves && !facts.paths[side].overruns || cut.is_none();
    let limited = shows && is_plateau(facts, side, row);
    if limited || cut.is_none() && is_flat(facts, side, row) {
        return plateau(facts, side, cut.is_none());
    }
    match cut {
        // A sender that waits too long owns that wait. Its window is small because something was lost.
        Some(t) if matches!(t.cause, Cause::Timer | Cause::SenderStalled) && t.lost > 0 => {
            (Cause::LossRandom, Certainty::Likely)
        }
        Some(t) => (t.cause, t.certainty),
        // Where data arrives a window of the receiver's own may have held it back as well.
        None => (Cause::SlowStart, if leaves { Certainty::Known } else { Certainty::Likely }),
    }
}

/// A sender that spaces its packets does so at a rate that follows what it has learnt of the path: as long as that grows from
/// round trip to round trip it is slow start (BBR's Startup, and pacing at twice cwnd), and with a receive window that is
/// full again and again the rate is that window's.
pub(super) fn paced(facts: &Facts<'_>, side: usize, row: &Stretch) -> (Cause, Certainty) {
    let path = facts.paths[side];
    let cut = facts.troubles[side].cut_before(row.end).is_some();
    match () {
        () if path.rounds_in(row.start, row.end).any(|r| r.waited.window > r.length() / 4) => {
            let (cause, sure) = receive(facts, side, row);
            (cause, sure.max(Certainty::Likely))
        }
        () if !cut && is_growing(path.rounds, row) => (Cause::SlowStart, Certainty::Likely),
        () => (Cause::Pacing, Certainty::Likely),
    }
}

/// More is delivered in a round trip of the row, or in the one behind it, than ever before.
fn is_growing(rounds: &[RoundRow], row: &Stretch) -> bool {
    let most = |some: &[RoundRow]| {
        some.iter().map(|r| r.delivered_bytes as f64 / r.length().as_secs().max(1e-9)).fold(0.0, f64::max)
    };
    let first = rounds.partition_point(|r| r.end <= row.start);
    let behind = (rounds.partition_point(|r| r.start < row.end) + 1).clamp(first, rounds.len());
    most(&rounds[first..behind]) >= most(&rounds[..first]) * (1.0 + NEAR)
}

/// Whose window a flight fills that does not grow. `uncut`: nothing has been lost yet.
fn plateau(facts: &Facts<'_>, side: usize, uncut: bool) -> (Cause, Certainty) {
    let Some(flow) = facts.conversation.row(side).filter(|f| f.limits.mid_stream || f.limits.options_cut > 0)
    else {
        // A sender waits for room for more than a segment, and leaves the rest of the window empty.
        if is_at_receive_window(facts, side) {
            return (Cause::ReceiveWindow, Certainty::Likely);
        }
        let known = uncut && is_no_congestion_window(facts, side);
        return (Cause::SendWindow, if known { Certainty::Known } else { Certainty::Likely });
    };
    // Without the SYN the scale of the receive window shows late, or not at all.
    let fills = |window: u64| flow.flight_max_bytes + u64::from(flow.mss) > window;
    match flow.window_max_bytes {
        Some(window) if fills(window) => (Cause::ReceiveWindow, Certainty::Likely),
        None if flow.window_may_hold() => (Cause::CannotTell, Certainty::Open),
        _ => (Cause::SendWindow, Certainty::Likely),
    }
}

/// The largest flights end at the largest receive window.
fn is_at_receive_window(facts: &Facts<'_>, side: usize) -> bool {
    let Some(flow) = facts.conversation.row(side) else { return false };
    let fills = |window: u64| flow.flight_max_bytes + 2 * u64::from(flow.mss) > window;
    facts.plateau(side).is_some() && flow.window_max_bytes.is_some_and(fills)
}

/// The largest flight again and again, while ACKs come back and nothing is lost: it is a limit.
fn is_plateau(facts: &Facts<'_>, side: usize, row: &Stretch) -> bool {
    let (path, leaves) = (facts.paths[side], facts.conversation.seen_leaving(side));
    let Some(least) = facts.plateau(side) else { return false };
    let holds = |r: &RoundRow| r.resent_bytes == 0 && flight(r, leaves, path.base_rtt) >= least;
    path.rounds_in(row.start, row.end).any(holds)
}

/// Its limit stayed where congestion avoidance would have moved it: cwnd grows by a segment in each round trip (RFC 5681 section
/// 3.1). For most of each the sender was silent, so no link and no pace spaced its packets; and as the other program
/// sent nothing meanwhile, none of its messages gave leave to go on.
fn is_no_congestion_window(facts: &Facts<'_>, side: usize) -> bool {
    let (c, path) = (facts.conversation, facts.paths[side]);
    let Some(least) = facts.plateau(side).filter(|_| c.seen_leaving(side)) else { return false };
    let at_limit = path.rounds.iter().filter(|r| r.resent_bytes == 0 && r.flight_bytes as f64 >= least);
    let rounds: Vec<&RoundRow> = at_limit.collect();
    let silent = rounds.iter().filter(|r| r.quiet * 2 > r.length()).count();
    let grown = rounds.len() as f64 * c.mss(side) as f64;
    c.turns[1 - side] <= 1
        && silent as f64 >= MOSTLY * rounds.len() as f64
        && grown > 2.0 * (PLATEAU - 1.0) * least
}

/// From which flight on a round trip is at that limit, if there is one.
pub(super) fn plateau_of(facts: &Facts<'_>, side: usize) -> Option<f64> {
    let (path, leaves) = (facts.paths[side], facts.conversation.seen_leaving(side));
    let of = |r: &RoundRow| flight(r, leaves, path.base_rtt);
    let mut flights: Vec<f64> = path.rounds.iter().filter(|r| r.resent_bytes == 0).map(of).collect();
    flights.sort_by(|a, b| b.total_cmp(a));
    // Where data arrives a flight is what came in a round trip, and where its borders lie is an accident.
    let near = if leaves { 1.0 / PLATEAU } else { MOSTLY };
    let (most, often) = (flights.first()?, flights.get(PLATEAU_ROUNDS)?);
    (*often >= near * most).then_some(near * often)
}

/// Round trip after round trip the same flight, where nothing was lost before: slow start would have doubled it (RFC 5681 section 3.1).
fn is_flat(facts: &Facts<'_>, side: usize, row: &Stretch) -> bool {
    let path = facts.paths[side];
    let leaves = facts.conversation.seen_leaving(side);
    let near = if leaves { 1.0 / PLATEAU } else { MOSTLY };
    let flat = |some: &[RoundRow]| {
        let flights = || some.iter().map(|r| flight(r, leaves, path.base_rtt));
        let (least, most) = (flights().fold(f64::MAX, f64::min), flights().fold(0.0, f64::max));
        let meets = |r: &RoundRow| r.start < row.end && r.end > row.start;
        some.iter().any(meets) && some.iter().all(|r| r.resent_bytes == 0) && least >= near * most
    };
    let first = path.rounds.partition_point(|r| r.end <= row.start).saturating_sub(PLATEAU_ROUNDS - 1);
    let last = path.rounds.partition_point(|r| r.start < row.end) + PLATEAU_ROUNDS - 1;
    let around = path.rounds.get(first..last.min(path.rounds.len())).unwrap_or_default();
    around.windows(PLATEAU_ROUNDS).any(flat)
}

/// Bytes in flight in a round trip.
fn flight(r: &RoundRow, leaves: bool, base: Option<Span>) -> f64 {
    match base.filter(|_| !leaves) {
        Some(base) => r.delivered_bytes as f64 * (base.as_secs() / r.length().as_secs().max(1e-9)).min(1.0),
        None => r.flight_bytes as f64,
    }
}

/// A window's worth comes in one go, a round trip after the one before: one pause is much longer than the others. Where all
/// pauses of a round trip are as long, and few packets come between them, they were sent so.
fn is_spaced(facts: &Facts<'_>, side: usize, row: &Stretch) -> bool {
    let (mut even, mut all) = (Span::ZERO, Span::ZERO);
    for r in facts.paths[side].rounds_in(row.start, row.end).filter(|r| r.delivered_bytes > 0) {
        all += r.length();
        let pauses = i64::from(r.waited.times);
        let few = r.train_bytes < TRAIN_SEGMENTS * facts.conversation.mss(side);
        if is_even(r) || few && pauses > 1 && r.quiet * pauses <= r.length().scale(1.0 + NEAR) {
            even += r.length();
        }
    }
    facts.troubles[side].cut_before(row.end).is_none() && even * 2 > all
}
