//! Packets overtook each other, and the sender took them for lost.

use super::{About, Scene, capital, plural};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "reordering",
    in_words: "reordering",
    means: "Packets overtake each other, and the sender takes the late ones for lost.",
    recognised: "Data is sent again on duplicate ACKs, and turns out to have arrived.",
    helps: "A path that keeps packets in order.",
    colour: Hue::Red,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let resent: u64 = s.troubles().map(|t| t.resent).sum();
    let again = if resent > 0 {
        format!(" and sent {} again", plural(resent, "segment", "segments"))
    } else {
        String::new()
    };
    Words {
        text: format!(
            "Packets overtook each other. {} took the late ones for lost{again}.",
            capital(s.sender())
        ),
        helps: vec!["a path that keeps packets in order".into()],
        does_not_help: vec!["larger windows or buffers".into()],
        ..Words::default()
    }
}
