"""The rows of a conversation in order of time, and the state of both directions between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from situation.direction import Direction
from situation.evidence import Evidence, Row

LOSSES = {"queue-full": "loss-queue", "aqm": "loss-queue", "policer": "policer", "mtu": "mtu"}


class Replay:
    """Goes through the rows in order of time."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.ways = {True: Direction(True), False: Direction(False)}
        self.established = False
        opened = [a["time"] for a in evidence.applications if a["event"] == "opened"]
        self.opened = min(opened, default=0)
        self.last_syn = self.opened
        self.syns = 0
        self.round_trip: int | None = None
        self.next_write = iter(self._writes())
        self.coming: tuple[int, bool] | None = next(self.next_write, None)
        self.links = {d: self._slowest(d) for d in (True, False)}
        self.last_arrived = {d: self._last_arrived(d) for d in (True, False)}
        failed = [a["time"] for a in evidence.applications if a["event"] in ("reset", "failed")]
        self.end, self.is_complete = self._end(min(failed, default=evidence.end_ns))
        self.was_reset = not self.is_complete and any(a["event"] == "reset" for a in evidence.applications)
        #: Channels that have lost data of the conversation, and not only ACKs.
        self.lose_data = {r["channel"] for r in evidence.drops if r["payload_bytes"]}

    def _writes(self) -> list[tuple[int, bool]]:
        rows = self.evidence.applications
        return [(a["time"], a["side"] == "client") for a in rows if a["event"] == "wrote"]

    def _last_arrived(self, from_client: bool) -> int:
        """The newest copy that arrived; copies are numbered as they are sent."""
        rows = self.evidence.hosts
        return max(
            (h["copy"] for h in rows if h["from_client"] == from_client and h["event"] == "arrived"),
            default=-1,
        )

    def _slowest(self, from_client: bool) -> tuple[str, str] | None:
        """Link and direction that spend most time on the data of one direction."""
        spent: dict[tuple[str, str], int] = {}
        for q in self.evidence.queues:
            if self._is_own(q) and q["from_client"] == from_client and q["payload_bytes"] and q["until"]:
                key = (q["link"], q["direction"])
                spent[key] = spent.get(key, 0) + q["until"] - q["time"]
        return max(spent, key=lambda key: spent[key]) if spent else None

    def _is_own(self, row: Row) -> bool:
        return bool(row["name"] == self.evidence.flow and row["connection"] == 0)

    def _end(self, latest: int) -> tuple[int, bool]:
        """When the last byte arrived that somebody waited for, and whether nothing is missing."""
        ends = {True: 0, False: 0}
        for way in (Direction(True), Direction(False)):
            side = "client" if way.from_client else "server"
            rows = [a for a in self.evidence.applications if a["side"] == side and a["event"] == "wrote"]
            total = sum(a["bytes"] for a in rows) + (rows[-1]["left_bytes"] if rows else 0)
            for h in self.evidence.hosts:
                mine = h["from_client"] == way.from_client and h["payload_bytes"] and h["event"] == "arrived"
                if mine and way.arrived < total:
                    way.arrives(h["copy"], h["seq"] - 1, h["payload_bytes"])
                    ends[way.from_client] = h["time"]
            if way.arrived < total:
                return latest, False
        self.ends = ends
        return min(latest, max(ends.values())), True

    def ends_at(self, way: Direction) -> int:
        """Which of two awaited directions ends last; of two that never end, the one that lacks more bytes."""
        return self.ends[way.from_client] if self.is_complete else way.wanted - way.arrived

    def intervals(self) -> Iterator[tuple[int, int]]:
        """Intervals between two rows, in order; the state is that of the interval when it is returned."""
        now: int | None = None
        for time, _, apply in self._events():
            if now is not None and min(time, self.end) > now:
                yield now, min(time, self.end)
            if time >= self.end:
                return
            apply()
            now = max(time, self.opened)
        if now is not None and now < self.end:
            yield now, self.end

    def _events(self) -> list[tuple[int, int, Any]]:
        e, found = self.evidence, []
        # At one moment in this order: a host sends a packet before a link queues, loses or keeps it.
        readers = (
            (e.applications, self._on_application),
            (e.hosts, self._on_host),
            (e.queues, self._on_queue),
            (e.drops, self._on_drop),
            (e.held, self._on_held),
            (e.blocked, self._on_blocked),
            (e.state, self._on_state),
        )
        for order, (rows, reader) in enumerate(readers):
            for row in rows:
                found.append((row["time"], order, _call(reader, row)))
        for q in e.queues:
            for d, key in self.links.items():
                if q["until"] and (q["link"], q["direction"]) == key:
                    found.append(
                        (q["until"], -1, _call(self._on_sent_by_link, {"way": d, "until": q["until"]}))
                    )
        found.sort(key=lambda item: item[:2])
        return found

    def _on_queue(self, q: Row) -> None:
        for d, key in self.links.items():
            if (q["link"], q["direction"]) != key:
                continue
            way = self.ways[d]
            own = self._is_own(q) and q["from_client"] == d
            if q["event"] == "enqueued":
                if own and q["payload_bytes"]:
                    way.waiting.add(q["copy"])
                continue
            if own:
                way.waiting.discard(q["copy"])
            way.serving, way.serving_until = "own" if own else "other", q["until"]

    def _on_sent_by_link(self, row: Row) -> None:
        way = self.ways[row["way"]]
        if way.serving_until <= row["until"]:
            way.serving = None

    def _on_drop(self, r: Row) -> None:
        way = self.ways[r["from_client"]]
        way.loses(r["copy"], r["payload_bytes"], self._why_lost(r))

    def _why_lost(self, r: Row) -> str:
        if r["cause"] in LOSSES:
            return LOSSES[r["cause"]]
        if r["kind"] == "outage" or r["cause"] == "flushed":
            if not r["payload_bytes"] and r["channel"] not in self.lose_data:
                return "ack-loss"
            died = not self.is_complete and r["copy"] > self.last_arrived[r["from_client"]]
            return "path-died" if died else "outage"
        return "loss-random"

    def _on_held(self, r: Row) -> None:
        late = r["event"] == "late"
        if not late or r["kind"] == "reorder":
            cause = "reordering" if late else "packets-held"
            self.ways[r["from_client"]].keeps(r["copy"], cause)

    def _on_host(self, h: Row) -> None:
        way, back = self.ways[h["from_client"]], self.ways[not h["from_client"]]
        if h["event"] == "sent":
            # An endpoint acknowledges all that has arrived in order with each packet.
            start = h["seq"] - 1 if h["payload_bytes"] else 0
            way.sends(h["copy"], start, h["payload_bytes"], back.arrived, h["time"])
            if h["from_client"] and h["reason"] == "control" and not self.established:
                self.last_syn = h["time"]
                self.syns += 1
            return
        way.arrives(h["copy"], h["seq"] - 1, h["payload_bytes"])
        back.active_at = h["time"]

    def _on_application(self, a: Row) -> None:
        client = a["side"] == "client"
        if a["event"] == "wrote":
            self.ways[client].writes(a["bytes"], a["left_bytes"])
            self.coming = next(self.next_write, None)

    def _on_blocked(self, b: Row) -> None:
        way = self.ways[b["from_client"]]
        way.by = b["by"]
        if b["by"] != "handshake" and b["from_client"] and not self.established:
            self.established = True
            self.round_trip = b["time"] - self.last_syn
            if self.syns > 1:
                self.ways[True].cut = "handshake"

    def _on_state(self, row: Row) -> None:
        self.ways[row["from_client"]].changes(row, self.ways[not row["from_client"]])


def _call(reader: Any, row: Row) -> Any:
    return lambda: reader(row)
