"""What released each data packet: the analysis' word beside the simulator's."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import rexmit as rx
from situation.kinds import kind_of
from traces import table

#: Where a capture is taken: at both ends.
RECORD = {"capture": ["client", "server"], "snap": "120B"}
#: The share of packets on whose release both agree, at least, where packets leave and where they arrive.
BARS = {"sender": 0.99, "receiver": 0.95}

#: By place: how many packets have the simulator's word and the analysis' word.
Pairs = dict[str, Counter[tuple[str, str]]]


def compared(name: str, seed: int) -> Pairs:
    """Runs a transfer, and compares each data packet of it at both ends. Top level, for other processes."""
    pairs: Pairs = {place: Counter() for place in BARS}
    with tempfile.TemporaryDirectory() as folder:
        scenario = kind_of(name).drawn(seed).scenario(name, seed, RECORD)
        run = rx.run(scenario, tables=("hosts",), captures=folder)
        hosts = table(run, "hosts")
        said = {row["copy"]: (row["node"], row["release"]) for row in hosts if row["event"] == "sent"}
        for node in RECORD["capture"]:
            copies = [row["copy"] for row in hosts if row["node"] == node]
            capture = rx.capture(Path(folder) / f"{node}.pcapng", tables=("packets",))
            rows = capture.packets.to_arrow().select(["packet", "data", "len", "release"])
            for packet, data, length, ours in zip(*(c.to_pylist() for c in rows.columns), strict=True):
                if data and length > 0:
                    by, theirs = said[copies[packet - 1]]
                    pairs["sender" if by == node else "receiver"][theirs, ours] += 1
    return pairs
