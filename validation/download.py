"""A download by this machine's own TCP over a lossy path, captured where it arrives. Needs Linux and root.

validation/download.py OUT.pcap [--megabytes 12] [--rate 8] [--delay 30] [--queue 150] [--every 500]

Server and client are two network namespaces, each with a TUN device whose other end is this process: a
link of RATE Mbps and DELAY ms each way with a drop-tail queue of QUEUE kB. Of the data one packet in EVERY
begins a run of losses, 2.5 packets long on average (geometric; --seed). ACKs are never lost, nothing is
reordered. With an MTU of 1450 bytes a full segment carries 1398 bytes beside timestamps. The sender is
Linux's CUBIC with SACK.
"""

from __future__ import annotations

import argparse
import fcntl
import heapq
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

SERVER, CLIENT = "10.77.0.1", "10.77.0.2"
PORT, MTU, SNAP = 8080, 1450, 96
RUN = 2.5
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def tun(name: str, namespace: str, own: str, other: str) -> int:
    """A TUN device inside a namespace; what is sent into it is read here."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    ip("netns", "add", namespace)
    ip("link", "set", name, "netns", namespace)
    inside = ("-n", namespace)
    ip(*inside, "addr", "add", own, "peer", other, "dev", name)
    ip(*inside, "link", "set", name, "mtu", str(MTU), "up")
    return device


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


class Way:
    """One direction: packets leave it in order, at times that a late wake-up does not shift."""

    def __init__(self, to: int, args: argparse.Namespace, lossy: bool) -> None:
        self.to, self.args, self.lossy = to, args, lossy
        self.draw = random.Random(args.seed)
        self.free = 0.0
        self.burst = 0
        self.lost = {"queue": 0, "channel": 0}

    def offer(self, packet: bytes, now: float, due: list[tuple[float, int, bytes]]) -> None:
        start, bytes_per_s = max(now, self.free), self.args.rate * 1e6 / 8
        if (start - now) * bytes_per_s > self.args.queue * 1e3:
            self.lost["queue"] += 1
            return
        self.free = start + len(packet) / bytes_per_s
        if self.lossy and self.hit():
            self.lost["channel"] += 1
            return
        heapq.heappush(due, (self.free + self.args.delay / 1e3, self.to, packet))

    def hit(self) -> bool:
        if self.burst == 0 and self.draw.random() < 1 / self.args.every:
            self.burst = 1
            while self.draw.random() > 1 / RUN:
                self.burst += 1
        self.burst = max(0, self.burst - 1) if (struck := self.burst > 0) else 0
        return struck


def bridge(server: int, client: int, args: argparse.Namespace, done: subprocess.Popen[bytes]) -> None:
    """Carries packets both ways until the client has all, and a second more."""
    ways = {server: Way(client, args, True), client: Way(server, args, False)}
    due: list[tuple[float, int, bytes]] = []
    end = None
    while end is None or time.monotonic() < end:
        wait = max(0.0, due[0][0] - time.monotonic()) if due else 0.1
        ready, _, _ = select.select(list(ways), [], [], min(wait, 0.1))
        for device in ready:
            while packet := taken(device):
                if packet[0] >> 4 == 4:  # the devices also talk of IPv6, to nobody
                    ways[device].offer(packet, time.monotonic(), due)
        while due and due[0][0] <= time.monotonic():
            _, to, packet = heapq.heappop(due)
            os.write(to, packet)
        if end is None and done.poll() is not None:
            end = time.monotonic() + 1
    print(f"lost of the data: {ways[server].lost}; of the ACKs: {ways[client].lost}")


def taken(device: int) -> bytes:
    try:
        return os.read(device, 65536)
    except BlockingIOError:
        return b""


def serve(size: int) -> None:
    with socket.create_server((SERVER, PORT)) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        connection, _ = listening.accept()
        connection.recv(100)
        connection.sendall(bytes(size))
        connection.close()
        time.sleep(2)


def fetch(size: int) -> None:
    with socket.create_connection((SERVER, PORT), timeout=30) as connection:
        connection.sendall(b"GET")
        while size > 0 and (read := len(connection.recv(1 << 16))):
            size -= read


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    for name, value in (("megabytes", 12), ("rate", 8), ("delay", 30), ("queue", 150), ("every", 500)):
        parser.add_argument(f"--{name}", type=float, default=value)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--role", choices=("server", "client"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    size = int(args.megabytes * 1e6)
    if args.role:
        (serve if args.role == "server" else fetch)(size)
        return 0
    spaces = {"server": f"rexmit-s{os.getpid()}", "client": f"rexmit-c{os.getpid()}"}
    started: list[subprocess.Popen[bytes]] = []

    def inside(space: str, *words: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(["ip", "netns", "exec", spaces[space], *words]))
        return started[-1]

    try:
        server = tun("rx-server", spaces["server"], SERVER, CLIENT)
        client = tun("rx-client", spaces["client"], CLIENT, SERVER)
        inside("client", "tcpdump", "-i", "rx-client", "-s", str(SNAP), "--immediate-mode", "-U",
               "--time-stamp-precision=nano", "-w", str(args.out), "tcp")  # fmt: skip
        role = (sys.executable, __file__, str(args.out), "--megabytes", str(args.megabytes), "--role")
        inside("server", *role, "server")
        time.sleep(1)
        bridge(server, client, args, inside("client", *role, "client"))
    finally:
        for process in started:
            process.terminate()
            process.wait(10)
        for space in spaces.values():
            subprocess.run(["ip", "netns", "delete", space], check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
