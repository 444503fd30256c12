"""Captures rebuilt from public reports that print their packets: a table of packets in, a pcap file out.

A table has a line for each packet:

    CLOCK WAY FLAGS SEQ LENGTH ACK WINDOW [OPTION ...]

CLOCK is the report's (13:57:39.812123, or seconds), WAY `>` from the first host or `<` to it (`>wan`: on the
leg of that name), FLAGS letters of SFPREC (C: CWR) or `.`, SEQ and ACK relative to `isn` as the report prints
them (`-`: no ACK), WINDOW the header's field. Options of TCP: mss=1460, sack, ws=7, ts=VALUE/ECHO,
block=LEFT-RIGHT. Besides: df, tos=8, in or out (of an interface, on legs).

What no report prints is the same in all of them: IP identification 0 where it says DF and a number without
order where not, so that nothing can be read from the numbers; the payload is zeros.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "E": 64, "C": 128, ".": 0}
ETHERNET, COOKED = 1, 113
TO_US, FROM_US = 0, 4


@dataclass(frozen=True)
class Report:
    """What a report says of a connection, and where it stands."""

    name: str
    url: str
    day: str
    #: Address and port of the first host and of the second.
    hosts: tuple[tuple[str, int], tuple[str, int]]
    isn: tuple[int, int]
    ttl: tuple[int, int]
    table: str
    #: Other addresses of the two hosts, by leg: a capture of a router that translates them.
    legs: dict[str, tuple[tuple[str, int], tuple[str, int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Packet:
    at_us: int
    forward: bool
    leg: str
    flags: str
    seq: int
    length: int
    ack: int | None
    window: int
    options: tuple[str, ...]

    def value(self, name: str) -> str | None:
        return next((o[len(name) + 1 :] for o in self.options if o.startswith(f"{name}=")), None)


def micros(clock: str) -> int:
    """Of 13:57:39.812123 or 0.001301, exactly."""
    total = 0
    *larger, seconds = clock.split(":")
    for part in larger:
        total = total * 60 + int(part)
    whole, _, part = seconds.partition(".")
    return (total * 60 + int(whole)) * 1_000_000 + int(part.ljust(6, "0"))


def packets(table: str) -> Iterator[Packet]:
    for line in table.strip().splitlines():
        clock, way, flags, seq, length, ack, window, *options = line.split()
        yield Packet(
            micros(clock),
            way[0] == ">",
            way[1:],
            flags,
            int(seq),
            int(length),
            None if ack == "-" else int(ack),
            int(window),
            tuple(options),
        )


def checksum(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    words: tuple[int, ...] = struct.unpack(f"!{len(data) // 2}H", data)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def tcp_options(packet: Packet, own_isn: int, peer_isn: int) -> bytes:
    made = b""
    blocks = b""
    for option in packet.options:
        name, _, value = option.partition("=")
        if name == "mss":
            made += struct.pack("!BBH", 2, 4, int(value))
        elif name == "sack":
            made += b"\4\2"
        elif name == "ws":
            made += struct.pack("!BBB", 3, 3, int(value))
        elif name == "ts":
            made += b"\1\1" * ("S" not in packet.flags) + struct.pack(
                "!BBII", 8, 10, *map(int, value.split("/"))
            )
        elif name == "block":
            edges = ((peer_isn + int(edge)) % 2**32 for edge in value.split("-"))
            blocks += struct.pack("!II", *edges)
    if blocks:
        made += b"\1\1" + struct.pack("!BB", 5, 2 + len(blocks)) + blocks
    return made + b"\1" * (-len(made) % 4)


def frame(report: Report, number: int, packet: Packet) -> bytes:
    """The packet as it is captured, from its link's header on."""
    ends = report.legs.get(packet.leg, report.hosts)
    own, peer = (0, 1) if packet.forward else (1, 0)
    (source, source_port), (target, target_port) = ends[own], ends[peer]
    left, right = ip_address(source), ip_address(target)
    options = tcp_options(packet, report.isn[own], report.isn[peer])
    seq = (report.isn[own] + packet.seq) % 2**32
    ack = 0 if packet.ack is None else (report.isn[peer] + packet.ack) % 2**32
    flags = sum(FLAGS[letter] for letter in packet.flags) | (16 if packet.ack is not None else 0)
    offset = (20 + len(options)) // 4 << 4
    head = struct.pack("!HHIIBBH", source_port, target_port, seq, ack, offset, flags, packet.window)
    payload = bytes(packet.length)
    size = 20 + len(options) + packet.length
    if left.version == 6:
        pseudo = left.packed + right.packed + struct.pack("!IxxxB", size, 6)
    else:
        pseudo = left.packed + right.packed + struct.pack("!xBH", 6, size)
    found = checksum(pseudo + head + b"\0\0\0\0" + options + payload)
    segment = head + struct.pack("!HH", found, 0) + options + payload
    tos, ttl = int(packet.value("tos") or 0), report.ttl[own]
    if left.version == 6:
        first = 6 << 28 | tos << 20
        datagram = struct.pack("!IHBB", first, size, 6, ttl) + left.packed + right.packed + segment
        kind = 0x86DD
    else:
        df = "df" in packet.options
        drawn = hashlib.sha256(f"{report.name} {number}".encode()).digest()
        ident = 0 if df else struct.unpack("!H", drawn[:2])[0]
        start = struct.pack("!BBHHHBB", 0x45, tos, 20 + size, ident, 0x4000 if df else 0, ttl, 6)
        ends_packed = left.packed + right.packed
        sum_ = struct.pack("!H", checksum(start + b"\0\0" + ends_packed))
        datagram = start + sum_ + ends_packed + segment
        kind = 0x0800
    if report.legs:
        way = TO_US if "in" in packet.options else FROM_US
        mac = hashlib.sha256(packet.leg.encode()).digest()[:6]
        return struct.pack("!HHH6sxxH", way, 1, 6, mac, kind) + datagram
    macs = [bytes((2, 0, 0, 0, 0, 1 + end)) for end in (peer, own)]
    return b"".join(macs) + struct.pack("!H", kind) + datagram


def capture(report: Report) -> bytes:
    """The whole pcap file."""
    midnight = datetime.fromisoformat(report.day).replace(tzinfo=UTC)
    base = int(midnight.timestamp()) * 1_000_000
    made = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, COOKED if report.legs else ETHERNET)
    for number, packet in enumerate(packets(report.table), start=1):
        data = frame(report, number, packet)
        at = base + packet.at_us
        made += struct.pack("<IIII", at // 1_000_000, at % 1_000_000, len(data), len(data)) + data
    return made


def write(report: Report, folder: Path) -> Path:
    path = folder / f"{report.name}.pcap"
    path.write_bytes(capture(report))
    return path
