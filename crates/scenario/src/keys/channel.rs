//! Keys of channels.

use super::*;

pub static AT: &[Word] = &[
    word("ingress", "before the queue"),
    word("wire", "after serialisation, before propagation"),
    word("egress", "on arrival at the far end"),
];
pub static ONLY: &[Word] = &[
    word("all", "every packet"),
    word("data", "packets that carry payload"),
    word("acks", "packets without payload"),
];
pub static DIRECTIONS: &[Word] = &[
    word("both", "each direction on its own; time-driven schedules are shared"),
    word("forward", "from the link's first node to its second"),
    word("back", "from the second to the first"),
];
pub static ANCHORS: &[Word] = &[
    word("start", "the start of the run"),
    word("first-syn", "the first packet that the link sees, in either direction"),
];
pub static FLUSHES: &[Word] = &[
    word("nothing", "what waits is sent afterwards"),
    word("queue", "what waits in the queue is lost"),
    word("flight", "the queue, the packet being sent and everything in flight are lost (ns-2)"),
];
pub static PER: &[Word] = &[word("bit", "per bit"), word("byte", "per byte"), word("packet", "per packet")];

const TIME: Kind = Kind::Time(Sign::Positive);
const REORDERS: Key =
    key("reorders", Kind::Flag, "Packets may overtake each other; otherwise they wait.").default("false");

pub static SCHEDULE: Table = Table {
    noun: "a schedule",
    doc: "When a link is down. Outage k of `every` and `for` covers phase + k * every up to that plus `for`.",
    keys: &[
        key("every", TIME, "Beginning to beginning.").absent("another form"),
        key("for", TIME, "Length of each outage; shorter than `every`.").absent("another form"),
        key("phase", Kind::Time(Sign::NotNegative), "Beginning of the first outage of `every`.")
            .default("0s"),
        key("up", TIME, "Mean time up, exponentially distributed; begins up.").absent("another form"),
        key("down", TIME, "Mean time down, exponentially distributed.").absent("another form"),
        key(
            "intervals",
            Kind::List { of: &Kind::Tuple(&[Kind::Time(Sign::NotNegative), TIME]), least: 1 },
            "Beginning and length of each outage, in order: `[[\"3s\", \"200ms\"], [\"9s\", \"1s\"]]`.",
        )
        .absent("another form"),
        key("file", Kind::File, "A trace: beginning and length in seconds on each line, `#` for comments.")
            .absent("another form"),
        key("anchor", Kind::Choice(ANCHORS), "What time zero is.").default("start"),
    ],
    forms: Some(Forms {
        sets: &[&["every", "for"], &["up", "down"], &["intervals"], &["file"]],
        beside: &[("phase", "every")],
        required: true,
    }),
    variants: None,
};

const STAY: Kind = Kind::Amount(&[Unit::Packets, Unit::Time]);

