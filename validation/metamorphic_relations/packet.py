"""One packet of a capture: where its headers stand, and copies of it with other bytes and right checksums.

A checksum is updated by the difference (RFC 1624), which works without the payload. A checksum that was
wrong before, as offloads leave it, stays wrong.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from ipaddress import ip_address

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
ETHERNET, NULL, LOOP, COOKED, COOKED_2 = 1, 0, 108, 113, 276
RAW = {12, 14, 101}
#: Link types whose headers are read here.
LINK_TYPES = {ETHERNET, NULL, LOOP, COOKED, COOKED_2, *RAW}
VLAN_TAGS = {0x8100, 0x88A8, 0x9100}
END, NOP, SACK_PERMITTED, SACK, TIMESTAMPS = 0, 1, 4, 5, 8

#: An address as bytes, and a port.
End = tuple[bytes, int]
#: Both ends of a connection, in an order that does not depend on the direction.
Ends = tuple[End, End]


@dataclass(slots=True)
class Packet:
    """A captured packet. `ip` and `tcp` are places in `data`, or -1 where there is no such header."""

    #: Nanoseconds since 1970.
    time: int
    data: bytes
    #: How long the packet was before the capture cut it.
    length: int
    ip: int = -1
    tcp: int = -1
    header: int = 0
    payload: int = 0
    #: `ends`, once they were asked for.
    known: tuple[End, End] | None = field(default=None, compare=False, repr=False)

    @property
    def is_v6(self) -> bool:
        return self.data[self.ip] >> 4 == 6

    @property
    def ends(self) -> tuple[End, End]:
        """Source and destination."""
        if self.known:
            return self.known
        at, size = (self.ip + 8, 16) if self.is_v6 else (self.ip + 12, 4)
        source, target = struct.unpack_from(">HH", self.data, self.tcp)
        self.known = (self.data[at : at + size], source), (self.data[at + size : at + 2 * size], target)
        return self.known

    @property
    def connection(self) -> Ends:
        one, other = self.ends
        return (one, other) if one < other else (other, one)

    @property
    def seq(self) -> int:
        return int.from_bytes(self.data[self.tcp + 4 : self.tcp + 8], "big")

    @property
    def ack(self) -> int:
        return int.from_bytes(self.data[self.tcp + 8 : self.tcp + 12], "big")

    @property
    def flags(self) -> int:
        return self.data[self.tcp + 13]

    @property
    def options(self) -> bytes:
        """As much of the options as was captured."""
        return self.data[self.tcp + 20 : self.tcp + self.header]

    @property
    def body(self) -> bytes:
        """As much of the payload as was captured."""
        at = self.tcp + self.header
        return self.data[at : at + self.payload]

    def at(self, time: int) -> Packet:
        return Packet(time, self.data, self.length, self.ip, self.tcp, self.header, self.payload, self.known)

    def having(self, data: bytes) -> Packet:
        """The packet with other bytes at the same places; addresses and ports stay."""
        return Packet(self.time, data, self.length, self.ip, self.tcp, self.header, self.payload, self.known)


def words(end: End) -> str:
    """An end as rexmit writes it."""
    address = ip_address(end[0])
    return f"[{address}]:{end[1]}" if address.version == 6 else f"{address}:{end[1]}"


def end_of(text: str) -> End:
    """The end that rexmit wrote so."""
    address, _, port = text.rpartition(":")
    return ip_address(address.strip("[]")).packed, int(port)


def parsed(time: int, data: bytes, length: int, link: int) -> Packet:
    """The packet with the places of its headers. Fragments and tunnels have no TCP header here."""
    packet = Packet(time, data, length)
    ip = _network(data, link)
    if ip < 0 or len(data) < ip + 20:
        return packet
    version = data[ip] >> 4
    if version == 4:
        packet.ip = ip
        if data[ip + 9] != 6 or struct.unpack_from(">H", data, ip + 6)[0] & 0x3FFF:
            return packet
        total, tcp = struct.unpack_from(">H", data, ip + 2)[0], ip + (data[ip] & 15) * 4
    elif version == 6 and len(data) >= ip + 40:
        packet.ip = ip
        if data[ip + 6] != 6:
            return packet
        total, tcp = struct.unpack_from(">H", data, ip + 4)[0], ip + 40
        total += 40 * (total > 0)
    else:
        return packet
    if len(data) < tcp + 20:
        return packet
    header = (data[tcp + 12] >> 4) * 4
    # Segmentation offload leaves the length of the IP header at zero.
    whole = (total or length - ip) - (tcp - ip)
    if header >= 20 and whole >= header:
        packet.tcp, packet.header, packet.payload = tcp, header, whole - header
    return packet


def _network(data: bytes, link: int) -> int:
    """Where the IP header begins, or -1."""
    if link in RAW:
        return 0
    if link in (NULL, LOOP):
        return 4
    at = {ETHERNET: 12, COOKED: 14, COOKED_2: 0}[link]
    if len(data) < at + 2:
        return -1
    kind = int.from_bytes(data[at : at + 2], "big")
    if link == COOKED_2:
        return 20 if kind in (0x0800, 0x86DD) else -1
    while kind in VLAN_TAGS and len(data) >= at + 6:
        at += 4
        kind = int.from_bytes(data[at : at + 2], "big")
    return at + 2 if kind in (0x0800, 0x86DD) else -1


def summed(data: bytes) -> int:
    """The ones' complement sum of 16-bit words."""
    number = int.from_bytes(data, "big") << 8 * (len(data) % 2)
    # 2^16 is 1 modulo 2^16 - 1. Only words that are all zero have the sum zero.
    return number % 0xFFFF or 0xFFFF * (number > 0)


