//! Nodes as TOML: what is as nearly always is not said.

use crate::model::{Input, IpId, Node};
use params::Lines;

pub(super) fn node(node: &Node, out: &mut Lines) {
    out.head("[[node]]");
    out.text("name", &node.name);
    if node.input == Input::InTurn {
        out.text("input", "in-turn");
    }
    let numbering = &node.numbering;
    if numbering.rule != IpId::default() {
        out.text("ip_id", numbering.rule.name());
    }
    if numbering.swapped {
        out.flag("ip_id_swapped", true);
    }
    if numbering.unseen_per_s > 0 {
        out.whole("unseen_packets_per_s", numbering.unseen_per_s);
    }
}
