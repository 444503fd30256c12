//! Slow start after a timeout, until all data that was in flight then is acknowledged.

use super::{About, Group};
use crate::closed_set::{Hue, Marker};

pub const ABOUT: About = About {
    name: "loss-state",
    in_words: "slow start after a timeout",
    means: "in slow start after a timeout, until all that was in flight then is acknowledged",
    linux_counter: Some("TCPSlowStartRetrans"),
    group: Group::Ack,
    colour: Hue::Orange,
    marker: Marker::Square,
};
