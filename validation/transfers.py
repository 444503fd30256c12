"""Transfers of this machine's own kernel on the live bench, with the kernel's counters as truth.

    .venv/bin/python validation/transfers.py OUT [--count 9] [--seed 1] [--kind outages --kind nosack]
    .venv/bin/python validation/causes.py --part kernel --captures OUT

Each is an iperf3 upload over a path drawn from the seed: 10 to 50 Mbps, 5 to 40 ms each way, 50 to 200
packets of queue, and losses of its kind. Captures of both ends and `truth.toml` lie in OUT/kernel, as
causes.py reads them; what was made before stays and is not made again. Needs Linux, root, iperf3 and nstat
(iproute2). Programs may use only the congestion controls that the machine allows everybody (sysctl
net.ipv4.tcp_allowed_congestion_control): transfers with others are told and left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import shutil
import struct
import sys
import tempfile
import tomllib
from collections.abc import Callable, Collection
from pathlib import Path

import rexmit as rx

# What causes.py calls it, and what the kernel does (nstat).
COUNTERS = {
    "retransmitted": "TcpRetransSegs",
    "fast_retransmissions": "TcpExtTCPFastRetrans",
    "slow_start_retransmissions": "TcpExtTCPSlowStartRetrans",
    "timeouts": "TcpExtTCPTimeouts",
    "loss_probes": "TcpExtTCPLossProbes",
}
ENDS = {"snd": "pc", "rcv": "server"}
ENHANCED_PACKET, ORIGINAL_AT = 6, 28
PCAP_NS = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)

Draw = random.Random


def outages(draw: Draw) -> str:
    schedule = (
        f'{{ every = "3s", for = "{draw.choice([100, 200, 400])}ms", phase = "1s", anchor = "first-syn" }}'
    )
    return f'kind = "outage"\nschedule = {schedule}\ndirection = "both"'


def random_loss(draw: Draw) -> str:
    return f'kind = "random"\nloss = {draw.choice([0.005, 0.01, 0.02])}\ndirection = "forward"'


def bursts(draw: Draw) -> str:
    length = f'"{draw.choice([2, 4, 8])} packets"'
    share = draw.choice([0.005, 0.01, 0.02])
    return f'kind = "gilbert-elliott"\nmean_loss = {share}\nmean_burst = {length}\ndirection = "forward"'


def lost_acks(draw: Draw) -> str:
    return f'kind = "random"\nloss = {draw.choice([0.05, 0.2])}\ndirection = "back"'


# Congestion controls, channels, settings of both kernels, megabytes.
KINDS: dict[str, tuple[list[str], list[Callable[[Draw], str]], list[str], int]] = {
    "outages": (["reno", "cubic"], [outages], [], 30),
    "losses": (["reno", "cubic"], [random_loss], [], 6),
    "bursts": (["reno", "cubic"], [bursts], [], 6),
    "nosack": (["reno"], [random_loss, outages], ["net.ipv4.tcp_sack=0"], 8),
    "notimestamps": (["reno", "cubic"], [random_loss, outages], ["net.ipv4.tcp_timestamps=0"], 8),
    "lostacks": (["reno", "cubic"], [random_loss, lost_acks], [], 6),
}


def beginning(name: str, channels: str, *, seed: int, rate_mbps: float, delay_ms: int, queue: int) -> str:
    """A scenario as far as its path: two hosts, and between them a link with a queue of so many packets."""
    return f"""name = "{name}"
duration = "120s"
seed = {seed}
[[node]]
name = "pc"
[[node]]
name = "server"
[[link]]
name = "wire"
between = ["pc", "server"]
rate = "{rate_mbps}Mbps"
delay = "{delay_ms}ms"
queue = {{ kind = "droptail", packets = {queue} }}
{channels}"""


def scenario(name: str, kind: str, draw: Draw) -> str:
    controls, channels, sysctl, megabytes = KINDS[kind]
    stack = f'"linux-2.6-{draw.choice(controls)}"'
    # A FIN that is probed for, or resent, counts too.
    client = f"iperf3 -c {{server}} -n {megabytes}M; sleep 1; nstat -asz"
    drawn = "".join(f'[[link.channel]]\nname = "{c.__name__}"\n{c(draw)}\n' for c in channels)
    path = beginning(
        name,
        drawn,
        seed=draw.randrange(1 << 31),
        rate_mbps=draw.choice([10, 20, 50]),
        delay_ms=draw.choice([5, 10, 20, 40]),
        queue=draw.choice([50, 100, 200]),
    )
    return f"""{path}[[flow]]
