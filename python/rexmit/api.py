"""`rx.capture(path)`: the answer about a capture as tables and figures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from rexmit import _core
from rexmit.memory import limit
from rexmit.notebook import Shown
from rexmit.say import markup, one_line
from rexmit.tables import Named, Table, cell

if TYPE_CHECKING:
    from rexmit.figures import Figure
    from rexmit.frame import Frame
    from rexmit.groups import By
    from rexmit.ladder import Ladder
    from rexmit.report.cell import Report

Path = str | os.PathLike[str]
Progress = Callable[[int, int | None, int], bool]
Vantage = Literal["sender", "receiver", "middle"]

#: Of so many flows, the worst, the page chooses those to which something happened.
RANKED = 32
#: Rows that are kept only when asked for: one for each packet, ACK, repair or interval.
ON_DEMAND: tuple[_core.TableName, ...] = ("retransmissions", "intervals", "rtt", "packets")


def capture(
    *paths: Path,
    receiver: Path | Sequence[Path] | None = None,
    flow: str | None = None,
    host: str | None = None,
    port: int | None = None,
    start: float | None = None,
    end: float | None = None,
    at: Vantage | None = None,
    idle: float | None = None,
    interval: float = 1.0,
    checksums: bool = False,
    tables: Sequence[_core.TableName] = (),
    max_memory: int | str | None = None,
    threads: int | None = None,
    like: bool = False,
    progress: Progress | None = None,
) -> Capture:
    """Reads a capture and analyses it.

    paths: capture files; several are one rotation in order of time, "-" is standard input; or a folder that
    `record` made.  receiver:
    captures of the same transfer at the receiver; `paths` are then the sender's, and losses are exact.
    flow: "ip:port-ip:port" in either order; host: an address; port: a port.  start, end: s after the first
    packet.  at: where it was taken (default: inferred).  idle: threshold of an idle gap, s (default max(2
    RTTmin, 50 ms)).  interval: length of the throughput intervals, s.  checksums: verify those of TCP, and
    take a segment whose checksum is wrong as not arrived (a pass over every byte, so it takes longer).
    tables: which of retransmissions, intervals, rtt and packets to keep at once; what is not kept is computed
    by another pass when first used.  max_memory: bytes, or text such as "2GB" (default: three quarters of
    what is free); once it is used up, what comes further is counted, not analysed (`not_analysed_packets`).
    threads: how many analyse, beside the one that reads (default: one a core); the answer is the same.
    like: replay the transfer with the most data through every stack: which is its sender like (`inference`)?

    Raises CaptureError if nothing could be read, ValueError for arguments that make no sense.
    """
    if not paths:
        raise ValueError("capture() needs at least one file")
    if receiver is not None and isinstance(receiver, (str, os.PathLike)):
        receiver = [receiver]
    options = {"flow": flow, "host": host, "port": port, "start": start, "end": end}
    options |= {"at": at, "idle": idle, "interval": interval, "checksums": checksums}
    options |= {"max_memory": max_memory, "threads": threads, "like": like}
    if len(paths) == 1 and receiver is None and os.path.isdir(paths[0]):
        from rexmit.recording import Recording, is_recording

        if is_recording(paths[0]):
            return Recording(paths[0], options, tuple(tables), progress)
    return Capture(
        [os.fspath(p) for p in paths],
        None if receiver is None else [os.fspath(p) for p in receiver],
        options,
        tuple(tables),
        progress,
    )


class Capture(Named, Shown):
    """What one pass over a capture found. Made by `rexmit.capture`."""

    def __init__(
        self,
        paths: list[str],
        receiver: list[str] | None,
        options: dict[str, Any],
        tables: tuple[_core.TableName, ...] = (),
        progress: Progress | None = None,
    ) -> None:
        #: Somebody waits for the answer: it does without what takes long.
        self.hurried = False
        self.paths = paths
        self.receiver = receiver
        self._options = options
        self._progress = progress
        self._kept: frozenset[str] = frozenset()
        self._analysis = self._run(tables)

    def _run(self, tables: Sequence[_core.TableName], **changed: Any) -> _core.Analysis:
        options = self._options | changed
        if changed:
            options["like"] = False
        options["max_memory"] = limit(options.get("max_memory"))
        found = _core.analyze(
            self.paths, receiver=self.receiver, tables=list(tables), progress=self._progress, **options
        )
        if not changed:
            self._kept = frozenset(tables)
        return found

    def _has(self, name: str) -> bool:
        return name not in ON_DEMAND or name in self._kept

    def _keep(self, *names: _core.TableName) -> None:
        """Makes sure that these rows are there, by another pass if they were not kept."""
        missing = [n for n in names if not self._has(n)]
        if not missing:
            return
        if "-" in self.paths + (self.receiver or []):
            wanted = ", ".join(map(repr, missing))
            raise ValueError(
                f"standard input can be read once only: ask for its rows at once, tables=({wanted},)"
            )
        self._analysis = self._run(cast("list[_core.TableName]", sorted(self._kept | set(missing))))

    @property
    def analysis(self) -> _core.Analysis:
        """The compiled core's answer."""
        return self._analysis

    @property
    def interrupted(self) -> bool:
        """True if the reading was stopped early; what was read until then is here."""
        return self._analysis.interrupted()

    @property
    def sender_paths(self) -> list[str]:
        """The files whose packets are numbered here: of two captures the sender's, however given."""
        return self.receiver if self.receiver and self._analysis.swapped() else self.paths

    def write_json(self, fd: int) -> None:
        """The whole answer as docs/json.md describes it, into an open file."""
        self.analysis.write_json(fd)

    def overview(self, top: int = 5) -> dict[str, Any]:
        """`capture`, `totals` and the `top` flows that cost most, as docs/json.md describes them."""
        return cast("dict[str, Any]", json.loads(self._analysis.overview(top)))

    def _answers(self) -> dict[int, dict[str, Any] | None]:
        """The answers of the worst flows, by their number; those of others are not drawn."""
        return {int(flow["flow"]): flow.get("answer") for flow in self.overview(RANKED)["flows"]}

    @cached_property
    def info(self) -> dict[str, Any]:
        """The capture itself: packets, span_s, link_types, offloads, drops, warnings (docs/json.md)."""
        return cast("dict[str, Any]", self.overview(0)["capture"])

    @cached_property
    def origin_ns(self) -> int:
        """The first packet's time, nanoseconds since 1970: what figures and pages count from."""
        return _nanoseconds(self.info.get("start"))

    @property
    def since(self) -> str:
        """What times count from, in words."""
        from rexmit.frame import FIRST_PACKET

        return FIRST_PACKET

    def table(self, name: _core.TableName) -> Table:
        """One of the tables by its name. Rows that were not kept are computed when first used."""

        def load() -> _core.Table:
            self._keep(name)
            return self._analysis.table(name)

        return Table(name, load)

    @property
    def flows(self) -> Flows:
        """One row for each direction that carried data; `flows[0]` is the first of them as a `Flow`."""
        return Flows(self)

    def worst(self, n: int = 1) -> list[Flow]:
        """The n flows that could have carried most in the time that they lost, the worst first."""
        wanted = [int(f["flow"]) for f in self.overview(n)["flows"]]
        rows = self.flows._rows_of(set(wanted))
        return [Flow(self, rows[i]) for i in wanted if i in rows]

    def by(self, what: By) -> Table:
        """Flows added up, those that lost most time first: by `pair`, `host`, `port` or `cause`.

        The columns stand at `rexmit.groups.groups`. Raises ValueError for another way.
        """
        from rexmit.groups import groups

        return groups(self, what)

    def page(self, top: int = 7, hints: bool = True) -> str:
        """The answer on one screen, as `rexmit analyze` prints it; with the next command, if wanted."""
        from rexmit.page import MANY, page

        seen = self.overview(max(top, RANKED))
        summary = None
        if int(seen["totals"]["flows"]) >= MANY and not self.hurried:
            from rexmit.short_flows import many

            summary = many(self)
        return "\n".join(page(seen, self.name, summary, command=self.command, hints=hints, most=top - 1))

    def report(self, *, anonymize: bool = False) -> Report:
        """The interactive page of `rexmit report`, which a notebook shows in a cell; `save` writes it.

        anonymize: other addresses, names and paths in their places (docs/report.md).
        """
        from rexmit.report.cell import Report

        return Report(self, anonymize=anonymize)

    @property
    def name(self) -> str:
        """The capture as the user named it."""
        first = self.paths[0] if self.paths[0] != "-" else "standard input"
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        both = f" with {self.receiver[0]}" if self.receiver else ""
        return first + more + both

    @property
    def command(self) -> str:
        """The command line that analyses the same again, without its options."""
        from shlex import join

        if self.receiver:
            return join(["rexmit", "analyze", "--sender", *self.paths, "--receiver", *self.receiver])
        chosen = [
            ["--" + name, str(self._options[name])]
            for name in ("flow", "host", "port")
            if self._options[name]
        ]
        return join(["rexmit", "analyze", *self.paths, *(word for pair in chosen for word in pair)])

    def _line(self) -> str:
        from rexmit.units import count

        totals = self.overview(1)["totals"]
        return f"capture {self.name}: {count(int(totals['flows_with_data']), 'flow')} with data"


