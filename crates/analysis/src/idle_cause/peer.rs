//! There was nothing to send until the other host's data came: a request, or an answer.

use super::{About, DataWaits, Gap, Group};
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "peer",
    in_words: "waiting for the other host's data",
    means: "nothing was in flight, and data of the other host's came: until then nothing had been asked (or answered). What the sender took after that is a gap of its own, if both are longer than the threshold; else the whole gap is what the longer part is",
    group: Group::Application,
    colour: Hue::Orange,
    holds,
    data_waits: DataWaits::No,
    path_may_be_dark: false,
};

fn holds(gap: &Gap) -> bool {
    gap.asked
}
