//! A sender that spaces its packets at less than the path's rate.

use super::{About, Scene, capital};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "pacing",
    in_words: "pacing by the sender",
    means: "The sender spaces its packets, at less than the rate of the path.",
    recognised: "Packets leave at even distances, without an ACK that releases them, and the path and the windows have room.",
    helps: "A higher pacing rate.",
    colour: Hue::Orange,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let by = s.by();
    Words {
        text: format!("{} spaced its packets, although the windows had room.", capital(by)),
        helps: vec![format!("a higher pacing rate on {by}")],
        does_not_help: vec!["a larger window".into()],
        ..Words::default()
    }
}
