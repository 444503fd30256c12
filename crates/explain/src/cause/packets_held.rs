//! Packets were kept on the way, and delivered later.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "packets-held",
    in_words: "packets held on the way",
    means: "Packets were kept somewhere on the way, and delivered later without loss.",
    recognised: "A timer fires, and what had been sent before arrives after all, all at once.",
    helps: "A look at what buffers packets on the path, such as a radio link or a host that sleeps.",
    colour: Hue::Red,
    words,
};

fn words(_: &Scene<'_>) -> Words {
    Words {
        text: "Packets were kept on the way and delivered later: nothing was lost.".into(),
        helps: vec!["a look at what buffers packets on the path: a radio link, a host that sleeps".into()],
        does_not_help: vec!["larger windows or buffers".into()],
        ..Words::default()
    }
}
