//! A sender that keeps a window full and repairs by SACK: which segment goes next?

use crate::random::Random;
use std::collections::VecDeque;

/// How many copies sent later must have arrived before one is given up (RFC 6675's DupThresh, counted in order
/// of transmission as RFC 8985 does, so that lost retransmissions are found too).
const THRESHOLD: u64 = 3;

#[derive(Clone, Debug)]
struct Copy {
    segment: u64,
    delivered: bool,
}

/// One transmission: the how-manieth it is, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    pub order: u64,
    pub segment: u64,
}

#[derive(Clone, Debug)]
pub struct Sender {
    window: u64,
    next_new: u64,
    in_flight: u64,
    /// Copies whose fate is open, in order of transmission; the first has the order `first`.
    open: VecDeque<Copy>,
    first: u64,
    newest_delivered: u64,
    to_repair: VecDeque<u64>,
}

impl Sender {
    pub fn new(window: u64) -> Sender {
        let (open, to_repair) = (VecDeque::new(), VecDeque::new());
        Sender { window, next_new: 0, in_flight: 0, open, first: 0, newest_delivered: 0, to_repair }
    }

    /// What may be sent now; repairs come first.
    pub fn send(&mut self) -> Option<Send> {
        if self.in_flight >= self.window {
            return None;
        }
        let segment = self.to_repair.pop_front().unwrap_or_else(|| {
            self.next_new += 1;
            self.next_new - 1
        });
        self.in_flight += 1;
        self.open.push_back(Copy { segment, delivered: false });
        Some(Send { order: self.first + self.open.len() as u64 - 1, segment })
    }

    /// An ACK told that the copy sent as the `order`-th has arrived.
    pub fn delivered(&mut self, order: u64) {
        if let Some(copy) = order.checked_sub(self.first).and_then(|i| self.open.get_mut(i as usize))
            && !copy.delivered
        {
            copy.delivered = true;
            self.in_flight -= 1;
        }
        self.newest_delivered = self.newest_delivered.max(order);
        while self.first + THRESHOLD <= self.newest_delivered {
            self.settle_oldest();
        }
    }

    /// The timer fired: whatever is open counts as lost (RFC 6298 §5.4, RFC 5681 §3.1).
    pub fn timeout(&mut self) {
        while !self.open.is_empty() {
            self.settle_oldest();
        }
    }

    fn settle_oldest(&mut self) {
        if let Some(copy) = self.open.pop_front()
            && !copy.delivered
        {
            self.in_flight -= 1;
            self.to_repair.push_back(copy.segment);
        }
        self.first += 1;
    }
}

/// Draws the fate of each copy.
#[derive(Clone, Debug)]
pub struct Loss {
    pub probability: f64,
    pub random: Random,
}

impl Loss {
    pub fn strikes(&mut self) -> bool {
        self.probability > 0.0 && self.random.chance(self.probability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(s: &mut Sender) -> Vec<u64> {
        std::iter::from_fn(|| s.send()).map(|x| x.segment).collect()
    }

    #[test]
    fn a_copy_is_repaired_when_three_later_ones_have_arrived() {
        let mut s = Sender::new(5);
        assert_eq!(segments(&mut s), [0, 1, 2, 3, 4]);
        s.delivered(1);
        s.delivered(2);
        assert_eq!(segments(&mut s), [5, 6]);
        s.delivered(3);
        assert_eq!(segments(&mut s), [0, 7], "the copy given up left the window too");
    }

    #[test]
    fn a_lost_repair_is_repaired_in_turn() {
        let mut s = Sender::new(4);
        segments(&mut s);
        (1..4).for_each(|order| s.delivered(order));
        assert_eq!(segments(&mut s), [0, 4, 5, 6]); // orders 4 to 7, and 4 is lost
        (5..8).for_each(|order| s.delivered(order));
        assert_eq!(segments(&mut s), [0, 7, 8, 9]);
    }

    #[test]
    fn a_timeout_repairs_everything_that_is_open() {
        let mut s = Sender::new(3);
        segments(&mut s);
        s.timeout();
        assert_eq!(segments(&mut s), [0, 1, 2]);
    }
}
