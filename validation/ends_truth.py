"""What is true of a transfer, from both captures and from what the sender itself knew, without the analysis.

Simulated: the simulator's own word for each transmission. Live: the congestion state that the kernel was in
as the packet left (BPF). A program's transfer has no state: then only what captures and bridge tell is
true.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import rexmit as rx
import truth
from ends_draw import Drawn
from wire import SYN, Packet, after, packets

MS = 1_000_000
#: Of each pcapng block: kind, length; of an enhanced packet: where its original bytes begin.
INTERFACE, ENHANCED, ORIGINAL_AT = 1, 6, 28
RAW_IP = 101
ETHERNET = bytes(12) + b"\x08\x00"
PCAP_NS = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)


def as_pcap(pcapng: bytes) -> bytes:
    """What wire.py reads; a simulated capture has no Ethernet."""
    out, at, head = [PCAP_NS], 0, b""
    while at + 8 <= len(pcapng):
        kind, length = struct.unpack_from("<II", pcapng, at)
        if kind == INTERFACE:
            head = ETHERNET if struct.unpack_from("<H", pcapng, at + 8)[0] == RAW_IP else b""
        elif kind == ENHANCED:
            high, low, kept, original = struct.unpack_from("<IIII", pcapng, at + 12)
            seconds, ns = divmod(high << 32 | low, 1_000_000_000)
            data = head + pcapng[at + ORIGINAL_AT : at + ORIGINAL_AT + kept]
            out.append(struct.pack("<IIII", seconds, ns, len(data), original + len(head)) + data)
        at += length
    return b"".join(out)


@dataclass
class Sent:
    """One data packet as sent: when it arrived if it did, and what made the sender send it again."""

    packet: Packet
    again: bool
    arrived: int | None
    cause: str | None = None


@dataclass
class Gap:
    """Nothing was sent for a while."""

    start: int
    end: int
    cause: str  # timer, window, application, acks, unknown


@dataclass
class Truth:
    """Of the transfer's largest flow. Times in ns on the captures' clock."""

    src: tuple[str, int]
    dst: tuple[str, int]
    origin: int
    sent: list[Sent]
    acks: list[Packet]
    gaps: list[Gap]
    #: Begin, end, way; only those that took packets of this flow, and how many.
    outages: list[tuple[int, int, str, int]] = field(default_factory=list)
    #: Begin and end of runs of losses that lasted, by whatever channel: the link delivered nothing meanwhile.
    runs: list[tuple[int, int]] = field(default_factory=list)
    causes_known: bool = True
    #: There is always more to send: with nothing in flight it waits for the receiver's window.
    greedy: bool = True

    @property
    def timeouts(self) -> list[Sent]:
        return [s for s in self.sent if s.cause == "timeout"]


def of(run: rx.Run, folder: Path, d: Drawn, live: bool) -> Truth:
    """Reads what the run left in `folder`."""
    for name in ("pc", "server"):
        (folder / f"{name}.pcap").write_bytes(as_pcap((folder / f"{name}.pcapng").read_bytes()))
    near, far = packets(folder / "pc.pcap"), packets(folder / "server.pcap")
    carried: dict[tuple, int] = defaultdict(int)
    for p in near:
        carried[p.src, p.dst] += p.payload
    src, dst = max(carried, key=lambda pair: carried[pair])
    times: dict[tuple, list[int]] = defaultdict(list)
    for p in far:
        if (p.src, p.dst) == (src, dst):
            times[truth.key(p)].append(p.time)
    sent, acks, top = [], [], None
    for p in near:
        if (p.src, p.dst) == (dst, src):
            acks.append(p)
        elif (p.src, p.dst) == (src, dst) and p.payload and not p.flags & SYN:
            arrivals = times.get(truth.key(p))
            again = top is not None and after(top, p.seq)
            sent.append(Sent(p, again, arrivals.pop(0) if arrivals else None))
            end = (p.seq + p.payload) & 0xFFFFFFFF
            top = end if top is None or after(end, top) else top
    found = Truth(src, dst, near[0].time, sent, acks, [], greedy=d.greedy)
    if not live:
        simulated_causes(run, found)
    elif d.state:
        kernel_causes(run, found)
    else:
        found.causes_known = False
    found.gaps = gaps(found)
    found.outages = taken(run, found, d.outages)
    found.runs = runs_of_losses(run, found)
    return found


def runs_of_losses(run: rx.Run, t: Truth, least: int = 15 * MS) -> list[tuple[int, int]]:
    """Times in which a channel that loses in bursts let nothing through, by when its copies were sent."""
    rows = run.drops.to_arrow(unit="ns").select(["channel"]).to_pylist()
    if not any(r["channel"] == "ge" for r in rows):
        return []
    found, lost = [], []
    for s in [*t.sent, None]:
        if s is not None and s.arrived is None:
            lost.append(s.packet.time)
            continue
        if len(lost) >= 3 and lost[-1] - lost[0] >= least:
            found.append((lost[0], lost[-1]))
        lost = []
    return found


def simulated_causes(run: rx.Run, t: Truth) -> None:
    """The simulator says why each transmission was made."""
    why: dict[tuple[int, int], str] = {}
    for row in run.truth.to_arrow(unit="ns").select(["time", "seq_start", "cause"]).to_pylist():
        why[int(row["time"].value), int(row["seq_start"])] = str(row["cause"])
    first = next((s.packet.seq for s in t.sent), 0)
    for s in t.sent:
        offset = (s.packet.seq - first) % (1 << 32) + 1
        s.cause = why.get((s.packet.time, offset))


def kernel_causes(run: rx.Run, t: Truth) -> None:
    """By the kernel's state as the packet left, as truth.add_causes does by tracepoints.

    In Loss, what followed a silence or the entry into the state is the timer's; outside Recovery and Loss
    only probes repeat data.
    """
    rows = run.state.to_arrow(unit="ns").select(["time", "phase", "backoff", "connection"]).to_pylist()
    told = [(int(r["time"].value), str(r["phase"]), int(r["backoff"] or 0)) for r in rows]
    told.sort(key=lambda r: r[0])
    times = [r[0] for r in told]
    heard = [p.time for p in t.acks]
    before, entered = 0, False
    for s in t.sent:
        now = s.packet.time
        i = bisect_right(times, now + 50_000) - 1
        phase = told[i][1] if i >= 0 else "open"
        acked = heard[bisect_left(heard, now + 1) - 1] if heard and heard[0] <= now else 0
        silent = now - max(acked, before) > 150 * MS
        if s.again:
            if phase == "recovery":
                s.cause = "recovery"
            elif phase == "loss":
                by_timer = now - acked > 2 * MS and (silent or not entered)
                s.cause = "timeout" if by_timer else "loss-state"
            else:
                s.cause = "probe"
        entered = phase == "loss"
        before = now


def gaps(t: Truth, least: int = 50 * MS) -> list[Gap]:
    """Silences of the sender, by what was in flight when they began and what ended them."""
    found = []
    heard = [p.time for p in t.acks]
    una: int | None = None
    acked: list[int] = []
    for p in t.acks:
        una = p.ack if una is None or after(p.ack, una) else una
        acked.append(una)
    top: int | None = None
    before: Sent | None = None
    for s in t.sent:
        if before is not None and s.packet.time - before.packet.time > least and top is not None:
            found.append(gap(t, before, s, top, heard, acked))
        end = (s.packet.seq + s.packet.payload) & 0xFFFFFFFF
        top = end if top is None or after(end, top) else top
        before = s
    return found


def gap(t: Truth, before: Sent, s: Sent, top: int, heard: list[int], acked: list[int]) -> Gap:
    start, end = before.packet.time, s.packet.time
    i = bisect_right(heard, end) - 1
    free = i >= 0 and not after(top, acked[i])
    quiet = i < 0 or end - heard[i] > 5 * MS
    # When the last of what was in flight was acknowledged.
    over = bisect_left(acked, True, key=lambda ack: not after(top, ack)) if free else 0
    since = heard[over] if free else end
    if s.cause in ("timeout", "probe") or (s.again and not t.causes_known and not free and quiet):
        why = "timer"
    elif free and end - since > max(5 * MS, (end - start) // 2):
        why = "acks" if t.greedy else "application"
    else:
        why = "unknown" if quiet else "acks"
    return Gap(start, end, why)


def taken(run: rx.Run, t: Truth, outages: list[tuple[float, float, str]]) -> list[tuple[int, int, str, int]]:
    """The outages that took packets of this flow, data or ACKs."""
    if not outages:
        return []
    rows = run.drops.to_arrow(unit="ns").select(["time", "channel"]).to_pylist()
    at = sorted(int(r["time"].value) for r in rows if r["channel"] == "cut")
    origin = run.origin_ns
    found = []
    for begin, end, way in outages:
        a, b = origin + round(begin * 1e9), origin + round(end * 1e9)
        n = bisect_right(at, b) - bisect_left(at, a)
        if n:
            found.append((a, b, way, n))
    return found


__all__ = ["Gap", "Sent", "Truth", "of"]
