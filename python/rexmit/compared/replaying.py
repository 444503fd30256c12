"""`rx.replay(capture, stack)`: would this stack have sent what that sender sent?"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from rexmit import _core
from rexmit.screen.notebook import Shown

Json = dict[str, Any]
Progress = Callable[[int, int | None, int], bool]
#: Rows of the page: what is counted, and its key below `by_state`.
STATES = {
    "Open": "open",
    "Recovery": "recovery",
    "Loss": "loss",
    "retransmissions": "retransmissions",
}
#: Differences that a page lists.
LISTED = 8


def replay(
    capture: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    stack: str = "linux-6-cubic",
    *,
    flow: str | None = None,
    at: str | None = None,
    listed: int = LISTED,
    progress: Progress | None = None,
) -> Replay:
    """Feeds the ACKs of a recorded transfer to a sender of `stack`, and compares what it sends.

    capture: a file, or several of one rotation, captured at the sender.  stack: a built-in
    stack or a stack file; a real endpoint, no one-way agent.  flow: as `--flow` has it; default the
    connection with the most data.  at: "sender" where the capture does not tell.  listed: how many
    differences are listed.  progress: as for `rexmit.capture`.
    Raises CaptureError where the capture has no such transfer, ScenarioError where there is no such stack.
    """
    several = [capture] if isinstance(capture, str | os.PathLike) else list(capture)
    paths = [os.fspath(path) for path in several]
    text = _core.replay(paths, stack, flow=flow, at=at, listed=listed, progress=progress)
    return Replay(json.loads(text))


class Replay(Shown):
    """A transfer replayed through a stack. Made by `rexmit.replay`."""

    def __init__(self, found: Json) -> None:
        self._found = found

    @property
    def right(self) -> float | None:
        """Share of the sends that were right; None if there were none."""
        return share(self._found)

    @cached_property
    def by_state(self) -> dict[str, float | None]:
        """The same in Open, Recovery and Loss, and of retransmissions."""
        return {key: share(self._found["by_state"][key]) for key in STATES.values()}

    def to_dict(self) -> Json:
        """As `rexmit replay --json` prints it."""
        return {"rexmit": _core.__version__, "format": 1, **self._found}

    def page(self) -> str:
        """The answer on one screen, as `rexmit replay` prints it."""
        return "\n".join(page(self._found))

    def _line(self) -> str:
        return f"rexmit replay through {self._found['stack']}: {percent(self._found)} right"


def share(counted: Json) -> float | None:
    """Of the sends, those that were right."""
    return counted["right"] / counted["sends"] if counted["sends"] else None


def percent(counted: Json, key: str = "right") -> str:
    """With two digits, since the bars are at 98% and above."""
    return f"{100 * counted[key] / counted['sends']:.2f}%" if counted["sends"] else "-"


def page(found: Json) -> list[str]:
    """The whole page as lines."""
    from rexmit.screen.say import one_line
    from rexmit.screen.text_table import indented
    from rexmit.screen.units import count, size

    lines = [
        f"{one_line(found['capture'])}: {found['sender']} → {found['receiver']}, "
        f"{found['sends'] - found['differences']['made_besides']:,} sends, replayed through {found['stack']}",
        "",
    ]
    rows = [["", "sends", "right", "", "always new"]]
    for name, key in STATES.items():
        rows.append(_row(name, found["by_state"][key]))
    rows.append(_row("all", found))
    lines += indented(rows)
    lines.append("")
    lines += _differences(found)
    if found["application"]:
        lines.append(
            f"  {count(found['application'], 'pause')} of the application, told by silence where "
            "the stack would have sent: not counted against it"
        )
    if found["packet_ends"]:
        ends = count(found["packet_ends"], "packet")
        lines.append(
            f"  {ends} left early, taken for the end of one in the buffer: the stack would only wait for more"
        )
    if found["overtaken"]:
        times = count(found["overtaken"], "time")
        lines.append(f"  {times} new data left before repairs, as the pace ended with an ACK")
    if found["held_back"]:
        times = count(found["held_back"], "time")
        lines.append(f"  {times} the host held back what cwnd had room for, and sent it within milliseconds")
    if found["paced"]:
        lines.append("  taken to be paced by the sender's host (fq, or inside TCP): more is right then")
    if found["remembered_dupthresh"]:
        duplicates = count(found["remembered_dupthresh"], "duplicate ACK")
        lines.append(f"  taken to have waited for {duplicates}, as its host remembered: more is right then")
    if found["send_buffer_bytes"]:
        held = size(found["send_buffer_bytes"])
        lines.append(f"  the send buffer is taken to have held {held} at most: more is right then")
    if found["unusable"]["sends"]:
        lines.append(f"  {count(found['unusable']['sends'], 'send')} of no use: {_why(found['unusable'])}")
    if found["assumed"]:
        lines.append(f"  {assumed(found)}")
    return lines + taken_up(found, found["entered"])


def taken_up(found: Json, entered: Json | None) -> list[str]:
    """Of a transfer that the capture finds under way: what is taken for granted of it."""
    if not entered:
        return []
    from rexmit.screen.units import count

    where = "in slow start" if entered["slow_start"] else "beyond slow start"
    sends = count(entered["not_judged"], "send")
    window = f"cwnd is {count(entered['cwnd'], 'segment')} then"
    if not found["mid_stream"]:
        return [f"  its first ACKs come within 0.1 ms of what is sent: {sends} not judged; {window}"]
    window = f"{window}, the most that was out, {where}"
    return [
        f"  the handshake is not in the capture: its first round trip, {sends}, is not judged; assumed:",
        *(f"    {text}" for text in [*found["mid_stream"]["assumed"], window]),
    ]


def assumed(found: Json) -> str:
    """What of a stack has no source."""
    return f"{found['stack']} is assumed in part, without a source: {', '.join(found['assumed'])}"


def _row(name: str, counted: Json) -> list[str]:
    null = percent(counted, "null_right")
    return [name, f"{counted['sends']:,}", f"{counted['right']:,}", percent(counted), null]


KINDS = {"not_made": "not made", "made_besides": "made besides", "timer_off": "by a timer at another time"}


def _differences(found: Json) -> list[str]:
    told = [f"{n:,} {KINDS[kind]}" for kind, n in found["differences"].items() if n]
    if not told:
        return ["  every send is what the stack would have sent"]
    lines = ["  the stack differs: " + ", ".join(told)]
    lines += [f"    {difference(d)}" for d in found["listed"]]
    return lines


def difference(d: Json) -> str:
    """One difference as a line."""
    from rexmit.screen.units import seconds

    what = "segment" if not d["again"] else "retransmission"
    where = f"{d['at']:.6f} s"
    packet = f", packet {d['packet']}" if d["packet"] else ""
    off = (
        f" ({seconds(abs(d['off_s']))} {'after' if d['off_s'] > 0 else 'before'} the stack's)"
        if d["off_s"]
        else ""
    )
    windows = f"pipe {d['pipe']} of cwnd {d['cwnd']}"
    return (
        f"{where}  {d['kind']}{off}: {what} of {d['payload']} bytes at {d['offset']}{packet}; "
        f"{d['state']}, {windows}"
    )


REASONS = {
    "other_bounds": "segments with other bounds than before",
    "acknowledged": "data acknowledged before",
    "missing": "data that the capture misses",
}


def _why(unusable: Json) -> str:
    return ", ".join(f"{unusable[key]:,} {said}" for key, said in REASONS.items() if unusable[key])
