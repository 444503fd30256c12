//! A retransmission whose cause the capture does not show.

use super::{About, Group};
use crate::closed_set::{Hue, Marker};

pub const ABOUT: About = About {
    name: "unknown",
    in_words: "unknown",
    means: "the capture does not show why",
    linux_counter: None,
    group: Group::Unknown,
    colour: Hue::Grey,
    marker: Marker::Hexagon,
};
