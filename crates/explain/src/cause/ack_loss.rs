//! ACKs were lost, came late, or came in bunches.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "ack-loss",
    in_words: "lost or late ACKs",
    means: "The data arrives, and the ACKs that say so are lost, late, or thinned on their way.",
    recognised: "What a timer sends again had arrived before.",
    helps: "A way back that does not lose ACKs; a larger window, in which a later ACK stands for a lost one.",
    colour: Hue::Red,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    Words {
        text: format!("The data of {} arrived, and the ACKs of it were lost or late.", s.sender()),
        helps: vec!["a way back that does not lose ACKs".into(), "a larger window".into()],
        does_not_help: vec!["more bandwidth".into()],
        ..Words::default()
    }
}
