"""Live runs whose bridge kept no time: what is said of them, and what is not."""

from __future__ import annotations

from typing import Any

from rexmit.screen.units import count, seconds

Json = dict[str, Any]

NAMES = {
    "late_p50_s": "half of the packets left up to {} late",
    "late_p99_s": "the latest hundredth of the packets left {} late or later",
    "late_p999_s": "the latest thousandth left {} late or later",
}


def missed(bridge: Json | None) -> list[str]:
    """The bars of docs/live.md that a run missed, in words; none for a simulated run, or an older one."""
    return [_words(m) for m in (bridge or {}).get("missed") or ()]


def _words(m: Json) -> str:
    if m["figure"] == "overload":
        return f"the machine lost {count(int(m['value']), 'packet')} on its own"
    return NAMES[m["figure"]].format(seconds(float(m["value"]))) + f" (bar {seconds(float(m['bar']))})"


def is_withheld(bridge: Json | None) -> bool:
    """Whether no verdict is given on what a run shows."""
    return bool(missed(bridge)) and not (bridge or {}).get("accepted")


def banner(bridge: Json | None) -> str | None:
    """What stands above the answer of a run that missed a bar."""
    bars = missed(bridge)
    if not bars:
        return None
    told = "; ".join(bars)
    if not is_withheld(bridge):
        return f"NOT IN TIME: {told}. Verdicts are given all the same, as --accept-late asks."
    return (
        f"NOT IN TIME: {told}. What follows may be this machine's own hold-ups, so no verdict is given: run "
        "it again on a quieter machine (rexmit live check), or say --accept-late."
    )


def failure_of(late: int, runs: int) -> str:
    """Why many runs of which some were late end with exit code 1."""
    return f"{late} of {runs} runs were not in time and are left out (--accept-late takes them in)"


#: Why a run that was withheld ends with exit code 1.
FAILURE = "the bridge kept no time: no verdict is given (--accept-late gives one)"
