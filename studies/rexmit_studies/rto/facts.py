"""The paper's setting beside what the scenario sets, read from the scenario as resolved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rexmit_studies import own, rows
from rexmit_studies.declared import Declared
from rexmit_studies.rto.gaps import kept, threshold
from rexmit_studies.rto.setting import channels, stack, transfer

if TYPE_CHECKING:
    from rexmit_studies.study import Results, Row

#: Bytes of the timestamps option, padded (RFC 7323, appendix A): they come out of the MSS.
TIMESTAMPS_BYTES = 12


def setting(results: Results) -> Iterator[Row]:
    """The paper's parameters, and the throughput of an error-free channel."""
    found = Declared(own.applied(transfer(channels()[1].spec())))
    size = found.number("flow.transfer.workload.size")
    options = f"stack.{stack()}.options"
    # The option of timestamps takes its bytes from the MSS, where it is used.
    mss = found.number(f"{options}.mss") - (TIMESTAMPS_BYTES if found[f"{options}.timestamps"] else 0)
    yield rows.setup("rto.setup.segments", size / mss, "size of the file / MSS, set in the scenario")
    yield rows.given(
        rows.stated(
            "rto.setup.file",
            f"{size / 1e6:.2f} MB",
            size == 7500 * 1448,
            "set in the scenario; with 10^7 bytes test 4 would have run at 11 Mbps between its idle times",
            "the scenario has another file",
        )
    )
    yield rows.setup("rto.setup.mss", mss, "MSS of the stack less 12 bytes of timestamps")
    rate, nodes, links = found.number("link.air.rate"), len(found["node"]), len(found["link"])
    yield rows.given(
        rows.stated(
            "rto.setup.wireless",
            f"{found['link.air.rate']}, {nodes} nodes, one link",
            rate == 11e6 and nodes == 2 and links == 1,
            "set in the scenario, with the preamble, spacings, slots and MAC acknowledgement of IEEE 802.11b",
            "the scenario has another hop",
        )
    )
    tries = int(found.number("link.air.arq.tries"))
    yield rows.setup("rto.setup.mac_retransmissions", tries - 1, "tries of a frame, less the first")
    yield rows.stated(
        "rto.setup.snr_db",
        "not set",
        False,
        "the channel is one of frame errors, not of radio",
        "the paper gives no error rate for a signal-to-noise ratio; its frame errors themselves are fitted "
        "instead",
    )
    yield rows.setup(
        "rto.setup.rto_min_ms", found.number(f"stack.{stack()}.rto.min", "ms"), "set in the stack"
    )
    for option in ("sack", "timestamps"):
        yield rows.setup(f"rto.setup.{option}", found[f"{options}.{option}"], "set in the stack")
    counted = results["clean"].summary.to_arrow()
    yield rows.exact(
        "rto.max_error_free_throughput_mbps",
        float(counted.column("goodput_bps")[0].as_py()) / 1e6,
        "throughput of the same transfer over a channel without errors",
        "Mbps",
        why="the air time of a frame follows the standard's preamble, spacings and mean contention",
    )


def idle_threshold(results: Results) -> Iterator[Row]:
    """The threshold that the paper does not give."""
    found = threshold(results)
    mark, how = rows.fitted, "fitted: gaps above it add up to the paper's 1.15 s in test 3, on average"
    if kept():
        mark, how = rows.given, "the one that is fitted to test 3 with the paper's values"
    yield mark(
        rows.stated(
            "rto.idle.threshold",
            str(found),
            found.s < 0.2,
            how,
            "a threshold as long as the least RTO leaves the paper's total to nothing",
        )
    )
