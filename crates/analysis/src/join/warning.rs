//! What limits a comparison of two captures, in words.

use super::{Rewritten, Side};
use crate::words::{count, grouped};
use std::fmt;
use wire::{Span, Time, Tuple};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Warning {
    /// No packet is in both, although connections are.
    NoCommonPackets { sender: (Time, Time), receiver: (Time, Time) },
    /// No packet is in both, and no connection.
    OtherTransfers,
    /// Most data come from the side of the capture that was given as the receiver's.
    Swapped,
    /// One clock offset fits every packet of both directions, so no packet takes any time from one to the other: they were
    /// taken at one place. Of one direction alone only the offset 0 tells.
    OnePlace,
    /// Packets of one direction only are in both.
    OneDirection,
    /// Directions of which only one capture shows anything.
    OneSided { shown_by: Side, directions: u64 },
    /// The addresses of one connection, in either capture; others may be translated too.
    Translated { sender: Tuple, receiver: Tuple },
    /// Super-packets of the capture of `side` were cut into segments to compare them.
    Offloads { side: Side, packets: u64 },
    /// The path changes the header fields that are true here, or a capture has cut them off: packets of so many directions
    /// were matched without them.
    FieldsIgnored { ip_id: bool, options: bool, ack: bool, directions: u64 },
    /// Packets that were sent on the side of a capture that lacks them: the other capture shows them as they arrive.
    NotCaptured { lacked_by: Side, packets: u64 },
    /// Packets of the capture of `side` that may have passed the other capture before that began, or after its last packet.
    /// `ended_earlier_by`: by how much the other capture's last packet precedes the last one of this capture.
    Outside { side: Side, packets: u64, ended_earlier_by: Option<Span> },
    /// SYNs of so many directions arrived with other options than they left with; the first of them.
    Rewritten { first: Rewritten, directions: u64 },
    /// The offset departs from a linear drift by more than queues explain: one of the clocks was probably set meanwhile.
    ClockStepped { by: Span },
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Sender => "sender's capture",
            Side::Receiver => "receiver's capture",
        })
    }
}

/// `1 packet is`, `12,404 packets are`.
fn are(n: u64, one: &str, many: &str) -> String {
    match n {
        1 => format!("1 {one} is"),
        n => format!("{} {many} are", grouped(n)),
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Warning::NoCommonPackets { sender, receiver } => write!(
                f,
                "the captures show the same connections but no packet in common: the sender's runs from {} to {}, \
                 the receiver's from {} to {}; take both over the same time (this is the answer of the sender's alone)",
                sender.0, sender.1, receiver.0, receiver.1
            ),
            Warning::OtherTransfers => f.write_str(
                "no packet is in both captures, under its own addresses or translated ones: they show different \
                 transfers, or a proxy between them ends the connections (this is the answer of the sender's alone)",
            ),
            Warning::Swapped => f.write_str(
                "the captures were given the wrong way round: most data come from the side of the one given as the \
                 receiver's, which is taken as the sender's",
            ),
            Warning::OnePlace => f.write_str(
                "one clock offset fits every packet of both captures: they are one capture, or two of one place, so \
                 nothing is known of what was lost between them (this is the answer of the sender's alone)",
            ),
            Warning::OneDirection => f.write_str(
                "the captures have packets of one direction in common: the clock offset contains the whole \
                 one-way delay, and which capture is nearer to which host is taken from the order they were given in",
            ),
            Warning::OneSided { shown_by, directions } => write!(
                f,
                "{} in the {shown_by} alone: nothing is known of the fate of their packets",
                are(directions, "direction of connections", "directions of connections")
            ),
            Warning::Translated { sender, receiver } => write!(
                f,
                "addresses are translated between the captures: {} > {} at the sender's side is {} > {} at the \
                 receiver's",
                sender.src, sender.dst, receiver.src, receiver.dst
            ),
            Warning::Offloads { side, packets } => write!(
                f,
                "the {side} holds {} (segmentation or receive offload): compared segment by segment, by byte ranges",
                count(packets, "super-packet")
            ),
            Warning::FieldsIgnored { ip_id, options, ack, directions } => {
                let fields = [(ip_id, "IP id"), (options, "TCP options"), (ack, "ack of data")];
                let names: Vec<&str> =
                    fields.into_iter().filter_map(|(ignored, name)| ignored.then_some(name)).collect();
                write!(
                    f,
                    "the captures differ in {} in {} (rewritten on the path, or cut off by the snap length): copies of \
                     one segment are distinguished by the other fields, and where these are equal by their delay",
                    names.join(", "),
                    count(directions, "direction")
                )
            }
            Warning::NotCaptured { lacked_by, packets } => {
                write!(
                    f,
                    "the {lacked_by} lacks {} that must have passed it: it dropped {}. What it dropped of the other \
                     direction cannot be told from losses on the path and counts as lost",
                    count(packets, "packet"),
                    if packets == 1 { "that one" } else { "them" }
                )
            }
            Warning::Outside { side, packets, ended_earlier_by } => {
                write!(
                    f,
                    "{} from before the {}, or may have passed it after its last packet",
                    are(packets, &format!("packet of the {side}"), &format!("packets of the {side}")),
                    side.other()
                )?;
                if let Some(early) = ended_earlier_by {
                    write!(f, ", {early} before the last one here")?;
                }
                let which = if packets == 1 { "it" } else { "those that left here" };
                write!(f, ": what became of {which} is unknown")
            }
            Warning::Rewritten { first, directions } => write!(
                f,
                "the path changed the options of SYNs in {}: {first}",
                count(directions, "direction")
            ),
            Warning::ClockStepped { by } => write!(
                f,
                "the clock offset departs from a linear drift by {by}: one of the clocks was probably set while capturing"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_is_and_several_are() {
        let outside = |packets, ended_earlier_by| {
            Warning::Outside { side: Side::Sender, packets, ended_earlier_by }.to_string()
        };
        assert_eq!(
            outside(1, None),
            "1 packet of the sender's capture is from before the receiver's capture, or may have passed it after \
             its last packet: what became of it is unknown"
        );
        assert_eq!(
            outside(1282, Some(Span::from_millis(2100))),
            "1,282 packets of the sender's capture are from before the receiver's capture, or may have passed it \
             after its last packet, 2.100 s before the last one here: what became of those that left here is unknown"
        );
        let lacks = |packets| Warning::NotCaptured { lacked_by: Side::Receiver, packets }.to_string();
        assert!(
            lacks(1).contains("lacks 1 packet that must have passed it: it dropped that one"),
            "{}",
            lacks(1)
        );
    }
}
