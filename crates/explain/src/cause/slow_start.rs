//! cwnd before any loss.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "slow-start",
    in_words: "slow start",
    means: "The congestion window grows from its initial size (RFC 5681 section 3.1), and has not reached what the path can carry.",
    recognised: "The data in flight grows with each round trip, every ACK releases more, and nothing has been lost yet.",
    helps: "A connection that stays open and is used again; a larger initial window.",
    colour: Hue::Sky,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let sender = s.sender();
    let trip =
        s.rtt().map(|rtt| format!(" Each step takes a round trip, {rtt} at least.")).unwrap_or_default();
    Words {
        text: format!("The congestion window of {sender} was still growing.{trip}"),
        helps: vec![
            "a connection that stays open and is used again".into(),
            format!("a larger initial window on {sender}"),
        ],
        does_not_help: vec!["more bandwidth".into(), format!("a larger receive buffer on {}", s.receiver())],
        ..Words::default()
    }
}
