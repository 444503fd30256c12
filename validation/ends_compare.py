"""The answers of two ends to one transfer, compared: no two that are *known* may exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from rexmit.screen.words import cause_and_end, properties

Json = dict[str, Any]

SIDES = ("both", "sender", "receiver")

#: Groups of idle causes of which two may not both be the cause of one silence; a window opens with an ACK.
CLASS = {
    cause: "acks" if group in ("ack", "window") else group
    for cause, group in properties("idle_cause", "group").items()
    if group != "opening"
}

#: A pair of claims: their kind, and how they exclude each other, if they do.
Pair = tuple[str, str | None]


def pairs(flows: dict[str, Json], origin: dict[str, int]) -> Iterator[tuple[str, str, str, str | None]]:
    """(what, one end, the other end, the contradiction or None) for all that is known at two ends."""
    comparisons: tuple[Callable[[Json, Json, float], Iterator[Pair]], ...] = (
        causes,
        outages,
        triggers,
        timeouts,
        idle,
    )
    for one, other in combinations(SIDES, 2):
        shift = (origin[other] - origin[one]) / 1e9
        for each in comparisons:
            for what, excluded in each(flows[one], flows[other], shift):
                yield what, one, other, excluded


def known(rows: list[Json]) -> list[Json]:
    return [r for r in rows if r["certainty"] == "known"]


def causes(one: Json, other: Json, shift: float) -> Iterator[Pair]:
    """The cause of most of the time, and the end that is responsible."""
    x, y = one["answer"], other["answer"]
    if x and y and x["certainty"] == y["certainty"] == "known":
        mine, theirs = cause_and_end(x), cause_and_end(y)
        yield "cause", None if mine == theirs else f"{mine} and {theirs}"


def outages(one: Json, other: Json, shift: float) -> Iterator[Pair]:
    for p in known(_outages(one)):
        for q in known(_outages(other)):
            yield "outage", _apart(p, q, shift)


def _outages(flow: Json) -> list[Json]:
    found = flow["outages"] or {"each": []}
    return list(found["each"])


def _apart(p: Json, q: Json, shift: float) -> str | None:
    """Two outages that overlap and of which begin or end cannot be the same."""
    bounds = ("begin_earliest_s", "begin_latest_s", "end_earliest_s", "end_latest_s")
    p0, p1, p2, p3 = (1e9 if p[k] is None else p[k] for k in bounds)
    q0, q1, q2, q3 = (1e9 if q[k] is None else q[k] + shift for k in bounds)
    overlap = min(p2, q2) - max(p1, q1)
    apart = p0 > q1 or q0 > p1 or p2 > q3 or q2 > p3
    return f"{p} and {q}" if overlap > 0 and apart else None


def triggers(one: Json, other: Json, shift: float) -> Iterator[Pair]:
    mine = {b["seq_start"]: b for b in known(one["bursts"])}
    for b in known(other["bursts"]):
        a = mine.get(b["seq_start"])
        # A segment may be lost twice: then one end may see another run of it first.
        if a and _same_repair(a, b):
            same = a["trigger"] == b["trigger"]
            yield "trigger", None if same else f"{a['trigger']} and {b['trigger']} of {b['seq_start']}"


def _same_repair(p: Json, q: Json) -> bool:
    mine, theirs = p["first_repair_s"], q["first_repair_s"]
    return mine is not None and theirs is not None and abs(mine - theirs) < 0.002


def timeouts(one: Json, other: Json, shift: float) -> Iterator[Pair]:
    """Of repairs that overlap. One end may have cut in two what is one at the other: their sums are compared.

    Where data arrives, only those whose segment arrived are claimed: fewer is no contradiction there.
    """
    fewer_is_fine = one["vantage"] != "receiver" and other["vantage"] == "receiver"
    for mine, theirs in _together(one["episodes"], other["episodes"], shift):
        if not (mine and theirs) or len(known(mine)) < len(mine) or len(known(theirs)) < len(theirs):
            continue
        p, q = sum(e["timeouts"] for e in mine), sum(e["timeouts"] for e in theirs)
        excluded = p < q if fewer_is_fine else p != q
        at = mine[0]["first_repair_s"]
        yield "timeouts", f"{p} and {q} from {at:.6f} on" if excluded else None


def _together(one: list[Json], other: list[Json], shift: float) -> Iterator[tuple[list[Json], list[Json]]]:
    """Rows of both ends in groups that overlap in time."""
    rows = [(e["start_s"], _end(e), 0, e) for e in one]
    rows += [(e["start_s"] + shift, _end(e) + shift, 1, e) for e in other]
    group: tuple[list[Json], list[Json]] = ([], [])
    until = float("-inf")
    for start, end, side, row in sorted(rows, key=lambda r: r[:3]):
        if start > until and (group[0] or group[1]):
            yield group
            group = ([], [])
        group[side].append(row)
        until = max(until, end)
    yield group


def _end(e: Json) -> float:
    return float("inf") if e["end_s"] is None else float(e["end_s"])


def idle(one: Json, other: Json, shift: float) -> Iterator[Pair]:
    """Silences that lie mostly over each other."""
    for p in known(one["idle"]):
        for q in known(other["idle"]):
            start = max(p["start_s"], q["start_s"] + shift)
            end = min(p["start_s"] + p["length_s"], q["start_s"] + q["length_s"] + shift)
            if "handshake" in (p["cause"], q["cause"]) or 2 * (end - start) <= max(
                p["length_s"], q["length_s"]
            ):
                continue
            same = CLASS[p["cause"]] == CLASS[q["cause"]]
            words = f"{p['cause']} and {q['cause']} at {p['start_s']:.6f}"
            yield "idle", None if same else words
