"""What is known from outside rexmit: kernel counters, the bridge's drop log, tracepoints, and both captures.

Nothing here asks rexmit. Losses are the difference of two captures (or the drop log, which must agree); the
cause of a retransmission is the congestion state that the sending kernel was in when it made it.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import tomllib
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from wire import FIN, SYN, Packet, after, packets

# README.csv's words for what set off a repair, in the words of the analysis.
TRIGGERS = {
    "SACK/RACK-on-ack": "ack",
    "on-ack(no sack)": "ack",
    "RTO": "timer-rto",
    "TLP": "timer-probe",
}
LOSS_STATE, RECOVERY = 4, 3
MS = 1_000_000


@dataclass
class Copy:
    """One data packet as sent; or a FIN alone, which takes a sequence number and is sent again like data."""

    packet: Packet
    again: bool  # some of its data was sent before
    segments: int  # of one MSS each
    arrived: bool | None = None
    why: str | None = None  # the drop log's cause
    cause: str | None = None  # of a retransmission, by the tracepoints


@dataclass
class Burst:
    """A maximal run of lost copies in transmission order."""

    copies: list[Copy]
    trigger: str | None = None  # by the tracepoints
    first_repair: int | None = None

    @property
    def start(self) -> int:
        return self.copies[0].packet.time

    @property
    def last(self) -> int:
        return self.copies[-1].packet.time

    @property
    def lost(self) -> int:
        return sum(c.segments for c in self.copies)

    def lost_by(self, why: str) -> int:
        return sum(c.why == why for c in self.copies)


@dataclass
class Transfer:
    """All that the sending host sent, direction by direction, with what became of it."""

    host: str
    start: int  # time of the capture's first packet, ns
    flows: dict[tuple, list[Copy]] = field(default_factory=dict)
    acks: dict[tuple, list[Packet]] = field(default_factory=dict)
    syns_again: int = 0  # copies of its SYNs after the first

    @property
    def copies(self) -> list[Copy]:
        return [c for flow in self.flows.values() for c in flow]

    def resent(self, arrived: bool | None = None) -> int:
        """Retransmitted segments; with `arrived`, those that did (True) or did not (False)."""
        wanted = (c for c in self.copies if c.again and (arrived is None or c.arrived is arrived))
        return sum(c.segments for c in wanted)

    def lost(self) -> int:
        return sum(c.segments for c in self.copies if c.arrived is False)

    def bursts(self) -> list[Burst]:
        found = []
        for flow in self.flows.values():
            run: list[Copy] = []
            for copy in [*flow, None]:
                if copy is not None and copy.arrived is False:
                    run.append(copy)
                elif run:
                    found.append(Burst(run))
                    run = []
        return sorted(found, key=lambda b: b.start)


def key(p: Packet) -> tuple:
    """What makes a packet the same one at both ends."""
    return p.src, p.dst, p.ip_id, p.seq, p.ack, p.flags, p.payload


def identity(copy: Copy) -> tuple[int, int, int]:
    """What the drop log knows a packet by."""
    return copy.packet.ip_id, copy.packet.seq, copy.packet.payload


def transfer(snd: Path, rcv: Path | None = None) -> Transfer:
    """Reads one or both captures of a transfer; with both, the fate of every copy is known."""
    sent = packets(snd)
    weight: Counter[str] = Counter()
    for p in sent:
        weight[p.src[0]] += p.payload
    host = weight.most_common(1)[0][0]
    mss = max(p.payload for p in sent if p.payload <= 1460)
    arrivals = Counter(key(p) for p in packets(rcv)) if rcv else None
    result = Transfer(host, sent[0].time)
    tops: dict[tuple, int] = {}
    opened: set[tuple] = set()
    for p in sent:
        if p.src[0] != host:
            result.acks.setdefault((p.dst, p.src), []).append(p)
            continue
        if p.flags & SYN:
            result.syns_again += (p.src, p.dst, p.seq) in opened
            opened.add((p.src, p.dst, p.seq))
        fin = bool(p.flags & FIN)
        if not (p.payload or fin) or p.flags & SYN:
            continue
        flow = (p.src, p.dst)
        end = (p.seq + p.payload + fin) & 0xFFFFFFFF
        top = tops.setdefault(flow, p.seq)
        copy = Copy(p, again=after(top, p.seq), segments=max(1, -(-p.payload // mss)))
        if arrivals is not None:
            copy.arrived = arrivals[key(p)] > 0
            arrivals[key(p)] -= copy.arrived
        if after(end, top):
            tops[flow] = end
        result.flows.setdefault(flow, []).append(copy)
    return result


def add_drops(t: Transfer, path: Path) -> Counter[tuple[str, str]]:
    """Says of each lost copy why it was dropped; returns the log's counts by (way, cause).

    Raises ValueError where log and captures contradict each other: then neither is truth.
    """
    log = drop_rows(path)
    fins = {identity(copy) for copy in t.copies if not copy.packet.payload}
    waiting: dict[tuple, list[str]] = defaultdict(list)
    counted = []
    for row in log:
        packet = int(row["ip_id"]), int(row["seq"]), int(row["payload"])
        # What goes the data's way without data or FIN is a SYN, or an ACK of the other's.
        if row["dir"] == "0" and (int(row["payload"]) or packet in fins):
            waiting[packet].append(row["cause"])
            counted.append(("data", row["cause"]))
        elif row["dir"] == "1":
            counted.append(("ack", row["cause"]))
    for copy in t.copies:
        causes = waiting.get(identity(copy))
        if causes and copy.arrived is not True:
            copy.arrived = False
            copy.why = causes.pop(0)
        elif copy.arrived is False:
            raise ValueError(
                f"{path.name}: packet {copy.packet.number} did not arrive, and the log does not hold it"
            )
        else:
            copy.arrived = True
    if left := sum(map(len, waiting.values())):
        raise ValueError(f"{path.name}: {left} drops are of packets that arrived")
    return Counter(counted)


EVENT = re.compile(
    r" (\d+)\.(\d{6}): (tcp_retransmit_skb|tcp_cong_state_set): .*?sport=(\d+) dport=(\d+)"
    r"(?:.*cong_state=(\d+))?"
)


def add_causes(t: Transfer, path: Path) -> int:
    """Names the cause of each retransmission by the kernel's state when it was made; returns how many differ.

    A tracepoint stands for one buffer, which may be several packets, and follows its transmission: a packet
    belongs to the next one. In state Loss, what the timer itself sends is `timeout` (just after entering the
    state, or after a silence longer than any ACK clock), what ACKs set off is `loss-state`. Outside Recovery
    and Loss the kernel resends nothing but tail-loss probes.
    """
    retransmits: dict[tuple[int, int], list[int]] = defaultdict(list)
    states: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        if not (m := EVENT.search(line)):
            continue
        time = int(m[1]) * 1_000_000_000 + int(m[2]) * 1000
        ports = int(m[4]), int(m[5])
        if m[3] == "tcp_retransmit_skb":
            retransmits[ports].append(time)
        elif m[6] is not None:
            states[ports].append((time, int(m[6])))
    unmatched = 0
    for (src, dst), flow in t.flows.items():
        ports = src[1], dst[1]
        points, changes = retransmits[ports], states[ports]
        change_times = [c[0] for c in changes]
        ack_times = [p.time for p in t.acks.get((src, dst), [])]
        last_event = 0
        last_point = None
        for copy in flow:
            now = copy.packet.time
            if copy.again:
                # Trace times are cut to whole microseconds: up to one earlier than what they follow.
                i = bisect_left(points, now - 1000)
                if i == len(points) or points[i] - now > 5 * MS:
                    unmatched += 1
                    continue
                n = bisect_left(change_times, points[i] + 1) - 1
                state = changes[n][1] if n >= 0 else 0
                acked = ack_times[bisect_left(ack_times, now + 1) - 1] if ack_times else 0
                by_timer = now - acked > MS
                entered = n >= 0 and points[i] - changes[n][0] < MS // 2 and last_point != i
                silent = now - max(acked, last_event) > 150 * MS
                if state == RECOVERY:
                    copy.cause = "recovery"
                elif state == LOSS_STATE:
                    copy.cause = "timeout" if silent or (entered and by_timer) else "loss-state"
                else:
                    copy.cause = "probe"
                last_point = i
            last_event = now
    return unmatched


def add_triggers(t: Transfer, bursts: list[Burst]) -> None:
    """Finds what set off each burst's repair: the first retransmission of its data, or a timer before that.

    The timer resends the first unacknowledged segment, which may have arrived (its ACK was lost): it begins
    the repair all the same.
    """
    by_timer = {"timeout": "timer-rto", "probe": "timer-probe"}
    for burst in bursts:
        first = burst.copies[0].packet
        numbers = {c.packet.seq: c.packet.number for c in reversed(burst.copies)}
        burst.trigger = "unrepaired"
        for copy in t.flows[first.src, first.dst]:
            p = copy.packet
            if p.number <= first.number or not copy.again:
                continue
            if copy.cause in by_timer or numbers.get(p.seq, p.number) < p.number:
                burst.first_repair = p.time
                burst.trigger = by_timer.get(copy.cause or "", "ack")
                break


def lost_repairs(t: Transfer) -> Counter[str]:
    """Causes of the retransmissions that were lost, where no tracepoint tells: by what went before.

    A silence both ways of 150 ms or more ends in a timeout; until what was sent before it is acknowledged,
    further ones belong to the loss state if SACK was not in use (where it is, this kernel undoes the state).
    """
    causes: Counter[str] = Counter()
    for flow, copies in t.flows.items():
        acks = t.acks.get(flow, [])
        times = [p.time for p in acks]
        sack = any(p.sack for p in acks)
        until: int | None = None
        top = copies[0].packet.seq
        before = 0
        progress: tuple[int, int] | None = None
        for copy in copies:
            p = copy.packet
            i = bisect_left(times, p.time + 1)
            if until is not None and i and not after(until, acks[i - 1].ack):
                until = None
            # ... or in spite of ACKs that trickle in: the first unacknowledged segment, and no progress for
            # the 200 ms that this kernel's timer takes at least.
            if i and (progress is None or after(acks[i - 1].ack, progress[0])):
                progress = (acks[i - 1].ack, acks[i - 1].time)
            stuck = progress is not None and p.seq == progress[0] and p.time - progress[1] > 200 * MS
            silent = stuck or p.time - max(before, times[i - 1] if i else 0) > 150 * MS
            if copy.again and silent:
                until = top
            if copy.again and copy.arrived is False:
                loss_state = until is not None and not sack
                causes["timeout" if silent else "loss-state" if loss_state else "recovery"] += copy.segments
            end = (p.seq + p.payload) & 0xFFFFFFFF
            top = end if after(end, top) else top
            before = p.time
    return causes


def kernel_counters(path: Path) -> dict[str, dict]:
    """`truth.toml`: one table a capture; in tests/data they stand below [kernel]."""
    tables = tomllib.loads(path.read_text())
    return tables.get("kernel", tables)


def episode_rows(path: Path) -> dict[str, list[dict]]:
    """`README.csv`, by the name of the run."""
    rows: dict[str, list[dict]] = defaultdict(list)
    with path.open(newline="") as f:
        for row in csv.DictReader(f):
            rows[row["name"]].append(row)
    return rows


def drop_rows(path: Path) -> list[dict]:
    """The bridge's drop log, a row a packet."""
    return list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))


def interruptions(rows: list[dict], bursts: list[Burst], drops: Path) -> list[tuple[dict, list[Burst]]]:
    """The rows whose cause is an interruption, each with the bursts that hold copies it took.

    The row's times are those at the drop point; IP identification tells which copies those were.
    """
    log = drop_rows(drops)
    found = []
    for row in rows:
        if row["cause"] != "interruption":
            continue
        low, high = float(row["start_s"]) - 0.001, float(row["end_s"]) + 0.001
        taken = {
            (int(d["ip_id"]), int(d["seq"]), int(d["payload"]))
            for d in log
            if d["dir"] == "0" and d["cause"] == "interruption" and low <= float(d["t_rel_syn"]) <= high
        }
        hit = [b for b in bursts if any(identity(c) in taken for c in b.copies)]
        found.append((row, hit))
    return found
