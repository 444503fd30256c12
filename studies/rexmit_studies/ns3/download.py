"""Section 2: a download captured at its receiver, read as the paper reads its own.

The capture is of a download made for this study with validation/download.py: 12 MB by Linux's CUBIC with
SACK, 8 Mbps, 30 ms each way, one data packet in 500 beginning a run of losses (2.5 packets on average,
drawn); no ACK lost, nothing reordered; segments of 1398 bytes as in the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

import rexmit as rx
from rexmit.captured.flows import Flow
from rexmit.frame import Frame
from rexmit_studies.ns3.cases import Numbers

FILE = "download.pcap.gz"
#: Linux's CUBIC, Reno and NewReno, Tahoe: what is left of cwnd after a loss.
FACTORS = {"cubic": 0.7, "reno": 0.5}


@dataclass(frozen=True)
class Walk:
    """One hole and its repair, seen at the receiver. Numbers are relative, the first byte is 1."""

    at_s: float
    ack: int
    hole: tuple[int, int]
    first_sack: tuple[int, int]
    eighth_sack: tuple[int, int]
    dupacks: int
    resent: tuple[int, ...]
    new_meanwhile: int


@dataclass(frozen=True)
class Download:
    flow: Flow
    span_s: float

    @classmethod
    def read(cls) -> Download:
        # A sample of rexmit's, too.
        with as_file(files("rexmit.samples") / FILE) as path:
            return cls.of(path)

    @classmethod
    def of(cls, path: Path) -> Download:
        """The largest transfer of a capture. Raises ValueError if it has none."""
        capture = rx.capture(path, tables=("packets", "rtt", "intervals", "retransmissions"))
        if not capture.flows:
            raise ValueError(f"{path}: no TCP transfer in it")
        flow = max(capture.flows, key=lambda f: int(f["bytes"]))
        return cls(flow, float(capture.info["span_s"]))

    @cached_property
    def segment_bytes(self) -> int:
        """The largest payload."""
        return int(np.max(self.data["len"]))

    @cached_property
    def packets(self) -> Frame:
        return self.flow.frame("packets")

    @cached_property
    def data(self) -> Frame:
        rows = self.packets
        return rows.where(rows["data"] & (rows["len"] > 0))

    @cached_property
    def acks(self) -> Frame:
        rows = self.packets
        return rows.where(~rows["data"] & (rows["ack"] > 1))

    @cached_property
    def again(self) -> Frame:
        """Retransmissions in order of time."""
        return self.flow.frame("retransmissions")

    @property
    def throughput_mbps(self) -> float:
        """Distinct payload over the connection's length, in 10^6 bit/s."""
        return float(self.flow["throughput_bps"]) / 1e6

    @cached_property
    def answers(self) -> tuple[Numbers, Numbers]:
        """What Wireshark calls RTT, seen from the receiver: from each new segment's arrival to the first ACK
        of this very host that covers it. When it came, and how long, s.
        """
        data, acks = self.data, self.acks
        new = ~np.isin(data["packet"], self.again["packet"])
        at, end = data["time"][new], data["seq"][new] + data["len"][new]
        highest = np.maximum.accumulate(acks["ack"])
        first = np.searchsorted(highest, end)
        known = first < len(highest)
        return at[known], acks["time"][first[known]] - at[known]

    @cached_property
    def path_rtt(self) -> tuple[Numbers, Numbers]:
        """Of the whole path, by echoed timestamps, where they can be told: when, and how long, s."""
        acks, data = self.acks, self.data
        # The first data that echoes a timestamp newer than all before answers the first ACK that carried it.
        values, first = np.unique(acks["ts_val"], return_index=True)
        echo = data["ts_ecr"]
        new = np.append(True, echo[1:] > np.maximum.accumulate(echo)[:-1])
        place = np.searchsorted(values, echo[new])
        found = (place < len(values)) & (values[np.minimum(place, len(values) - 1)] == echo[new])
        sent = acks["time"][first[place[found]]]
        came = data["time"][new][found]
        return came, came - sent

    @cached_property
    def walks(self) -> list[Walk]:
        """Every burst of losses whose repair the eighth duplicate ACK preceded, in order of time."""
        return [walk for burst in self.flow.bursts() if (walk := self._walk(burst))]

    def _walk(self, burst: dict[str, float]) -> Walk | None:
        acks, data = self.acks, self.data
        start, end, repaired = int(burst["seq_start"]), int(burst["seq_end"]), burst["first_repair"]
        dup = (acks["ack"] == start) & (acks["time"] >= burst["start"]) & (acks["time"] < repaired)
        blocks = list(zip(acks["sack1_start"][dup], acks["sack1_end"][dup], strict=True))
        if len(blocks) < 8:
            return None
        mine = (self.again["seq_start"] >= start) & (self.again["seq_end"] <= end)
        done = data["seq"] + data["len"]
        during = (data["time"] > burst["start"]) & (data["time"] < repaired) & (done > end)
        return Walk(
            at_s=float(burst["start"]),
            ack=start,
            hole=(start, end),
            first_sack=(int(blocks[0][0]), int(blocks[0][1])),
            eighth_sack=(int(blocks[7][0]), int(blocks[7][1])),
            dupacks=len(blocks),
            resent=tuple(int(s) for s in self.again["seq_start"][mine]),
            new_meanwhile=int(during.sum()),
        )

    @cached_property
    def example(self) -> Walk:
        """The first burst of four segments, as the paper's; else the largest."""
        size = [round((w.hole[1] - w.hole[0]) / self.segment_bytes) for w in self.walks]
        return self.walks[size.index(4) if 4 in size else int(np.argmax(size))]

    @cached_property
    def kept(self) -> list[tuple[float, float]]:
        """For each episode: when it began, and the data that came in the round trip after its repair as a
        share of what came in the round trip before its hole: what the sender kept of its window.
        """
        rtt = float(np.min(self.path_rtt[1]))
        time, length = self.data["time"], self.data["len"]
        found = []
        for episode in self.flow.episodes():
            a, b = float(episode["start"]), float(episode["end"])
            before = length[(time > a - rtt) & (time <= a)].sum()
            after = length[(time > b + rtt) & (time <= b + 2 * rtt)].sum()
            if before and b + 2 * rtt < time[-1]:
                found.append((a, float(after / before)))
        return found
