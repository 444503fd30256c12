//! The retransmission timer's own retransmission (RFC 6298 §5.4).

use super::{About, Group};
use crate::closed_set::{Hue, Marker};

pub const ABOUT: About = About {
    name: "timeout",
    in_words: "timeout",
    means: "the timer's own retransmission, with its back-off count",
    linux_counter: Some("TCPTimeouts"),
    group: Group::Timer,
    colour: Hue::Red,
    marker: Marker::Diamond,
};
