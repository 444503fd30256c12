"""One capture or run as a source of a page: what `meta` says of it, and the blobs that hold its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit.report import blobs, ladders
from rexmit.report.detail import detail
from rexmit.report.packets import Packets, Told, read
from rexmit.report.tables import Tables

if TYPE_CHECKING:
    from rexmit.api import Capture

Row = dict[str, Any]

#: Flows that a page lists, the worst first.
MOST_FLOWS = 50_000
#: Flows that a page tells everything of at once; of further ones in blobs of so many.
AT_ONCE = 16
IN_A_BLOB = 64
#: Flows of fewer packets share a blob of about so many.
SMALL, SHARED = 2_000, 20_000
#: Ladders of a page that are drawn beforehand.
MOST_LADDERS = 200

COLUMNS = (
    *("flow", "sender", "receiver", "bytes", "duration_s", "throughput_bps", "lost_copies"),
    *("retransmitted_segments", "episodes", "timeouts", "cost_s", "limit"),
)


class Source:
    """A capture with its tables and packets.

    number: its place among the sources of a page.  place: where it was taken, if it is one of a pair.
    """

    def __init__(
        self,
        capture: Capture,
        number: int,
        label: str,
        place: str | None,
        folder: Path | None = None,
        told: Told | None = None,
    ) -> None:
        self.capture = capture
        self.number = number
        self.label = label
        self.place = place
        self.tables = Tables(capture)
        self.packets: Packets = read(self.tables, folder, told)
        self._drawn = 0

    def meta(self) -> Row:
        """What stands in META of it (explorer/FORMAT.md), but for its details."""
        seen = self.capture.overview(0)
        return {
            "id": self.number,
            "label": self.label,
            "place": self.place or seen["capture"].get("vantage"),
            "origin": seen["capture"].get("start"),
            "span_s": seen["capture"].get("span_s"),
            "capture": seen["capture"],
            "totals": seen["totals"],
            "warnings": seen["capture"]["warnings"],
            "run": None,
            "flows": self.flows(),
        }

    def flows(self) -> Row:
        """Columns of the flows, the worst first."""
        table = self.tables.all("flows")
        ranked = self.capture.analysis.worst(MOST_FLOWS)
        place = {int(flow): k for k, flow in enumerate(table["flow"])}
        order = np.array([place[flow] for flow in ranked], np.int64)
        columns: Row = {}
        for name in COLUMNS:
            values = table.text(name) if name in ("sender", "receiver", "limit") else table[name]
            columns[name] = [values[k] for k in order]
        columns["lost_copies"] = [None if n < 0 else n for n in columns["lost_copies"]]
        columns["rank"] = list(range(len(ranked)))
        return {"columns": columns, "left_out": len(table) - len(ranked)}

    def worst(self, most: int) -> list[Row]:
        """The worst flows as docs/json.md has them."""
        flows: list[Row] = self.capture.overview(most)["flows"]
        return flows

    def details(self, flows: Sequence[Row]) -> Iterator[tuple[Row, dict[str, bytes]]]:
        """What a page tells of each flow, and its blobs; all of its packets are among them."""
        for flow in flows:
            number = int(flow["flow"])
            told, made = self.lists(flow)
            rows = self.packets.of(number)
            told["packets"] = {"count": rows.stop - rows.start, "held": "all", "blobs": []}
            told["bins"] = []
            yield told, made

    def lists(self, flow: Row) -> tuple[Row, dict[str, bytes]]:
        """What a page tells of a flow but for its packets, and the blobs of it."""
        number = int(flow["flow"])
        key = f"{self.number}/{number}"
        told = detail(flow, key, self.tables)
        made: dict[str, bytes] = {}
        named = (
            ("retransmissions", blobs.retransmissions(self.tables.frame("retransmissions", number))),
            ("rtt", blobs.rtt(self.tables.frame("rtt", number))),
            ("state", self._state(number)),
        )
        for name, blob in named:
            told[name] = None if blob is None else f"{key}/{name}"
            if blob is not None:
                made[f"{key}/{name}"] = blob
        told["ladders"] = self._ladders(number)
        return told, made

    def _state(self, number: int) -> bytes | None:
        from rexmit.one_run import Run

        if not isinstance(self.capture, Run) or not self.capture.records("state"):
            return None
        return blobs.state(self.tables.frame("state", number))

    def _ladders(self, number: int) -> dict[str, Row]:
        if self._drawn >= MOST_LADDERS:
            return {}
        (flow,) = self.tables.rows("flows", number)
        bursts = self.tables.rows("bursts", number)
        time = self.packets.column("time_ns", self.packets.of(number))
        last = int(time.max()) if len(time) else 0
        made = ladders.ladders(
            flow,
            self.tables.rows("episodes", number),
            bursts,
            lambda episode: ladders.packets_of(
                self.packets, number, self.capture.since, ladders.window_ns(episode, bursts, last)
            ),
            self.tables.frame("retransmissions", number),
        )
        self._drawn += len(made)
        return made


def with_packets(
    source: Source, details: Sequence[tuple[Row, dict[str, bytes]]]
) -> Iterator[tuple[str, bytes]]:
    """The blobs of all packets of these flows: one for each large flow, small ones together."""
    waiting: list[tuple[Row, slice]] = []

    def together() -> tuple[str, bytes]:
        name = f"{source.number}/small/{waiting[0][0]['flow']}/packets"
        done = 0
        for told, rows in waiting:
            size = rows.stop - rows.start
            told["packets"] |= {"blobs": [name], "rows": [done, done + size]}
            done += size
        where = np.concatenate([np.arange(rows.start, rows.stop) for _, rows in waiting])
        waiting.clear()
        return name, source.packets.container(where)

    for told, _ in details:
        rows = source.packets.of(told["flow"])
        size = rows.stop - rows.start
        if size >= SMALL:
            name = f"{told['key']}/packets"
            told["packets"]["blobs"] = [name]
            yield name, source.packets.container(rows)
        elif size:
            waiting.append((told, rows))
            if sum(r.stop - r.start for _, r in waiting) >= SHARED:
                yield together()
    if waiting:
        yield together()
