//! A receive window that is closed because the program does not read.

use super::{About, Scene, capital};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::{grouped, times};

pub const ABOUT: About = About {
    name: "receiver-not-reading",
    in_words: "the receiving program does not read",
    means: "The receive window is closed, or nearly so, because the program does not read what has arrived.",
    recognised: "The advertised window shrinks to less than a segment while all data is acknowledged, and opens when the program reads.",
    helps: "A program that reads faster.",
    colour: Hue::Purple,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let by = s.by();
    let probes = s.flow().map_or((0, 0), |f| (f.window_probes, f.window_probes_unanswered));
    let probed = match probes {
        (0, _) => String::new(),
        (n, 0) => format!(" {} probed the closed window {}.", capital(s.sender()), times(n)),
        (n, m) => format!(
            " {} probed the closed window {}, and {} of the probes had no answer.",
            capital(s.sender()),
            times(n),
            grouped(m)
        ),
    };
    Words {
        text: format!(
            "The program on {by} did not read what had arrived, so its receive window closed.{probed}"
        ),
        helps: vec![format!("a program on {by} that reads faster")],
        does_not_help: vec!["more bandwidth".into(), format!("a larger send buffer on {}", s.sender())],
        ..Words::default()
    }
}
