//! A SYN or SYN-ACK that was sent again.

use super::{About, Group};
use crate::closed_set::{Hue, Marker};

pub const ABOUT: About = About {
    name: "handshake",
    in_words: "handshake",
    means: "a SYN or SYN-ACK",
    linux_counter: None,
    group: Group::Timer,
    colour: Hue::Sky,
    marker: Marker::Plus,
};
