//! A sender that was told of losses, or of room, and did nothing.

use super::{About, Scene, capital};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "sender-stalled",
    in_words: "the sending host stood still",
    means: "The sending host had reason and room to send, and sent nothing.",
    recognised: "Duplicate ACKs or a wider window reached the sender, and it stayed silent for longer than its timer.",
    helps: "An update of the sending host's TCP.",
    colour: Hue::Brown,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let by = s.by();
    Words {
        text: format!(
            "{} had been asked for data (by duplicate ACKs, or by room in the window) and sent nothing.",
            capital(by)
        ),
        helps: vec![format!("an update of the TCP stack on {by}")],
        does_not_help: vec!["more bandwidth".into(), "a larger window".into()],
        ..Words::default()
    }
}
