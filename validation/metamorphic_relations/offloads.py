"""Relations that merge segments as a host does: before it sends them (TSO), and after they came (GRO)."""

from __future__ import annotations

import struct

from metamorphic_relations.packet import ACK, FIN, PSH, End, Ends, Packet, pseudo_header, summed
from metamorphic_relations.relation import Changed, Given

MICROSECOND = 1000
#: What TCP hands over at once leaves within this time.
SENT_TOGETHER = 100 * MICROSECOND
#: A network card that gathers packets raises its interrupt this long after the first one.
CAME_TOGETHER = 200 * MICROSECOND
MOST_BYTES = 65_535


def merged_at_sender(given: Given) -> Changed:
    """Segments that leave together are one packet, with the time of the first."""
    return _merged(given, given.directions("sender"), SENT_TOGETHER, arriving=False)


def merged_at_receiver(given: Given) -> Changed:
    """Segments that come together are one packet, with the time of the last."""
    return _merged(given, given.directions("receiver"), CAME_TOGETHER, arriving=True)


def _merged(given: Given, directions: set[tuple[End, End]], within: int, arriving: bool) -> Changed:
    open_: dict[Ends, list[Packet]] = {}
    #: Place in the capture, and what stands there.
    found: list[tuple[int, Packet]] = []
    places: dict[Ends, int] = {}

    def close(connection: Ends) -> None:
        run = open_.pop(connection, None)
        if run:
            found.append((places[connection], _one(run, run[-1 if arriving else 0].time)))

    for place, p in enumerate(given.capture.packets):
        if p.tcp < 0:
            found.append((place, p))
            continue
        connection = p.connection
        run = open_.get(connection)
        if run and not (_continues(run, p) and p.time - run[0].time <= within):
            close(connection)
            run = None
        if p.payload and p.ends in directions and p.flags & ~PSH == ACK:
            if run:
                run.append(p)
            else:
                open_[connection] = [p]
                places[connection] = place
            if arriving:
                places[connection] = place
            if p.flags & PSH:
                close(connection)
        else:
            close(connection)
            found.append((place, p))
    for connection in list(open_):
        close(connection)
    found.sort(key=lambda item: item[0])
    return Changed([given.capture.having([p for _, p in found])])


def _continues(run: list[Packet], p: Packet) -> bool:
    """The next segment of the run, with the same header. Only the last segment of a run may be shorter."""
    first, last = run[0], run[-1]
    size = sum(s.payload for s in run) + p.payload + first.tcp - first.ip + first.header
    return (
        p.ends == first.ends
        and p.seq == (last.seq + last.payload) % 2**32
        and p.payload <= first.payload == last.payload
        and p.ack == first.ack
        and p.data[p.tcp + 14 : p.tcp + 16] == first.data[first.tcp + 14 : first.tcp + 16]
        and p.options == first.options
        and p.data[first.ip + 1] == first.data[first.ip + 1]
        and not (last.flags | first.flags) & (FIN | PSH)
        and size <= MOST_BYTES
    )


def _one(run: list[Packet], time: int) -> Packet:
    """One packet for the segments of a run. Its checksum is the sum of the pseudo-header, as Linux has it."""
    first = run[0]
    if len(run) == 1:
        return first
    payload = sum(p.payload for p in run)
    more = payload - first.payload
    whole = all(len(p.body) == p.payload for p in run)
    body = b"".join(p.body for p in run) if whole else first.body
    data = bytearray(first.data[: first.tcp + first.header] + body)
    at = first.ip + (4 if first.is_v6 else 2)
    old = bytes(data[at : at + 2])
    new = struct.pack(">H", int.from_bytes(old, "big") + more if old != b"\0\0" else 0)
    data[at : at + 2] = new
    if not first.is_v6:
        ip = bytes(data[first.ip : first.ip + 10] + b"\0\0" + data[first.ip + 12 : first.tcp])
        struct.pack_into(">H", data, first.ip + 10, ~summed(ip) & 0xFFFF)
    data[first.tcp + 13] |= run[-1].flags
    packet = Packet(time, b"", first.length + more, first.ip, first.tcp, first.header, payload)
    packet.data = bytes(data)
    struct.pack_into(">H", data, first.tcp + 16, summed(pseudo_header(packet, first.header + payload)))
    packet.data = bytes(data)
    return packet
