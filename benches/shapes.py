"""Captures that make an analysis work: each a pattern of packets that some structure could take more than
linear time or memory for. The name of a shape is its function's, and the docstring says what is in it.

    python benches/shapes.py SHAPE PACKETS FILE
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

US, MS, S = 1_000, 1_000_000, 1_000_000_000
MSS = 1448
SYN, RST, ACK, PUSH_ACK, FIN_ACK, SYN_ACK, ECE_ACK = 2, 4, 16, 24, 17, 18, 80
SENDER, RECEIVER = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"
PORT, SERVICE = 1000, 80
#: MSS, SACK permitted, window scale 7.
OPTIONS = struct.pack(">BBHBBBBBB", 2, 4, MSS, 4, 2, 3, 3, 7, 1)
ETHERNET = b"\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0"
ROUND_TRIP = 20 * MS

Blocks = Sequence[tuple[int, int]]


class Trace:
    """A pcap file of nanoseconds; packets have headers only. `now` is the time of the next packet, ns."""

    def __init__(self, path: Path) -> None:
        self._out = open(path, "wb")  # noqa: SIM115
        self._out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))
        self._packets = 0
        self.now = 0

    def close(self) -> None:
        self._out.close()

    def ip(self, source: bytes, target: bytes, protocol: int, body: bytes, payload: int, **more: int) -> None:
        """A packet whose payload is not in the file. more: at (ns), number (of the IP header), mark (ECN)."""
        number = more.get("number", self._packets) & 0xFFFF
        length = 20 + len(body) + payload
        header = struct.pack(">BBHHHBBH", 0x45, more.get("mark", 0), length, number, 0x4000, 64, protocol, 0)
        frame = ETHERNET + header + source + target + body
        seconds, rest = divmod(more.get("at", self.now), S)
        self._out.write(struct.pack("<IIII", seconds + 1000, rest, len(frame), len(frame) + payload) + frame)
        self._packets += 1

    def tcp(
        self,
        ends: tuple[bytes, int, bytes, int],
        seq: int,
        ack: int,
        flags: int = ACK,
        *,
        length: int = 0,
        window: int = 60_000,
        options: bytes = b"",
        sack: Blocks = (),
        stamps: tuple[int, int] | None = None,
        **more: int,
    ) -> None:
        """A segment. ends: address and port of its source, then of its target."""
        if stamps is not None:
            options += struct.pack(">BBBBII", 1, 1, 8, 10, *(value % 2**32 for value in stamps))
        if sack:
            options += bytes([1, 1, 5, 2 + 8 * len(sack)])
            options += b"".join(struct.pack(">II", a % 2**32, z % 2**32) for a, z in sack)
        options += b"\0" * (-len(options) % 4)
        source, port, target, service = ends
        offset = (20 + len(options)) // 4 << 4
        fields = (port, service, seq % 2**32, ack % 2**32, offset, flags, window, 0, 0)
        self.ip(source, target, 6, struct.pack(">HHIIBBHHH", *fields) + options, length, **more)

    def data(self, seq: int, length: int = MSS, **more: object) -> None:
        """The sender's segment."""
        self.tcp((SENDER, PORT, RECEIVER, SERVICE), seq, 1, length=length, window=500, **more)  # type: ignore[arg-type]

    def ack(self, ack: int, sack: Blocks = (), **more: object) -> None:
        """The receiver's ACK."""
        self.tcp((RECEIVER, SERVICE, SENDER, PORT), 1, ack, sack=sack, **more)  # type: ignore[arg-type]

    def handshake(self, isn: int = 0, round_trip: int = ROUND_TRIP) -> None:
        """Three packets; the first byte of data is then `isn + 1`."""
        out, back = (SENDER, PORT, RECEIVER, SERVICE), (RECEIVER, SERVICE, SENDER, PORT)
        self.tcp(out, isn, 0, SYN, window=65_535, options=OPTIONS)
        self.now += round_trip
        self.tcp(back, 0, isn + 1, SYN_ACK, window=65_535, options=OPTIONS)
        self.now += US
        self.tcp(out, isn + 1, 1, window=500)
        self.now += US

    def flight(self, count: int, length: int = 100, every: int = US) -> None:
        """Sends `count` segments of `length` bytes one after the other, from the first byte of the stream."""
        for k in range(count):
            self.data(1 + length * k, length)
            self.now += every


def block(k: int, length: int = 100) -> tuple[int, int]:
    """The SACK block of segment k of a flight."""
    return 1 + length * k, 1 + length * (k + 1)


