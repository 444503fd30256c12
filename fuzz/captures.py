"""Mutations of captures: of the bytes of the file, and of its packets one by one.

A mutation is a pure function of a random number generator and a capture. `frames` reads pcap and pcapng,
plain or gzip; what a mutation writes is pcap with nanoseconds. Captures that are built from decisions, in
`capture/`, come from the fuzzer's program: `fuzz show analyze FILE`.
"""

from __future__ import annotations

import gzip
import random
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzing import mutated

MS = 1_000_000
SECOND = 1_000_000_000
#: By magic number: byte order, and ns that a unit of the second half of a time has.
PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
PCAPNG = b"\x0a\x0d\x0d\x0a"
ETHERNET, RAW, NULL, COOKED = 1, 101, 0, 113
#: Packets of a capture that is mutated, at most.
MOST = 3000


@dataclass(frozen=True)
class Frame:
    """time: ns since 1970.  wire: its length before it was cut."""

    time: int
    bytes: bytes
    wire: int


@dataclass(frozen=True)
class Packets:
    """The first packets of a capture, all of one link type."""

    link: int
    frames: tuple[Frame, ...]

    def pcap(self) -> bytes:
        out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, self.link)]
        for f in self.frames:
            seconds, rest = divmod(max(0, f.time), SECOND)
            out.append(struct.pack("<IIII", seconds & 0xFFFFFFFF, rest, len(f.bytes), f.wire) + f.bytes)
        return b"".join(out)


def plain(path: Path) -> bytes:
    """A file, decompressed."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def frames(data: bytes) -> Packets | None:
    """The packets of a capture; None of a kind that is not read here."""
    if data[:4] in PCAP:
        order, tick = PCAP[data[:4]]
        if len(data) < 24:
            return None
        (link,) = struct.unpack_from(order + "I", data, 20)
        return Packets(link & 0xFFFF, tuple(_records(data, order, tick)))
    if data[:4] == PCAPNG:
        found = list(_blocks(data))
        link = found[0][0] if found else ETHERNET
        return Packets(link, tuple(frame for of, frame in found if of == link))
    return None


def _records(data: bytes, order: str, tick: int) -> Iterator[Frame]:
    at = 24
    for _ in range(MOST):
        if at + 16 > len(data):
            return
        seconds, rest, kept, wire = struct.unpack_from(order + "IIII", data, at)
        if kept > 300_000 or at + 16 + kept > len(data):
            return
        yield Frame(seconds * SECOND + rest * tick, data[at + 16 : at + 16 + kept], wire)
        at += 16 + kept


def _blocks(data: bytes) -> Iterator[tuple[int, Frame]]:
    """Of enhanced packet blocks the link type and the frame (draft-ietf-opsawg-pcapng)."""
    order, interfaces, at, count = "<", list[tuple[int, int]](), 0, 0
    while at + 12 <= len(data) and count < MOST:
        if data[at : at + 4] == PCAPNG:
            order, interfaces = ("<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"), []
        kind, length = struct.unpack_from(order + "II", data, at)
        if length < 12 or at + length > len(data):
            return
        body = data[at + 8 : at + length - 4]
        if kind == 1 and len(body) >= 8:
            interfaces.append((struct.unpack_from(order + "H", body)[0], _tick(body[8:], order)))
        elif kind == 6 and len(body) >= 20:
            interface, high, low, kept, wire = struct.unpack_from(order + "IIIII", body)
            if interface >= len(interfaces) or 20 + kept > len(body):
                return
            link, per_second = interfaces[interface]
            time = (high << 32 | low) * SECOND // per_second
            count += 1
            yield link, Frame(time, body[20 : 20 + kept], wire)
        at += length


def _tick(options: bytes, order: str) -> int:
    """Units of time a second, from the option if_tsresol."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        if code == 9 and length >= 1:
            n = options[at + 4]
            return int(2 ** (n & 0x7F)) if n & 0x80 else int(10 ** min(n, 18))
        at += 4 + (length + 3) // 4 * 4
    return 1_000_000


