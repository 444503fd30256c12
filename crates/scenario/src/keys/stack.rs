//! Keys of stacks. What a file leaves open is what today's RFCs say.

mod receive;

use super::oneway::ONEWAY;
use super::*;
use receive::RECEIVE;
use tcp::own;
use tcp::stack::{
    EcnUse, LimitedBy, PipeUnit, ProbeRule, PrrOf, ReductionBound, RestartsTimer, Retries, UndoRule,
    WindowProbe, WindowRuleKind,
};

pub(super) const SOURCE: Key =
    key("source", Kind::List { of: &Kind::Text, least: 1 }, "Where this is known from, as text.")
        .absent("nothing is said");

pub(super) const ASSUMED: Key = flag(
    "assumed",
    "Something in this section has no source and is what seems likely (`source` says what): results say so.",
)
.default("false");

pub static STACK: Table = Table {
    noun: "a stack",
    doc: "A named bundle of sender and receiver behaviour. A section or key that is not given is as in the stack that it is \
          based on, or else as the table says.",
    keys: &[
        key("name", Kind::Name, "Its name."),
        key("about", Kind::Text, "What it is.").default(""),
        SOURCE,
        key("based_on", Kind::Reference("stack"), "A stack (name or file) from which this one differs.").absent("nothing is inherited"),
        key(
            "kernel",
            Kind::Text,
            "The congestion control of today's Linux that stands for this stack on the live bench; without, rexmit's own \
             endpoint runs there. A stack that is based on this one does not have it.",
        )
        .default(""),
        flag("wire", "True for an endpoint that would interoperate; false for a one-way agent, which has only `[oneway]`.")
            .default("true"),
        key("options", Kind::Table(&OPTIONS), "What the SYN offers.").absent("as below"),
        key("detect", Kind::Table(&DETECT), "Which segments are lost.").absent("as below"),
        key("recovery", Kind::Table(&RECOVERY), "How much may be sent while repairing.").absent("RFC 6675"),
        key("congestion", Kind::Table(&CONGESTION), "How large the window is otherwise.").absent("RFC 5681"),
        key("rto", Kind::Table(&RTO), "When the timer fires.").absent("RFC 6298"),
        key("undo", Kind::Table(&UNDO), "Signs that a repair was needless, and the way back.").absent("as below"),
        key("send", Kind::Table(&SEND), "Nagle, buffer, keep-alive.").absent("as below"),
        key("receive", Kind::Table(&RECEIVE), "Acknowledgements and window.").absent("as below"),
        key("oneway", Kind::Table(&ONEWAY), "ns-2's agents; with `wire = false`.").absent("needed where `wire` is false"),
    ],
    forms: None,
    variants: None,
};

static FITTING: &[Word] = &[word("fitting", "what the largest window needs")];

pub static OPTIONS: Table = Table {
    noun: "options",
    doc: "What the SYN offers.",
    keys: &[
        key("mss", BYTES, "Largest payload of a segment without options; at most 65535 bytes.")
            .default("1460B"),
        flag(
            "announces_mss",
            "The SYN says the MSS; without, the peer takes 536 bytes (RFC 9293, section 3.7.1).",
        )
        .default("true"),
        flag("window_scale", "RFC 7323.").default("true"),
        key("window_shift", Kind::Or(FITTING, &whole(0, 14)), "The shift that is offered with it.")
            .default("fitting"),
        flag("sack", "RFC 2018.").default("true"),
        flag("timestamps", "RFC 7323.").default("true"),
        key("timestamp_tick", POSITIVE_TIME, "Tick of the timestamps' clock.").default("1ms"),
        key(
            "ecn",
            Kind::Choice(EcnUse::WORDS),
            "Whether congestion may be marked instead of dropped (RFC 3168).",
        )
        .default("off"),
        ASSUMED,
        SOURCE,
    ],
    forms: None,
    variants: None,
};

