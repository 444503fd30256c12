"""Is a run of this scenario the run of ns-3 that left these traces?

validation/ns3.py SCENARIO [--segments FILE] [--cwnd FILE] [--queue FILE]

--segments: time, send or recv at the sender's device, seq, payload bytes, ack, flags; counted from the SYN.
--cwnd: time, cwnd before, after, bytes.  --queue: time, packets in the sender's queue.  All may be gzipped.

Prints the first difference with each, or that there is none; exit code 1 or 0, and 2 if something cannot be
read. Everything must be equal, times to the nanosecond. validation/reference.py makes scenarios.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import rexmit as rx
from traces import Form, Line, difference, ns, read, report, table

TABLES = ("hosts", "queues", "state")
FLAG_ACK, FLAG_PSH = 0x10, 0x08


class Header(NamedTuple):
    seq: int
    ack: int
    flags: int
    payload: int


def headers(capture: Path) -> Iterator[Header]:
    """TCP headers of a run's own capture: pcapng, little-endian, link type raw, IPv4."""
    data, at = capture.read_bytes(), 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            ip = at + 28
            tcp = ip + (data[ip] & 15) * 4
            seq, ack, offset, flags = struct.unpack_from(">IIBB", data, tcp + 4)
            total = struct.unpack_from(">H", data, ip + 2)[0]
            yield Header(seq, ack, flags, total - (tcp - ip) - (offset >> 4) * 4)
        at += size


def segments(run: rx.Run, captures: Path) -> Iterator[Line]:
    """Received when they come up to the sender, sent when its device begins to send them.

    The queue knows copies, the capture headers: the host's own rows have both, one for one.
    """
    hosts = table(run, "hosts")
    if not {"sent", "arrived"} <= {host["event"] for host in hosts}:
        raise ValueError(f"{run.name}: no packet went there and back")
    sender = hosts[0]["node"]
    here = [h for h in hosts if h["node"] == sender]
    seen = list(headers(captures / f"{sender}.pcapng"))
    packets = {host["copy"]: header for host, header in zip(here, seen, strict=True)}
    # What each side's first segment, its SYN, begins with: ours, theirs.
    isns = [packets[next(h["copy"] for h in here if h["event"] == e)].seq for e in ("sent", "arrived")]
    leaving = [q for q in table(run, "queues") if q["direction"] == "forward" and q["event"] == "dequeued"]
    for row in leaving:
        yield Line(row["time"], "send", columns(packets[row["copy"]], *isns))
    for row in here:
        if row["event"] == "arrived":
            yield Line(row["time"], "recv", columns(packets[row["copy"]], *reversed(isns)))


def columns(header: Header, own: int, other: int) -> str:
    seq, ack = ((n - isn) & 0xFFFFFFFF for n, isn in ((header.seq, own), (header.ack, other)))
    # ns-3 has no PSH.
    flags = header.flags & ~FLAG_PSH
    return f"{seq},{header.payload},{ack if flags & FLAG_ACK else 0},{flags}"


def cwnd(run: rx.Run, _: Path) -> Iterator[Line]:
    last = 0
    for row in table(run, "state"):
        now = int(row["cwnd_bytes"])
        if row["from_client"] and now != last:
            yield Line(row["time"], "cwnd", f"{last},{now}")
            last = now


def queue(run: rx.Run, _: Path) -> Iterator[Line]:
    for row in table(run, "queues"):
        if row["direction"] == "forward":
            yield Line(row["time"], "queue", str(row["packets"]))


TRACES = {"segments": segments, "cwnd": cwnd, "queue": queue}
FORMS = {
    "segments": Form(("time", "event", "seq", "payload", "ack", "flags"), ("send", "recv")),
    "cwnd": Form(("time", "before", "after")),
    "queue": Form(("time", "packets")),
}


def theirs(kind: str, path: Path) -> list[Line]:
    """A line of the segments names its event; the other traces have one kind of line."""
    named = 2 if kind == "segments" else 1
    return [
        Line(ns(line[0]), line[1] if named == 2 else kind, ",".join(line[named:]), number)
        for number, line in read(path, FORMS[kind])
    ]


def by_time(lines: list[Line], kind: str) -> list[Line]:
    """Segments of one moment in one order; the others as they come."""
    return sorted(lines, key=lambda a: (a.time_ns, a.value)) if kind == "segments" else lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", type=Path)
    for kind in TRACES:
        parser.add_argument(f"--{kind}", type=Path, metavar="FILE")
    args = parser.parse_args(arguments)
    asked = {kind: path for kind in TRACES if (path := getattr(args, kind))}
    if not asked:
        parser.error("which traces? --segments, --cwnd, --queue")
    compared, lines = [], 0
    try:
        with TemporaryDirectory() as folder:
            captures = {"record.capture": True}
            run = rx.run(args.scenario, at="sender", set=captures, tables=TABLES, captures=folder)
            for kind, path in asked.items():
                want = by_time(theirs(kind, path), kind)
                ours = by_time(list(TRACES[kind](run, Path(folder))), kind)
                compared.append(difference(ours, want, path, 0))
                lines += len(want)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return report(compared, lines)


if __name__ == "__main__":
    sys.exit(main())
