"""Answers of captures beside the truth: one transfer seen from the sender, the receiver and both ends."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import rexmit as rx
from situation import evidence, oracle
from situation.kinds import kind_of

Json = dict[str, Any]

PLACES = ("sender", "receiver", "both")
#: Where a capture is taken: at both ends.
RECORD = {"capture": ["client", "server"], "snap": "120B"}
#: Kinds of which one end at least shows nothing that tells: *cannot tell* is right there. What never
#: arrived leaves no trace at the other host; a queue that other hosts' traffic fills does not tell how long
#: it is when it never empties.
UNDECIDABLE = frozenset(
    {"requests-too-large", "short-upload-too-large", "turns-behind-download", "turns-behind-upload"}
)
#: How far seconds may be from the truth, as a share of it.
NEAR = 0.10


@dataclass(frozen=True)
class Scored:
    """What was said of one transfer from one place. said: None where no answer was given."""

    kind: str
    seed: int
    place: str
    truth: oracle.Truth
    said: Json | None
    #: The last packet of the capture, or the later one of two, in the run's seconds: a capture ends there,
    #: and for how long anybody went on waiting does not show.
    ends_s: float = float("inf")

    @property
    def cause(self) -> str:
        return self.said["cause"] if self.said else "cannot-tell"

    @property
    def certainty(self) -> str:
        return self.said["certainty"] if self.said else "open"

    @property
    def is_right(self) -> bool:
        if self.cause == "cannot-tell":
            return self.kind in UNDECIDABLE
        if self.cause != self.truth.cause:
            return False
        return self.said is not None and self.truth.by in (None, self.said["by"])

    @property
    def has_seconds(self) -> bool:
        """The seconds of the answer are those of the truth."""
        if not self.said:
            return False
        true = self.truth.until(self.ends_s).get(self.truth.cause, 0.0)
        said = sum(c["seconds"] for c in self.said["causes"] if c["cause"] == self.truth.cause)
        return abs(said - true) <= NEAR * true

    def __str__(self) -> str:
        causes = self.said["causes"][:3] if self.said else []
        shares = ", ".join(f"{c['cause']} {c['seconds']:.2f} s" for c in causes)
        by = f" ({self.said['by']})" if self.said and self.said["by"] else ""
        said = f"{self.certainty}: {self.cause}{by}: {shares}"
        return f"{self.kind} --seed {self.seed}, {self.place}: {self.truth}; said {said}"


def scored(name: str, seed: int) -> list[Scored]:
    """Runs a transfer once and asks from each place. Top level, so that another process can do it."""
    kind = kind_of(name)
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        run = rx.run(kind.drawn(seed).scenario(name, seed, RECORD), tables=evidence.TABLES, captures=at)
        read = evidence.read(run)
        truth = oracle.explain(read)
        client, server = (str(at / f"{node}.pcapng") for node in RECORD["capture"])
        begins = truth.moments[0].begin_ns / 1e9 if truth.moments else 0.0
        near = [answer(rx.capture(file), begins) for file in (client, server)]
        uploads = _sent(near[0][0], "client") >= _sent(near[1][0], "server")
        pair = (client, server) if uploads else (server, client)
        both, _ = answer(rx.capture(pair[0], receiver=pair[1]), begins)
        ends = near if uploads else near[::-1]
        said = [*ends, (both, max(end for _, end in ends))]
        return [
            Scored(name, seed, place, truth, of_it, end)
            for place, (of_it, end) in zip(PLACES, said, strict=True)
        ]


def answer(capture: rx.Capture, begins_s: float) -> tuple[Json | None, float]:
    """What is said of the connection that began then, and when the capture ends."""
    with tempfile.TemporaryFile() as file:
        capture.write_json(file.fileno())
        file.seek(0)
        whole = json.load(file)
    origin = datetime.fromisoformat(whole["capture"]["start"]) - datetime.fromtimestamp(0, UTC)
    answers = [flow["answer"] for flow in whole["flows"] if flow["answer"]]
    begins = origin.total_seconds()
    nearest = min(answers, key=lambda a: abs(begins + a["start_s"] - begins_s), default=None)
    return nearest, begins + (whole["capture"]["span_s"] or 0.0)


def _sent(answer: Json | None, side: str) -> int:
    return answer[f"{side}_bytes"] if answer else 0
