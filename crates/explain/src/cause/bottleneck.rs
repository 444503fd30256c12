//! The path is full with this conversation's data.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "bottleneck",
    in_words: "a full path",
    means: "The slowest link of the path is busy with this connection's data all the time.",
    recognised: "A queue stands on the path, or packets arrive as close together as the slowest link lets them through.",
    helps: "More bandwidth.",
    colour: Hue::Blue,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    Words {
        text: format!("This connection's data kept the path busy{}.", s.carries()),
        helps: vec!["more bandwidth".into()],
        does_not_help: vec!["larger windows or buffers".into()],
        ..Words::default()
    }
}
