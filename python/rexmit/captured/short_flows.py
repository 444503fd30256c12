"""Figures over many short flows: how long they took, and how many waited for a timer at their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit.frame import Frame, batches

if TYPE_CHECKING:
    from rexmit.api import Capture

NEEDED = ("flow", "start", "last_data", "end", "timeouts", "retransmitted_segments", "closed")


def many(capture: Capture) -> dict[str, Any]:
    """Completion times (first packet to last data packet, s) and tail losses over all flows.

    `completion_s` has `all`, `clean` (nothing sent again) and `timeout` (at least one timeout), each with n,
    p50, p90, p99 in s, over the connections that ended with a FIN. `tails` counts the flows with an episode
    that a timer had to repair because nothing more was to be sent. `pairs` are the pairs of hosts that lost
    most time (`rexmit.captured.groups`), one more than a page names; `unanswered` counts flows whose SYN
    nobody answered.
    """
    import pyarrow as pa

    from rexmit.captured.groups import PAIRS, groups

    took, timeouts, again = [], [], []
    for batch in batches(capture.flows):
        frame = Frame(pa.Table.from_batches([batch.select(list(NEEDED))]), capture.origin_ns)
        done = frame.equals("closed", "fin") | frame.equals("closed", "half-fin")
        length = frame["last_data"] - frame["start"]
        done &= np.isfinite(length)
        took.append(length[done])
        timeouts.append(frame["timeouts"][done])
        again.append(frame["retransmitted_segments"][done])
    length = np.concatenate(took) if took else np.array([])
    fired = np.concatenate(timeouts) > 0 if timeouts else np.zeros(0, dtype=bool)
    clean = np.concatenate(again) == 0 if again else np.zeros(0, dtype=bool)
    tails: set[int] = set()
    for batch in batches(capture.episodes):
        frame = Frame(pa.Table.from_batches([batch]))
        tails.update(frame["flow"][frame["tail"]].tolist())
    parts = (("all", np.ones(len(length), dtype=bool)), ("clean", clean), ("timeout", fired))
    pairs = groups(capture, "pair")
    return {
        "pairs": pairs.head(PAIRS + 1),
        "unanswered": sum(pairs.to_arrow().column("unanswered").to_pylist()),
        "tails": len(tails),
        "completion_s": {name: _quantiles(length[mask]) for name, mask in parts},
    }


def _quantiles(values: Any) -> dict[str, float]:
    if len(values) == 0:
        return {"n": 0}
    p50, p90, p99 = np.quantile(values, [0.5, 0.9, 0.99])
    return {"n": len(values), "p50": float(p50), "p90": float(p90), "p99": float(p99)}
