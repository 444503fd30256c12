"""`rx.rank_stacks(capture)`: of all stacks, which explains what that sender sent?"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from rexmit import _core
from rexmit.compared.replaying import STATES, difference, percent, taken_up
from rexmit.screen.notebook import Shown

Json = dict[str, Any]
Progress = Callable[[int, int | None, int], bool]
#: Stacks that a page shows.
SHOWN = 6
#: Timers that are named where several explain as much.
MOST_NAMED = 3


def rank_stacks(
    capture: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    flow: str | None = None,
    at: str | None = None,
    listed: int = 0,
    progress: Progress | None = None,
) -> Ranking:
    """Replays a transfer through every built-in stack, and ranks them by how well they explain its sender.

    capture, flow, at: as for `rexmit.replay`.  listed: how many differences are listed of each stack.
    progress: hears how many replays are done and how many there will be; False ends it by KeyboardInterrupt.
    Raises CaptureError where the capture has no such transfer.
    """
    several = [capture] if isinstance(capture, str | os.PathLike) else list(capture)
    paths = [os.fspath(path) for path in several]
    return Ranking(json.loads(_core.rank_stacks(paths, flow=flow, at=at, listed=listed, progress=progress)))


class Ranking(Shown):
    """Stacks by how well they explain a sender. Made by `rexmit.rank_stacks`."""

    def __init__(self, found: Json) -> None:
        self._found = found

    @property
    def stacks(self) -> list[str]:
        """Their names, the best first."""
        return [row["stack"] for row in self._found["ranking"]]

    @property
    def like(self) -> str | None:
        """The stack that the sender is like; None where the evidence is not enough."""
        like = self._found["inference"]["stack"]
        return like["value"] if like else None

    @property
    def equals(self) -> list[str]:
        """Those that this transfer does not tell from the first."""
        return alike(self._found["ranking"])

    def to_dict(self) -> Json:
        """As `rexmit replay --stack all --json` prints it."""
        return {"rexmit": _core.__version__, "format": 1, **self._found}

    def page(self) -> str:
        """The answer on one screen, as `rexmit replay --stack all` prints it."""
        return "\n".join(page(self._found))

    def _line(self) -> str:
        first = self._found["ranking"][0]
        return f"rexmit stacks ranked: {first['stack']} first, {percent(first)} right"


def is_behind(row: Json) -> bool:
    """Whether a stack, or a timer, is told from the first; that one is not."""
    return row["behind"] is not None and row["behind"]["told_apart"]


def alike(ranking: list[Json]) -> list[str]:
    """The stacks that this transfer does not tell from the first."""
    return [row["stack"] for row in ranking[1:] if not is_behind(row)]


def page(found: Json) -> list[str]:
    """The whole page as lines."""
    from rexmit.screen.say import one_line

    ranking = found["ranking"]
    sent = ranking[0]["sends"] - ranking[0]["differences"]["made_besides"]
    return [
        f"{one_line(found['capture'])}: {found['sender']} → {found['receiver']}, "
        f"{sent:,} sends, replayed through {len(ranking)} stacks",
        "",
        *_table(ranking),
        "",
        *_verdict(found),
        *_timer(found["timers"], ranking[0]["stack"]),
        *taken_up(found, ranking[0]["entered"]),
    ]


def _table(ranking: list[Json]) -> list[str]:
    from rexmit.screen.text_table import indented

    rows = [["", "", "wrong", "right", *STATES, "round trips behind", "ahead"]]
    for place, row in enumerate(ranking[:SHOWN], 1):
        behind = row["behind"] or {"better": "", "worse": ""}
        shares = [percent(row["by_state"][key]) for key in STATES.values()]
        wrong = f"{row['sends'] - row['right']:,}"
        rows.append(
            [
                str(place),
                row["stack"],
                wrong,
                percent(row),
                *shares,
                *map(str, (behind["better"], behind["worse"])),
            ]
        )
    return indented(rows, left={0, 1})


def _verdict(found: Json) -> list[str]:
    ranking = found["ranking"]
    best, others = ranking[0], ranking[1:]
    like = found["inference"]["stack"]
    equals = alike(ranking)
    lines = []
    if like:
        lines.append(f"  like {best['stack']} (confidence {like['confidence']:.2f})")
    else:
        why = (
            "this transfer tells too few of them apart" if found["explained"] else "none explains this sender"
        )
        lines.append(f"  like no stack in particular: {why}")
    if equals:
        lines.append(f"  not told from {best['stack']} by this transfer: {', '.join(equals)}")
    after = next((row for row in others if is_behind(row)), None)
    if after:
        first = after["first_difference"]
        lines.append(
            f"  told from {after['stack']} by {after['behind']['better']} round trips to "
            f"{after['behind']['worse']}, of which that one differs first"
        )
        lines.append(f"    {difference(first)}")
    assumed = [row["stack"] for row in ranking[:SHOWN] if row["assumed"]]
    if assumed:
        lines.append(f"  assumed in part, without a source: {', '.join(assumed)} (rexmit stacks NAME)")
    return lines


def _timer(timers: list[Json], stack: str) -> list[str]:
    best, others = timers[0], timers[1:]
    same = [t for t in others if not is_behind(t)]
    if len(same) == len(others):
        return ["  its retransmission timer does not show: all rules explain as much"]
    told = f"  timer: {_named(best, stack)} explains most"
    names = [_named(t, stack) for t in same]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return [told + (f"; not told from it: {', '.join(names[:MOST_NAMED])}{more}" if same else "")]


def _named(timer: Json, stack: str) -> str:
    """Its rule, its minimum, and whose it is: the best stack's own, or the first that has it."""
    from rexmit.screen.units import seconds

    whose = stack if stack in timer["stacks"] else timer["stacks"][0]
    return f"{whose}'s ({timer['rule']}, at least {seconds(timer['min_s'])})"
