"""What the paper measures, from the counts of many runs: an array each, with a value for each seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rexmit import stats
from rexmit.arrow import batches, gather
from rexmit.scenario import Scenario
from rexmit_studies import own, scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rexmit.running.many_runs import Runs

    Numbers = NDArray[np.float64]

NAME = "wireless"

VARIANTS = ("tahoe", "reno", "newreno", "sack")
LABELS = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "Sack"}

#: A packet of 1024 bytes on the wire carries so many; a rexmit one-way agent's stream counts these.
PAYLOAD = 984
#: The wireless hop: Mbps, and ms one way. Table 2: bit error rate, and mean times up and down, s.
RATE_MBPS, DELAY_MS = 0.8, 100.0
BER, UP_S, DOWN_S = "1e-5", 2.0, 0.3

SCHEDULE = "link.wireless.channel.disconnection.schedule"

THROUGHPUT = "ACKs that the sender received / time"
#: Of a stack that does not acknowledge each packet.
DELIVERED = f"new packets of {PAYLOAD} bytes that arrived / time"
GOODPUT = "(packets sent - packets resent) / packets sent"
DURATION = "time until the sender has the ACK of packet {n}"


def fastest() -> float:
    """The rate of the wireless hop in packets/s: no transfer is faster."""
    return float(own.value("rate", RATE_MBPS)) * 1e6 / 8 / 1024


def own_stack() -> dict[str, Any]:
    """The user's stack, in the runs of a single sender."""
    mine = own.mine("stack")
    return {} if mine is None else {"flow.ftp.stack": mine}


def throughput_said() -> str:
    """How the throughput of a single sender is counted."""
    return THROUGHPUT if own.mine("stack") is None else DELIVERED


def table2() -> tuple[float, float]:
    """Mean up and down time of Table 2, s."""
    return own.value("up", UP_S), own.value("down", DOWN_S)


def load(name: str, keys: Mapping[str, Any] | None = None) -> Scenario:
    """A shipped scenario with some keys set."""
    return Scenario.load(scenario(name)).with_(keys or {})


def random_outages(up: float, down: float) -> dict[str, Any]:
    """Disconnections of exponential lengths, of these means in seconds."""
    return {SCHEDULE: {"up": f"{up:g}s", "down": f"{down:g}s"}}


def transfer(packets: int, within: float) -> dict[str, Any]:
    """A file of so many packets instead of an endless one; it is given up after `within` seconds."""
    return {
        "flow.ftp.workload.kind": "file",
        "flow.ftp.workload.size": f"{packets * PAYLOAD}B",
        "duration": f"{within:g}s",
    }


@dataclass(frozen=True)
class Counts:
    """One variant's runs, in the order of their seeds.

    throughput, goodput: as the paper defines them, packets/s and a ratio. timeouts, sent, resent: in a run.
    delivered: new packets that arrived, packets/s.
    """

    throughput: Numbers
    goodput: Numbers
    timeouts: Numbers
    sent: Numbers
    resent: Numbers
    delivered: Numbers

    def and_more(self, others: Counts) -> Counts:
        """These, and those of further seeds."""
        mine = (getattr(self, each.name) for each in fields(self))
        more = (getattr(others, each.name) for each in fields(others))
        return Counts(*(np.concatenate(both) for both in zip(mine, more, strict=True)))


def counts(runs: Runs, single: bool = False) -> list[Counts]:
    """The counts of each variant of a batch of endless transfers. single: of the sender in whose place the
    user's stack may stand, which need not have an ACK for each packet.
    """
    by_payload = single and own.mine("stack") is not None
    summary = gather(runs.summary)
    links = gather(runs.links)
    acks = _number(_back(links), "delivered")
    column = {
        name: _number(summary, name) for name in ("data_packets", "resent_packets", "timeouts", "run_s")
    }
    payload = _number(summary, "delivered_bytes")
    variant = summary["variant"].to_numpy()
    found = []
    for k in np.unique(variant):
        mine = variant == k
        sent, resent = column["data_packets"][mine], column["resent_packets"][mine]
        time = column["run_s"][mine]
        found.append(
            Counts(
                throughput=payload[mine] / PAYLOAD / time if by_payload else acks[mine] / time,
                goodput=1 - resent / sent,
                timeouts=column["timeouts"][mine],
                sent=sent,
                resent=resent,
                delivered=payload[mine] / PAYLOAD / time,
            )
        )
    return found


def durations(runs: Runs, given_up: float = np.inf) -> list[Numbers]:
    """How long each file took, s, of each variant: until its last ACK; `given_up` where it was given up."""
    summary = gather(runs.summary)
    took = np.where(_number(summary, "ended") == 1, _number(summary, "run_s"), given_up)
    variant = summary["variant"].to_numpy()
    return [took[variant == k] for k in np.unique(variant)]


def _back(links: Any) -> Any:
    """What came through to the sender: ACKs delivered by the wired hop."""
    mine = pc.and_(pc.equal(links["link"], "wired"), pc.equal(links["direction"], "back"))
    return links.filter(mine)


