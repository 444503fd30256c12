//! The path is full, and other flows take part of it.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::percent;

pub const ABOUT: About = About {
    name: "shared-bottleneck",
    in_words: "a full path that other flows share",
    means: "The slowest link of the path is busy, and other flows take a tenth of it or more.",
    recognised: "All flows between the two hosts, or all flows of the host at which the capture was taken, together fill the path, and this one has only a part of it.",
    helps: "Fewer flows at the same time; more bandwidth.",
    colour: Hue::Blue,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let others = s.others();
    let part = if others > 0.0 {
        format!(" took {} of what arrived", percent(others))
    } else {
        " took a part".into()
    };
    Words {
        text: format!("The path was full{}, and other flows{part}.", s.carries()),
        helps: vec!["fewer flows at the same time".into(), "more bandwidth".into()],
        does_not_help: vec!["larger windows or buffers".into()],
        ..Words::default()
    }
}
