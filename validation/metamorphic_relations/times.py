"""Relations that add packets, or change when and in which file they stand."""

from __future__ import annotations

import struct
from ipaddress import ip_address
from itertools import accumulate

from metamorphic_relations.capture import SECOND
from metamorphic_relations.packet import (
    ACK,
    ETHERNET,
    FIN,
    PSH,
    SYN,
    End,
    Packet,
    parsed,
    pseudo_header,
    summed,
)
from metamorphic_relations.relation import Changed, Given, joined

MILLISECOND = 1_000_000
YEAR = 365 * 86_400 * SECOND
#: A second copy comes this much later at most.
LATEST_COPY = 60 * MILLISECOND
#: How far clocks of computers are off at most.
DRIFT = 200e-6
#: Reserved for documents (RFC 5737, RFC 3849), so no host of a capture has them.
OTHER_HOSTS = {4: ("192.0.2.77", "198.51.100.9"), 6: ("2001:db8:77::1", "2001:db8:9::2")}


def doubled(given: Given) -> Changed:
    """Each packet stands there a second time, 0 to 60 ms later. Copies of one direction keep their order."""
    copies = []
    end = max((p.time for p in given.capture.packets), default=0)
    last: dict[tuple[End, End], int] = {}
    for p in given.capture.packets:
        if p.tcp < 0:
            continue
        time = max(p.time + given.random.randrange(LATEST_COPY), last.get(p.ends, 0))
        time = last[p.ends] = min(time, p.time + LATEST_COPY)
        # The capture ended when it did.
        if time <= end:
            copies.append(p.at(time))
    return Changed([given.capture.having(joined(given.capture.packets, copies))])


def clock_shifted(given: Given) -> Changed:
    """The clock is off by up to a year, and fast or slow by up to 200 ppm."""
    packets = given.capture.packets
    begin = min((p.time for p in packets), default=0)
    shift = given.random.randrange(-min(YEAR, begin), YEAR)
    drift = round(given.random.uniform(-DRIFT, DRIFT) * SECOND)
    moved = [p.at(p.time + shift + (p.time - begin) * drift // SECOND) for p in packets]
    return Changed([given.capture.having(moved)])


def rotated(given: Given) -> Changed:
    """The packets are in two to five files. No packet is later than one of the next file."""
    packets = given.capture.packets
    latest = list(accumulate((p.time for p in packets), max))
    earliest = list(accumulate((p.time for p in reversed(packets)), min))[::-1]
    possible = [k for k in range(1, len(packets)) if latest[k - 1] <= earliest[k]]
    places = sorted(given.random.sample(possible, min(given.random.randint(1, 4), len(possible))))
    bounds = zip([0, *places], [*places, len(packets)], strict=True)
    return Changed([given.capture.having(packets[a:b]) for a, b in bounds])


def cut_off(given: Given) -> Changed:
    """The capture ends at a random time."""
    packets = given.capture.packets
    begin, end = (f(p.time for p in packets) for f in (min, max))
    at = begin + round((end - begin) * given.random.uniform(0.3, 1.0))
    return Changed([given.capture.having([p for p in packets if p.time <= at])], cut=at)


def with_other_flow(given: Given) -> Changed:
    """Two other hosts talk meanwhile: a request, and an answer of a few rounds."""
    packets = given.capture.packets
    pattern = next((p for p in packets if p.tcp >= 0), None)
    begin, end = (f(p.time for p in packets) for f in (min, max))
    if pattern is None or end - begin < MILLISECOND:
        return Changed([given.capture])
    client, server = OTHER_HOSTS[6 if pattern.is_v6 else 4]
    maker = _Host(pattern, given.capture.link, (client, 50_077), (server, 443))
    rounds = 6
    rtt = min(30 * MILLISECOND, (end - begin) // (rounds + 4))
    time = begin + given.random.randrange(max(1, end - begin - (rounds + 3) * rtt))
    made = [
        maker.made(time, True, SYN, 0, 0, 0),
        maker.made(time + rtt // 2, False, SYN | ACK, 0, 1, 0),
        maker.made(time + rtt, True, ACK, 1, 1, 0),
        maker.made(time + rtt + 1000, True, ACK | PSH, 1, 1, 300),
    ]
    time, seq, window = time + rtt + rtt // 2, 1, 10
    for number in range(rounds):
        for k in range(window):
            last = number == rounds - 1 and k == window - 1
            at = time + k * rtt // 40
            made.append(maker.made(at, False, ACK | PSH * last, seq, 301, 1000))
            seq += 1000
            made.append(maker.made(at + rtt // 2, True, ACK, 301, seq, 0))
        time += rtt
    made += [
        maker.made(time, False, ACK | FIN, seq, 301, 0),
        maker.made(time + rtt // 2, True, ACK | FIN, 301, seq + 1, 0),
        maker.made(time + rtt, False, ACK, seq + 1, 302, 0),
    ]
    return Changed([given.capture.having(joined(packets, [p for p in made if p.time <= end]))])


class _Host:
    """Makes packets between two hosts, on the same link as another packet."""

    def __init__(self, pattern: Packet, link: int, client: tuple[str, int], server: tuple[str, int]) -> None:
        self.link = link
        self.v6 = pattern.is_v6
        self.ends = tuple((ip_address(address).packed, port) for address, port in (client, server))
        self.lower = pattern.data[: pattern.ip]

    def made(self, time: int, forward: bool, flags: int, seq: int, ack: int, payload: int) -> Packet:
        (source, source_port), (target, target_port) = self.ends if forward else self.ends[::-1]
        numbers = (1_000_000, 2_000_000) if forward else (2_000_000, 1_000_000)
        options = b"\2\4\5\xb4" if flags & SYN else b""
        header = 20 + len(options)
        size = header + payload
        acked = numbers[1] + ack if flags & ACK else 0
        ports = struct.pack(">HH", source_port, target_port)
        tcp = bytearray(ports + struct.pack(">II", numbers[0] + seq, acked))
        tcp += struct.pack(">BBHHH", header << 2, flags, 60_000, 0, 0) + options + bytes(payload)
        if self.v6:
            ip = struct.pack(">IHBB", 6 << 28, size, 6, 60) + source + target
        else:
            ip = struct.pack(">BBHHHBB", 0x45, 0, 20 + size, 0, 0x4000, 60, 6)
            sum_ = ~summed(ip + source + target) & 0xFFFF
            ip += struct.pack(">H", sum_) + source + target
        lower = self.lower
        if self.link == ETHERNET:
            macs = [bytes((2, 0, 0, 0, 77, n)) for n in ((2, 1) if forward else (1, 2))]
            lower = b"".join(macs) + lower[12:]
        packet = parsed(time, lower + ip + bytes(tcp), len(lower) + len(ip) + size, self.link)
        covered = pseudo_header(packet, size) + bytes(tcp)
        struct.pack_into(">H", tcp, 16, ~summed(covered) & 0xFFFF)
        packet.data = lower + ip + bytes(tcp)
        return packet
