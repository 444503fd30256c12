//! From some time on nothing got through.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::rows::Role;
use wire::Time;

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
    let side = last.map_or(s.side(), |t| t.side);
    let sender = Role::of(side).in_words();
    // Whatever was answered had got through.
    let answered = s.facts.conversation.row(side).and_then(|flow| flow.last_answer);
    let from = last.map_or(s.share.first, |t| t.dark_start).max(answered.unwrap_or(Time::FAR_PAST));
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