def _number(table: Any, name: str) -> Numbers:
    return np.asarray(table[name].to_numpy(), dtype=float)


def delays(runs: Runs) -> dict[str, list[Numbers]]:
    """Mean delay of a packet in each run, s, by two definitions, each a list over the variants; from `state`.

    `own ACK`: first sending to the ACK that bears the packet's number, of those packets whose ACK came.
    `any ACK`: first sending to the first ACK that acknowledges it.
    """
    columns = ["variant", "run", "time", "una", "nxt"]
    table = pa.Table.from_batches([batch.select(columns) for batch in batches(runs.state)])
    run, variant = table["run"].to_numpy(), table["variant"].to_numpy()
    time = table["time"].to_numpy().astype("datetime64[ns]").astype(np.int64) / 1e9
    una, nxt = (table[name].to_numpy() // PAYLOAD for name in ("una", "nxt"))
    edges = np.flatnonzero(np.r_[True, run[1:] != run[:-1], True])
    found: dict[str, list[Any]] = {"own ACK": [], "any ACK": []}
    for a, b in pairwise(edges):
        own, any_ack = run_delays(time[a:b], una[a:b], nxt[a:b])
        found["own ACK"].append((variant[a], own))
        found["any ACK"].append((variant[a], any_ack))
    kinds = sorted({int(v) for v, _ in found["own ACK"]})
    return {what: [np.array([d for v, d in all_ if v == k]) for k in kinds] for what, all_ in found.items()}


def run_delays(time: Numbers, una: NDArray[Any], nxt: NDArray[Any]) -> tuple[float, float]:
    """Mean delay to the own ACK and to any ACK of one run, s.

    time: of each change of a sender's state; una, nxt: its SND.UNA and SND.NXT then, packets from 0.
    """
    number = np.arange(int(una[-1]))
    first_sent = time[np.searchsorted(np.maximum.accumulate(nxt), number, side="right")]
    acknowledged = time[np.searchsorted(una, number, side="right")]
    # An ACK bears the number of the last packet that it acknowledges.
    born, at = np.unique(una, return_index=True)
    born, at = born[1:] - 1, at[1:]
    return float(np.mean(time[at] - first_sent[born])), float(np.mean(acknowledged - first_sent))


#: What `delays` and `all_delays` compute.
DELAYS = {
    "own ACK": "first sending to the ACK with the packet's number, where one came",
    "any ACK": "first sending to the first ACK that covers the packet",
    "arrival": "first sending to first arrival",
    "copy": "each copy that arrived, from its sending",
    "last, own ACK": "last sending to the ACK with the packet's number, where one came",
    "every ACK": "every ACK, repeated ones too, from the first sending of the packet with its number",
}


def all_delays(runs: Runs) -> dict[str, list[Numbers]]:
    """Mean delays in each run, s, by definitions that need every packet, each a list over the variants."""
    columns = ["variant", "run", "time", "event", "from_client", "seq", "copy"]
    table = pa.Table.from_batches([batch.select(columns) for batch in batches(runs.hosts)])
    run, variant = table["run"].to_numpy(), table["variant"].to_numpy()
    edges = np.flatnonzero(np.r_[True, run[1:] != run[:-1], True])
    found: dict[str, dict[int, list[float]]] = {}
    for a, b in pairwise(edges):
        for what, mean in _all_delays(table.slice(a, b - a)).items():
            found.setdefault(what, {}).setdefault(int(variant[a]), []).append(mean)
    return {what: [np.array(means[k]) for k in sorted(means)] for what, means in found.items()}


def _all_delays(packets: Any) -> dict[str, float]:
    time = packets["time"].to_numpy().astype("datetime64[ns]").astype(np.int64) / 1e9
    number, copy = packets["seq"].to_numpy(), packets["copy"].to_numpy()
    data = packets["from_client"].to_numpy()
    sending = pc.equal(packets["event"], "sent").to_numpy()
    sent, arrived, ack = data & sending, data & ~sending, ~data & ~sending
    # An ACK bears the number of the last packet that it acknowledges.
    of_ack, ack_time = number[ack] - 1, time[ack]
    count = int(number[sent].max()) + 1
    first, last, first_arrival, first_ack = (np.full(count, np.nan) for _ in range(4))
    _keep_first(first, number[sent], time[sent])
    last[number[sent]] = time[sent]
    _keep_first(first_arrival, number[arrived], time[arrived])
    _keep_first(first_ack, of_ack, ack_time)
    left = np.full(int(copy.max()) + 1, np.nan)
    left[copy[sent]] = time[sent]
    return {
        "arrival": stats.known_mean(first_arrival - first),
        "copy": stats.known_mean(time[arrived] - left[copy[arrived]]),
        "last, own ACK": stats.known_mean(first_ack - last),
        "every ACK": stats.known_mean(ack_time - first[of_ack]),
    }


def _keep_first(into: Numbers, number: NDArray[Any], time: Numbers) -> None:
    """Of several times for one number the earliest, which is written last."""
    into[number[::-1]] = time[::-1]
