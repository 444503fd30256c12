//! A reset cut off what was owed.

use super::{About, Scene, capital};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "reset",
    in_words: "a reset",
    means: "One host reset the connection while data was still to be delivered.",
    recognised: "A packet with RST comes before all data is acknowledged.",
    helps: "A look at why that host gave up.",
    colour: Hue::Black,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    Words {
        text: format!("{} reset the connection before all data had been acknowledged.", capital(s.by())),
        helps: vec![format!("a look at why {} gave up", s.by())],
        does_not_help: vec!["more bandwidth".into()],
        ..Words::default()
    }
}
