"""`rx.run(scenario)`: a scenario simulated, and what its packets tell, as tables and figures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from rexmit import _core
from rexmit.api import Capture
from rexmit.captured.flows import ON_DEMAND, RANKED
from rexmit.memory import limit
from rexmit.running import bench
from rexmit.scenario import Scenario
from rexmit.tables import NamedOfRuns, Table

if TYPE_CHECKING:
    from rexmit.captured.flows import Flow
    from rexmit.figures import Figure
    from rexmit.frame import Frame
    from rexmit.scenario import Source

    AnyTable = _core.TableName | _core.RunTableName

At = Literal["both", "sender", "receiver"]
Bench = Literal["sim", "live"]
Direction = Literal["forward", "back"]
Progress = Callable[[float, float | None, int], bool]

#: What only the simulator knows, kept where the scenario records it or when it is asked for.
RUN_TABLES: tuple[_core.RunTableName, ...] = (
    "state",
    "queues",
    "drops",
    "truth",
    "hosts",
    "applications",
    "blocked",
    "held",
)


def run(
    scenario: Source,
    seed: int | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    bench: Bench = "sim",
    at: At = "both",
    idle: float | None = None,
    interval: float = 1.0,
    tables: Sequence[AnyTable] = (),
    captures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    max_memory: int | str | None = None,
    accept_late: bool = False,
    **overrides: Any,
) -> Run:
    """Simulates a scenario and analyses its packets as if they had been captured.

    scenario: a path, TOML text, a dictionary or a `Scenario`.  seed: in the place of the scenario's.  set:
    keys to override, {"link.air.rate": "5Mbps"}; overrides: the same for keys without a dot, duration="5s".
    bench: "sim", or "live": real kernels in network namespaces behind rexmit's bridge (Linux, as root;
    docs/live.md), in real time.  at: where the packets are seen: at both ends (every loss is known), at the
    sender or at the receiver, as one capture there would show them.  idle: threshold of an idle gap, s
    (default max(2 RTTmin, 50 ms)). interval: length of the throughput intervals, s. tables: rows to keep at
    once, of retransmissions, intervals, rtt, packets, state, queues, drops, truth, hosts, applications,
    blocked, held; what is not kept is computed by another run of the same seed, which goes the same way,
    when first used. captures: a folder for the captures (pcapng) at the nodes that the scenario's
    `record.capture` names (live: at all hosts).
    progress(s done, s in all or None, events): called about ten times a second; returning False, and Ctrl-C,
    end the run early and keep what was seen. max_memory: bytes, or text such as "2GB" (default: three
    quarters of what is free); a simulation that would need more is refused, one that takes more is ended.
    accept_late: of a live run whose bridge missed a bar of docs/live.md, give verdicts all the same; without,
    its flows have no `answer`.

    Raises ScenarioError if the scenario is none, a line for each mistake, or says what the live bench can
    not do; LiveError if the bench cannot run here.
    """
    resolved = Scenario.of(scenario).with_(set, **overrides)
    options: dict[str, Any] = {"at": at, "idle": idle, "interval": interval}
    if bench == "live":
        options["accept_late"] = accept_late
        return LiveRun(resolved, seed, options, tuple(tables), captures, progress)
    if bench != "sim":
        raise ValueError(f"bench = {bench!r}: one of sim, live")
    return Run(resolved, seed, options, tuple(tables), captures, progress, max_memory)


class Run(NamedOfRuns, Capture):
    """A run of a scenario, read like a capture: `flows`, `episodes`, figures, `page()`; and `state`,
    `queues`, `drops`, `truth`, `hosts`, `applications`, `blocked`, `held`, which no capture shows. Times are
    s since the run began. Made by `rexmit.run`.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int | None,
        options: dict[str, Any],
        tables: Sequence[AnyTable] = (),
        captures: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        max_memory: int | str | None = None,
    ) -> None:
        self.scenario = scenario
        self._max_memory = limit(max_memory)
        self._seed = seed
        self._captures = captures
        #: The captures that were written (`captures` of `rexmit.run`).
        self.captures: list[Path] = []
        self._stepping = progress
        super().__init__([scenario.label], None, options, cast("Any", tuple(tables)))

    def _run(self, tables: Sequence[Any], **changed: Any) -> _core.Analysis:
        if "flow" in changed:
            # Nothing is saved by following one flow only: the others share its links.
            self._keep(*ON_DEMAND)
            return self._analysis
        # The captures are written once.
        captures, self._captures = self._captures, None
        found = _core.simulate(
            self.scenario._variant(self._seed),
            tables=list(tables),
            captures=None if captures is None else os.fspath(captures),
            max_memory=self._max_memory,
            progress=self._stepping,
            **self._options,
        )
        self._kept = frozenset(tables)
        self.captures += found.captures()
        return found

    def _has(self, name: str) -> bool:
        for table in RUN_TABLES:
            if name == table:
                return name in self._kept or self.records(table)
        return super()._has(name)

    def records(self, table: _core.RunTableName) -> bool:
        """Whether the scenario itself asks for this table."""
        return self._analysis.records(table)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What hosts and links counted: name, seed, end, time_s, events, flows, links (docs/running.md)."""
        return cast("dict[str, Any]", self.overview(0)["simulation"])

    @property
    def seed(self) -> int:
        """The seed of the run: with the scenario it says all that happened."""
        return int(self.summary["seed"])

    @property
    def failure(self) -> str | None:
        """Why the run could not go on, if it could not; what was seen until then is here."""
        return cast("str | None", self.summary["failure"])

    @cached_property
    def origin_ns(self) -> int:
        """The beginning of the run: 0."""
        return 0

    @property
    def since(self) -> str:
        """What times count from, in words."""
        return "the run began"

    @property
    def at_both(self) -> bool:
        """Whether its packets were seen at both ends."""
        return bool(self._options["at"] == "both")

    def at_receiver(self, tables: Sequence[AnyTable] = ()) -> Run:
        """The same run as one capture at the receiver's end shows it: it goes the same way once more."""
        return Run(self.scenario, self.seed, self._options | {"at": "receiver"}, tables)

    def table(self, name: AnyTable | _core.AnswerTableName) -> Table:
        """One of the tables by its name. Rows that were not kept are computed when first used."""

        def load() -> _core.Table:
            self._keep(cast("Any", name))
            return self._analysis.table(name)

        return Table(name, load)

    def cwnd(self, flow: Flow | None = None) -> Figure:
        """A sender's congestion window, slow-start threshold, flight and timer against time.

        flow: default the one that cost most. Raises ValueError if there is none.
        """
        from rexmit import figures
        from rexmit.captured.flows import Flow
        from rexmit.frame import Frame

        chosen = next(iter(self.worst(1)), None) if flow is None else flow
        if chosen is None:
            raise ValueError(f"{self.name}: no TCP connection of it carries data")
        if not isinstance(chosen, Flow):
            raise ValueError(f"flow = {flow!r} is no flow: take one from run.flows[…] or run.worst(…)")
        rows = Frame(self.state, self.origin_ns, self.since, flow=chosen.id)
        return figures.cwnd(rows, chosen.episodes(), chosen.row)

    def queue(self, link: str, direction: Direction = "forward") -> Figure:
        """A link's queue against time: how much waits in it, what it drops, how long each packet waited.

        direction: "forward" from the link's first node to its second, or "back". Raises ValueError for a
        link that there is not.
        """
        from rexmit import figures

        ends = {(way["link"], way["direction"]): way for way in self.summary["links"]}
        if (link, direction) not in ends:
            known = ", ".join(sorted({name for name, _ in ends}))
            raise ValueError(f"{link} {direction} is no link and direction (forward, back) of it: {known}")
        way = ends[link, direction]
        what = f"{link}, {way['from']} → {way['to']}"
        return figures.queue(self._at(self.queues, way), self._at(self.drops, way), what)

    def _at(self, table: Table, way: dict[str, Any]) -> Frame:
        """The rows of one direction of a link."""
        from rexmit.frame import Frame

        rows = Frame(table, self.origin_ns, self.since)
        ways = zip(rows.raw("link"), rows.raw("direction"), strict=True)
        return rows.where(way_of == (way["link"], way["direction"]) for way_of in ways)

    def own_figures(self) -> Iterator[tuple[str, Figure]]:
        """The figures of what the scenario records: each sender's state, each queue that held anything."""
        from rexmit.frame import batches

        if self.records("state"):
            kept: set[int | None] = set().union(*(batch.column("flow") for batch in batches(self.state)))
            for flow in self.worst(3):
                if flow.id in kept:
                    yield f"cwnd-{flow.id}", self.cwnd(flow)
        if self.records("queues"):
            # In the order in which they come.
            ways: dict[tuple[str, Any], None] = {}
            for batch in batches(self.queues):
                ways |= dict.fromkeys(zip(batch.column("link"), batch.column("direction"), strict=True))
            for link, direction in ways:
                yield f"queue-{link}-{direction}", self.queue(link, direction)

    def page(self, top: int = 7, hints: bool = True, why: bool = False) -> str:
        """The answer on one screen, as `rexmit run` prints it."""
        from rexmit.screen.page import MANY
        from rexmit.screen.run_page import page

        seen = self.overview(max(top, RANKED))
        summary = None
        if int(seen["totals"]["flows"]) >= MANY and not self.hurried:
            from rexmit.captured.short_flows import many

            summary = many(self)
        return "\n".join(page(seen, summary, command=self.command, hints=hints, most=top - 1, why=why))

    #: Where it ran.
    bench: Bench = "sim"

    def _line(self) -> str:
        return "run" + super()._line().removeprefix("capture")

    @property
    def name(self) -> str:
        """The scenario's name and the seed."""
        return f"{self.summary['name']}, seed {self.seed}"

    @property
    def command(self) -> str:
        """The command line that runs the same again."""
        from shlex import join

        words = ["rexmit", "run", self.scenario.label, *self.scenario._arguments()]
        if self._seed is not None:
            words += ["--seed", str(self._seed)]
        if self.bench != "sim":
            words += ["--bench", self.bench]
        if self._options["at"] != "both":
            words += ["--at", self._options["at"]]
        return join(words)

    def overview(self, top: int = 5) -> dict[str, Any]:
        """`simulation`, `capture`, `totals` and the `top` flows that cost most (docs/json.md)."""
        return cast("dict[str, Any]", json.loads(self._analysis.overview(top)))


