"""One transfer, played out packet by packet, as the tables the core would give: fixtures without a capture.

A sender with a fixed window sends through a bottleneck; outages drop everything both ways. The first ends
while the window still lasts, so an ACK with SACK starts the repair; the second outlasts the window, so the
timer does.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pyarrow as pa

MSS = 1448
ORIGIN_NS = 1_700_000_000_000_000_000
FLOW = {
    "flow": 0,
    "sender": "10.8.0.2:41822",
    "receiver": "10.8.0.9:21",
    "vantage": "sender",
}


@dataclass
class Story:
    """segments: how many to send.  outages: (from, to), s.  window: segments in flight at most."""

    segments: int = 3000
    window: int = 260
    delay_s: float = 0.020
    packet_s: float = 0.0011
    rto_s: float = 0.312
    outages: tuple[tuple[float, float], ...] = ((1.0, 1.12), (2.5, 2.95))
    packets: list[dict[str, Any]] = field(default_factory=list)
    retransmissions: list[dict[str, Any]] = field(default_factory=list)
    rtts: list[dict[str, Any]] = field(default_factory=list)
    lost: list[tuple[float, int]] = field(default_factory=list)

    def play(self) -> Story:
        events: list[tuple[float, int, str, Any]] = [(0.0, 0, "send", None)]
        tick = 1
        una, nxt, high_sacked = 0, 0, 0
        sacked: set[int] = set()
        marked: set[int] = set()  # deemed lost, not yet sent again
        sent_at: dict[int, float] = {}
        again: set[int] = set()
        got: set[int] = set()
        expected = 0
        wire_free, timer, last_blocks = 0.0, self.rto_s, []
        state, recovery_point, backoff = "open", 0, 0

        def push(at: float, what: str, value: Any) -> None:
            nonlocal tick
            heapq.heappush(events, (at, tick, what, value))
            tick += 1

        def in_flight() -> int:
            return sum(1 for i in range(una, nxt) if i not in sacked and i not in marked)

        def transmit(now: float, i: int, cause: str | None) -> None:
            nonlocal wire_free
            wire_free = max(now, wire_free) + self.packet_s
            sent_at[i] = now
            if cause:
                again.add(i)
            dropped = any(a <= wire_free < b for a, b in self.outages)
            self._packet(now, i, cause, in_flight() * MSS, len(self.packets) + 1)
            if dropped:
                self.lost.append((now, i))
            else:
                push(wire_free + self.delay_s, "arrive", i)

        def fill(now: float, budget: int) -> None:
            nonlocal nxt
            while budget > 0 and in_flight() < self.window:
                hole = min(marked, default=None)
                if hole is not None:
                    marked.discard(hole)
                    transmit(now, hole, "recovery" if state == "recovery" else "loss-state")
                elif nxt < self.segments and nxt - una < self.window:
                    nxt += 1
                    transmit(now, nxt - 1, None)
                else:
                    return
                budget -= 1

        while events and una < self.segments:
            now, _, what, value = heapq.heappop(events)
            if what == "send":
                fill(now, 10)
                push(timer, "timer", timer)
            elif what == "arrive":
                got.add(value)
                while expected in got:
                    expected += 1
                if value >= expected:
                    last_blocks = self._blocks(got, expected, value)
                else:
                    last_blocks = [b for b in last_blocks if b[1] > expected]
                if not any(a <= now < b for a, b in self.outages):
                    push(now + self.delay_s, "ack", (expected, list(last_blocks)))
            elif what == "ack":
                ack, blocks = value
                self._ack(now, ack, blocks, in_flight() * MSS, len(self.packets) + 1)
                if ack > una:
                    newest = ack - 1
                    if newest not in again:
                        self.rtts.append(
                            {"time": now, "seq": newest * MSS + 1, "rtt_s": now - sent_at[newest]}
                        )
                    una, backoff = ack, 0
                    nxt = max(nxt, una)
                    timer = now + self.rto_s
                    push(timer, "timer", timer)
                    marked -= set(range(ack))
                for start, end in blocks:
                    sacked.update(range(start, end))
                    high_sacked = max(high_sacked, end)
                if state != "open" and una >= recovery_point:
                    state = "open"
                if blocks and state == "open" and high_sacked - una > 3:
                    state, recovery_point = "recovery", nxt
                if state == "recovery":
                    fresh = {i for i in range(una, high_sacked - 3) if i not in sacked and i not in again}
                    marked |= fresh
                fill(now, 2)
            elif what == "timer" and value == timer and una < nxt:
                state, recovery_point = "loss", nxt
                marked |= {i for i in range(una, nxt) if i not in sacked}
                marked.discard(una)
                transmit(now, una, "timeout")
                self.retransmissions[-1]["backoff"] = backoff
                backoff += 1
                timer = now + self.rto_s * 2**backoff
                push(timer, "timer", timer)
        return self

    @staticmethod
    def _blocks(got: set[int], expected: int, value: int) -> list[tuple[int, int]]:
        start = end = value
        while start - 1 in got and start - 1 >= expected:
            start -= 1
        while end in got:
            end += 1
        return [(start, end)]

    def _packet(self, now: float, i: int, cause: str | None, flight: int, number: int) -> None:
        if cause:
            self.retransmissions.append(
                {
                    "packet": number,
                    "time": now,
                    "seq_start": i * MSS + 1,
                    "seq_end": (i + 1) * MSS + 1,
                    "segments": 1,
                    "cause": cause,
                    "backoff": 0,
                    "needless": False,
                }
            )
        self.packets.append(
            {"packet": number, "time": now, "data": True, "seq": i * MSS + 1, "len": MSS, "cause": cause}
            | {"flight_bytes": flight + MSS, "ack": None, "blocks": [], "window_bytes": 65_535}
        )

    def _ack(self, now: float, ack: int, blocks: list[tuple[int, int]], flight: int, number: int) -> None:
        self.packets.append(
            {"packet": number, "time": now, "data": False, "seq": 1, "len": 0, "cause": None}
            | {"flight_bytes": flight, "ack": ack * MSS + 1, "blocks": blocks, "window_bytes": 451_840}
        )

    # The tables, with the columns of the core.

    def bursts(self) -> list[dict[str, Any]]:
        result = []
        for number, outage in enumerate(self.outages):
            mine = [(t, i) for t, i in self.lost if outage[0] - 0.5 <= t <= outage[1]]
            if not mine:
                continue
            repaired = [r for r in self.retransmissions if r["time"] > mine[0][0]]
            first = repaired[0]["time"] if repaired else None
            sent = [p["time"] for p in self.packets if p["data"] and first and p["time"] < first]
            result.append(
                {
                    "flow": 0,
                    "start": mine[0][0],
                    "last": mine[-1][0],
                    "lost_copies": len(mine),
                    "lost_segments": len({i for _, i in mine}),
                    "lost_bytes": len({i for _, i in mine}) * MSS,
                    "lost_acks": None,
                    "trigger": "timer-rto" if repaired and repaired[0]["cause"] == "timeout" else "ack",
                    "first_repair": first,
                    "silence_s": first - max(sent) if first else None,
                    "seq_start": min(i for _, i in mine) * MSS + 1,
                    "seq_end": (max(i for _, i in mine) + 1) * MSS + 1,
                    "episode": number,
                }
            )
        return result

    def episodes(self) -> list[dict[str, Any]]:
        result = []
        for burst in self.bursts():
            until = [p for p in self.packets if p["ack"] and p["time"] > burst["first_repair"]]
            point = max(
                p["seq"] + MSS for p in self.packets if p["data"] and p["time"] < burst["first_repair"]
            )
            end = next(p["time"] for p in until if p["ack"] >= point)
            inside = [r for r in self.retransmissions if burst["start"] <= r["time"] <= end]
            acked = [
                max((p["ack"] or 0 for p in self.packets if p["time"] <= t), default=0)
                for t in (burst["start"], end)
            ]
            result.append(
                {
                    "flow": 0,
                    "number": burst["episode"],
                    "start": burst["start"],
                    "first_repair": burst["first_repair"],
                    "end": end,
                    "kind": burst["trigger"],
                    "bursts": 1,
                    "lost_copies": burst["lost_copies"],
                    "lost_segments": burst["lost_segments"],
                    "retransmissions": len(inside),
                    "timeouts": sum(r["cause"] == "timeout" for r in inside),
                    "max_backoff": max((r["backoff"] for r in inside), default=0),
                    "delivered_bytes": acked[1] - max(acked[0], 1),
                    "cost_s": (end - burst["start"]) * 0.7,
                    "silence_s": burst["silence_s"],
                }
            )
        return result

    def idle(self, longer_than: float = 0.1) -> list[dict[str, Any]]:
        sent = [p["time"] for p in self.packets if p["data"]]
        timed = {r["time"] for r in self.retransmissions if r["cause"] == "timeout"}
        return [
            {
                "flow": 0,
                "start": a,
                "end": b,
                "excess_s": b - a - longer_than,
                "cause": "timeout" if b in timed else "ack-clock",
                "flight_bytes": 0,
            }
            for a, b in pairwise(sent)
            if b - a > longer_than
        ]

    def intervals(self, length: float = 1.0) -> list[dict[str, Any]]:
        rows: dict[int, dict[str, Any]] = {}
        acked, newest = 0, 0
        for p in self.packets:
            row = rows.setdefault(
                int(p["time"] // length),
                {
                    "sent_bytes": 0,
                    "new_bytes": 0,
                    "acked_bytes": 0,
                    "retransmitted_segments": 0,
                    "duplicate_acks": 0,
                },
            )
            row["start"] = int(p["time"] // length) * length
            if p["data"]:
                row["sent_bytes"] += p["len"]
                row["new_bytes"] += 0 if p["cause"] else p["len"]
                row["retransmitted_segments"] += bool(p["cause"])
            else:
                row["acked_bytes"] += max(0, p["ack"] - max(acked, 1))
                row["duplicate_acks"] += p["ack"] <= newest
                newest = acked = max(acked, p["ack"])
        return [{"flow": 0} | row for row in rows.values()]

    def flow(self) -> dict[str, Any]:
        data = [p for p in self.packets if p["data"]]
        episodes, idle = self.episodes(), self.idle()
        return FLOW | {
            "start": 0.0,
            "end": self.packets[-1]["time"],
            "bytes": self.segments * MSS,
            "segments": len(data),
            "mss": MSS,
            "retransmitted_segments": len(self.retransmissions),
            "cost_s": sum(e["cost_s"] for e in episodes),
            "duration_s": self.packets[-1]["time"],
            "throughput_bps": self.segments * MSS * 8 / self.packets[-1]["time"],
            "lost_copies": len(self.lost),
            "needless": 0,
            "timeouts": sum(r["cause"] == "timeout" for r in self.retransmissions),
            "window_max_bytes": 451_840,
            "flight_max_bytes": max(p["flight_bytes"] for p in self.packets),
            "handshake_s": None,
            "rtt_ack_n": len(self.rtts),
            "rtt_ack_min_s": min(r["rtt_s"] for r in self.rtts),
            "rtt_ack_mean_s": sum(r["rtt_s"] for r in self.rtts) / len(self.rtts),
            "rtt_ack_max_s": max(r["rtt_s"] for r in self.rtts),
            "idle_total_s": sum(g["end"] - g["start"] for g in idle),
            "idle_gaps": len(idle),
            "episodes": len(episodes),
        }

    def tables(self) -> dict[str, pa.Table]:
        packets = []
        for p in self.packets:
            row = {k: v for k, v in p.items() if k != "blocks"} | {"flow": 0, "dsack": False}
            for k in range(4):
                a, b = p["blocks"][k] if k < len(p["blocks"]) else (None, None)
                row[f"sack{k + 1}_start"] = None if a is None else a * MSS + 1
                row[f"sack{k + 1}_end"] = None if b is None else b * MSS + 1
            packets.append(row)
        return {
            "flows": arrow([self.flow()]),
            "bursts": arrow(self.bursts()),
            "episodes": arrow(self.episodes()),
            "retransmissions": arrow([{"flow": 0} | r for r in self.retransmissions]),
            "probes": pa.table({"flow": pa.array([], pa.uint32())}),
            "idle": arrow(self.idle()),
            "rounds": pa.table({"flow": pa.array([], pa.uint32())}),
            "waits": pa.table({"flow": pa.array([], pa.uint32())}),
            "causes": pa.table({"flow": pa.array([], pa.uint32())}),
            "owners": pa.table({"flow": pa.array([], pa.uint32())}),
            "intervals": arrow(self.intervals()),
            "rtt": arrow([{"flow": 0, "kind": "ack"} | r for r in self.rtts]),
            "packets": arrow(packets),
        }


TIMES = ("time", "start", "end", "last", "first_repair")
BLOCKS = {f"sack{k}_{end}": pa.int64() for k in range(1, 5) for end in ("start", "end")}
KINDS = {"cause": pa.string(), "ack": pa.int64(), "lost_acks": pa.int64(), **BLOCKS}


def arrow(rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as an Arrow table; times (s) become nanosecond timestamps as the core writes them."""
    columns = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if name in TIMES:
            ns = [None if v is None else ORIGIN_NS + round(v * 1e9) for v in values]
            columns[name] = pa.array(ns, pa.timestamp("ns", tz="UTC"))
        else:
            columns[name] = pa.array(values, KINDS.get(name))
    return pa.table(columns)
