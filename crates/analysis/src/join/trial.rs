//! Trials: which header fields the captures agree on, tried where copies wait on both sides and do not match.

use super::captured::{CapturedSegment, MatchFields, Rule};
use super::directions::SMALLEST_MSS;
use super::{Joiner, Side};
use rustc_hash::{FxHashMap, FxHashSet};

impl Joiner {
    /// No connection is in both captures: from here on copies are looked for under any address.
    pub(super) fn match_across_addresses(&mut self) {
        if self.translated {
            return;
        }
        self.translated = true;
        let copies = self.take_pending();
        if let Some((fields, matched)) = strictest_fields(&copies, false, self.options_cut)
            && (matched >= ENOUGH || matched == copies[0].len().min(copies[1].len()))
        {
            self.directions.set_fields_everywhere(fields);
        }
        self.match_all(copies);
    }

    /// A capture cut options off: they are left out of the comparison, of waiting copies as well.
    pub(super) fn do_without_options(&mut self) {
        self.options_cut = true;
        self.directions.do_without_options();
        self.rematch_pending();
    }

    /// Places what is pending anew, after the rules have changed.
    pub(super) fn rematch_pending(&mut self) {
        let copies = self.take_pending();
        self.match_all(copies);
    }

    /// Looks for fields by which the copies of one direction match, or, at the end, of every direction on which none ever
    /// matched. Across translated addresses the end only matches waiting copies anew.
    pub(super) fn try_other_fields(&mut self, only: Option<u32>) {
        let concerned: FxHashSet<u32> = match only {
            Some(direction) => [direction].into_iter().collect(),
            None if self.translated => FxHashSet::default(),
            // Directions on which copies wait on one side only cannot match under any fields; there may be millions.
            None => {
                (0..self.directions.len()).filter(|&direction| self.directions.is_stuck(direction)).collect()
            }
        };
        if concerned.is_empty() && !self.translated {
            return;
        }
        let copies = self.take_pending();
        let mut groups: FxHashMap<u32, [Vec<CapturedSegment>; 2]> = FxHashMap::default();
        let mut rest = [Vec::new(), Vec::new()];
        for (side, copies) in Side::BOTH.into_iter().zip(copies) {
            for copy in copies {
                let canonical = self.directions.canonical(side, copy.direction);
                match concerned.contains(&canonical) {
                    true => groups.entry(canonical).or_default()[side as usize].push(copy),
                    false => rest[side as usize].push(copy),
                }
            }
        }
        for (canonical, mut copies) in groups {
            self.try_direction(canonical, &mut copies);
            for (all, some) in rest.iter_mut().zip(copies) {
                all.extend(some);
            }
        }
        self.match_all(rest);
    }

    fn try_direction(&mut self, canonical: u32, copies: &mut [Vec<CapturedSegment>; 2]) {
        let least = |c: &[Vec<CapturedSegment>; 2]| c[0].len().min(c[1].len());
        let direction = *self.directions.get(canonical);
        let waiting = least(copies);
        if waiting == 0 {
            return;
        }
        // Facts that held for more copies than are stuck now are not what keeps these apart.
        if (direction.matched as usize) < waiting
            && let Some((fields, matched)) = strictest_fields(copies, !self.translated, self.options_cut)
            && matched * 2 >= waiting
            && fields != self.rule(canonical).fields
        {
            if self.translated {
                self.directions.set_fields_everywhere(fields);
            } else {
                self.directions.get_mut(canonical).fields = fields;
                self.directions.set_default_fields(fields);
            }
            return;
        }
        let super_packets = self.records.iter().any(|r| r.super_packets > 0);
        if super_packets
            && let Some(mss) = commonest_length(copies)
            && let Ok(short) = u16::try_from(mss)
            && short != self.directions.segment_payload(canonical)
        {
            let again = [cut_again(&copies[0], mss), cut_again(&copies[1], mss)];
            if matches(&again, self.rule(canonical)) * 2 >= least(&again) {
                self.directions.set_segment_payload(canonical, short);
                *copies = again;
                return;
            }
        }
        self.directions.get_mut(canonical).trial_backoff = (direction.trial_backoff + 1).min(31);
    }

