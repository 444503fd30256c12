//! No reason shows.

use super::{About, DataWaits, Gap, Group};
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "unknown",
    in_words: "for no visible reason",
    means: "",
    group: Group::Unknown,
    colour: Hue::Grey,
    holds,
    data_waits: DataWaits::IfInFlight,
    path_may_be_dark: true,
};

fn holds(_gap: &Gap) -> bool {
    true
}
