//! What the captures agree on, found out where copies wait on both sides and none finds its counterpart.

use super::copy::{Agreement, Copy, Rule};
use super::directions::SMALLEST_MSS;
use super::{Joiner, Side};
use rustc_hash::{FxHashMap, FxHashSet};

impl Joiner {
    /// No connection is in both captures: from here on copies are looked for under any address.
    pub(super) fn translate(&mut self) {
        if self.translated {
            return;
        }
        self.translated = true;
        let copies = self.take_pending();
        if let Some((facts, met)) = agreement(&copies, false, self.options_cut)
            && (met >= ENOUGH || met == copies[0].len().min(copies[1].len()))
        {
            self.directions.agree_on(facts);
        }
        self.place_all(copies);
    }

    /// A capture cut options off: of all copies to come or waiting, they count no more.
    pub(super) fn do_without_options(&mut self) {
        self.options_cut = true;
        self.directions.do_without_options();
        self.place_again();
    }

    /// Places what is pending anew, after the rules have changed.
    pub(super) fn place_again(&mut self) {
        let copies = self.take_pending();
        self.place_all(copies);
    }

    /// Looks for an agreement under which the copies of one way meet, or, at the end, of every way on which
    /// none ever met.
    pub(super) fn reconsider(&mut self, only: Option<u32>) {
        let concerned: FxHashSet<u32> = match only {
            Some(direction) => [direction].into_iter().collect(),
            None if self.translated => FxHashSet::default(),
            // Of millions of directions on which one side waits none is worth a group of its own.
            None => {
                (0..self.directions.len()).filter(|&direction| self.directions.is_stuck(direction)).collect()
            }
        };
        if concerned.is_empty() && !self.translated {
            return;
        }
        let copies = self.take_pending();
        let mut groups: FxHashMap<u32, [Vec<Copy>; 2]> = FxHashMap::default();
        let mut rest = [Vec::new(), Vec::new()];
        for (side, copies) in Side::BOTH.into_iter().zip(copies) {
            for copy in copies {
                let home = self.directions.home(side, copy.direction);
                match concerned.contains(&home) {
                    true => groups.entry(home).or_default()[side as usize].push(copy),
                    false => rest[side as usize].push(copy),
                }
            }
        }
        for (home, mut copies) in groups {
            self.try_way(home, &mut copies);
            for (all, some) in rest.iter_mut().zip(copies) {
                all.extend(some);
            }
        }
        self.place_all(rest);
    }

    fn try_way(&mut self, home: u32, copies: &mut [Vec<Copy>; 2]) {
        let least = |c: &[Vec<Copy>; 2]| c[0].len().min(c[1].len());
        let direction = *self.directions.get(home);
        let waiting = least(copies);
        if waiting == 0 {
            return;
        }
        // Facts that held for more copies than are stuck now are not what keeps these apart.
        if (direction.matched as usize) < waiting
            && let Some((facts, met)) = agreement(copies, !self.translated, self.options_cut)
            && met * 2 >= waiting
            && facts != self.rule(home).facts
        {
            if self.translated {
                self.directions.agree_on(facts);
            } else {
                self.directions.get_mut(home).facts = facts;
                self.directions.start_with(facts);
            }
            return;
        }
        let super_packets = self.records.iter().any(|r| r.super_packets > 0);
        if super_packets
            && let Some(mss) = commonest_length(copies)
            && let Ok(short) = u16::try_from(mss)
            && short != self.directions.mss(home)
        {
            let again = [cut_again(&copies[0], mss), cut_again(&copies[1], mss)];
            if meetings(&again, self.rule(home)) * 2 >= least(&again) {
                self.directions.set_mss(home, short);
                *copies = again;
                return;
            }
        }
        self.directions.get_mut(home).patience = (direction.patience + 1).min(31);
    }

    fn take_pending(&mut self) -> [Vec<Copy>; 2] {
        self.since_trial = 0;
        Side::BOTH.map(|side| {
            let all = self.pending[side as usize].take_everything();
            for copy in &all {
                let home = self.directions.home(side, copy.direction);
                self.directions.waits_no_more(home, side);
            }
            all
        })
    }

