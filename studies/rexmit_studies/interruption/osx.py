"""OS X: where the intermittent kind comes from. The round trip after the outage, against SRTT before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from rexmit.frame import Frame
from rexmit.running.many_runs import Runs
from rexmit.scenario import Scenario
from rexmit_studies import scenario
from rexmit_studies.interruption import sections, setups
from rexmit_studies.interruption.sections import Section
from rexmit_studies.study import Plan, Results

if TYPE_CHECKING:
    from rexmit.running.one_run import AnyTable

#: The server offers 46 segments and no more: what the paper saw lost at once.
WINDOW_SEGMENTS = 46
#: Longer one-way delay from the outage on, ms: the round trip after it is from 0.06 to 2 times SRTT.
DETOURS_MS = (0, 15, 30, 45, 60, 75, 85, 90, 94, 97, 100, 103, 107, 115, 130, 150, 175, 200)
QUICK_MS = (0, 90, 103, 150)
PHASES_S = (3.1, 3.13, 3.25, 3.6)
SYSTEMS = ("osx-10.7", "osx-10.9", "linux-2.6-reno")
TABLES: tuple[AnyTable, ...] = (*sections.TABLES, "state")


@dataclass(frozen=True)
class Repair:
    """How one outage was repaired. ratio: the first round trip after it / SRTT when the timer fired."""

    system: str
    detour_ms: float
    phase_s: float
    ratio: float
    srtt_s: float
    section: Section


def declare(plan: Plan) -> None:
    plan.runs("osx", [detour(*case) for case in cases(plan.quick)], tables=TABLES)


def cases(quick: bool) -> list[tuple[str, float, float]]:
    """System, detour, phase. Only OS X 10.7 is asked at more than one phase."""
    steps = QUICK_MS if quick else DETOURS_MS
    phases: Sequence[float] = PHASES_S[:1] if quick else PHASES_S
    return [
        (system, step, at)
        for system in SYSTEMS
        for step in steps
        for at in (phases if system == "osx-10.7" else phases[:1])
    ]


def detour(system: str, step_ms: float, at_s: float) -> Scenario:
    """One outage, behind which the data's way is longer by step_ms."""
    once = {"every": "60s", "for": f"{1e3 * setups.outage():g}ms", "phase": f"{at_s}s", "anchor": "first-syn"}
    channels: list[dict[str, Any]] = [{"name": "interruption", "kind": "outage", "schedule": once}]
    if step_ms:
        steps = [[f"{at_s + setups.outage() / 2:g}s", f"{step_ms}ms"]]
        channels.append({"name": "detour", "kind": "delay-step", "direction": "forward", "steps": steps})
    window = {"kind": "fixed", "buffer": f"{WINDOW_SEGMENTS * setups.MSS} bytes"}
    return Scenario.load(scenario(setups.NAME)).with_(
        {
            **setups.BARE,
            setups.STACK: system,
            setups.SERVER_WINDOW: window,
            setups.WIRE_CHANNELS: channels,
            "record.state": True,
        }
    )


_read: WeakKeyDictionary[Runs, list[Repair]] = WeakKeyDictionary()


def repairs(results: Results) -> list[Repair]:
    runs: Runs = results["osx"]
    if runs not in _read:
        _read[runs] = _repairs(runs, cases(results.quick))
    return _read[runs]


def _repairs(runs: Runs, asked: Sequence[tuple[str, float, float]]) -> list[Repair]:
    found = sections.of_runs(runs, [at for _, _, at in asked], period_s=60.0)
    state = Frame(runs.table("state"))
    run, time, backoff = state["run"], state["time"], state["backoff"]
    una, srtt = state["una"], state["srtt_s"]
    made = []
    for k, (system, step, at) in enumerate(asked):
        mine = (run == k) & (time > at)
        fired = np.flatnonzero(mine & (backoff > 0))
        # Where an ACK came back after all, no timer was asked.
        hit = next((s for s in found[k] if s.kind in ("with", "intermittent")), None)
        if hit is None or not len(fired):
            continue
        first = fired[0]
        later = np.flatnonzero(mine & (time > time[first]) & (una > una[first]))
        if not len(later):
            continue
        ratio = float(time[later[0]] - time[first]) / float(srtt[first])
        made.append(Repair(system, step, at, ratio, float(srtt[first]), hit))
    return made


def of(results: Results, system: str) -> list[Repair]:
    return [r for r in repairs(results) if r.system == system]


def switch(results: Results) -> tuple[float, float]:
    """The largest ratio that is repaired one segment a timeout, and the smallest that is not."""
    every = of(results, "osx-10.7")
    inside = [r.ratio for r in every if r.section.timeouts > 2]
    outside = [r.ratio for r in every if r.section.timeouts <= 2]
    return max(inside, default=float("nan")), min(outside, default=float("nan"))


def switch_said(results: Results) -> str:
    """The same in words: with the user's outages the sweep may have one side of the switch only."""
    inside, outside = switch(results)
    if isfinite(inside) and isfinite(outside):
        return (
            "the kind ends where the round trip after the outage passes one SRTT "
            f"(seen at {inside:.2f}, not at {outside:.2f})"
        )
    if isfinite(outside):
        return (
            "with 46 segments under way the timer never fires once for each lost segment here: the first "
            f"round trip after the outage is {outside:.2f} of SRTT at least"
        )
    if isfinite(inside):
        return (
            "with 46 segments under way the timer fires more than twice in every run, up to a round trip of "
            f"{inside:.2f} of SRTT after the outage"
        )
    return "no timer fires in the runs with 46 segments under way"