static DETECT_RULES: &[Variant] = &[
    variant("dup-acks", "DupThresh duplicate ACKs (RFC 5681, section 3.2).", &[]),
    variant(
        "rfc6675",
        "SACK scoreboard and IsLost (RFC 6675); duplicate ACKs where the peer does no SACK.",
        &[],
    ),
    variant(
        "linux-sack",
        "Like RFC 6675, counted in segments, and the first hole is lost on entry (Linux before RACK, FACK off).",
        &[],
    ),
    variant(
        "linux-fack",
        "DupThresh segments between a hole and the highest SACKed byte condemn it, SACKed or not (Linux before RACK, FACK on).",
        &[],
    ),
    variant(
        "xnu-1699",
        "SACK holes are forgotten at a timeout, DupThresh 2 behind one, and its counter restarts (OS X 10.7).",
        &[],
    ),
    variant(
        "rack",
        "By time: one sent later was delivered, and a round trip and a reordering window have passed (RACK, RFC 8985, as Linux \
         has it); duplicate ACKs where the peer does no SACK.",
        &[],
    ),
    variant(
        "fack-rack",
        "Linux-fack begins a repair; during it RACK, without a timer, finds what else is lost (Linux 4.4 to 4.14); the rest as \
         with rack.",
        &[],
    ),
    variant(
        "fack-order",
        "Linux-fack, and a repair is lost once data is SACKed that left after it (Linux 3.2 to 4.3); the rest as with rack.",
        &[],
    ),
    variant(
        "python",
        "A class of one's own in Python: one that counts is asked at ACKs with duplicates or SACKed data, one that goes by time at all (docs/own-rules.md).",
        own::KEYS,
    ),
];

pub static DETECT: Table = Table {
    noun: "detection",
    doc: "Which segments are lost?",
    keys: &[
        key("dupthresh", whole(1, 1000), "Duplicate ACKs, or their worth in SACK, that prove a loss.")
            .default("3"),
        flag("limited_transmit", "New segments on the first two duplicate ACKs (RFC 3042).").default("true"),
        flag(
            "tail_loss_probe",
            "A probe after two round trips without an ACK (TLP, RFC 8985, section 7); with rules rack, fack-rack and fack-order.",
        )
        .default("false"),
        key("max_ack_delay", NOT_NEGATIVE_TIME, "A probe waits so much longer where one segment is out.")
            .default("200ms"),
        key("timer_slack", NOT_NEGATIVE_TIME, "The timers of probes and of reordering wait so much longer.")
            .default("0s"),
        key("probe", Kind::Choice(ProbeRule::WORDS), "After what wait a probe leaves.").default("rfc8985"),
        flag(
            "early_retransmit",
            "With fewer than four segments out and nothing to send, one less than all of them SACKed proves a loss, a quarter of a \
             round trip later (RFC 5827); with rules fack-rack and fack-order.",
        )
        .default("false"),
        ASSUMED,
        SOURCE,
    ],
    forms: None,
    variants: Some(Variants {
        tag: "rule",
        noun: "detection rule",
        doc: "The rule.",
        default: Some("rfc6675"),
        list: DETECT_RULES,
    }),
};

pub static AFTER_TIMEOUT: &[Word] = &[
    word("go-back-n", "everything again from SND.UNA on, as the window grows (BSD, ns-3)"),
    word(
        "mark-lost",
        "what is not SACKed is marked lost and repaired in slow start (RFC 6675, section 5.1; Linux)",
    ),
    word(
        "repairs-only",
        "like mark-lost, and no new data until all that was sent is acknowledged (Linux 2.2)",
    ),
    word("fast-recovery", "fast recovery instead of slow start (paper wireless)"),
];
pub static NS320: &[Word] =
    &[word("tahoe", "TcpTahoe"), word("reno", "TcpReno"), word("newreno", "TcpNewReno")];

