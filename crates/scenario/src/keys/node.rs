//! Keys of nodes.

use super::*;
use crate::model::IpId;

static INPUTS: &[Word] = &[
    word("at-once", "before what else is due at that moment and was planned later"),
    word("in-turn", "behind everything that is due at that moment (ns-3)"),
];

pub static NODE: Table = Table {
    noun: "a node",
    doc: "A host or router; packets take the path with the fewest links.",
    keys: &[
        key("name", Kind::Name, "Its name."),
        key("input", Kind::Choice(INPUTS), "When a host handles a packet that has come.").default("at-once"),
        key("ip_id", Kind::Choice(IpId::WORDS), "How a host numbers the packets that it sends (IPv4 identification).")
            .default("per-connection"),
        flag("ip_id_swapped", "The two bytes of each number are swapped, as by hosts that ignore network byte order.")
            .default("false"),
        key(
            "unseen_packets_per_s",
            whole(0, 1_000_000),
            "Mean rate of packets that the host sends to other hosts, outside of the scenario. They leave at random times, and \
             each takes a number of `ip_id = \"per-host\"`.",
        )
        .default("0"),
    ],
    forms: None,
    variants: None,
};
