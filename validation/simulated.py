"""Random simulated transfers, seen at both ends, against the simulator's own word, by stack: the copies
that were lost, and why each segment was sent again.

    python validation/simulated.py --scenarios 400 --seed 1

A copy is lost by the truth if the sender sent it, the receiver's host never had it, and a link dropped it;
what was still inside the network when the run ended is counted apart. SYNs and bare FINs that are sent again
carry no data and do not count, nor do the openings of one-way agents. The sender's own word for a cause is
taken as docs/validation.md says. `--only SEED` writes the scenario of a difference to standard output.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import rexmit as rx

STACKS = (
    "rfc-tahoe", "rfc-reno", "rfc-newreno", "rfc-sack", "rfc-reno-fast-after-timeout",
    "linux-2.2", "linux-2.2-cured", "linux-2.4", "linux-2.6-reno", "linux-2.6-cubic", "linux-2.6-westwood",
    "windows-7", "windows-7-compound", "osx-10.7", "osx-10.9",
    "ns3.20-tahoe", "ns3.20-reno", "ns3.20-newreno",
    "ns2-tahoe", "ns2-newreno", "ns2-sack", "ns2.35-reno", "ns2.35-sack", "ns2.35-vegas",
)  # fmt: skip
ONE_WAY = "ns2"
#: The packets of one-way agents count whole; their openings are headers and no more.
ONE_WAY_HEADER_BYTES = 40


def scenario(seed: int) -> str:
    """The TOML text of a random scenario: a link or two, up to two channels each, up to three transfers."""
    draw = random.Random(seed)
    hops = draw.randint(1, 2)
    lines = [f'name = "random-{seed}"', f"seed = {seed}", 'duration = "600s"']
    for node in range(hops + 1):
        lines += ["[[node]]", f'name = "n{node}"']
    for hop in range(hops):
        lines += ["[[link]]", f'name = "l{hop}"', f'between = ["n{hop}", "n{hop + 1}"]']
        lines += [
            f'rate = "{int(_scale(draw, 0.5e6, 50e6))}bps"',
            f'delay = "{int(_scale(draw, 50, 60e3))}us"',
        ]
        lines += [f'queue = {{ kind = "droptail", packets = {int(_scale(draw, 5, 300))} }}']
        for number in range(draw.randint(0, 2)):
            direction = draw.choice(("both", "forward", "back"))
            lines += [
                "[[link.channel]]",
                f'name = "c{number}"',
                f'direction = "{direction}"',
                *_channel(draw),
            ]
    stack = draw.choice(STACKS)
    receiver = stack
    if not stack.startswith(ONE_WAY):
        receiver = draw.choice([s for s in STACKS if not s.startswith(ONE_WAY)])
    for flow in range(draw.randint(1, 3)):
        size = int(_scale(draw, 50e3, 2e6))
        lines += ["[[flow]]", f'name = "f{flow}"', 'from = "n0"', f'to = "n{hops}"', f'stack = "{stack}"']
        lines += [f'receiver = "{receiver}"', f'start = "{draw.randint(0, 3000)}ms"']
        lines += [f'workload = {{ kind = "file", size = "{size}B" }}']
    return "\n".join(lines) + "\n"


def _scale(draw: random.Random, low: float, high: float) -> float:
    """Evenly over the orders of magnitude."""
    return float(low * (high / low) ** draw.random())


def _channel(draw: random.Random) -> list[str]:
    every = int(_scale(draw, 300, 6000))
    dark = max(1, int(every * _scale(draw, 0.01, 0.3)))
    periods = f'every = "{every}.017ms", for = "{dark}ms", phase = "{draw.randint(0, every)}ms"'
    return draw.choice(
        (
            ['kind = "outage"', f"schedule = {{ {periods} }}"],
            ['kind = "random"', f"loss = {_scale(draw, 5e-4, 0.05):.5f}"],
            [
                'kind = "gilbert-elliott"',
                f"mean_loss = {_scale(draw, 1e-3, 0.05):.4f}",
                f'mean_burst = "{int(_scale(draw, 500, 200e3))}us"',
            ],
            [
                'kind = "reorder"',
                f"probability = {_scale(draw, 1e-3, 0.1):.3f}",
                f'by = "{draw.randint(1, 200)}ms"',
            ],
            ['kind = "duplicate"', f"probability = {_scale(draw, 1e-3, 0.1):.3f}"],
            ['kind = "jitter"', f'mean = "{draw.randint(1, 5000)}us"', "reorders = true"],
        )
    )


@dataclass
class Score:
    """What came of the flows of one stack."""

    flows: int = 0
    #: Of them, those whose count of lost copies is another than the truth's.
    wrong_losses: int = 0
    retransmissions: int = 0
    #: Retransmissions of which one side knows, and the other does not.
    unmatched: int = 0
    #: Truth's cause, the analysis' cause.
    confused: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def wrong_causes(self) -> int:
        return sum(self.confused.values())


@dataclass(frozen=True)
class Difference:
    """A flow whose lost copies differ."""

    seed: int
    stack: str
    flow: str
    said: int
    dropped: int
    #: Copies that were neither dropped nor had arrived when the run ended.
    inside: int

    def __str__(self) -> str:
        inside = f", {self.inside} inside at the end" if self.inside else ""
        return (
            f"seed {self.seed}, {self.stack}, flow {self.flow}: "
            f"{self.said} lost copies, by the truth {self.dropped}{inside}"
        )


def compare(seed: int, scores: dict[str, Score]) -> list[Difference]:
    """Runs scenario `seed` and adds to the score of its stack."""
    run = rx.run(scenario(seed), tables=("retransmissions", "drops", "truth", "hosts"))
    stack = str(run.summary["flows"][0]["stack"])
    score = scores[stack]
    header = ONE_WAY_HEADER_BYTES if stack.startswith(ONE_WAY) else 0
    sent, arrived, dropped = _copies(run, header)
    found = []
    for flow in run.flows.to_arrow().to_pylist():
        number = flow["flow"]
        if not sent[number]:
            continue
        score.flows += 1
        missing = sent[number] - arrived[number]
        lost = missing & dropped[number]
        if flow["lost_copies"] != len(lost):
            score.wrong_losses += 1
            inside = len(missing - lost)
            found.append(Difference(seed, stack, str(number), flow["lost_copies"], len(lost), inside))
    _causes(run, header, score)
    return found


def _data(table: Any, header: int) -> Iterator[dict[str, Any]]:
    """The rows of TCP packets that carry more than `header` bytes."""
    rows = table.to_arrow(unit="ns").to_pylist()
    return (row for row in rows if row["payload_bytes"] > header and row["flow"] is not None)


def _copies(run: rx.Run, header: int) -> tuple[dict[int, set[int]], ...]:
    """Copies of data by flow: sent by a host, had by the other, dropped by a link."""
    sent: dict[int, set[int]] = defaultdict(set)
    arrived: dict[int, set[int]] = defaultdict(set)
    dropped: dict[int, set[int]] = defaultdict(set)
    for row in _data(run.hosts, header):
        (sent if row["event"] == "sent" else arrived)[row["flow"]].add(row["copy"])
    for row in _data(run.drops, header):
        dropped[row["flow"]].add(row["copy"])
    return sent, arrived, dropped


def _causes(run: rx.Run, header: int, score: Score) -> None:
    """Retransmissions are the same by flow and time; several of one moment, in the order of their data."""
    truth, said = _by_moment(_truth(run)), _by_moment(_rows(run.retransmissions))
    sent = {(row["flow"], row["time"].value) for row in _data(run.hosts, header) if row["event"] == "sent"}
    for moment in (truth.keys() | said.keys()) & sent:
        known, told = truth.get(moment, []), said.get(moment, [])
        score.unmatched += abs(len(known) - len(told))
        if len(known) != len(told):
            continue
        score.retransmissions += len(known)
        for a, b in zip(known, told, strict=True):
            if a["cause"] != b["cause"]:
                score.confused[a["cause"], b["cause"]] += 1


def _truth(run: rx.Run) -> list[dict[str, Any]]:
    """The senders' own word, but that `loss-state` is slow start after a timeout: what a Tahoe sends in slow
    start after a fast retransmit is `recovery`, since duplicate ACKs set it off (docs/validation.md).
    """
    after_timeout: dict[int, bool] = {}
    rows = sorted(_rows(run.truth, "copy"), key=lambda row: row["copy"])
    for row in rows:
        if row["cause"] in ("timeout", "recovery"):
            after_timeout[row["flow"]] = row["cause"] == "timeout"
        elif row["cause"] == "loss-state" and not after_timeout.get(row["flow"], False):
            row["cause"] = "recovery"
    return rows


def _rows(table: Any, *more: str) -> list[dict[str, Any]]:
    rows = table.to_arrow(unit="ns").select(["flow", "time", "seq_start", "cause", *more])
    rows = rows.set_column(1, "time", rows.column("time").cast("int64"))
    return list(rows.to_pylist())


def _by_moment(rows: list[dict[str, Any]]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    found: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["seq_start"]):
        found[row["flow"], row["time"]].append(row)
    return found


def table(scores: dict[str, Score]) -> list[str]:
    """A line a stack, and all of them."""
    head = f"{'stack':<30} {'flows':>6} {'losses differ':>14} {'resent':>8} {'unmatched':>10}"
    lines = [f"{head} {'causes differ':>14}"]
    for stack, score in sorted(scores.items()):
        worst = ", ".join(f"{a} told as {b}: {n}" for (a, b), n in score.confused.most_common(3))
        lines.append(_line(stack, score) + (f"  {worst}" if worst else ""))
    whole = Score()
    for score in scores.values():
        whole.flows += score.flows
        whole.wrong_losses += score.wrong_losses
        whole.retransmissions += score.retransmissions
        whole.unmatched += score.unmatched
        whole.confused += score.confused
    return [*lines, _line("all", whole)]


def _line(name: str, score: Score) -> str:
    share = 100 * score.wrong_causes / max(score.retransmissions, 1)
    return (
        f"{name:<30} {score.flows:>6} {score.wrong_losses:>14} {score.retransmissions:>8} "
        f"{score.unmatched:>10} {score.wrong_causes:>6} ({share:.1f}%)"
    )


def main() -> int:
    """Prints the differences and the table; 1 if lost copies of any flow differ."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--scenarios", type=int, default=400, metavar="N")
    words.add_argument("--seed", type=int, default=1, metavar="N", help="the first one's")
    words.add_argument("--only", type=int, metavar="SEED", help="print this scenario, and run nothing")
    o = words.parse_args()
    if o.only is not None:
        sys.stdout.write(scenario(o.only))
        return 0
    scores: dict[str, Score] = defaultdict(Score)
    differences = []
    for seed in range(o.seed, o.seed + o.scenarios):
        differences += compare(seed, scores)
    print("\n".join([*map(str, differences), *table(scores)]))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
