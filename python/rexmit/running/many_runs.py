"""`rx.runs(scenario, seeds=…)`: many runs on all cores, counted, and analysed where tables are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from rexmit import extras
from rexmit.memory import limit
from rexmit.running.one_run import UNTOLD, Run
from rexmit.scenario import Scenario, whole_seed
from rexmit.screen.say import markup, one_line
from rexmit.tables import NamedOfRuns, Table

if TYPE_CHECKING:
    import os

    from rexmit import _core
    from rexmit.running.one_run import AnyTable, At, Bench
    from rexmit.scenario import Source
    from rexmit.sweeps.listed import Made

Progress = Callable[[int, int | None, int], bool]
WAY = (
    "delivered_bytes",
    "goodput_bps",
    "data_packets",
    "data_bytes",
    "resent_packets",
    "resent_bytes",
    "timeouts",
    "first_sent_s",
    "last_delivered_s",
)


def runs(
    scenario: Source | Sequence[Source],
    seeds: Iterable[int] | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    bench: Bench = "sim",
    at: At = "both",
    idle: float | None = None,
    interval: float = 1.0,
    tables: Sequence[AnyTable] = (),
    bin: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    max_memory: int | str | None = None,
    cluster: Any = None,
    into: str | os.PathLike[str] | None = None,
    **overrides: Any,
) -> Runs:
    """Runs a scenario, or each of a list of variants, with each of the seeds, on all cores.

    scenario: as `run` takes it, or a list of such.  seeds: whole numbers (default: each scenario's own). With
    the same seed two variants meet the same outages: compare them pair by pair.  set, overrides: keys to
    override in all of them.  tables: the rows to keep of every run, by the tables' names, "flows" and
    "episodes" for example; at, idle, interval: as for `run`.  bin: the length of the intervals of `series`,
    s, if that is wanted: it costs next to nothing.  threads: default one a core.  progress(runs done, runs in
    all, 0): called about ten times a second; returning False, and Ctrl-C, keep what is done. max_memory: as
    for `run`, for all that run at once.  cluster: Dask's workers make the runs, as for `sweep`:
    `"tcp://HOST:8786"`, `"local:4"`, or a `distributed.Client` (docs/cluster.md).  into: a folder that keeps
    what is done, block by block: killed at any moment, the same call goes on where it was. Other runs may
    be kept in it, too.

    Runs stand in the order of the variants, and for each in the order of the seeds. Without tables they are
    counted only, which is several times as fast; a table that was not kept is computed, by running them all
    again, when first used, and so is what `runs(…)[k]` shows. bench: "live" runs them on real kernels, one
    after the other, in real time (docs/live.md); what ran live is not run again, so that there are the tables
    that were asked for and no others.
    Raises ScenarioError before anything runs if one of them is none, or says what the live bench cannot do;
    LiveError if the bench cannot run here.
    """
    extras.need("sweep", "more than one run", "numpy", "pyarrow", "scipy")
    several = isinstance(scenario, Sequence) and not isinstance(scenario, str)
    listed: Sequence[Any] = scenario if several else [scenario]  # type: ignore[assignment]
    variants = [Scenario.of(one).with_(set, **overrides) for one in listed]
    if seeds is not None and not isinstance(seeds, Iterable):
        raise ValueError(f"seeds = {seeds!r}: several of them, as in seeds=range(1, 101) or seeds=[7]")
    chosen: list[int | None] = [None] if seeds is None else [whole_seed(seed) for seed in seeds]
    plan = [(k, seed) for k in range(len(variants)) for seed in chosen]
    options = {"at": at, "idle": idle, "interval": interval}
    if bench == "live":
        untold = [name for name in tables if name in UNTOLD]
        if untold:
            raise ValueError(f"table {untold[0]} is not there live: {UNTOLD[untold[0]]}")
        if threads is not None:
            raise ValueError('threads are for bench="sim": live runs follow one another')
        if cluster is not None:
            raise ValueError('cluster is for bench="sim": live runs are this machine\'s, one after the other')
        if into is not None:
            raise ValueError('into is for bench="sim": the same seed is another run on real kernels')
        return LiveRuns(variants, plan, options, tuple(tables), bin, None, progress)
    if bench != "sim":
        raise ValueError(f"bench = {bench!r}: one of sim, live")
    if cluster is not None and threads is not None:
        raise ValueError("threads are this process's, and cluster has its own: local:4 is four of them")
    return Runs(variants, plan, options, tuple(tables), bin, threads, progress, max_memory, cluster, into)


class Runs(NamedOfRuns, Sequence[Run]):
    """Runs that were counted, a sequence of `Run`, and the tables of all of them. Made by `rexmit.runs`."""

    def __init__(
        self,
        variants: list[Scenario],
        plan: list[tuple[int, int | None]],
        options: dict[str, Any],
        tables: tuple[AnyTable, ...],
        bin: float | None,
        threads: int | None,
        progress: Progress | None,
        max_memory: int | str | None = None,
        cluster: Any = None,
        into: str | os.PathLike[str] | None = None,
    ) -> None:
        # What is free here says nothing of the workers of a cluster.
        self._max_memory = None if max_memory is None and cluster is not None else limit(max_memory)
        self._cluster = cluster
        self._variants = variants
        self._options = options
        self._threads = threads
        batch = self._simulate(plan, tables, progress, bin, into)
        self._binned = None if bin is None else batch
        self._batches = dict.fromkeys(tables, batch)
        self._told = [(k, text) for (k, _), text in zip(plan, batch.runs, strict=True) if text is not None]
        self.planned = len(plan)
        #: What could not be kept: the disk was full, mostly.
        self.warnings: list[str] = batch.warnings()
        self._made: dict[int, Run] = {}

    @cached_property
    def _kept(self) -> list[tuple[int, Scenario, dict[str, Any]]]:
        """Which variant each run was of, its scenario, and what it counted."""
        return [(k, self._variants[k], json.loads(text)) for k, text in self._told]

    def _simulate(
        self,
        plan: Sequence[tuple[int, int | None]],
        tables: Sequence[AnyTable],
        progress: Progress | None = None,
        bin: float | None = None,
        into: str | os.PathLike[str] | None = None,
    ) -> _core.Batch | Made:
        from rexmit.sweeps import listed

        return listed.run(
            [variant._variant(None) for variant in self._variants],
            plan,
            tables=list(tables),
            bin=bin,
            threads=self._threads,
            max_memory=self._max_memory,
            cluster=self._cluster,
            progress=progress,
            into=into,
            **self._options,
        )

    def __len__(self) -> int:
        return len(self._told)

    @overload
    def __getitem__(self, which: int) -> Run: ...
    @overload
    def __getitem__(self, which: slice) -> list[Run]: ...
    def __getitem__(self, which: int | slice) -> Run | list[Run]:
        if isinstance(which, slice):
            return [self[k] for k in range(*which.indices(len(self)))]
        place = range(len(self))[which]
        if place not in self._made:
            _, scenario, counted = self._kept[place]
            self._made[place] = Run(scenario, int(counted["seed"]), dict(self._options))
        return self._made[place]

    def __iter__(self) -> Iterator[Run]:
        return (self[k] for k in range(len(self)))

    #: Where they ran.
    bench: Bench = "sim"

    @property
    def name(self) -> str:
        """The scenario's name; of several variants the first one's."""
        return str(self._kept[0][2]["name"]) if self._kept else self._variants[0].label

    @property
    def interrupted(self) -> bool:
        """True if it was stopped before all that was planned was done."""
        return len(self) < self.planned

    @property
    def failure(self) -> str | None:
        """Why the first of those that could not go on could not, if there is one."""
        failed = [counted for _, _, counted in self._kept if counted["failure"]]
        if not failed:
            return None
        return f"{len(failed)} of {len(self)} runs failed; seed {failed[0]['seed']}: {failed[0]['failure']}"

    @property
    def late(self) -> dict[int, list[str]]:
        """Of live runs that missed a bar of docs/live.md, by their place: the bars, in words."""
        from rexmit.running.late import missed

        told = {run: missed(counted.get("bridge")) for run, (_, _, counted) in enumerate(self._kept)}
        return {run: bars for run, bars in told.items() if bars}

    @cached_property
    def summary(self) -> Table:
        """One row for each run and flow of its scenario: what arrived and what it took (docs/running.md)."""
        return _table("summary", SUMMARY, self._flow_rows())

    def _flow_rows(self) -> list[dict[str, Any]]:
        return [
            {"run": run, "variant": variant, "set": _told(scenario), "seed": counted["seed"]} | row
            for run, (variant, scenario, counted) in enumerate(self._kept)
            for row in flow_rows(counted)
        ]

    def table(self, name: AnyTable) -> Table:
        """A table of all runs by its name: that of each run, one after the other, behind the columns `run`
        (its place in this sequence), `variant` and `seed`. Times are s since the run's own beginning.
        """

        def load() -> Any:
            if name not in self._batches:
                again = [(k, int(counted["seed"])) for k, _, counted in self._kept]
                batch = self._simulate(again, (name,))
                if any(text is None for text in batch.runs):
                    raise KeyboardInterrupt
                self.warnings += batch.warnings()
                self._batches[name] = batch
            return self._batches[name].table(name)

        return Table(name, load)

    @property
    def series(self) -> Table:
        """What each flow sent, received and lost in each interval of `bin` seconds: `run`, `variant`, `seed`,
        `flow`, `direction` (forward: from the client), `start_s`, `sent_packets`, `sent_bytes`,
        `arrived_packets`, `arrived_bytes`, `lost_packets`. Raises ValueError if `bin` was not given.
        """
        batch = self._binned
        if batch is None:
            raise ValueError("there is no series: say how long its intervals are, as in rx.runs(…, bin=0.1)")
        return Table("series", batch.series)

    @property
    def flows(self) -> Table:
        """One row for each run and flow (docs/definitions.md)."""
        return self.table("flows")

    @cached_property
    def losses(self) -> Table:
        """One row for each run, link, direction and cause: how many packets it lost."""
        rows = [
            self._way(run, link)
            | {"offered": link["offered"]}
            | {key: loss[key] for key in ("cause", "channel", "packets")}
            for run, (_, _, counted) in enumerate(self._kept)
            for link in counted["links"]
            for loss in link["losses"]
        ]
        return _table("losses", LOSSES, rows)

    @cached_property
    def links(self) -> Table:
        """One row for each run, link and direction: what it counted (docs/running.md)."""
        return _table("links", LINKS, self._link_rows())

    def _link_rows(self) -> list[dict[str, Any]]:
        return [
            self._way(run, link)
            | {key: link[key] for key in LINK_COUNTS}
            | {f"frames_{key}": (link["frames"] or {}).get(key) for key in ("sent", "lost")}
            | {"frame_bursts": (link["frames"] or {}).get("bursts")}
            | {"longest_frame_burst": (link["frames"] or {}).get("longest_burst")}
            for run, (_, _, counted) in enumerate(self._kept)
            for link in counted["links"]
        ]

    @cached_property
    def channels(self) -> Table:
        """One row for each run, link, direction and channel: what it was asked about, and dropped."""
        rows = [
            self._way(run, link) | channel
            for run, (_, _, counted) in enumerate(self._kept)
            for link in counted["links"]
            for channel in link["channels"]
        ]
        return _table("channels", CHANNELS, rows)

    def _way(self, run: int, link: dict[str, Any]) -> dict[str, Any]:
        """Which direction of which link, of which run."""
        variant, _, counted = self._kept[run]
        which = {"run": run, "variant": variant, "seed": counted["seed"]}
        return which | {key: link[key] for key in ("link", "direction")}

    def _line(self) -> str:
        from rexmit.screen.units import count

        said = f"{count(len(self), 'run')} of {self.name}"
        if self.interrupted:
            said += f", stopped early: {self.planned:,} were planned"
        return said

    def __repr__(self) -> str:
        return f"<{one_line(self._line())}>"

    def __str__(self) -> str:
        return f"{self!r}\n{self.summary}"

    def _repr_html_(self) -> str:
        return f"<p>{markup(self._line())}</p>{self.summary._repr_html_()}"


class LiveRuns(Runs):
    """Runs on the live bench, one after the other. What happened once does not happen again: there are the
    counts and the tables that were asked for. Made by `rexmit.runs(bench="live")`.
    """

    bench: Bench = "live"

    def _simulate(
        self,
        plan: Sequence[tuple[int, int | None]],
        tables: Sequence[AnyTable],
        progress: Progress | None = None,
        bin: float | None = None,
        into: str | os.PathLike[str] | None = None,
    ) -> _core.Batch | Made:
        from rexmit.running import bench

        if hasattr(self, "planned"):
            raise ValueError(
                f'table {tables[0]} was not kept: rx.runs(…, bench="live", tables=("{tables[0]}",))'
            )
        variants = [variant._variant(None) for variant in self._variants]
        return bench.play_many(
            variants, plan, tables=list(tables), bin=bin, progress=progress, **self._options
        )

    def __getitem__(self, which: Any) -> Any:
        raise ValueError(
            'what ran live is not run again: ask for tables, or run one with rx.run(…, bench="live")'
        )


def flow_rows(counted: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each flow of a run's scenario: what arrived and what it took."""
    lost = sum(link["lost"] for link in counted["links"])
    rows = []
    for flow in counted["flows"]:
        way = max((flow["forward"], flow["back"]), key=lambda w: float(w["delivered_bytes"]))
        rows.append(
            {"flow": flow["flow"], "stack": flow["stack"], "receiver": flow["receiver"]}
            | {key: flow[key] for key in ("connections", "ended", "failed")}
            | {key: way[key] for key in WAY}
            | {"duration_s": _between(flow, way), "run_s": counted["time_s"], "end": counted["end"]}
            | {"events": counted["events"], "lost_packets": lost}
        )
    return rows


def _told(scenario: Scenario) -> str:
    return ", ".join(f"{key}={value}" for key, value in scenario._set)


def is_unfinished(flow: dict[str, Any]) -> bool:
    """A connection of the flow had not ended when the run did, or had failed. Datagrams have none."""
    return flow["stack"] is not None and int(flow["ended"]) < int(flow["connections"])


def _between(flow: dict[str, Any], way: dict[str, Any]) -> float | None:
    """What a transfer took; None of one that had not ended: it would pass for a fast one."""
    if is_unfinished(flow):
        return None
    if way["first_sent_s"] is None or way["last_delivered_s"] is None:
        return None
    return float(way["last_delivered_s"]) - float(way["first_sent_s"])


SUMMARY = {
    "run": "int64",
    "variant": "int64",
    "set": "string",
    "seed": "uint64",
    "flow": "string",
    "stack": "string",
    "receiver": "string",
    "connections": "int64",
    "ended": "int64",
    "failed": "int64",
    "delivered_bytes": "int64",
    "goodput_bps": "float64",
    "data_packets": "int64",
    "data_bytes": "int64",
    "resent_packets": "int64",
    "resent_bytes": "int64",
    "timeouts": "int64",
    "first_sent_s": "float64",
    "last_delivered_s": "float64",
    "duration_s": "float64",
    "run_s": "float64",
    "end": "string",
    "events": "int64",
    "lost_packets": "int64",
}
WHICH_WAY = {"run": "int64", "variant": "int64", "seed": "uint64", "link": "string", "direction": "string"}
LOSSES = WHICH_WAY | {"offered": "int64", "cause": "string", "channel": "string", "packets": "int64"}
LINK_COUNTS = (
    "offered",
    "copies",
    "delivered",
    "lost",
    "queue_full",
    "aqm",
    "channel",
    "flushed",
    "arq_gave_up",
    "inside",
)
FRAME_COUNTS = ("frames_sent", "frames_lost", "frame_bursts", "longest_frame_burst")
LINKS = WHICH_WAY | dict.fromkeys(LINK_COUNTS + FRAME_COUNTS, "int64")
TALLY = ("asked", "dropped", "bursts", "longest_burst")
CHANNELS = WHICH_WAY | {"channel": "string"} | dict.fromkeys(TALLY, "int64")


def _table(name: str, columns: dict[str, str], rows: list[dict[str, Any]]) -> Table:
    import pyarrow as pa

    schema = pa.schema([(column, getattr(pa, kind)()) for column, kind in columns.items()])
    return Table(name, lambda: pa.Table.from_pylist(rows, schema=schema))
