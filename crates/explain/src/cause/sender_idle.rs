//! A program had written nothing.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::{grouped, span};

pub const ABOUT: About = About {
    name: "sender-idle",
    in_words: "a program had nothing to send",
    means: "The other host waits for data that a program has not written yet: it computes, reads from a disk, or waits for a person.",
    recognised: "Nothing is in flight, all that was sent is acknowledged, and the host that is silent is the next one to send.",
    helps: "A program that writes sooner, or more at a time.",
    colour: Hue::Green,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let by = s.by();
    let turns: u64 = s.stretches().map(|w| u64::from(w.turns[s.by_side()])).sum();
    let text = match turns {
        _ if s.by_side() == 1 && s.facts.is_never_answered() => {
            format!("The program on {by} never answered the last message that it was sent.")
        }
        0..=2 => format!("The program on {by} had not written the next data yet."),
        n => format!(
            "The program on {by} took {} on average before each of its {} messages.",
            span(s.share.time / n as i64),
            grouped(n)
        ),
    };
    Words {
        text,
        helps: vec![format!("a program on {by} that writes sooner, or more at a time")],
        does_not_help: vec!["more bandwidth".into(), "other settings of TCP".into()],
        ..Words::default()
    }
}
