#!/usr/bin/env python3
"""Makes rexmit_studies/selfsimilar/lan.pcap.gz: five minutes of a small network, for `rexmit traffic`.

    sudo validation/lan.py lan.pcap.gz [seconds]

Six hosts, each a network namespace, hang on a Linux bridge that speaks the spanning tree protocol; one of
them is the server. The capture is taken at the bridge's port to the server, 96 bytes of each frame: what the
server sends and receives, and what is flooded.

Ten users of the five clients alternate between ON and OFF periods whose lengths are Pareto distributed with
shape 1.2 (mean 4 s and 14 s); while ON a user asks over TCP for 300 to 1400 bytes every 0.3 to 0.5 s. Some
ask for files with heavy-tailed sizes. Names are asked for over UDP, clients announce themselves by broadcast
now and then, somebody pings, and neighbours are asked for by ARP again when they have not been heard of.

Needs root, iproute2 and tcpdump. Every draw comes from one seed, but the kernel's timing is its own: another
run gives another capture.
"""

from __future__ import annotations

import gzip
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CLIENTS, USERS, SEED = 5, 10, 2004
SHAPE, MEAN_ON, MEAN_OFF = 1.2, 4.0, 14.0
SERVER = "10.77.0.1"
WEB, NAMES, ANNOUNCE = 8080, 5300, 1380


def do(*words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def inside(space: str, *words: str) -> list[str]:
    return ["ip", "netns", "exec", space, *words]


def build() -> None:
    do("ip", "netns", "add", "lan-switch")
    do(*inside("lan-switch", "ip", "link", "add", "br0", "type", "bridge", "stp_state", "1"))
    do(*inside("lan-switch", "ip", "link", "set", "br0", "type", "bridge", "forward_delay", "200"))
    do(*inside("lan-switch", "ip", "link", "set", "br0", "up"))
    for k in range(CLIENTS + 1):
        space, port = f"lan-{k}", f"port{k}"
        do("ip", "netns", "add", space)
        do(*inside("lan-switch", "ip", "link", "add", port, "type", "veth", "peer", "eth0", "netns", space))
        do(*inside("lan-switch", "ip", "link", "set", port, "master", "br0", "up"))
        # Frames as a wire has them: no segment larger than the MTU.
        do(*inside(space, "ip", "link", "set", "eth0", "up", "gso_max_segs", "1"))
        do(*inside(space, "ip", "address", "add", f"10.77.0.{k + 1}/24", "dev", "eth0"))
    time.sleep(6)


def tear_down() -> None:
    for space in ["lan-switch", *(f"lan-{k}" for k in range(CLIENTS + 1))]:
        subprocess.run(["ip", "netns", "del", space], stderr=subprocess.DEVNULL, check=False)


def pareto(rng: random.Random, mean: float) -> float:
    return mean * (SHAPE - 1) / SHAPE * rng.paretovariate(SHAPE)


def serve(seconds: float) -> None:
    """The server: answers a request of 4 bytes with as many bytes, and names with addresses."""

    def answer(peer: socket.socket) -> None:
        with peer:
            while len(asked := peer.recv(4)) == 4:
                peer.sendall(bytes(struct.unpack(">I", asked)[0]))

    def web() -> None:
        with socket.create_server(("", WEB)) as door:
            while True:
                threading.Thread(target=answer, args=(door.accept()[0],), daemon=True).start()

    def names() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
            door.bind(("", NAMES))
            while True:
                asked, whom = door.recvfrom(512)
                door.sendto(asked + bytes(48), whom)

    for work in (web, names):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(seconds)


def fetch(link: socket.socket, size: int) -> None:
    link.sendall(struct.pack(">I", size))
    while size > 0:
        size -= len(link.recv(min(size, 65536)))


def ask_name(rng: random.Random) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.settimeout(1)
        door.sendto(rng.randbytes(30), (SERVER, NAMES))
        door.recv(512)


def use(seed: int, end: float) -> None:
    """One user: ON, OFF, ON, …; half of the ON periods begin with a name."""
    rng = random.Random(seed)
    time.sleep(min(pareto(rng, MEAN_OFF), 20))
    while time.monotonic() < end:
        if rng.random() < 0.5:
            ask_name(rng)
        with socket.create_connection((SERVER, WEB)) as link:
            stop = min(end, time.monotonic() + pareto(rng, MEAN_ON))
            if rng.random() < 0.08:
                fetch(link, min(200_000, int(3000 * rng.paretovariate(SHAPE))))
            while time.monotonic() < stop:
                fetch(link, rng.randint(300, 1400))
                time.sleep(rng.uniform(0.3, 0.5))
        time.sleep(max(0, min(pareto(rng, MEAN_OFF), end - time.monotonic())))


def client(number: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    users = [
        threading.Thread(target=use, args=(SEED + 100 * number + k, end), daemon=True)
        for k in range(USERS // CLIENTS)
    ]
    for user in users:
        user.start()
    rng = random.Random(SEED + number)
    while time.monotonic() < end:
        time.sleep(rng.uniform(20, 40))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            door.sendto(rng.randbytes(174), ("10.77.0.255", ANNOUNCE))
        # Another client, whose address has mostly been forgotten: ARP, and an ICMP error or an answer.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
            door.sendto(b"hello", (f"10.77.0.{rng.randint(2, CLIENTS + 1)}", ANNOUNCE))
        if number == 1:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as door:
                door.sendto(struct.pack(">BBHHH", 8, 0, 0xF7FF, 0, 0), (SERVER, 0))


def main() -> None:
    match sys.argv[1:]:
        case ["serve", seconds]:
            serve(float(seconds))
        case ["client", number, seconds]:
            client(int(number), float(seconds))
        case [out, *rest]:
            make(Path(out), float(rest[0]) if rest else 300.0)


def make(out: Path, seconds: float) -> None:
    tear_down()
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder, "lan.pcap")
        try:
            build()
            sh = ["sh", "-c", "echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range"]
            subprocess.run(inside("lan-1", *sh), check=False)
            words = [
                "tcpdump",
                "-i",
                "port0",
                "-s",
                "96",
                "-n",
                "--immediate-mode",
                "-w",
                str(raw),
                "-Z",
                "root",
            ]
            capture = subprocess.Popen(inside("lan-switch", *words), stderr=subprocess.DEVNULL)
            here = [sys.executable, __file__]
            hosts = [subprocess.Popen(inside("lan-0", *here, "serve", str(seconds + 5)))]
            time.sleep(1)
            for k in range(1, CLIENTS + 1):
                hosts.append(subprocess.Popen(inside(f"lan-{k}", *here, "client", str(k), str(seconds))))
            time.sleep(seconds)
            capture.terminate()
            capture.wait(timeout=10)
            for host in hosts:
                host.terminate()
        finally:
            tear_down()
        with raw.open("rb") as plain, gzip.GzipFile(out, "wb", 9, mtime=0) as packed:
            shutil.copyfileobj(plain, packed)


if __name__ == "__main__":
    main()
