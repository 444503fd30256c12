//! The capture does not show it.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "cannot-tell",
    in_words: "cannot tell",
    means: "The capture does not show what the transfer waited for.",
    recognised: "Several causes fit, or packets that would tell are missing.",
    helps: "A capture at the sender, or at both ends, from before the first packet on.",
    colour: Hue::Grey,
    words,
};

fn words(_: &Scene<'_>) -> Words {
    Words {
        text: "This capture does not show what the transfer waited for.".into(),
        helps: vec!["a capture at the sender, or at both ends, from before the first packet on".into()],
        ..Words::default()
    }
}
