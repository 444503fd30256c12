#!/usr/bin/env python3
"""The live part of limits.py: this machine's kernels behind rexmit's bridge, programs whose pace is known.

    sudo validation/limits.py --seed 1 --live 40 [--keep FOLDER]     seven minutes
    validation/limits.py --kept FOLDER                               scores kept captures again

Each transfer is seen at the sender, at the receiver and at both ends. They run one after the other, in real
time; needs Linux and root. How late the bridge was is printed with each: where that is a good part of a round
trip a transfer is not what it was made to be, and is left out. Programs may use only the congestion controls
that the machine allows everybody (sysctl net.ipv4.tcp_allowed_congestion_control), so only these are drawn.
"""

from __future__ import annotations

import argparse
import json
import random
import select
import shutil
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PORT = 5201
#: Lateness of the bridge (p99) from which on the path was another than the one drawn.
TOO_LATE_S = 0.005
#: Not every kernel keeps a send buffer as small as it was set: where the buffer did not hold the sender for
#: this share of the time, by the kernel's own count, the transfer is not of that class.
MOSTLY = 0.5
SO_MAX_PACING_RATE = 47
CHUNK = 64 << 10


def serve(args: argparse.Namespace) -> None:
    """Takes one connection and reads it to its end; slowly, with --read."""
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if args.buffer:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, args.buffer)
    door.bind(("", PORT))
    door.listen()
    taken, _ = door.accept()
    begun, got = time.monotonic(), 0
    while data := taken.recv(CHUNK):
        got += len(data)
        if args.read:
            time.sleep(max(0.0, begun + got / args.read - time.monotonic()))


def write(out: socket.socket, data: bytes) -> None:
    """All of it, as the buffer takes it: a blocking write leaves far more than that there (Linux 6.18)."""
    out.setblocking(False)
    rest = memoryview(data)
    while rest:
        select.select([], [out], [])
        try:
            rest = rest[out.send(rest) :]
        except BlockingIOError:
            continue


def send(args: argparse.Namespace) -> None:
    """Writes for --seconds, or --bytes; at a rate of its own with --write."""
    deadline = time.monotonic() + 10
    while True:
        out = socket.socket()
        if args.buffer:
            out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, args.buffer)
        if args.pace:
            out.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("I", args.pace))
        try:
            out.connect((args.to, PORT))
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    begun, sent = time.monotonic(), 0
    size = args.message or CHUNK
    while (sent < args.bytes) if args.bytes else (time.monotonic() - begun < args.seconds):
        write(out, bytes(min(size, args.bytes - sent) if args.bytes else size))
        sent += size
        if args.write:
            time.sleep(max(0.0, begun + sent / args.write - time.monotonic()))
    if args.tell:
        # struct tcp_info: how long it had anything to send, and of that was held by the receiver's window and
        # by its own buffer, in microseconds.
        times = struct.unpack_from("<3Q", out.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 168)
        Path(args.tell).write_text(json.dumps(dict(zip(("busy", "window", "buffer"), times, strict=True))))
    out.shutdown(socket.SHUT_WR)
    out.settimeout(60)
    out.recv(1)


@dataclass
class Drawn:
    """A transfer before it is run."""

    rate: float  # Mbps
    one_way: float  # ms
    queue: int  # packets
    client: str  # what the program at the sender is told, and that at the receiver
    server: str = ""
    channel: str = ""
    sysctl: tuple[str, ...] = ()
    controls: tuple[str, ...] = ("reno", "cubic")


def bdp(rate: float, one_way: float) -> float:
    return rate * 1e6 / 8 * one_way * 2e-3


def share_of_bdp(draw: random.Random, rate: float, one_way: float, most: float) -> int:
    return int(bdp(rate, one_way) * draw.uniform(0.1, most))


def application(draw: random.Random) -> Drawn:
    rate, one_way = draw.uniform(20, 50), draw.uniform(10, 40)
    write, message = rate * 1e6 / 8 * draw.uniform(0.05, 0.25), draw.choice([1000, 8000, 32_000])
    return Drawn(rate, one_way, 400, f"--seconds 6 --write {int(write)} --message {message}")


def start(draw: random.Random) -> Drawn:
    rate, one_way = draw.uniform(50, 80), draw.uniform(40, 100)
    return Drawn(rate, one_way, 1000, f"--bytes {int(draw.uniform(60e3, 300e3))}")


