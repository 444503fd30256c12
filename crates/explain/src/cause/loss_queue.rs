//! Losses of a full queue, from when they leave the path idle.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "loss-queue",
    in_words: "losses of a full queue",
    means: "A full queue drops packets, and the path stands idle while the sender repairs them or sends with a small window.",
    recognised: "Round trips were at their longest when the packets were lost.",
    helps: "A longer queue at the slowest link.",
    colour: Hue::Red,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    Words {
        text: format!(
            "{} when a queue on the path was full, and the path was idle for a part of the repair.",
            s.lost_words()
        ),
        helps: vec!["a longer queue at the slowest link".into()],
        does_not_help: vec![format!("a larger receive buffer on {}", s.receiver())],
        ..Words::default()
    }
}