pub static RECOVERY: Table = Table {
    noun: "recovery",
    doc: "How much may be sent while repairing?",
    keys: &[
        key("after_timeout", Kind::Choice(AFTER_TIMEOUT), "What follows a timeout.").default("mark-lost"),
        key("pipe", Kind::Choice(PipeUnit::WORDS), "What is believed to be in the network is counted in this.")
            .default("bytes"),
        flag(
            "rescue",
            "When nothing is known lost and nothing new can be sent, what is not SACKed goes again (RFC 6675, section 4, \
             NextSeg (3) and (4)).",
        )
        .default("true"),
        flag("keeps_sacks", "What was SACKed is still known after a timeout.").default("true"),
        key(
            "restarts_timer",
            Kind::Choice(RestartsTimer::WORDS),
            "Which repair, besides the timer's own, sets the timer anew.",
        )
        .default("none"),
        flag("timeout_reduces_again", "A timeout within a recovery reduces ssthresh once more; without, with rule rack only.")
            .default("true"),
        key(
            "bound",
            Kind::Choice(ReductionBound::WORDS),
            "How much rule prr sends once less than ssthresh is in flight.",
        )
        .default("safe-ack"),
        ASSUMED,
        SOURCE,
    ],
    forms: None,
    variants: Some(Variants {
        tag: "rule",
        noun: "recovery rule",
        doc: "The rule.",
        default: Some("pipe"),
        list: &[
            variant("none", "Tahoe: fast retransmit, then slow start from one segment.", &[]),
            variant("reno", "Inflation, over at the first ACK that advances (RFC 5681, section 3.2).", &[]),
            variant(
                "newreno",
                "Partial ACKs retransmit and deflate (RFC 6582).",
                &[flag(
                    "impatient",
                    "The timer is restarted at the first partial ACK only (RFC 6582, section 4).",
                )
                .default("true")],
            ),
            variant("pipe", "As much as the pipe has room for (RFC 6675).", &[]),
            variant(
                "prr",
                "Proportional rate reduction (RFC 9937).",
                &[key("of", Kind::Choice(PrrOf::WORDS), "What is reduced in proportion.").default("flight")],
            ),
            variant("rate-halving", "cwnd down by one for every second ACK (Linux before 3.2).", &[]),
            variant(
                "ns3.20",
                "ns-3.20's TCP, to the byte.",
                &[key("variant", Kind::Choice(NS320), "Which class.")],
            ),
            variant("python", "A class of one's own in Python (docs/own-rules.md).", own::KEYS),
        ],
    }),
};

pub static SLOW_START: Table = Table {
    noun: "slow start",
    doc: "How the window grows below ssthresh.",
    keys: &[],
    forms: None,
    variants: Some(Variants {
        tag: "kind",
        noun: "slow start",
        doc: "The rule.",
        default: None,
        list: &[
            variant(
                "bytes",
                "By the bytes that each ACK acknowledges (RFC 5681 with RFC 3465).",
                &[key("limit", whole(0, 1_000_000), "At most so many SMSS at each ACK; 0 is no limit.")
                    .default("2")],
            ),
            variant("per-ack", "One segment at each ACK, however much it acknowledges.", &[]),
            variant(
                "hystart++",
                "Like bytes, and conservative once the RTT grows, for five round trips at most (HyStart++, RFC 9406).",
                &[key("limit", whole(0, 1_000_000), "At most so many SMSS at each ACK; 0 is no limit.")
                    .default("8")],
            ),
        ],
    }),
};

pub static WINDOW_WORDS: &[Word] = &[word("rfc3390", "min(4 SMSS, max(2 SMSS, 4380 bytes))")];
pub static UNBOUNDED: &[Word] = &[word("unbounded", "as large as can be (RFC 5681, section 3.1)")];
pub static CONGESTION: Table = Table {
    noun: "congestion control",
    doc: "How large is the window otherwise?",
    keys: &[
        key(
            "initial_window",
            Kind::Or(WINDOW_WORDS, &Kind::Amount(&[Unit::Smss])),
            "The window before the first ACK of data; ten is RFC 6928.",
        )
        .default("10 SMSS"),
        key("initial_ssthresh", Kind::Or(UNBOUNDED, &BYTES), "ssthresh before the first loss.")
            .default("unbounded"),
        key("slow_start", Kind::Table(&SLOW_START), "How the window grows below ssthresh.")
            .absent("bytes, limit 2"),
        flag(
            "restart_after_idle",
            "Back to the initial window after an RTO of silence (RFC 5681, section 4.1).",
        )
        .default("true"),
        flag(
            "grows_only_when_limited",
            "The window grows only while it is what limits sending (RFC 7661, section 3; Linux).",
        )
        .default("true"),
        key("limited_by", Kind::Choice(LimitedBy::WORDS), "When is it the window that limits?")
            .default("now"),
        ASSUMED,
        SOURCE,
    ],
    forms: None,
    variants: Some(Variants {
        tag: "rule",
        noun: "window rule",
        doc: "The rule.",
        default: Some("aimd"),
        list: WindowRuleKind::VARIANTS,
    }),
};

pub static RTO_RULES: &[Word] = &[
    word("rfc6298", "SRTT + 4 RTTVAR (RFC 6298)"),
    word(
        "linux",
        "mdev_max over an RTT; about SRTT + 200 ms at least; back-off cleared at a sample (Linux 2.4 and later)",
    ),
    word(
        "linux-microseconds",
        "the same in microseconds, of the segments' own times, of SACKed ones too, and of timestamps only where those are \
         ambiguous; the timer runs in the clock's grain (Linux since 4.x)",
    ),
    word("linux-2.2", "the back-off survives while retransmissions are outstanding (paper rto)"),
    word("linux-2.2-cured", "cleared when the segment that earned it is acknowledged (paper rto)"),
    word("ns3.20", "ns-3.20's RttMeanDeviation"),
    word("bsd", "integers on a slow timer's ticks"),
];

