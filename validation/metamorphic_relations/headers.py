"""Relations that take something out of headers, or write something else into them."""

from __future__ import annotations

import struct
from collections.abc import Callable

from metamorphic_relations.packet import (
    ACK,
    SACK,
    SACK_PERMITTED,
    SYN,
    TIMESTAMPS,
    Ends,
    Packet,
    with_addresses,
    with_ip_id,
    with_tcp,
    without_options,
)
from metamorphic_relations.relation import Changed, Given, one_by_one


def without_handshake(given: Given) -> Changed:
    """Every SYN and every answer to one is gone. The third packet stays: time counts from it on."""
    opened: dict[Ends, int] = {}
    several: set[Ends] = set()
    for p in given.capture.packets:
        is_first = p.tcp >= 0 and p.flags & (SYN | ACK) == SYN
        # The same ports again: without a SYN nothing separates the two connections.
        if is_first and opened.setdefault(p.connection, p.seq) != p.seq:
            several.add(p.connection)
    packets = [p for p in given.capture.packets if p.tcp < 0 or not p.flags & SYN]
    return Changed([given.capture.having(packets)], left_out=several)


def _snapped(given: Given, keep: Callable[[Packet], int]) -> Changed:
    def cut(p: Packet) -> Packet:
        size = keep(p)
        return p.having(p.data[:size]) if size < len(p.data) else p

    return one_by_one(given, cut)


def snapped_behind_fixed_header(given: Given) -> Changed:
    """Each packet ends behind the first 20 bytes of its TCP header."""
    return _snapped(given, lambda p: p.tcp + 20)


def snapped_behind_options(given: Given) -> Changed:
    """Each packet ends behind its TCP header."""
    return _snapped(given, lambda p: p.tcp + p.header)


def without_timestamps(given: Given) -> Changed:
    """No-operations stand where timestamps stood."""
    return one_by_one(given, lambda p: without_options(p, {TIMESTAMPS}))


def without_sack(given: Given) -> Changed:
    """No-operations stand where SACK was permitted, and where its blocks stood."""
    return one_by_one(given, lambda p: without_options(p, {SACK_PERMITTED, SACK}))


def _with_ids(given: Given, drawn: Callable[[bytes], int], of: set[bytes] | None = None) -> Changed:
    """Another identification for each IPv4 packet of these hosts, or of all hosts.

    Of a packet that was captured twice both copies have the same one.
    """
    known: dict[bytes, int] = {}

    def change(p: Packet) -> Packet:
        if p.is_v6:
            return p
        source = p.data[p.ip + 12 : p.ip + 16]
        if of is not None and source not in of:
            return p
        old = p.data[p.ip + 4 : p.ip + 6]
        if old == b"\0\0":
            return with_ip_id(p, drawn(source))
        # What a router or an offload changes of a packet is not part of this.
        same = p.data[p.ip + 12 : p.tcp + 16] + old
        if same not in known:
            known[same] = drawn(source)
        return with_ip_id(p, known[same])

    return one_by_one(given, change)


def ids_zero(given: Given) -> Changed:
    """Every IP identification is zero, as hosts send that set "don't fragment"."""
    return _with_ids(given, lambda _: 0)


def ids_random(given: Given) -> Changed:
    """Every IP identification is drawn."""
    return _with_ids(given, lambda _: given.random.randrange(1, 0x10000))


def ids_counted(given: Given) -> Changed:
    """The host at which the capture was taken counts all its packets in the IP identification.

    Of other hosts the capture does not show which packets were lost, or overtook each other, on their way.
    """
    last: dict[bytes, int] = {}
    here = {sender[0] for sender, _ in given.directions("sender")}
    here |= {receiver[0] for _, receiver in given.directions("receiver")}

    def drawn(source: bytes) -> int:
        last[source] = (last.get(source, given.random.randrange(0x10000)) + 1) % 0x10000
        return last[source]

    return _with_ids(given, drawn, here)


def anonymised(given: Given) -> Changed:
    """Each address and each port gives way to another one, the same one everywhere."""
    addresses: dict[bytes, bytes] = {}
    ports: dict[int, int] = {}
    free = given.random.sample(range(1024, 0x10000), 0x10000 - 1024)
    networks = {4: b"\x0a", 16: b"\xfd\x00"}
    renamed: dict[Ends, Ends] = {}
    taken: set[bytes] = set()

    def address(old: bytes) -> bytes:
        while old not in addresses:
            prefix = networks[len(old)]
            new = prefix + given.random.randbytes(len(old) - len(prefix))
            if new not in taken:
                taken.add(new)
                addresses[old] = new
        return addresses[old]

    def port(old: int) -> int:
        return ports.setdefault(old, free[len(ports)])

    packets = []
    for p in given.capture.packets:
        if p.ip < 0:
            packets.append(p)
            continue
        at, size = (p.ip + 8, 16) if p.is_v6 else (p.ip + 12, 4)
        source, target = p.data[at : at + size], p.data[at + size : at + 2 * size]
        new = with_addresses(p, address(source), address(target))
        if p.tcp >= 0:
            (_, source_port), (_, target_port) = p.ends
            new = with_tcp(new, 0, struct.pack(">HH", port(source_port), port(target_port)))
            renamed[p.connection] = new.connection
        packets.append(new)
    return Changed([given.capture.having(packets)], renamed)
