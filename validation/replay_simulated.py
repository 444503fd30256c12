"""Simulated transfers replayed by the stack that sent them, from 10 Mbps to 10 Gbps: is each send right,
and what does it cost?

    .venv/bin/python validation/replay_simulated.py [--stacks A,B] [--bar 99] [--most-us 5]

Prints of each transfer the share of sends that are right, what the sender's host was taken to have done,
and the CPU
time of the replay for each send without that of reading and analysing the capture. Each rate is run for
two lengths,
so that a cost that grows faster than the packets shows. Exit code 1 if a share is below the bar or a cost
above its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import rexmit as rx
from rexmit.screen.text_table import aligned

SCENARIO = """
name = "replayed"
duration = "{seconds}s"
seed = 1
[[node]]
name = "pc"
[[node]]
name = "server"
[[link]]
name = "wire"
between = ["pc", "server"]
rate = "{mbps}Mbps"
delay = "{delay}ms"
queue = {{ kind = "droptail", packets = {queue} }}
[[flow]]
name = "upload"
from = "pc"
to = "server"
stack = "{stack}"
workload = {{ kind = "endless" }}
[record]
capture = ["pc"]
"""
#: Mbps, delay of one direction in ms, and the two lengths in seconds.
PATHS = (
    (10, 10, (9, 36)),
    (50, 10, (4, 16)),
    (200, 10, (2, 8)),
    (1000, 10, (2, 9)),
    (1000, 1, (0.5, 2)),
    (10000, 1, (0.2, 0.8)),
    (10000, 10, (1, 4)),
)
#: Bytes of a packet, for a queue that holds as much as the path.
PACKET = 1500


def simulated(folder: Path, stack: str, mbps: int, delay: int, seconds: float) -> Path:
    """The capture at the sender."""
    queue = max(10, int(mbps * 1e6 * 2 * delay / 1e3 / 8 / PACKET))
    scenario = folder / "replayed.toml"
    scenario.write_text(SCENARIO.format(seconds=seconds, mbps=mbps, delay=delay, queue=queue, stack=stack))
    rx.run(scenario, captures=folder / "run", at="sender")
    return folder / "run" / "pc.pcapng"


def cpu(work: object) -> float:
    """CPU seconds of a call, all threads."""
    before = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - before


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stacks", default="linux-6-cubic,linux-6-reno,linux-6-bbr")
    parser.add_argument("--bar", type=float, default=99.0, help="percent of the sends (default 99)")
    parser.add_argument("--most-us", type=float, default=5.0, help="CPU µs for each send (default 5)")
    options = parser.parse_args()
    rows = [["stack", "Mbps", "ms", "s", "sends", "right %", "CPU µs a send", "taken for"]]
    below = 0
    with tempfile.TemporaryDirectory() as folder:
        for stack in options.stacks.split(","):
            for mbps, delay, lengths in PATHS:
                for seconds in lengths:
                    capture = simulated(Path(folder), stack, mbps, delay, seconds)
                    reading = cpu(lambda path=capture: rx.capture(path))
                    found: list[rx.Replay] = []
                    replaying = cpu(lambda path=capture, to=found, s=stack: to.append(rx.replay(path, s)))
                    told = found[0].to_dict()
                    sends = told["sends"]
                    share = 100 * (found[0].right or 0.0)
                    each = 1e6 * max(replaying - reading, 0.0) / sends
                    below += share < options.bar or each > options.most_us
                    host = [key for key in ("paced", "send_buffer_bytes", "held_back") if told[key]]
                    cells = [stack, str(mbps), str(2 * delay), f"{seconds:g}", f"{sends:,}", f"{share:.2f}"]
                    rows.append([*cells, f"{each:.2f}", ", ".join(host)])
                    print(rows[-1], file=sys.stderr, flush=True)
    print("\n".join(aligned(rows, left={0, 7})))
    print(f"{below} of {len(rows) - 1} transfers miss {options.bar:g}% or {options.most_us:g} µs")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
