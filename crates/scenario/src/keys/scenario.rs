//! Keys of a scenario, its flows, presets and records.

use super::link::{ARQ_KEY, DELAY, FRAMING, QUEUE_KEY, RATE};
use super::node::NODE;
use super::programs::READER;
use super::*;

pub static SCENARIO: Table = Table {
    noun: "a scenario",
    doc: "One file says everything about a run.",
    keys: &[
        key("name", Kind::Name, "Name of the scenario, and of a run's folder."),
        key("about", Kind::Text, "What it shows, and where its figures come from.").default(""),
        key("source", Kind::List { of: &Kind::Text, least: 1 }, "Where its figures come from.")
            .absent("nothing is said"),
        key("duration", Kind::Time(Sign::Positive), "Length of the run.")
            .absent("the run ends when all flows have ended"),
        key("seed", whole(0, i64::MAX as u64), "Seed of all random numbers.").default("1"),
        key("node", Kind::Tables(&NODE), "Hosts and routers.").absent("a preset names them"),
        key("link", Kind::Tables(&LINK), "Links between nodes.").absent("a preset makes them"),
        key("chain", Kind::Table(&CHAIN), "Preset: nodes in a row.").absent("no chain"),
        key("dumbbell", Kind::Table(&DUMBBELL), "Preset: hosts at both sides of a bottleneck.")
            .absent("no dumbbell"),
        key("flow", Kind::Tables(&FLOW), "Who sends what to whom."),
        key("live", Kind::Table(&LIVE), "What only the live bench reads.").absent("as below"),
        key("record", Kind::Table(&RECORD), "What is written down.").absent("nothing is recorded"),
        key(
            "stack",
            Kind::Tables(&STACK),
            "Stacks of this scenario's own, as in a stack file; they may be named like built-in ones.",
        )
        .absent("built-in stacks and files only"),
    ],
    forms: None,
    variants: None,
};

pub static CHAIN: Table = Table {
    noun: "a chain",
    doc: "Nodes in a row, with a link between neighbours that is named after both: `pc-bridge`. All links are alike; links that \
          differ are written as `[[link]]`.",
    keys: &[
        key("nodes", Kind::List { of: &Kind::Name, least: 2 }, "Names of the nodes, in order."),
        RATE,
        DELAY,
        FRAMING,
        QUEUE_KEY,
        ARQ_KEY,
        key(
            "channel",
            Kind::Tables(&CHANNEL),
            "As a link has; on the last link, forward being along the chain.",
        )
        .absent("no channels"),
    ],
    forms: None,
    variants: None,
};

pub static DUMBBELL: Table = Table {
    noun: "a dumbbell",
    doc: "`left` hosts, router `west`, link `bottleneck`, router `east`, `right` hosts. With one pair the hosts are `left` and \
          `right`; with several `left-1`, `right-1` and so on, and a flow from `left` to `right` spreads its sources over the pairs.",
    keys: &[
        key("pairs", whole(1, 1_000_000), "Hosts at each side.").default("1"),
        key(
            "bottleneck",
            Kind::Table(&PRESET_LINK),
            "The link between the routers; forward is from west to east.",
        ),
        key(
            "access",
            Kind::Table(&PRESET_LINK),
            "The links between hosts and routers, named like their hosts; forward is towards \
             the router.",
        )
        .absent("1 Gbps, no delay"),
    ],
    forms: None,
    variants: None,
};

static PRESET_LINK: Table = Table {
    noun: "a preset's link",
    doc: "A link as in `[[link]]`, without a name and nodes.",
    keys: &[
        RATE,
        DELAY,
        FRAMING,
        QUEUE_KEY,
        ARQ_KEY,
        key("forward", Kind::Table(&super::link::DIRECTION), "What differs in forward direction.")
            .absent("nothing differs"),
        key("back", Kind::Table(&super::link::DIRECTION), "What differs in back direction.")
            .absent("nothing differs"),
        key("channel", Kind::Tables(&CHANNEL), "As a link has.").absent("no channels"),
    ],
    forms: None,
    variants: None,
};

pub static TRANSPORTS: &[Word] =
    &[word("tcp", "a stack at each end"), word("datagram", "plain packets that nobody acknowledges")];

pub static FLOW: Table = Table {
    noun: "a flow",
    doc: "A sender and a receiver, or several such pairs.",
    keys: &[
        key("name", Kind::Name, "Its name, in overrides and tables."),
        key("from", Kind::Reference("node"), "The node that opens the connection and sends."),
        key("to", Kind::Reference("node"), "The node that receives."),
        key("count", whole(1, 1_000_000), "Number of sources, each with a connection of its own.")
            .default("1"),
        key("start", Kind::Time(Sign::NotNegative), "When the first source begins.").default("0s"),
        key("start_spacing", Kind::Time(Sign::Positive), "Time from one source to the next.")
            .absent("all begin at `start`"),
        key(
            "start_within",
            Kind::Time(Sign::Positive),
            "Sources begin at random times in an interval of this length.",
        )
        .absent("all begin at `start`"),
        key("stop", Kind::Time(Sign::Positive), "From here on the application writes nothing.")
            .absent("it goes on"),
        key("transport", Kind::Choice(TRANSPORTS), "What carries the bytes.").default("tcp"),
        key(
            "stack",
            Kind::Reference("stack"),
            "The sender's stack: a name (`rexmit stacks` lists them) or a file.",
        )
        .absent("needed by tcp"),
        key("receiver", Kind::Reference("stack"), "The receiver's stack.").absent("like the sender's"),
        key(
            "packet",
            Kind::Amount(&[Unit::Bytes]),
            "Bytes of a datagram, headers included (28 for UDP over IPv4).",
        )
        .absent("needed by datagram"),
        key("workload", Kind::Table(&WORKLOAD), "What the application sends."),
        key("reader", Kind::Table(&READER), "How the program at `to` reads.")
            .absent("all data, as it arrives"),
        key("back_reader", Kind::Table(&READER), "How the program at `from` reads the data that comes back.")
            .absent("all data, as it arrives"),
    ],
    forms: Some(Forms { sets: &[&["start_spacing"], &["start_within"]], beside: &[], required: false }),
    variants: None,
};

