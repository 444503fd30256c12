//! From some time on nothing got through.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::rows::Role;

pub const ABOUT: About = About {
    name: "path-died",
    in_words: "a path that died",
    means: "From some time on the path delivers nothing any more.",
    recognised: "The sender repeats its data with growing distances, to the end of the capture, and nothing comes back.",
    helps: "A look at the path and at the other host at that time.",
    colour: Hue::Red,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let last = s.troubles().max_by_key(|t| t.end);
    let from = last.map_or(s.share.first, |t| t.dark_start);
    let sender = last.map_or(s.sender(), |t| Role::of(t.side).in_words());
    Words {
        text: format!(
            "From {} on nothing that {sender} sent got through any more, to the end of the capture.",
            s.at(from)
        ),
        helps: vec!["a look at the path and at the other host at that time".into()],
        does_not_help: vec!["settings of TCP".into()],
        ..Words::default()
    }
}
