"""The answers of two ends to one transfer, compared: no two that are *known* may exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

Json = dict[str, Any]

SIDES = ("both", "sender", "receiver")

#: Idle causes that may not both be the cause of one silence.
CLASS = {
    "timeout": "timer",
    "timeout-backoff": "timer",
    "zero-window": "acks",
    "receive-window": "acks",
    "nagle": "acks",
    "ack-clock": "acks",
    "application": "application",
    "peer": "application",
    "unknown": "unknown",
}

#: A pair of claims: their kind, and how they exclude each other, if they do.
Pair = tuple[str, str | None]


def pairs(flows: dict[str, Json], origin: dict[str, int]) -> Iterator[tuple[str, str, str, str | None]]:
    """(what, one end, the other end, the contradiction or None) for all that is known at two ends."""
    comparisons: tuple[Callable[[Json, Json, float], Iterator[Pair]], ...] = (
        verdicts,
        outages,
        triggers,
        timeouts,
        idle,
        limits,
    )
    for one, other in combinations(SIDES, 2):
        shift = (origin[other] - origin[one]) / 1e9
        for each in comparisons:
            for what, excluded in each(flows[one], flows[other], shift):
                yield what, one, other, excluded


def known(rows: list[Json]) -> list[Json]:
    return [r for r in rows if r["certainty"] == "known"]


def verdicts(one: Json, other: Json, shift: float) -> Iterator[Pair]:
    x, y = one["answer"], other["answer"]
    if x and y and x["certainty"] == y["certainty"] == "known":
        same = x["verdict"] == y["verdict"]
        yield "verdict", None if same else f"{x['verdict']} and {y['verdict']}"


def outages(one: Json, other: Json, shift: float) -> Iterator[Pair]:
    for p in known(_outages(one)):
        for q in known(_outages(other)):
            yield "outage", _apart(p, q, shift)


def _outages(flow: Json) -> list[Json]:
    found = (flow["answer"] or {}).get("outages") or {"each": []}
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


def largest_limit(flow: Json) -> tuple[str, float, str] | None:
    """The limit that held longest, its seconds, and how sure it is that it did.

    It is known if it stays the largest when all that is less sure is another's, likely if it does when all
    that is open is.
    """
    seconds: dict[str, dict[str, float]] = {}
    for part in flow.get("limited_by") or ():
        if part["detail"] != "done":
            of = seconds.setdefault(part["limit"], {"known": 0.0, "likely": 0.0, "open": 0.0})
            of[part["certainty"]] += part["seconds"]
    if not seconds:
        return None
    total = {limit: sum(of.values()) for limit, of in seconds.items()}
    largest = max(total, key=lambda limit: total[limit])
    if largest == "open":
        return largest, total[largest], "open"

    def stays(sure: tuple[str, ...]) -> bool:
        mine = sum(seconds[largest][word] for word in sure)
        doubt = sum(of[word] for of in seconds.values() for word in of if word not in sure)
        firm = {limit: sum(of[word] for word in sure) for limit, of in seconds.items() if limit != largest}
        return mine > max(firm.values(), default=0.0) + doubt

    certainty = "known" if stays(("known",)) else "likely" if stays(("known", "likely")) else "open"
    return largest, total[largest], certainty


def limits(one: Json, other: Json, shift: float) -> Iterator[Pair]:
    p, q = largest_limit(one), largest_limit(other)
    if p and q and p[2] == q[2] == "known":
        yield "limit", None if p[0] == q[0] else f"{p[0]} for {p[1]:.2f} s and {q[0]} for {q[1]:.2f} s"
