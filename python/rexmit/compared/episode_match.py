"""Two runs side by side: simulated against live, stack against stack, a run against a capture.

`rexmit.compared.differences` says where the time went; here bursts and episodes of both are matched, and
their sequence graphs laid over each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rexmit.captured.episodes import REPAIRED_BY
from rexmit.compared import differences
from rexmit.compared.differences import Comparison
from rexmit.compared.matching import Matches, Pair, Row, Side
from rexmit.files.reach import exists, lexists
from rexmit.files.reading import check, json_of
from rexmit.running.late import is_withheld, missed
from rexmit.screen.notebook import Shown
from rexmit.screen.say import json_pieces
from rexmit.screen.units import count, seconds
from rexmit.screen.wide import MOST

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.flows import Flow
    from rexmit.figures import Figure

#: Pairs that the page lists, at most; --json has all.
LISTED = 12
#: Of the answers that are read back.
FORMAT = 2
#: What is to be done about a folder that does not hold what it should.
AGAIN = "run it again with --out, or name the captures themselves"
#: Longer names give way in the figure's legend.
LEGEND = 48


class SideBySide(Shown):
    """The largest flow of each of two runs or captures. Made by `rexmit.compare`.

    `episodes` and `bursts` are matched pairs; `costs` says what differs in the order of what it costs.
    """

    def __init__(self, first: Capture, second: Capture) -> None:
        self.captures = (first, second)
        self.flows: tuple[Flow, Flow] = (differences.largest(first), differences.largest(second))

    @cached_property
    def names(self) -> tuple[str, str]:
        """What each is called: a run with what it overrides."""
        return _name(self.captures[0]), _name(self.captures[1])

    @cached_property
    def costs(self) -> Comparison:
        """Where the time of both went."""
        withheld = [text for text in map(_untrusted, self.captures) if text]
        return differences.of_flows(self.flows, self.names, withheld)

    @cached_property
    def matched_episodes(self) -> Matches:
        """Episodes of both, matched by when they began."""
        return self._matches("episodes")

    @cached_property
    def matched_bursts(self) -> Matches:
        """Bursts of losses of both, matched by when they began."""
        return self._matches("bursts")

    @property
    def episodes(self) -> list[Pair]:
        """The pairs of episodes."""
        return list(self.matched_episodes.pairs())

    @property
    def bursts(self) -> list[Pair]:
        """The pairs of bursts of losses."""
        return list(self.matched_bursts.pairs())

    def _matches(self, table: Literal["bursts", "episodes"]) -> Matches:
        first, second = (
            Side(capture, flow, table) for capture, flow in zip(self.captures, self.flows, strict=True)
        )
        return Matches(first, second)

    def figure(self) -> Figure:
        """The sequence graphs laid over each other, and how far the second is ahead."""
        from rexmit.figures.side_by_side import BURSTS, EPISODES, PACKETS, Part, side_by_side

        parts = [
            Part(
                name,
                flow.columns("packets", *PACKETS),
                flow.columns("episodes", *EPISODES),
                flow.columns("bursts", *BURSTS),
                float(flow.row["start"]),
                outages,
            )
            for name, flow, outages in zip(
                _short(*self.names), self.flows, self.matched_episodes.outages, strict=True
            )
        ]
        return side_by_side(parts[0], parts[1])

    def as_json(self) -> dict[str, Any]:
        """As plain values, for --json (docs/json.md)."""
        found = self._parts()
        return found | {name: list(found[name]) for name in ("episodes", "bursts")}

    def json_pieces(self) -> Iterator[str]:
        """The same as JSON, piece by piece: there may be as many pairs as packets."""
        return json_pieces(self._parts())

    def _parts(self) -> dict[str, Any]:
        """What JSON has, the pairs as iterators."""
        return self.costs.as_json() | {
            "episodes": map(vars, self.matched_episodes.pairs()),
            "bursts": map(vars, self.matched_bursts.pairs()),
            "assumed": self.assumed,
        }

    @property
    def assumed(self) -> list[str]:
        """The stacks of which some sections have no source, each once."""
        from rexmit.running.one_run import Run

        told = [run.summary.get("assumed", []) for run in self.captures if isinstance(run, Run)]
        return sorted({one["stack"] for each in told for one in each})

    def page(self) -> str:
        """The answer on one screen, as `rexmit compare` prints it."""
        lines = differences.page(self.costs)
        if self.assumed:
            names = ", ".join(self.assumed)
            lines += ["", f"  assumed  {names}: no source tells all of it (rexmit stacks NAME)"]
        for what, pairs in (("episodes", self.matched_episodes), ("bursts of losses", self.matched_bursts)):
            lines += ["", *_table(what, pairs)]
        return "\n".join(lines)

    def _line(self) -> str:
        return f"{self.names[0]} beside {self.names[1]}: {differences.verdict(self.costs)}"


def compare(first: Any, second: Any) -> SideBySide:
    """Compares two runs: `rexmit.compare(first, second)`.

    first, second: a `Run` or `Capture`, or what `opened` takes: a scenario file, the folder of a run, a
    capture. The largest flow of each is compared. Raises ValueError if one has no flow with data.
    """
    return SideBySide(*(run if hasattr(run, "worst") else opened(run) for run in (first, second)))


def opened(
    place: str | os.PathLike[str],
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    progress: Callable[..., bool] | None = None,
    tables: Sequence[Any] = (),
    threads: int | None = None,
    max_memory: int | str | None = None,
) -> Capture:
    """A run by its place: a scenario, by its file or by the name of one that ships, is simulated; a folder
    that `rexmit run --out` wrote is simulated again from its own scenario, or, if it ran live, read from its
    captures; anything else is a capture, or the folder of a recording.

    set, seed: as `rexmit.run` takes them, where something is simulated. progress, tables, max_memory: as
    `rexmit.run` and `rexmit.capture` take them; threads: as `rexmit.capture` does, where packets are read.

    Raises ValueError for a folder that holds no run, or where there is nothing to override.
    """
    from rexmit.api import capture
    from rexmit.captured.recording import is_recording
    from rexmit.rules.loading import refusing
    from rexmit.running import shipped
    from rexmit.running.folder import LiveFolder
    from rexmit.running.one_run import run

    path = Path(place)
    scenario = path if path.suffix == ".toml" else path / "scenario.toml"
    of_run = path.is_dir() and exists(scenario)
    if path.is_dir() and not of_run and not is_recording(path):
        raise ValueError(f"{path}: no folder of a run: rexmit run SCENARIO --out {path} makes one")
    if of_run and (told := _ran_live(path)):
        _nothing_to_set(path, set, seed, "what ran live is over")
        sender, receiver = _captures(path, told)
        # What its sender knew lies in the folder.
        kept = [table for table in tables if table != "state"]
        return LiveFolder(path, sender, receiver, progress, kept, threads, max_memory)
    how: dict[str, Any] = {"progress": progress, "tables": tables, "max_memory": max_memory}
    if of_run:
        # Whoever made the folder chose what is in it.
        with refusing(f"is not run for a folder that is opened: to run it, name {scenario}"):
            return run(scenario, seed=seed, set=set, **how)
    if exists(scenario) and scenario.suffix == ".toml":
        return run(scenario, seed=seed, set=set, **how)
    if shipped.is_named(os.fspath(place)):
        return run(os.fspath(place), seed=seed, set=set, **how)
    _nothing_to_set(path, set, seed, "a capture is what it is")
    return capture(path, threads=threads, **how)


def _nothing_to_set(path: Path, set: Mapping[str, Any] | None, seed: int | None, why: str) -> None:
    if set or seed is not None:
        raise ValueError(f"{path}: {why}; keys and seeds are set where a scenario is simulated")


def _ran_live(folder: Path) -> Row | None:
    """What is written of a live run (docs/json.md, `simulation`); None for any other folder."""
    summary = folder / "summary.json"
    if not lexists(summary):
        if exists(folder / "captures"):
            raise ValueError(f"{summary}: is missing, and alone says whether the run was a live one; {AGAIN}")
        return None
    found = json_of(summary, AGAIN)
    told = found.get("simulation") if isinstance(found, dict) else None
    if not isinstance(told, dict):
        raise ValueError(f"{summary}: is no answer of rexmit run; {AGAIN}")
    if found.get("format", FORMAT) != FORMAT:
        raise ValueError(f"{summary}: format is not {FORMAT}: another version of rexmit wrote it; {AGAIN}")
    try:
        missed(told.get("bridge"))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise ValueError(f"{summary}: simulation.bridge is not what rexmit run writes; {AGAIN}") from None
    return told if told.get("bridge") is not None else None


def _captures(folder: Path, told: Row) -> tuple[Path, Path]:
    """The captures at both ends of what carried most data in a live run: at its sender, at its receiver."""
    try:
        ways = [
            (int(flow[way]["data_bytes"]), str(flow[near]), str(flow[far]))
            for flow in told["flows"]
            if flow["stack"] is not None
            for way, near, far in (("forward", "from", "to"), ("back", "to", "from"))
        ]
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f"{folder / 'summary.json'}: lacks what a live run says of its flows; {AGAIN}"
        ) from None
    largest = max(ways, key=lambda way: way[0], default=None)
    if largest is None:
        raise ValueError(f"{folder}: no TCP connection in it carries data")
    found = [folder / "captures" / f"{node}.pcapng" for node in largest[1:]]
    for path in found:
        if not exists(path):
            raise ValueError(f"{path}: the capture at {path.stem} is not there any more")
        check(path)
    return found[0], found[1]


def _table(what: str, matches: Matches) -> list[str]:
    if not len(matches):
        return [f"  {what}: none in either"]
    both, *only = matches.counts
    words = [f"{both} in both"] + [
        f"{n} in the {name} only" for n, name in zip(only, ("first", "second"), strict=True) if n
    ]
    lines = [f"  {what}: " + ", ".join(words)]
    head: tuple[str, ...] = ("#", "", "at", "lost", "repaired by", "silence", "timeouts", "took")
    if what != "episodes":
        head = ("#", "", "at", "lost", "trigger", "silence")
    width = len(head)
    outages = matches.has_outages
    head += ("outage",) * outages
    rows: list[tuple[str, ...]] = [head]
    for number, pair in enumerate(matches.pairs(LISTED), 1):
        told = zip(_rows(number, pair, width), _outages(pair), strict=False)
        rows += [(*row, outage) if outages else row for row, outage in told]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        cells = [f"{cell:{'<' if i in (1, 4, width) else '>'}{widths[i]}}" for i, cell in enumerate(row)]
        lines.append(("  " + "  ".join(cells)).rstrip()[:MOST])
    if len(matches) > LISTED:
        lines.append(f"  and {count(len(matches) - LISTED, 'more pair')}; --json has all")
    return lines


def _rows(number: int, pair: Pair, width: int) -> list[tuple[str, ...]]:
    rows = [
        (str(number) if k == 0 else "", name, *_cells(row))[:width]
        for k, (name, row) in enumerate((("first", pair.first), ("second", pair.second)))
    ]
    if pair.first is not None and pair.second is not None:
        rows.append(("", "", *_change(pair.first, pair.second))[:width])
    return rows


def _outages(pair: Pair) -> tuple[str, str, str]:
    """Which known outage took data: in the first, in the second, and whether it was the same."""
    first, second = ((row or {}).get("outage") or "" for row in (pair.first, pair.second))
    return first, second, "" if not first and not second else "=" if first == second else "≠"


def _cells(row: Row | None) -> tuple[str, ...]:
    if row is None:
        return ("none", "", "", "", "", "")
    lost, kind = row.get("lost_copies"), _kind(row)
    took = _took(row)
    return (
        f"{row['start']:.3f}",
        f"{int(row['lost_segments'] if lost is None else lost):,}",
        REPAIRED_BY.get(kind, kind),
        "" if row.get("silence_s") is None else seconds(float(row["silence_s"])),
        str(int(row.get("timeouts") or 0)),
        "open" if took is None else seconds(took),
    )


def _kind(row: Row) -> str:
    """How an episode was repaired, or what set off the repair of a burst."""
    return str(row.get("kind", row.get("trigger")))


def _took(row: Row) -> float | None:
    return None if row.get("end") is None else float(row["end"]) - float(row["start"])


def _change(a: Row, b: Row) -> tuple[str, ...]:
    def change(key: str, form: Any) -> str:
        if a.get(key) is None or b.get(key) is None:
            return ""
        difference = float(b[key]) - float(a[key])
        return "=" if abs(difference) < 5e-4 else ("+" if difference > 0 else "−") + form(abs(difference))

    a, b = ({**row, "took": _took(row)} for row in (a, b))
    kinds = [_kind(row) for row in (a, b)]
    return (
        change("start", lambda v: f"{v:.3f}"),
        change("lost_copies", lambda v: f"{v:,.0f}") or change("lost_segments", lambda v: f"{v:,.0f}"),
        "=" if kinds[0] == kinds[1] else "≠",
        change("silence_s", seconds),
        change("timeouts", lambda v: f"{v:.0f}"),
        change("took", seconds),
    )


def _untrusted(capture: Capture) -> str | None:
    """Why a run is not to be judged: it ran live, and the bridge kept no time."""
    from rexmit.running.folder import LiveFolder
    from rexmit.running.one_run import LiveRun

    bridge = None
    if isinstance(capture, LiveFolder):
        bridge = (_ran_live(capture.folder) or {}).get("bridge")
    elif isinstance(capture, LiveRun):
        bridge = capture.summary["bridge"]
    if not is_withheld(bridge):
        return None
    told = f"{capture.name}: {'; '.join(missed(bridge))}"
    return f"NOT IN TIME, {told}. Figures stand side by side, and nothing is put down to them."


def _name(capture: Capture) -> str:
    from rexmit.running.one_run import Run

    if not isinstance(capture, Run):
        return capture.name
    return ", ".join([capture.name, *capture.scenario._arguments()[1::2]])


def _short(first: str, second: str) -> tuple[str, str]:
    """Names for a legend: the first and the second, and what tells them apart."""
    names = [os.path.basename(name.rstrip("/")) or name for name in (first, second)]
    if names[0] == names[1] or max(map(len, names)) > LEGEND:
        return "first", "second"
    return f"first: {names[0]}", f"second: {names[1]}"
