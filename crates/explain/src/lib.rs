//! Rows in, an answer out: where the time of a transfer went, and why.
//!
//! The question is always the same: what was the next byte waiting for? The rows of `waits` say it for every moment of a
//! conversation; [`paths`] says what all flows between two hosts show; [`losses`] says what each loss is due to; [`waits`]
//! gives each moment an owner, a [`cause`], which has the words; [`findings`] are facts beside them. Nothing here sees packets.

pub mod answer;
pub mod assumptions;
pub mod audit;
pub mod cause;
pub mod certainty;
pub mod conversation;
mod cut_off;
pub mod findings;
mod limits;
pub mod losses;
pub mod outages;
pub mod paths;
pub mod waits;

use analysis::rows::{Closed, Role};
use answer::{Answer, PathWords, Share, Words};
use assumptions::{NEAR, NEGLIGIBLE, NEGLIGIBLE_TRIPS, SHARED, TIMER_LEAST};
use cause::{Cause, Scene};
use certainty::Certainty;
use conversation::{Conversation, FlowRows, Rows};
use outages::Outages;
use paths::{How, Path};
use waits::{Facts, Moment};
use wire::{Span, Time};

/// The answer about a connection.
pub fn explain(rows: &Rows<'_>) -> Answer {
    considered(rows, |facts| answered(facts, rows))
}

/// Who owns each moment of a connection.
pub fn moments(rows: &Rows<'_>) -> Vec<Moment> {
    considered(rows, waits::moments)
}

/// Puts the facts of a connection together, paths and losses included, and lets `ask` answer from them.
fn considered<R>(rows: &Rows<'_>, ask: impl FnOnce(&Facts<'_>) -> R) -> R {
    let conversation = Conversation::of(rows);
    let paths = [Path::of(&conversation, 0), Path::of(&conversation, 1)];
    let troubles = [losses::of(&conversation, 0, &paths[0]), losses::of(&conversation, 1, &paths[1])];
    let of_hosts = [Path::of_hosts(&conversation, 0), Path::of_hosts(&conversation, 1)];
    ask(&Facts::new(
        &conversation,
        paths.each_ref(),
        of_hosts.each_ref().map(Vec::as_slice),
        troubles.each_ref(),
    ))
}

fn answered(facts: &Facts<'_>, rows: &Rows<'_>) -> Answer {
    let (conversation, paths, troubles) = (facts.conversation, facts.paths, facts.troubles);
    let ledger = waits::owners(facts);
    let owed = ledger.total();
    let mut causes: Vec<Share> = ledger
        .owners()
        .into_iter()
        .map(|(cause, by, owned)| Share {
            cause,
            by,
            time: owned.time(),
            share: owned.time().as_secs() / owed.as_secs().max(1e-9),
            certainty: owned.certainty(),
            first: owned.first,
            last: owned.last,
            words: Words::default(),
        })
        .collect();
    for share in &mut causes {
        share.words = words(facts, share, rows.origin);
    }
    let help = what_helps(&causes);
    for share in &mut causes {
        share.words.does_not_help.retain(|advice| !help.contains(advice));
    }
    let (cause, by, certainty) = verdict(conversation, owed, &causes);
    // The answer and its share are one statement.
    if let Some(first) = causes.first_mut().filter(|s| (s.cause, s.by) == (cause, by)) {
        first.certainty = certainty;
    }
    Answer {
        cause,
        by,
        certainty,
        text: in_a_sentence(facts, (cause, by, certainty), &causes, rows.origin),
        owed,
        causes,
        findings: findings::all(facts),
        paths: [0, 1].map(|side| path_words(conversation, side, paths[side])),
        outages: [0, 1].map(|side| outages_of(&rows.flows[side], troubles[side], rows.origin)),
        limits: limits::of_connection(&rows.flows),
    }
}

/// What would shorten a good part of the time, and so is not to be said to do nothing for another part.
fn what_helps(causes: &[Share]) -> Vec<String> {
    let time_of = |advice: &String| -> f64 {
        causes.iter().filter(|s| s.words.helps.contains(advice)).map(|s| s.share).sum()
    };
    let all = causes.iter().flat_map(|s| &s.words.helps);
    all.filter(|advice| time_of(advice) >= SHARED).cloned().collect()
}

