"""Paths of all kinds for validation/fit.py: a scenario drawn at random, and what is true of it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

KINDS = (
    "queue",
    "queue",
    "policer",
    "random",
    "random",
    "gilbert-elliott",
    "outages",
    "held",
    "idle",
    "window",
    "turns",
    "random-and-queue",
)
#: Those in which something else than the path limits.
UNFILLED = ("idle", "window", "turns")
#: Those that cannot tell: an idle application, a full receiver's window, a neighbour outside of the capture.
CANNOT_TELL = ("idle", "window", "neighbour")
PACKET = 1500


@dataclass
class Path:
    """A drawn path.  truth: rate (bps), rtt (s), and of each kind what it has besides."""

    kind: str
    scenario: dict[str, Any]
    truth: dict[str, Any] = field(default_factory=dict)


def draw(seed: int, number: int, kinds: tuple[str, ...] = KINDS) -> Path:
    """Path `number` of a seed, the same each time."""
    r = random.Random(f"{seed}-{number}")
    kind = kinds[number % len(kinds)]
    rate = 10 ** r.uniform(6.3, 7.9)
    rtt = 10 ** r.uniform(-2.2, -0.8)
    product = rate * rtt / 8 / PACKET
    queue = max(10, round(product * 10 ** r.uniform(-0.5, 0.45)))
    seconds = r.uniform(6, 14)
    channels: list[dict[str, Any]] = []
    truth: dict[str, Any] = {"rate": rate, "rtt": rtt, "queue": queue, "seconds": seconds}
    workload: dict[str, Any] = {"kind": "file", "size": f"{max(60_000, int(rate * seconds / 8))}B"}
    if kind == "policer":
        limit, burst = rate * r.uniform(0.1, 0.4), max(20e3, 10 ** r.uniform(4.4, 5.6))
        truth |= {"policer_rate": limit, "bucket": burst}
        workload["size"] = f"{max(60_000, int(limit * seconds / 8))}B"
        channels.append(_channel("policer", rate=f"{limit:.0f}bps", burst=f"{burst:.0f}B", at="ingress"))
    if kind.startswith("random"):
        loss = 10 ** r.uniform(-2.9, -1.6) if kind == "random" else 10 ** r.uniform(-4, -3)
        truth["loss"] = loss
        channels.append(_channel("random", loss=loss))
    if kind == "gilbert-elliott":
        loss, mean = 10 ** r.uniform(-2.5, -1.6), r.uniform(2, 5)
        truth |= {"loss": loss, "burst": mean}
        channels.append(_channel(kind, mean_loss=loss, mean_burst=f"{mean:.2f} packets"))
    if kind in ("outages", "held"):
        every, length = r.uniform(2.0, 5.0), 10 ** r.uniform(-1.2, -0.2)
        first = r.uniform(0.8, 2.0)
        times = [first + i * every for i in range(int((seconds - first) / every) + 1)]
        truth |= {"outages": [(t, length) for t in times], "period": every}
        when = [[f"{1e3 * t:.3f}ms", f"{1e3 * length:.3f}ms"] for t in times]
        hold = {"hold": True} if kind == "held" else {}
        channels.append(_channel("outage", schedule={"intervals": when}, direction="both", **hold))
    stack: list[dict[str, Any]] = []
    receiver = "linux-6-cubic"
    if kind == "window":
        window = max(6_000, int(rate * rtt / 8 * r.uniform(0.15, 0.5)))
        truth["window"] = window
        receiver = "small"
        receive = {"window": {"kind": "fixed", "buffer": f"{window}B"}}
        stack = [{"name": receiver, "based_on": "linux-6-cubic", "receive": receive}]
        workload["size"] = f"{max(60_000, int(window / rtt * seconds * 0.7))}B"
    if kind == "idle":
        message = r.choice((500, 4_000, 12_000))
        workload = {
            "kind": "constant-rate",
            "rate": f"{rate * r.uniform(0.05, 0.3):.0f}bps",
            "message": f"{message}B",
        }
    if kind == "turns":
        asked, answered = r.randint(100, 2000), r.randint(500, 8000)
        turns = max(5, int(seconds / (rtt * 1.2)))
        workload = {"kind": "request-response", "request": f"{asked}B", "response": f"{answered}B"}
        workload |= {"requests": min(turns, 200)}
    name = r.choice(("linux-6-cubic", "linux-6-cubic", "linux-6-reno", "linux-6-bbr"))
    truth["stack"] = name
    link: dict[str, Any] = {
        "name": "path",
        "between": ["a", "b"],
        "rate": f"{rate:.0f}bps",
        "delay": f"{rtt / 2 * 1e6:.1f}us",
    }
    link |= {"queue": {"kind": "droptail", "packets": queue}, "channel": channels}
    flow = {"name": "flow", "from": "a", "to": "b", "stack": name, "receiver": receiver, "workload": workload}
    limit_s = seconds if kind == "idle" else 60
    whole: dict[str, Any] = {"name": "drawn", "duration": f"{limit_s:.3f}s", "seed": seed * 1000 + number}
    whole |= {"node": [{"name": "a"}, {"name": "b"}], "link": [link], "flow": [flow]}
    whole |= {"record": {"capture": ["a", "b"], "drops": True}}
    if stack:
        whole["stack"] = stack
    if kind == "neighbour":
        _beside(r, whole, rate)
    return Path(kind, whole, truth)


def _channel(kind: str, **keys: Any) -> dict[str, Any]:
    return {"name": "channel", "kind": kind, "direction": "forward"} | keys


def _beside(r: random.Random, whole: dict[str, Any], rate: float) -> None:
    """A transfer of another host over the same link, which a capture at the sender does not have."""
    whole["node"] += [{"name": "c"}, {"name": "m"}]
    path = whole["link"][0] | {"between": ["m", "b"]}
    whole["link"] = [
        {"name": "own", "between": ["a", "m"], "rate": "10Gbps", "delay": "1us"},
        {"name": "other", "between": ["c", "m"], "rate": "10Gbps", "delay": "1ms"},
        path,
    ]
    size = int(rate * r.uniform(2, 10) / 8)
    flow = {"name": "other", "from": "c", "to": "b", "stack": r.choice(("linux-6-cubic", "linux-6-bbr"))}
    flow |= {"receiver": "linux-6-cubic", "start": f"{r.uniform(0, 3):.3f}s"}
    whole["flow"].append(flow | {"workload": {"kind": "file", "size": f"{size}B"}})
    whole["record"]["capture"] = ["a"]
