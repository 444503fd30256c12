"""The live bench: runs that end well however they are told to, and what this machine can do for them."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, cast

from rexmit import _core
from rexmit.files import passing

Progress = Callable[[float, float | None, int], bool]

#: What ends a program from outside; Windows has no SIGHUP.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


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

    with _handled(note, (*ENDING, *more)):
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
    with told_to_end() as came, passing.live():

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
    with told_to_end() as came, passing.live():

        def goes_on(done: int, total: int | None, events: int) -> bool:
            wanted = progress is None or progress(done, total, events)
            return wanted and not came

        return cast("_core.Batch", live(variants, plan, progress=goes_on, **options))


def check() -> list[dict[str, Any]]:
    """What this machine can do: what, found, fix (None: nothing is missing), needed.

    The last rows say what can be trusted on it now: short runs at usual rates, against the bars of
    docs/live.md.
    """
    found = cast("list[dict[str, Any]]", json.loads(_core_of_linux("live_check")()))
    if any(f["fix"] is not None and f["needed"] for f in found):
        return found
    return found + [_trial(mbps) for mbps in TRIED_MBPS]


#: Rates that `check` tries.
TRIED_MBPS = (22, 100)
TRIAL = """
name = "trial"
duration = "1500ms"
[chain]
nodes = ["pc", "server"]
rate = "{mbps}Mbps"
delay = "10ms"
[[flow]]
name = "upload"
from = "pc"
to = "server"
stack = "linux-2.6-reno"
workload = {{ kind = "endless" }}
"""


def _trial(mbps: int) -> dict[str, Any]:
    """Whether a short run at this rate keeps time here and now."""
    from rexmit.running.late import missed
    from rexmit.running.one_run import run
    from rexmit.screen.units import seconds

    name = f"now, {mbps} Mbps"
    try:
        bridge = run(TRIAL.format(mbps=mbps), bench="live").summary["bridge"]
    except _core.LiveError as error:
        return {"what": name, "found": "a trial run failed", "fix": str(error), "needed": True}
    late = {key: seconds(float(bridge[f"late_{key}_s"] or 0)) for key in ("p50", "p99", "p999")}
    told = f"packets left late by p50 {late['p50']}, p99 {late['p99']}, p99.9 {late['p999']}"
    bars = missed(bridge)
    fix = (
        f"{'; '.join(bars)}: verdicts of live runs would be withheld now; stop what else runs"
        if bars
        else None
    )
    return {
        "what": name,
        "found": told + ("" if bars else ": runs can be trusted"),
        "fix": fix,
        "needed": False,
    }


def clean() -> dict[str, Any]:
    """Removes what runs that were killed have left: namespaces, cgroups, folders, processes, left."""
    return cast("dict[str, Any]", json.loads(_core_of_linux("live_clean")()))


def check_page(found: list[dict[str, Any]]) -> list[str]:
    """The findings as lines."""
    from textwrap import wrap

    from rexmit.screen.wide import page_width

    width = max(len(f["what"]) for f in found)
    lines = []
    for f in found:
        mark = "  " if f["fix"] is None else "! " if f["needed"] else "- "
        lines += wrap(
            f["found"],
            page_width(),
            initial_indent=f"{mark}{f['what']:<{width}}  ",
            subsequent_indent=" " * (width + 4),
            break_on_hyphens=False,
        )
        if f["fix"] is not None:
            indent = " " * (width + 4)
            lines += wrap(
                f["fix"],
                page_width(),
                initial_indent=indent,
                subsequent_indent=indent,
                break_on_hyphens=False,
            )
    lacking = sum(f["fix"] is not None and f["needed"] for f in found)
    if lacking:
        return [*lines, "", "the live bench cannot run here: see !"]
    now = [f for f in found if str(f["what"]).startswith("now, ")]
    late = [str(f["what"]).removeprefix("now, ") for f in now if f["fix"] is not None]
    trust = f"not in time at the moment: {' and '.join(late)}" if late else "in time at the moment"
    return [*lines, "", f"the live bench can run here, {trust}" if now else "the live bench can run here"]


def clean_page(removed: dict[str, Any]) -> list[str]:
    """What was removed, as lines."""
    from rexmit.screen.units import count

    if not any(removed.values()):
        return ["nothing was left behind"]
    lines = [f"removed {name}" for name in removed["namespaces"]]
    lines += [f"removed {path}, a cgroup of a recording that was killed" for path in removed["cgroups"]]
    lines += [f"removed {path}, captures that nobody was to keep" for path in removed["folders"]]
    if removed["processes"]:
        lines.append(f"ended {count(removed['processes'], 'process', 'processes')} in them")
    return lines + [f"could not remove {path}" for path in removed["left"]]
