//! A receiver that throws data away, does not answer, or answers without end.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "receiver-stack",
    in_words: "the receiving host's TCP",
    means: "The TCP of the receiving host throws data away that had reached it, does not answer, or answers without end.",
    recognised: "Data beyond a hole is needed again though it had arrived, or packets that need an answer get none while others do.",
    helps: "An update of the receiving host's TCP.",
    colour: Hue::Orange,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let by = s.by();
    Words {
        text: format!(
            "The TCP of {by} threw data away that had reached it, or did not answer as RFC 9293 asks for."
        ),
        helps: vec![format!("an update of the TCP stack on {by}")],
        does_not_help: vec!["more bandwidth".into()],
        ..Words::default()
    }
}
