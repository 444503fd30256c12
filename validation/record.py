"""`rexmit record` on real transfers over rexmit's own bridge, against the counters of the sending kernel.

    .venv/bin/python validation/record.py OUT [--seed N]

As root, with iperf3 and curl. Four transfers lose packets on a path of 20 Mbps and 30 ms: an upload by iperf3
through outages, a download by curl (recorded at the server by a filter), a web server under the load of eight
clients, and a program that hangs because its peer reads nothing. What the kernel was recorded to say of each
segment sent again must add up to its own TCPFastRetrans, TCPSlowStartRetrans and RetransSegs; how often the
capture alone says the same is printed. Recordings stay in OUT.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import rexmit as rx
from rexmit.screen.words import cause_and_end

REXMIT = f"{sys.executable} -m rexmit"
LOAD = """
import http.client, sys, threading, time
end = time.time() + 6
def work():
    while time.time() < end:
        try:
            c = http.client.HTTPConnection("10.0.0.2", 8000, timeout=5)
            c.request("GET", "/small")
            c.getresponse().read()
        except (OSError, http.client.HTTPException): pass
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
"""
HANG = """
import socket
socket.create_connection(("10.0.0.2", 8001)).sendall(bytes(3_000_000))
"""
UNREAD = """
import socket, time
c, _ = socket.create_server(("0.0.0.0", 8001)).accept()
time.sleep(60)
"""
NOISE = 'kind = "random"\nloss = 0.015'
OUTAGES = 'kind = "outage"\nschedule = { every = "4s", for = "300ms", phase = "1s", anchor = "first-syn" }'
#: Name, what the path does, server, client; {work} is a folder with the programs, {out} the recording.
TRANSFERS = (
    ("upload", OUTAGES, "iperf3 -s -1", "{record} -- iperf3 -c 10.0.0.2 -n 12M"),
    (
        "download",
        NOISE,
        "cd {work}; {python} -m http.server 8000 >/dev/null 2>&1 & {record} --filter 'port 8000' --for 14s",
        "sleep 3; curl -s -o /dev/null http://10.0.0.2:8000/large; sleep 5",
    ),
    (
        "web server",
        NOISE,
        "cd {work}; {python} -m http.server 8000 >/dev/null 2>&1 & {record} --filter 'port 8000' --for 11s",
        "sleep 3; {python} {work}/load.py; sleep 5",
    ),
    ("hanging", NOISE, "{python} {work}/unread.py", "{record} --for 6s -- {python} {work}/hang.py"),
)
SCENARIO = """
name = "record"
duration = "30s"
seed = {seed}
[chain]
nodes = ["pc", "server"]
rate = "20Mbps"
delay = "15ms"
queue = {{ kind = "droptail", packets = 60 }}
[[chain.channel]]
name = "trouble"
{channel}
[[flow]]
name = "flow"
from = "pc"
to = "server"
stack = "linux-2.6-reno"
workload = {{ kind = "command", server = "{server}", client = "{client}" }}
"""


def transfer(work: Path, out: Path, seed: int, channel: str, server: str, client: str) -> Any:
    """Runs it, and reads the recording."""
    words = {"work": work, "python": sys.executable, "record": f"{REXMIT} record -o {out}"}
    scenario = work / "scenario.toml"
    server, client = (line.format(**words) for line in (server, client))
    scenario.write_text(SCENARIO.format(seed=seed, channel=channel, server=server, client=client))
    live = ["run", str(scenario), "--bench", "live", "--accept-late"]
    done = subprocess.run(
        [sys.executable, "-m", "rexmit", *live], capture_output=True, text=True, check=False, timeout=120
    )
    if not (out / "record.json").exists():
        sys.exit(f"seed {seed}: nothing was recorded: {done.stderr.strip()}")
    return rx.capture(out)


def told(name: str, recording: Any) -> bool:
    """Prints what became of it; whether sums and counters are the same."""
    counters = recording.about["counters"]
    sums: Counter[str] = Counter()
    for event in recording.kernel("retransmissions").to_pylist():
        sums[event["cause"]] += event["segments"]
    same = (
        sums["recovery"] == counters.get("TCPFastRetrans", 0)
        and sums["loss-state"] == counters.get("TCPSlowStartRetrans", 0)
        and sums.total() == counters.get("TcpRetransSegs", 0)
        and not sums["unknown"]
    )
    known = sum(joined.known.total() for joined in recording.joined.values())
    agree = sum(joined.agree for joined in recording.joined.values())
    lost = recording.about["dropped"] + recording.about["kernel_lost"]
    causes = ", ".join(f"{n} {cause}" for cause, n in sums.most_common()) or "nothing sent again"
    flow = next(iter(recording.overview(1)["flows"]), None)
    print(
        f"{name:<11} {recording.about['packets']:>7,} packets, {lost} lost; {causes}: "
        f"{'as counted' if same else 'NOT AS COUNTED ' + str(counters)}; "
        f"known {known}, the capture alone agrees on {agree}"
    )
    if flow:
        answer = flow["answer"]
        print(f"{'':<11} {cause_and_end(answer)}: {answer['text']}" if answer else f"{'':<11} no answer")
    return same and not lost


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("recording and the bench need root")
    o.out.mkdir(parents=True, exist_ok=True)
    well = True
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "large").write_bytes(os.urandom(4_000_000))
        (work / "small").write_bytes(os.urandom(20_000))
        for name, text in (("load", LOAD), ("hang", HANG), ("unread", UNREAD)):
            (work / f"{name}.py").write_text(text)
        for name, channel, server, client in TRANSFERS:
            out = (o.out / f"{name.replace(' ', '-')}-{o.seed}").resolve()
            well &= told(name, transfer(work, out, o.seed, channel, server, client))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
