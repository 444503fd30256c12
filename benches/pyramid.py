"""How fast packets become the bins that a report and a view draw: packets per CPU second.

Of a capture's packets as `rexmit view` keeps them, all levels are made anew in each run, as a page reads
them. Reading and analysing the capture is not in the figure, and is printed beside it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from measure import mark, row

BAR = 10e6
#: Bins of the finest level.
FINEST = 65_536
NAME = "pyramid of one flow, 10% resent"


def measured(capture: str, runs: int) -> tuple[int, float, float, int]:
    """Packets, the best CPU seconds of all levels, those until the packets were there, how many levels."""
    import rexmit
    from rexmit.report.source import Source

    began = time.process_time()
    source = Source(rexmit.capture(capture, tables=("packets", "retransmissions", "rtt")), 0, "capture")
    read_s = time.process_time() - began
    flow = source.capture.flows.largest()
    assert flow is not None
    packets = int(flow["packets"])
    # Once for what the system has to bring in.
    took, made = [], []
    for _ in range(runs + 1):
        began = time.process_time()
        made = source.core.levels(flow.id, FINEST)
        took.append(time.process_time() - began)
    return packets, min(took[1:]), read_s, len(made)


def bench(python: Path, capture: Path, runs: int) -> list[dict]:
    """Prints the part's lines, measured by the Python of what is measured, and gives its rows."""
    done = subprocess.run(
        [str(python), __file__, str(capture), str(runs)], check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        print(f"\n{NAME}: {done.stderr.strip().splitlines()[-1:] or ['nothing said']}")
        return []
    packets, cpu_s, read_s, made = (float(word) for word in done.stdout.split())
    rate = packets / cpu_s
    print(f"\n{NAME}: {packets:,.0f} packets")
    print(f"  {'all levels':22} {rate / 1e6:8.3f} M packets/CPU s  ({made:.0f} levels, round trips too)")
    print(f"  {'until they are there':22} {packets / read_s / 1e6:8.3f} M packets/CPU s  (analysis, columns)")
    print(f"  bar {BAR / 1e6:g} M: {mark(rate >= BAR)}")
    return [row(NAME, rate, "packets/CPU s", "bar", BAR, rate / BAR)]


if __name__ == "__main__":
    print(*measured(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5))
