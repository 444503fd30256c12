//! The sender waited for its retransmission timer or for its probe timer.

use super::{About, DataWaits, Gap, Group};
use crate::cause::Cause;
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "timeout",
    in_words: "waiting for a timer",
    means: "the gap ended with the retransmission timer",
    group: Group::Timer,
    colour: Hue::Red,
    holds,
    data_waits: DataWaits::Yes,
    path_may_be_dark: true,
};

fn holds(gap: &Gap) -> bool {
    match gap.resent {
        Some((Cause::Timeout, back_off)) => back_off == 0,
        Some((Cause::Probe, _)) => true,
        _ => gap.probe,
    }
}
