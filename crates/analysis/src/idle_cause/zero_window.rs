//! The receiver had closed its window.

use super::{About, DataWaits, Gap, Group};
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "zero-window",
    in_words: "the receiver's window closed",
    means: "the receiver's window was closed",
    group: Group::Window,
    colour: Hue::Black,
    holds,
    data_waits: DataWaits::Yes,
    path_may_be_dark: false,
};

fn holds(gap: &Gap) -> bool {
    gap.zero_window
}
