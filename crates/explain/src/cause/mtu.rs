//! Packets of some size and more vanish.

use super::{About, Scene};
use crate::answer::Words;
use analysis::closed_set::Hue;
use analysis::words::grouped;

pub const ABOUT: About = About {
    name: "mtu",
    in_words: "packets too large for the path",
    means: "Packets above some size are dropped on the path, and no ICMP message tells the sender so (RFC 2923, RFC 8899).",
    recognised: "Full segments are lost again and again, while smaller packets of the same connection arrive.",
    helps: "ICMP messages that are let through; a smaller MSS.",
    colour: Hue::Red,
    words,
};

fn words(s: &Scene<'_>) -> Words {
    let size = s.flow().and_then(|f| f.too_large);
    let text = match size {
        Some(t) if t.through_to_bytes > 0 => format!(
            "Packets with {} bytes of data and more did not get through, and those with up to {} bytes did.",
            grouped(t.lost_from_bytes.into()),
            grouped(t.through_to_bytes.into())
        ),
        // The message that was sent again is none of a full segment: what it asked for is missing.
        _ if s.flow().is_some_and(|f| f.bytes < u64::from(f.mss)) => format!(
            "Nothing of the answer of {} arrived, and its ACK did: full segments probably do not get through.",
            s.receiver()
        ),
        _ => "Full segments did not get through, and smaller packets did.".into(),
    };
    Words {
        text,
        helps: vec![
            "ICMP messages \"fragmentation needed\" that are let through".into(),
            format!("a smaller MSS on {}", s.sender()),
        ],
        does_not_help: vec!["more bandwidth".into(), "other timers".into()],
        ..Words::default()
    }
}