    /// Places copies of both sides in the order of one clock.
    fn place_all(&mut self, copies: [Vec<Copy>; 2]) {
        let offset = self.pace.offset;
        let mut all: Vec<(i64, Side, Copy)> = Vec::with_capacity(copies[0].len() + copies[1].len());
        for (side, copies) in Side::BOTH.into_iter().zip(copies) {
            let shift = if side == Side::Sender { offset } else { 0 };
            all.extend(copies.into_iter().map(|c| (c.time.saturating_add(shift), side, c)));
        }
        all.sort_by_key(|&(time, side, c)| (time, side as u8, c.number));
        for (_, side, copy) in all {
            self.place(side, copy);
        }
    }
}

/// So many copies that meet are no accident.
const ENOUGH: usize = 8;

/// The strictest agreement under which a good part of the copies meet, and how many do. More meet under looser
/// ones, retransmissions and duplicate ACKs with the wrong counterpart.
fn agreement(copies: &[Vec<Copy>; 2], same_addresses: bool, options_cut: bool) -> Option<(Agreement, usize)> {
    let ladder = Agreement::LADDER.map(|facts| if options_cut { facts.without_options() } else { facts });
    let met = ladder.map(|facts| meetings(copies, Rule { facts, same_addresses }));
    let most = met.iter().copied().max().filter(|&most| most > 0)?;
    let rung = met.iter().position(|&n| n >= ENOUGH || n * 4 >= most)?;
    Some((ladder[rung], met[rung]))
}

/// How many copies of one side have a counterpart on the other.
fn meetings(copies: &[Vec<Copy>; 2], rule: Rule) -> usize {
    let mut there: FxHashMap<u64, u32> = FxHashMap::default();
    for c in &copies[0] {
        *there.entry(c.hash(rule)).or_default() += 1;
    }
    let mut met = 0;
    for c in &copies[1] {
        if let Some(n) = there.get_mut(&c.hash(rule)).filter(|n| **n > 0) {
            *n -= 1;
            met += 1;
        }
    }
    met
}

/// The length that most copies have.
fn commonest_length(copies: &[Vec<Copy>; 2]) -> Option<u32> {
    let mut lengths: FxHashMap<u32, u32> = FxHashMap::default();
    for c in copies.iter().flatten().filter(|c| c.len >= u32::from(SMALLEST_MSS)) {
        *lengths.entry(c.len).or_default() += 1;
    }
    lengths.into_iter().max_by_key(|&(len, n)| (n, len)).map(|(len, _)| len)
}

/// The same packets, cut at another segment size.
fn cut_again(copies: &[Copy], mss: u32) -> Vec<Copy> {
    let mut whole: Vec<Copy> = Vec::with_capacity(copies.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Packet;

    fn copies(n: u32, change: impl Fn(&mut Copy)) -> Vec<Copy> {
        (0..n)
            .map(|i| {
                let mut c = Copy::of(&Packet::default(), 0);
                (c.seq, c.len, c.ip_id, c.options) = (i * 1448, 1448, i as u16 + 9, 1 + i / 3);
                change(&mut c);
                c
            })
            .collect()
    }
    fn found(a: Vec<Copy>, b: Vec<Copy>) -> Option<usize> {
        let (facts, _) = agreement(&[a, b], true, false)?;
        Agreement::LADDER.iter().position(|f| *f == facts)
    }

    #[test]
    fn the_strictest_agreement_that_does_is_chosen() {
        assert_eq!(found(copies(9, |_| ()), copies(9, |_| ())), Some(0));
        assert_eq!(found(copies(9, |_| ()), copies(9, |c| c.ip_id ^= 0x5555)), Some(1));
        assert_eq!(found(copies(9, |_| ()), copies(9, |c| c.options = 0)), Some(2));
        assert_eq!(found(copies(9, |_| ()), copies(9, |c| c.seq += 1 << 20)), None);
    }

    #[test]
    fn super_packets_are_cut_again_at_the_size_the_other_capture_shows() {
        let wire = copies(8, |_| ());
        let mut offloaded = wire[0];
        offloaded.len = 8 * 1448;
        let wrongly: Vec<Copy> = offloaded.segments(1460).collect();
        assert_eq!(commonest_length(&[wire.clone(), Vec::new()]), Some(1448));
        let again = cut_again(&wrongly, 1448);
        assert_eq!(
            again.iter().map(|c| (c.seq, c.len, c.ip_id)).collect::<Vec<_>>(),
            wire.iter().map(|c| (c.seq, c.len, c.ip_id)).collect::<Vec<_>>()
        );
    }
}
