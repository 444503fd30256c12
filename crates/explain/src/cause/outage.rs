//! For a while nothing got through, and then it did again.

use super::{About, Scene, capital, lasted};
use crate::answer::Words;
use crate::losses::Trouble;
use analysis::closed_set::Hue;
use analysis::rows::Role;
use analysis::words::times;

pub const ABOUT: About = About {
    name: "outage",
    in_words: "an outage",
    means: "For a while the path delivers nothing, and then it does again.",
    recognised: "All that was sent in one direction over some time is lost or late, and what is sent later arrives.",
    helps: "A path without interruptions.",
    colour: Hue::Red,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let all: Vec<&Trouble> = s.troubles().collect();
    let longest = all.iter().max_by_key(|t| (t.dark_least, t.dark_most));
    let bounds = longest.map(|t| lasted(t.dark_least, t.dark_most)).unwrap_or_default();
    let sender = longest.map_or(s.sender(), |t| Role::of(t.side).in_words());
    let text = match all[..] {
        [] => format!("For a while nothing that {} sent got through.", s.sender()),
        [one] => format!("From {} on nothing that {sender} sent got through{bounds}.", s.at(one.dark_start)),
        _ => format!(
            "{} nothing that {sender} sent got through, the longest time from {} on{bounds}.",
            capital(&times(all.len() as u64)),
            s.at(longest.map_or(s.share.first, |t| t.dark_start))
        ),
    };
    // Where data arrives, only the timer's repairs that came through are seen.
    let fired: u64 =
        all.iter().filter(|t| s.facts.conversation.seen_leaving(t.side)).map(|t| u64::from(t.timeouts)).sum();
    let timer =
        if fired > 0 { format!(" The retransmission timer fired {}.", times(fired)) } else { String::new() };
    Words {
        text: format!("{text}{timer}"),
        helps: vec!["a path without interruptions".into()],
        does_not_help: vec!["larger windows or buffers".into(), "more bandwidth".into()],
        ..Words::default()
    }
}
