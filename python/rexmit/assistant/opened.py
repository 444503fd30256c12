"""Captures and runs that were opened, the last few of them: a question about one comes seldom alone."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.flows import Flow

#: How many stay open.
KEPT = 4
#: Flows that can be asked for by their number: those that lost most.
RANKED = 200

Key = tuple[tuple[str, int, int], ...]


class Opened:
    """Captures by their files; a file that has changed since is read again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Capture] = OrderedDict()
        self._lock = threading.Lock()

    def capture(self, path: Path, receiver: Path | None = None) -> Capture:
        """A capture, two of one transfer, or a run's folder.

        Raises CaptureError, ScenarioError or ValueError.
        """
        from rexmit.api import capture
        from rexmit.compared.episode_match import opened

        key = tuple(_state(p) for p in (path, receiver) if p is not None)
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None:
                found = opened(path) if receiver is None else capture(path, receiver=receiver)
            self._kept[key] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found


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
