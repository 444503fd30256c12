//! Finds a packet's connection: an open hash table of slots, eight bytes an entry.

use crate::prefetch;
use wire::{Endpoint, Tuple};

const K: u64 = 0x9e37_79b9_7f4a_7c15;
/// No slot has this number.
pub const NONE: u32 = u32::MAX;
/// As many entries as a new table has; a power of two, as all its sizes are.
const FIRST: usize = 64;

/// One value for both directions, mixed from all 36 bytes by multiplication; good enough for addresses, and
/// cheap.
#[inline]
pub fn hash(t: &Tuple) -> u32 {
    let half = |b: &[u8]| u64::from_le_bytes(b.try_into().unwrap_or([0; 8]));
    let end = |e: &wire::Endpoint| {
        let h = (half(&e.host.0[..8]) ^ u64::from(e.port)).wrapping_mul(K);
        (h.rotate_left(29) ^ half(&e.host.0[8..])).wrapping_mul(K)
    };
    // Symmetric: sum and product do not ask which end is which.
    let (a, b) = (end(&t.src), end(&t.dst));
    let h = a.wrapping_add(b) ^ (a ^ b).rotate_left(31).wrapping_mul(K);
    ((h ^ (h >> 29)).wrapping_mul(K) >> 32) as u32
}

/// The same endpoint? Without a branch: which way the next packet goes nobody can foretell.
#[inline(always)]
pub fn is(a: &Endpoint, b: &Endpoint) -> bool {
    let host = u128::from_ne_bytes(a.host.0) ^ u128::from_ne_bytes(b.host.0);
    (host as u64 | (host >> 64) as u64 | u64::from(a.port ^ b.port)) == 0
}

/// Do two packets belong to one connection, whichever way they go? And do they go the same way?
#[inline(always)]
pub fn ways(a: &Tuple, b: &Tuple) -> (bool, bool) {
    let along = is(&a.src, &b.src) & is(&a.dst, &b.dst);
    (along | (is(&a.src, &b.dst) & is(&a.dst, &b.src)), along)
}

#[derive(Clone, Copy)]
struct Entry {
    hash: u32,
    slot: u32,
}

const EMPTY: Entry = Entry { hash: 0, slot: NONE };

/// Linear probing; a hash's top bits are its place, so a table grows without looking at what it holds.
pub struct Table {
    entries: Vec<Entry>,
    used: usize,
    /// 32 less the number of bits of a place.
    shift: u32,
}

impl Table {
    pub fn new() -> Table {
        Table { entries: vec![EMPTY; FIRST], used: 0, shift: 32 - FIRST.trailing_zeros() }
    }

    #[inline]
    fn place(&self, hash: u32) -> usize {
        (hash >> self.shift) as usize
    }
    #[inline]
    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.entries.len() - 1)
    }

    /// The slot under this hash that is meant.
    #[inline]
    pub fn find(&self, hash: u32, mut meant: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = self.place(hash);
        loop {
            let entry = self.entries[at];
            if entry.slot == NONE {
                return None;
            }
            if entry.hash == hash && meant(entry.slot) {
                return Some(entry.slot);
            }
            at = self.after(at);
        }
    }

    /// The first slot under this hash, most probably the one that is meant.
    #[inline]
    pub fn likely(&self, hash: u32) -> Option<u32> {
        self.find(hash, |_| true)
    }

    /// This hash is to be looked up soon.
    #[inline]
    pub fn warm(&self, hash: u32) {
        prefetch::lines(&self.entries[self.place(hash)], 0, 1);
    }

    /// Adds a slot that is not in it.
    pub fn insert(&mut self, hash: u32, slot: u32) {
        if (self.used + 1) * 4 > self.entries.len() * 3 {
            self.grow();
        }
        self.put(Entry { hash, slot });
        self.used += 1;
    }

    fn put(&mut self, entry: Entry) {
        let mut at = self.place(entry.hash);
        while self.entries[at].slot != NONE {
            at = self.after(at);
        }
        self.entries[at] = entry;
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![EMPTY; self.entries.len() * 2];
        self.shift -= 1;
        for entry in std::mem::replace(&mut self.entries, larger) {
            if entry.slot != NONE {
                self.put(entry);
            }
        }
    }

    /// Takes a slot out, if it is in.
    pub fn remove(&mut self, hash: u32, slot: u32) {
        let mut hole = self.place(hash);
        while self.entries[hole].slot != slot {
            if self.entries[hole].slot == NONE {
                return;
            }
            hole = self.after(hole);
        }
        // What lies behind the hole, up to the next one, moves up unless it would leave its place's row.
        let mask = self.entries.len() - 1;
        let mut at = hole;
        loop {
            at = self.after(at);
            let entry = self.entries[at];
            if entry.slot == NONE {
                break;
            }
            let strayed = at.wrapping_sub(self.place(entry.hash)) & mask;
            if strayed >= at.wrapping_sub(hole) & mask {
                self.entries[hole] = entry;
                hole = at;
            }
        }
        self.entries[hole] = EMPTY;
        self.used -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Endpoint, Host};

    #[test]
    fn both_directions_share_a_hash_and_neighbours_do_not() {
        let end = |h: u8, port| Endpoint { host: Host::v4([10, 0, 0, h]), port };
        let mut seen = std::collections::HashSet::new();
        for port in 0..2000 {
            let t = Tuple { src: end(1, port), dst: end(2, 80) };
            assert_eq!(hash(&t), hash(&t.reversed()));
            assert_eq!(ways(&t, &t.reversed()), (true, false));
            assert_eq!(ways(&t, &t), (true, true));
            seen.insert(hash(&t) >> 11);
        }
        assert!(seen.len() > 1990, "{} of 2000 differ where a table looks", seen.len());
    }

    #[test]
    fn what_was_put_in_is_found_until_it_is_taken_out() {
        // Few different hashes, all near the end of the table: long rows that wrap around.
        let hash_of = |slot: u32| u32::MAX - (slot % 7) * 3;
        let mut table = Table::new();
        let mut model = std::collections::BTreeSet::new();
        let mut x: u32 = 1;
        for _ in 0..4000 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let slot = (x >> 16) % 200;
            if model.remove(&slot) {
                table.remove(hash_of(slot), slot);
            } else {
                model.insert(slot);
                table.insert(hash_of(slot), slot);
            }
            for slot in 0..200 {
                let found = table.find(hash_of(slot), |s| s == slot);
                assert_eq!(found.is_some(), model.contains(&slot), "{slot}");
            }
        }
        assert_eq!(table.used, model.len());
    }

    #[test]
    fn it_grows_with_what_it_holds() {
        let mut table = Table::new();
        let hash_of = |slot: u32| slot.wrapping_mul(0x9e37_79b9);
        (0..10_000).for_each(|slot| table.insert(hash_of(slot), slot));
        assert!((0..10_000).all(|slot| table.likely(hash_of(slot)) == Some(slot)));
        assert!(table.entries.len() <= 1 << 14);
    }
}
