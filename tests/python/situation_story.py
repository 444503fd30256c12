"""Tiny conversations told row by row, as the simulator's tables would tell them: one upload, times in ms."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation"))
from situation.evidence import Evidence
from situation.oracle import Moment, Truth, explain

MS = 1_000_000
SEGMENT = 1000
ROUND_TRIP = 20


class Story:
    """A connection that opens at 0 and is established after a round trip of 20 ms."""

    def __init__(self, end: float = 5000, established: float = ROUND_TRIP) -> None:
        self.told = Evidence(end_ns=round(end * MS))
        self.copies = 0
        self.act(0, "client", "opened")
        self.host(0, "sent", self.copy(), reason="control")
        for from_client in (True, False):
            self.state(0, from_client=from_client)
            self.block(0, "handshake", from_client)
            self.block(established, "application", from_client)

    def copy(self) -> int:
        self.copies += 1
        return self.copies

    def act(self, at: float, side: str, event: str, bytes_: int = 0, left: int = 0) -> None:
        row = {"time": round(at * MS), "side": side, "event": event, "bytes": bytes_, "left_bytes": left}
        self.told.applications.append(row)

    def write(self, at: float, segments: int, side: str = "client", left: int = 0) -> None:
        self.act(at, side, "wrote", segments * SEGMENT, left * SEGMENT)

    def host(
        self,
        at: float,
        event: str,
        copy: int,
        from_client: bool = True,
        seq: int = 0,
        payload: int = 0,
        reason: str = "new",
    ) -> None:
        row = {"time": round(at * MS), "event": event, "copy": copy, "from_client": from_client}
        self.told.hosts.append(row | {"seq": seq, "payload_bytes": payload, "reason": reason})

    def send(self, at: float, segment: int, arrives: float | None = None, from_client: bool = True) -> int:
        """A segment of the stream, counted from 0; it is lost unless it arrives."""
        copy = self.copy()
        keys: dict[str, Any] = {"from_client": from_client, "seq": 1 + segment * SEGMENT, "payload": SEGMENT}
        self.host(at, "sent", copy, **keys)
        if arrives is not None:
            self.host(arrives, "arrived", copy, **keys)
        return copy

    def ack(self, at: float, arrives: float | None = None, from_client: bool = False) -> int:
        copy = self.copy()
        self.host(at, "sent", copy, from_client)
        if arrives is not None:
            self.host(arrives, "arrived", copy, from_client)
        return copy

    def drop(
        self,
        at: float,
        copy: int,
        cause: str = "channel",
        kind: str | None = "random",
        from_client: bool = True,
        payload: int = SEGMENT,
        channel: str | None = "air",
    ) -> None:
        row = {"time": round(at * MS), "copy": copy, "cause": cause, "kind": kind, "channel": channel}
        self.told.drops.append(row | {"from_client": from_client, "payload_bytes": payload})

    def keep(self, at: float, copy: int, until: float, event: str = "held", kind: str = "outage") -> None:
        row = {"time": round(at * MS), "until": round(until * MS), "copy": copy, "event": event, "kind": kind}
        self.told.held.append(row | {"from_client": True})

    def block(self, at: float, by: str, from_client: bool = True) -> None:
        self.told.blocked.append({"time": round(at * MS), "from_client": from_client, "by": by})

    def state(self, at: float, una: int = 0, from_client: bool = True, **changed: Any) -> None:
        """una: in segments."""
        row: dict[str, Any] = {"time": round(at * MS), "from_client": from_client, "una": 1 + una * SEGMENT}
        row |= {"smss_bytes": SEGMENT, "peer_window_bytes": 64_000, "phase": "open", "ssthresh_bytes": None}
        row |= {"srtt_s": 0.02, "rttvar_s": 0.01, "backoff": 0, "dupacks": 0}
        self.told.state.append(row | changed)

    def serve(self, came: float, begin: float, end: float, copy: int, name: str = "main") -> None:
        """The slowest link: a packet waits from `came` on and is sent from `begin` to `end`."""
        row = {"link": "way", "direction": "forward", "copy": copy, "name": name, "connection": 0}
        row |= {"from_client": True, "payload_bytes": SEGMENT}
        self.told.queues.append(row | {"time": round(came * MS), "event": "enqueued", "until": None})
        going = {"time": round(begin * MS), "event": "dequeued", "until": round(end * MS)}
        self.told.queues.append(row | going)

    def explained(self) -> Truth:
        """The oracle's answer. Its moments do not overlap, and their lengths add up to `owed_s`."""
        for rows in (self.told.hosts, self.told.applications, self.told.drops, self.told.state):
            rows.sort(key=lambda row: row["time"])
        truth = explain(self.told)
        assert all(a.end_ns <= b.begin_ns for a, b in zip(truth.moments, truth.moments[1:], strict=False))
        assert sum(m.length_ns for m in truth.moments) == round(truth.owed_s * 1e9)
        assert abs(sum(truth.seconds.values()) - truth.owed_s) < 1e-9
        return truth

    def owners(self) -> list[tuple[float, float, str]]:
        """Begin and end in ms, and the cause, after the handshake."""
        return [told(m) for m in self.explained().moments if m.cause != "handshake"]


def told(m: Moment) -> tuple[float, float, str]:
    by = f" by {m.by}" if m.by else ""
    return m.begin_ns / MS, m.end_ns / MS, m.cause + by
