"""Captures that are made to take memory, written as pcap: `hungry.py NAME PACKETS OUT [--lacking N]`.

Apart from what measures, whose own memory the kernel would count as its children's.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SYN, ACK, SYN_ACK = 0x02, 0x10, 0x12
PCAP_HEAD = np.array([0xA1B23C4D, 0x00040002, 0, 0, 65535, 1], "<u4").tobytes()
RECORD = np.dtype(
    [
        *((name, "<u4") for name in ("seconds", "nanoseconds", "captured", "length")),
        ("macs", "S12"),
        *((name, ">u2") for name in ("kind", "version", "total", "id", "fragment", "ttl", "sum")),
        *((name, ">u4") for name in ("source", "destination")),
        *((name, ">u2") for name in ("source_port", "destination_port")),
        *((name, ">u4") for name in ("seq", "ack")),
        *((name, ">u2") for name in ("flags", "window", "tcp_sum", "urgent")),
    ]
)
assert RECORD.itemsize == 70


def packets(n: NDArray[np.int64], payload: int = 0, options: bytes = b"", **columns: Any) -> bytes:
    """pcap records of the packets with these numbers, ten microseconds apart.

    columns: fields of RECORD; flags alone, the header's length is known here.  options: the same for all.
    """
    rows = np.zeros(len(n), RECORD)
    time = n * 10_000
    rows["seconds"], rows["nanoseconds"] = 1_700_000_000 + time // 10**9, time % 10**9
    length = 54 + len(options) + payload
    rows["captured"] = rows["length"] = length
    rows["kind"], rows["version"], rows["total"] = 0x0800, 0x4500, length - 14
    rows["id"], rows["fragment"], rows["ttl"] = n, 0x4000, 0x4006
    rows["source"], rows["destination"] = 0x0A000001, 0xC0000201
    rows["source_port"], rows["destination_port"], rows["window"] = 40_000, 80, 60_000
    # A checksum of its own each: none is taken for the same packet captured twice.
    rows["tcp_sum"] = n * 40_503
    header = (20 + len(options)) // 4 << 12
    for name, values in columns.items():
        rows[name] = values
    rows["flags"] |= header
    behind = np.frombuffer(options + bytes(payload), np.uint8)
    whole = np.empty((len(n), 70 + len(behind)), np.uint8)
    whole[:, :70] = rows.view(np.uint8).reshape(len(n), 70)
    whole[:, 70:] = behind
    return whole.tobytes()


def flood(n: NDArray[np.int64], count: int) -> bytes:
    """A SYN of a connection of its own each."""
    return packets(n, flags=SYN, source=0x0A000000 + n, seq=n * 77_777)


def answered(n: NDArray[np.int64], count: int) -> bytes:
    """The same, each answered."""
    back, caller = n % 2 == 1, 0x0A000000 + n // 2
    return packets(
        n,
        flags=np.where(back, SYN_ACK, SYN),
        source=np.where(back, 0xC0000201, caller),
        destination=np.where(back, caller, 0xC0000201),
        source_port=np.where(back, 80, 40_000),
        destination_port=np.where(back, 40_000, 80),
        seq=n * 77_777,
        ack=np.where(back, (n - 1) * 77_777 + 1, 0),
    )


def overlapping(n: NDArray[np.int64], count: int) -> bytes:
    """Eight bytes each of one flow, every one beginning within the one before."""
    return packets(n, payload=8, flags=ACK, seq=n * 3)


def young(n: NDArray[np.int64], count: int) -> bytes:
    """79 packets a connection, as many as are kept before it is followed; none is as expected."""
    flows = max(count // 79, 1)
    mixed = n * 2_654_435_761
    sack = bytes((1, 1, 5, 10)) + bytes(range(8))
    return packets(
        n,
        options=sack,
        flags=ACK,
        source=0x0A000000 + n % flows,
        seq=mixed,
        ack=mixed // 7,
        window=mixed // 3,
    )


def grown(n: NDArray[np.int64], count: int) -> bytes:
    """80 packets a connection, so that each is followed."""
    flows = max(count // 80, 1)
    return packets(n, payload=8, flags=ACK, source=0x0A000000 + n % flows, seq=n // flows * 8)


def scattered(n: NDArray[np.int64], count: int) -> bytes:
    """The same, with a gap before each segment."""
    flows = max(count // 80, 1)
    return packets(n, payload=8, flags=ACK, source=0x0A000000 + n % flows, seq=n // flows * 230_343_415)


def gaps(n: NDArray[np.int64], count: int) -> bytes:
    """One byte each in reverse order, with gaps that are never filled."""
    return packets(n, payload=1, flags=ACK, seq=4_000_000_000 - 2 * n)


def two_ways(n: NDArray[np.int64], back: NDArray[np.bool_], **columns: Any) -> bytes:
    ends = {"source": 0x0A000001, "destination": 0xC0000201, "source_port": 40_000, "destination_port": 80}
    swap = {"source": "destination", "destination": "source"}
    swap |= {"source_port": "destination_port", "destination_port": "source_port"}
    turned: Any = {name: np.where(back, ends[swap[name]], ends[name]) for name in ends}
    return packets(n, flags=ACK, **turned, **columns)


def closed(n: NDArray[np.int64], count: int) -> bytes:
    """A window that never opens: a probe (a keep-alive's look), an answer, for ever."""
    back = n % 2 == 1
    return two_ways(
        n,
        back,
        seq=np.where(back, 1, 1000 - (n > 1)),
        ack=np.where(back, 1000, 1),
        window=np.where(back, 0, 60_000),
    )


def never_sent(n: NDArray[np.int64], count: int) -> bytes:
    """A segment, then ACKs of what nobody sent, anywhere."""
    return two_ways(n, n % 10 != 0, seq=np.where(n % 10 != 0, 1, n), ack=n * 2_654_435_761)


MAKERS = {
    "SYN flood": flood,
    "answered SYNs": answered,
    "overlapping segments": overlapping,
    "79 packets each": young,
    "80 packets each": grown,
    "80 packets, scattered": scattered,
    "gaps, in reverse": gaps,
    "window never opens": closed,
    "ACKs of nothing": never_sent,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", choices=MAKERS)
    parser.add_argument("packets", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--lacking", type=int, metavar="N", help="without every packet whose number N divides"
    )
    options = parser.parse_args()
    with options.out.open("wb") as out:
        out.write(PCAP_HEAD)
        for first in range(0, options.packets, 200_000):
            n = np.arange(first, min(first + 200_000, options.packets), dtype=np.int64)
            rows = np.frombuffer(MAKERS[options.name](n, options.packets), np.uint8).reshape(len(n), -1)
            out.write((rows[n % options.lacking != 0] if options.lacking else rows).tobytes())


if __name__ == "__main__":
    main()
