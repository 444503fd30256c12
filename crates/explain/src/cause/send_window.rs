//! A send buffer smaller than the path needs.

use super::{About, Scene, capital};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::bytes;

pub const ABOUT: About = About {
    name: "send-window",
    in_words: "a small send buffer",
    means: "The sender has all that its send buffer takes in flight, though the path and the receive window have room.",
    recognised: "The data in flight stays at one size for many round trips, below the receive window, and nothing is lost.",
    helps: "A larger send buffer.",
    colour: Hue::Orange,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let by = s.by();
    // Where data arrives, what is in flight does not show.
    let seen = s.facts.conversation.seen_leaving(s.by_side());
    let flight = s.flow().map(|f| f.flight_max_bytes).filter(|f| *f > 0 && seen);
    Words {
        text: match flight {
            Some(most) => format!(
                "{} had no more than {} in flight, although the receive window had room.",
                capital(by),
                bytes(most)
            ),
            None => {
                format!("What {by} had in flight stayed at one size, although the receive window had room.")
            }
        },
        helps: vec![format!("a larger send buffer on {by}")],
        does_not_help: vec![format!("a larger receive buffer on {}", s.other()), "more bandwidth".into()],
        ..Words::default()
    }
}
