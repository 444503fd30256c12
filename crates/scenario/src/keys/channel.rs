//! Keys of channels.

use super::*;
use links::spec::{ChannelKind, Only, Place};

pub static DIRECTIONS: &[Word] = &[
    word("both", "each direction on its own; time-driven schedules are shared"),
    word("forward", "from the link's first node to its second"),
    word("back", "from the second to the first"),
];
pub static CHANNEL: Table = Table {
    noun: "a channel",
    doc: "What a link does to packets beyond rate and delay.",
    keys: &[
        key("name", Kind::Name, "Its name: in overrides, in the table of drops, and for its random numbers."),
        key("direction", Kind::Choice(DIRECTIONS), "On which direction of the link it acts.").default("both"),
        key("at", Kind::Choice(Place::WORDS), "Where on the link it acts.").default("wire"),
        key(
            "only",
            Kind::Choice(Only::WORDS),
            "Which packets it looks at; others pass untouched and are not counted.",
        )
        .default("all"),
        key(
            "flows",
            Kind::List { of: &Kind::Reference("flow"), least: 1 },
            "Flows that it looks at; others pass untouched and are not counted. A channel that delays or holds these flows does \
             not delay the others. In the simulator only.",
        )
        .absent("all flows"),
    ],
    forms: None,
    variants: Some(Variants {
        tag: "kind",
        noun: "channel",
        doc: "What it does.",
        default: None,
        list: ChannelKind::VARIANTS,
    }),
};
