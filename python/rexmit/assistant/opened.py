"""Captures and runs that were opened, the last few of them: a question about one comes seldom alone."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.assistant.limits import Turn
    from rexmit.captured.flows import Flow

#: How many stay open.
KEPT = 4
#: Flows that can be asked for by their number: those that lost most.
RANKED = 200
#: What was cut short is opened again for a call that has so many times the time.
MORE_TIME = 1.25

Key = tuple[tuple[str, int, int], ...]


@dataclass
class _Kept:
    capture: Capture
    #: How long opening it was allowed to take, s.
    seconds: float


class Opened:
    """Captures by their files; a file that has changed since is read again. One call at a time."""

    def __init__(self, turn: Turn, max_memory: int | str | None = None) -> None:
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._turn = turn
        self._max_memory = max_memory

    def capture(self, path: Path, receiver: Path | None = None) -> Capture:
        """A capture, two of one transfer, or a run's folder.

        Raises CaptureError, ScenarioError or ValueError.
        """
        limit = self._turn.limit
        key = tuple(_state(p) for p in (path, receiver) if p is not None)
        found, left = self._kept.pop(key, None), limit.left()
        if found is None or (found.capture.interrupted and left > MORE_TIME * found.seconds):
            found = _Kept(self._open(path, receiver), left)
        limit.cut |= found.capture.interrupted
        self._kept[key] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found.capture

    def forget(self, capture: Capture) -> None:
        """Opened anew when it is asked for again."""
        self._kept = OrderedDict(
            (key, kept) for key, kept in self._kept.items() if kept.capture is not capture
        )

    def _open(self, path: Path, receiver: Path | None) -> Capture:
        from rexmit.api import capture
        from rexmit.compared.episode_match import opened

        asked: dict[str, Any] = {"progress": self._turn.goes_on, "max_memory": self._max_memory}
        made = opened(path, **asked) if receiver is None else capture(path, receiver=receiver, **asked)
        made.hurried = made.interrupted
        return made


def _state(path: Path) -> tuple[str, int, int]:
    there = path.stat()
    return str(path), there.st_mtime_ns, there.st_size


def answer_of(capture: Capture, which: str | None) -> dict[str, Any]:
    """A flow as docs/json.md has it: by its number, by `ip:port-ip:port`, or the worst.

    Raises ValueError with what there is.
    """
    listed: list[dict[str, Any]] = capture.overview(RANKED)["flows"]
    if not listed:
        raise ValueError("no flow of this capture carries data")
    found = listed[0] if which is None else next((f for f in listed if _is(f, which.strip())), None)
    if found is None:
        first = ", ".join(f"{f['flow']} ({f['sender']}-{f['receiver']})" for f in listed[:3])
        raise ValueError(f"no flow {which} among the {len(listed)} that lost most; the first are {first}")
    return found


def flow_of(capture: Capture, which: str | None) -> Flow:
    """The rows of such a flow."""
    number = int(answer_of(capture, which)["flow"])
    return next(f for f in capture.worst(RANKED) if f.id == number)


def _is(flow: dict[str, Any], which: str) -> bool:
    ends = (flow["sender"], flow["receiver"])
    return which in (str(flow["flow"]), "-".join(ends), "-".join(reversed(ends)))
