//! An ACK that the receiver delays while the sender waits for it.

use super::{About, Scene, capital};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "delayed-ack",
    in_words: "delayed ACKs",
    means: "The sender waits for an ACK that the receiver delays (RFC 9293 section 3.8.6.3), mostly because Nagle's algorithm (RFC 896) holds a small segment back until all data before it is acknowledged.",
    recognised: "A small segment leaves as soon as the ACK of the data before it comes, and that ACK took a delayed-ACK timer longer than a round trip.",
    helps: "TCP_NODELAY on the sender's socket, or one write in place of several.",
    colour: Hue::Yellow,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let (by, sender) = (s.by(), s.sender());
    Words {
        text: format!(
            "{} held a small segment back until the data before it was acknowledged (Nagle's algorithm), and {by} delayed that ACK.",
            capital(sender)
        ),
        helps: vec![format!("TCP_NODELAY on the socket of {sender}, or one write in place of several")],
        does_not_help: vec!["more bandwidth".into(), "a larger window".into()],
        ..Words::default()
    }
}
