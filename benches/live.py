"""How late packets leave the live bench's bridge here: by rate, with and without real-time priority.

python benches/live.py [SECONDS]
"""

from __future__ import annotations

import os
import sys

import rexmit as rx
from rexmit.units import rate as shown

SCENARIO = """
name = "lateness"
duration = "{seconds}s"
[chain]
nodes = ["sender", "receiver"]
rate = "{rate}"
delay = "10ms"
framing = "ethernet"
queue = {{ kind = "droptail", packets = {queue} }}
[[flow]]
name = "bulk"
from = "sender"
to = "receiver"
stack = "linux-2.6-cubic"
workload = {{ kind = "endless" }}
[live]
real_time = {real_time}
"""
QUEUES = {"22Mbps": 100, "100Mbps": 100, "1Gbps": 1000}


def main() -> int:
    """Prints a line for each run."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    print("rate     real time   p50 us   p99 us  p99.9 us    max us  >1 ms  lost by machine  through    load")
    for rate, queue in QUEUES.items():
        for real_time in ("true", "false"):
            load = os.getloadavg()[0]
            text = SCENARIO.format(seconds=seconds, rate=rate, queue=queue, real_time=real_time)
            try:
                run = rx.run(text, bench="live")
            except rx.LiveError as error:
                print(f"skipped: {error}", file=sys.stderr)
                return 1
            kept = run.summary["bridge"]
            late = [kept[f"late_{key}_s"] * 1e6 for key in ("p50", "p99", "p999", "max")]
            had = "yes" if kept["real_time"] else "no"
            through = shown(run.flows[0].row["throughput_bps"])
            figures = " ".join(f"{value:9,.0f}" for value in late)
            lost = f"{kept['over_1ms']:6,} {kept['overload']:16,}"
            print(f"{rate:<8} {had:<9}{figures} {lost}  {through:<9} {load:5.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
