"""What the paper says of its figures and of Table I as a whole, held against ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from rexmit import stats
from rexmit_studies.rows import seen
from rexmit_studies.rto import table2
from rexmit_studies.rto.measured import tests
from rexmit_studies.rto.setting import LOSSY, POOR
from rexmit_studies.rto.timer import POOR_MBPS, level_mbps, timer_idle
from rexmit_studies.study import Statement

if TYPE_CHECKING:
    from rexmit_studies.study import Results

KEY = "rto.statement."


def of_setting(results: Results) -> Iterator[Statement]:
    """Fig. 1."""
    said = "no radio is simulated: the frame errors themselves are fitted"
    yield Statement(KEY + "fig1_snr", said, None, rows=["rto.setup.snr_db"])


def of_table1(results: Results) -> Iterator[Statement]:
    """Table I as a whole."""
    found = tests(results)
    mbps = {test: found[test]["throughput_mbps"] for test in found}
    least, low, high = (level_mbps(results, one) for one in (POOR_MBPS, 2.0, 4.0))
    poor = (mbps[2] < least) & (mbps[4] < least)
    levels = poor & (mbps[1] > low) & (mbps[1] < high) & (mbps[3] > high) & (mbps[5] > high)
    yield seen(
        KEY + "table1_levels",
        int(levels.sum()),
        len(levels),
        f"five transfers of one seed with tests 2 and 4 below {least:g} Mbps, test 1 between {low:g} and "
        f"{high:g}, tests 3 and 5 above {high:g}",
        drawing="throughput",
    )
    spread = []
    for test in LOSSY:
        low, high = stats.central(found[test]["max_error_frame_burst"])
        spread.append(high / low)
    yield Statement(
        KEY + "table1_variable",
        "the longest burst of errors differs between single transfers by factors of "
        + ", ".join(f"{one:.1f}" for one in spread)
        + " (95% of runs; tests 1, 2 and 4)",
        min(spread) > 1.5,
        drawing="channel-bursts",
    )
    share = []
    for test in POOR:
        sample = found[test]
        below = sample["throughput_mbps"] < least
        share += list((timer_idle(sample) / sample["took_s"])[below])
    yield Statement(
        KEY + "table1_idle",
        f"in transfers below {least:g} Mbps idle gaps of more than 0.1 s are {np.mean(share):.0%} of the "
        "time on average"
        if share
        else f"no transfer stayed below {least:g} Mbps",
        float(np.mean(share)) > 0.5 if share else None,
        drawing="idle-or-loss",
    )


def of_table2(results: Results) -> Iterator[Statement]:
    """Fig. 2: the stack's side of a script whose ACKs are chosen."""
    steps = table2.situations(table2.play())
    again = sum(step["event"] == "timer" for step in steps)
    acks = sum(str(step["event"]).startswith("ACK") for step in steps[5:])
    held = [step for step in steps if step["phase"] == "loss"]
    new = sum(one["why"] == "new" for step in held for one in step["sent"])
    yield Statement(
        KEY + "loss_state",
        f"in the loss state {new} new segments are sent, as the paper saw; but Nagle's algorithm (RFC "
        "896) holds "
        "back segments that are not full, and all that wait here are full: it is Linux 2.2's loss state "
        "itself "
        "that sends nothing new until all that was outstanding is acknowledged",
        False,
        drawing="table2-exchange",
    )
    yield Statement(
        KEY + "fig2_order",
        f"scripted: the timer resends segment 1 {again} times, and {acks} ACKs come",
        again == 4 and acks == 3,
        drawing="table2-exchange",
        scripted=True,
    )
    _, waits = table2.survives()
    yield Statement(
        KEY + "fig2_silence",
        f"the stack's timer fires {waits:.1f} s after the last ACK",
        abs(waits - 57) < 1,
        drawing="table2-exchange",
        scripted=True,
    )
