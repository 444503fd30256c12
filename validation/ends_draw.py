"""Transfers for ends.py, drawn from a seed: what each is made of, and what is true of it by construction."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import transfers

Draw = random.Random

#: Senders that the simulator has: of fifteen years ago, and of those that are about now.
SIMULATED = (
    *("linux-2.6-reno", "linux-2.6-cubic", "rfc-sack", "rfc-newreno", "windows-7"),
    *("linux-6-cubic", "linux-6-cubic", "linux-6-reno", "linux-6-bbr"),
)
KERNEL = ("reno", "cubic", "cubic", "bbr")
#: Programs may have what net.ipv4.tcp_allowed_congestion_control says.
FOR_PROGRAMS = ("reno", "bbr")


@dataclass(frozen=True)
class Drawn:
    """One transfer before it is run."""

    name: str
    kind: str
    text: str
    #: Outages: begin and end in s since the run began, and which way they go (both, forward, back).
    outages: list[tuple[float, float, str]] = field(default_factory=list)
    #: Which cause may be the answer; None: construction does not tell.
    causes: frozenset[str] | None = None
    #: The kernel tells of its senders' state (not of programs').
    state: bool = True
    #: There is always more to send.
    greedy: bool = True


@dataclass
class Parts:
    """What a kind of transfer puts into a scenario."""

    channels: str = ""
    workload: str = ""
    receiver: str = ""  # keys of the receiving stack's `receive.window`
    sysctl: list[str] = field(default_factory=list)
    outages: list[tuple[float, float, str]] = field(default_factory=list)
    queue: int | None = None
    causes: frozenset[str] | None = None


#: A transfer that fills its path, and what opens it.
FULL = frozenset({"bottleneck", "loss-queue", "slow-start", "handshake", "nothing"})
#: On a path that loses as well.
LOSSY = FULL | {"outage", "loss-random", "ack-loss"}


def channel(name: str, body: str) -> str:
    return f'[[link.channel]]\nname = "{name}"\n{body}\n'


def cuts(draw: Draw, way: str, lengths: list[float], most: int = 3) -> Parts:
    """Outages at times that have no beat; what they take is the path's alone."""
    found, at = [], draw.uniform(0.8, 1.6)
    for _ in range(draw.randint(1, most)):
        length = draw.choice(lengths)
        found.append((round(at, 4), round(at + length, 4), way))
        at += length + draw.uniform(1.5, 3.0)
    listed = ", ".join(f'["{a}s", "{round(b - a, 4)}s"]' for a, b, _ in found)
    body = f'kind = "outage"\nschedule = {{ intervals = [{listed}] }}\ndirection = "{way}"'
    return Parts(channel("cut", body), outages=found, causes=LOSSY)


def outages_both(draw: Draw, live: bool) -> Parts:
    return cuts(draw, "both", [0.1, 0.2, 0.4, 0.4, 1.0, 3.0], 2)


def outages_forward(draw: Draw, live: bool) -> Parts:
    return cuts(draw, "forward", [0.1, 0.2, 0.4, 1.0])


def outages_back(draw: Draw, live: bool) -> Parts:
    return cuts(draw, "back", [0.2, 0.4, 1.0])


def bursts(draw: Draw, live: bool) -> Parts:
    share, length = draw.choice([0.003, 0.01, 0.02]), draw.choice([2, 4, 8, 20])
    body = f'kind = "gilbert-elliott"\nmean_loss = {share}\nmean_burst = "{length} packets"\n'
    return Parts(channel("ge", body + 'direction = "forward"'), causes=LOSSY)


def random_loss(draw: Draw, live: bool) -> Parts:
    share = draw.choice([0.001, 0.005, 0.01, 0.03])
    way = draw.choice(["forward", "forward", "both"])
    return Parts(channel("random", f'kind = "random"\nloss = {share}\ndirection = "{way}"'), causes=LOSSY)


def lost_acks(draw: Draw, live: bool) -> Parts:
    body = f'kind = "random"\nloss = {draw.choice([0.05, 0.2, 0.4])}\ndirection = "back"'
    return Parts(channel("acks", body))


def reordering(draw: Draw, live: bool) -> Parts:
    body = f'kind = "reorder"\nprobability = {draw.choice([0.002, 0.01, 0.03])}\n'
    body += f'by = "{draw.choice([1, 3, 8])}ms"\ndirection = "forward"'
    return Parts(channel("swap", body))


def queue(draw: Draw, live: bool) -> Parts:
    return Parts(queue=draw.choice([5, 12, 30, 100, 600]), causes=FULL)


def slow_application(draw: Draw, live: bool) -> Parts:
    rate = draw.choice([200, 500, 1000])
    workload = f'kind = "constant-rate", rate = "{rate}kbps", message = "{draw.choice([1, 4, 20])}kB"'
    return Parts(workload=workload, causes=frozenset({"sender-idle", "nothing"}))


