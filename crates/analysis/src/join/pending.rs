//! Packets seen in one capture and not yet in the other. They are looked up by the fields that identify them, and
//! taken out oldest first.

use super::captured::{CapturedSegment, Rule};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

const NIL: u32 = u32::MAX;
/// Of pending packets that are identical (no IP identification, no timestamps) at most this many are compared by
/// cost.
const COMPARED_AT_MOST: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Slot {
    copy: CapturedSegment,
    hash: u64,
    /// Neighbours by age.
    older: u32,
    newer: u32,
    /// The next copy that agrees with this one; of a free slot, the next free one.
    next: u32,
    /// In the oldest of the copies that agree, the last of them.
    last: u32,
}

/// A hash table whose entries also stand in a list by age. Memory follows the largest number of copies that
/// were ever pending at once.
#[derive(Debug)]
pub(super) struct Pending {
    slots: Vec<Slot>,
    free: u32,
    /// The oldest of each set of copies that agree.
    table: HashTable<u32>,
    oldest: u32,
    newest: u32,
    len: usize,
}

impl Pending {
    pub fn new() -> Pending {
        Pending { slots: Vec::new(), free: NIL, table: HashTable::new(), oldest: NIL, newest: NIL, len: 0 }
    }
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn held(&self) -> u64 {
        (self.slots.len() * (size_of::<Slot>() + size_of::<u64>())) as u64
    }
    pub fn oldest(&self) -> Option<&CapturedSegment> {
        self.slots.get(self.oldest as usize).map(|s| &s.copy)
    }

    /// Adds a copy. If one that agrees with it down to an IP identification other than 0 is pending, the new one is
    /// marked as a duplicate.
    pub fn insert(&mut self, copy: CapturedSegment, hash: u64, rule: Rule) {
        let at = self.slot(Slot { copy, hash, older: self.newest, newer: NIL, next: NIL, last: NIL });
        match self.slots.get_mut(self.newest as usize) {
            Some(newest) => newest.newer = at,
            None => self.oldest = at,
        }
        self.newest = at;
        self.len += 1;
        let slots = &mut self.slots;
        let same = |&i: &u32| matches(&slots[i as usize], hash, &copy, rule);
        let head = match self.table.entry(hash, same, |&i| slots[i as usize].hash) {
            Entry::Vacant(v) => {
                v.insert(at);
                slots[at as usize].last = at;
                return;
            }
            Entry::Occupied(o) => *o.get(),
        };
        let last = slots[head as usize].last;
        slots[last as usize].next = at;
        slots[head as usize].last = at;
        slots[at as usize].copy.is_duplicate |= rule.fields.needs_ip_id() && copy.ip_id != 0;
    }

    /// Removes and returns the pending copy that agrees with `copy` and has the lowest `cost`. A copy for which
    /// `cost` returns `None` is not eligible.
    pub fn take(
        &mut self,
        copy: &CapturedSegment,
        hash: u64,
        rule: Rule,
        cost: impl Fn(&CapturedSegment) -> Option<u64>,
    ) -> Option<CapturedSegment> {
        let slots = &self.slots;
        let head = *self.table.find(hash, |&i| matches(&slots[i as usize], hash, copy, rule))?;
        let (mut before, mut at) = (NIL, head);
        let mut best: Option<(u64, u32, u32)> = None;
        for _ in 0..COMPARED_AT_MOST {
            let Some(slot) = slots.get(at as usize) else { break };
            if let Some(c) = cost(&slot.copy)
                && best.is_none_or(|(least, ..)| c < least)
            {
                best = Some((c, at, before));
            }
            (before, at) = (at, slot.next);
        }
        let (_, at, before) = best?;
        Some(self.remove(at, before, head))
    }

    /// Takes out the oldest copy.
    pub fn take_oldest(&mut self) -> Option<CapturedSegment> {
        let at = self.oldest;
        // Copies that agree stand in the order of their age, so the oldest of all is the first of its set.
        (at != NIL).then(|| self.remove(at, NIL, at))
    }

