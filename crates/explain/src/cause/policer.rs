//! A token bucket drops what goes beyond its rate.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::rate;

pub const ABOUT: About = About {
    name: "policer",
    in_words: "a policer",
    means: "A box on the path drops whatever exceeds an agreed rate, without queueing it (Flach et al., SIGCOMM 2016).",
    recognised: "Bursts pass at a higher rate until drops begin, round trips do not grow before them, and in the long run one rate is never exceeded.",
    helps: "A higher agreed rate.",
    colour: Hue::Red,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let found = s.path().policer;
    let text = match found {
        Some(p) => format!(
            "In the long run no more than {} of data gets through, and what exceeds it is dropped without a queue: this is how a policer behaves.",
            rate(p.bytes_per_s * 8.0)
        ),
        None => {
            "The path drops what exceeds one rate, without a queue: this is how a policer behaves.".into()
        }
    };
    Words {
        text,
        helps: vec!["a higher agreed rate".into()],
        does_not_help: vec!["larger windows or buffers".into()],
        ..Words::default()
    }
}
