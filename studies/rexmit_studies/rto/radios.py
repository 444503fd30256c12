"""What the paper extrapolates: the same fades over 802.11g."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies import own
from rexmit_studies.rto.measured import Sample, samples, tests
from rexmit_studies.rto.setting import POOR, RATE_MBPS, channels, transfer
from rexmit_studies.rto.timer import POOR_MBPS, READING, rank_correlation, timer_idle
from rexmit_studies.study import Claim, Part

if TYPE_CHECKING:
    from rexmit_studies.study import Plan, Results

NAME, CLEAN = "802.11g", "802.11g, clean"
#: IEEE 802.11g without older stations: 54 Mbps; DIFS 28 us, preamble 20, a mean wait of 7.5 slots of 9 us,
#: SIFS 10, the MAC's acknowledgement at 24 Mbps 28: 154 us. Half of the air time of a TCP ACK, 167 us for
#: every second segment, is added, as for 802.11b. Before the second try 31 slots, and twice as many before
#: each further one.
RATE = {"link.air.rate": "54Mbps"}
TIMES = {"link.air.arq.overhead": "238us", "link.air.arq.backoff": "140us"}


def declare(runs: Plan, seeds: Sequence[int]) -> None:
    """Tests 2 and 4 with the faster radio, and without errors."""
    radio = RATE | TIMES
    each = [transfer(channels()[test].spec()).with_(radio) for test in POOR]
    runs.runs(NAME, each, seeds, ("flows", "idle"), at="sender", idle=0.1)
    runs.runs(CLEAN, transfer(None).with_(radio), [1], ("flows", "idle"))


def found(results: Results) -> dict[int, Sample]:
    """The transfers by test."""
    return dict(zip(POOR, samples(results[NAME]), strict=True))


def clean_s(results: Results) -> float:
    """How long the transfer takes without errors, s."""
    return float(results[CLEAN].summary.to_arrow().column("duration_s")[0].as_py())


def claim(results: Results) -> Claim:
    idle, other, below, n, words = [], [], 0, 0, []
    for test, sample in found(results).items():
        slow = sample["throughput_mbps"] < POOR_MBPS
        lost = timer_idle(sample)
        idle.append(lost[slow])
        other.append((sample["took_s"] - clean_s(results) - lost)[slow])
        below, n = below + int(slow.sum()), n + len(slow)
        by_idle, by_loss = (
            rank_correlation(sample["throughput_mbps"], x) for x in (lost, sample["ip_loss_percent"])
        )
        words.append(f"{by_idle:.2f} against {by_loss:.2f} in test {test}")
    evidence = (
        f"over 802.11g {below} of {n} transfers of tests 2 and 4 stay below 1 Mbps; the rank correlation of "
        f"throughput with idle time against that with the loss rate is {', '.join(words)}"
    )
    reading = f"{READING}: the same fades, counted in frames, at 54 Mbps"
    if not below:
        return Claim("rto.claim.other_radios", evidence, settled="not decided", reading=reading)
    less = stats.Test.paired(
        "802.11g: idle time less all other lost time, transfers below 1 Mbps",
        np.concatenate(idle),
        np.concatenate(other),
        "s",
    )
    return Claim("rto.claim.other_radios", evidence, [less], reading=reading)


def _tables(results: Results) -> dict[str, Any]:
    made: dict[str, list[str]] = {
        "test": [], "radio": [], "without errors (Mbps)": [], "throughput (Mbps)": [], "below 1 Mbps": [],
        "idle time, mean (s)": [], "share of the time lost": [],
    }  # fmt: skip
    rate = own.value("rate", RATE_MBPS)
    clean_b = results["clean"].summary.to_arrow()
    size = 8e-6 * float(clean_b.column("delivered_bytes")[0].as_py())
    for test in POOR:
        for radio, sample, whole in (
            (
                f"802.11b at {rate:g} Mbps",
                tests(results)[test],
                float(clean_b.column("duration_s")[0].as_py()),
            ),
            (f"{NAME} at 54 Mbps", found(results)[test], clean_s(results)),
        ):
            idle, lost = timer_idle(sample), sample["took_s"] - whole
            cells = (
                str(test), radio, f"{size / whole:.2f}", f"{np.mean(sample['throughput_mbps']):.2f}",
                f"{np.mean(sample['throughput_mbps'] < POOR_MBPS):.0%}", f"{np.mean(idle):.0f}",
                f"{np.sum(idle) / np.sum(lost):.0%}",
            )  # fmt: skip
            for column, cell in zip(made.values(), cells, strict=True):
                column.append(cell)
    return {"the same fades over either radio": made}


TEXT = """
The paper says that its results "can be easily extrapolated" to 802.11g or UMTS. Here tests 2 and 4 meet the
same
fades, frame by frame, over 802.11g at 54 Mbps. The timer does not know how fast the radio is: a fade that
takes a
segment and its repairs costs as many seconds as before, of a transfer that would take a fifth of the time.
UMTS is
not tried: its link layer repairs losses itself, and what it leaves is delay.
""".strip()

PART = Part("Another radio: 802.11g", text=TEXT, tables=_tables)