def random_loss(draw: random.Random) -> str:
    return f'kind = "random"\nloss = "{draw.uniform(0.7, 1.5):.2f}%"\ndirection = "forward"'


def loss(draw: random.Random) -> Drawn:
    rate, one_way = draw.uniform(40, 60), draw.uniform(15, 40)
    return Drawn(rate, one_way, 300, "--seconds 8", channel=random_loss(draw))


def window(draw: random.Random) -> Drawn:
    rate, one_way = draw.uniform(30, 60), draw.uniform(20, 50)
    return Drawn(rate, one_way, 400, "--seconds 6", f"--buffer {share_of_bdp(draw, rate, one_way, 0.25)}")


def reader(draw: random.Random) -> Drawn:
    rate, one_way = draw.uniform(30, 60), draw.uniform(10, 40)
    read = int(rate * 1e6 / 8 * draw.uniform(0.05, 0.2))
    return Drawn(rate, one_way, 400, "--seconds 6", f"--read {read}")


def buffer(draw: random.Random) -> Drawn:
    rate, one_way = draw.uniform(30, 60), draw.uniform(20, 50)
    return Drawn(rate, one_way, 400, f"--seconds 6 --buffer {share_of_bdp(draw, rate, one_way, 0.2)}")


def memory(draw: random.Random) -> Drawn:
    """The same by the machine's setting instead of the program's."""
    rate, one_way = draw.uniform(30, 60), draw.uniform(20, 50)
    most = 2 * share_of_bdp(draw, rate, one_way, 0.2)
    return Drawn(rate, one_way, 400, "--seconds 6", sysctl=(f"net.ipv4.tcp_wmem=4096 16384 {most}",))


def pacing(draw: random.Random) -> Drawn:
    rate, one_way = draw.uniform(30, 60), draw.uniform(10, 40)
    return Drawn(rate, one_way, 400, f"--seconds 6 --pace {int(rate * 1e6 / 8 * draw.uniform(0.1, 0.3))}")


def network(draw: random.Random) -> Drawn:
    rate, one_way = draw.uniform(5, 20), draw.uniform(5, 25)
    return Drawn(rate, one_way, int(bdp(rate, one_way) / 1500 * 1.5) + 20, "--seconds 8")


def outage(draw: random.Random) -> Drawn:
    rate, one_way = draw.uniform(5, 15), draw.uniform(5, 20)
    away = draw.uniform(1.6, 2.2)
    schedule = f'{{ every = "4s", for = "{away:.2f}s", phase = "1.2s", anchor = "first-syn" }}'
    queue = int(bdp(rate, one_way) / 1500 * 1.5) + 20
    return Drawn(rate, one_way, queue, "--seconds 9", channel=f'kind = "outage"\nschedule = {schedule}')


def by_model(draw: random.Random) -> Drawn:
    """BBR paces at what the path carries."""
    rate, one_way = draw.uniform(5, 20), draw.uniform(5, 25)
    queue = int(bdp(rate, one_way) / 1500 * 2) + 20
    return Drawn(rate, one_way, queue, "--seconds 8", controls=("bbr",))


def by_model_with_losses(draw: random.Random) -> Drawn:
    """Which losses do not change."""
    rate, one_way = draw.uniform(10, 30), draw.uniform(10, 30)
    return Drawn(rate, one_way, 300, "--seconds 8", channel=random_loss(draw), controls=("bbr",))


CLASSES: dict[str, tuple[tuple[str, ...], Callable[[random.Random], Drawn]]] = {
    "slow application": (("sender-idle",), application),
    "short transfer": (("slow-start",), start),
    "random loss": (("loss-random",), loss),
    "small receive window": (("receive-window",), window),
    "slow reader": (("receiver-not-reading",), reader),
    "small send buffer": (("send-window",), buffer),
    "small send memory": (("send-window",), memory),
    "paced sender": (("pacing",), pacing),
    "full bottleneck": (("bottleneck",), network),
    "outages": (("outage", "bottleneck"), outage),
    "BBR": (("bottleneck",), by_model),
    "BBR, random loss": (("bottleneck",), by_model_with_losses),
}


