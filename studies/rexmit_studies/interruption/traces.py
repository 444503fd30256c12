"""The transfers that the figures show: one of each system under the reading that the paper's numbers give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import rexmit as rx
from rexmit import figures
from rexmit.captured.flows import Flow
from rexmit.figures.style import Figure
from rexmit.frame import Frame
from rexmit.running.one_run import Run
from rexmit.scenario import Scenario
from rexmit_studies import own
from rexmit_studies.interruption import osx, server, setups
from rexmit_studies.interruption.sections import Section, sections
from rexmit_studies.study import Results


@dataclass(frozen=True)
class Trace:
    """One transfer, its packets at both ends, and its sections."""

    system: str
    run: Run
    flow: Flow
    phase_s: float
    period_s: float

    @cached_property
    def sections(self) -> list[Section]:
        return sections(
            self.flow.row,
            self.flow.episodes(),
            self.flow.bursts(),
            sorted(self.flow.frame("retransmissions").rows(), key=lambda r: float(r["time"])),
            setups.down(self.phase_s, self.period_s, setups.last()),
        )

    @cached_property
    def packets(self) -> Frame:
        return self.flow.frame("packets")

    def first(self, kind: str) -> Section | None:
        """The first section of a kind."""
        return next((s for s in self.sections if s.kind == kind), None)

    def graph(self, start: float | None = None, end: float | None = None) -> Figure:
        """The sequence graph, with the outages when the link was down (setups), which a sender's packets tell
        less closely: what an outage takes left up to a second before it, behind a deep queue.
        """
        return sequence_graph(self.flow, self.phase_s, self.period_s, start, end)

    def episode(self, section: Section) -> int:
        """The episode's number, from 1, that is a section: what `Flow.ladder` asks for."""
        starts = {float(e["start"]): int(e["number"]) + 1 for e in self.flow.episodes()}
        return starts[section.start_s]


def sequence_graph(
    flow: Flow, phase_s: float, period_s: float, start: float | None = None, end: float | None = None
) -> Figure:
    """The sequence graph of a simulated transfer, the outages as they were set."""
    down = setups.down(phase_s, period_s, setups.last())
    each = [
        {"begin_earliest_s": a, "begin_latest_s": a, "end_earliest_s": b, "end_latest_s": b} for a, b in down
    ]
    return figures.time_sequence(
        flow.frame("packets"),
        flow.episodes(),
        flow.bursts(),
        flow.row,
        start=start,
        end=end,
        retransmissions=flow.frame("retransmissions"),
        outages={"each": each, "starts_s": [a for a, _ in down], "period_s": period_s},
    )


#: OS X with 46 segments under way: `osx.detour` without a detour.
ALL_46 = "osx-46"
#: Windows and the server whose window stops where the paper's does.
FIG7_WINDOWS = "windows7-fig7"
ALL_46_PHASE_S = 3.25


def run_all() -> dict[str, Trace]:
    found = {name: _trace(name, setups.setup(name, setups.fitted())) for name in setups.SYSTEMS}
    found[FIG7_WINDOWS] = _trace("windows7", setups.setup("windows7", setups.steady(5.2) | server.fig7()))
    found[ALL_46] = _trace(ALL_46, osx.detour("osx-10.7", 0, ALL_46_PHASE_S), ALL_46_PHASE_S, 60.0)
    return found


def _trace(
    name: str, what: Scenario, phase_s: float = setups.FITTED_PHASE_S, period_s: float | None = None
) -> Trace:
    run = rx.run(own.applied(what), tables=("packets", "retransmissions"))
    return Trace(name, run, run.worst(1)[0], phase_s, period_s or setups.period())


def traced(system: str, more: Mapping[str, Any], phase_s: float) -> Trace:
    """A system's transfer with something set, its packets kept."""
    return _trace(system, setups.setup(system, more), phase_s)


def trace(results: Results, name: str) -> Trace:
    found: Trace = results["traces"][name]
    return found
