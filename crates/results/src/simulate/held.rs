//! Packets that wait, in their order, until it is known what became of them.

use super::fates::Settled;
use analysis::Fate;
use std::collections::VecDeque;
use wire::Packet;

/// So many wait at most, about 10 MB. What takes more, a long outage that holds packets back while others pass, is told
/// in two passes.
pub const MOST: usize = 1 << 16;

/// A queue by the packets' numbers, which have no gaps.
#[derive(Debug)]
pub struct Held {
    waiting: VecDeque<(Packet, Option<Fate>)>,
    most: usize,
}

impl Held {
    /// Of `most` packets.
    pub fn new(most: usize) -> Held {
        Held { waiting: VecDeque::new(), most }
    }

    /// False if it has become too many.
    pub fn push(&mut self, packet: Packet, fate: Option<Fate>) -> bool {
        self.waiting.push_back((packet, fate));
        !self.is_full()
    }

    pub fn is_full(&self) -> bool {
        self.waiting.len() > self.most
    }

    pub fn settle(&mut self, (number, fate): Settled) {
        let Some((first, _)) = self.waiting.front() else { return };
        let at = number.wrapping_sub(first.number);
        if let Some((_, unknown)) = usize::try_from(at).ok().and_then(|at| self.waiting.get_mut(at)) {
            *unknown = Some(fate);
        }
    }

    /// Hands on what is known, in order.
    pub fn hand_on(&mut self, mut to: impl FnMut(&Packet, Fate)) {
        while let Some((packet, Some(fate))) = self.waiting.front() {
            to(packet, *fate);
            self.waiting.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u64) -> Packet {
        Packet { number, ..Packet::default() }
    }

    fn handed_on(held: &mut Held) -> Vec<(u64, Fate)> {
        let mut all = Vec::new();
        held.hand_on(|packet, fate| all.push((packet.number, fate)));
        all
    }

    #[test]
    fn packets_leave_in_order_once_their_fate_is_known() {
        let mut held = Held::new(MOST);
        (5..8).for_each(|n| assert!(held.push(packet(n), None)));
        held.settle((6, Fate::Lost));
        assert_eq!(handed_on(&mut held), []);
        held.settle((5, Fate::Arrived));
        assert_eq!(handed_on(&mut held), [(5, Fate::Arrived), (6, Fate::Lost)]);
        // What is settled twice, or long gone, changes nothing.
        held.settle((5, Fate::Lost));
        assert!(held.push(packet(8), Some(Fate::Arrived)));
        held.settle((7, Fate::Late));
        assert_eq!(handed_on(&mut held), [(7, Fate::Late), (8, Fate::Arrived)]);
    }
}
