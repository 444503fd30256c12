//! Fast recovery (RFC 5681 §3.2, RFC 6675, RFC 8985): the sender inferred the loss from ACKs.
//! RACK's reordering timer is included: an ACK arms it.

use super::{About, Group};
use crate::closed_set::{Hue, Marker};

pub const ABOUT: About = About {
    name: "recovery",
    in_words: "fast recovery",
    means: "in fast recovery (RFC 5681 §3.2, RFC 6675, RFC 8985); **evidence** `dupack`, `sack` or `time`",
    linux_counter: Some("TCPFastRetrans"),
    group: Group::Ack,
    colour: Hue::Blue,
    marker: Marker::Circle,
};
