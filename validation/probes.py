"""Tail-loss probes that rexmit counts at the sender, against the kernel's own count, TCPLossProbes.

    sudo .venv/bin/python validation/probes.py OUT --seed 1 --count 40 [--only bursts] [--again] [--when]

Each seed is one fresh transfer on the live bench (Linux, root, iperf3, nstat): a path, losses and a program
drawn from it; every other one beside two busy loops on each core. Captures and the kernel's counts stay in
OUT; what was made before is not made again, and `--again` makes nothing: it only counts once more. `--when`
tells which probes were missed and which were none, by the times at which the kernel's count was seen to
move; where many connections probe at once those are matched by chance. Exits 0 if nine transfers in ten are
equal or off by one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import rexmit as rx
import transfers
from ends_draw import FOR_PROGRAMS, KERNEL

SENDER = "10.0.0.1:"
#: The count is looked at every few milliseconds, later where the machine is busy.
MATCH_NS = 25_000_000
WITHIN = 0.9

Draw = random.Random


@dataclass(frozen=True)
class Parts:
    channel: str = ""
    queue: int | None = None
    client: str = "iperf3 -c {server} -n 5M"
    server: str = "iperf3 -s -1"


def channel(body: str) -> str:
    return f'[[link.channel]]\nname = "air"\n{body}\n'


def own(client: str, server: str = "") -> dict[str, str]:
    """The programs of limits_live.py, whose pace is known."""
    run = f"{sys.executable} {Path(__file__).with_name('limits_live.py').resolve()}"
    return {"client": f"{run} send --to {{server}} {client}", "server": f"{run} serve {server}"}


def clean(draw: Draw) -> Parts:
    return Parts(client=f"iperf3 -c {{server}} -t {draw.randint(4, 8)}")


def small_queue(draw: Draw) -> Parts:
    return Parts(queue=draw.choice([4, 6, 10, 15]))


def losses(draw: Draw) -> Parts:
    loss = draw.choice([0.002, 0.01, 0.02, 0.04])
    return Parts(channel(f'kind = "random"\nloss = {loss}\ndirection = "forward"'))


def bursts(draw: Draw) -> Parts:
    body = f'kind = "gilbert-elliott"\nmean_loss = {draw.choice([0.005, 0.02])}\n'
    return Parts(channel(body + f'mean_burst = "{draw.choice([3, 8])} packets"\ndirection = "forward"'))


def outages(draw: Draw) -> Parts:
    length, way = draw.choice([60, 150, 400, 1000]), draw.choice(["both", "forward", "back"])
    schedule = f'{{ every = "2.5s", for = "{length}ms", phase = "1s", anchor = "first-syn" }}'
    return Parts(channel(f'kind = "outage"\nschedule = {schedule}\ndirection = "{way}"'))


def pauses(draw: Draw) -> Parts:
    """The sending process is stopped now and then."""
    stopped = draw.choice([0.05, 0.15, 0.4, 1.0])
    client = (
        "iperf3 -c {server} -t 7 & p=$!; for i in 1 2 3 4 5; do sleep 0.9; kill -STOP $p; "
        f"sleep {stopped}; kill -CONT $p; done; wait $p"
    )
    return Parts(client=client, queue=draw.choice([30, 300]))


def messages(draw: Draw) -> Parts:
    """Written at a pace of their own over a path that loses: tails."""
    program = (
        f"--seconds 7 --write {draw.choice([20, 100, 300])}000 --message {draw.choice([900, 5000, 20000])}"
    )
    loss = draw.choice([0.01, 0.03])
    return Parts(channel(f'kind = "random"\nloss = {loss}\ndirection = "both"'), **own(program))


def paced(draw: Draw) -> Parts:
    return Parts(**own(f"--seconds 6 --pace {draw.choice([60, 250, 900])}000"))


def small_window(draw: Draw) -> Parts:
    return Parts(**own("--seconds 6", f"--buffer {draw.choice([8, 20, 60])}000"))


def crowd(draw: Draw) -> Parts:
    """Windows of a few segments, and queues that hold fewer."""
    client = f"iperf3 -c {{server}} -t 5 -P {draw.choice([3, 8, 16])}"
    return Parts(queue=draw.choice([3, 6, 12]), client=client)


KINDS: dict[str, Callable[[Draw], Parts]] = {
    f.__name__.replace("_", "-"): f
    for f in (clean, small_queue, losses, crowd, bursts, outages, pauses, messages, paced, small_window)
}


def drawn(seed: int) -> tuple[str, bool, str]:
    """Kind, whether the machine is to be busy, and the scenario."""
    draw = random.Random(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    parts = KINDS[kind](draw)
    paces = "limits_live" in parts.client
    control = draw.choice(FOR_PROGRAMS if paces else KERNEL)
    path = transfers.beginning(
        "probes",
        parts.channel,
        seed=draw.randrange(1 << 31),
        rate_mbps=draw.choice([3, 8, 20, 50]),
        delay_ms=draw.choice([1, 3, 10, 40]),
        queue=parts.queue or draw.choice([30, 100, 300]),
    )
    poll = f"{sys.executable} -SE {Path(__file__).with_name('probes_poll.py').resolve()}"
    program = parts.client if paces else parts.client.replace("iperf3", f"iperf3 -C {control}")
    client = f"{poll} & q=$!; sleep 0.3; {program}; sleep 1.5; kill $q; nstat -asz"
    text = f"""{path.replace('duration = "120s"', 'duration = "60s"')}[[stack]]
