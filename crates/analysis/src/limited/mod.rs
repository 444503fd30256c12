//! What limited a transfer, at any time one thing, so that the times add up to its duration.
//!
//! Pure functions of rows. Each limit has a module that says where it holds and on what evidence ([`Claim`]); where
//! claims overlap the order of [`Basis`] decides, and what nobody claims is open. docs/definitions.md has the precedence
//! for each vantage point.

mod allowed;
mod application;
mod facts;
mod loss;
mod network;
mod paint;
mod receiver;
mod sender;
mod start;
mod stated;
mod why;

pub use allowed::Allowed;
pub use stated::{Holds, Stated};
pub use why::{Basis, How, LimitedBy, Why};

use crate::answer::certainty::Certainty;
use crate::rows::{BurstRow, EpisodeRow, FlowRow, IdleRow, RoundRow};
use facts::Facts;
use serde::{Deserialize, Serialize};
use wire::{Span, Time};

/// One stretch of a transfer with one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub start: Time,
    pub end: Time,
    pub why: Why,
    pub sure: Certainty,
    pub basis: Basis,
    /// Delivered in it.
    pub bytes: u64,
}

/// All stretches with one limit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub why: Why,
    pub time: Span,
    pub bytes: u64,
    /// Of the time, what is known and what is likely.
    pub known: Span,
    pub likely: Span,
    /// Time by what it rests on, by [`Basis::ALL`].
    pub by_basis: [Span; Basis::ALL.len()],
}

impl Part {
    /// How well it is known for most of its time.
    pub fn certainty(&self) -> Certainty {
        let rest = self.time - self.known - self.likely;
        match () {
            () if self.known >= self.likely + rest => Certainty::Known,
            () if self.known + self.likely >= rest => Certainty::Likely,
            () => Certainty::Open,
        }
    }
    /// What it rests on, that of the longest time first.
    pub fn evidence(&self) -> Vec<Basis> {
        let mut all: Vec<Basis> =
            Basis::ALL.iter().copied().filter(|b| self.by_basis[*b as usize] > Span::ZERO).collect();
        all.sort_by_key(|b| std::cmp::Reverse(self.by_basis[*b as usize]));
        all
    }
}

/// What the path could carry, what was reached, and what the losses allow. Bits a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathLimits {
    pub could_bps: Option<f64>,
    pub how: Option<How>,
    pub reached_bps: f64,
    pub allowed: Option<Allowed>,
}

/// The duration of a transfer, split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limited {
    pub start: Time,
    pub end: Time,
    /// In order of time, without gaps and overlaps.
    pub stretches: Vec<Stretch>,
    /// The longest first; their times sum up to the duration, exactly.
    pub parts: Vec<Part>,
    pub path: PathLimits,
}