name = "upload"
from = "pc"
to = "server"
stack = {stack}
receiver = {stack}
workload = {{ kind = "command", server = "iperf3 -s -1", client = "{client}" }}
[live]
sysctl = {json.dumps(sysctl)}
[record]
capture = ["pc", "server"]
snap = "120B"
"""


def as_pcap(pcapng: bytes) -> bytes:
    """What wire.py reads, of what the bench writes: one interface, nanoseconds, little endian."""
    out, at = [PCAP_NS], 0
    while at + 8 <= len(pcapng):
        kind, length = struct.unpack_from("<II", pcapng, at)
        if kind == ENHANCED_PACKET:
            high, low, kept, original = struct.unpack_from("<IIII", pcapng, at + 12)
            seconds, ns = divmod(high << 32 | low, 1_000_000_000)
            begin = at + ORIGINAL_AT
            out.append(struct.pack("<IIII", seconds, ns, kept, original) + pcapng[begin : begin + kept])
        at += length
    return b"".join(out)


def keep_captures(run: Path, folder: Path, name: str) -> None:
    """Those of both ends, from where the bench left them."""
    for side, host in ENDS.items():
        pcap = as_pcap((run / f"{host}.pcapng").read_bytes())
        (folder / f"{name}.{side}.pcap.gz").write_bytes(gzip.compress(pcap))


def transfer(folder: Path, name: str, text: str) -> dict[str, int] | str:
    """Runs it and keeps its captures; the kernel's counters, or why there are none."""
    with tempfile.TemporaryDirectory() as work:
        run = Path(work)
        try:
            rx.run(rx.Scenario.parse(text, name), bench="live", captures=run)
        except (rx.LiveError, OSError) as e:
            return str(e)
        said = (run / "upload.client.log").read_text()
        counted = {m[1]: int(m[2]) for m in re.finditer(r"^(\w+) +(\d+)", said, re.MULTILINE)}
        if not counted:
            return "it took longer than 120 s"
        keep_captures(run, folder, name)
    return {called: counted[counter] for called, counter in COUNTERS.items()}


def arguments(about: str, out: str, kinds: Collection[str], count: int) -> argparse.Namespace:
    """What to make, and where: out, count, seed, and kind if only some are wanted."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("out", type=Path, help=f"folder; {out}")
    parser.add_argument("--count", type=int, default=count, help="transfers, kind by kind in turns")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=kinds, action="append", help="only this kind (repeatable)")
    return parser.parse_args()


def main() -> int:
    where = "captures and truth.toml go into its folder kernel"
    args = arguments(__doc__.splitlines()[0], where, KINDS, 2 * len(KINDS))
    if missing := [p for p in ("iperf3", "nstat") if shutil.which(p) is None]:
        print(f"transfers.py: {' and '.join(missing)}: apt-get install iperf3 iproute2", file=sys.stderr)
        return 2
    folder = args.out / "kernel"
    folder.mkdir(parents=True, exist_ok=True)
    truth_path = folder / "truth.toml"
    made = tomllib.loads(truth_path.read_text()) if truth_path.exists() else {}
    draw = random.Random(args.seed)
    kinds = args.kind or list(KINDS)
    failed = 0
    for k in range(args.count):
        kind = kinds[k % len(kinds)]
        name = f"{kind}-{args.seed}-{k + 1}"
        text = scenario(name, kind, draw)
        if name in made:
            continue
        told = transfer(folder, name, text)
        if isinstance(told, str):
            failed += 1
            print(f"{name}: {told}", file=sys.stderr)
            continue
        # At once, so that what was made stays when the next is interrupted.
        with truth_path.open("a") as truth:
            truth.write(f"[{name}]\n" + "".join(f"{key} = {n}\n" for key, n in told.items()))
        print(f"{name}: " + ", ".join(f"{n} {key}" for key, n in told.items()), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
