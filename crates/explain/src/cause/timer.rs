//! A retransmission timer that fired though nothing was lost, or far from where RFC 6298 has it.

use super::{About, Scene, capital};
use crate::answer::Words;
use crate::losses::late_timer::{due_in_all, is_late};
use analysis::closed_set::Hue;
use analysis::words::{span, times};
use wire::Span;

pub const ABOUT: About = About {
    name: "timer",
    in_words: "the retransmission timer",
    means: "The retransmission timer fired though nothing was lost, or waited far longer than RFC 6298 asks for.",
    recognised: "What the timer sends again had arrived, or the silence before a retransmission is many times the round trip.",
    helps: "A retransmission timer that follows RFC 6298.",
    colour: Hue::Brown,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let by = s.by();
    let lost: u64 = s.troubles().map(|t| t.lost).sum();
    let fired: u64 = s.troubles().map(|t| u64::from(t.timeouts)).sum();
    // Each timeout doubles the wait for the next.
    let expected =
        s.troubles().map(|t| due_in_all(s.facts.conversation, t.timeouts)).fold(Span::ZERO, |sum, x| sum + x);
    let text = match (fired, lost) {
        (0, _) => format!("{} waited for a timer.", capital(by)),
        (n, _) if is_late(s.share.time, expected) => format!(
            "The retransmission timer of {by} fired {}, after {} on average; RFC 6298 has it fire after about {}.",
            times(n),
            span(s.share.time / n as i64),
            span(expected / n as i64)
        ),
        (n, 0) => format!("The retransmission timer of {by} fired {} although nothing was lost.", times(n)),
        (n, _) => {
            format!("The retransmission timer of {by} fired {}, far from where RFC 6298 has it.", times(n))
        }
    };
    Words {
        text,
        helps: vec![format!("a retransmission timer on {by} that follows RFC 6298")],
        does_not_help: vec!["more bandwidth".into()],
        ..Words::default()
    }
}
