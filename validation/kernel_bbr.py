"""BBR, simulated and real: the same scenarios on the simulator (linux-6-bbr) and on this kernel's BBR (root).

    .venv/bin/python validation/kernel_bbr.py [--path NAME ...] [--runs N] [--seconds S] [--set KEY=VALUE]

Six paths: a deep queue, a shallow one, 1% of random loss, an outage of 1 s, a fast path and a slow one. Of
each run, from its table `state` and its capture: throughput, RTT, when startup ended (BBR sets ssthresh as
it ends), cwnd, what was in flight, when and how long cwnd was cut to four segments to measure the RTT, time
spent repairing, and the course of sending in tenths of a second. Prints Markdown; differences are no failure.
Exit code 2: a run failed.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import statistics
import sys
from dataclasses import dataclass
from typing import Any

import rexmit as rx
from rexmit.frame import Frame

#: Where a path is steady, s after the handshake.
STEADY_S = 5.0
#: What is sent in this time is one point of the course.
BIN_S = 0.1
SHORT_CWND = 4


@dataclass(frozen=True)
class Path:
    name: str
    rate: str
    delay: str
    packets: int
    channel: tuple[dict[str, Any], ...] = ()


LOSS = {"name": "loss", "kind": "random", "loss": 0.01, "direction": "forward"}
OUTAGE = {"name": "dark", "kind": "outage", "direction": "both"} | {
    "schedule": {"every": "1h", "for": "1s", "phase": "12s", "anchor": "first-syn"}
}
PATHS = (
    Path("deep queue", "22Mbps", "25ms", 1000),
    Path("shallow queue", "22Mbps", "25ms", 20),
    Path("1% loss", "22Mbps", "25ms", 1000, (LOSS,)),
    Path("outage of 1 s", "22Mbps", "25ms", 1000, (OUTAGE,)),
    Path("fast", "80Mbps", "10ms", 400),
    Path("slow", "2Mbps", "50ms", 50),
)


def scenario(path: Path, seconds: float) -> dict[str, Any]:
    link = {"name": "wire", "between": ["a", "b"], "rate": path.rate, "delay": path.delay}
    link |= {"queue": {"kind": "droptail", "packets": path.packets}, "channel": list(path.channel)}
    flow = {"name": "up", "from": "a", "to": "b", "stack": "linux-6-bbr", "receiver": "linux-6-bbr"}
    return {
        "name": path.name.replace(" ", "-").replace("%", "-percent"),
        "duration": f"{seconds}s",
        "node": [{"name": "a"}, {"name": "b"}],
        "link": [link],
        "flow": [flow | {"workload": {"kind": "endless"}}],
        "record": {"state": True, "drops": True, "capture": ["a", "b"]},
    }


def figures(run: rx.Run, seconds: float) -> dict[str, float]:
    flow = max((flow.row for flow in run.flows), key=lambda row: row["bytes"])
    rows = sender_rows(run)
    begin = rows[0]["time"]
    steady = [row for row in rows if row["time"] - begin >= STEADY_S]
    cwnd = over_time(steady, lambda row: row["cwnd_bytes"] / row["smss_bytes"])
    pipe = over_time(steady, lambda row: row["pipe_bytes"] / row["smss_bytes"])
    srtt = over_time(steady, lambda row: row["srtt_s"] * 1e3)
    full = next((row for row in rows if row["ssthresh_bytes"]), None)
    short = held(rows, lambda row: row["cwnd_bytes"] <= SHORT_CWND * row["smss_bytes"])
    probes = [(at - begin, took) for at, took in short if took > 0.15 and at - begin > STEADY_S]
    drops = [row for row in Frame(run.drops).rows() if row["payload_bytes"] > 0]
    return {
        "throughput, Mbps": flow["throughput_bps"] / 1e6,
        "RTT, mean of all ACKs, ms": flow["rtt_ack_mean_s"] * 1e3,
        "SRTT, median, ms": statistics.median(srtt),
        "startup ended after, ms": (full["time"] - begin) * 1e3 if full else float("nan"),
        "largest cwnd, segments": max(row["cwnd_bytes"] / row["smss_bytes"] for row in rows),
        "cwnd, median, segments": statistics.median(cwnd),
        "in flight, median, segments": statistics.median(pipe),
        "in flight, 95%, segments": statistics.quantiles(pipe, n=20)[-1],
        "RTT measured anew, times": len(probes),
        "first at, s": probes[0][0] if probes else float("nan"),
        "for, ms": statistics.mean(took for _, took in probes) * 1e3 if probes else float("nan"),
        "recovery, s": time_in(rows, "recovery"),
        "loss state, s": time_in(rows, "loss"),
        "timeouts": flow["timeouts"],
        "data lost, packets": len(drops),
        "resent": flow["retransmitted_packets"],
    }


def sender_rows(run: rx.Run) -> list[dict[str, Any]]:
    """From the end of the handshake on: a kernel tells nothing before."""
    rows = [row for row in Frame(run.state).rows() if row["from_client"] and row["srtt_s"]]
    return sorted(rows, key=lambda row: row["time"])


def over_time(rows: list[dict[str, Any]], what: Any) -> list[float]:
    """Its value each millisecond: rows come with packets, and how many come says nothing of how long."""
    found = []
    for row, following in itertools.pairwise(rows):
        steps = int(following["time"] * 1e3) - int(row["time"] * 1e3)
        found += [what(row)] * steps
    return found


def held(rows: list[dict[str, Any]], when: Any) -> list[tuple[float, float]]:
    """From when, and for how long, something was so."""
    found, since = [], None
    for row in rows:
        if when(row):
            since = row["time"] if since is None else since
        elif since is not None:
            found.append((since, row["time"] - since))
            since = None
    return found


def time_in(rows: list[dict[str, Any]], phase: str) -> float:
    return sum(took for _, took in held(rows, lambda row: row["phase"] == phase))


def course(run: rx.Run, seconds: float) -> list[float]:
    """Mbps sent in each tenth of a second, by SND.NXT."""
    rows = sender_rows(run)
    begin = rows[0]["time"]
    highest = [0.0] * round(seconds / BIN_S)
    for row in rows:
        at = int((row["time"] - begin) / BIN_S)
        if at < len(highest):
            highest[at] = max(highest[at], row["nxt"])
    for k in range(1, len(highest)):
        highest[k] = max(highest[k], highest[k - 1])
    return [(b - a) * 8 / BIN_S / 1e6 for a, b in zip([0.0, *highest], highest, strict=False)]


def apart(a: list[float], b: list[float]) -> float:
    """Mean difference of two courses, as a share of the mean."""
    pairs = list(zip(a, b, strict=True))[: round(STEADY_S / BIN_S)]
    return statistics.mean(abs(x - y) for x, y in pairs) / statistics.mean(y for _, y in pairs)


def shown(value: float) -> str:
    return "–" if value != value else f"{value:,.4g}"


def compare(path: Path, options: argparse.Namespace) -> None:
    what = scenario(path, options.seconds)
    changed = dict(pair.split("=", 1) for pair in options.set)
    sim = rx.run(what, set=changed)
    lives = [rx.run(what, bench="live") for _ in range(options.runs)]
    for live in lives:
        if live.failure:
            raise RuntimeError(f"{path.name}: {live.failure}")
    ours, theirs = (
        figures(sim, options.seconds),
        [figures(live, options.seconds) for live in lives],
    )
    sent = course(sim, options.seconds)
    sent_live = [course(live, options.seconds) for live in lives]
    print(f"\n## {path.name}: {path.rate}, {path.delay} each way, {path.packets} packets\n")
    print("| figure | simulated |" + " kernel |" * len(lives))
    print("|---|---|" + "---|" * len(lives))
    for name, value in ours.items():
        print(f"| {name} | {shown(value)} | " + " | ".join(shown(t[name]) for t in theirs) + " |")
    kernel = " | ".join(f"{apart(sent, live):.1%}" for live in sent_live)
    print(f"| sending in the first {STEADY_S:.0f} s, apart from the simulated | | {kernel} |")
    if len(sent_live) > 1:
        print(f"\nThe kernel's first two runs are {apart(*sent_live[:2]):.1%} apart from each other.")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--path", action="append", choices=[p.name for p in PATHS], default=[])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    print(f"# linux-6-bbr and the BBR of Linux {platform.release()}")
    for path in PATHS:
        if not options.path or path.name in options.path:
            try:
                compare(path, options)
            except RuntimeError as error:
                print(error, file=sys.stderr)
                return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
