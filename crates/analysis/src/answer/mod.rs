//! From the rows of one flow to an answer that a person can act on: what cost most, where to look, and why.
//!
//! Pure functions of rows; the same rows give the same words.

mod costs;
mod limits;
mod outages;
mod path;
mod reason;
mod tell;
pub mod words;

pub use outages::Outages;
pub use path::round_trip;
use reason::Wait;
pub use reason::reason;

use crate::rows::{BurstRow, EpisodeRow, FlowRow, IdleRow};
use serde::{Deserialize, Serialize};
use wire::Time;

/// Where to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    SendingApplication,
    SendingStack,
    Network,
    Receiver,
    /// Nothing slowed it down that shows here.
    Nothing,
    #[default]
    CannotTell,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::SendingApplication => "sending-application",
            Verdict::SendingStack => "sending-stack",
            Verdict::Network => "network",
            Verdict::Receiver => "receiver",
            Verdict::Nothing => "nothing",
            Verdict::CannotTell => "cannot-tell",
        }
    }
    /// As it stands in a sentence: "the network".
    pub fn words(self) -> &'static str {
        match self {
            Verdict::SendingApplication => "the sending application",
            Verdict::SendingStack => "the sending stack",
            Verdict::Network => "the network",
            Verdict::Receiver => "the receiver",
            Verdict::Nothing => "nothing",
            Verdict::CannotTell => "cannot tell",
        }
    }
}

/// What happened to one flow, in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub verdict: Verdict,
    /// 0 to 1.
    pub confidence: f64,
    /// One line for "look at": the verdict and what speaks for it most.
    pub look_at: String,
    /// What cost time, the worst first.
    pub sentences: Vec<String>,
    /// Figures behind the verdict.
    pub evidence: Vec<String>,
    pub outages: Option<Outages>,
    /// What the capture can not show.
    pub limits: Vec<String>,
    /// Seconds that all of it cost.
    pub cost_s: f64,
}

/// `bursts`, `episodes` and `idle` are those of `flow`, in any order.
pub fn answer(
    flow: &FlowRow,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    idle: &[IdleRow],
    capture_start: Time,
) -> Answer {
    let gone = outages::all(flow, bursts, episodes, idle);
    let outages = outages::find(flow, &gone, episodes, capture_start);
    let costs = costs::of(flow, bursts, episodes, idle, &gone);
    let path = path::path(flow, bursts, episodes, &gone);
    let (verdict, confidence) = costs.verdict(flow, &path);
    let told = tell::Told { flow, outages: outages.as_ref(), costs: &costs, path: &path, capture_start };
    Answer {
        verdict,
        confidence,
        look_at: told.look_at(verdict),
        sentences: told.sentences(),
        evidence: told.evidence(verdict),
        limits: limits::limits(flow),
        cost_s: costs.total(),
        outages,
    }
}

#[cfg(test)]
mod tests;
