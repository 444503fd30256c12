//! Nothing cost time worth telling.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;

pub const ABOUT: About = About {
    name: "nothing",
    in_words: "nothing",
    means: "Less than 50 ms, or less than two round trips, were lost to anything.",
    recognised: "Hardly any time passes in which something is owed.",
    helps: "Nothing needs help.",
    colour: Hue::Grey,
    words,
};

fn words(_: &Scene<'_>) -> Words {
    Words { text: "Nothing took time worth telling.".into(), ..Words::default() }
}
