//! A box on the way changed packets.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "middlebox",
    in_words: "a box on the way",
    means: "A box on the way changes packets or answers in place of the other host.",
    recognised: "SACK blocks name data that was never sent, options differ between two captures, or ACKs come sooner than the path allows.",
    helps: "The path without that firewall, proxy or load balancer.",
    colour: Hue::Red,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    Words {
        text: "A box on the way changed packets of this connection.".into(),
        helps: vec!["the path without that firewall, proxy or load balancer".into()],
        does_not_help: vec![format!("other settings on {}", s.sender())],
        ..Words::default()
    }
}