name = "kernel"
based_on = "linux-2.6-reno"
kernel = "{control if paces else "reno"}"
[[flow]]
name = "it"
from = "pc"
to = "server"
stack = "kernel"
receiver = "kernel"
[flow.workload]
kind = "command"
server = "{parts.server}"
client = "{client}"
[record]
capture = ["pc"]
snap = "120B"
"""
    return f"{kind} {control}", draw.random() < 0.5, text


def spin() -> None:
    while True:
        sum(range(10_000))


@contextmanager
def busy(wanted: bool) -> Iterator[None]:
    """Two loops on each core, if `wanted`."""
    cores = multiprocessing.cpu_count()
    loops = [multiprocessing.Process(target=spin, daemon=True) for _ in range(2 * cores)]
    for loop in loops if wanted else []:
        loop.start()
    try:
        yield
    finally:
        for loop in loops if wanted else []:
            loop.terminate()
            loop.join()


def make(folder: Path, seed: int) -> str | None:
    """Runs it and keeps its capture and the kernel's counts, or says why not."""
    kind, loaded, text = drawn(seed)
    with tempfile.TemporaryDirectory() as work:
        run = Path(work)
        try:
            with busy(loaded):
                rx.run(rx.Scenario.parse(text, f"probes-{seed}"), bench="live", captures=run)
        except (rx.LiveError, OSError) as e:
            return str(e)
        said = (run / "it.client.log").read_text()
        counted = {m[1]: int(m[2]) for m in re.finditer(r"^(\w+) +(\d+) +[\d.]+$", said, re.MULTILINE)}
        if "TcpExtTCPLossProbes" not in counted:
            return "the kernel's counters are missing"
        shutil.copy(run / "pc.pcapng", folder / f"{seed}.pcapng")
        told = {
            "kind": kind + (" busy" if loaded else ""),
            "probes": counted["TcpExtTCPLossProbes"],
            "timeouts": counted["TcpExtTCPTimeouts"],
            "moved": [
                [int(m[1]), int(m[2])] for m in re.finditer(r"^probes (\d+) (\d+)$", said, re.MULTILINE)
            ],
        }
        (folder / f"{seed}.json").write_text(json.dumps(told))
    return None


@dataclass
class Counted:
    """What rexmit says of one transfer, over all flows of the sending host."""

    new: int
    repeat: int
    timeouts: int
    times: list[tuple[int, str]]


def count(capture: Path) -> Counted:
    analysis = rx.capture(str(capture), at="sender")
    flows = [f for f in analysis.flows.to_arrow().to_pylist() if f["sender"].startswith(SENDER)]
    numbers = {f["flow"] for f in flows}
    probes = analysis.probes.to_arrow(unit="ns")
    times = probes["time"].cast(pa.int64()).to_pylist()
    rows = [{**row, "ns": ns} for row, ns in zip(probes.drop_columns("time").to_pylist(), times, strict=True)]
    return Counted(
        sum(f["probes_new_data"] for f in flows),
        sum(f["probes_repeat"] for f in flows),
        sum(f["retransmitted_timeout"] for f in flows),
        [(r["ns"], "new" if r["new_data"] else "repeat") for r in rows if r["flow"] in numbers],
    )


def differences(said: Counted, moved: list[list[int]]) -> Iterator[str]:
    """Which probes were none, and which were missed."""
    left = [at for at, n in moved for _ in range(n)]
    for at, what in said.times:
        near = [m for m in left if -2_000_000 <= m - at <= MATCH_NS]
        if near:
            left.remove(near[0])
        else:
            yield f"none at {at}: {what}"
    for at in left:
        yield f"missed at {at}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder for captures and counts")
    parser.add_argument("--seed", type=int, default=1, help="of the first transfer")
    parser.add_argument("--count", type=int, default=4 * len(KINDS), help="transfers, kind by kind in turns")
    parser.add_argument("--only", choices=KINDS, help="only this kind")
    parser.add_argument("--again", action="store_true", help="make nothing, count what was made")
    parser.add_argument("--when", action="store_true", help="which probes were missed, and which were none")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    if missing := [p for p in ("iperf3", "nstat") if shutil.which(p) is None]:
        print(f"probes.py: {' and '.join(missing)}: apt-get install iperf3 iproute2", file=sys.stderr)
        return 2
    args.out.mkdir(parents=True, exist_ok=True)
    print(f"{'seed':>6}  {'probes':>6}  {'said':>5}  {'new':>4}  {'repeat':>6}  timeouts, said  kind")
    close = scored = 0
    for seed in range(args.seed, args.seed + args.count):
        if args.only and not drawn(seed)[0].startswith(args.only):
            continue
        truth = args.out / f"{seed}.json"
        if not truth.exists() and (args.again or (why := make(args.out, seed))):
            if not args.again:
                print(f"{seed:6}  not made: {why}", file=sys.stderr)
            continue
        true = json.loads(truth.read_text())
        said = count(args.out / f"{seed}.pcapng")
        total = said.new + said.repeat
        met = abs(total - true["probes"]) <= 1
        close, scored = close + met, scored + 1
        print(
            f"{seed:6}  {true['probes']:6}  {total:5}  {said.new:4}  {said.repeat:6}  "
            f"{true['timeouts']:8}, {said.timeouts:4}  {true['kind']}{'' if met else '  WRONG'}",
            flush=True,
        )
        if args.when:
            for line in differences(said, true["moved"]):
                print(f"        {line}")
    print(f"equal or off by one: {close} of {scored}")
    return 0 if close >= WITHIN * scored else 1


if __name__ == "__main__":
    sys.exit(main())
