//! Explicit congestion notification as it passes: what was agreed on, marks, echoes, and what the sender made of them.

use super::*;

/// The IP field says that a router marked the packet (RFC 3168 §5).
const MARKED: u8 = 3;
const BITS: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// What one host sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnSeen {
    /// ECE and CWR of its last SYN.
    opening: Option<Flags>,
    capable: bool,
    marked: u32,
    echoes: u32,
    reductions: u32,
    by_marks: u32,
    /// The other host has echoed a mark since this one said that it slowed down.
    echoed: bool,
}

impl EcnSeen {
    /// The packet's notes say no more than that its host can, as one before it did.
    #[cold]
    pub(super) fn has_shown(&self, packet: &Packet) -> bool {
        packet.notes.ecn() != MARKED && self.capable && !packet.notes.has(Notes::BAD_CHECKSUM)
    }
}

impl Connection {
    /// A packet that says something of ECN, or a SYN, which says whether its host can.
    #[cold]
    pub(super) fn note_ecn(&mut self, packet: &Packet, side: usize) {
        let (flags, carries) = (packet.seg.flags, packet.seg.payload > 0);
        if flags.has(Flags::SYN) {
            self.ecn[side].opening = Some(Flags(flags.0 & BITS.0));
            return;
        }
        let field = packet.notes.ecn();
        let in_repair = self.streams[side].is_repairing();
        // Other bits of the same octet mean other things where accurate ECN was agreed on (RFC 9768 §2.2.1).
        let classic = self.agreed_ecn() == Some(EcnKind::Classic);
        let [a, b] = &mut self.ecn;
        let (own, other) = if side == 0 { (a, b) } else { (b, a) };
        if carries {
            own.capable |= field != 0;
            own.marked += u32::from(field == MARKED);
        }
        if classic && flags.has(Flags::ECE) {
            own.echoes += 1;
            other.echoed = true;
        }
        if classic && carries && flags.has(Flags::CWR) {
            own.reductions += 1;
            // A sender says so after losses, too (RFC 3168 §6.1.2).
            own.by_marks += u32::from(std::mem::take(&mut own.echoed) && !in_repair);
        }
    }

    /// By the handshake (RFC 3168 §6.1.1, RFC 9768 §3.1.1); `None` where it was not seen whole.
    fn agreed_ecn(&self) -> Option<EcnKind> {
        let (asked, answered) = (self.ecn[0].opening?, self.ecn[1].opening?);
        Some(match asked == BITS {
            true if answered == Flags::ECE => EcnKind::Classic,
            true if answered.has(Flags::CWR) => EcnKind::Accurate,
            _ => EcnKind::Off,
        })
    }

    /// Of the data of one side, seen from there.
    pub(super) fn ecn_of(&self, side: usize) -> Ecn {
        let (own, other) = (&self.ecn[side], &self.ecn[1 - side]);
        let agreed = self.agreed_ecn();
        let classic = |n: u32| (agreed == Some(EcnKind::Classic)).then_some(n);
        Ecn {
            agreed,
            capable: own.capable,
            // What is seen before it meets a router bears no mark yet.
            marked_packets: self.at[side].is_remote().then_some(own.marked),
            echoes: classic(other.echoes),
            reductions: classic(own.reductions),
            reductions_by_marks: classic(own.by_marks),
        }
    }
}
