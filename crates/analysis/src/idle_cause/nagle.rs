//! A small segment waited for the ACK of the one before it (RFC 896).

use super::{About, DataWaits, Gap, Group};
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "nagle",
    in_words: "small segments held back (Nagle)",
    means: "the ACK of all that was in flight, the last of it less than a full segment, released the next data: Nagle's algorithm (RFC 896), and mostly an ACK that the receiver delayed",
    group: Group::Ack,
    colour: Hue::Yellow,
    holds,
    data_waits: DataWaits::No,
    path_may_be_dark: false,
};

fn holds(gap: &Gap) -> bool {
    gap.by_ack && gap.of_small
}