class LiveRun(Run):
    """A run on the live bench: real kernels behind rexmit's bridge. Read like a simulated one; `truth` and
    `hosts`, which no kernel tells, are not there. Made by `rexmit.run(bench="live")`.
    """

    bench: Bench = "live"

    def _run(self, tables: Sequence[Any], **changed: Any) -> _core.Analysis:
        if "flow" in changed:
            return self._analysis
        captures, self._captures = self._captures, None
        found = bench.play(
            self.scenario._variant(self._seed),
            captures=None if captures is None else os.fspath(captures),
            progress=self._stepping,
            **self._options,
        )
        self._kept = frozenset(ON_DEMAND)
        self.captures += found.captures()
        return found

    def _keep(self, *names: Any) -> None:
        # What happened once does not happen again: all there is was kept.
        for name in names:
            if name in RUN_TABLES and not self.records(name):
                raise ValueError(f"{self.name}: table {name} was not recorded; {UNTOLD.get(name, FIX)}")

    @cached_property
    def origin_ns(self) -> int:
        """The wall clock at the beginning of the run, ns."""
        return int(self.summary["bridge"]["origin_ns"])


FIX = "say record.state = true or record.queues = true before the run"
UNTOLD = {
    "truth": "no kernel tells why it sends a segment again",
    "hosts": "the captures have the hosts' packets",
    "applications": "nobody watches what the hosts' programs do",
    "blocked": "no kernel tells at every change what blocks a sender",
    "held": "the bridge tells of lost packets only",
}
