"""What `rexmit record` costs: CPU time, and packets that it lost, beside iperf3 between two namespaces.

    .venv/bin/python benches/record.py [--seconds 10] [--rate 1G] [--json FILE]

As root, with iperf3, ip and ethtool. Two network namespaces and a veth pair, once with the offloads that a
pair has and once with segmentation, aggregation and checksum offloads off: then every segment is a packet of
its own. The recorder runs at the sender. Truth are the interface's own counters: what they counted and the
recording has not was lost. The share of a core is user and system time of the recorder's process while it
recorded; what BPF programs cost the sender itself is in the second figure, the CPU time of all, with and
without the recorder.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Below these the recorder stays (docs/record.md).
BARS = {"as they are": 0.05, "off": 0.20}
PORT = 5201
OFFLOADS = ("tso", "gso", "gro", "tx", "rx", "sg")
SENDER, RECEIVER = (f"rexmit-bench-{os.getpid()}-{end}" for end in "ab")


def run(*words: str, check: bool = True) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if check and done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def inside(namespace: str, *words: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *words]


@contextmanager
def namespaces(offloads: bool) -> Iterator[None]:
    """Two, with a pair of interfaces between them."""
    try:
        for name in (SENDER, RECEIVER):
            run("ip", "netns", "add", name)
        run("ip", "link", "add", "eth0", "netns", SENDER, "type", "veth", "peer", "eth0", "netns", RECEIVER)
        for name, address in ((SENDER, "10.0.0.1/24"), (RECEIVER, "10.0.0.2/24")):
            run("ip", "-n", name, "address", "add", address, "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            if not offloads:
                settings = [word for one in OFFLOADS for word in (one, "off")]
                run(*inside(name, "ethtool", "-K", "eth0", *settings))
        yield
    finally:
        for name in (SENDER, RECEIVER):
            run("ip", "netns", "delete", name, check=False)


def counted() -> int:
    """Packets that passed the sender's interface, both ways."""
    (link,) = json.loads(run("ip", "-json", "-s", "-n", SENDER, "link", "show", "eth0"))
    return int(link["stats64"]["rx"]["packets"]) + int(link["stats64"]["tx"]["packets"])


def busy() -> float:
    """Seconds that all cores were busy since the machine began (proc(5), /proc/stat)."""
    fields = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def transfer(rate: str, seconds: float) -> float:
    """iperf3 for so long; bits per second that arrived."""
    server = subprocess.Popen(inside(RECEIVER, "iperf3", "-s", "-1"), stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    said = run(*inside(SENDER, "iperf3", "-c", "10.0.0.2", "-b", rate, "-t", f"{seconds:g}", "-J"))
    server.wait(timeout=10)
    return float(json.loads(said)["end"]["sum_received"]["bits_per_second"])


def measure(offloads: bool, rate: str, seconds: float) -> dict[str, Any]:
    with namespaces(offloads), tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "recording"
        before = busy()
        transfer(rate, seconds)
        without = busy() - before
        # An address that just came up still says so in packets of its own.
        words = inside(
            SENDER, sys.executable, "-m", "rexmit", "record", "-o", str(out), "--interface", "eth0"
        )
        recorder = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 20
        while not list(out.glob("kernel/*.csv")) and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.5)
        there, before = counted(), busy()
        reached = transfer(rate, seconds)
        time.sleep(0.3)
        there, with_it = counted() - there, busy() - before
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=120)
        if not (out / "record.json").exists():
            sys.exit(f"rexmit record: {said}")
        about = json.loads((out / "record.json").read_text())
    if "packets" not in about:
        sys.exit(f"rexmit record: {said}")
    # It idled a little before and after; all that it took is divided by the transfer's time.
    return {
        "offloads": "as they are" if offloads else "off",
        "rate_bps": reached,
        "packets": about["packets"],
        "passed": there,
        "dropped": about["dropped"],
        "kernel_lost": about["kernel_lost"],
        "share": about["cpu_s"] / seconds,
        "all_cores_s": with_it,
        "all_cores_without_s": without,
        "seconds": seconds,
    }


def told(row: dict[str, Any]) -> str:
    bar = BARS[row["offloads"]]
    lost = row["dropped"] + max(row["passed"] - row["packets"], 0)
    well = "below" if row["share"] < bar else "ABOVE"
    return (
        f"offloads {row['offloads']:<12} {row['rate_bps'] / 1e6:6.0f} Mbps  {row['packets']:>9,} packets "
        f"({row['packets'] / row['seconds']:,.0f}/s)  recorder {row['share']:.1%} of a core, "
        f"{well} {bar:.0%}; {lost} packets and {row['kernel_lost']} rows lost; "
        f"all cores busy {row['all_cores_s']:.1f} s, {row['all_cores_without_s']:.1f} s without it"
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", default="1G", help="what iperf3 is to send at (default 1G)")
    parser.add_argument("--json", metavar="FILE", help="the figures, as a list")
    o = parser.parse_args(argv)
    if os.geteuid() != 0:
        sys.exit("namespaces and packets need root")
    rows = [measure(offloads, o.rate, o.seconds) for offloads in (True, False)]
    for row in rows:
        print(told(row))
    if o.json:
        Path(o.json).write_text(json.dumps(rows, indent=1) + "\n")
    lost = any(row["dropped"] or row["passed"] > row["packets"] for row in rows)
    return int(lost or any(row["share"] >= BARS[row["offloads"]] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
