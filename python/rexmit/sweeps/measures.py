"""What a sweep tells of each flow at each point: columns of `runs`, their words, and how they are printed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """column: of `runs`. words: before its value. noun: what it is. kind: of quantity, as `quantities` names
    it. form: as a page prints it.
    """

    column: str
    words: str
    noun: str
    kind: str
    form: str


_GOODPUT = Measure("goodput_bps", "goodput", "goodput", "rate", "rate")
#: By the name that `--until` and figures take; the first of two names of one is the one that is told.
MEASURES = {
    "goodput": _GOODPUT,
    "throughput": _GOODPUT,
    "duration": Measure("duration_s", "took", "duration", "time", "seconds"),
    "data-packets": Measure("data_packets", "data packets", "data packets", "number", "number"),
    "resent": Measure("resent_packets", "resent", "resent packets", "number", "number"),
    "timeouts": Measure("timeouts", "timeouts", "timeouts", "number", "number"),
    "lost": Measure("lost_packets", "lost by all", "packets lost by all links", "number", "number"),
}
EVERY = tuple(dict.fromkeys(MEASURES.values()))
