//! The connection was being opened.

use super::{About, DataWaits, Gap, Group};
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "handshake",
    in_words: "in the handshake",
    means: "the connection was being opened",
    group: Group::Opening,
    colour: Hue::Sky,
    holds,
    data_waits: DataWaits::No,
    path_may_be_dark: false,
};

fn holds(gap: &Gap) -> bool {
    gap.handshake
}
