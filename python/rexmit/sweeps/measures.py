"""What a sweep tells of each flow at each point: columns of `runs`, their words, and how they are printed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """column: of `runs`. kind: of quantity, as `quantities` names it. form: as a page prints it."""

    column: str
    words: str
    kind: str
    form: str


_GOODPUT = Measure("goodput_bps", "goodput", "rate", "rate")
#: By the name that `--until` and figures take; the first of two names of one is the one that is told.
MEASURES = {
    "goodput": _GOODPUT,
    "throughput": _GOODPUT,
    "duration": Measure("duration_s", "took", "time", "seconds"),
    "data-packets": Measure("data_packets", "data packets", "number", "number"),
    "resent": Measure("resent_packets", "resent", "number", "number"),
    "timeouts": Measure("timeouts", "timeouts", "number", "number"),
    "lost": Measure("lost_packets", "lost", "number", "number"),
}
EVERY = tuple(dict.fromkeys(MEASURES.values()))
