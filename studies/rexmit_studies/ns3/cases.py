"""The paper's runs: ns-3.20's set-up, the frames lost that it lost, and what the paper reads off them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

import rexmit as rx
from rexmit.frame import Frame
from rexmit_studies import own, scenario
from rexmit_studies.declared import Declared

Numbers = npt.NDArray[Any]

NAME = "ns3"
SEGMENT_BYTES = 536
#: The application writes from 1 s to 10 s.
START_S, END_S = 1.0, 10.0
#: The paper's Mbps.
MEGABIT = 2**20
#: Payload, headers, and the two bytes of PPP.
FRAME_BYTES = SEGMENT_BYTES + 40 + 2
BASE_ERRORS = "1e-6"
RATE, DELAY = "link.link.rate", "link.link.delay"
QUEUE, STACK = "link.link.queue.packets", "flow.bulk.stack"
#: What the paper's base case has: Mbps, ms, packets.
BASE_RATE, BASE_DELAY, BASE_QUEUE = 5.0, 5.0, 10
BASE_STACK = "ns3.20-newreno"
#: The keys of the channel of errors begin so.
ERRORS = "link.link.channel.errors."

DELAYS_MS = ("1", "5", "10", "50", "100")
FAST_DELAYS_MS = ("0.1", "1", "5", "10")
ERROR_RATES = ("1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8")
QUEUES = ("1", "2", "5", "10", "100", "500", "1000")
VARIANTS = ("tahoe", "reno", "newreno")


@lru_cache
def errors() -> dict[str, list[int]]:
    """Ordinals, from 1, of the frames that ns-3.20 found in error, by error rate."""
    return tomllib.loads((files(__package__) / "errors.toml").read_text())


def listed(rate: str = BASE_ERRORS) -> dict[str, Any]:
    """The frames dropped which ns-3.20 dropped at this rate. rexmit counts from 0."""
    if not errors()[rate]:
        return drawn(0.0)
    return {ERRORS + "kind": "list", ERRORS + "packets": [n - 1 for n in errors()[rate]]}


def drawn(rate: float) -> dict[str, Any]:
    """Errors of our own in place of ns-3.20's: each byte of a frame is hit with this probability."""
    return {ERRORS + "kind": "bit-error", ERRORS + "per": "byte", ERRORS + "rate": rate}


def at_rate(rate: float) -> dict[str, Any]:
    """Errors at this rate: ns-3.20's own draw at the paper's rates, one of ours at others."""
    known = next((name for name in ERROR_RATES if float(name) == rate), None)
    return listed(known) if known else drawn(rate)


def lost() -> str:
    """Whose frames are lost where the study does not vary the error rate, in words."""
    mine = own.mine("error_rate")
    if mine is None or any(float(name) == mine for name in ERROR_RATES):
        return "the frames lost that ns-3.20 lost"
    return f"frames lost by a draw of our own at {mine:g}"


def settings() -> dict[str, dict[str, Any]]:
    """Every run of section 1 by its name: what it sets beside the base case."""
    found: dict[str, dict[str, Any]] = {"base": {}}
    found |= {f"delay {d}": {DELAY: f"{d}ms"} for d in DELAYS_MS}
    found |= {f"50 Mbps {d}": {RATE: "50Mbps", DELAY: f"{d}ms"} for d in FAST_DELAYS_MS}
    found |= {f"queue {q}": {QUEUE: q} for q in QUEUES}
    found |= {f"error {e}": listed(e) for e in ERROR_RATES}
    found |= {v: {STACK: f"ns3.20-{v}"} for v in VARIANTS}
    return found


def run_all() -> dict[str, Case]:
    """All of them; where two names set the same, one run serves both."""
    done: dict[str, Case] = {}
    found = {}
    for name, chosen in settings().items():
        made = with_(chosen)
        key = made.to_toml()
        if key not in done:
            done[key] = Case.of(made)
        found[name] = done[key]
    return found


def with_(chosen: Mapping[str, Any]) -> rx.Scenario:
    """The base case, as the user has it, with something set."""
    whole = rx.Scenario.load(scenario(NAME)).with_({"record.capture": False, **chosen})
    return own.applied(whole)


