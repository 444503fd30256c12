//! From claims to a duration without gaps: at any time the strongest claim counts.

use super::facts::Facts;
use super::{Basis, Claim, Part, Stretch, Why};
use crate::answer::certainty::Certainty;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use wire::{Span, Time};

/// Splits `start` to `end`.
pub(super) fn paint(start: Time, end: Time, claims: &[Claim]) -> Vec<Stretch> {
    let mut claims: Vec<Claim> = claims
        .iter()
        .map(|c| Claim { start: c.start.max(start), end: c.end.min(end), ..*c })
        .filter(|c| c.start < c.end)
        .collect();
    claims.sort_by_key(|c| c.start);
    let mut edges: Vec<Time> = claims.iter().flat_map(|c| [c.start, c.end]).chain([start, end]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut open: BinaryHeap<Reverse<(Basis, usize)>> = BinaryHeap::new();
    let mut next = 0;
    let mut out: Vec<Stretch> = Vec::new();
    for edge in edges.windows(2) {
        while let Some(c) = claims.get(next).filter(|c| c.start <= edge[0]) {
            open.push(Reverse((c.basis, next)));
            next += 1;
        }
        while open.peek().is_some_and(|Reverse((_, at))| claims[*at].end <= edge[0]) {
            open.pop();
        }
        let strongest = open.peek().map(|Reverse((_, at))| claims[*at]);
        let (why, sure, basis) =
            strongest.map_or((Why::Unknown, Certainty::Open, Basis::Nothing), |c| (c.why, c.sure, c.basis));
        match out.last_mut() {
            Some(last) if (last.why, last.sure, last.basis) == (why, sure, basis) => last.end = edge[1],
            _ => out.push(Stretch { start: edge[0], end: edge[1], why, sure, basis, bytes: 0 }),
        }
    }
    out
}

/// Gives each stretch the bytes delivered in it: evenly within a round, none in an idle gap, all together what the flow
/// delivered.
pub(super) fn share_out(stretches: &mut [Stretch], facts: &Facts) {
    let all = facts.flow.delivered_bytes();
    let in_rounds: u64 = facts.rounds.iter().map(|r| r.row.delivered_bytes).sum();
    let Some(last) = stretches.len().checked_sub(1) else { return };
    // Before there were rounds.
    let before = all.saturating_sub(in_rounds);
    let first = facts.flow.first_data.unwrap_or(facts.start);
    let begun = facts.rounds.first().map_or(facts.end, |r| r.row.start);
    let pieces: Vec<(Time, Time, u64)> = std::iter::once((first, begun, before))
        .chain(facts.rounds.iter().map(|r| (r.row.start, r.row.end, r.row.delivered_bytes)))
        .collect();
    let mut at = 0;
    let mut whole: u64 = 0;
    let mut told: u64 = 0;
    for (i, s) in stretches.iter_mut().enumerate() {
        while let Some((_, to, bytes)) = pieces.get(at).filter(|p| p.1 <= s.end) {
            debug_assert!(*to <= s.end);
            whole += bytes;
            at += 1;
        }
        let part = pieces.get(at).filter(|p| p.0 < s.end).map_or(0, |(from, to, bytes)| {
            let share = (s.end - *from).0 as f64 / (*to - *from).0.max(1) as f64;
            (*bytes as f64 * share) as u64
        });
        let by_now = if i == last { all } else { (whole + part).clamp(told, all) };
        s.bytes = by_now - told;
        told = by_now;
    }
}

/// Stretches of one reason together, the longest first.
pub(super) fn parts(stretches: &[Stretch]) -> Vec<Part> {
    let mut by_why: BTreeMap<Why, Part> = BTreeMap::new();
    for s in stretches {
        let none = Part {
            why: s.why,
            time: Span::ZERO,
            bytes: 0,
            known: Span::ZERO,
            likely: Span::ZERO,
            by_basis: [Span::ZERO; Basis::ALL.len()],
        };
        let p = by_why.entry(s.why).or_insert(none);
        let time = s.end - s.start;
        p.time += time;
        p.bytes += s.bytes;
        p.by_basis[s.basis as usize] += time;
        match s.sure {
            Certainty::Known => p.known += time,
            Certainty::Likely => p.likely += time,
            Certainty::Open => {}
        }
    }
    let mut parts: Vec<Part> = by_why.into_values().collect();
    parts.sort_by_key(|p| (Reverse(p.time), p.why));
    parts
}
