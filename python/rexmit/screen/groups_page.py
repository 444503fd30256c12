"""`rexmit analyze --by`: flows added up, as lines of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rexmit.captured.groups import PAIRS
from rexmit.screen.text_table import indented
from rexmit.screen.units import count, percent, seconds, size
from rexmit.screen.words import IDLE_IN_WORDS

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.groups import By

#: Lines of a page unless told otherwise.
MOST = 20

HEADS = {"pair": "hosts", "host": "host", "port": "port called"}


def page(capture: Capture, by: By, most: int = MOST) -> list[str]:
    """The groups that lost most time, the worst first, and how many more there are."""
    table = capture.by(by)
    rows = table.head(most)
    if not rows:
        return ["no TCP connection in it carries data"]
    lines = causes(rows) if by == "cause" else sums(rows, HEADS[by])
    left = len(table) - len(rows)
    return [*lines, f"  … and {left:,} more"] if left else lines


def overview(pairs: Sequence[dict[str, Any]]) -> list[str]:
    """The pairs of hosts that lost most time."""
    lines = sums(pairs[:PAIRS], HEADS["pair"])
    return [*lines, "  … and more: --by pair"] if len(pairs) > PAIRS else lines


def sums(rows: Sequence[dict[str, Any]], head: str) -> list[str]:
    """Groups of flows, a line each."""
    names = (head, "flows", "bytes", "resent", "of all sent", "timeouts", "never answered", "lost")
    cells = [
        (
            str(row["group"]),
            f"{row['flows']:,}",
            size(row["bytes"]),
            f"{row['resent_segments']:,}",
            percent(row["resent_segments"] / row["segments"]) if row["segments"] else "",
            f"{row['timeouts']:,}",
            f"{row['unanswered']:,}" if row["unanswered"] else "",
            seconds(row["lost_s"]),
        )
        for row in rows
    ]
    return indented([names, *cells])


def causes(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What held flows up, and what was sent again why."""
    idle = [r for r in rows if r["kind"] == "idle"]
    resent = [r for r in rows if r["kind"] == "resent"]
    lines = []
    if idle:
        cells = [
            (
                IDLE_IN_WORDS[r["cause"]],
                count(r["flows"], "flow"),
                count(r["gaps"], "gap"),
                seconds(r["lost_s"]),
            )
            for r in idle
        ]
        lines += indented([("idle", "", "", ""), *cells])
    if resent:
        cells = [(r["cause"], count(r["flows"], "flow"), count(r["segments"], "segment"), "") for r in resent]
        lines += [""] if lines else []
        lines += indented([("sent again", "", "", ""), *cells])
    return lines or ["  nothing was sent again, and no sender was idle"]