def tcp(link: int, frame: bytes) -> tuple[int, bytes] | None:
    """Where the TCP header begins, and what names the direction: addresses and ports."""
    at = {ETHERNET: 14, RAW: 0, NULL: 4, COOKED: 16}.get(link)
    if at is None or len(frame) < at + 20:
        return None
    if link in (ETHERNET, COOKED) and frame[at - 2 : at] not in (b"\x08\x00", b"\x86\xdd"):
        return None
    version = frame[at] >> 4
    if version == 4 and frame[at + 9] == 6:
        head, addresses = at + 4 * (frame[at] & 15), frame[at + 12 : at + 20]
    elif version == 6 and frame[at + 6] == 6:
        head, addresses = at + 40, frame[at + 8 : at + 40]
    else:
        return None
    return (head, addresses + frame[head : head + 4]) if len(frame) >= head + 20 else None


Mutation = Callable[[random.Random, Packets], tuple[Frame, ...]]


def run_of(rng: random.Random, n: int) -> tuple[int, int]:
    """A run of packets: from, and up to."""
    start = rng.randrange(n + 1)
    return start, min(n, start + rng.choice((1, 2, 5, 20, 80, 300)))


def one_way(rng: random.Random, p: Packets) -> list[bool]:
    """Which packets go in one direction, drawn among those that there are."""
    ways = [found[1] if (found := tcp(p.link, f.bytes)) else b"" for f in p.frames]
    chosen = rng.choice(ways) if ways else b""
    return [way == chosen for way in ways]


