//! The receiver half: when it acknowledges, what window it advertises.

use super::super::*;
use super::{ASSUMED, OFF, SOURCE};

const EVERY_KEYS: &[Key] = &[
    key("segments", whole(1, 1000), "Full segments.").default("2"),
    key("timeout", POSITIVE_TIME, "After the first that is not acknowledged.").default("200ms"),
];

pub static DELAYED_ACK: Table = Table {
    noun: "an ACK policy",
    doc: "When data is acknowledged.",
    keys: &[],
    forms: None,
    variants: Some(Variants {
        tag: "kind",
        noun: "ACK policy",
        doc: "The policy.",
        default: None,
        list: &[
            variant("off", "Every segment at once.", &[]),
            variant(
                "every",
                "Every n-th full segment, or after a while; gaps at once (RFC 5681, section 4.2).",
                EVERY_KEYS,
            ),
            variant("ns3.20", "Like every, but the first segment of a connection at once.", EVERY_KEYS),
            variant(
                "quick",
                "Like every second, at once at the beginning and after gaps; the time-out adapts (Linux).",
                &[
                    key("segments", whole(0, 1000), "Segments acknowledged at once at the beginning.")
                        .default("16"),
                    key("min", POSITIVE_TIME, "Smallest time-out.").default("40ms"),
                    key("max", POSITIVE_TIME, "Largest time-out.").default("200ms"),
                    key(
                        "compress",
                        Kind::Or(OFF, &POSITIVE_TIME),
                        "Behind a hole, where SACK is in use, ACKs from the fourth on wait for a twentieth of the round trip, so \
                         long at most (Linux since 4.18: `tcp_comp_sack_delay_ns`).",
                    )
                    .default("off"),
                    key(
                        "pushed",
                        Kind::Or(OFF, &POSITIVE_TIME),
                        "Once all is read a full segment with PSH is acknowledged, as a shorter one is (Linux since 6.6): at once, but \
                         the application reads so long after it last did at the earliest.",
                    )
                    .default("off"),
                    flag("growing", "What makes the window grow is acknowledged at once (Linux).").default("false"),
                ],
            ),
        ],
    }),
};

pub static WINDOW: Table = Table {
    noun: "a window",
    doc: "The window that is advertised.",
    keys: &[],
    forms: None,
    variants: Some(Variants {
        tag: "kind",
        noun: "window",
        doc: "The policy.",
        default: None,
        list: &[
            variant("fixed", "A buffer of one size.", &[key("buffer", BYTES, "Its size.")]),
            variant(
                "auto-tuned",
                "Dynamic right-sizing (Fisk and Feng 2001): twice what was read in a round trip.",
                &[
                    key("initial", BYTES, "At the beginning.").default("65535B"),
                    key("untuned", BYTES, "Up to here two segments for each that arrives (Linux).")
                        .absent("as `initial`"),
                    key("max", BYTES, "At most.").default("4MiB"),
                    flag(
                        "ahead",
                        "And twice as much more as reading grew by since the last round trip, so that slow start is not held up; \
                         room comes by two segments for each that arrives, and what reading leaves in the queue is taken off \
                         (Linux since 6.16).",
                    )
                    .default("false"),
                ],
            ),
            variant(
                "linux-2.6",
                "Linux 2.6.32's: the buffer counts memory, three quarters of it for payload; the window climbs by two \
                 segments for each that arrives.",
                &[
                    key("buffer", BYTES, "Memory at the beginning (`tcp_rmem[1]`).").default("87380B"),
                    key("max", BYTES, "Memory at most (`tcp_rmem[2]`).").default("4MiB"),
                    key(
                        "segment_memory",
                        BYTES,
                        "What a received segment takes of it: the card's buffer and the kernel's header (truesize).",
                    )
                    .default("1832B"),
                    flag("moderated", "Reading makes the buffer larger (`tcp_moderate_rcvbuf`).").default("true"),
                ],
            ),
        ],
    }),
};

pub static RECEIVE: Table = Table {
    noun: "receiving",
    doc: "The receiver half.",
    keys: &[
        key("delayed_ack", Kind::Table(&DELAYED_ACK), "When data is acknowledged.")
            .absent("every, 2 segments, 200 ms"),
        flag("dsack", "Reports duplicates (RFC 2883).").default("true"),
        flag("sack_fin", "Reports a FIN behind a hole in a SACK block, as the byte that it is in the sequence (RFC 9293, section 3.4; Linux: end_seq in tcp_data_queue_ofo).").default("true"),
        key("window", Kind::Table(&WINDOW), "The window that is advertised.")
            .absent("auto-tuned, 65535 bytes to 4 MiB"),
        ASSUMED,
        SOURCE,
    ],
    forms: None,
    variants: None,
};
