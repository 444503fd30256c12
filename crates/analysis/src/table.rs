//! Finds a packet's connection: a hash table of slots, nothing but four bytes an entry.

use hashbrown::HashTable;
use wire::Tuple;

const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// One value for both directions, mixed from all 36 bytes by multiplication; good enough for addresses, and
/// cheap.
pub fn hash(t: &Tuple) -> u64 {
    let half = |b: &[u8]| u64::from_le_bytes(b.try_into().unwrap_or([0; 8]));
    let end = |e: &wire::Endpoint| {
        let h = (half(&e.host.0[..8]) ^ u64::from(e.port)).wrapping_mul(K);
        (h.rotate_left(29) ^ half(&e.host.0[8..])).wrapping_mul(K)
    };
    // Symmetric: sum and product do not ask which end is which.
    let (a, b) = (end(&t.src), end(&t.dst));
    let h = a.wrapping_add(b) ^ (a ^ b).rotate_left(31).wrapping_mul(K);
    (h ^ (h >> 29)).wrapping_mul(K)
}

/// Do two packets belong to one connection, whichever way they go?
pub fn same(a: &Tuple, b: &Tuple) -> bool {
    (a.src == b.src && a.dst == b.dst) || (a.src == b.dst && a.dst == b.src)
}

pub type Table = HashTable<u32>;

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
            assert!(same(&t, &t.reversed()));
            seen.insert(hash(&t) >> 57 << 20 | hash(&t) & 0xfffff);
        }
        assert!(seen.len() > 1990, "{} of 2000 differ where a table looks", seen.len());
    }
}
