//! Time by its owner. Everything that is put in stays in: the sum of a ledger is the time that was owed.

use crate::cause::Cause;
use crate::certainty::Certainty;
use analysis::rows::Role;
use std::collections::BTreeMap;
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

#[derive(Clone, Debug, Default)]
pub struct Ledger {
    owned: BTreeMap<(usize, Option<Role>), (Cause, Owned)>,
}

impl Ledger {
    pub fn add(&mut self, e: &Entry) {
        if e.time <= Span::ZERO {
            return;
        }
        let new = Owned { by_certainty: Default::default(), first: e.first, last: e.last };
        let (_, owned) = self.owned.entry((e.cause as usize, e.by)).or_insert((e.cause, new));
        owned.by_certainty[e.certainty as usize] += e.time;
        owned.first = owned.first.min(e.first);
        owned.last = owned.last.max(e.last);
    }
    pub fn total(&self) -> Span {
        self.owned.values().fold(Span::ZERO, |sum, (_, o)| sum + o.time())
    }
    /// Every owner, the one with the most time first.
    pub fn owners(&self) -> Vec<(Cause, Option<Role>, Owned)> {
        let mut all: Vec<_> = self.owned.iter().map(|((_, by), (cause, o))| (*cause, *by, *o)).collect();
        all.sort_by_key(|(cause, by, o)| (std::cmp::Reverse(o.time()), *cause as usize, *by));
        all
    }
}
