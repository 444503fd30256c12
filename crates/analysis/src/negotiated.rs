//! What was negotiated before the part of a capture that is analysed.

use std::collections::HashMap;
use wire::{Flags, Packet, Segment, Tuple};

/// The last SYN or SYN-ACK of each direction of a connection: what its host offered.
#[derive(Default)]
pub struct Negotiated(HashMap<Tuple, Segment>);

impl Negotiated {
    pub fn note(&mut self, packet: &Packet) {
        let seg = packet.seg;
        if !seg.flags.has(Flags::SYN) {
            return;
        }
        let before = self.0.insert(packet.tuple, seg);
        if !seg.flags.has(Flags::ACK) && before.is_some_and(|b| b.seq != seg.seq) {
            // A new connection between the same endpoints: the answer to the old one is no answer to this.
            self.0.remove(&packet.tuple.reversed());
        }
    }

    pub fn of(&self, tuple: &Tuple) -> Option<&Segment> {
        self.0.get(tuple)
    }
}
