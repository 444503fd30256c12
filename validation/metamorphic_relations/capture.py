"""Reads pcap and pcapng, and writes pcap with times in nanoseconds."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from metamorphic_relations.packet import LINK_TYPES, Packet, parsed

#: What is read of a file at most.
MOST_BYTES, MOST_PACKETS = 20_000_000, 100_000
SECOND = 1_000_000_000
PCAP = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}
SECTION, INTERFACE, SIMPLE, ENHANCED = 0x0A0D0D0A, 1, 3, 6
BYTE_ORDER = 0x1A2B3C4D


class LeftOut(Exception):
    """Why a capture is not used."""


@dataclass(frozen=True)
class Capture:
    """Packets in the order of the file."""

    name: str
    link: int
    snap: int
    packets: list[Packet]

    def having(self, packets: list[Packet]) -> Capture:
        return replace(self, packets=packets)


def read(path: Path, name: str) -> Capture:
    """The first packets of a file. Raises LeftOut if it is too large or nothing that can be read here."""
    if path.stat().st_size > MOST_BYTES:
        raise LeftOut(f"larger than {MOST_BYTES // 1_000_000} MB")
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError) as error:
            raise LeftOut("damaged gzip") from error
    if len(data) < 24:
        raise LeftOut("no capture")
    for order in "<>":
        magic = struct.unpack_from(order + "I", data)[0]
        if magic in PCAP:
            return _pcap(data, order, PCAP[magic], name)
    if struct.unpack_from(">I", data)[0] == SECTION:
        return _pcapng(data, name)
    raise LeftOut("neither pcap nor pcapng")


def _pcap(data: bytes, order: str, tick: int, name: str) -> Capture:
    snap, link = struct.unpack_from(order + "II", data, 16)
    link &= 0xFFFF
    if link not in LINK_TYPES:
        raise LeftOut(f"link type {link}")
    head, at = struct.Struct(order + "IIII"), 24
    packets: list[Packet] = []
    while at + 16 <= len(data) and len(packets) < MOST_PACKETS:
        seconds, fraction, kept, length = head.unpack_from(data, at)
        at += 16
        if at + kept > len(data):
            break
        packets.append(parsed(seconds * SECOND + fraction * tick, data[at : at + kept], length, link))
        at += kept
    return Capture(name, link, snap, packets)


def _pcapng(data: bytes, name: str) -> Capture:
    packets: list[Packet] = []
    links, snaps = set(), [0]
    for time, frame, length, link, snap in _records(data):
        links.add(link)
        snaps.append(snap)
        if len(links) > 1 or link not in LINK_TYPES:
            raise LeftOut(f"link types {', '.join(map(str, sorted(links)))}")
        if len(packets) == MOST_PACKETS:
            break
        packets.append(parsed(time, frame, length, link))
    if not packets:
        raise LeftOut("no packets with times")
    return Capture(name, links.pop(), max(snaps), packets)


def _records(data: bytes) -> Iterator[tuple[int, bytes, int, int, int]]:
    """Time in ns, bytes, original length, link type and snap length of each enhanced packet."""
    order, at = "<", 0
    interfaces: list[tuple[int, int, int, int]] = []
    while at + 12 <= len(data):
        kind = struct.unpack_from(order + "I", data, at)[0]
        if kind == SECTION:
            order = "<" if struct.unpack_from("<I", data, at + 8)[0] == BYTE_ORDER else ">"
            interfaces = []
        size = struct.unpack_from(order + "I", data, at + 4)[0]
        if size < 12 or at + size > len(data):
            return
        body = data[at + 8 : at + size - 4]
        if kind == INTERFACE:
            link, snap = struct.unpack_from(order + "HxxI", body)
            interfaces.append((link, snap, *_clock(body[8:], order)))
        elif kind == SIMPLE:
            raise LeftOut("packets without times")
        elif kind == ENHANCED:
            number, high, low, kept, length = struct.unpack_from(order + "IIIII", body)
            if number >= len(interfaces):
                return
            link, snap, ticks, offset = interfaces[number]
            time = ((high << 32 | low) * SECOND) // ticks + offset * SECOND
            yield time, body[20 : 20 + kept], length, link, snap
        at += size


def _clock(options: bytes, order: str) -> tuple[int, int]:
    """Ticks a second, and seconds to add, of an interface."""
    ticks, offset, at = 1_000_000, 0, 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from(order + "HH", options, at)
        if code == 0:
            break
        value = options[at + 4 : at + 4 + size]
        if code == 9:
            ticks = 2 ** (value[0] & 127) if value[0] & 128 else 10 ** value[0]
        elif code == 14:
            offset = struct.unpack(order + "q", value)[0]
        at += 4 + (size + 3) // 4 * 4
    return ticks, offset


def write(capture: Capture, path: Path) -> Path:
    head = struct.Struct("<IIII")
    made = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, capture.snap or 262_144, capture.link)]
    for p in capture.packets:
        made.append(head.pack(*divmod(p.time, SECOND), len(p.data), p.length))
        made.append(p.data)
    path.write_bytes(b"".join(made))
    return path
