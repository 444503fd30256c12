//! A tail-loss probe that repeats data (RFC 8985 §7.3).

use super::{About, Group};
use crate::closed_set::{Hue, Marker};

pub const ABOUT: About = About {
    name: "probe",
    in_words: "tail-loss probe",
    means: "a tail-loss probe that repeats data (RFC 8985 §7.3)",
    linux_counter: Some("TCPLossProbes"),
    group: Group::Timer,
    colour: Hue::Purple,
    marker: Marker::Up,
};
