//! The delay that a queue adds to exchanges.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::span;

pub const ABOUT: About = About {
    name: "standing-queue",
    in_words: "a standing queue",
    means: "Messages that need no window wait in a queue on the path, which other traffic fills.",
    recognised: "Round trips of small messages are longer than the least one by a good part of it.",
    helps: "A shorter queue, or active queue management, at the slowest link.",
    colour: Hue::Blue,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let trips = s.facts.conversation.base_rtt.zip(s.facts.conversation.largest_rtt);
    let longer = trips.map(|(least, most)| {
        format!(": a round trip took up to {} where the least is {}", span(most), span(least))
    });
    Words {
        text: format!("Messages waited in a queue on the path{}.", longer.unwrap_or_default()),
        helps: vec!["a shorter queue, or active queue management, at the slowest link".into()],
        does_not_help: vec!["a larger window".into()],
        ..Words::default()
    }
}
