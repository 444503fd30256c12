//! Finds a packet's connection.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use wire::{Endpoint, Tuple};

/// Both directions of a connection have one key: the lower endpoint first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key(Endpoint, Endpoint);

impl Key {
    pub fn of(t: &Tuple) -> Key {
        if t.src <= t.dst { Key(t.src, t.dst) } else { Key(t.dst, t.src) }
    }
    /// Mixed from all 36 bytes by multiplication; good enough for addresses, and cheap.
    fn mixed(&self) -> u64 {
        let half = |b: &[u8]| u64::from_le_bytes(b.try_into().unwrap_or([0; 8]));
        let mut h: u64 = (u64::from(self.0.port) << 16 | u64::from(self.1.port)).wrapping_mul(K);
        for host in [&self.0.host.0, &self.1.host.0] {
            h = (h.rotate_left(23) ^ half(&host[..8])).wrapping_mul(K);
            h = (h.rotate_left(23) ^ half(&host[8..])).wrapping_mul(K);
        }
        h ^ (h >> 32)
    }
}

const K: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.mixed());
    }
}

/// Takes the key's own mixture as it is.
#[derive(Default)]
pub struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

pub type Table = HashMap<Key, u32, BuildHasherDefault<Mixed>>;
