"""`rexmit analyze --by`: flows added up, as lines of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rexmit.captured.groups import PAIRS
from rexmit.screen.text_table import indented
from rexmit.screen.units import count, percent, plain_seconds, seconds, size
from rexmit.screen.words import cause_and_end, closed_sets

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.groups import By

#: Lines of a page unless told otherwise.
MOST = 20

HEADS = {"pair": "hosts", "host": "host", "port": "port called"}


def page(capture: Capture, by: By, most: int = MOST) -> list[str]:
    """The groups that lost most time, the worst first, and how many more there are; or all causes."""
    table = capture.by(by)
    rows = table.head(most)
    if not rows:
        return ["no TCP connection in it carries data"]
    if by == "cause":
        return causes(table.head())
    lines = sums(rows, HEADS[by])
    left = len(table) - len(rows)
    return [*lines, f"  … and {left:,} more"] if left else lines


def overview(pairs: Sequence[dict[str, Any]]) -> list[str]:
    """The pairs of hosts that lost most time."""
    lines = sums(pairs[:PAIRS], HEADS["pair"])
    return [*lines, "  … and more: --by pair"] if len(pairs) > PAIRS else lines


def sums(rows: Sequence[dict[str, Any]], head: str) -> list[str]:
    """Groups of flows, a line each."""
    names = (head, "flows", "bytes", "resent", "of all sent", "timeouts", "never answered", "time lost")
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
    """Which causes took how much time, and how many connections have each as their answer."""
    timed = [r for r in rows if r["cause"] != "nothing"]
    quiet = sum(r["connections"] for r in rows if r["cause"] == "nothing")
    lines = []
    if timed:
        whole = sum(r["seconds"] for r in rows)
        words = closed_sets()["answer_cause"]
        cells = [
            (
                cause_and_end(r),
                plain_seconds(r["seconds"]) if r["seconds"] else "",
                percent(r["seconds"] / whole) if r["seconds"] else "",
                count(r["connections"], "connection") if r["connections"] else "",
                size(r["bytes"]) if r["connections"] else "",
                words[r["cause"]],
            )
            for r in timed
        ]
        head = ("cause", "time", "of all", "the answer of", "with", "")
        lines += indented([head, *cells], left=(0, 5))
    if quiet:
        what = count(quiet, "connection")
        lines.append(f"  {'besides, ' if timed else ''}nothing took time worth telling in {what}")
    return lines
