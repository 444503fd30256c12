//! Whether what vanishes is large, and what comes through small: then the path takes no packets of that size, and no ICMP
//! told the sender (a black hole of path MTU discovery, RFC 2923 §2.1, RFC 8899 §1.1).

use crate::rows::TooLarge;
use wire::Time;

/// Copies in the order of their transmission, as far as their fates are certain, since one as large as the least that was
/// lost came through: by that none vanished for its size.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// The smallest payload that was lost, how many were, and of these how many were sent behind a smaller one that arrived.
    least_lost: u32,
    lost: u32,
    lost_behind: u32,
    /// The largest that came through behind the first that was lost.
    most_through: u32,
    since: Time,
    /// When the first was sent that came through behind the last that was lost.
    back: Option<Time>,
}

/// One copy may be lost by chance behind a smaller one that was not; what is lost of them all, repairs and all, is not.
const BEHIND: u32 = 2;
const LOST: u32 = 3;

impl Sizes {
    /// A copy with so much data, or with segments as large as that, was lost.
    pub fn lost(&mut self, size: u32, sent: Time) {
        if self.lost == 0 || size <= self.most_through {
            *self = Sizes { least_lost: size, since: sent, ..Sizes::default() };
        }
        self.least_lost = self.least_lost.min(size);
        self.lost += 1;
        self.lost_behind += u32::from(self.most_through > 0);
        self.back = None;
    }
    /// A copy with so much data at most came through.
    #[inline(always)]
    pub fn through(&mut self, size: u32, sent: Time) {
        if self.lost == 0 {
            return;
        }
        if size >= self.least_lost {
            *self = Sizes::default();
            return;
        }
        self.most_through = self.most_through.max(size);
        self.back.get_or_insert(sent);
    }
    /// What they say, if they do.
    pub fn too_large(&self) -> Option<TooLarge> {
        (self.lost >= LOST && self.lost_behind >= BEHIND).then_some(TooLarge {
            lost_from_bytes: self.least_lost,
            through_to_bytes: self.most_through,
            lost: self.lost,
            since: self.since,
            until: self.back,
        })
    }
}
