"""What limited a transfer, in words: the line of the page, and the names that its figure shares."""

from __future__ import annotations

from typing import Any

from rexmit.screen.units import percent, plain_seconds, rate
from rexmit.screen.words import closed_sets

Json = dict[str, Any]

#: As a limit stands in a sentence, in the order of the legend.
LIMITS = closed_sets()["limited_by"]
#: The same of a limit in particular.
DETAILS = closed_sets()["limit_detail"]
KNOWN_BY = closed_sets()["path_rate"]
RULES = {"reno": "Reno", "cubic": "CUBIC"}
#: A share that a line has no room for.
SMALL = 0.005


def by_limit(flow: Json) -> list[tuple[str, float, list[Json]]]:
    """Limit, seconds and its parts, the longest first; without what came after the last data."""
    found: dict[str, list[Json]] = {}
    for part in flow.get("limited_by") or ():
        if part["detail"] != "done":
            found.setdefault(str(part["limit"]), []).append(part)
    sums = [(limit, sum(float(p["seconds"]) for p in parts), parts) for limit, parts in found.items()]
    return sorted(sums, key=lambda item: -item[1])


def line(flow: Json) -> str:
    """`by loss 61% (4.9 s: window kept small, repairing), start 9% (0.7 s: first slow start), …`."""
    sums = by_limit(flow)
    total = sum(length for _, length, _ in sums)
    words = []
    for limit, length, parts in sums:
        if total <= 0 or length < SMALL * total:
            continue
        why = ", ".join(DETAILS[p["detail"]] for p in parts if p["seconds"] >= 0.1 * length)
        by = LIMITS[limit] if limit == "open" else f"by {LIMITS[limit]}"
        words.append(f"{by} {percent(length / total)} ({plain_seconds(length)}: {why})")
    return ", ".join(words)


def path_line(flow: Json) -> str:
    """What the path could carry, what was reached, and what the losses allow; where losses were a limit."""
    path: Json = flow.get("path") or {}
    could = path.get("could_bps")
    lossy = [length for limit, length, _ in by_limit(flow) if limit == "loss"]
    total = sum(length for _, length, _ in by_limit(flow))
    if not could or not lossy or lossy[0] < 0.05 * total:
        return ""
    words = f"could carry {rate(could)} ({KNOWN_BY[path['known_by']]}), carried {rate(path['reached_bps'])}"
    allowed: Json | None = path.get("allowed")
    if not allowed:
        return words
    least, most = rate(allowed["least_bps"]), rate(allowed["most_bps"])
    rule = RULES.get(str(allowed["rule"]))
    told = f"{rule} {most}" if rule else f"Reno or CUBIC {most if least == most else f'{least} to {most}'}"
    return f"{words}; such losses and round trips allow {told}"
