"""The live bench: runs that end well however they are told to, and what this machine can do for them."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, cast

from rexmit import _core

Progress = Callable[[float, float | None, int], bool]


def _core_of_linux(name: str) -> Any:
    found = getattr(_core, name, None)
    if found is None:
        raise _core.LiveError("the live bench needs Linux: network namespaces and packet sockets")
    return found


@contextmanager
def interrupted_by(*numbers: int) -> Iterator[None]:
    """While this lasts these signals do what Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handled(interrupt, numbers):
        yield


@contextmanager
def told_to_end(*more: int) -> Iterator[list[int]]:
    """The signals that came meanwhile; while this lasts they end nothing by themselves.

    more: signals besides SIGTERM and SIGHUP.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    with _handled(note, (signal.SIGTERM, signal.SIGHUP, *more)):
        yield came


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], numbers: Sequence[int]) -> Iterator[None]:
    former: dict[int, Any] = {}
    try:
        for number in numbers:
            former[number] = signal.signal(number, handler)
    except ValueError:  # not the main thread: whoever runs that minds signals
        former = {}
    try:
        yield
    finally:
        for known, before in former.items():
            signal.signal(known, before)


def play(variant: _core.Variant, *, progress: Progress | None = None, **options: Any) -> _core.Analysis:
    """Runs a scenario on the live bench. Ctrl-C and SIGTERM end the run; what was captured is the answer."""
    live = _core_of_linux("live")
    with told_to_end() as came:

        def goes_on(done: float, total: float | None, packets: int) -> bool:
            wanted = progress is None or progress(done, total, packets)
            return wanted and not came

        return cast("_core.Analysis", live(variant, progress=goes_on, **options))


def play_many(
    variants: list[_core.Variant],
    plan: Sequence[tuple[int, int | None]],
    *,
    progress: Callable[[int, int | None, int], bool] | None = None,
    **options: Any,
) -> _core.Batch:
    """Runs them one after the other. Ctrl-C and SIGTERM keep the runs that are done."""
    live = _core_of_linux("live_many")
    with told_to_end() as came:

        def goes_on(done: int, total: int | None, events: int) -> bool:
            wanted = progress is None or progress(done, total, events)
            return wanted and not came

        return cast("_core.Batch", live(variants, plan, progress=goes_on, **options))


def check() -> list[dict[str, Any]]:
    """What this machine can do: what, found, mend (None: nothing is missing), needed."""
    return cast("list[dict[str, Any]]", json.loads(_core_of_linux("live_check")()))


def clean() -> dict[str, Any]:
    """Removes what runs that were killed have left: namespaces, folders, processes, left."""
    return cast("dict[str, Any]", json.loads(_core_of_linux("live_clean")()))


def check_page(found: list[dict[str, Any]]) -> list[str]:
    """The findings as lines."""
    from textwrap import wrap

    from rexmit.page import WIDTH

    width = max(len(f["what"]) for f in found)
    lines = []
    for f in found:
        mark = "  " if f["mend"] is None else "! " if f["needed"] else "- "
        lines += wrap(
            f["found"],
            WIDTH,
            initial_indent=f"{mark}{f['what']:<{width}}  ",
            subsequent_indent=" " * (width + 4),
            break_on_hyphens=False,
        )
        if f["mend"] is not None:
            indent = " " * (width + 4)
            lines += wrap(
                f["mend"], WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
            )
    lacking = sum(f["mend"] is not None and f["needed"] for f in found)
    verdict = "the live bench can run here" if not lacking else "the live bench can not run here: see !"
    return [*lines, "", verdict]


def clean_page(removed: dict[str, Any]) -> list[str]:
    """What was removed, as lines."""
    from rexmit.units import count

    if not any(removed.values()):
        return ["nothing was left behind"]
    lines = [f"removed {name}" for name in removed["namespaces"]]
    lines += [f"removed {path}, captures that nobody was to keep" for path in removed["folders"]]
    if removed["processes"]:
        lines.append(f"ended {count(removed['processes'], 'process', 'processes')} in them")
    return lines + [f"could not remove {path}" for path in removed["left"]]
