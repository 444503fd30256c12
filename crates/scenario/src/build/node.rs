//! Nodes.

use crate::model::{Input, IpId, Node, Numbering};
use params::Values;

pub(super) fn node(v: &Values) -> Node {
    Node { name: v.name(), input: input(v), numbering: numbering(v) }
}

fn input(v: &Values) -> Input {
    match v.word("input") {
        Some("in-turn") => Input::InTurn,
        _ => Input::AtOnce,
    }
}

fn numbering(v: &Values) -> Numbering {
    Numbering {
        rule: v.word("ip_id").and_then(IpId::named).unwrap_or_default(),
        swapped: v.flag("ip_id_swapped"),
        unseen_per_s: v.whole("unseen_packets_per_s").unwrap_or_default(),
    }
}
