"""The fitted path as a scenario that `rexmit run` takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rexmit.fitted import others
from rexmit.fitted.hosts import BY_WINDOW, LIMITED

if TYPE_CHECKING:
    from rexmit.fitted.fitting import Fit

#: The receiver's window is put into the scenario where it owns so much of the time, or was filled.
LIMITS = 0.3
#: And a queue that dropped nothing holds so many times what it held.
DEEP = 2.0


def scenario_of(fit: Fit, stack: str) -> dict[str, Any]:
    """What `rx.Scenario` takes; stack: of both hosts."""
    forward: dict[str, Any] = {"queue": _queue(fit)}
    if fit.capacity.link is not None:
        forward["rate"] = f"{fit.capacity.link:.0f}bps"
    link: dict[str, Any] = {
        "name": "path",
        "between": ["sender", "receiver"],
        "delay": f"{1e6 * (fit.capacity.delay.value or 0.0) / 2:.1f}us",
        "forward": forward,
        "channel": _channels(fit),
    }
    workload = dict(fit.hosts.workload)
    ends = ("sender", "receiver") if fit.hosts.from_client else ("receiver", "sender")
    if workload["kind"] in ("file", "endless", "constant-rate"):
        ends = ("sender", "receiver")
    receiver = f"{stack}-fitted" if _limits(fit) else stack
    flow = {"name": "fitted", "from": ends[0], "to": ends[1], "stack": stack, "receiver": receiver}
    whole: dict[str, Any] = {
        "name": "fitted",
        "about": f"The path of {fit.name}, {ends_of(fit)}, as rexmit fit found it",
        "source": ["each value with its interval and where it comes from: rexmit fit, docs/fit.md"],
        "duration": f"{_duration(fit):.3f}s",
        "seed": 1,
        "node": [{"name": "sender"}, {"name": "receiver"}],
        "link": [link],
        "flow": [flow | {"workload": workload}, *others.flows(fit.others, stack)],
        "record": {"capture": ["sender"]},
    }
    if _limits(fit):
        window = {"kind": "fixed", "buffer": f"{fit.hosts.window.value:.0f}B"}
        own = {"name": receiver, "based_on": stack, "receive": {"window": window}}
        whole["stack"] = [own]
    return whole


def ends_of(fit: Fit) -> str:
    """The two ends, the sender of the data first."""
    return f"{fit.seen.flow.sender} to {fit.seen.flow.receiver}"


def _limits(fit: Fit) -> bool:
    flight, window = fit.seen.row["flight_max_bytes"], fit.seen.row["window_max_bytes"]
    by_window = fit.seen.share_of(BY_WINDOW) >= LIMITS
    return bool(window and flight and (by_window or flight >= LIMITED * window))


def _duration(fit: Fit) -> float:
    """As long as the capture where it ended within the transfer, and long enough for any draw where it did
    not.
    """
    took = fit.seen.seconds
    return took if fit.hosts.workload["kind"] in ("endless", "constant-rate") else 5.0 * took + 10.0


def _queue(fit: Fit) -> dict[str, Any]:
    queue = fit.capacity.queue
    if queue.value is None or fit.capacity.rate.at_least:
        return {"kind": "droptail", "packets": 1000}
    packets = queue.value * (DEEP if queue.at_least and not fit.losses.lost["queue"] else 1.0)
    return {"kind": "droptail", "packets": max(1, math.ceil(packets) if queue.at_least else round(packets))}


def _channels(fit: Fit) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    limit = fit.capacity.policer_rate
    if limit is not None and limit.value is not None and fit.capacity.bucket is not None:
        bucket = max(fit.capacity.bucket.value or 0.0, 2.0 * fit.seen.packet)
        found.append(
            {
                "name": "policer",
                "kind": "policer",
                "direction": "forward",
                "at": "ingress",
                "rate": f"{limit.value:.0f}bps",
                "burst": f"{bucket:.0f}B",
            }
        )
    losses = fit.losses
    if losses.loss is not None and losses.loss.value:
        process: dict[str, Any] = {"name": "losses", "kind": losses.kind, "direction": "forward"}
        if losses.kind == "random":
            found.append(process | {"loss": losses.loss.value})
        elif losses.burst is not None and losses.burst.value:
            found.append(
                process | {"mean_loss": losses.loss.value, "mean_burst": f"{losses.burst.value:.3f} packets"}
            )
    found += _late(fit) + _lost_acks(fit) + _delays(fit)
    gone = fit.interruptions
    for name, intervals, hold in (("outages", gone.outages, False), ("held", gone.held, True)):
        if intervals:
            both = "forward" if gone.both_ways is False and not hold else "both"
            when = [
                [f"{1e3 * max(i.start, 0.0):.3f}ms", f"{1e3 * i.length:.3f}ms"] for i in _apart(intervals)
            ]
            channel = {"name": name, "kind": "outage", "direction": both, "schedule": {"intervals": when}}
            found.append(channel | ({"hold": True} if hold else {}))
    return found


def _late(fit: Fit) -> list[dict[str, Any]]:
    """A packet that is held for as long as it came late, and for the time that the next one takes."""
    share, by = fit.reordering.share, fit.reordering.by
    if not share.value or by is None or by.value is None:
        return []
    each = 8 * fit.seen.packet / fit.capacity.link if fit.capacity.link else 0.0
    held = f"{1e6 * (by.value + each):.0f}us"
    return [
        {"name": "late", "kind": "reorder", "direction": "forward", "probability": share.value, "by": held}
    ]


def _delays(fit: Fit) -> list[dict[str, Any]]:
    """A base RTT that changes: all of the change in one direction."""
    least = min((rtt for _, rtt in fit.steps), default=0.0)
    steps = [[f"{1e3 * start:.3f}ms", f"{1e6 * (rtt - least):.0f}us"] for start, rtt in fit.steps]
    return [{"name": "delays", "kind": "delay-step", "direction": "forward", "steps": steps}] if steps else []


def _lost_acks(fit: Fit) -> list[dict[str, Any]]:
    lost = fit.back.ack_loss.value
    channel = {"name": "acks", "kind": "random", "direction": "back", "only": "acks"}
    return [channel | {"loss": lost}] if lost else []


def _apart(intervals: list[Any]) -> list[Any]:
    """Those that have a length and do not begin within another."""
    kept: list[Any] = []
    for i in sorted(intervals, key=lambda i: i.start):
        if i.length >= 1e-4 and (not kept or i.start > kept[-1].start + kept[-1].length):
            kept.append(i)
    return kept
