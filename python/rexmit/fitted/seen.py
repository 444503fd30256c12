"""The rows of one connection that the fit stands on, in one place."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rexmit.fitted.one_way import one_way
from rexmit.fitted.scoreboard import SACK
from rexmit.fitted.value import quantile

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.flows import Flow

Json = dict[str, Any]
#: IP and TCP headers, and the option with timestamps (RFC 7323), padded.
HEADERS, TIMESTAMPS = 40, 12
#: What is asked of packets of either direction.
_OF_PACKETS = ("packet", "time", "data", "seq", "len", "release")
#: A tick of timestamps, s (Linux).
TICK = 0.001
#: A sample of the queue tells of a packet that was sent so much of a round trip later, at most.
NEAR = 0.25


@dataclass
class Seen:
    """What the analysis says of the direction with the data, and of the other one.

    Times are s after the capture's first packet.
    """

    flow: Flow
    back: Flow | None
    answer: Json
    path: Json
    #: The rows of the other flows between the same hosts.
    neighbours: list[Json] = field(default_factory=list)
    #: From when on, s, which least round trip; nothing where it is the same all the time.
    levels: list[tuple[float, float]] = field(default_factory=list)
    row: Json = field(init=False)

    def __post_init__(self) -> None:
        self.row = self.flow.row

    @classmethod
    def of(cls, capture: Capture, flow: str | None = None) -> Seen:
        """The flow with the most data, or the one that `flow` names ("ip:port-ip:port").

        Raises ValueError where the capture has no data or no such flow.
        """
        flows = list(capture.flows)
        if flow is not None:
            ends = set(flow.split("-"))
            flows = [f for f in flows if {f.sender, f.receiver} == ends]
        chosen = max(flows, key=lambda f: int(f.row["bytes"]), default=None)
        if chosen is None or not chosen.row["bytes"]:
            named = f"the connection {flow}" if flow else "a connection with data"
            raise ValueError(f"{', '.join(capture.paths) or capture.name}: {named} is not in it")
        back = [f for f in flows if (f.sender, f.receiver) == (chosen.receiver, chosen.sender)]
        near = min(back, key=lambda f: abs(f.row["start"] - chosen.row["start"]), default=None)
        told = chosen._told
        hosts = _hosts(chosen)
        own = {(chosen.sender, chosen.receiver), (chosen.receiver, chosen.sender)}
        others = [f.row for f in capture.flows if (f.sender, f.receiver) not in own and _hosts(f) == hosts]
        return cls(chosen, near, told.get("answer") or {}, told.get("path") or {}, others)

    @property
    def arriving(self) -> bool:
        """The data was captured where it arrives."""
        return bool(self.row["vantage"] == "receiver")

    @cached_property
    def packet(self) -> int:
        """Bytes of a full packet with its headers."""
        return self.payload + HEADERS + (TIMESTAMPS if self.row["timestamps"] else 0)

    @cached_property
    def payload(self) -> int:
        return int(min(self.row["mss"] or 1460, max(self.row["largest_payload"] or 1460, 1)))

    @cached_property
    def rounds(self) -> list[Json]:
        return sorted(self.flow.frame("rounds").rows(), key=lambda r: float(r["start"]))

    @cached_property
    def silences(self) -> list[Json]:
        """Gaps in which nothing was sent, in order."""
        return sorted(self.flow.frame("idle").rows(), key=lambda g: float(g["start"]))

    @cached_property
    def bursts(self) -> list[Json]:
        return [b for b in self.flow.bursts() if (b["lost_copies"] or b["lost_segments"])]

    @cached_property
    def samples(self) -> list[tuple[float, float]]:
        """When a packet was sent, and its round trip, in order of sending.

        What was sent between a loss and its repair is acknowledged with the repair: that is no round trip.
        Where data arrives, timestamps tell how much longer than the least each packet took: the time is that
        of its arrival, and the wait comes on top of the least round trip.
        """
        if self.arriving:
            return one_way(self.flow, self.base)
        rows = self._trips
        both = [(r["time"] - r["rtt_s"], r["rtt_s"]) for r in rows if r["kind"] == "ack"]
        every = sorted(both or [(r["time"] - r["rtt_s"], r["rtt_s"]) for r in rows])
        return _outside(every, [(b["start"], b["first_repair"]) for b in self.bursts if b["first_repair"]])

    @cached_property
    def _trips(self) -> list[Json]:
        return self.flow.columns("rtt", "time", "seq", "rtt_s", "kind").rows()

    @property
    def waits_by_end(self) -> dict[int, float]:
        """By the sequence number behind a segment, how long it waited, s, as its round trip shows."""
        kept = {sent for sent, _ in self.samples}
        trips = [(r["seq"], r["time"] - r["rtt_s"], r["rtt_s"]) for r in self._trips if r["kind"] == "ack"]
        return {end: max(rtt - self.least_at(sent), 0.0) for end, sent, rtt in trips if sent in kept}

    @cached_property
    def base(self) -> float | None:
        """The least round trip of all, s."""
        known = [self.path.get("base_rtt_s"), self.answer.get("base_rtt_s")]
        known += [] if self.arriving else [rtt for _, rtt in self.samples]
        return min((k for k in known if k), default=None)

    @cached_property
    def packets(self) -> list[Json]:
        """Packets with data and the ACKs of them, in order of time."""
        return self.flow.columns("packets", *_OF_PACKETS, "class", "ack", "window_bytes", *SACK).rows()

    @cached_property
    def sends(self) -> list[Json]:
        """Packets with data in order of time: `time`, `seq`, `len`, and what let each go (`release`)."""
        return [r for r in self.packets if r["data"]]

    @cached_property
    def others_sends(self) -> list[Json]:
        """The same of the other direction of the connection."""
        if self.back is None:
            return []
        return [r for r in self.back.columns("packets", *_OF_PACKETS).rows() if r["data"]]

    @cached_property
    def acks(self) -> list[float]:
        """When the sender was sent ACKs without data, at the place of the capture, s, in order."""
        return [r["time"] for r in self.packets if not r["data"]]

    @cached_property
    def windows(self) -> list[float]:
        """The windows that the receiver's ACKs offered, bytes."""
        return [r["window_bytes"] for r in self.packets if not r["data"] and r["window_bytes"]]

    @cached_property
    def serialisation(self) -> float | None:
        """How much longer the round trip of a full packet takes than the handshake, s: the time that the
        path takes to send a full packet less one of headers.  None where that does not show.
        """
        handshake = self.row["handshake_s"]
        if self.arriving or not handshake or self.row["syn_retransmissions"]:
            return None
        full = {r["seq"] + r["len"] for r in self.sends if r["len"] >= self.payload}
        least = min((r["rtt_s"] for r in self._trips if r["kind"] == "ack" and r["seq"] in full), default=0.0)
        return least - handshake if least > handshake else None

    @cached_property
    def waits(self) -> list[float]:
        """How long each sample was above the least round trip of full packets, s, in order of sending."""
        return [max(rtt - self.least_at(sent), 0.0) for sent, rtt in self.samples]

    @cached_property
    def least(self) -> float:
        """The least round trip of full packets, s."""
        return min((rtt for _, rtt in self.samples), default=0.0)

    def least_at(self, sent: float) -> float:
        """The same, of what was sent then."""
        at = bisect.bisect_right(self.levels, (sent, float("inf"))) - 1
        return self.levels[at][1] if at >= 0 else self.least

    def step(self, levels: list[tuple[float, float]]) -> None:
        """Goes by these least round trips from now on."""
        self.levels = levels
        self._forget()

    def keep(self, kept: Callable[[float, float], bool]) -> None:
        """Forgets the samples for which this does not hold: of when it was sent, and its round trip."""
        self.samples = [s for s in self.samples if kept(*s)]
        self._forget()

    def _forget(self) -> None:
        for name in ("least", "waits", "fullest", "_sent"):
            self.__dict__.pop(name, None)

    @cached_property
    def fullest(self) -> float:
        """The longest wait in queues, s, but for one sample in fifty."""
        return quantile(sorted(self.waits), 0.98) if self.waits else 0.0

    @cached_property
    def _sent(self) -> list[float]:
        return [sent for sent, _ in self.samples]

    def wait_at(self, when: float) -> float | None:
        """The wait of the packet that was sent last before `when`; None where none near tells."""
        at = bisect.bisect_right(self._sent, when + 1e-9) - 1
        reach = max(NEAR * (self.base or 0.0), 0.005)
        return self.waits[at] if at >= 0 and when - self._sent[at] <= reach else None

    def share_of(self, causes: tuple[str, ...]) -> float:
        """Of the time in which something was owed, what these causes own."""
        return sum(float(c["share"]) for c in self.answer.get("causes", []) if c["cause"] in causes)

    @property
    def copies(self) -> int:
        """Packets of data that were sent, again or not."""
        return int(self.row["segments"])

    @property
    def seconds(self) -> float:
        return float(self.row["duration_s"])


def _hosts(flow: Flow) -> set[str]:
    return {flow.sender.rpartition(":")[0], flow.receiver.rpartition(":")[0]}


def _outside(
    samples: list[tuple[float, float]], repairs: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Samples that were not sent between a loss and its repair and acknowledged after the repair;
    `repairs` in order.
    """
    kept, at, over = [], 0, 0.0
    for sent, rtt in samples:
        while at < len(repairs) and repairs[at][0] < sent:
            over = max(over, repairs[at][1])
            at += 1
        # A packet that is sent before the repair's ACK comes may be acknowledged with it.
        if sent > over or sent + rtt < over:
            kept.append((sent, rtt))
    return kept
