//! Losses: waiting for a timer, repairing, and the window that they keep small.

use super::facts::{Facts, MOSTLY, RoundFacts};
use super::network;
use super::{Basis, Claim, Told, Why};
use crate::answer::certainty::Certainty;
use crate::rows::{EpisodeKind, IdleCause};

/// So many round trips after a timeout's repair the window may still be in slow start.
const SLOW_STARTS: f64 = 6.0;
/// A sender that follows a model of the path is at its rate from this share of it on.
const AT_RATE: f64 = 0.8;

pub(super) fn claims(facts: &Facts, claims: &mut Vec<Claim>) {
    for i in facts.idle {
        let (why, sure, basis) = match i.cause {
            // That a timer was waited for is sure; that the path was back meanwhile is not.
            _ if facts.told_by_timer(i) => (Why::Timer, Certainty::Likely, Basis::TimerGap),
            IdleCause::AckClock => (Why::LateAck, Certainty::Open, Basis::AckGap),
            _ => continue,
        };
        claims.push(Claim { start: i.start, end: i.end, why, sure, basis });
    }
    // Where data arrives, what was lost before shows as a gap, which may have been disorder.
    let repairing = if facts.afar() { Certainty::Likely } else { Certainty::Known };
    for e in &facts.episodes {
        let end = e.end.unwrap_or(facts.done);
        claims.push(Claim {
            start: e.start,
            end,
            why: Why::Repairing,
            sure: repairing,
            basis: Basis::Episode,
        });
    }
}

pub(super) fn round(facts: &Facts, r: &RoundFacts) -> Told {
    if !r.after_loss {
        return None;
    }
    // One that follows a model is at the rate of its trains: it spaces them.
    if facts.by_model() && !network::idles(facts, r) {
        return None;
    }
    // Whether the sender follows a model of the path often does not show from afar: then one that is at its rate is not
    // held back by losses.
    let told = facts.flow.inference.growth.is_some();
    if facts.afar() && !told && facts.path.is_some_and(|p| r.row.rate() >= AT_RATE * p.bytes_per_s) {
        return None;
    }
    let at = facts.episodes.partition_point(|e| e.start <= r.row.start);
    let timed_out = facts.episodes[..at].last().filter(|e| e.timeouts > 0 && e.kind != EpisodeKind::Needless);
    let since = timed_out.and_then(|e| e.end).map(|end| (r.row.start - end).as_secs());
    let soon = SLOW_STARTS * facts.rtt.unwrap_or(0.0);
    let by_acks = r.share(r.row.waited.ack) > MOSTLY;
    let sure = if told && by_acks && !facts.afar() && !facts.by_model() {
        Certainty::Known
    } else {
        Certainty::Likely
    };
    match since {
        Some(since) if (0.0..soon).contains(&since) => {
            Some((Why::SlowStartAgain, Certainty::Likely, Basis::AfterLoss))
        }
        _ => Some((Why::SmallWindow, sure, Basis::AfterLoss)),
    }
}