    /// Takes out everything, oldest first.
    pub fn take_everything(&mut self) -> Vec<CapturedSegment> {
        let mut all = Vec::with_capacity(self.len);
        all.extend(std::iter::from_fn(|| self.take_oldest()));
        all
    }

    fn slot(&mut self, slot: Slot) -> u32 {
        match self.slots.get_mut(self.free as usize) {
            Some(unused) => {
                let at = self.free;
                self.free = unused.next;
                *unused = slot;
                at
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        }
    }

    fn remove(&mut self, at: u32, before: u32, head: u32) -> CapturedSegment {
        let Slot { copy, hash, older, newer, next, last } = self.slots[at as usize];
        match before {
            NIL => {
                if let Ok(mut entry) = self.table.find_entry(hash, |&i| i == at) {
                    if next == NIL {
                        entry.remove();
                    } else {
                        *entry.get_mut() = next;
                        self.slots[next as usize].last = last;
                    }
                }
            }
            _ => {
                self.slots[before as usize].next = next;
                if next == NIL {
                    self.slots[head as usize].last = before;
                }
            }
        }
        match self.slots.get_mut(older as usize) {
            Some(o) => o.newer = newer,
            None => self.oldest = newer,
        }
        match self.slots.get_mut(newer as usize) {
            Some(n) => n.older = older,
            None => self.newest = older,
        }
        self.slots[at as usize].next = self.free;
        self.free = at;
        self.len -= 1;
        copy
    }
}

#[inline]
fn matches(slot: &Slot, hash: u64, copy: &CapturedSegment, rule: Rule) -> bool {
    slot.hash == hash && slot.copy.matches(copy, rule)
}

#[cfg(test)]
mod tests {
    use super::super::captured::MatchFields;
    use super::*;
    use wire::Packet;

    const RULE: Rule = Rule { fields: MatchFields::ALL, same_addresses: true };

    fn copy(number: u64, seq: u32) -> CapturedSegment {
        CapturedSegment { number, seq, ..CapturedSegment::of(&Packet::default(), 0) }
    }
    fn insert(p: &mut Pending, c: CapturedSegment) {
        p.insert(c, c.hash(RULE), RULE);
    }

    #[test]
    fn identical_copies_are_told_apart_by_cost_and_leave_by_age() {
        let mut p = Pending::new();
        for (number, seq) in [(1, 7), (2, 8), (3, 7), (4, 7)] {
            insert(&mut p, copy(number, seq));
        }
        let wanted = copy(0, 7);
        let nearest_to_3 = |c: &CapturedSegment| Some(c.number.abs_diff(3));
        assert_eq!(p.take(&wanted, wanted.hash(RULE), RULE, nearest_to_3).unwrap().number, 3);
        assert_eq!(
            p.take(&wanted, wanted.hash(RULE), RULE, |c| (c.number > 1).then_some(0)).unwrap().number,
            4
        );
        // the set's last is right after removals: a new one is still found behind it
        insert(&mut p, copy(5, 7));
        let left: Vec<u64> = std::iter::from_fn(|| p.take_oldest()).map(|c| c.number).collect();
        assert_eq!(left, [1, 2, 5]);
        assert_eq!(p.len(), 0);
        assert!(p.take(&wanted, wanted.hash(RULE), RULE, |_| Some(0)).is_none());
    }

    #[test]
    fn memory_follows_what_is_pending_not_what_has_passed() {
        let mut p = Pending::new();
        for n in 0..100_000u32 {
            let c = copy(u64::from(n), n);
            insert(&mut p, c);
            if n >= 10 {
                let arrived = copy(0, n - 10);
                assert!(p.take(&arrived, arrived.hash(RULE), RULE, |_| Some(0)).is_some());
            }
        }
        assert_eq!((p.len(), p.slots.len()), (10, 11));
    }
}
