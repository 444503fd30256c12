"""Transfers of this machine's own kernel with its tracepoints and the bridge's drop log as truth.

    .venv/bin/python validation/traced.py OUT [--count 10] [--seed 1] [--kind outage --kind long]
    .venv/bin/python validation/causes.py --part testbed --captures OUT

Each is an upload over a path drawn from the seed: outages of 50 ms to 3 s, one way or both, with losses
besides, or losses in bursts. OUT/testbed gets what causes.py reads: captures of both ends, `*.drops.csv.gz`,
`*.trace.txt.gz` (when the kernel sent again, and in which congestion state) and `README.csv`, a row an
outage. What was made before stays. Needs Linux and root.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import sys
import tempfile
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import rexmit as rx
import transfers
import truth
from rexmit.frame import Frame
from wire import SYN, packets

TRACING = Path("/sys/kernel/tracing")
EVENTS = ("tcp_retransmit_skb", "tcp_cong_state_set")
STAMP = re.compile(r" (\d+)\.(\d{6}): ")
#: A line of the trace with its fields by name: when, what, of which socket.
FIELDS = re.compile(r" (?P<stamp>\d+\.\d{6}): (?P<event>tcp_\w+): .*?skaddr=(?P<socket>0x[0-9a-f]+)")
VALUE = r"\b%s=(?:0x[0-9a-f]+ )?\((\d+)\)"
LISTING = ("name", "cause", "start_s", "end_s", "trigger")
DROPS = ("t_rel_syn", "dir", "cause", "ip_id", "seq", "payload")
WORDS = {ours: theirs for theirs, ours in reversed(truth.TRIGGERS.items())}

Draw = random.Random


@dataclass(frozen=True)
class Outage:
    """A schedule of outages, counted from the first SYN."""

    every_s: float
    for_s: float
    direction: str = "both"
    begins_s = 1.5

    def channel(self) -> str:
        schedule = (
            f'{{ every = "{self.every_s}s", for = "{round(1000 * self.for_s)}ms", '
            f'phase = "{self.begins_s}s", anchor = "first-syn" }}'
        )
        return (
            f'[[link.channel]]\nname = "cut"\nkind = "outage"\nschedule = {schedule}\n'
            f'direction = "{self.direction}"\n'
        )

    def until(self, end_s: float) -> Iterator[tuple[float, float]]:
        """When each begins and ends, seconds."""
        start = self.begins_s
        while start < end_s:
            yield start, start + self.for_s
            start += self.every_s


def usual(draw: Draw) -> Outage:
    return Outage(draw.choice([3, 5]), draw.choice([0.05, 0.1, 0.2, 0.2, 0.4]))


def long(draw: Draw) -> Outage:
    return Outage(8, draw.choice([1, 2, 3]))


def one_way(draw: Draw) -> Outage:
    return Outage(3, draw.choice([0.1, 0.2, 0.4]), draw.choice(["forward", "back"]))


def no_outage(_: Draw) -> None:
    return None


def nothing_else(_: Draw) -> str:
    return ""


def some(draw: Draw) -> str:
    return (
        f'[[link.channel]]\nname = "random"\nkind = "random"\nloss = {draw.choice([0.001, 0.005])}\n'
        'direction = "forward"\n'
    )


def in_bursts(draw: Draw) -> str:
    share = draw.choice([0.005, 0.01, 0.02])
    return (
        f'[[link.channel]]\nname = "ge"\nkind = "gilbert-elliott"\nmean_loss = {share}\n'
        f'mean_burst = "{draw.choice([2, 4, 8, 20])} packets"\ndirection = "forward"\n'
    )


@dataclass(frozen=True)
class Kind:
    outages: Callable[[Draw], Outage | None] = usual
    besides: Callable[[Draw], str] = nothing_else
    controls: tuple[str, ...] = ("reno", "cubic")
    sysctl: tuple[str, ...] = ()
    queues: tuple[int, ...] = (30, 60, 100, 256)


KINDS = {
    "outage": Kind(),
    "long": Kind(long),
    "bursts": Kind(no_outage, in_bursts),
    "one-way": Kind(one_way),
    "nosack": Kind(controls=("reno",), sysctl=("net.ipv4.tcp_sack=0",)),
    "window": Kind(sysctl=("net.ipv4.tcp_rmem=4096 65536 65536",)),
    "deep": Kind(queues=(1000,)),
    "bbr": Kind(controls=("bbr",)),
    "mixed": Kind(besides=some),
}


def scenario(name: str, kind: str, draw: Draw) -> tuple[str, Outage | None, str]:
    """A scenario in TOML, its outages, and the sender's congestion control."""
    k = KINDS[kind]
    control = draw.choice(k.controls)
    rate_mbps = draw.choice([5.5, 10, 22, 22, 50])
    megabytes = min(40, rate_mbps * draw.choice([0.6, 1, 2]))
    outages = k.outages(draw)
    channels = (outages.channel() if outages else "") + k.besides(draw)
    path = transfers.beginning(
        name,
        channels,
        seed=draw.randrange(1 << 31),
        rate_mbps=rate_mbps,
        delay_ms=draw.choice([5, 10, 10, 20, 40]),
        queue=draw.choice(k.queues),
    )
    text = f"""{path}[[stack]]
name = "kernel"
based_on = "linux-2.6-reno"
kernel = "{control}"
[[flow]]
name = "upload"
from = "pc"
to = "server"
stack = "kernel"
receiver = "kernel"
workload = {{ kind = "file", size = "{round(1000 * megabytes)}kB" }}
[live]
sysctl = {json.dumps(k.sysctl)}
[record]
capture = ["pc", "server"]
snap = "120B"
"""
    return text, outages, control


