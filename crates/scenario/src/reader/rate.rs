//! The program reads at a rate: it reads a piece, works on the piece, and reads the next.

use super::{Habit, Memory};
use instant::{Span, Time};
use params::keys::{BYTES, Kind, key};

params::params! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "rate", "The program reads a piece, works on the piece for as long as `rate` takes, and reads the next." {
        rate_bps: u64 = key("rate", Kind::Rate, "Bits of payload per second.");
        piece_bytes: u64 = key("piece", BYTES, "Largest number of bytes in one read.").default("16kB");
    }
}

impl Habit for Params {
    fn most(&self, memory: &mut Memory, now: Time) -> u64 {
        if memory.next.is_some_and(|next| now < next) { 0 } else { self.piece_bytes.max(1) }
    }
    fn has_read(&self, memory: &mut Memory, now: Time, bytes: u64) {
        if bytes > 0 {
            let ns = u128::from(bytes) * 8_000_000_000 / u128::from(self.rate_bps.max(1));
            // A read later than the end of any run is as good as none: an earlier bound keeps sums of times in range.
            memory.next = Some(now + Span(i64::try_from(ns).unwrap_or(i64::MAX).min(Span::MAX.0 / 4)));
        }
    }
}
