//! From the rows of one flow to an answer that a person can act on: what cost most, where to look, and why.
//!
//! Pure functions of rows; the same rows give the same words.

pub mod certainty;
mod costs;
pub mod findings;
pub(crate) mod flow_facts;
pub mod grounds;
mod held;
mod limits;
pub(crate) mod outages;
mod path;
mod reason;
mod tell;
mod where_to_look;
pub mod words;

pub use flow_facts::round_trip;
pub use outages::{Dark, Outages};
use reason::Wait;
pub use where_to_look::Verdict;

use crate::limited::{Limited, LimitedBy, Why};
use crate::rows::{BurstRow, EpisodeRow, FlowRow, IdleRow};
use certainty::{Certainty, Claim, Grounds};
use findings::{Finding, Kind};
use grounds::Sure;
use held::Held;
use wire::Time;

/// What happened to one flow, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub verdict: Verdict,
    pub sure: Sure,
    /// 0 to 1.
    pub confidence: f64,
    /// One line for "look at": the verdict and what speaks for it most.
    pub look_at: String,
    /// What cost time, the worst first.
    pub findings: Vec<Finding>,
    /// Figures behind the verdict.
    pub evidence: Vec<String>,
    pub outages: Option<Outages>,
    /// What the capture cannot show.
    pub limits: Vec<String>,
    /// Seconds that all of it cost.
    pub cost_s: f64,
}

impl Answer {
    /// What was found, in words.
    pub fn sentences(&self) -> Vec<&str> {
        self.findings.iter().map(|f| f.text.as_str()).collect()
    }
}

/// A verdict is no surer than the findings that it rests on, and less where another might have won.
const CLEAR: f64 = 0.6;

fn verdict_sure(verdict: Verdict, confidence: f64, flow: &FlowRow, findings: &[Finding]) -> Sure {
    let none = Sure::of(Claim::Nothing, flow, Grounds::default());
    let mine = findings.iter().filter(|f| blames(f.kind) == Some(verdict)).map(|f| f.sure);
    let sure = match verdict {
        Verdict::CannotTell => Sure { certainty: Certainty::Open, ..none },
        Verdict::Nothing => none,
        _ => mine.reduce(Sure::and).unwrap_or(Sure { certainty: Certainty::Likely, ..none }),
    };
    let least = match confidence {
        c if c >= CLEAR => Certainty::Known,
        c if c >= 0.3 => Certainty::Likely,
        _ => Certainty::Open,
    };
    Sure { certainty: sure.certainty.max(least), ..sure }
}

/// Whose a finding is.
fn blames(kind: Kind) -> Option<Verdict> {
    Some(match kind {
        Kind::Outages | Kind::LostTails | Kind::TooLarge | Kind::Overshoot | Kind::Losses => Verdict::Network,
        Kind::LostAcks | Kind::Overtaken | Kind::Handshake | Kind::Queue | Kind::SmallWindow => {
            Verdict::Network
        }
        Kind::OnePerTimeout | Kind::NeedlessRepairs | Kind::StaleBackoff => Verdict::SendingStack,
        Kind::ClosedWindow | Kind::FullWindow | Kind::Peer => Verdict::Receiver,
        Kind::Application | Kind::Nagle => Verdict::SendingApplication,
        Kind::Ceiling | Kind::Reset | Kind::Reordering | Kind::Marks | Kind::Nothing => return None,
    })
}

/// As sure as the limit that it names, and as whose that is.
fn held_sure(held: &Held, flow: &FlowRow, costs: &costs::Costs, path: &path::Path) -> Sure {
    let none = Sure::of(Claim::Nothing, flow, Grounds::default());
    let whose = match held.why {
        Why::BottleneckFull if !costs.at_network_for_sure(path) => Certainty::Likely,
        _ => Certainty::Known,
    };
    Sure { certainty: held.sure.max(none.certainty).max(whose), ..none }
}

/// `bursts`, `episodes` and `idle` are those of `flow`, in any order; `limited` is what [`limited::limited`] says of them.
/// The limit that held longest decides the verdict; where that is open, what cost most does.
pub fn answer(
    flow: &FlowRow,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    idle: &[IdleRow],
    limited: &Limited,
    capture_start: Time,
) -> Answer {
    let gone = outages::all(flow, bursts, episodes, idle);
    let outages = outages::find(flow, &gone, episodes, capture_start);
    let costs = costs::of(flow, bursts, episodes, idle, &gone);
    let path = path::path(flow, bursts, episodes, &gone, limited);
    let held = Held::of(limited);
    let (verdict, confidence) = match &held {
        Some(held) => (held.verdict(&costs, &path), held.share * (1.0 - costs.blindness(flow))),
        None => costs.verdict(flow, &path),
    };
    let small = held::Small::of(limited);
    let told = tell::Told {
        flow,
        outages: outages.as_ref(),
        costs: &costs,
        path: &path,
        held: held.as_ref(),
        nobodys: verdict == Verdict::Nothing,
        small: small.as_ref(),
        undecided: limited.of(LimitedBy::Open).0.as_secs() / limited.transfer().as_secs().max(1e-9),
        capture_start,
    };
    let findings = told.findings();
    let sure = match &held {
        None => verdict_sure(verdict, confidence, flow, &findings),
        // An outage is told with the limit: together they are as sure as the less sure of both.
        Some(held) if verdict == Verdict::Network && told.tells_fault(verdict, held) => {
            let outage = findings.iter().find(|f| matches!(f.kind, Kind::Outages | Kind::TooLarge));
            let limit = held_sure(held, flow, &costs, &path);
            outage.map_or(limit, |outage| limit.and(outage.sure))
        }
        Some(held) => held_sure(held, flow, &costs, &path),
    };
    Answer {
        verdict,
        sure,
        confidence,
        look_at: told.look_at(verdict),
        findings,
        evidence: told.evidence(verdict),
        limits: limits::limits(flow),
        cost_s: costs.total() + small.map_or(0.0, |s| s.cost_s),
        outages,
    }
}

#[cfg(test)]
mod tests;
