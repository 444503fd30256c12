//! A flow's `answer`: the analysis' words about its rows.

use super::heaviest::Heaviest;
use super::write::{Put, object};
use analysis::answer::{Outages, answer};
use analysis::rows::*;
use wire::Time;

/// The rows that an answer rests on: the heaviest, where there are more than a page could speak of.
pub const CONSIDERED: usize = 4096;

/// A flow's lists as its answer sees them.
pub struct Considered {
    pub bursts: Vec<BurstRow>,
    pub episodes: Vec<EpisodeRow>,
    pub idle: Vec<IdleRow>,
}

/// Whether there is a word to say: of a few segments that all arrived there is not, however long their sender
/// waited between them.
pub fn is_due(row: &FlowRow) -> bool {
    row.segments >= 10
        || row.retransmitted_segments > 0
        || row.episodes > 0
        || row.zero_windows > 0
        || row.syn_retransmissions > 0
}

pub fn considered<R: super::lists::Item>() -> Heaviest<R> {
    Heaviest::of(CONSIDERED)
}

/// Writes `,"answer":…`.
pub fn put(out: &mut Vec<u8>, row: &FlowRow, rows: &Considered, origin: Time) {
    out.extend_from_slice(b",\"answer\":");
    let a = answer(row, &rows.bursts, &rows.episodes, &rows.idle, origin);
    object!(out,
        "verdict": a.verdict.name(),
        "confidence": a.confidence,
        "look_at": a.look_at,
        "cost_s": a.cost_s,
        "sentences": a.sentences,
        "evidence": a.evidence,
        "outages": a.outages,
        "limits": a.limits,
    );
}

impl Put for Outages {
    fn put(&self, out: &mut Vec<u8>) {
        let Outages {
            count,
            length_s,
            at_least_s,
            at_most_s,
            period_s,
            jitter_s,
            beats_missed,
            first_s,
            starts_s,
            rtt_flat_before,
            both_ways,
            dead_from_s,
        } = self;
        object!(out,
            "count": count,
            "length_s": length_s,
            "at_least_s": at_least_s,
            "at_most_s": at_most_s,
            "period_s": period_s,
            "jitter_s": jitter_s,
            "beats_missed": beats_missed,
            "first_s": first_s,
            "starts_s": starts_s,
            "rtt_flat_before": rtt_flat_before,
            "both_ways": both_ways,
            "dead_from_s": dead_from_s,
        );
    }
}