fn words(facts: &Facts<'_>, share: &Share, origin: Time) -> Words {
    (share.cause.about().words)(&Scene { facts, share, origin })
}

/// What the cause of the answer says. A cause without time, such as a reset, has no share of its own.
fn in_a_sentence(
    facts: &Facts<'_>,
    (cause, by, certainty): (Cause, Option<Role>, Certainty),
    causes: &[Share],
    origin: Time,
) -> String {
    if let Some(share) = causes.iter().find(|s| s.cause == cause && s.by == by) {
        return share.words.text.clone();
    }
    let c = facts.conversation;
    let none = Share {
        cause,
        by,
        time: Span::ZERO,
        share: 0.0,
        certainty,
        first: c.start,
        last: c.end,
        words: Words::default(),
    };
    words(facts, &none, origin).text
}

/// When nothing of one direction got through, but for silences that something else explains.
fn outages_of(rows: &FlowRows<'_>, troubles: &losses::Troubles, origin: Time) -> Option<Outages> {
    let flow = rows.flow?;
    let mut all = outages::all(flow, rows.bursts, rows.episodes, rows.idle);
    all.retain(|gone| !troubles.near(gone.start, gone.start).any(|t| explains_silence(t.cause)));
    outages::find(flow, &all, rows.episodes, origin)
}

/// The path delivered, and a host or the size of packets made the silence.
fn explains_silence(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::SenderStalled
            | Cause::Timer
            | Cause::ReceiverStack
            | Cause::Mtu
            | Cause::Reordering
            | Cause::PacketsHeld
    )
}

/// The owner with the most time; but a reset that cut off what was owed comes first, unless a program chose to close while a
/// transfer went on, and what took no time is nothing.
fn verdict(c: &Conversation<'_>, owed: Span, causes: &[Share]) -> (Cause, Option<Role>, Certainty) {
    let least = c.base_rtt.map_or(NEGLIGIBLE, |rtt| rtt.scale(NEGLIGIBLE_TRIPS).max(NEGLIGIBLE));
    let held_by_more_than_programs =
        causes.first().is_some_and(|first| owed > least && !is_of_programs(first.cause));
    if let Some(cut) = cut_off::of(c).filter(|cut| !(cut.chosen && held_by_more_than_programs)) {
        return (Cause::Reset, Some(Role::of(cut.by)), cut.sure);
    }
    match causes.first() {
        Some(first) if owed > least => {
            // A SYN that was lost on its way costs a second, and does not show where SYNs arrive; and where another cause has
            // nearly as much, who has more is not known.
            let unseen = !c.seen_leaving(0) && owed < TIMER_LEAST;
            let close = causes.get(1).is_some_and(|next| next.share >= (1.0 - NEAR) * first.share);
            let limit = if unseen || close { Certainty::Likely } else { Certainty::Known };
            (first.cause, first.by, first.certainty.max(limit))
        }
        // Where SYNs arrive those that were lost do not show; and a host that has not closed may have sent what never came.
        _ => {
            let over = c.closed() == Closed::Fin;
            (
                Cause::Nothing,
                None,
                if over && c.seen_leaving(0) { Certainty::Known } else { Certainty::Likely },
            )
        }
    }
}

/// The programs had not got to it yet.
fn is_of_programs(cause: Cause) -> bool {
    matches!(cause, Cause::SenderIdle | Cause::RequestResponse | Cause::CannotTell)
}

fn path_words(c: &Conversation<'_>, side: usize, path: &Path<'_>) -> PathWords {
    let bytes = c.bytes(side) as f64;
    PathWords {
        // A rate over less than this is that of one burst.
        capacity_bps: path
            .capacity
            .filter(|p| p.how != How::Reached || c.end - c.start >= NEGLIGIBLE)
            .map(|p| p.bytes_per_s * 8.0),
        at_least: path.capacity.is_none_or(|p| matches!(p.how, How::Reached | How::Spacing)),
        known_by: path.capacity.map(|p| p.how),
        policer_bps: path.policer.map(|p| p.bytes_per_s * 8.0),
        base_rtt: c.base_rtt,
        largest_rtt: c.largest_rtt,
        own_share: 1.0 - path.others(c.start, c.end, bytes),
    }
}
