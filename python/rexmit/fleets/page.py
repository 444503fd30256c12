"""The summary of many captures for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rexmit.screen.groups_page import causes, sums
from rexmit.screen.say import one_line
from rexmit.screen.text_table import indented
from rexmit.screen.units import count, percent, plain_seconds, seconds, size
from rexmit.screen.words import cause_and_end

#: Captures that could not be read, and hours, that are named.
UNREADABLE, HOURS = 5, 24


def page(told: dict[str, Any]) -> list[str]:
    """The lines: what it cost, who, when, why, and where to look."""
    total = told["totals"]
    lines = [
        f"{count(told['captures'], 'capture')}, {total['packets']:,} packets, "
        f"{count(total['flows'], 'flow')} with {size(total['bytes'])}"
    ]
    lines += _unreadable(told["unreadable"])
    if told["damaged"]:
        lines.append(f"  {count(told['damaged'], 'capture')} cut off or damaged: what could be read counts")
    if total["not_analysed_packets"]:
        lines.append(f"  {total['not_analysed_packets']:,} packets counted only: --max-memory")
    if total["faults"]:
        flows = count(total["faults"], "flow")
        lines.append(f"  rexmit failed on {flows}: the column `fault` of the table `flows` says where")
    if not total["flows"]:
        return lines
    resent = total["resent_segments"]
    share = f" ({percent(resent / total['segments'])} of all sent)" if total["segments"] else ""
    lines += [
        "",
        f"lost  {seconds(total['lost_s'])}, in which {size(total['lost_bytes'])} could have been carried; "
        f"{count(total['episodes'], 'episode')}, {count(total['timeouts'], 'timeout')}, "
        f"{count(resent, 'segment')} sent again{share}",
    ]
    if total["unanswered"]:
        lines.append(
            f"      {count(total['unanswered'], 'connection was', 'connections were')} never answered; "
            f"{count(total['resent_syns'], 'SYN')} sent again"
        )
    return lines + _tables(told)


def _tables(told: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    if told["worst_captures"]:
        lines += ["", "worst captures", *_captures(told["worst_captures"])]
    if told["worst_flows"]:
        rows = [["flow", "in", "lost", "could have carried", "answer"]]
        for row in told["worst_flows"]:
            who = one_line(f"{row['sender']} → {row['receiver']}")
            cells = [who, one_line(row["path"]), seconds(row["lost_s"]), size(row["lost_bytes"])]
            rows.append([*cells, _answer(row["answer"])])
        lines += ["", "worst flows", *indented(rows, left=(0, 1, 4))]
        lines.append(f"  next  rexmit analyze {one_line(told['worst_flows'][0]['path'])}")
    lines += ["", "hosts", *sums(told["hosts"], "host"), "", "pairs", *sums(told["pairs"], "hosts")]
    if told["causes"]:
        lines += ["", "where the time went", *causes(told["causes"])]
    if told["hours"]:
        worst = sorted(told["hours"], key=lambda row: -row["cost_s"])[:HOURS]
        rows = [["hour (UTC)", "episodes", "timeouts", "cost"]]
        for row in sorted(worst, key=lambda row: str(row["hour"])):
            rows.append([row["hour"], f"{row['episodes']:,}", f"{row['timeouts']:,}", seconds(row["cost_s"])])
        lines += ["", *indented(rows)]
        if len(told["hours"]) > HOURS:
            lines.append(f"  and {len(told['hours']) - HOURS:,} more hours, which cost less: --json has all")
    return lines


def _answer(answer: dict[str, Any] | None) -> str:
    """`outage: 1.90 s (26%)`, with the responsible end."""
    if answer is None:
        return ""
    time = f": {plain_seconds(answer['seconds'])} ({percent(answer['share'])})"
    return f"{answer['certainty']} {cause_and_end(answer)}" + (time if answer["seconds"] else "")


def _unreadable(rows: Sequence[dict[str, Any]]) -> list[str]:
    lines = [f"  not read: {one_line(row['error'])}" for row in rows[:UNREADABLE]]
    left = len(rows) - UNREADABLE
    return lines + ([f"  and {left:,} more that could not be read: --json has all"] if left > 0 else [])


def _captures(rows: Sequence[dict[str, Any]]) -> list[str]:
    table = [
        [
            "capture",
            "flows",
            "bytes",
            "episodes",
            "timeouts",
            "never answered",
            "time lost",
            "could have carried",
        ]
    ]
    for row in rows:
        cells = [one_line(row["path"]), f"{row['flows']:,}", size(row["bytes"]), f"{row['episodes']:,}"]
        cells += [f"{row['timeouts']:,}", f"{row['unanswered']:,}" if row["unanswered"] else ""]
        table.append([*cells, seconds(row["lost_s"]), size(row["lost_bytes"])])
    return indented(table)
