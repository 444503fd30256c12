//! Round trips of exchanges.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::grouped;

pub const ABOUT: About = About {
    name: "request-response",
    in_words: "request and response",
    means: "The two programs talk in turns: a message is under way, or its answer is. The time is the round trip of each exchange.",
    recognised: "Data of one host follows data of the other at once, all that was sent has left, and the time is as long as the path takes.",
    helps: "Several requests at the same time, or fewer and larger ones with TCP_NODELAY; a shorter round trip.",
    colour: Hue::Sky,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let turns: u64 = s.stretches().map(|w| u64::from(w.turns[0]) + u64::from(w.turns[1])).sum();
    let sent = match turns {
        0 | 1 => "A message or its answer was under way between the client and the server".to_owned(),
        n => format!(
            "{} messages went between the client and the server, each in answer to the one before",
            grouped(n)
        ),
    };
    let trip = s.rtt().map(|rtt| format!("; a round trip takes at least {rtt}")).unwrap_or_default();
    Words {
        text: format!("{sent}{trip}."),
        helps: vec![
            "several requests at the same time, or fewer and larger ones with TCP_NODELAY".into(),
            "a shorter round trip".into(),
        ],
        does_not_help: vec!["more bandwidth".into(), "a larger window".into()],
        ..Words::default()
    }
}