def lose(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """Single packets are missing."""
    share = rng.choice((0.002, 0.01, 0.05, 0.3))
    return tuple(f for f in p.frames if rng.random() >= share)


def lose_run(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """All packets of a time are missing."""
    start, end = run_of(rng, len(p.frames))
    return p.frames[:start] + p.frames[end:]


def lose_one_way(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """The packets of one direction are missing for a time, or all of them."""
    start, end = run_of(rng, len(p.frames)) if rng.random() < 0.8 else (0, len(p.frames))
    ways = one_way(rng, p)
    return tuple(f for i, f in enumerate(p.frames) if not (ways[i] and start <= i < end))


def thin(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """Of one direction only every nth packet is there."""
    ways, every = one_way(rng, p), rng.choice((2, 3, 8))
    return tuple(f for i, f in enumerate(p.frames) if not ways[i] or i % every == 0)


def cut(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """The capture begins later, or ends sooner."""
    at = rng.randrange(len(p.frames) + 1)
    return p.frames[at:] if rng.random() < 0.4 else p.frames[:at]


def twice(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """Packets are there twice, the second time at once or later."""
    share, later = rng.choice((0.01, 0.1, 1.0)), rng.choice((0, 1000, MS, 200 * MS))
    second = [replace(f, time=f.time + later) for f in p.frames if rng.random() < share]
    return tuple(sorted([*p.frames, *second], key=lambda f: f.time))


def again(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """Packets come again much later, as a timer sends them."""
    start, end = run_of(rng, len(p.frames))
    later = rng.choice((50 * MS, 200 * MS, SECOND, 10 * SECOND))
    copies = [replace(f, time=f.time + later) for f in p.frames[start:end]]
    return tuple(sorted([*p.frames, *copies], key=lambda f: f.time))


def pause(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """From a packet on everything is later, or sooner."""
    at = rng.randrange(len(p.frames) + 1)
    by = rng.choice((5 * MS, 50 * MS, 300 * MS, 3 * SECOND, 100 * SECOND, -MS, -SECOND))
    return p.frames[:at] + tuple(replace(f, time=f.time + by) for f in p.frames[at:])


def hold(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """Packets of one direction are kept for a time, and then come at once."""
    start, end = run_of(rng, len(p.frames))
    ways = one_way(rng, p)
    if start >= len(p.frames):
        return p.frames
    until = p.frames[start].time + rng.choice((20 * MS, 200 * MS, SECOND))
    kept = [
        replace(f, time=max(f.time, until)) if ways[i] and start <= i < end else f
        for i, f in enumerate(p.frames)
    ]
    return tuple(sorted(kept, key=lambda f: f.time))


def swap(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """Packets overtake each other."""
    found, share = list(p.frames), rng.choice((0.01, 0.1, 0.5))
    for i in range(len(found) - 1):
        if rng.random() < share:
            one, other = found[i], found[i + 1]
            found[i], found[i + 1] = replace(other, time=one.time), replace(one, time=other.time)
    return tuple(found)


def snap(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """Packets are cut off."""
    most = rng.choice((54, 60, 66, 74, 80))
    return tuple(replace(f, bytes=f.bytes[:most]) for f in p.frames)


def stretch(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """Time passes faster, or slower."""
    if not p.frames:
        return p.frames
    first, by = p.frames[0].time, rng.choice((0.01, 0.1, 0.5, 3, 30))
    return tuple(replace(f, time=first + round((f.time - first) * by)) for f in p.frames)


#: Offset and length of the fields of a TCP header.
FIELDS = ((0, 2), (4, 4), (8, 4), (12, 1), (13, 1), (14, 2), (20, 4), (24, 4), (32, 4), (36, 4))


def fields(rng: random.Random, p: Packets) -> tuple[Frame, ...]:
    """A field of the TCP header is another one, in some packets."""
    offset, length = rng.choice(FIELDS)
    share = rng.choice((0.003, 0.03, 0.3))
    by = rng.choice((1, -1, 1448, -1448, 1 << 16, 1 << 31, None, 0))
    found = []
    for f in p.frames:
        place = tcp(p.link, f.bytes)
        if place and rng.random() < share and len(f.bytes) >= place[0] + offset + length:
            at = place[0] + offset
            old = int.from_bytes(f.bytes[at : at + length], "big")
            new = rng.getrandbits(8 * length) if by is None else (old + by if by else 0)
            new %= 1 << (8 * length)
            f = replace(f, bytes=f.bytes[:at] + new.to_bytes(length, "big") + f.bytes[at + length :])
        found.append(f)
    return tuple(found)


MUTATIONS: tuple[Mutation, ...] = (
    *(lose, lose_run, lose_one_way, thin, cut, twice, again),
    *(pause, hold, swap, snap, stretch, fields, fields),
)


def window(rng: random.Random, p: Packets) -> Packets:
    """Some packets in a row, mostly the first."""
    most = rng.choice((30, 100, 100, 300, 300, 1000))
    start = rng.randrange(len(p.frames) + 1) if rng.random() < 0.2 else 0
    return replace(p, frames=p.frames[start : start + most])


def of_packets(rng: random.Random, p: Packets) -> Packets:
    """Some mutations of its packets, one after the other."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        if p.frames:
            p = replace(p, frames=rng.choice(MUTATIONS)(rng, p))
    return p


def of_bytes(rng: random.Random, data: bytes) -> bytes:
    """Some bytes of the file changed, cut out, doubled, or put elsewhere."""
    return mutated(rng, data)


def other_end(rng: random.Random, p: Packets) -> Packets:
    """The capture of the other host: some packets lost on the way, and the rest later."""
    loss, delay = rng.choice((0, 0.02, 0.1, 0.5)), rng.choice((0, 20 * MS, 300 * MS))
    later = [
        replace(f, time=f.time + delay + (rng.randrange(MS) if delay else 0))
        for f in p.frames
        if rng.random() >= loss
    ]
    return replace(p, frames=tuple(later))


def built(rng: random.Random, fuzzer: Path, scratch: Path) -> bytes:
    """A capture that is built from random decisions, by the program of the fuzzer."""
    length = 16 + rng.randrange(16 << rng.randrange(10))
    # The first byte says that it is built; the rest of the head asks for nothing.
    scratch.write_bytes(b"\x01" + bytes(7) + rng.randbytes(length))
    command = [str(fuzzer), "show", "analyze", str(scratch)]
    return subprocess.run(command, check=True, capture_output=True).stdout