def pauses(draw: Draw, live: bool) -> Parts:
    """A process that stops sending now and then: SIGSTOP where it is a program."""
    causes = frozenset({"sender-idle"})
    if not live:
        on, off = draw.choice([0.3, 0.8]), draw.choice([0.4, 1.0])
        text = f'kind = "on-off", rate = "3Mbps", message = "8kB", on = "{on}s", off = "{off}s", '
        return Parts(workload=text + 'distribution = "constant"', causes=causes)
    length = draw.choice([0.3, 0.7, 1.5])
    client = (
        "iperf3 -c {server} -t 6 & p=$!; for i in 1 2; do sleep 1.3; kill -STOP $p; "
        f"sleep {length}; kill -CONT $p; done; wait $p"
    )
    return Parts(workload=f'kind = "command", server = "iperf3 -s -1", client = "{client}"')


def slow_reader(draw: Draw, live: bool) -> Parts:
    if not live:
        return small_window(draw, live)
    pause, size = draw.choice([0.05, 0.2, 0.6]), draw.choice([30_000, 150_000])
    program = f"python3 {Path(__file__).with_name('slow_reader.py')}"
    server = f"{program} read 5001 {size} {pause}"
    text = f'kind = "command", server = "{server}", client = "{program} write {{server}} 5001 2000000"'
    # Faster than a path of 5 Mbps it holds nothing up.
    slow = size / pause < 300_000
    return Parts(workload=text, causes=frozenset({"receiver-not-reading"}) if slow else None)


def small_window(draw: Draw, live: bool) -> Parts:
    size = draw.choice([16_000, 30_000, 60_000])
    causes = FULL | {"receive-window"}
    if live:
        return Parts(sysctl=[f"net.ipv4.tcp_rmem=4096 {size} {size}"], causes=causes)
    return Parts(receiver=f'kind = "fixed", buffer = "{size}B"', causes=causes)


def mixed(draw: Draw, live: bool) -> Parts:
    parts = cuts(draw, "both", [0.1, 0.2, 0.4], 2)
    parts.channels += random_loss(draw, live).channels
    return parts


def clean(draw: Draw, live: bool) -> Parts:
    return Parts(queue=1000, causes=FULL)


KINDS: tuple[Callable[[Draw, bool], Parts], ...] = (
    outages_both,
    bursts,
    outages_forward,
    random_loss,
    pauses,
    outages_back,
    queue,
    slow_application,
    outages_both,
    reordering,
    small_window,
    mixed,
    lost_acks,
    slow_reader,
    clean,
)


def drawn(seed: int, number: int, live: bool) -> Drawn:
    """Transfer `number` of `seed`: the same text whenever it is drawn."""
    draw = random.Random(f"ends {seed} {number} {live}")
    kind = KINDS[number % len(KINDS)]
    parts = kind(draw, live)
    rate = draw.choice([5, 10, 20, 40])
    name = f"{kind.__name__.replace('_', '-')}-{seed}-{number}"
    path = transfers.beginning(
        name,
        parts.channels,
        seed=draw.randrange(1 << 31),
        rate_mbps=rate,
        delay_ms=draw.choice([5, 10, 20, 40]),
        queue=parts.queue or draw.choice([30, 60, 100, 256]),
    )
    long = parts.outages[-1][1] + 1.0 if parts.outages else draw.choice([1.0, 2.5, 4.0])
    megabytes = max(0.4, rate / 8 * long)
    file = f'kind = "file", size = "{round(1000 * megabytes)}kB"'
    timed = "constant-rate" in parts.workload or "on-off" in parts.workload
    program = 'kind = "command"' in parts.workload
    stack = draw.choice(FOR_PROGRAMS if live and program else KERNEL if live else SIMULATED)
    stacks = '[[stack]]\nname = "sending"\n'
    if live:
        stacks += f'based_on = "linux-2.6-reno"\nkernel = "{stack}"\n'
        receiver = "sending"
    else:
        stacks += f'based_on = "{stack}"\n'
        # HyStart may end slow start long before the path is full: then the sender limits itself.
        stacks += "[stack.congestion]\nhystart = false\n" if stack == "linux-2.6-cubic" else ""
        stacks += '[[stack]]\nname = "receiving"\nbased_on = "linux-2.6-cubic"\n'
        stacks += f"[stack.receive]\nwindow = {{ {parts.receiver} }}\n" if parts.receiver else ""
        receiver = "receiving"
    greedy = not parts.workload or kind is slow_reader
    causes = parts.causes
    if stack == "windows-7" and causes is not None and greedy:
        causes |= {"send-window"}  # its send buffer is 64 kB
    text = f"""{path.replace('duration = "120s"', 'duration = "40s"')}{stacks}[[flow]]
name = "upload"
from = "pc"
to = "server"
stack = "sending"
receiver = "{receiver}"
{'stop = "6s"' if timed else ""}
workload = {{ {parts.workload or file} }}
[live]
sysctl = {json.dumps(parts.sysctl)}
[record]
capture = ["pc", "server"]
snap = "120B"
drops = true
{("state = true" if not program else "") if live else "retransmissions = true"}
"""
    return Drawn(name, kind.__name__, text, parts.outages, causes, not program, greedy)
