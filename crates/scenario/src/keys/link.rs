//! Keys of links, queues and link-layer retries.

use super::*;

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

const LIMIT: Forms = Forms { sets: &[&["packets"], &["bytes"]], required: false };
const PACKETS: Key = key(
    "packets",
    whole(1, u32::MAX as u64),
    "Packets that fit; the one being sent is not counted. Where neither `packets` nor `bytes` is said, 1000.",
)
.absent("see `bytes`");
const BYTES: Key =
    key("bytes", Kind::Amount(&[Unit::Bytes]), "Bytes that fit, instead of packets.").absent("see `packets`");
const ECN: Key = key(
    "ecn",
    Kind::Flag,
    "Marks packets that can be marked instead of dropping them (RFC 3168). Simulated endpoints send none: it is for \
     the kernels of the live bench, with `net.ipv4.tcp_ecn=1`.",
)
.default("false");
const TARGET: Key =
    key("target", Kind::Time(Sign::Positive), "Acceptable standing queue delay (RFC 8289, section 4.3).")
        .default("5ms");
const INTERVAL: Key = key(
    "interval",
    Kind::Time(Sign::Positive),
    "How long the delay may lie above the target before the first drop (RFC 8289, section 4.2).",
)
.default("100ms");

const fn limited(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Variant {
    Variant { name, doc, keys, forms: Some(LIMIT) }
}

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
        list: &[
            limited("droptail", "First in, first out; what does not fit is dropped.", &[PACKETS, BYTES]),
            limited(
                "red",
                "Random early detection (Floyd and Jacobson 1993).",
                &[
                    PACKETS,
                    BYTES,
                    key(
                        "min_threshold",
                        number_above(0.0, 1e9),
                        "Mean queue at which dropping begins, packets.",
                    )
                    .default("5"),
                    key(
                        "max_threshold",
                        number_above(0.0, 1e9),
                        "Mean queue at which `max_probability` is reached, packets.",
                    )
                    .default("15"),
                    key("max_probability", Kind::Probability, "Probability of a drop at `max_threshold`.")
                        .default("0.1"),
                    key("weight", number_above(0.0, 1.0), "Weight of the newest sample in the mean queue.")
                        .default("0.002"),
                    key(
                        "gentle",
                        Kind::Flag,
                        "Above `max_threshold` the probability rises to 1 at its double, instead of at once.",
                    )
                    .default("true"),
                    ECN,
                ],
            ),
            limited("codel", "Controlled delay (RFC 8289).", &[PACKETS, BYTES, TARGET, INTERVAL, ECN]),
            limited(
                "fq-codel",
                "Flow queues with controlled delay (RFC 8290).",
                &[
                    PACKETS,
                    BYTES,
                    TARGET,
                    INTERVAL,
                    key(
                        "flows",
                        whole(1, 65_536),
                        "Queues into which flows are hashed (RFC 8290, section 5.2.2).",
                    )
                    .default("1024"),
                    key(
                        "quantum",
                        Kind::Amount(&[Unit::Bytes]),
                        "Bytes that a queue sends in its turn (RFC 8290, section 5.2.3).",
                    )
                    .default("1514B"),
                    ECN,
                ],
            ),
        ],
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
