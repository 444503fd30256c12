"""Section 2's download, simulated: tuned to two of the paper's numbers, the others are what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import as_file, files
from typing import Any

import rexmit as rx
from rexmit.scenario import Scenario
from rexmit_studies.ns3.download import Download
from rexmit_studies.rows import exact, fitted, given, stated
from rexmit_studies.study import Results, Row

FILE = "download.toml"
#: What Ethernet, IP and TCP put before the payload of a segment with timestamps, and an ACK is.
HEADERS_BYTES = 66
PAPER_MB = 74
#: That the paper prints as 74, in MiB.
ROUNDED = (73.5, 74.5)


def run() -> Download:
    """The simulated download as a capture at its receiver shows it."""
    with as_file(files(__package__) / FILE) as path:
        found = rx.run(
            Scenario.load(path), at="receiver", tables=("packets", "rtt", "intervals", "retransmissions")
        )
    flow = found.worst(1)[0]
    return Download(flow, float(flow["duration_s"]))


def tuned(results: Results) -> Download:
    found: Download = results["tuned download"]
    return found


def wire_mbps(here: Download) -> float:
    """All bytes in both directions over the connection's length, as a capture's statistics have it."""
    return float((here.packets["len"] + HEADERS_BYTES).sum()) * 8e-6 / float(here.flow["duration_s"])


def rows(results: Results) -> Iterator[Row]:
    """What the paper says of its capture, but for one exchange of packets."""
    key, here = "ns3.download.", tuned(results)
    lasts, longest = float(here.flow["duration_s"]), float(here.answers[1].max())
    size = float(here.flow["bytes"]) / 2**20
    least, most = (lasts * mib / size for mib in ROUNDED)
    yield given(exact(key + "file_megabytes", round(size), "set in the simulated download, as MiB"))
    yield stated(
        key + "capture_s",
        round(here.span_s, 2),
        False,
        "from the first packet to the last, s",
        "the paper's capture went on for half a minute around its transfer; nothing else is simulated",
    )
    yield exact(
        key + "transfer_s",
        round(lasts, 1),
        "from SYN to the last packet, simulated at the paper's rate",
        "s",
        why=f"the paper's 74 is rounded: from {ROUNDED[0]:g} to {ROUNDED[1]:g} MiB it takes {least:.1f} to "
        f"{most:.1f} s",
    )
    yield fitted(
        exact(
            key + "throughput_mbps",
            round(wire_mbps(here), 3),
            "all bytes on the wire, both directions, over that time; the link's rate is fitted to it",
        )
    )
    yield given(exact(key + "segment_bytes", here.segment_bytes, "the largest payload: set by the MSS"))
    yield fitted(
        exact(
            key + "max_rtt_s",
            round(longest, 2),
            "longest time from a segment to an own ACK that covers it; the queue is fitted to it",
            "s",
        )
    )


def text(results: Results) -> str:
    here = tuned(results)
    lasts = float(here.flow["duration_s"])
    return f"""\
**Simulated beside it** (`{FILE}` in the study's folder): 74 MiB in segments of 1398 bytes, by Linux 3.10, a
year old when the paper was written (assumed in part: `rexmit stacks linux-3.10-cubic`), the rate of the link
fitted to 6.142 Mbps, its queue to a largest RTT of 1.16 s. The transfer then takes {lasts:.1f} s, in the
paper 107.8. For that the 6.142 Mbps have to be all bytes on the wire in both directions, as a capture's
statistics show them, and the 74 MB have to be MiB: payload of 74 · 10^6 bytes at 6.142 Mbps would be through
in 96.4 s. {len(here.again)} segments are sent again, {int(here.flow["timeouts"])} by the timer.
A queue so deep is not the paper's, though: {here.example.dupacks} duplicate ACKs come before a repair where
it saw eight."""


def table(results: Results) -> dict[str, Any]:
    here = tuned(results)
    return {
        "the simulated download": {
            "payload (MiB)": [f"{float(here.flow['bytes']) / 2**20:.2f}"],
            "from SYN to the last packet (s)": [f"{float(here.flow['duration_s']):.2f}"],
            "all bytes (Mbps)": [f"{wire_mbps(here):.3f}"],
            "payload (Mbps)": [f"{here.throughput_mbps:.3f}"],
            "largest RTT at the receiver (s)": [f"{float(here.answers[1].max()):.3f}"],
            "sent again": [len(here.again)],
            "timeouts": [int(here.flow["timeouts"])],
        }
    }