class Flows(Table):
    """The flows: a table, and a sequence of `Flow`."""

    def __init__(self, of: Capture) -> None:
        super().__init__("flows", lambda: of.analysis.table("flows"))
        self._capture = of

    @overload
    def __getitem__(self, which: int) -> Flow: ...
    @overload
    def __getitem__(self, which: slice) -> list[Flow]: ...
    def __getitem__(self, which: int | slice) -> Flow | list[Flow]:
        if isinstance(which, slice):
            wanted = range(*which.indices(len(self)))
            found = self._at(set(wanted))
            return [Flow(self._capture, found[i]) for i in wanted]
        n = len(self)
        place = which + n if which < 0 else which
        if not 0 <= place < n:
            raise IndexError(f"flow {which} of {n}")
        return Flow(self._capture, self._at({place})[place])

    def __iter__(self) -> Iterator[Flow]:
        from rexmit.frame import batches

        for batch in batches(self):
            for i in range(batch.num_rows):
                yield Flow(self._capture, batch.slice(i, 1))

    def _at(self, places: set[int]) -> dict[int, Any]:
        """One-row batches by their place in the table."""
        from rexmit.frame import batches

        found, offset = {}, 0
        for batch in batches(self):
            for place in sorted(p for p in places if offset <= p < offset + batch.num_rows):
                found[place] = batch.slice(place - offset, 1)
            offset += batch.num_rows
            if len(found) == len(places):
                break
        return found

    def _rows_of(self, ids: set[int]) -> dict[int, Any]:
        """One-row batches by flow id."""
        from rexmit.frame import batches

        found = {}
        for batch in batches(self):
            column = batch.column("flow").to_pylist()
            found.update({flow: batch.slice(i, 1) for i, flow in enumerate(column) if flow in ids})
        return found