def every_other_sacked(t: Trace, n: int) -> None:
    """Half of the segments are lost, the newest three that came are SACKed, and nothing is repaired."""
    t.handshake()
    for k in range(n // 3):
        t.data(1 + 2 * MSS * k)
        t.data(1 + 2 * MSS * k + MSS, at=t.now + 500)
        t.now += US
        newest = range(k, max(-1, k - 3), -1)
        t.ack(1, [block(2 * j + 1, MSS) for j in newest], at=t.now if k else t.now + ROUND_TRIP)


def every_other_repaired(t: Trace, n: int) -> None:
    """The same, where the lost half was not seen and is repaired at the end."""
    t.handshake()
    third = n // 3
    for k in range(third):
        t.data(1 + 2 * MSS * k)
        t.now += US
        t.ack(1, [block(2 * j + 1, MSS) for j in range(k, max(-1, k - 3), -1)])
        t.now += US
    for k in range(third):
        t.data(1 + 2 * MSS * k)
        t.now += US


def sack_at_random(t: Trace, n: int) -> None:
    """Three random segments of a flight in each SACK."""
    draw = random.Random(1)
    t.handshake()
    half = n // 2
    t.flight(half)
    for _ in range(half):
        t.ack(1, [block(draw.randrange(half)) for _ in range(3)])
        t.now += US


def sack_backwards(t: Trace, n: int) -> None:
    """A flight SACKed from its end, first the odd segments, then the even ones."""
    t.handshake()
    half = n // 2
    t.flight(half)
    for first in (half - 1, half - 2):
        for k in range(first, 0, -2):
            t.ack(1, [block(k)])
            t.now += US


def one_segment_again(t: Trace, n: int) -> None:
    """Nothing but one segment, sent again and again."""
    t.handshake()
    for _ in range(n):
        t.data(1)
        t.now += MS


def first_of_many_again(t: Trace, n: int) -> None:
    """The first segment again and again while many are outstanding."""
    t.handshake()
    t.flight(n // 2)
    for _ in range(n // 2):
        t.data(1, 100)
        t.now += MS


def again_backwards(t: Trace, n: int) -> None:
    """A flight that is sent again from its last segment to its first."""
    t.handshake()
    t.flight(n // 2)
    for k in range(n // 2 - 1, -1, -1):
        t.data(1 + 100 * k, 100)
        t.now += 10 * US


def many_episodes(t: Trace, n: int) -> None:
    """One loss every 100 ms, repaired after three SACKs."""
    t.handshake()
    seq = 1
    for _ in range(n // 8):
        begin = t.now
        for k in range(3):
            t.data(seq + MSS * (k + 1), at=begin + k * (ROUND_TRIP + 100 * US))
            sacked = (seq + MSS, seq + MSS * (k + 2))
            t.ack(seq, [sacked], at=begin + (k + 1) * ROUND_TRIP)
        t.data(seq, at=begin + 3 * ROUND_TRIP + 200 * US)
        t.ack(seq + 4 * MSS, at=begin + 4 * ROUND_TRIP)
        t.now = begin + 100 * MS
        seq += 4 * MSS


def many_timeouts(t: Trace, n: int) -> None:
    """Each segment arrives at its third transmission."""
    t.handshake()
    for k in range(n // 4):
        for later in (0, 300 * MS, 900 * MS):
            t.data(1 + MSS * k, at=t.now + later)
        t.ack(1 + MSS * (k + 1), at=t.now + 920 * MS)
        t.now += S


def many_gaps(t: Trace, n: int) -> None:
    """A segment every half second."""
    t.handshake()
    for k in range(n // 2):
        t.data(1 + MSS * k)
        t.ack(1 + MSS * (k + 1), at=t.now + ROUND_TRIP)
        t.now += 500 * MS


def duplicate_acks(t: Trace, n: int) -> None:
    """ACKs of the first byte and of nothing else."""
    t.handshake()
    t.flight(2, MSS)
    for _ in range(n):
        t.ack(1)
        t.now += US


def dsack_of_each(t: Trace, n: int) -> None:
    """A flight arrives, and each segment is then reported as a duplicate."""
    t.handshake()
    half = n // 2
    t.flight(half)
    for k in range(half):
        t.ack(1 + 100 * half, [block(k)])
        t.now += US


def dsack_of_nothing(t: Trace, n: int) -> None:
    """DSACKs of data that was never seen."""
    draw = random.Random(2)
    t.handshake()
    t.data(1)
    for _ in range(n):
        start = draw.randrange(1 << 30)
        t.ack(1 + MSS, [(start, start + 100)])
        t.now += US


def ports_reused(t: Trace, n: int) -> None:
    """One connection after another between the same two ports, each with its FINs."""
    for k in range(n // 7):
        isn = 10_000_000 * k
        t.handshake(isn, US)
        t.data(isn + 1)
        t.ack(isn + 1 + MSS, at=t.now + US)
        t.data(isn + 1 + MSS, 0, at=t.now + 2 * US, flags=FIN_ACK)
        t.ack(isn + 2 + MSS, at=t.now + 3 * US, flags=FIN_ACK)
        t.now += 10 * US


def ports_reused_without_fin(t: Trace, n: int) -> None:
    """The same with connections that only begin."""
    for k in range(n // 4):
        t.handshake(10_000_000 * k, US)
        t.data(10_000_000 * k + 1)
        t.now += 10 * US


def both_ways(t: Trace, n: int) -> None:
    """Data in both directions, each segment with the ACK of the other's."""
    t.handshake()
    for k in range(n // 2):
        seq = 1 + MSS * k
        t.tcp((SENDER, PORT, RECEIVER, SERVICE), seq, seq, length=MSS)
        back = (RECEIVER, SERVICE, SENDER, PORT)
        t.tcp(back, seq, seq + MSS, length=MSS, at=t.now + 500)
        t.now += US


def many_flows(t: Trace, n: int) -> None:
    """A request of 100 bytes and its ACK from each of very many addresses."""
    for k in range(n // 2):
        client = struct.pack(">I", 0x0A000000 + k % 60_000)
        port = 1024 + k // 60_000
        t.tcp((client, port, RECEIVER, SERVICE), 1, 1, PUSH_ACK, length=100)
        t.tcp((RECEIVER, SERVICE, client, port), 1, 101, at=t.now + 500)
        t.now += US


def many_flows_of_one_host(t: Trace, n: int) -> None:
    """Flows of a host that numbers its packets, many of which are missing."""
    draw = random.Random(3)
    flows = max(1, n // 40)
    seqs, number = [1] * flows, 0
    for _ in range(n):
        k = draw.randrange(flows)
        number += draw.choice((1, 1, 1, 2, 5))
        ends = (SENDER, 1000 + k % 60_000, RECEIVER, 80 + k // 60_000)
        t.tcp(ends, seqs[k], 1, PUSH_ACK, length=MSS, number=number)
        seqs[k] += MSS * draw.choice((1, 1, 1, 2))
        t.now += 10 * US


def numbers_that_jump(t: Trace, n: int) -> None:
    """One flow with missing segments whose packets are numbered, now and then with a large step."""
    draw = random.Random(3)
    t.handshake()
    seq, number = 1, 0
    for _ in range(n // 2):
        number += draw.choice((1, 1, 300))
        t.data(seq, number=number)
        seq += MSS * draw.choice((1, 2))
        t.ack(seq if draw.random() < 0.5 else seq - MSS, at=t.now + 100)
        t.now += US


def closed_window(t: Trace, n: int) -> None:
    """A window of 0 and probes of it."""
    t.handshake()
    t.data(1)
    for _ in range(n // 2):
        t.ack(1 + MSS, window=0, at=t.now + US)
        t.data(MSS, 1, at=t.now + 200 * MS)
        t.now += 400 * MS


def keep_alives(t: Trace, n: int) -> None:
    """A keep-alive every ten seconds."""
    t.handshake()
    t.data(1)
    t.ack(1 + MSS, at=t.now + US)
    for _ in range(n // 2):
        t.now += 10 * S
        t.data(MSS, 1)
        t.ack(1 + MSS, at=t.now + US)


def too_large(t: Trace, n: int) -> None:
    """ICMP messages of a router: the packet is too large (RFC 1191)."""
    t.handshake()
    t.data(1)
    quoted = struct.pack(">BBHHHBBH", 0x45, 0, 1500, 5, 0x4000, 64, 6, 0) + SENDER + RECEIVER
    quoted += struct.pack(">HHI", PORT, SERVICE, 1)
    for _ in range(n):
        t.ip(b"\1\1\1\1", SENDER, 1, struct.pack(">BBHHH", 3, 4, 0, 0, 1400) + quoted, 0)
        t.now += US


def congestion_marks(t: Trace, n: int) -> None:
    """Each segment is marked, and each ACK says so."""
    t.handshake()
    for k in range(n // 2):
        t.data(1 + MSS * k, mark=3)
        t.ack(1 + MSS * (k + 1), flags=ECE_ACK, at=t.now + 500)
        t.now += 100 * US


def each_twice(t: Trace, n: int) -> None:
    """Each packet twice with the same number, as a mirrored port shows it."""
    t.handshake()
    for k in range(n // 4):
        for _ in range(2):
            t.data(1 + MSS * k, number=k)
        for _ in range(2):
            t.ack(1 + MSS * (k + 1), at=t.now + 500)
        t.now += 10 * US


def time_backwards(t: Trace, n: int) -> None:
    """Each packet is a millisecond older than the one before."""
    t.handshake()
    for k in range(n // 2):
        t.now = 1000 * S - MS * k
        t.data(1 + MSS * k)
        t.ack(1 + MSS * (k + 1), at=t.now + 500)


def overlapping(t: Trace, n: int) -> None:
    """Each segment begins one byte later than the one before."""
    t.handshake()
    for k in range(n):
        t.data(1 + k, 1400)
        t.now += US


def shuffled(t: Trace, n: int) -> None:
    """Segments in random order, as at a receiver."""
    order = list(range(n))
    random.Random(4).shuffle(order)
    t.handshake()
    for k in order:
        t.data(1 + 100 * k, 100)
        t.now += US


def only_syns(t: Trace, n: int) -> None:
    """One SYN, sent again and again."""
    for _ in range(n):
        t.tcp((SENDER, PORT, RECEIVER, SERVICE), 0, 0, SYN, window=65_535, options=OPTIONS)
        t.now += US


def only_resets(t: Trace, n: int) -> None:
    """RSTs of one connection."""
    t.handshake()
    for _ in range(n):
        t.ack(1, flags=RST)
        t.now += US


def stamps_backwards(t: Trace, n: int) -> None:
    """Timestamps (RFC 7323) that run backwards."""
    t.handshake()
    for k in range(n // 2):
        stamp = 2**32 - 1 - 1000 * k
        t.data(1 + MSS * k, stamps=(stamp, 5))
        t.ack(1 + MSS * (k + 1), stamps=(5, stamp), at=t.now + 500)
        t.now += 100 * US


def all_acks_lost(t: Trace, n: int) -> None:
    """A flight without any ACK, and all of it again."""
    t.handshake()
    for _ in range(2):
        t.flight(n // 2, MSS, 10 * US)


SHAPES: dict[str, Callable[[Trace, int], None]] = {
    shape.__name__: shape
    for shape in (
        *(every_other_sacked, every_other_repaired, sack_at_random, sack_backwards, one_segment_again),
        *(first_of_many_again, again_backwards, many_episodes, many_timeouts, many_gaps, duplicate_acks),
        *(dsack_of_each, dsack_of_nothing, ports_reused, ports_reused_without_fin, both_ways, many_flows),
        *(many_flows_of_one_host, numbers_that_jump, closed_window, keep_alives, too_large),
        *(congestion_marks, each_twice, time_backwards, overlapping, shuffled, only_syns, only_resets),
        *(stamps_backwards, all_acks_lost),
    )
}


def write(shape: str, packets: int, path: Path) -> Path:
    """The capture of a shape with about so many packets."""
    trace = Trace(path)
    SHAPES[shape](trace, packets)
    trace.close()
    return path


def script(packets: int) -> str:
    """A packetdrill script of about so many packets: data that is acknowledged segment by segment."""
    lines = [
        "0.000 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
        "0.000 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0",
        "0.000 bind(3, ..., ...) = 0",
        "0.000 listen(3, 1) = 0",
        "0.100 < S 0:0(0) win 32792 <mss 1000,nop,wscale 7>",
        "0.100 > S. 0:0(0) ack 1 <...>",
        "0.200 < . 1:1(0) ack 1 win 257",
        "0.200 accept(3, ..., ...) = 4",
    ]
    for k in range(packets // 2):
        at = 0.3 + 0.2 * k
        lines.append(f"{at:.3f} write(4, ..., 1000) = 1000")
        lines.append(f"{at:.3f} > P. {1 + 1000 * k}:{1001 + 1000 * k}(1000) ack 1")
        lines.append(f"{at + 0.1:.3f} < . 1:1(0) ack {1001 + 1000 * k} win 257")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
