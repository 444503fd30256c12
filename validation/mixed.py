"""Which flow comes first where one real transfer runs among control, idle and background connections.

    .venv/bin/python validation/mixed.py [--count 40] [--seed 1]

Each is a simulated run, drawn from its seed and seen from one end: a file of 2 to 20 MB, requests of a few
bytes between the same two hosts, connections that send a little now and then, and a third host's page views
over the same bottleneck. One in four paths loses nothing; the others have random losses, bursts or an
outage, which hit everybody. The transfer is the flow that carries most by far; it has to stand first on the
page. Ends with exit code 1 if it does not in any of them.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import Any, Literal

import rexmit as rx

Draw = random.Random
End = Literal["sender", "receiver"]
ENDS: tuple[End, ...] = ("sender", "receiver")


def channel(draw: Draw) -> str:
    kind = draw.choice(["none", "random", "bursts", "outage"])
    if kind == "none":
        return ""
    head = '[[link.channel]]\nname = "loss"\n'
    if kind == "random":
        return head + f'kind = "random"\nloss = {draw.choice([0.002, 0.01, 0.02])}\ndirection = "both"\n'
    if kind == "bursts":
        return head + (
            f'kind = "gilbert-elliott"\nmean_loss = {draw.choice([0.005, 0.02])}\n'
            f'mean_burst = "{draw.choice([3, 8])} packets"\ndirection = "forward"\n'
        )
    begin, length = draw.uniform(0.2, 1.5), draw.uniform(0.2, 1.5)
    schedule = f'{{ intervals = [["{begin:.3f}s", "{length:.3f}s"]] }}'
    return head + f'kind = "outage"\nschedule = {schedule}\ndirection = "both"\n'


def scenario(seed: int) -> str:
    """A scenario as TOML: the whole of it follows from the seed."""
    draw = Draw(f"mixed {seed}")
    stack = draw.choice(["linux-2.6-cubic", "linux-2.6-reno", "rfc-sack", "rfc-newreno"])
    megabytes = draw.choice([2, 5, 10, 20])
    rate, delay = draw.choice([5, 20, 50]), draw.choice([5, 20, 60])
    nodes = "".join(f'[[node]]\nname = "{n}"\n' for n in ("pc", "router", "server", "other"))
    link = '[[link]]\nname = "{0}"\nbetween = ["{1}", "{2}"]\nrate = "{3}Mbps"\ndelay = "{4}ms"\n'
    queue = f'queue = {{ kind = "droptail", packets = {draw.choice([30, 100, 400])} }}\n'
    links = link.format("way", "router", "server", rate, delay) + queue + channel(draw)
    links += link.format("pc-side", "pc", "router", 1000, 1) + link.format(
        "other-side", "other", "router", 1000, 1
    )
    flow = '[[flow]]\nname = "{0}"\nfrom = "{1}"\nto = "server"\nstack = "{2}"\nworkload = {{ {3} }}\n{4}'
    flows = [
        flow.format(
            "transfer", "pc", stack, f'kind = "file", size = "{int(megabytes * 1e6)}B"', 'start = "0.2s"\n'
        )
    ]
    request, answer = draw.randint(20, 300), draw.randint(20, 300)
    few = f'kind = "request-response", request = "{request}B", response = "{answer}B"'
    flows.append(
        flow.format("control", "pc", stack, f'{few}, think = "{draw.choice([300, 1000, 3000])}ms"', "")
    )
    now_and_then = f'kind = "constant-rate", rate = "{draw.choice([200, 800])}bps", message = "100B"'
    flows.append(flow.format("idle", "pc", stack, now_and_then, f"count = {draw.randint(1, 6)}\n"))
    view = f'kind = "request-response", request = "300B", response = "{draw.choice([2, 5, 10])}kB"'
    views = f'{view}, think = "1s", distribution = "exponential"'
    flows.append(flow.format("views", "other", stack, views, f"count = {draw.randint(1, 6)}\n"))
    return f'name = "mixed-{seed}"\nduration = "20s"\nseed = {seed}\n{nodes}{links}{"".join(flows)}'


def first(seed: int, at: End) -> tuple[dict[str, Any], dict[str, Any]]:
    """The flow that stands first, and the transfer."""
    run = rx.run(rx.Scenario.parse(scenario(seed)), at=at)
    flows = run.overview(1000)["flows"]
    return flows[0], max(flows, key=lambda flow: int(flow["bytes"]))


def told(flow: dict[str, Any]) -> str:
    cost, blocked = flow["cost_s"], flow["idle_blocked_s"]
    return f"{flow['sender']} → {flow['receiver']}: {flow['bytes']:,} bytes, cost {cost}, blocked {blocked}"


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--count", type=int, default=40)
    ask.add_argument("--seed", type=int, default=1)
    o = ask.parse_args()
    right = 0
    for seed in range(o.seed, o.seed + o.count):
        at = ENDS[seed % 2]
        shown, transfer = first(seed, at)
        if shown["flow"] == transfer["flow"]:
            right += 1
        else:
            print(f"seed {seed}, at the {at}: first {told(shown)}; the transfer {told(transfer)}")
    print(f"the transfer first in {right} of {o.count} (seeds {o.seed} to {o.seed + o.count - 1})")
    return 0 if right == o.count else 1


if __name__ == "__main__":
    sys.exit(main())
