//! A flow's `answer`: the analysis' words about its rows.

use super::heaviest::Heaviest;
use super::lists::{Around, put_sure};
use super::write::{By, Put, members, object};
use crate::facts::Failures;
use crate::told::{Difference, OfFlow};
use analysis::answer::certainty::Certainty;
use analysis::answer::findings::Finding;
use analysis::answer::{Answer, Dark, Outages, Verdict, answer};
use analysis::fault;
use analysis::limited::{Limited, Stated, limited};
use analysis::rows::*;

/// The rows that an answer rests on: the heaviest, where there are more than a page could speak of.
pub const CONSIDERED: usize = 4096;

/// A flow's lists as its answer sees them.
pub struct Considered {
    pub bursts: Vec<BurstRow>,
    pub episodes: Vec<EpisodeRow>,
    pub idle: Vec<IdleRow>,
    pub rounds: Vec<RoundRow>,
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

/// In the place of what [`put`] writes where no answer is due.
pub const NONE: &[u8] = br#","limited_by":[],"path":null,"answer":null"#;

/// Writes what `put` does, which is [`put`] of a flow; where that fails, the fault in the place of an answer.
pub fn or_fault(out: &mut Vec<u8>, failures: &Failures, put: impl FnOnce(&mut Vec<u8>)) {
    let before = out.len();
    if let Err(why) = fault::caught(|| put(out)) {
        failures.count();
        out.truncate(before);
        out.extend_from_slice(NONE);
        super::flow::put_fault(out, &why);
    }
}

/// Writes `,"limited_by":…,"path":…,"answer":…`.
pub fn put(
    out: &mut Vec<u8>,
    row: &FlowRow,
    rows: &Considered,
    around: Around<'_>,
    differ: &mut Vec<Difference>,
) {
    let by = |stated: &[Stated]| limited(row, &rows.bursts, &rows.episodes, &rows.idle, &rows.rounds, stated);
    let stated = around.told.and_then(|told| told.of(row.flow)).map_or(&[][..], OfFlow::stated);
    let limited = by(stated);
    if !stated.is_empty() {
        let most = |of: &Limited| of.largest().map(|(limit, _)| limit);
        if let (Some(packets), Some(kernel)) = (most(&by(&[])), most(&limited))
            && packets != kernel
        {
            differ.push(Difference {
                at: limited.start,
                what: "limit",
                capture: packets.name().into(),
                kernel: kernel.name().into(),
            });
        }
    }
    super::limited::put(out, &limited);
    out.extend_from_slice(b",\"answer\":");
    let mut a = answer(row, &rows.bursts, &rows.episodes, &rows.idle, &limited, around.origin);
    if let Some(why) = around.cut {
        until_cut(&mut a, why);
    }
    object!(out,
        "verdict": a.verdict.name(),
        "certainty": a.sure.certainty.name(),
        a.{ confidence, look_at },
        "limit": largest(&limited),
        "cost_s": a.cost_s,
        "sentences": a.sentences(),
        a.{ findings, evidence, outages, limits },
    );
}

/// What held it longest.
fn largest(limited: &Limited) -> impl Put + '_ {
    let found = limited.largest().and_then(|(limit, share)| Some((limit, share, limited.longest(limit)?)));
    found.map(|(limit, share, part)| {
        By(move |out: &mut Vec<u8>| {
            object!(out,
                "limit": limit.name(),
                "detail": part.why.name(),
                "seconds": limited.of(limit).0,
                "share": share,
                "certainty": limited.certainty_of(limit).name(),
            );
        })
    })
}

/// What holds until the captures end is no word on the rest of the run.
fn until_cut(a: &mut Answer, why: &str) {
    a.limits.insert(0, why.to_owned());
    if a.verdict == Verdict::Nothing {
        a.verdict = Verdict::CannotTell;
        a.confidence = 0.0;
        a.sure.certainty = Certainty::Open;
        a.look_at = format!("{}: {why}", Verdict::CannotTell.in_words());
        a.findings.iter_mut().for_each(|f| f.text.insert_str(0, "until the captures end "));
    }
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
            each,
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
            "each": each,
        );
    }
}

impl Put for Dark {
    fn put(&self, out: &mut Vec<u8>) {
        let Dark { begin_earliest_s, begin_latest_s, end_earliest_s, end_latest_s, sure } = self;
        out.push(b'{');
        members!(out, "",
            "begin_earliest_s": begin_earliest_s,
            "begin_latest_s": begin_latest_s,
            "end_earliest_s": end_earliest_s,
            "end_latest_s": end_latest_s,
        );
        put_sure(out, *sure);
        out.push(b'}');
    }
}

impl Put for Finding {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        members!(out, "",
            "kind": self.kind.name(),
            self.{ cost_s, text },
            "because": self.because(),
        );
        put_sure(out, self.sure);
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_fails_half_way_leaves_its_fault_and_whole_json() {
        let failures = Failures::default();
        let mut out = b"{\"flow\":1".to_vec();
        or_fault(&mut out, &failures, |out| out.extend_from_slice(b",\"answer\":2"));
        assert!(!failures.any());
        let whole = out.clone();
        or_fault(&mut out, &failures, |out| {
            out.extend_from_slice(b",\"limited_by\":[{");
            panic!("a test had it fail");
        });
        assert!(failures.any() && out.starts_with(&whole));
        out.splice(..whole.len(), *b"{\"flow\":1");
        out.push(b'}');
        let said: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        assert!(said["answer"].is_null() && said["limited_by"].as_array().is_some_and(Vec::is_empty));
        let fault = said["fault"].as_str().expect("text");
        assert!(fault.contains("answer.rs:") && fault.contains("a test had it fail"), "{fault}");
    }
}
