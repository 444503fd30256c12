//! The application had nothing to send.

use super::{About, DataWaits, Gap, Group};
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "application",
    in_words: "nothing to send",
    means: "nothing in flight, and the highest data sent had PSH or FIN",
    group: Group::Application,
    colour: Hue::Green,
    holds,
    data_waits: DataWaits::No,
    path_may_be_dark: false,
};

fn holds(gap: &Gap) -> bool {
    gap.flight == 0 && gap.pushed
}
