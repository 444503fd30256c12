//! The connection is being opened.

use super::{About, Scene, plural};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "handshake",
    in_words: "the handshake",
    means: "The connection is not open yet: the SYN, its answer or the ACK of that is under way, or was lost.",
    recognised: "The time from the first SYN to the end of the handshake.",
    helps: "A connection that stays open and is used again. If SYNs were lost: a look at the path, at firewalls, and at the server's queue of new connections.",
    colour: Hue::Grey,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let again: u64 = s
        .facts
        .conversation
        .flows
        .iter()
        .filter_map(|f| f.flow)
        .map(|f| u64::from(f.handshake_resent))
        .max()
        .unwrap_or(0);
    let opened = s.facts.conversation.flows.iter().filter_map(|f| f.flow).any(|f| f.handshake.is_some());
    let text = match (opened, again) {
        (false, 0) => "The connection was never opened.".to_owned(),
        (false, n) => format!(
            "The connection was never opened: {} without success.",
            plural(n, "SYN was sent again", "SYNs were sent again")
        ),
        (true, 0) => "The connection was being opened.".to_owned(),
        (true, n) => format!(
            "The connection was being opened, and {}.",
            plural(n, "SYN or SYN-ACK had to be sent again", "SYNs or SYN-ACKs had to be sent again")
        ),
    };
    let helps = match again {
        0 => "a connection that stays open and is used again",
        _ => "a look at what dropped the SYN: the path, a firewall, or the server's queue of new connections",
    };
    Words {
        text,
        helps: vec![helps.into()],
        does_not_help: vec!["a larger window".into()],
        ..Words::default()
    }
}