const MESSAGE: Key =
    key("message", Kind::Amount(&[Unit::Bytes]), "Bytes that the application writes at once.")
        .absent("needed by tcp; a datagram flow writes packets");
const SHAPE: Key = key(
    "shape",
    number_above(1.0, 100.0),
    "Shape of the Pareto distribution; above 1, so that there is a mean.",
)
.absent("needed by pareto");
const DISTRIBUTION: Key = key("distribution", Kind::Choice(DISTRIBUTIONS), "How lengths of time are drawn.");

pub static DISTRIBUTIONS: &[Word] = &[
    word("constant", "always the mean"),
    word("exponential", "exponentially"),
    word("pareto", "by Pareto's law, which is heavy-tailed"),
];

pub static WORKLOAD: Table = Table {
    noun: "a workload",
    doc: "What the application sends, and when.",
    keys: &[],
    forms: None,
    variants: Some(Variants {
        tag: "kind",
        noun: "workload",
        doc: "Which workload.",
        default: None,
        list: &[
            variant("endless", "There is always something to send.", &[]),
            variant(
                "file",
                "So many bytes, then the connection is closed.",
                &[key("size", Kind::Amount(&[Unit::Bytes]), "Bytes of the file.")],
            ),
            variant(
                "constant-rate",
                "Messages of one size at a steady rate.",
                &[key("rate", Kind::Rate, "Bits of messages per second."), MESSAGE],
            ),
            variant(
                "on-off",
                "Periods of constant rate and of silence.",
                &[
                    key("rate", Kind::Rate, "Bits of messages per second while on."),
                    MESSAGE,
                    key("on", Kind::Time(Sign::Positive), "Mean length of an on period."),
                    key("off", Kind::Time(Sign::Positive), "Mean length of an off period."),
                    DISTRIBUTION.default("exponential"),
                    SHAPE,
                ],
            ),
            variant(
                "request-response",
                "The sender asks, the receiver answers, the sender thinks.",
                &[
                    key("request", Kind::Amount(&[Unit::Bytes]), "Bytes of a request."),
                    key("response", Kind::Amount(&[Unit::Bytes]), "Bytes of the answer."),
                    key(
                        "think",
                        Kind::Time(Sign::NotNegative),
                        "Mean pause between an answer and the next request.",
                    )
                    .default("0s"),
                    DISTRIBUTION.default("constant"),
                    SHAPE,
                    key("requests", whole(1, u64::MAX / 2), "How many.").absent("it goes on"),
                ],
            ),
            variant(
                "command",
                "Programs that run in the hosts; on the live bench only. `{client}` and `{server}` in them stand for the hosts' \
                 addresses. The flow ends with its client.",
                &[
                    key("client", Kind::Text, "What a shell runs at `from`."),
                    key("server", Kind::Text, "What a shell runs at `to`, before the client.")
                        .absent("nothing; something listens there already"),
                ],
            ),
        ],
    }),
};

const SYSCTL: Key = key(
    "sysctl",
    Kind::List { of: &Kind::Text, least: 0 },
    "Settings of the kernel, `net.ipv4.tcp_ecn=1`, in the hosts' namespaces.",
)
.absent("as the kernel has them");

pub static LIVE: Table = Table {
    noun: "the live bench",
    doc: "What only the live bench reads; the simulator does not look at it.",
    keys: &[
        SYSCTL,
        key("host", Kind::Tables(&LIVE_HOST), "What differs at one host.").absent("nothing differs"),
        key(
            "real_time",
            Kind::Flag,
            "The bridge has real-time priority and idle cores do not halt, where that is allowed.",
        )
        .default("true"),
    ],
    forms: None,
    variants: None,
};

static LIVE_HOST: Table = Table {
    noun: "a host of the live bench",
    doc: "What differs at one host.",
    keys: &[key("name", Kind::Reference("node"), "Which node."), SYSCTL],
    forms: None,
    variants: None,
};

pub static RECORD: Table = Table {
    noun: "the record",
    doc: "What is written down; what is not asked for costs nothing.",
    keys: &[
        key("capture", Kind::FlagOrNames("node"), "Captures (pcapng) at these nodes; true for all.")
            .default("false"),
        key("snap", Kind::Amount(&[Unit::Bytes]), "Bytes kept of each captured packet, 54 or more.")
            .absent("all"),
        key("state", Kind::FlagOrNames("flow"), "The senders' state of these flows at every change.")
            .default("false"),
        key("queues", Kind::FlagOrNames("link"), "Occupancy and waiting times of these links' queues.")
            .default("false"),
        key("drops", Kind::Flag, "Every lost packet with its cause.").default("false"),
        key("retransmissions", Kind::Flag, "The truth about each transmission of data that is not new.")
            .default("false"),
        key("packets", Kind::Flag, "Every packet that a host sends or receives.").default("false"),
        key("applications", Kind::Flag, "When programs write, read and close.").default("false"),
        key("held", Kind::Flag, "Every packet that a channel kept back or made late.").default("false"),
        key("blocked", Kind::Flag, "What keeps senders from sending more, at every change.").default("false"),
    ],
    forms: None,
    variants: None,
};
