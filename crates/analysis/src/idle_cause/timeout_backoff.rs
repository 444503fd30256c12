//! The sender waited for a retransmission timer that had fired before and had doubled.

use super::{About, DataWaits, Gap, Group};
use crate::cause::Cause;
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "timeout-backoff",
    in_words: "waiting for a backed-off timer",
    means: "with a timer that had fired before, and had doubled",
    group: Group::Timer,
    colour: Hue::Brown,
    holds,
    data_waits: DataWaits::Yes,
    path_may_be_dark: true,
};

fn holds(gap: &Gap) -> bool {
    // A back-off of 0 is the reason before this one.
    matches!(gap.resent, Some((Cause::Timeout, _)))
}