@dataclass(frozen=True)
class Case:
    """One run, and what the paper reads off its traces. Times are s since the run began."""

    run: rx.Run
    rate_bps: float
    delay_s: float

    @classmethod
    def of(cls, base: rx.Scenario) -> Case:
        found = rx.run(base, at="sender", tables=("state", "queues", "drops", "hosts"))
        given = Declared(base)
        return cls(found, given.number(RATE), given.number(DELAY))

    @cached_property
    def state(self) -> Frame:
        """The sender's rows."""
        rows = Frame(self.run.state)
        return rows.where(rows["from_client"])

    @cached_property
    def queue(self) -> Frame:
        """Rows of the sender's queue."""
        rows = Frame(self.run.queues)
        return rows.where(rows.equals("direction", "forward"))

    @cached_property
    def drops(self) -> Frame:
        """What was lost on the way to the receiver."""
        rows = Frame(self.run.drops)
        return rows.where(rows.equals("direction", "forward"))

    @cached_property
    def host(self) -> Frame:
        """What the sender's host sent and received."""
        rows = Frame(self.run.hosts)
        return rows.where(rows.equals("node", "sender"))

    @cached_property
    def left(self) -> Frame:
        """Packets that left the queue for the wire."""
        return self.queue.where(self.queue.equals("event", "dequeued"))

    @cached_property
    def full(self) -> Frame:
        """Drops by the queue."""
        return self.drops.where(self.drops.equals("cause", "queue-full"))

    @cached_property
    def throughput_mbps(self) -> float:
        """Payload that the sender put on the wire, repeats included, in 2^20 bit/s over the 9 s."""
        return float(self.left["payload_bytes"].sum()) * 8 / MEGABIT / (END_S - START_S)

    @cached_property
    def goodput_mbps(self) -> float:
        """What the receiving application got, in 10^6 bit/s over the 9 s."""
        flow = self.run.summary["flows"][0]["forward"]
        return float(flow["delivered_bytes"]) * 8e-6 / (END_S - START_S)

    @cached_property
    def cwnd(self) -> tuple[Numbers, Numbers]:
        """The lines of ns-3's trace of cwnd: when it changed, and to what, bytes."""
        time, bytes_ = self.state["time"], self.state["cwnd_bytes"]
        changed = np.append(True, np.diff(bytes_) != 0)
        return time[changed], bytes_[changed]

    @property
    def mean_cwnd_bytes(self) -> float:
        """The plain mean over these lines."""
        return float(self.cwnd[1].mean())

    @property
    def queueing_delay_s(self) -> float:
        """Mean wait of a packet in the queue."""
        return float(self.left["waited_s"].mean())

    @property
    def occupancy_packets(self) -> float:
        """Mean over the lines of node 0's trace (into the queue, out of it, dropped, received), not time."""
        time, waiting = self.queue["time"], self.queue["packets"].astype(float)
        came = self.host["time"][self.host.equals("event", "arrived")]
        at = np.searchsorted(time, came, side="left") - 1
        full = np.full(len(self.full), float(waiting.max()))
        return float(np.concatenate([waiting, waiting[np.maximum(at, 0)] * (at >= 0), full]).mean())

    @property
    def most_waiting(self) -> int:
        """The longest that the queue was, packets."""
        return int(self.queue["packets"].max())

    @cached_property
    def acks(self) -> tuple[Numbers, Numbers]:
        """When an ACK came to the sender and the number that it carries, the SYN being 0."""
        came = self.host.where(self.host.equals("event", "arrived"))
        time, number = came["time"], came["seq"]
        return time[1:], number[1:] - number[0] + 1

    @cached_property
    def recoveries(self) -> list[dict[str, float]]:
        """Each fast recovery: beginning and end, cwnd before and after, the hole, the ACK that ends it."""
        phase = self.state.text("phase")
        time, cwnd, una = self.state["time"], self.state["cwnd_bytes"], self.state["una"]
        found = []
        for i in range(1, len(phase)):
            if phase[i] == "recovery" and phase[i - 1] != "recovery":
                after = next((j for j in range(i, len(phase)) if phase[j] != "recovery"), len(phase) - 1)
                found.append(
                    {
                        "start_s": float(time[i]),
                        "end_s": float(time[after]),
                        "cwnd_before": float(cwnd[i - 1]),
                        "cwnd_after": float(cwnd[i]),
                        "hole": float(una[i]),
                        "ack": float(una[after]),
                    }
                )
        return found
