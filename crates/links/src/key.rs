//! The order of events: by time, ties by the order in which they were scheduled.

use instant::Time;

/// When an event happens. No two events of a run have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub time: Time,
    pub order: u64,
}

impl Key {
    pub const NEVER: Key = Key { time: Time(i64::MAX), order: u64::MAX };
    pub const FIRST: Key = Key { time: Time(i64::MIN), order: 0 };

    /// Without a branch: comparing keys is most of what an event queue does.
    #[inline(always)]
    pub fn is_before(self, other: Key) -> bool {
        self.packed() < other.packed()
    }
    #[inline(always)]
    pub fn earlier(self, other: Key) -> Key {
        if other.is_before(self) { other } else { self }
    }
    #[inline(always)]
    fn packed(self) -> i128 {
        ((self.time.0 as i128) << 64) | self.order as i128
    }
}

/// Hands out the places in the order of scheduling. Those below [`Orders::FIRST`] are nobody's turn: what comes before
/// all else of its time takes the number of its link.
#[derive(Clone, Copy, Debug)]
pub struct Orders {
    next: u64,
}

impl Default for Orders {
    fn default() -> Orders {
        Orders { next: Orders::FIRST }
    }
}

impl Orders {
    pub const FIRST: u64 = 1 << u32::BITS;

    #[inline(always)]
    pub fn take(&mut self) -> u64 {
        let order = self.next;
        self.next += 1;
        order
    }
    /// How many were handed out.
    pub fn taken(&self) -> u64 {
        self.next - Orders::FIRST
    }
}