pub static RTO: Table = Table {
    noun: "the RTO",
    doc: "When does the timer fire?",
    keys: &[
        key("rule", Kind::Choice(RTO_RULES), "The rule.").default("rfc6298"),
        key("initial", POSITIVE_TIME, "Before the first RTT sample.").default("1s"),
        key("min", NOT_NEGATIVE_TIME, "Smallest.").default("1s"),
        key("max", POSITIVE_TIME, "Largest, back-off included.").default("60s"),
        key("granularity", NOT_NEGATIVE_TIME, "Grain of the clock; 0s is exact.").default("0s"),
        key("slop", NOT_NEGATIVE_TIME, "Added to every time-out.").default("0s"),
        flag(
            "wheel",
            "Timers end at ticks of the grain: waits of 63 ticks and more at every eighth, of 504 at every 64th, and so on (Linux \
             since 4.8: kernel/time/timer.c).",
        )
        .default("false"),
        ASSUMED,
        SOURCE,
    ],
    forms: None,
    variants: None,
};

pub static UNDO: Table = Table {
    noun: "undo",
    doc: "Signs that a repair was needless, and the way back.",
    keys: &[
        flag("f_rto", "RFC 5682.").default("false"),
        flag("eifel", "RFC 3522 with the response of RFC 4015; needs timestamps.").default("false"),
        flag("dsack", "All retransmissions were reported as duplicates (RFC 2883, RFC 3708).")
            .default("false"),
        flag(
            "bad_retransmit_window",
            "An ACK within an SRTT of the first timeout proves it needless (OS X 10.7).",
        )
        .default("false"),
        key("rule", Kind::Choice(UndoRule::WORDS), "How the signs are read, and what is taken back.")
            .default("rfc"),
        ASSUMED,
        SOURCE,
    ],
    forms: None,
    variants: None,
};

pub(super) static UNLIMITED: &[Word] = &[word("unlimited", "no limit")];
pub static OFF: &[Word] = &[word("off", "never")];

pub static SEND: Table = Table {
    noun: "sending",
    doc: "What the sender does apart from loss recovery.",
    keys: &[
        flag("nagle", "RFC 9293, section 3.7.4.").default("true"),
        key("buffer", Kind::Or(UNLIMITED, &BYTES), "Most that was written and is not yet acknowledged.")
            .default("unlimited"),
        key("max_burst", Kind::Or(UNLIMITED, &whole(1, 1_000_000)), "Most new segments sent at one ACK.")
            .default("unlimited"),
        flag(
            "pacing",
            "Data leaves in bursts of about a millisecond, at twice cwnd an SRTT in slow start and 1.2 times after it (Linux: \
             SO_MAX_PACING_RATE or fq; tcp_pacing_ss_ratio, tcp_pacing_ca_ratio). Window rules that have a rate of their own \
             pace anyway.",
        )
        .default("false"),
        flag(
            "offload",
            "Segments leave in packets of several, about a millisecond's worth, and a packet that could be fuller waits, for a \
             millisecond at most (Linux: tcp_tso_should_defer, tcp_tso_autosize).",
        )
        .default("false"),
        key("keepalive_idle", Kind::Or(OFF, &POSITIVE_TIME), "Silence before the first keep-alive.")
            .default("off"),
        key("keepalive_interval", POSITIVE_TIME, "From one keep-alive to the next.").default("75s"),
        key("keepalive_probes", whole(1, 1000), "Unanswered keep-alives that end the connection.")
            .default("9"),
        flag(
            "thin_linear_timeouts",
            "With fewer than four segments out, and after the first slow start, the first six timeouts in a row do not back off \
             (Linux: tcp_thin_linear_timeouts).",
        )
        .default("false"),
        key("window_probe", Kind::Choice(WindowProbe::WORDS), "What asks whether a closed window has opened.")
            .default("byte"),
        key("max_retries", whole(0, 1000), "Timeouts in a row that end the connection; 0 never does.")
            .default("15"),
        key("retries", Kind::Choice(Retries::WORDS), "What `max_retries` stands for.").default("count"),
        ASSUMED,
        SOURCE,
    ],
    forms: None,
    variants: None,
};
