//! The capture does not show it.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::span;

pub const ABOUT: About = About {
    name: "cannot-tell",
    in_words: "cannot tell",
    means: "The capture does not show what the transfer waited for.",
    recognised: "Several causes fit, or packets that would tell are missing.",
    helps: "A capture at the sender, or at both ends, from before the first packet on.",
    colour: Hue::Grey,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let c = s.facts.conversation;
    if let (Some(low), Some(high)) = (c.base_rtt, c.largest_rtt)
        && s.facts.meets_queues_of_others()
    {
        return Words {
            text: format!(
                "Messages and their answers were under way. A round trip took {} to {}: other traffic probably fills a queue on the path. How long they waited in that queue, and how long the path itself takes, does not show.",
                span(low),
                span(high)
            ),
            helps: vec!["a capture of all traffic at the host next to that queue".into()],
            ..Words::default()
        };
    }
    Words {
        text: "This capture does not show what the transfer waited for.".into(),
        helps: vec!["a capture at the sender, or at both ends, from before the first packet on".into()],
        ..Words::default()
    }
}
