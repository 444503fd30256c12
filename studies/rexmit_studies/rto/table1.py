"""Table I: five tests, thirteen columns, three of them fitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rexmit_studies import own, rows
from rexmit_studies.paper import figures
from rexmit_studies.rto.gaps import FITTED as FITTED_IDLE
from rexmit_studies.rto.gaps import threshold
from rexmit_studies.rto.measured import Sample, tests
from rexmit_studies.rto.setting import FILE_BYTES, SEGMENT_BYTES, TESTS, channels

if TYPE_CHECKING:
    from rexmit_studies.study import Results, Row


#: What the channels are fitted to.
FITTED_COLUMNS = ("fer", "avg_error_frame_burst", "max_error_frame_burst")
#: Behind the definition of a figure to which the channel is fitted.
FITS = "; the channel is fitted to it"
#: The test whose fades are an axis.
FADING = 2
#: Hardly an error, and no timeout.
GOOD = (3, 5)


class Column(NamedTuple):
    """A column of Table I: its key, how it is computed here, its unit."""

    key: str
    definition: str
    unit: str = ""


COLUMNS = (
    Column(
        "throughput_mbps", "size of the file / time from the first data packet to the last delivery", "Mbps"
    ),
    Column(
        "fer", "erroneous frames / frames sent, data direction, every try counts; the channel is fitted to it"
    ),
    Column("avg_error_frame_burst", "mean run of erroneous frames; the channel is fitted to it", "frames"),
    Column("max_error_frame_burst", "longest run of erroneous frames; the channel is fitted to it", "frames"),
    Column("ip_loss_percent", "lost copies / copies sent, known from both ends", "%"),
    Column("avg_lost_packet_burst", "mean run of lost copies, of the transfers that lost any", "packets"),
    Column("max_lost_packet_burst", "longest run of lost copies", "packets"),
    Column("retransmissions", "segments sent again", "segments"),
    Column("max_retransmissions_one_segment", "most copies of one segment, less one", "copies"),
    Column("rtt_mean_ms", "mean RTT, from ACKs of data that was sent once", "ms"),
    Column("rtt_stddev_ms", "standard deviation of that RTT", "ms"),
    Column("max_idle_s", "longest time without a data packet", "s"),
    Column("total_idle_s", "sum of gaps above the fitted threshold", "s"),
)


def table1(results: Results) -> Iterator[Row]:
    """Every figure of Table I beside where 95% of single transfers lie."""
    for test in TESTS:
        sample = tests(results)[test]
        found = dict(sample)
        found["total_idle_s"], found["max_idle_s"] = sample.idle(threshold(results).s)
        for column in COLUMNS:
            key = f"rto.table1.{test}.{column.key}"
            # Of a few runs the row itself says that they are too few.
            why = _why(test, column.key, sample) if len(sample["took_s"]) >= rows.FEW else ""
            told = is_fitted(test, column.key)
            group = "" if told else f"Table I, test {test}"
            row = rows.sampled(key, found[column.key], _definition(test, column), column.unit, why, group)
            yield rows.fitted(row) if told else row


def _definition(test: int, column: Column) -> str:
    """How a figure is computed; a channel whose fades the user sets is fitted to nothing."""
    mine = test == FADING and any(own.mine(axis) is not None for axis in ("fade", "between"))
    return column.definition.removesuffix(FITS) if mine else column.definition


def is_fitted(test: int, column: str) -> bool:
    """Whether a channel, or the threshold of idle times, is chosen such that this figure comes out."""
    return column in FITTED_COLUMNS or (test, column) == (FITTED_IDLE, "total_idle_s")


def _why(test: int, column: str, sample: Sample) -> str:
    """Why a figure of this column lies outside of what the fitted channel gives, where that is known."""
    if test in GOOD:
        if column == "throughput_mbps":
            return _stalls(test, sample)
        if "idle" in column:
            return _no_timer(test, sample)
        if column == "rtt_stddev_ms":
            return "frame errors do not make the stalls of the paper's transfer, which delay some ACKs too"
        if column == "rtt_mean_ms":
            return _in_flight(test, sample)
    if column == "rtt_mean_ms":
        return (
            "the paper's mean is 42 to 50 ms in all five tests, while here losses halve the window and "
            "with it the queue; which packets the paper timed is not said"
        )
    if column == "avg_lost_packet_burst":
        return _one_kind_of_fade(test)
    return ""


def paper_value(test: int, column: str) -> float:
    """A figure of Table I."""
    paper: Any = figures("rto")
    return float(paper[f"rto.table1.{test}.{column}"])


def active(test: int) -> float:
    """The paper's throughput without its idle time, Mbps."""
    size = 8e-6 * FILE_BYTES
    return size / (size / paper_value(test, "throughput_mbps") - paper_value(test, "total_idle_s"))


def _stalls(test: int, sample: Sample) -> str:
    longer = 8e-6 * FILE_BYTES / paper_value(test, "throughput_mbps") - float(np.mean(sample["took_s"]))
    longest = float(np.max(sample.idle(0.0)[1]))
    return (
        f"the paper's transfer took {longer:.1f} s longer and stalled for up to "
        f"{paper_value(test, 'max_idle_s'):g} s at once, where frame errors stall none here for more than "
        f"{longest:.2f} s: its stalls have another cause"
    )


def _no_timer(test: int, sample: Sample) -> str:
    times, again = int(sample["timeouts"].sum()), int(paper_value(test, "retransmissions"))
    return (
        f"{again} segments sent again do not stop a transfer for so long ({times} timeouts in "
        f"{len(sample['timeouts'])} transfers here): the paper's stalls come neither from TCP nor from "
        "frame errors"
    )


def _in_flight(test: int, sample: Sample) -> str:
    """Rate times RTT is what was in flight."""

    def segments(mbps: float, rtt_ms: float) -> float:
        return mbps * rtt_ms * 1e3 / 8 / SEGMENT_BYTES

    rtt = paper_value(test, "rtt_mean_ms")
    low, high = segments(paper_value(test, "throughput_mbps"), rtt), segments(active(test), rtt)
    ours = segments(float(np.mean(sample["throughput_mbps"])), float(np.mean(sample["rtt_mean_ms"])))
    return (
        f"throughput × RTT is {ours:.1f} segments here, the receiver's window, and {low:.1f} to {high:.1f} "
        "in the paper, without and with its stalls left out: it had fewer in flight"
    )


def _one_kind_of_fade(test: int) -> str:
    frames = 1 / channels()[test].bad_to_good
    return (
        f"a longest burst of {paper_value(test, 'max_error_frame_burst'):.0f} frames asks for bad periods "
        f"of {frames:.0f} frames on average, {frames / 4:.1f} packets: the paper's fades differ more among "
        "each other than those of one bad state"
    )