    fn take_pending(&mut self) -> [Vec<CapturedSegment>; 2] {
        self.since_trial = 0;
        Side::BOTH.map(|side| {
            let all = self.pending[side as usize].take_everything();
            for copy in &all {
                let canonical = self.directions.canonical(side, copy.direction);
                self.directions.one_fewer_waits(canonical, side);
            }
            all
        })
    }

    /// Places copies of both sides in the order of one clock.
    fn match_all(&mut self, copies: [Vec<CapturedSegment>; 2]) {
        let offset = self.offset_tracker.offset;
        let mut all: Vec<(i64, Side, CapturedSegment)> =
            Vec::with_capacity(copies[0].len() + copies[1].len());
        for (side, copies) in Side::BOTH.into_iter().zip(copies) {
            let shift = if side == Side::Sender { offset } else { 0 };
            all.extend(copies.into_iter().map(|c| (c.time.saturating_add(shift), side, c)));
        }
        all.sort_by_key(|&(time, side, c)| (time, side as u8, c.number));
        for (_, side, copy) in all {
            self.match_or_wait(side, copy);
        }
    }
}

/// This many matches are no accident.
const ENOUGH: usize = 8;

/// The strictest fields by which [`ENOUGH`] copies match, or a quarter of the most that match by any, and how many do. By
/// looser ones more match, but retransmissions and duplicate ACKs with the wrong counterpart.
fn strictest_fields(
    copies: &[Vec<CapturedSegment>; 2],
    same_addresses: bool,
    options_cut: bool,
) -> Option<(MatchFields, usize)> {
    let ladder =
        MatchFields::LADDER.map(|fields| if options_cut { fields.without_options() } else { fields });
    let matched = ladder.map(|fields| matches(copies, Rule { fields, same_addresses }));
    let most = matched.iter().copied().max().filter(|&most| most > 0)?;
    let rung = matched.iter().position(|&n| n >= ENOUGH || n * 4 >= most)?;
    Some((ladder[rung], matched[rung]))
}

/// How many copies of one side have a counterpart on the other.
fn matches(copies: &[Vec<CapturedSegment>; 2], rule: Rule) -> usize {
    let mut there: FxHashMap<u64, u32> = FxHashMap::default();
    for c in &copies[0] {
        *there.entry(c.hash(rule)).or_default() += 1;
    }
    let mut matched = 0;
    for c in &copies[1] {
        if let Some(n) = there.get_mut(&c.hash(rule)).filter(|n| **n > 0) {
            *n -= 1;
            matched += 1;
        }
    }
    matched
}

/// The length that most copies have.
fn commonest_length(copies: &[Vec<CapturedSegment>; 2]) -> Option<u32> {
    let mut lengths: FxHashMap<u32, u32> = FxHashMap::default();
    for c in copies.iter().flatten().filter(|c| c.len >= u32::from(SMALLEST_MSS)) {
        *lengths.entry(c.len).or_default() += 1;
    }
    lengths.into_iter().max_by_key(|&(len, n)| (n, len)).map(|(len, _)| len)
}

/// The same packets, cut at another segment size.
fn cut_again(copies: &[CapturedSegment], mss: u32) -> Vec<CapturedSegment> {
    let mut whole: Vec<CapturedSegment> = Vec::with_capacity(copies.len());
    for c in copies {
        match whole.last_mut() {
            Some(w) if w.number == c.number && w.seq.wrapping_add(w.len) == c.seq => {
                w.len = w.len.saturating_add(c.len)
            }
            _ => whole.push(*c),
        }
    }
    whole.into_iter().flat_map(|c| c.segments(mss)).collect()
}
