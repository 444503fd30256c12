//! A zero-window probe that repeats data (RFC 9293 §3.8.6.1).

use super::{About, Group};
use crate::closed_set::{Hue, Marker};

pub const ABOUT: About = About {
    name: "persist",
    in_words: "zero-window probe",
    means: "a zero-window probe (RFC 9293 §3.8.6.1)",
    linux_counter: None,
    group: Group::Timer,
    colour: Hue::Yellow,
    marker: Marker::Down,
};
