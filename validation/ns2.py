"""Is a run of this scenario the run of ns-2 that left this trace?

validation/ns2.py SCENARIO TRACE [STATE]

TRACE: time, event, packet; `send` (enqueued at the sender), `arrive`, `ack` (arrived at the sender), `drop`,
`drop_ack`; or every hop of two links in a row, as in tests/reference/ns-2.35/outage_*.
STATE: time, variable, value; cwnd_, and of ssthresh_, dupacks_, backoff_, rtt_ what was traced; others do
not count.  Both may be gzipped.

Prints the first difference or that there is none; exit code 1 or 0, and 2 if something cannot be read.
Packets and values must be equal, times to a microsecond. validation/reference.py makes scenarios.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import rexmit as rx
from traces import Form, Line, difference, ns, read, report, table

#: Traces of events are printed with six digits, of states with five.
EVENT_TOLERANCE_NS, STATE_TOLERANCE_NS = 600, 6_000
VARIABLES = ("cwnd_", "ssthresh_", "dupacks_", "backoff_", "rtt_")
TABLES = ("hosts", "queues", "drops", "state")
#: What happens at the two ends, and at every hop: a trace has the ones or the others.
AT_ENDS = ("send", "arrive", "ack", "drop", "drop_ack")
AT_HOPS = (
    "data_enqueue_FH",
    "data_retransmit_enqueue_FH",
    "data_tx_start_FH",
    "data_arrive_BS",
    "data_tx_start_BS",
    "data_arrive_MH",
    "data_drop",
    "data_drop_linkdown_untraced",
    "ack_send_MH",
    "ack_arrive_BS",
    "ack_arrive_FH",
    "ack_drop",
)
EVENTS = Form(("time", "event", "packet"), AT_ENDS + AT_HOPS, ignored="link_")
STATES = Form(("time", "variable", "value"))

Row = dict[str, Any]


class Trip:
    """What a run did, with what the comparison has to know of its links."""

    def __init__(self, run: rx.Run) -> None:
        self.hosts, self.queues, self.drops, self.state = (table(run, name) for name in TABLES)
        scenario = tomllib.loads(run.scenario.to_toml())
        self.links = [link["name"] for link in scenario["link"]]
        self.outages = {
            (link["name"], channel["name"])
            for link in scenario["link"]
            for channel in link.get("channel", [])
            if channel["kind"] == "outage"
        }

    def unseen(self, drop: Row) -> bool:
        """Lost by a link that was down already: ns-2 leaves no trace of these."""
        return drop["cause"] == "channel" and (drop["link"], drop["channel"]) in self.outages


def line(row: Row, what: str) -> Line:
    """ns-2 numbers a data packet, and by an ACK's number the last packet that it acknowledges."""
    return Line(row["time"], what, str(row["seq"] - (0 if row["from_client"] else 1)))


def end_to_end(trip: Trip) -> Iterator[Line]:
    listed = {d["copy"] for d in trip.drops if d["link"] == trip.links[0] and d["cause"] == "channel"}
    for row in trip.hosts:
        if row["event"] == "sent":
            # A packet on the list is lost before the queue: it is not sent.
            if row["from_client"] and row["copy"] not in listed:
                yield line(row, "send")
        else:
            yield line(row, "arrive" if row["from_client"] else "ack")
    for row in trip.drops:
        if not trip.unseen(row):
            yield line(row, "drop" if row["from_client"] else "drop_ack")


