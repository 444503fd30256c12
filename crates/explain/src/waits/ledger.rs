//! Time by its owner. Everything that is put in stays in: the sum of a ledger is the time that was owed.

use crate::cause::Cause;
use crate::certainty::Certainty;
use analysis::rows::Role;
use wire::{Span, Time};

/// Time of one owner, between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub cause: Cause,
    pub by: Option<Role>,
    pub time: Span,
    pub certainty: Certainty,
    pub first: Time,
    pub last: Time,
}

/// Time by certainty: known, likely, open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Owned {
    pub by_certainty: [Span; Certainty::ALL.len()],
    pub first: Time,
    pub last: Time,
}

impl Owned {
    pub fn time(&self) -> Span {
        self.by_certainty.iter().fold(Span::ZERO, |sum, t| sum + *t)
    }
    /// How sure most of it is.
    pub fn certainty(&self) -> Certainty {
        let [known, likely, open] = self.by_certainty;
        match () {
            () if known >= likely + open => Certainty::Known,
            () if known + likely >= open => Certainty::Likely,
            () => Certainty::Open,
        }
    }
}

/// A connection has few owners: a list is sooner searched than a tree.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    owned: Vec<(Cause, Option<Role>, Owned)>,
}

impl Ledger {
    pub fn add(&mut self, e: &Entry) {
        let at = self.owned.iter().position(|(cause, by, _)| (*cause, *by) == (e.cause, e.by));
        let at = at.unwrap_or_else(|| {
            let new = Owned { by_certainty: Default::default(), first: e.first, last: e.last };
            self.owned.push((e.cause, e.by, new));
            self.owned.len() - 1
        });
        let owned = &mut self.owned[at].2;
        owned.by_certainty[e.certainty as usize] += e.time;
        owned.first = owned.first.min(e.first);
        owned.last = owned.last.max(e.last);
    }
    pub fn total(&self) -> Span {
        self.owned.iter().fold(Span::ZERO, |sum, (_, _, o)| sum + o.time())
    }
    /// Every owner, the one with the most time first.
    pub fn owners(&self) -> Vec<(Cause, Option<Role>, Owned)> {
        let mut all = self.owned.clone();
        all.sort_by_key(|(cause, by, o)| (std::cmp::Reverse(o.time()), *cause as usize, *by));
        all
    }
}
