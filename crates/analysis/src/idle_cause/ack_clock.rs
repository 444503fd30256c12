//! Data was in flight, and the next ACK released the next data.

use super::{About, DataWaits, Gap, Group};
use crate::closed_set::Hue;

pub const ABOUT: About = About {
    name: "ack-clock",
    in_words: "waiting for ACKs",
    means: "data was in flight, and the next ACK released the next data, or the repair; or the observation ended before an ACK came",
    group: Group::Ack,
    colour: Hue::Blue,
    holds,
    data_waits: DataWaits::Yes,
    path_may_be_dark: true,
};

fn holds(gap: &Gap) -> bool {
    gap.flight > 0 && (gap.by_ack || gap.unended)
}
