//! Which connection a SYN belongs to: ports are used again, SYNs are repeated, and captures are out of order.

use wire::{Flags, Segment, Seq};

/// How a host's packets of a connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Began {
    #[default]
    Unseen,
    /// With its SYN, whose number is known.
    Syn,
    /// With something else: before the capture, or the capture is out of order.
    Late,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Opening {
    first: Seq,
    began: Began,
}

/// A SYN that comes after what follows it is no farther from it than this.
const NEAR: i32 = 1 << 16;

impl Opening {
    pub fn note(&mut self, seg: &Segment) {
        if seg.flags.has(Flags::SYN) {
            *self = Opening { first: seg.seq, began: Began::Syn };
        } else if self.began == Began::Unseen && !seg.flags.has(Flags::RST) {
            *self = Opening { first: seg.seq, began: Began::Late };
        }
    }

    /// Is this the SYN before the first packet seen, written down late?
    fn precedes(&self, syn: Seq) -> bool {
        (1..=NEAR).contains(&(self.first - syn))
    }
}

/// An ACK that is neither a SYN's nor a reset's ends the handshake.
pub fn establishes(flags: Flags) -> bool {
    flags.has(Flags::ACK) && !flags.has(Flags::SYN.with(Flags::RST))
}

/// Does this SYN, or SYN-ACK, open another connection between the same endpoints? `mine`: how its host's packets
/// began, `other`: the other host's. `settled`: the handshake is over, or the connection is.
pub fn reopens(syn: &Segment, mine: &Opening, other: &Opening, caller: bool, settled: bool) -> bool {
    match mine.began {
        // With the number of before it is a repetition, even after a refusal: some hosts try thrice.
        Began::Syn => mine.first != syn.seq && (settled || caller),
        Began::Late => other.began != Began::Syn && !mine.precedes(syn.seq),
        Began::Unseen => other.began == Began::Late && !syn.flags.has(Flags::ACK) && settled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seg(flags: Flags, seq: u32) -> Segment {
        Segment { flags, seq: Seq(seq), ..Segment::default() }
    }
    fn began_with(flags: Flags, seq: u32) -> Opening {
        let mut o = Opening::default();
        o.note(&seg(flags, seq));
        o
    }
    const NOTHING: Opening = Opening { first: Seq(0), began: Began::Unseen };

    #[test]
    fn the_same_number_is_the_same_connection_and_another_is_not() {
        let mine = began_with(Flags::SYN, 7);
        assert!(!reopens(&seg(Flags::SYN, 7), &mine, &NOTHING, true, true));
        assert!(reopens(&seg(Flags::SYN, 8), &mine, &NOTHING, true, false));
    }

    #[test]
    fn a_syn_after_a_late_packet_of_the_connection_before_opens_a_new_one() {
        let mine = began_with(Flags::ACK, 5_000_000);
        assert!(reopens(&seg(Flags::SYN, 7), &mine, &NOTHING, true, true));
    }

    #[test]
    fn a_syn_that_was_written_down_after_its_data_opens_nothing_anew() {
        let mine = began_with(Flags::ACK, 8);
        assert!(!reopens(&seg(Flags::SYN, 7), &mine, &NOTHING, true, true));
        let wrapped = began_with(Flags::ACK, 0);
        assert!(!reopens(&seg(Flags::SYN, u32::MAX), &wrapped, &NOTHING, true, true));
    }

    #[test]
    fn a_syn_ack_answers_whatever_was_seen_first() {
        let caller = began_with(Flags::ACK, 7);
        let answer = seg(Flags::SYN.with(Flags::ACK), 9);
        assert!(!reopens(&answer, &NOTHING, &caller, false, true));
    }

    #[test]
    fn the_other_host_opens_a_new_connection_after_a_late_packet_of_the_old_one() {
        let late = began_with(Flags::ACK, 7);
        assert!(reopens(&seg(Flags::SYN, 9), &NOTHING, &late, false, true));
    }
}