def allowed(controls: tuple[str, ...]) -> list[str]:
    may = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    found = [name for name in controls if name in may]
    if not found:
        raise SystemExit(
            f"programs may use none of {', '.join(controls)}: sysctl net.ipv4.tcp_allowed_congestion_control"
        )
    return found


def drawn(seed: int) -> tuple[str, tuple[str, ...], random.Random, Drawn]:
    """Class, its causes, the draws that are left, and the transfer of a seed."""
    draw = random.Random(seed)
    kind = list(CLASSES)[seed % len(CLASSES)]
    causes, make = CLASSES[kind]
    return kind, causes, draw, make(draw)


def scenario(seed: int, told: Path) -> str:
    _, _, draw, d = drawn(seed)
    run = f"{sys.executable} {Path(__file__).resolve()}"
    air = f'[[link.channel]]\nname = "air"\n{d.channel}\n' if d.channel else ""
    return f"""name = "limits-live"
duration = "40s"
seed = {seed}
[[node]]
name = "pc"
[[node]]
name = "server"
[[link]]
name = "wire"
between = ["pc", "server"]
rate = "{d.rate:.2f}Mbps"
delay = "{d.one_way:.2f}ms"
queue = {{ kind = "droptail", packets = {d.queue} }}
{air}[[stack]]
name = "programs"
based_on = "linux-2.6-reno"
kernel = "{draw.choice(allowed(d.controls))}"
[[flow]]
name = "it"
from = "pc"
to = "server"
stack = "programs"
receiver = "programs"
[flow.workload]
kind = "command"
server = "{run} serve {d.server}"
client = "{run} send --to {{server}} --tell {told} {d.client}"
[live]
sysctl = {json.dumps(d.sysctl)}
[record]
capture = ["pc", "server"]
snap = "120B"
"""


#: Of a run: the seed's captures, and what it was.
CAPTURES = ("pc.pcapng", "server.pcapng")


def measured(seeds: range, keep: Path | None) -> Iterator[Any]:
    """Runs them, and gives what is said from each side; with `keep` the captures stay there."""
    import rexmit as rx

    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            kernel = Path(folder) / "kernel.json"
            run = rx.run(scenario(seed, kernel), bench="live", captures=folder)
            bridge = run.summary.get("bridge") or {}
            missed = [m["figure"] for m in bridge.get("missed", ())]
            told = f"p99 of lateness {bridge.get('late_p99_s')} s, bars missed: {missed or 'none'}"
            print(f"  seed {seed} {drawn(seed)[0]}: {told}", file=sys.stderr, flush=True)
            if (bridge.get("late_p99_s") or 0.0) > TOO_LATE_S:
                continue
            held = json.loads(kernel.read_text()) if kernel.exists() else {}
            if "small send" in drawn(seed)[0] and not held.get("buffer", 0) >= MOSTLY * held.get("busy", 0):
                print(f"    left out: by the kernel's count in µs {held}", file=sys.stderr)
                continue
            if keep:
                (keep / str(seed)).mkdir(parents=True, exist_ok=True)
            place = keep / str(seed) if keep else Path(folder)
            for name in CAPTURES:
                found = next(Path(folder).rglob(name))
                if place not in found.parents:
                    shutil.copy(found, place / name)
            yield from told_of(seed, *(next(place.rglob(name)) for name in CAPTURES))


def kept(folder: Path) -> Iterator[Any]:
    """What is said now of captures that were kept."""
    for place in sorted(folder.iterdir(), key=lambda p: int(p.name)):
        yield from told_of(int(place.name), *(place / name for name in CAPTURES))


def told_of(seed: int, pc: Path, server: Path) -> Iterator[Any]:
    import limits
    import rexmit as rx

    kind, causes, *_ = drawn(seed)
    it = limits.Made(kind, causes, seed, {})
    for at, capture in (
        ("sender", lambda: rx.capture(pc)),
        ("receiver", lambda: rx.capture(server)),
        ("both", lambda: rx.capture(pc, receiver=server)),
    ):
        yield limits.Said.of(it, at, limits.main_flow(capture().overview()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=["serve", "send"])
    parser.add_argument("--to")
    parser.add_argument("--tell")
    for name in ("buffer", "read", "write", "pace", "message", "bytes"):
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    args = parser.parse_args()
    serve(args) if args.side == "serve" else send(args)


if __name__ == "__main__":
    main()
