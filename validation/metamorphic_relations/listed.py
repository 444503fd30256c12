"""All relations: one entry each, with what may become less certain."""

from __future__ import annotations

from metamorphic_relations import headers, offloads, times
from metamorphic_relations.relation import Relation

RELATIONS = (
    Relation(
        "handshake",
        headers.without_handshake,
        "The handshake shows the scale of windows, the segment size and the first round trip.",
        not_of=frozenset({"handshake"}),
    ),
    Relation(
        "snap-fixed",
        headers.snapped_behind_fixed_header,
        "Options are the scale of windows, the segment size, SACK and timestamps.",
    ),
    Relation("snap-options", headers.snapped_behind_options),
    Relation(
        "timestamps",
        headers.without_timestamps,
        "Timestamps show which copy was acknowledged, and what a sender had heard.",
    ),
    Relation("sack", headers.without_sack, "SACK shows what arrived behind a lost segment."),
    Relation(
        "doubled",
        times.doubled,
        "Where identifications are zero, a copy of the capture looks like a packet that was sent again.",
    ),
    Relation("other-flow", times.with_other_flow, counts_all=True),
    Relation(
        "id-zero",
        headers.ids_zero,
        "Identifications tell packets that were captured twice, and those that the capture lacks.",
    ),
    Relation("id-random", headers.ids_random, "Identifications in a row show packets that are missing."),
    Relation("id-counter", headers.ids_counted),
    Relation("tso", offloads.merged_at_sender, "Times of single segments are missing."),
    Relation("gro", offloads.merged_at_receiver, "Times of single segments are missing."),
    Relation("clock", times.clock_shifted),
    Relation("rotation", times.rotated, counts_all=True),
    Relation(
        "anonymised",
        headers.anonymised,
        "Without a handshake the ports alone say which host is the server.",
    ),
    Relation("cut", times.cut_off, "What the rest of the transfer shows of the path is missing."),
)