@contextmanager
def traced() -> Iterator[Callable[[], str]]:
    """The kernel tells when TCP sends again and when it changes its state; the result reads what it told.

    In a trace instance of its own, which leaves to others theirs and goes with everything in it.
    """
    own = Path(tempfile.mkdtemp(prefix="rexmit-", dir=TRACING / "instances"))
    try:
        (own / "trace_clock").write_text("mono")
        (own / "buffer_size_kb").write_text("16384")
        (own / "options" / "fields").write_text("1")  # the usual print leaves out whose state it is
        for event in EVENTS:
            (own / "events" / "tcp" / event / "enable").write_text("1")
        yield lambda: on_the_epoch_clock((own / "trace").read_text())
    finally:
        own.rmdir()


def on_the_epoch_clock(told: str) -> str:
    """Packets are stamped by the wall's clock, events by the monotonic one."""
    # The second clock is read a little later: the pair that lies closest together is the largest difference.
    between_ns = max(
        time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        for _ in range(1000)
    )
    between_us = -(-between_ns // 1000)  # up, since stamps are cut: what follows a packet is not before it

    def moved(stamp: re.Match[str]) -> str:
        us = int(stamp[1]) * 1_000_000 + int(stamp[2]) + between_us
        return f" {us // 1_000_000}.{us % 1_000_000:06d}: "

    return STAMP.sub(moved, told)


def own_events(told: str, real: truth.Transfer) -> str:
    """Of the events those of the transfer's sockets, as truth.py reads them.

    The kernel tells of all namespaces, and sockets that a run left behind go on with the same addresses and
    ports: its own is that whose retransmissions are in the capture.
    """
    again: dict[tuple[int, int], list[int]] = {}
    for (src, dst), flow in real.flows.items():
        again[src[1], dst[1]] = [copy.packet.time for copy in flow if copy.again]
    events: list[tuple[tuple[int, int], str, str]] = []
    seen: dict[tuple[int, int], Counter[str]] = {}
    for line in told.splitlines():
        if not (m := FIELDS.search(line)):
            continue
        sport, dport, state = (re.search(VALUE % name, line) for name in ("sport", "dport", "cong_state"))
        if sport is None or dport is None or (ports := (int(sport[1]), int(dport[1]))) not in again:
            continue
        stamp, socket = m["stamp"], m["socket"]
        if state is None:
            seconds, us = stamp.split(".")
            now = int(seconds) * 1_000_000_000 + int(us) * 1000
            times = again[ports]
            # It follows the packet, and its time is cut to whole microseconds.
            follows = bisect_left(times, now - truth.MS) < bisect_right(times, now + 1000)
            seen.setdefault(ports, Counter())[socket] += follows
        said = f"{m['event']}: sport={ports[0]} dport={ports[1]}"
        events.append((ports, socket, f" {stamp}: {said}" + (f" cong_state={state[1]}" if state else "")))
    own = {ports: of.most_common(1)[0][0] for ports, of in seen.items()}
    return "".join(f"{line}\n" for ports, socket, line in events if own.get(ports) == socket)


def as_csv(names: tuple[str, ...], rows: list[tuple]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([names, *rows])
    return out.getvalue()


def drop_log(run: rx.Run, snd: Path, rcv: Path) -> list[tuple]:
    """The bridge's log in the test bed's columns; identifications, which it has not, the captures tell."""
    first = next(p for p in packets(snd) if p.flags & SYN)
    drops = Frame(run.drops, origin_ns=first.time).rows()
    ids: dict[tuple[int, int], list[int]] = {}
    for copy in truth.transfer(snd, rcv).copies:
        if not copy.arrived:
            p = copy.packet
            ids.setdefault((p.seq, p.payload), []).append(p.ip_id)
    rows = []
    for drop in sorted(drops, key=lambda drop: drop["time"]):
        cause = {"cut": "interruption"}.get(drop["channel"], drop["channel"] or "queue")
        seq, payload = (first.seq + 1 + (drop["seq"] or 0)) & 0xFFFFFFFF, drop["payload_bytes"]
        waiting = ids.get((seq, payload)) or [0]
        rows.append(
            (f"{drop['time']:.6f}", 0 if drop["from_client"] else 1, cause, waiting.pop(0), seq, payload)
        )
    return rows


def outage_rows(folder: Path, name: str, outages: Outage, end_s: float) -> list[tuple]:
    """A row for each outage that took data, with what set off its repair by the tracepoints."""
    real = truth.transfer(folder / f"{name}.snd.pcap.gz", folder / f"{name}.rcv.pcap.gz")
    truth.add_drops(real, folder / f"{name}.drops.csv.gz")
    truth.add_causes(real, folder / f"{name}.trace.txt.gz")
    bursts = real.bursts()
    truth.add_triggers(real, bursts)
    spans = [{"cause": "interruption", "start_s": s, "end_s": e} for s, e in outages.until(end_s)]
    rows = []
    for row, hit in truth.interruptions(spans, bursts, folder / f"{name}.drops.csv.gz"):
        if not hit:
            continue
        trigger = max(hit, key=lambda b: b.lost_by("interruption")).trigger
        if trigger in WORDS:
            rows.append((name, row["cause"], row["start_s"], row["end_s"], WORDS[trigger]))
    return rows


def transfer(folder: Path, name: str, text: str, outages: Outage | None) -> list[tuple] | str:
    """Runs it and keeps its files; the rows of its outages, or why there are none."""
    snd, rcv = (folder / f"{name}.{side}.pcap.gz" for side in transfers.ENDS)
    with tempfile.TemporaryDirectory() as work, traced() as told:
        try:
            run = rx.run(rx.Scenario.parse(text, name), bench="live", captures=Path(work))
        except (rx.LiveError, OSError) as e:
            return str(e)
        events = told()
        transfers.keep_captures(Path(work), folder, name)
        log = drop_log(run, snd, rcv)
    events = own_events(events, truth.transfer(snd, rcv))
    (folder / f"{name}.trace.txt.gz").write_bytes(gzip.compress(events.encode()))
    end_s = (packets(snd)[-1].time - packets(snd)[0].time) / 1e9
    (folder / f"{name}.drops.csv.gz").write_bytes(gzip.compress(as_csv(DROPS, log).encode()))
    return outage_rows(folder, name, outages, end_s) if outages else []


def main() -> int:
    where = "all goes into its folder testbed"
    args = transfers.arguments(__doc__.splitlines()[0], where, KINDS, len(KINDS))
    if not (TRACING / "events" / "tcp").is_dir():
        print(f"traced.py: {TRACING} is empty: mount -t tracefs none {TRACING}", file=sys.stderr)
        return 2
    folder = args.out / "testbed"
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / "README.csv"
    if not listing.exists():
        listing.write_text(as_csv(LISTING, []))
    made = {p.name.removesuffix(".drops.csv.gz") for p in folder.glob("*.drops.csv.gz")}
    draw = random.Random(args.seed)
    kinds = args.kind or list(KINDS)
    failed = 0
    for k in range(args.count):
        kind = kinds[k % len(kinds)]
        name = f"{kind}-{args.seed}-{k + 1}"
        text, outages, control = scenario(name, kind, draw)
        name = f"{kind}-{control}-{args.seed}-{k + 1}"
        if name in made:
            continue
        rows = transfer(folder, name, text, outages)
        if isinstance(rows, str):
            failed += 1
            print(f"{name}: {rows}", file=sys.stderr)
            continue
        with listing.open("a", newline="") as out:
            csv.writer(out).writerows(rows)
        print(f"{name}: {len(rows)} outages took data", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