class Flow:
    """One direction of a connection: its figures, its rows, its pictures."""

    def __init__(self, of: Capture, batch: Any) -> None:
        from rexmit.frame import Frame, timestamp_ns

        self._capture = of
        self._start_ns = timestamp_ns(batch.column("start")[0])
        frame = Frame(_as_table(batch), of.origin_ns, of.since)
        self.row: dict[str, Any] = frame.rows()[0]
        self._frames: dict[str, Frame] = {}
        self._detail: tuple[_core.Analysis, int] | None = None

    @property
    def id(self) -> int:
        """The flow's number in the tables."""
        return int(self.row["flow"])

    @property
    def sender(self) -> str:
        """Who sends the data, `ip:port`."""
        return str(self.row["sender"])

    @property
    def receiver(self) -> str:
        """Who receives it, `ip:port`."""
        return str(self.row["receiver"])

    def __getitem__(self, name: str) -> Any:
        """A figure of the flow by its column name; times are s after the capture's first packet."""
        return self.row[name]

    def frame(self, name: _core.TableName) -> Frame:
        """Rows of this flow, times in s after the capture's first packet; packets are read for this flow
        only.
        """
        from rexmit.frame import Frame, gather

        if name not in self._frames:
            if self._capture._has(name):
                rows = gather(self._capture.analysis.table(name), self.id)
            else:
                analysis, number = self._detailed()
                rows = gather(analysis.table(name), number)
            self._frames[name] = Frame(rows, self._capture.origin_ns, self._capture.since)
        return self._frames[name]

    def _detailed(self) -> tuple[_core.Analysis, int]:
        """A pass over this flow alone, every kind of row kept, and the flow's number in it."""
        if self._detail is None:
            if "-" in self._capture.paths:
                raise ValueError("standard input can be read once only: ask for the rows at once, tables=(…)")
            analysis = self._capture._run(ON_DEMAND, flow=f"{self.sender}-{self.receiver}")
            self._detail = (analysis, self._find(analysis))
        return self._detail

    def _find(self, analysis: _core.Analysis) -> int:
        # Ports are used again: of several connections between the same two, the one that starts nearest.
        from rexmit.frame import batches, timestamp_ns

        found: list[tuple[int, int]] = []
        for batch in batches(analysis.table("flows")):
            names = zip(batch.column("sender").to_pylist(), batch.column("receiver").to_pylist(), strict=True)
            for i, pair in enumerate(names):
                if pair == (self.sender, self.receiver):
                    away = abs(timestamp_ns(batch.column("start")[i]) - self._start_ns)
                    found.append((away, int(batch.column("flow")[i].as_py())))
        if not found:
            raise ValueError(f"{self.sender} → {self.receiver} is not in the capture any more")
        return min(found)[1]

    def episodes(self) -> list[dict[str, Any]]:
        """The flow's episodes in order; times are s after the capture's first packet."""
        return sorted(self.frame("episodes").rows(), key=lambda row: int(row["number"]))

    def bursts(self) -> list[dict[str, Any]]:
        """The flow's bursts of losses in order of time."""
        return sorted(self.frame("bursts").rows(), key=lambda row: float(row["start"]))

    def outages(self) -> dict[str, Any] | None:
        """The outages of the flow's answer (docs/json.md), times in s after the capture's first packet; None
        where none was found.
        """
        found = self._capture._answers().get(self.id)
        return cast("dict[str, Any] | None", (found or {}).get("outages"))

    def time_sequence(self, start: float | None = None, end: float | None = None) -> Figure:
        """Sequence number against time: data, ACKs, SACK, losses, retransmissions by cause.

        start, end: the part to show, s after the capture's first packet.
        """
        from rexmit import figures

        return figures.time_sequence(
            self.frame("packets"),
            self.episodes(),
            self.bursts(),
            self.row,
            start=start,
            end=end,
            retransmissions=self.frame("retransmissions"),
            outages=self.outages(),
        )

    def throughput(self) -> Figure:
        """Bits per second sent, new and acknowledged."""
        from rexmit import figures

        return figures.throughput(
            self.frame("intervals"), self.episodes(), self.row, interval=self._interval()
        )

    def rtt(self) -> Figure:
        """Round-trip times against time and against sequence number."""
        from rexmit import figures

        return figures.rtt(self.frame("rtt"), self.episodes(), self.row)

    def repairs(self) -> Figure:
        """Duplicate ACKs and retransmissions by cause, per interval."""
        from rexmit import figures

        return figures.repairs(
            self.frame("intervals"),
            self.frame("retransmissions"),
            self.episodes(),
            self.row,
            interval=self._interval(),
        )

    def window(self) -> Figure:
        """Advertised window and bytes in flight."""
        from rexmit import figures

        return figures.window(self.frame("packets"), self.episodes(), self.row)

    def idle_gaps(self) -> Figure:
        """Idle gaps by cause."""
        from rexmit import figures

        return figures.idle_gaps(self.frame("idle"), self.episodes(), self.row)

    def limited(self) -> dict[str, Any]:
        """What limited it (`limited_by`) and what its path could carry (`path`), as in docs/json.md."""
        listed = self._capture.overview(RANKED)["flows"]
        found = next((f for f in listed if f["flow"] == self.id), None)
        if found is None:
            analysis, number = self._detailed()
            listed = json.loads(analysis.overview(RANKED))["flows"]
            found = next(f for f in listed if f["flow"] == number)
        return {name: found.get(name) for name in ("sender", "receiver", "vantage", "limited_by", "path")}

    def limits(self) -> Figure:
        """What limited it, as one bar."""
        from rexmit import figures

        return figures.limits(self.limited())

    def exchange(self, number: int) -> Ladder:
        """The packet exchange of episode `number` (from 1, as pages count). Raises ValueError if there is
        none.
        """
        from rexmit import ladder
        from rexmit.units import count

        episodes = {int(e["number"]) + 1: e for e in self.episodes()}
        if number not in episodes:
            there = count(len(episodes), "episode") if episodes else "no episode"
            raise ValueError(f"there is no episode {number}: {self.sender} → {self.receiver} has {there}")
        return ladder.build(
            self.frame("packets"), episodes[number], self.bursts(), self.row, self.frame("retransmissions")
        )

    def ladder(self, number: int = 1) -> Figure:
        """The packet exchange of episode `number` (from 1) as a figure."""
        from rexmit import figures

        return figures.ladder(self.exchange(number))

    def figures(self, ladders: int = 3) -> Iterator[tuple[str, Figure]]:
        """All figures with their names: the whole set, and the ladders of the costliest episodes."""
        yield "time-sequence", self.time_sequence()
        yield "throughput", self.throughput()
        yield "rtt", self.rtt()
        yield "repairs", self.repairs()
        yield "window", self.window()
        yield "idle", self.idle_gaps()
        yield "limits", self.limits()
        costly = sorted(self.episodes(), key=lambda e: -(e.get("cost_s") or 0.0))[:ladders]
        for number in sorted(int(e["number"]) + 1 for e in costly):
            yield f"ladder-{number}", self.ladder(number)

    def _interval(self) -> float:
        return float(self._capture._options["interval"])

    def __repr__(self) -> str:
        from rexmit.units import count, rate, seconds, size

        words = [
            f"{self.sender} → {self.receiver}",
            f"{size(self.row['bytes'])} in {seconds(self.row['duration_s'])}",
        ]
        if self.row.get("throughput_bps") is not None:
            words.append(rate(self.row["throughput_bps"]))
        words.append(count(int(self.row["episodes"]), "episode"))
        return one_line("<flow " + ", ".join(words) + ">")

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><th>{markup(name)}</th><td>{markup(cell(value))}</td></tr>"
            for name, value in self.row.items()
            if value is not None
        )
        caption = f"<caption>{markup(f'{self.sender} → {self.receiver}')}</caption>"
        return f"<table>{caption}<tbody>{''.join(rows)}</tbody></table>"


def _as_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _nanoseconds(stamp: str | None) -> int:
    """Nanoseconds since 1970 of an RFC 3339 time in UTC with up to nine decimals."""
    if not stamp:
        return 0
    from calendar import timegm
    from time import strptime

    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return timegm(strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 1_000_000_000 + int((fraction + "0" * 9)[:9])
