"""Reads the validation's own captures without any of rexmit: plain pcap, Ethernet, IPv4, TCP.

On purpose a second, slow and simple reading of the same bytes: rexmit is scored against what it finds.
"""

from __future__ import annotations

import gzip
import struct
from collections import namedtuple
from pathlib import Path

MAGICS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}

# number: place in the capture, from 1; time in ns; src, dst: (address, port); end: seq + payload, not wrapped
Packet = namedtuple("Packet", "number time src dst ip_id seq ack flags payload sack")

SYN, FIN, RST = 2, 1, 4


def read_bytes(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def records(data: bytes):
    """(time in ns, offset of the record, offset of the packet, captured length) of each record."""
    order, tick = MAGICS[data[:4]]
    head = struct.Struct(order + "IIII")
    at = 24
    while at + 16 <= len(data):
        sec, frac, kept, _ = head.unpack_from(data, at)
        yield sec * 1_000_000_000 + frac * tick, at, at + 16, kept
        at += 16 + kept


def packets(path: Path) -> list[Packet]:
    """Every TCP packet over IPv4 and Ethernet."""
    data = read_bytes(path)
    found = []
    for number, (time, _, at, kept) in enumerate(records(data), 1):
        if kept < 54 or data[at + 12 : at + 14] != b"\x08\x00" or data[at + 23] != 6:
            continue
        ip = at + 14
        tcp = ip + (data[ip] & 15) * 4
        total, ip_id = struct.unpack_from(">HH", data, ip + 2)
        sport, dport, seq, ack, offset, flags = struct.unpack_from(">HHIIBB", data, tcp)
        header = (offset >> 4) * 4
        length = total - (tcp - ip) - header
        src = (".".join(map(str, data[ip + 12 : ip + 16])), sport)
        dst = (".".join(map(str, data[ip + 16 : ip + 20])), dport)
        sack = sack_blocks(data[tcp + 20 : min(tcp + header, at + kept)])
        found.append(Packet(number, time, src, dst, ip_id, seq, ack, flags, length, sack))
    return found


def sack_blocks(options: bytes) -> tuple[tuple[int, int], ...]:
    i = 0
    while i < len(options):
        kind = options[i]
        if kind == 0:
            break
        if kind == 1:
            i += 1
            continue
        if i + 1 >= len(options) or options[i + 1] < 2:
            break
        size = options[i + 1]
        if kind == 5:
            body = options[i + 2 : i + size]
            return tuple(struct.unpack_from(">II", body, k) for k in range(0, len(body) - 7, 8))
        i += size
    return ()


def after(a: int, b: int) -> bool:
    """a lies behind b in sequence space (RFC 9293, section 3.4)."""
    return 0 < (a - b) & 0xFFFFFFFF < 0x80000000


def cut(path: Path, out: Path, count: int) -> None:
    """Copies the first `count` packets of a capture."""
    data = read_bytes(path)
    end = 24
    for number, (_, _, at, kept) in enumerate(records(data), 1):
        if number > count:
            break
        end = at + kept
    out.write_bytes(data[:end])
