"""The flows of a capture: a table, and each with its figures, its rows and its pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast, overload

from rexmit import _core
from rexmit.screen.say import markup, one_line
from rexmit.tables import Table, cell

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.ladder import Ladder
    from rexmit.figures import Figure
    from rexmit.frame import Batch, Frame

#: Of so many flows, the worst, the page chooses those to which something happened.
RANKED = 32
#: Rows that are kept only when asked for: one for each packet, ACK, repair or interval.
ON_DEMAND: tuple[_core.TableName, ...] = ("retransmissions", "intervals", "rtt", "packets")


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
            yield from (Flow(self._capture, row) for row in batch.rows(self._capture.origin_ns))

    def largest(self) -> Flow | None:
        """The flow with the most data, of several the first; None if there is none."""
        from rexmit.frame import batches

        most, found = -1, None
        for batch in batches(self):
            carried = batch.column("bytes")
            if len(batch) and max(carried) > most:
                most = max(carried)
                place = list(carried).index(most)
                found = self._row(batch, place)
        return None if found is None else Flow(self._capture, found)

    def _row(self, batch: Batch, place: int) -> dict[str, Any]:
        return next(batch.slice(place, place + 1).rows(self._capture.origin_ns))

    def _at(self, places: set[int]) -> dict[int, dict[str, Any]]:
        """Rows by their place in the table."""
        from rexmit.frame import batches

        found: dict[int, dict[str, Any]] = {}
        offset = 0
        for batch in batches(self):
            for place in sorted(p - offset for p in places if offset <= p < offset + len(batch)):
                found[offset + place] = self._row(batch, place)
            offset += len(batch)
            if len(found) == len(places):
                break
        return found

    def _rows_of(self, ids: set[int]) -> dict[int, dict[str, Any]]:
        """Rows by flow id."""
        from rexmit.frame import batches

        found = {}
        for batch in batches(self):
            for place, flow in enumerate(batch.column("flow")):
                if flow in ids:
                    found[flow] = self._row(batch, place)
        return found


class Flow:
    """One direction of a connection: its figures, its rows, its pictures."""

    def __init__(self, of: Capture, row: dict[str, Any]) -> None:
        self._capture = of
        #: Its row of the table `flows`, times in s after the capture's first packet.
        self.row = row
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
        if name not in self._frames:
            has = self._capture._has(name)
            source = (self._capture.analysis, self.id) if has else self._detailed()
            self._frames[name] = self._gathered(name, None, *source)
        return self._frames[name]

    def columns(self, name: _core.TableName, *columns: str) -> Frame:
        """Some columns of this flow's rows, which are not kept: those of a long transfer take memory."""
        if self._capture._has(name):
            return self._gathered(name, columns, self._capture.analysis, self.id)
        return self._gathered(name, columns, *(self._detail or self._alone((name,))))

    def _gathered(
        self, name: _core.TableName, columns: Sequence[str] | None, analysis: _core.Analysis, number: int
    ) -> Frame:
        from rexmit.frame import Frame

        of = self._capture
        return Frame(analysis.table(name), of.origin_ns, of.since, flow=number, columns=columns)

    def _detailed(self) -> tuple[_core.Analysis, int]:
        """A pass over this flow alone, every kind of row kept, and the flow's number in it."""
        if self._detail is None:
            self._detail = self._alone(ON_DEMAND)
        return self._detail

    def _alone(self, tables: Sequence[_core.TableName]) -> tuple[_core.Analysis, int]:
        """A pass over this flow alone that keeps these rows, and the flow's number in it."""
        if "-" in self._capture.paths:
            raise ValueError("standard input can be read once only: ask for the rows at once, tables=(…)")
        analysis = self._capture._run(tables, flow=f"{self.sender}-{self.receiver}")
        return analysis, self._find(analysis)

    def _find(self, analysis: _core.Analysis) -> int:
        # Ports are used again: of several connections between the same two, the one that starts nearest.
        from rexmit.frame import batches

        found: list[tuple[float, int]] = []
        for batch in batches(analysis.table("flows")):
            names = zip(batch.column("sender"), batch.column("receiver"), strict=True)
            for i, pair in enumerate(names):
                if pair == (self.sender, self.receiver):
                    start = (batch.column("start")[i] - self._capture.origin_ns) / 1e9
                    found.append((abs(start - self.row["start"]), batch.column("flow")[i]))
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
        """The outages of the flow (docs/json.md), times in s after the capture's first packet; None where
        none was found.
        """
        return cast("dict[str, Any] | None", self._told.get("outages"))

    def answer(self) -> dict[str, Any] | None:
        """The answer about the flow's connection (docs/json.md): where the time went, and why; None where
        rexmit failed on it, or where a live run was late.
        """
        return cast("dict[str, Any] | None", self._told.get("answer"))

    @cached_property
    def _told(self) -> dict[str, Any]:
        """The flow as docs/json.md has it."""
        return cast("dict[str, Any]", json.loads(self._capture.analysis.flow(self.id) or "{}"))

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

    def causes(self) -> Figure:
        """Where the time of its connection went, as one bar."""
        from rexmit import figures

        return figures.causes(self._told)

    def exchange(self, number: int) -> Ladder:
        """The packet exchange of episode `number` (from 1, as pages count). Raises ValueError if there is
        none.
        """
        from rexmit.captured import ladder
        from rexmit.screen.units import count

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
        yield "causes", self.causes()
        costly = sorted(self.episodes(), key=lambda e: -(e.get("cost_s") or 0.0))[:ladders]
        for number in sorted(int(e["number"]) + 1 for e in costly):
            yield f"ladder-{number}", self.ladder(number)

    def _interval(self) -> float:
        return float(self._capture._options["interval"])

    def __repr__(self) -> str:
        from rexmit.screen.units import count, rate, seconds, size

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