impl Limited {
    pub fn duration(&self) -> Span {
        self.end - self.start
    }
    /// The time in which it transferred anything: without what came after the last data.
    pub fn transfer(&self) -> Span {
        self.duration() - self.parts.iter().find(|p| p.why == Why::Done).map_or(Span::ZERO, |p| p.time)
    }
    /// Time and bytes of one limit, whatever the reason in particular, while there was something to transfer.
    pub fn of(&self, limit: LimitedBy) -> (Span, u64) {
        let mine = self.parts.iter().filter(|p| p.why.limit() == limit && p.why != Why::Done);
        mine.fold((Span::ZERO, 0), |(t, b), p| (t + p.time, b + p.bytes))
    }
    /// What of a limit held longest.
    pub fn longest(&self, limit: LimitedBy) -> Option<&Part> {
        self.parts.iter().find(|p| p.why.limit() == limit && p.why != Why::Done)
    }
    /// How well it is known that a limit held longer than any other: *known* where it did even if all that is less sure
    /// was one other's.
    pub fn certainty_of(&self, limit: LimitedBy) -> Certainty {
        let of = |l| self.parts.iter().filter(move |p: &&Part| p.why.limit() == l && p.why != Why::Done);
        let known = |l| of(l).fold(Span::ZERO, |sum, p| sum + p.known);
        let told = of(limit).fold(known(limit), |sum, p| sum + p.likely);
        let others = || LimitedBy::ALL.iter().copied().filter(|l| *l != limit);
        let firm = others().map(known).max().unwrap_or(Span::ZERO);
        let doubtful = LimitedBy::ALL.iter().fold(self.transfer(), |rest, l| rest - known(*l));
        let other = others().map(|l| self.of(l).0).max().unwrap_or(Span::ZERO);
        match () {
            () if limit == LimitedBy::Open => Certainty::Open,
            () if known(limit) > firm + doubtful => Certainty::Known,
            () if told >= other => Certainty::Likely,
            () => Certainty::Open,
        }
    }
    /// The limit that held longest, and its share of the time of the transfer.
    pub fn largest(&self) -> Option<(LimitedBy, f64)> {
        let most = LimitedBy::ALL.iter().copied().max_by_key(|l| self.of(*l).0)?;
        let all = self.transfer().as_secs();
        (all > 0.0).then(|| (most, self.of(most).0.as_secs() / all))
    }
}

/// Where a limit holds, as far as one piece of evidence says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claim {
    start: Time,
    end: Time,
    why: Why,
    sure: Certainty,
    basis: Basis,
}

/// Splits the duration of a flow. All rows are those of `flow`; `rounds` in order of time, the others in any. `stated`: what
/// the sender's own kernel says of some times, in order and without overlaps.
pub fn limited(
    flow: &FlowRow,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    idle: &[IdleRow],
    rounds: &[RoundRow],
    stated: &[Stated],
) -> Limited {
    let facts = gather(Facts::of(flow, bursts, episodes, idle, rounds));
    let mut claims = Vec::with_capacity(idle.len() + 2 * episodes.len() + rounds.len() + 2);
    for evidence in [start::claims, network::claims, application::claims, receiver::claims, loss::claims] {
        evidence(&facts, &mut claims);
    }
    claims.extend(facts.rounds.iter().filter_map(|r| of_round(&facts, r)));
    let mut stretches = paint::paint(facts.start, facts.end, &claims);
    if !stated.is_empty() {
        stretches = stated::settle(stretches, stated);
    }
    paint::share_out(&mut stretches, &facts);
    Limited {
        start: facts.start,
        end: facts.end,
        parts: paint::parts(&stretches),
        stretches,
        path: PathLimits {
            could_bps: facts.path.map(|p| p.bytes_per_s * 8.0),
            how: facts.path.map(|p| p.how),
            reached_bps: facts.reached() * 8.0,
            allowed: allowed::allowed(&facts),
        },
    }
}

/// What each limit's own page finds out for all of them.
fn gather(mut facts: Facts) -> Facts {
    facts.by_trains = network::by_trains(&facts);
    facts.path = network::rate_of(&facts);
    facts.started = start::over(&facts);
    facts.turn = facts.turn_around();
    facts.pacer = sender::is_a_pacer(&facts);
    facts.grows = sender::still_grows(&facts);
    facts
}

/// What a round says of itself: the first that holds. A full bottleneck counts during repairs too, so it claims with a
/// stronger basis than the episode has.
fn of_round(facts: &Facts, round: &facts::RoundFacts) -> Option<Claim> {
    let tells = [
        application::round,
        network::round,
        receiver::round,
        start::first,
        application::unhurried,
        start::later,
        sender::round,
        loss::round,
    ];
    let (why, sure, basis) = tells.iter().find_map(|tell| tell(facts, round))?;
    let (start, end) = (round.row.start, round.row.end);
    Some(Claim { start, end, why, sure, basis })
}

/// What an evidence module says of a round.
type Told = Option<(Why, Certainty, Basis)>;

#[cfg(test)]
mod tests;
