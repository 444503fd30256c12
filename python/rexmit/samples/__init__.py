"""Captures to try rexmit with: some simulated when they are asked for, some that real kernels left behind."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from rexmit.files.passing import folder
from rexmit.running.shipped import nearest

#: The seed of those that are simulated: a sample is the same on every machine.
SEED = 1


@dataclass(frozen=True)
class Sample:
    """A capture by its name. about: what it shows, in words of somebody who wants to know why.

    scenario: one that ships, captured at `node` with these keys set; without one, a file of this folder.
    """

    name: str
    about: str
    scenario: str = ""
    node: str = ""
    set: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The name of the file that is written without `--out`."""
        return f"{self.name}.pcapng" if self.scenario else f"{self.name}.pcap"

    @property
    def source(self) -> str:
        """Where its packets are from."""
        return f"simulated: {self.scenario}, seed {SEED}" if self.scenario else "Linux kernels on a test bed"

    def content(self) -> bytes:
        """The file."""
        return self._simulated() if self.scenario else self._packaged()

    def _packaged(self) -> bytes:
        file = resources.files("rexmit.samples").joinpath(f"{self.name}.pcap.gz")
        return gzip.decompress(file.read_bytes())

    def _simulated(self) -> bytes:
        from rexmit.running.one_run import run

        with folder("sample") as place:
            recorded = f'["{self.node}"]'
            run(self.scenario, seed=SEED, set={**self.set, "record.capture": recorded}, captures=place)
            return Path(place, f"{self.node}.pcapng").read_bytes()


#: A line of 8 Mbps that loses everything for half a second: losses at a full queue, an outage, and a timeout.
SLOW = {
    "duration": "20s",
    "chain.rate": "8Mbps",
    "chain.queue": '{ kind = "droptail", bytes = "100kB" }',
    "chain.channel.outage.schedule": '{ intervals = [["2s", "500ms"]], anchor = "first-syn" }',
    "flow.download.workload": '{ kind = "file", size = "4MB" }',
}
ALL = (
    Sample(
        "slow",
        "a transfer of 4 MB whose path loses everything for half a second, captured at the sender",
        "outage-50mbps",
        "server",
        SLOW,
    ),
    Sample("slow-receiver", "the same transfer, captured at the receiver", "outage-50mbps", "client", SLOW),
    Sample(
        "bursts",
        "a transfer of 4 MB over Wi-Fi that loses packets in bursts, captured at the sender",
        "wifi-bursts",
        "server",
        {"flow.download.workload.size": "4MB"},
    ),
    Sample(
        "requests",
        "twenty requests beside voice, on a link with outages, captured at the client",
        "web-and-voice",
        "pc",
    ),
    Sample("download", "a download of 12 MB on a line of 8 Mbps, captured at the receiver"),
    Sample("wifi", "an upload of 10 MB over a path that loses packets in bursts, captured at the sender"),
    Sample("tail", "an upload whose last packets are lost again and again, captured at the sender"),
    Sample("offload", "an upload with offloads on: packets of up to 64 kB, captured at the sender"),
)


def named(name: str) -> Sample:
    """The sample of this name. Raises ValueError, with the nearest name, if there is none."""
    found = {sample.name: sample for sample in ALL}
    if name not in found:
        raise ValueError(f"{name!r} is no sample{nearest(name, list(found))}")
    return found[name]
