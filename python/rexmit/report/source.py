"""One capture or run as a source of a page: what META says of it, and the blobs that hold its rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from rexmit.frame import Frame
from rexmit.report import blobs, packets, rtts, runs
from rexmit.report.detail import detail
from rexmit.report.episodes import window_ns
from rexmit.report.tables import Tables

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.report.columns import Columns, Told

Row = dict[str, Any]

#: Flows that a page lists, the worst first.
MOST_FLOWS = 50_000
#: Rows of a table of one flow that a page reads at once.
MOST_ROWS = 200_000

#: Flows, of the worst, whose answer's cause the list of flows says.
MOST_CAUSES = 500
COLUMNS = (
    *("flow", "sender", "receiver", "bytes", "duration_s", "throughput_bps", "lost_copies"),
    *("retransmitted_segments", "episodes", "timeouts"),
)


class Source:
    """A capture with its tables and packets.

    number: its place among the sources of a page.  place: where it was taken, if it is one of a pair.
    told: as `Columns.fill` has it.
    """

    def __init__(
        self,
        capture: Capture,
        number: int,
        label: str,
        place: str | None = None,
        told: Told | None = None,
    ) -> None:
        self.capture = capture
        self.number = number
        self.label = label
        self.place = place
        self.tables = Tables(capture)
        self.packets = packets.read(self.tables, told)
        self.rtts: Columns = rtts.read(self.tables, told)
        #: By the names of all blobs that META speaks of, what makes them.
        self.blobs: dict[str, Callable[[], bytes]] = {}

    @property
    def run(self) -> Row | None:
        """What is known of the run; None of a capture."""
        return runs.told(self.capture)

    def meta(self, worst: Iterable[Row]) -> Row:
        """What stands in META of it (explorer/FORMAT.md), but for its details.

        worst: the flows that lost most, as docs/json.md has them.
        """
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
            "run": self.run,
            "clock": None,
            "flows": self.flows(worst),
            "details": [],
            "more": [],
        }

    def flows(self, worst: Iterable[Row]) -> Row:
        """Columns of the flows, the worst first."""
        table = Frame(self.capture.table("flows"), columns=COLUMNS)
        ranked = self.capture.analysis.worst(MOST_FLOWS)
        place = {flow: k for k, flow in enumerate(table.raw("flow"))}
        order = [place[flow] for flow in ranked]
        columns: Row = {name: table.at(name, order) for name in COLUMNS}
        left_out = len(table) - len(ranked)
        answers = ((int(flow["flow"]), flow["answer"]) for flow in islice(worst, MOST_CAUSES))
        found = {flow: answer for flow, answer in answers if answer}
        of = [found.get(int(flow)) for flow in columns["flow"]]
        columns["cause"] = [answer["cause"] if answer else None for answer in of]
        columns["cause_s"] = [answer["seconds"] if answer else None for answer in of]
        columns["rank"] = list(range(len(ranked)))
        return {"columns": columns, "left_out": left_out}

    def worst(self, most: int) -> list[Row]:
        """The worst flows as docs/json.md has them."""
        flows: list[Row] = self.capture.overview(most)["flows"]
        return flows

    def some(self, numbers: Sequence[int]) -> Iterator[Row]:
        """Flows as docs/json.md has them, in this order, each made when it is asked for."""
        return map(json.loads, self.capture.analysis.flows(numbers))

    def held(self, number: int) -> Row:
        """Where the packets of a flow are, none of which is in the page as yet: a part of its detail."""
        packets = {"count": _size(self.packets.of(number)), "held": "none", "blobs": []}
        return {"flow": number, "key": f"{self.number}/{number}", "packets": packets, "bins": []}

    def detail(self, flow: Row, brief: bool = False, held: Row | None = None) -> Row:
        """What a page tells of a flow. flow: as docs/json.md has it.

        brief: without its round trips, and what only large flows show.  held: where its packets are (default:
        not in the page).
        """
        number = int(flow["flow"])
        held = self.held(number) if held is None else held
        key = held["key"]
        told = detail(flow, key, self.tables, brief) | {name: held[name] for name in ("packets", "bins")}
        trips = slice(0, 0) if brief else self.rtts.of(number)
        told["rtt"] = self._named(key, "rtt", trips, partial(self._rtt, number))
        resent = self.tables.place("retransmissions", number)
        told["retransmissions"] = self._named(key, "retransmissions", resent, partial(self._resent, number))
        state = runs.state(self.capture, told["row"])
        told["state"] = None
        if state is not None:
            told["state"] = self._named(key, "state", slice(0, len(state)), partial(blobs.state, state))
        return told

    def _named(self, key: str, name: str, rows: slice, make: Callable[[], bytes]) -> str | None:
        """The name of a blob of so many rows; None where there is none, or too much of it."""
        if not 0 < _size(rows) <= MOST_ROWS:
            return None
        self.blobs[f"{key}/{name}"] = make
        return f"{key}/{name}"

    def _rtt(self, number: int) -> bytes:
        return rtts.container(self.rtts, self.rtts.of(number))

    def _resent(self, number: int) -> bytes:
        return blobs.retransmissions(self.tables.frame("retransmissions", number))

    def around(self, number: int, bursts: Sequence[Row], episode: Row, margin: int) -> slice:
        """The rows of the packets of an episode, and so many more at each end."""
        flow = self.packets.of(number)
        time = self.packets.columns["time_ns"]
        last = int(time[flow.stop - 1]) if flow.stop > flow.start else 0
        rows = self.packets.within(number, *window_ns(episode, bursts, last))
        return slice(max(flow.start, rows.start - margin), min(flow.stop, rows.stop + margin))


def _size(rows: slice) -> int:
    return int(rows.stop - rows.start)
