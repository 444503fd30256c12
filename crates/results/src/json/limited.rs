//! What limited a flow, and what its path could carry.

use super::write::{By, Put, members, object};
use analysis::limited::{Limited, Part, PathLimits};
use analysis::rows::Growth;
use wire::Span;

/// Writes `,"limited_by":…,"path":…`.
pub fn put(out: &mut Vec<u8>, limited: &Limited) {
    members!(out, ",",
        "limited_by": limited.parts.iter().map(part).collect::<Vec<_>>(),
        "path": By(|out: &mut Vec<u8>| put_path(out, &limited.path)),
    );
}

fn part(p: &Part) -> impl Put + '_ {
    By(move |out: &mut Vec<u8>| {
        object!(out,
            "limit": p.why.limit().name(),
            "detail": p.why.name(),
            "seconds": p.time,
            "bytes": p.bytes,
            "bps": (p.time > Span::ZERO).then(|| p.bytes as f64 * 8.0 / p.time.as_secs()),
            "certainty": p.certainty().name(),
            "evidence": p.evidence().into_iter().map(|e| e.in_words()).collect::<Vec<_>>(),
        );
    })
}

fn put_path(out: &mut Vec<u8>, path: &PathLimits) {
    object!(out,
        "could_bps": path.could_bps,
        "known_by": path.how.map(|h| h.name()),
        "reached_bps": path.reached_bps,
        "allowed": path.allowed.map(|a| By(move |out: &mut Vec<u8>| object!(out,
            a.{ least_bps, most_bps },
            "window_bytes": (a.most_bps * a.rtt_s / 8.0).round() as u64,
            "cuts_per_segment": a.cuts,
            "rtt_s": a.rtt_s,
            "rule": a.rule.map(rule),
        ))),
    );
}

fn rule(growth: Growth) -> &'static str {
    match growth {
        Growth::Linear => "reno",
        Growth::Cubic => "cubic",
        Growth::Flat => "flat",
    }
}
