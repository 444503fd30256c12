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

    fn is_answered_by(&self, seg: &Segment) -> bool {
        let next = Seq(self.first.0.wrapping_add(1));
        self.began == Began::Syn && seg.flags.has(Flags::ACK) && seg.ack == next
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
        // With the number of before it is a repetition, even after a refusal: some hosts try thrice. Another answer to the
        // same SYN is another host's, at the same address.
        Began::Syn => mine.first != syn.seq && (settled || caller) && !other.is_answered_by(syn),
        Began::Late => other.began != Began::Syn && !mine.precedes(syn.seq),
        Began::Unseen => other.began == Began::Late && !syn.flags.has(Flags::ACK) && settled,
    }
}

/// A bare ACK of what its host's caller cannot have sent, or the reset that answers it: the caller has sent its SYN
/// alone, and no answer has come. `mine`: how the host's packets began that sent it, `other`: the other host's.
pub fn stale(seg: &Segment, mine: &Opening, other: &Opening) -> bool {
    let bare = seg.payload == 0 && !seg.flags.has(Flags::FIN);
    match (mine.began, other.began) {
        (Began::Unseen, Began::Syn) => {
            bare && seg.flags.has(Flags::ACK) && !seg.flags.has(Flags::RST) && !other.is_answered_by(seg)
        }
        (Began::Syn, Began::Unseen) => {
            let own = [mine.first, Seq(mine.first.0.wrapping_add(1))].contains(&seg.seq);
            bare && seg.flags.has(Flags::RST) && !own
        }
        _ => false,
    }
}
