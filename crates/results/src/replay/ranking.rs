//! Every stack that can be replayed, ranked by how well it explains a transfer's sender, and what follows from that.

use super::{Loaded, load_of, put_found, put_kinds};
use crate::json::flow::put_inference;
use crate::json::write::{By, Put, members, object};
use crate::run::Findings;
use capture::Options;
use replay::{Against, Count, Replay, by_fit};
use std::path::PathBuf;
use tcp::stack::{Kind, RtoRule, Stack, Wire};

/// A sender is like a stack that makes this share of its sends, and of its retransmissions; below, it is another one.
const EXPLAINED: f64 = 0.9;
/// What cannot be told from more than so many others is told from none.
const MOST_EQUALS: usize = 3;

/// The stack that a sender is like.
#[derive(Clone, Debug, PartialEq)]
pub struct Like {
    pub stack: String,
    /// The share of sends, or of retransmissions, that it has right, the lesser, less what chance may have done.
    pub confidence: f64,
    /// Stacks that this transfer does not tell from it.
    pub equals: Vec<String>,
}

/// A stack, and what replaying the transfer through it found.
struct Candidate<'a> {
    stack: &'a Stack,
    wire: &'a Wire,
    found: Replay,
}

/// The best explanation against another.
fn put_against(against: Against, out: &mut Vec<u8>) {
    object!(out,
        against.{ better, worse },
        "chance": against.chance(),
        "told_apart": against.is_ahead(),
    );
}

/// A retransmission timer, the stacks that have it, and the best stack replayed with it.
struct Timer<'a> {
    rule: RtoRule,
    of: Vec<&'a str>,
    found: Replay,
}

/// The real endpoints among `stacks`; agents hear no segments.
fn endpoints(stacks: &[Stack]) -> impl Iterator<Item = (&Stack, &Wire)> + Clone {
    stacks.iter().filter_map(|stack| match &stack.kind {
        Kind::Wire(wire) => Some((stack, &**wire)),
        Kind::OneWay(_) => None,
    })
}

/// What replaying through each endpoint found, the best first; None where `go_on`, which hears how many are done, said no.
fn ranked<'a>(
    loaded: &Loaded,
    stacks: &'a [Stack],
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Option<Vec<Candidate<'a>>> {
    let mut candidates = Vec::new();
    for (stack, wire) in endpoints(stacks) {
        if !go_on(candidates.len()) {
            return None;
        }
        candidates.push(Some(Candidate { stack, wire, found: replay::replay(&loaded.transfer, wire) }));
    }
    let order = by_fit(candidates.iter().flatten().map(|c| &c.found));
    Some(order.into_iter().filter_map(|at| candidates[at].take()).collect())
}

