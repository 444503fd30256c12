//! Keys of links, queues and link-layer retries.

use super::*;
use links::spec::QueueSpec;

pub static FRAMING_WORDS: &[Word] = &[
    word("none", "0 bytes"),
    word("ppp", "2 bytes, as ns-3's point-to-point links count"),
    word("ethernet", "38 bytes: preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3)"),
];

const NODE: Kind = Kind::Reference("node");

pub(super) const RATE: Key =
    key("rate", Kind::Rate, "Bits per second, framing included.").absent("packets take no time to send");
pub(super) const DELAY: Key =
    key("delay", Kind::Time(Sign::NotNegative), "Propagation, one way, after the last bit has left.")
        .default("0s");
pub(super) const FRAMING: Key = key(
    "framing",
    Kind::Or(FRAMING_WORDS, &Kind::Amount(&[Unit::Bytes])),
    "Bytes that the link layer adds to each packet.",
)
.default("none");
pub(super) const QUEUE_KEY: Key =
    key("queue", Kind::Table(&QUEUE), "The queue before the link.").absent("drop-tail, 1000 packets");
pub(super) const ARQ_KEY: Key =
    key("arq", Kind::Table(&ARQ), "A link layer that repeats a frame until it arrives.")
        .absent("each frame is sent once");

pub static LINK: Table = Table {
    noun: "a link",
    doc: "A duplex link between two nodes. What it says holds for both directions; `forward` (from the first node to the \
          second) and `back` say what differs in one.",
    keys: &[
        key("name", Kind::Name, "Its name, in overrides and tables."),
        key("between", Kind::Tuple(&[NODE, NODE]), "The two nodes that it joins."),
        RATE,
        DELAY,
        FRAMING,
        QUEUE_KEY,
        ARQ_KEY,
        key("forward", Kind::Table(&DIRECTION), "What differs from the first node to the second.")
            .absent("nothing differs"),
        key("back", Kind::Table(&DIRECTION), "What differs from the second node to the first.")
            .absent("nothing differs"),
        key(
            "channel",
            Kind::Tables(&CHANNEL),
            "What the link does to packets beyond rate and delay, asked in this order.",
        )
        .absent("it does nothing else"),
    ],
    forms: None,
    variants: None,
};

pub static DIRECTION: Table = Table {
    noun: "a direction",
    doc: "One direction of a link, where it differs from what the link says.",
    keys: &[
        key("rate", Kind::Rate, RATE.doc).absent("as the link"),
        key("delay", DELAY.kind, DELAY.doc).absent("as the link"),
        key("framing", FRAMING.kind, FRAMING.doc).absent("as the link"),
        key("queue", QUEUE_KEY.kind, QUEUE_KEY.doc).absent("as the link"),
        key("arq", ARQ_KEY.kind, ARQ_KEY.doc).absent("as the link"),
    ],
    forms: None,
    variants: None,
};

pub static QUEUE: Table = Table {
    noun: "a queue",
    doc: "What waits for a link.",
    keys: &[],
    forms: None,
    variants: Some(Variants {
        tag: "kind",
        noun: "queue",
        doc: "Which queue.",
        default: None,
        list: QueueSpec::VARIANTS,
    }),
};

pub static ARQ: Table = Table {
    noun: "an arq",
    doc: "A link layer that repeats a frame until it arrives (IEEE 802.11), while the frames behind it wait. Each try asks \
          the channels at the wire anew and spends air time.",
    keys: &[
        key("tries", whole(1, 1000), "Tries in all, the first included."),
        key(
            "overhead",
            Kind::Time(Sign::NotNegative),
            "Air time of each try besides the frame (preamble, spacing, acknowledgement).",
        )
        .default("0s"),
        key(
            "backoff",
            Kind::Time(Sign::NotNegative),
            "Wait before try n (n = 2, 3, ...): uniform over 0 to 2^(n-1) times this.",
        )
        .default("0s"),
    ],
    forms: None,
    variants: None,
};
