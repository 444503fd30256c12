//! The receiver's window had no room for another segment.

use super::{About, DataWaits, Gap, Group};
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "receive-window",
    in_words: "the receiver's window used up",
    means: "the receiver's window was used up: no room for a segment beside what was in flight; not where two full segments or more, sent within it, waited for an ACK for more than twice the round trip before: then the path let nothing through, and what filled the window was that",
    group: Group::Window,
    colour: Hue::Purple,
    holds,
    data_waits: DataWaits::Yes,
    path_may_be_dark: true,
};

fn holds(gap: &Gap) -> bool {
    gap.fills_window()
}