pub static CHANNEL: Table = Table {
    noun: "a channel",
    doc: "What a link does to packets beyond rate and delay.",
    keys: &[
        key("name", Kind::Name, "Its name: in overrides, in the table of drops, and for its random numbers."),
        key("direction", Kind::Choice(DIRECTIONS), "On which direction of the link it acts.").default("both"),
        key("at", Kind::Choice(AT), "Where on the link it acts.").default("wire"),
        key("only", Kind::Choice(ONLY), "Which packets it looks at; others pass untouched and are not counted.").default("all"),
    ],
    forms: None,
    variants: Some(Variants {
        tag: "kind",
        noun: "channel",
        doc: "What it does.",
        default: None,
        list: &[
            variant("outage", "Intervals in which the link delivers nothing.", &[
                key("schedule", Kind::Table(&SCHEDULE), "When the link is down."),
                key("hold", Kind::Flag, "Packets are kept and delivered when the outage ends, instead of dropped.").default("false"),
                key("flush", Kind::Choice(FLUSHES), "What the beginning of an outage destroys besides.").default("nothing"),
            ]),
            Variant {
                name: "gilbert-elliott",
                doc: "Two states, good and bad, with a loss probability in each (Gilbert 1960, Elliott 1963). Say how long they \
                      last by transition probabilities, by mean loss and mean burst, or by their mean lengths.",
                keys: &[
                    key("good_to_bad", Kind::Probability, "Probability of going bad, asked before each packet.").absent("another form"),
                    key("bad_to_good", Kind::Probability, "Probability of recovering, asked before each packet; above 0.")
                        .absent("another form"),
                    key("mean_loss", Kind::Probability, "Share of packets lost (of time, where `mean_burst` is a time).")
                        .absent("another form"),
                    key("mean_burst", STAY, "Mean length of a bad period: packets (at least 1) or a time.").absent("another form"),
                    key(
                        "good",
                        STAY,
                        "Mean length of a good period, exponentially distributed: a time, or packets as ns-2's two-state model \
                         counts them, where a bad period takes every packet that it touches.",
                    )
                    .absent("another form"),
                    key("bad", STAY, "Mean length of a bad period, in the unit of `good`.").absent("another form"),
                    key("loss_good", Kind::Probability, "Loss probability in the good state.").default("0"),
                    key("loss_bad", Kind::Probability, "Loss probability in the bad state.").default("1"),
                ],
                forms: Some(Forms {
                    sets: &[&["good_to_bad", "bad_to_good"], &["mean_loss", "mean_burst"], &["good", "bad"]],
                    beside: &[],
                    required: true,
                }),
            },
            variant("bit-error", "Each bit, byte or packet is hit with the same probability; one hit drops the packet.", &[
                key("rate", Kind::Probability, "Probability of a hit."),
                key("per", Kind::Choice(PER), "What is hit; the packet's length includes framing.").default("bit"),
            ]),
            variant("random", "Each packet is lost with the same probability.", &[key(
                "loss",
                Kind::Probability,
                "Probability of a loss.",
            )]),
            variant("list", "Exactly these packets are lost.", &[key(
                "packets",
                Kind::List { of: &whole(0, u64::MAX / 2), least: 1 },
                "Their numbers, counted from 0 among those that the channel looks at, in each direction.",
            )]),
            variant("delay-step", "Extra propagation delay from given times on (a hand-over).", &[
                key(
                    "steps",
                    Kind::List { of: &Kind::Tuple(&[Kind::Time(Sign::NotNegative), Kind::Time(Sign::Any)]), least: 1 },
                    "Time and extra delay from then on, in order: `[[\"15s\", \"40ms\"], [\"30s\", \"0s\"]]`. It may be negative, \
                     down to minus the link's delay.",
                ),
                REORDERS,
            ]),
            Variant {
                name: "rate-trace",
                doc: "Packets leave at the times of a trace, which repeats; instead of the link's rate. Mahimahi's format.",
                keys: &[
                    key("file", Kind::File, "A line for each opportunity to send 1500 bytes: milliseconds, ascending.")
                        .absent("see `opportunities`"),
                    key(
                        "opportunities",
                        Kind::List { of: &whole(0, 1 << 40), least: 1 },
                        "The same, in the scenario itself: milliseconds, ascending.",
                    )
                    .absent("see `file`"),
                ],
                forms: Some(Forms { sets: &[&["file"], &["opportunities"]], beside: &[], required: true }),
            },
            variant("reorder", "Some packets are held back, so that later ones overtake them.", &[
                key("probability", Kind::Probability, "Which share is held back."),
                key("by", TIME, "For how long."),
            ]),
            variant("duplicate", "Some packets arrive more than once.", &[
                key("probability", Kind::Probability, "Which share is duplicated."),
                key("copies", whole(1, 1000), "Copies besides the packet itself.").default("1"),
            ]),
            Variant {
                name: "jitter",
                doc: "Extra delay, drawn for each packet.",
                keys: &[
                    key("spread", Kind::Choice(SPREADS), "How it is distributed.").default("exponential"),
                    key("mean", TIME, "Its mean."),
                    key("deviation", TIME, "Its standard deviation (`normal` only).").absent("needed by `normal`"),
                    REORDERS,
                ],
                forms: None,
            },
        ],
    }),
};

pub static SPREADS: &[Word] = &[
    word("uniform", "between zero and twice the mean"),
    word("exponential", "with this mean"),
    word("normal", "cut off below zero"),
];
