"""What rexmit says of a capture, connection by connection, and how two answers differ."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import rexmit as rx
from metamorphic_relations.packet import Ends, end_of

SURE = ("open", "likely", "known")
KEPT, LESS_CERTAIN, CHANGED = "kept", "less certain", "changed"
#: How far seconds may move, as a share of them, and which share of the time has to keep its owner.
NEAR = 0.05
Json = dict[str, Any]
#: Begin and end of a stretch, and the seconds in it by host and what it waited for.
Stretch = tuple[int, int, dict[tuple[str, str], float]]


@dataclass
class Answer:
    """The answer about one connection."""

    cause: str
    certainty: str
    seconds: float
    #: The address and port of the host that owns the time, or an empty string.
    host: str
    #: The first packet of the capture and of the connection, ns since 1970.
    origin: int
    begin: int
    round_trip_s: float
    causes: list[Json]
    waits: list[Stretch] = field(default_factory=list)

    @property
    def level(self) -> int:
        return 0 if self.cause == "cannot-tell" else SURE.index(self.certainty)

    def __str__(self) -> str:
        return f"{self.certainty} {self.cause} {self.seconds:.3f} s"


@dataclass
class Said:
    """Everything that rexmit says of a capture."""

    flows: list[Json]
    #: Of each pair of ends its connections, the earliest first.
    answers: dict[Ends, list[Answer]]


def asked(parts: list[Path], waits: bool = False) -> Said:
    """What rexmit says of a file, or of a rotation. waits: with what each stretch of time waited for."""
    try:
        capture = rx.capture(*parts, threads=1)
    except rx.CaptureError:
        return Said([], {})
    with tempfile.TemporaryFile() as file:
        capture.write_json(file.fileno())
        file.seek(0)
        flows = json.load(file)["flows"]
    stretches = _stretches(capture) if waits else {}
    found: dict[int, tuple[Ends, Answer]] = {}
    for flow in flows:
        said = flow["answer"]
        if said is None:
            continue
        one, other = end_of(flow["sender"]), end_of(flow["receiver"])
        path = (flow["path"] or {}).get("largest_rtt_s") or 0.0
        if said["connection"] in found:
            answer = found[said["connection"]][1]
            answer.round_trip_s = max(answer.round_trip_s, path)
        else:
            answer = Answer(
                said["cause"],
                said["certainty"],
                said["seconds"] or 0.0,
                said[said["by"]] if said["by"] else "",
                capture.origin_ns,
                capture.origin_ns + round(said["start_s"] * 1e9),
                max(said["base_rtt_s"] or 0.0, path),
                said["causes"],
            )
            found[said["connection"]] = ((one, other) if one < other else (other, one), answer)
        if flow["flow"] in stretches:
            answer.waits = stretches[flow["flow"]]
    answers: dict[Ends, list[Answer]] = defaultdict(list)
    for ends, answer in sorted(found.values(), key=lambda pair: pair[1].begin):
        answers[ends].append(answer)
    return Said(flows, dict(answers))


def _stretches(capture: rx.Capture) -> dict[int, list[Stretch]]:
    found: dict[int, dict[tuple[int, int], dict[tuple[str, str], float]]] = defaultdict(dict)
    for row in capture.waits.to_arrow().to_pylist():
        span = _ns(row["start"]), _ns(row["end"])
        sums = found[row["flow"]].setdefault(span, defaultdict(float))
        sums[row["host"], row["waits_for"]] += row["time_s"]
    return {flow: [(a, b, sums) for (a, b), sums in sorted(spans.items())] for flow, spans in found.items()}


def _ns(time: datetime) -> int:
    return round(time.timestamp() * 1e6) * 1000


def compared(before: Answer, after: Answer | None) -> str:
    """Kept, less certain or changed: the cause, its seconds and its certainty."""
    if after is None:
        return CHANGED
    same = after.cause == before.cause and abs(after.seconds - before.seconds) <= NEAR * before.seconds
    if same and after.level >= before.level:
        return KEPT
    return LESS_CERTAIN if after.level < before.level or after.cause == "cannot-tell" else CHANGED


def compared_until(cut: int, before: Answer, after: Answer | None) -> str:
    """The same for a capture that was cut off: what each moment waited for, and the causes that were over."""
    if after is None:
        return CHANGED
    until = cut - round(before.round_trip_s * 1e9)
    held, unknown, total = _same_waits(before.waits, after.waits, until)
    over = _over(before, after, until)
    if held >= (1 - NEAR) * total and over == KEPT:
        return KEPT
    if held + unknown >= (1 - NEAR) * total and over != CHANGED:
        return LESS_CERTAIN
    return CHANGED


def _same_waits(before: list[Stretch], after: list[Stretch], until: int) -> tuple[float, float, float]:
    """Seconds with the same owner, those that are unknown now, and all, between bounds that both have."""
    bounds = {b for _, b, _ in before} & {b for _, b, _ in after}
    bounds = {b for b in bounds if b <= until}
    held = unknown = total = 0.0
    last = 0
    for bound in sorted(bounds):
        first, second = (_sum(waits, last, bound) for waits in (before, after))
        same = sum(min(s, second.get(key, 0.0)) for key, s in first.items())
        held, total = held + same, total + sum(first.values())
        unknown += sum(max(0.0, s - first.get(k, 0.0)) for k, s in second.items() if k[1] == "unknown")
        last = bound
    return held, unknown, total


def _sum(waits: list[Stretch], begin: int, end: int) -> dict[tuple[str, str], float]:
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for a, b, each in waits:
        if begin <= a and b <= end:
            for key, seconds in each.items():
                sums[key] += seconds
    return sums


def _over(before: Answer, after: Answer, until: int) -> str:
    """Causes that held for the last time before the cut have the same seconds behind it."""
    elapsed = (until - before.begin) / 1e9
    found = KEPT
    now: dict[str, float] = defaultdict(float)
    for cause in after.causes:
        now[cause["cause"]] += cause["seconds"]
    for cause in before.causes:
        seconds = cause["seconds"]
        if cause["last_s"] is None or seconds < NEAR * elapsed or _last(before, cause) > until:
            continue
        if abs(now[cause["cause"]] - seconds) > NEAR * seconds:
            weaker = after.level < before.level or now["cannot-tell"] >= NEAR * seconds
            found = LESS_CERTAIN if weaker and found == KEPT else found if weaker else CHANGED
    return found


def _last(answer: Answer, cause: Json) -> int:
    """When a cause held for the last time, ns since 1970."""
    return answer.origin + round(float(cause["last_s"]) * 1e9)
