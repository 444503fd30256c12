//! A receive window that is open and smaller than the path needs.

use super::{About, Scene, capital};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::{bytes, rate, span};
use wire::Span;

pub const ABOUT: About = About {
    name: "receive-window",
    in_words: "a small receive window",
    means: "The sender has as much in flight as the receiver allows, and waits for ACKs, though the path could carry more.",
    recognised: "The data in flight reaches the edge of the advertised window, round trip after round trip.",
    helps: "A larger receive buffer.",
    colour: Hue::Purple,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let by = s.by();
    let window = s.flow().and_then(|f| f.window_max_bytes);
    let size = window.map(|w| format!(" ({})", bytes(w))).unwrap_or_default();
    let most = window.zip(s.facts.conversation.base_rtt).filter(|(_, rtt)| *rtt > Span::ZERO);
    let most = most.map(|(w, rtt)| {
        format!(" At a round trip of {} that is {} at most.", span(rtt), rate(w as f64 * 8.0 / rtt.as_secs()))
    });
    Words {
        text: format!(
            "{} had as much in flight as the receive window of {by} allows{size}.{}",
            capital(s.sender()),
            most.unwrap_or_default()
        ),
        helps: vec![format!("a larger receive buffer on {by}")],
        does_not_help: vec![format!("a larger send buffer on {}", s.sender()), "more bandwidth".into()],
        ..Words::default()
    }
}