def hops(trip: Trip) -> Iterator[Line]:
    """FH - BS - MH. What arrives at BS is in the next queue at once."""
    wired, wireless = trip.links[:2]
    names = {
        (wired, "forward", "dequeued"): "data_tx_start_FH",
        (wireless, "forward", "enqueued"): "data_arrive_BS",
        (wireless, "forward", "dequeued"): "data_tx_start_BS",
        (wired, "back", "enqueued"): "ack_arrive_BS",
    }
    highest = -1
    for row in sorted(trip.queues, key=lambda r: r["time"]):
        place = (row["link"], row["direction"], row["event"])
        if place == (wired, "forward", "enqueued"):
            yield line(row, "data_enqueue_FH" if row["seq"] > highest else "data_retransmit_enqueue_FH")
            highest = max(highest, row["seq"])
        elif place in names:
            yield line(row, names[place])
    for row in trip.hosts:
        if row["event"] == "arrived":
            yield line(row, "data_arrive_MH" if row["from_client"] else "ack_arrive_FH")
        elif not row["from_client"]:
            yield line(row, "ack_send_MH")
    for row in trip.drops:
        if not row["from_client"]:
            yield line(row, "ack_drop")
        elif trip.unseen(row):
            yield line(row, "data_arrive_BS")
            yield line(row, "data_drop_linkdown_untraced")
        else:
            yield line(row, "data_drop")


def in_order(lines: Iterable[Line]) -> list[Line]:
    """By tens of microseconds: the order of packets that are lost together does not count."""
    return sorted(lines, key=lambda r: (round(r.time_ns, -4), r.what, int(r.value)))


def states(rows: list[Row]) -> Iterator[Line]:
    for row in rows:
        for variable in VARIABLES:
            yield Line(round(row["time"], -4), variable, printed(variable, row))


def printed(variable: str, row: Row) -> str:
    match variable:
        case "cwnd_":
            return f"{row['cwnd_bytes'] / row['smss_bytes']:.3f}"
        case "ssthresh_":
            return f"{row['ssthresh_bytes'] / row['smss_bytes']:.0f}"
        case "backoff_":
            return str(2 ** row["backoff"])
        case "rtt_":
            return f"{row['rtt_s'] or 0:.3f}"
        case _:
            return str(row["dupacks"])


def settled(lines: Iterable[Line]) -> list[Line]:
    """The last value at each time, where it differs from the one before: ns-2 traces each assignment."""
    latest: dict[str, list[Line]] = {}
    for new in lines:
        values = latest.setdefault(new.what, [])
        if values and abs(values[-1].time_ns - new.time_ns) < STATE_TOLERANCE_NS:
            values[-1] = new
        else:
            values.append(new)
    changes = []
    for values in latest.values():
        changes += [
            b for a, b in zip([None, *values], values, strict=False) if a is None or a.value != b.value
        ]
    return changes


def compare_events(trip: Trip, path: Path) -> tuple[str | None, int]:
    theirs = [Line(ns(c[0]), c[1], c[2], number) for number, c in read(path, EVENTS)]
    if any(their.what in AT_HOPS for their in theirs):
        if len(trip.links) != 2:
            raise ValueError(f"{path}: every hop of two links in a row; the scenario has {len(trip.links)}")
        ours = in_order(hops(trip))
        theirs = in_order(theirs)
    else:
        ours = sorted(end_to_end(trip), key=lambda a: a.time_ns)
    return difference(ours, theirs, path, EVENT_TOLERANCE_NS), len(theirs)


def compare_states(trip: Trip, path: Path) -> tuple[str | None, int, list[str]]:
    """Also the variables that it does not trace."""
    theirs = settled(Line(ns(c[0]), c[1], c[2], n) for n, c in read(path, STATES) if c[1] in VARIABLES)
    traced = {their.what for their in theirs}
    if VARIABLES[0] not in traced:
        raise ValueError(f"{path}: {VARIABLES[0]} is not traced in it")
    ours = settled(own for own in states(trip.state) if own.what in traced)
    unseen = [variable for variable in VARIABLES if variable not in traced]
    return difference(ours, theirs, path, STATE_TOLERANCE_NS), len(theirs), unseen


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", type=Path)
    parser.add_argument("trace", type=Path)
    parser.add_argument("state", type=Path, nargs="?")
    args = parser.parse_args(arguments)
    unseen: list[str] = []
    try:
        trip = Trip(rx.run(args.scenario, at="sender", tables=TABLES))
        found, lines = compare_events(trip, args.trace)
        differences = [found]
        if args.state:
            found, more, unseen = compare_states(trip, args.state)
            differences.append(found)
            lines += more
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return report(differences, lines, unseen)


if __name__ == "__main__":
    sys.exit(main())