def corrected(found: int, before: bytes, after: bytes) -> int:
    """A checksum after words of what it covers were replaced (RFC 1624, equation 3)."""
    total = (~found & 0xFFFF) + (~summed(before) & 0xFFFF) + summed(after)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def pseudo_header(packet: Packet, size: int) -> bytes:
    """What a TCP checksum covers besides the segment of that size."""
    (source, _), (target, _) = packet.ends
    if packet.is_v6:
        return source + target + struct.pack(">IxxxB", size, 6)
    return source + target + struct.pack(">xBH", 6, size)


def with_tcp(packet: Packet, at: int, new: bytes) -> Packet:
    """The packet with other bytes from an even place of its TCP header on."""
    begin = packet.tcp + at
    end = begin + len(new)
    data = bytearray(packet.data)
    old, data[begin:end] = bytes(data[begin:end]), new
    made = packet.having(_tcp_corrected(packet, data, old, new))
    if at < 4:
        made.known = None
    return made


def _tcp_corrected(packet: Packet, data: bytearray, old: bytes, new: bytes) -> bytes:
    at = packet.tcp + 16
    found = struct.unpack_from(">H", data, at)[0]
    struct.pack_into(">H", data, at, corrected(found, old, new))
    return bytes(data)


def with_ip_id(packet: Packet, value: int) -> Packet:
    """An IPv4 packet with another identification."""
    data = bytearray(packet.data)
    old, new = bytes(data[packet.ip + 4 : packet.ip + 6]), struct.pack(">H", value)
    if old == new:
        return packet
    data[packet.ip + 4 : packet.ip + 6] = new
    _ip_corrected(packet, data, old, new)
    return packet.having(bytes(data))


def _ip_corrected(packet: Packet, data: bytearray, old: bytes, new: bytes) -> None:
    found = struct.unpack_from(">H", data, packet.ip + 10)[0]
    # A checksum of zero was left to the network card.
    if found:
        struct.pack_into(">H", data, packet.ip + 10, corrected(found, old, new))


def with_addresses(packet: Packet, source: bytes, target: bytes) -> Packet:
    """An IP packet between other addresses, of the same length."""
    data = bytearray(packet.data)
    at = packet.ip + (8 if packet.is_v6 else 12)
    new = source + target
    old, data[at : at + len(new)] = bytes(data[at : at + len(new)]), new
    if not packet.is_v6:
        _ip_corrected(packet, data, old, new)
    made = packet.having(bytes(data) if packet.tcp < 0 else _tcp_corrected(packet, data, old, new))
    made.known = None
    return made


def option_places(options: bytes) -> list[tuple[int, int, int]]:
    """Kind, place and size of each option; those that the capture cut are left out."""
    found, at = [], 0
    while at < len(options) and options[at] != END:
        size = 1 if options[at] == NOP else options[at + 1] if at + 1 < len(options) else 0
        if size < 1 or at + size > len(options) or (size == 1 and options[at] != NOP):
            break
        found.append((options[at], at, size))
        at += size
    return found


def without_options(packet: Packet, kinds: set[int]) -> Packet:
    """The packet with no-operations in place of these options, as a firewall strips them (TCPOPTSTRIP)."""
    options = bytearray(packet.options)
    for kind, at, size in option_places(packet.options):
        if kind in kinds:
            options[at : at + size] = bytes([NOP]) * size
    if options == packet.options:
        return packet
    return with_tcp(packet, 20, bytes(options))
