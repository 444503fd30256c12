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

#[cfg(test)]
mod tests {
    use super::*;

    fn story(of: &[(bool, u32)]) -> Option<TooLarge> {
        let mut sizes = Sizes::default();
        for (at, &(arrived, size)) in of.iter().enumerate() {
            match arrived {
                true => sizes.through(size, Time(at as i64)),
                false => sizes.lost(size, Time(at as i64)),
            }
        }
        sizes.too_large()
    }

    #[test]
    fn full_segments_vanish_and_the_short_one_behind_them_comes_through() {
        let of = [(true, 1448), (false, 1448), (false, 1448), (true, 420), (false, 1448), (false, 1448)];
        let size = story(&of).expect("it shows");
        assert_eq!((size.lost_from_bytes, size.through_to_bytes, size.lost), (1448, 420, 4));
        assert_eq!((size.since, size.until), (Time(1), None));
        // RFC 4821: the sender tries smaller ones, and they arrive.
        let probed: Vec<_> = of.into_iter().chain([(true, 1024), (true, 424)]).collect();
        let size = story(&probed).expect("it shows");
        assert_eq!((size.through_to_bytes, size.until), (1024, Some(Time(6))));
    }

    #[test]
    fn one_as_large_that_comes_through_was_not_stopped_for_its_size() {
        let lost = [(false, 1448), (true, 420), (false, 1448), (false, 1448)];
        assert!(story(&lost).is_some());
        let repaired: Vec<_> = lost.into_iter().chain([(true, 1448)]).collect();
        assert_eq!(story(&repaired), None);
        // Whatever was lost before it.
        let again: Vec<_> = repaired.into_iter().chain([(false, 1448), (true, 420)]).collect();
        assert_eq!(story(&again), None);
        // Nor do small ones that are lost with large ones show a size.
        assert_eq!(story(&[(false, 1448), (true, 420), (false, 1448), (false, 420), (false, 1448)]), None);
    }
}
