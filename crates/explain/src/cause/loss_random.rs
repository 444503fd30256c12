//! Losses that no queue made, and the small window after them.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "loss-random",
    in_words: "random losses",
    means: "Packets are lost for no reason of congestion, and their repair and the smaller congestion window after it take time.",
    recognised: "Single packets are missing while round trips are short, so no queue was about to overflow.",
    helps: "A path that loses less.",
    colour: Hue::Red,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let text = match s.troubles().any(|t| t.lost > 0) {
        true => format!(
            "{} without a sign of a full queue. Their repair took this time, and so did the smaller congestion window after it.",
            s.lost_words()
        ),
        false => {
            "A wait as long as for a repair shows that something was lost, though no lost packet shows here."
                .into()
        }
    };
    Words {
        text,
        helps: vec!["a path that loses less".into()],
        does_not_help: vec!["larger windows or buffers".into()],
        ..Words::default()
    }
}