/// Ranks all of `stacks` that are real endpoints, and their timers under the best of them. `go_on` hears how many replays are
/// done and how many there will be; None where it said no.
pub fn rank(
    loaded: &Loaded,
    stacks: &[Stack],
    most: usize,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Option<Vec<u8>> {
    let mut timers: Vec<(RtoRule, Vec<&str>)> = Vec::new();
    for (stack, wire) in endpoints(stacks) {
        match timers.iter_mut().find(|(rule, _)| *rule == wire.rto) {
            Some((_, of)) => of.push(&stack.name),
            None => timers.push((wire.rto, vec![&stack.name])),
        }
    }
    let total = endpoints(stacks).count() + timers.len();
    let ranked = ranked(loaded, stacks, &mut |done| go_on(done, total))?;
    let mut under_timers = Vec::new();
    if let Some(best) = ranked.first() {
        for (rule, of) in timers {
            if !go_on(ranked.len() + under_timers.len(), total) {
                return None;
            }
            // Under its own timer it was replayed already.
            let found = match rule == best.wire.rto {
                true => best.found.clone(),
                false => replay::replay(&loaded.transfer, &Wire { rto: rule, ..best.wire.clone() }),
            };
            under_timers.push(Timer { rule, of, found });
        }
    }
    let mut out = Vec::new();
    put(loaded, &ranked, &under_timers, most, &mut out);
    Some(out)
}

/// Into the facts of an analysed capture: which of `stacks` the sender with the most data is like, or in a warning why that
/// cannot be told. False where `go_on` said no.
pub fn infer(
    findings: &mut Findings,
    paths: &[PathBuf],
    options: &Options,
    stacks: &[Stack],
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> bool {
    let loaded = match load_of(&findings.shelf, paths, options) {
        Ok(loaded) => loaded,
        Err(why) => {
            findings.facts.warnings.push(why);
            return true;
        }
    };
    let total = endpoints(stacks).count();
    let Some(ranked) = ranked(&loaded, stacks, &mut |done| go_on(done, total)) else { return false };
    findings.facts.like = like(&loaded, &ranked).map(|like| (loaded.flow.flow, like));
    if findings.facts.like.is_none() {
        let Loaded { capture, flow, .. } = &loaded;
        findings.facts.warnings.push(format!(
            "{capture}: {} to {}: its sender is like no stack in particular (rexmit replay --stack all ranks them)",
            flow.sender, flow.receiver
        ));
    }
    true
}

fn put(loaded: &Loaded, ranked: &[Candidate], timers: &[Timer], most: usize, out: &mut Vec<u8>) {
    let against = |other: &Candidate| ranked[0].found.against(&other.found, &loaded.transfer);
    let rows: Vec<_> = ranked
        .iter()
        .enumerate()
        .map(|(at, candidate)| {
            By(move |out: &mut Vec<u8>| {
                out.push(b'{');
                put_found(candidate.stack, &candidate.found, loaded.flow.start, most, out);
                let behind = (at > 0).then_some(By(|out: &mut Vec<u8>| put_against(against(candidate), out)));
                members!(out, ",", "behind": behind);
                out.push(b'}');
            })
        })
        .collect();
    let like = like(loaded, ranked);
    out.push(b'{');
    loaded.put_head(out);
    members!(out, ",",
        "stack": "all",
        "ranking": rows,
        "explained": ranked.first().is_some_and(|best| explained(&best.found) >= EXPLAINED),
        "timers": timers_ranked(loaded, timers),
        "inference": By(|out: &mut Vec<u8>| put_inference(&loaded.flow.inference, like.as_ref(), out)),
    );
    out.push(b'}');
}

/// The timers, the best first; each with how far it is behind the first.
fn timers_ranked<'a>(loaded: &'a Loaded, timers: &'a [Timer<'a>]) -> Vec<impl Put + 'a> {
    let order = by_fit(timers.iter().map(|t| &t.found));
    let first = order.first().copied();
    order
        .into_iter()
        .map(move |at| {
            let Timer { rule, of, found } = &timers[at];
            let against = first.filter(|&first| first != at).map(|first| {
                let against = timers[first].found.against(found, &loaded.transfer);
                By(move |out: &mut Vec<u8>| put_against(against, out))
            });
            By(move |out: &mut Vec<u8>| {
                object!(out,
                    "rule": scenario::timer_rule(rule.rule),
                    "min_s": rule.min,
                    "stacks": of,
                    "sends": found.all.sends,
                    "right": found.all.right,
                    "differences": By(|out: &mut Vec<u8>| put_kinds(found, out)),
                    "behind": against,
                );
            })
        })
        .collect()
}

/// The share of the sends that are right, or of the retransmissions, the lesser.
fn explained(found: &Replay) -> f64 {
    let share = |c: Count| if c.sends > 0 { c.right as f64 / c.sends as f64 } else { 1.0 };
    f64::min(share(found.all), share(found.retransmissions))
}

/// The stack that comes first, if it explains the sender, and others that do as well are few.
fn like(loaded: &Loaded, ranked: &[Candidate]) -> Option<Like> {
    let (best, others) = ranked.split_first()?;
    let explained = explained(&best.found);
    let mut equals = Vec::new();
    let mut chance = 0.0;
    for other in others {
        let against = best.found.against(&other.found, &loaded.transfer);
        if against.is_ahead() {
            chance = f64::max(chance, against.chance());
        } else {
            equals.push(other.stack.name.clone());
        }
    }
    let enough = explained >= EXPLAINED && equals.len() <= MOST_EQUALS;
    enough.then(|| Like { stack: best.stack.name.clone(), confidence: explained * (1.0 - chance), equals })
}
