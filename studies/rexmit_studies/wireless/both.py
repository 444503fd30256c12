"""Table 2: disconnections and bit errors together, all four variants; rankings over many runs; the delay."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies import paper
from rexmit_studies.cells import number
from rexmit_studies.rows import sampled
from rexmit_studies.study import Drawing, Part, Plan, Results, Row
from rexmit_studies.wireless import pictures
from rexmit_studies.wireless.errors import READING, channel, own_ber
from rexmit_studies.wireless.measures import (
    BER,
    DELAYS,
    DURATION,
    GOODPUT,
    LABELS,
    NAME,
    THROUGHPUT,
    VARIANTS,
    Counts,
    all_delays,
    counts,
    delays,
    durations,
    load,
    random_outages,
    table2,
    transfer,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rexmit.running.many_runs import Runs
    from rexmit.scenario import Scenario

    Numbers = NDArray[np.float64]

PACKETS, SECONDS, PATIENCE = 9210, 1600, 8000
#: Column, what it is, its unit, and 1 where more is better.
COLUMNS = {
    "throughput_packets_s": (f"{THROUGHPUT}, {SECONDS} s", "packets/s", 1),
    "goodput": (GOODPUT, "", 1),
    "transfer_time_s": (DURATION.format(n=PACKETS), "s", -1),
    "delay_s": ("first sending to the ACK that bears the packet's number, mean over those ACKs", "s", -1),
}
SHORT = {
    "throughput_packets_s": "throughput (packets/s)",
    "goodput": "goodput",
    "transfer_time_s": f"time for {PACKETS} packets (s)",
    "delay_s": "mean delay (s)",
}


def _scenario(variant: str, keys: dict[str, Any] | None = None) -> Scenario:
    return load(
        "wireless-both", random_outages(*table2()) | {"flow.ftp.stack": f"ns2-{variant}"} | (keys or {})
    )


def declare(plan: Plan) -> None:
    """The four variants for 1600 s and until 9210 packets are through, and for 1600 s as printed."""
    each = [_scenario(variant) for variant in VARIANTS]
    first, all_seeds = plan.seeds(100), plan.seeds(300)
    plan.runs("both", each, first, tables=("state",), reduce=_counted)
    plan.runs("both, every packet", each, plan.seeds(5, quick=1), tables=("hosts",), reduce=all_delays)
    if more := all_seeds[len(first) :]:
        plan.runs("both, more", each, more)
    files = [_scenario(variant, transfer(PACKETS, PATIENCE)) for variant in VARIANTS]
    plan.runs("both, 9210 packets", files, first)
    printed = [_scenario(variant, channel(own_ber() or BER, "as printed")) for variant in VARIANTS]
    plan.runs("both, as printed", printed, plan.seeds(100))


def _counted(runs: Runs) -> tuple[list[Counts], dict[str, list[Numbers]]]:
    """What is kept of runs whose senders' states are too many to keep."""
    return counts(runs), delays(runs)


def _together(parts: list[dict[str, list[Numbers]]]) -> dict[str, list[Numbers]]:
    """Delays of some seeds, and of the next: for each definition a list over the variants."""
    return {
        what: [np.concatenate(one) for one in zip(*(part[what] for part in parts), strict=True)]
        for what in parts[0]
    }


class Both:
    """Table 2: each column, variant by variant, a value for each seed; the same seed met the same outages."""

    def __init__(self, results: Results) -> None:
        parts: list[tuple[list[Counts], dict[str, list[Numbers]]]] = results["both"]
        counted = [reduce(Counts.and_more, one) for one in zip(*(part[0] for part in parts), strict=True)]
        if not results.quick:
            more = counts(results["both, more"])
            counted = [one.and_more(other) for one, other in zip(counted, more, strict=True)]
        self.delays = _together([part[1] for part in parts]) | _together(results["both, every packet"])
        took = durations(results["both, 9210 packets"], PATIENCE)
        self.columns: dict[str, dict[str, Numbers]] = {
            variant: {
                "throughput_packets_s": counted[k].throughput,
                "goodput": counted[k].goodput,
                "transfer_time_s": took[k],
                "delay_s": self.delays["own ACK"][k],
            }
            for k, variant in enumerate(VARIANTS)
        }
        self.printed = dict(zip(VARIANTS, counts(results["both, as printed"]), strict=True))

    @classmethod
    def of(cls, results: Results) -> Both:
        """Made once: rows, tables, texts and claims all ask for it."""
        if "Both" not in results:
            results["Both"] = cls(results)
        made: Both = results["Both"]
        return made

    def better(self, column: str) -> Numbers:
        """A column signed so that more is better; a row for each variant, a column for each seed."""
        return COLUMNS[column][2] * np.array([self.columns[variant][column] for variant in VARIANTS])

    def shares(self, column: str) -> dict[str, stats.Estimate]:
        """How often one run of each shows the paper's ranking: Reno best, Sack worst, its whole order."""
        values = self.better(column)
        reno, sack = VARIANTS.index("reno"), VARIANTS.index("sack")
        n = values.shape[1]
        seen = {
            "Reno best": values.argmax(axis=0) == reno,
            "Sack worst": values.argmin(axis=0) == sack,
            "the paper's order": (paper_order(column) == np.argsort(-values, axis=0).T).all(axis=1),
        }
        return {what: stats.proportion(int(hits.sum()), n) for what, hits in seen.items()}


def paper_order(column: str) -> NDArray[np.intp]:
    """The variants as the paper's column ranks them, the best first."""
    printed = paper.figures(NAME)
    values = [float(printed[f"{NAME}.table2.{variant}.{column}"]) for variant in VARIANTS]  # type: ignore[arg-type]
    return np.argsort(-COLUMNS[column][2] * np.array(values))


def rows(results: Results) -> Iterator[Row]:
    """Table 2."""
    both = Both.of(results)
    for variant in VARIANTS:
        for column, (definition, unit, _) in COLUMNS.items():
            values = both.columns[variant][column]
            key = f"{NAME}.table2.{variant}.{column}"
            why = _why(key, values)
            yield sampled(
                key, values, f"{definition}; {READING}", unit, why, "Table 2, one course of outages"
            )


def _why(key: str, values: Numbers) -> str:
    """What the evidence says of a figure of the paper that lies outside."""
    there = float(paper.figures(NAME)[key])  # type: ignore[arg-type]
    n = len(values)
    beyond = int((values <= there).sum() if there < values.mean() else (values >= there).sum())
    said = f"{beyond} of {n} runs are as far out"
    if key.endswith("delay_s"):
        said += "; the paper does not say from when to when it is, and no other definition tried comes nearer"
    return said


def tables(results: Results) -> dict[str, Any]:
    """Paired differences, how often a run shows the paper's ranking, definitions of delay."""
    both = Both.of(results)
    return {
        "differences": _differences(both),
        "rankings": _rankings(both),
        "definitions of delay": _delays(both),
    }


def _differences(both: Both) -> dict[str, list[Any]]:
    names = ("column", "first", "second", "first - second", "from", "to", "runs with first better", "real")
    table: dict[str, list[Any]] = {name: [] for name in names}
    for column in COLUMNS:
        for i, j in combinations(range(len(VARIANTS)), 2):
            a, b = (both.columns[VARIANTS[k]][column] for k in (i, j))
            found = stats.paired(a, b)
            wins = int((both.better(column)[i] > both.better(column)[j]).sum())
            real = "yes" if not found.low <= 0 <= found.high else "no"
            cells = (
                SHORT[column], LABELS[VARIANTS[i]], LABELS[VARIANTS[j]],
                *(number(v, 2) for v in (found.value, found.low, found.high)),
                f"{wins} of {found.n}", real,
            )  # fmt: skip
            for name, cell in zip(names, cells, strict=True):
                table[name].append(cell)
    return table


def _rankings(both: Both) -> dict[str, list[Any]]:
    names = (
        "column",
        "paper, best first",
        "means, best first",
        "Reno best",
        "Sack worst",
        "the paper's order",
    )
    table: dict[str, list[Any]] = {name: [] for name in names}
    for column in COLUMNS:
        means = both.better(column).mean(axis=1)
        table["column"].append(SHORT[column])
        table["paper, best first"].append(_named(paper_order(column)))
        table["means, best first"].append(_named(np.argsort(-means)))
        for what, share in both.shares(column).items():
            table[what].append(f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})")
    return table


def _named(order: NDArray[np.intp]) -> str:
    return ", ".join(LABELS[VARIANTS[k]] for k in order)


def _delays(both: Both) -> dict[str, list[Any]]:
    printed = paper.figures(NAME)
    table: dict[str, list[Any]] = {name: [] for name in ("definition", *LABELS.values(), "runs")}
    table["definition"].append("paper")
    table["runs"].append("1")
    for variant, label in LABELS.items():
        table[label].append(f"{printed[f'{NAME}.table2.{variant}.delay_s']}")
    for definition, values in both.delays.items():
        table["definition"].append(DELAYS[definition])
        table["runs"].append(f"{len(values[0])}")
        for label, found in zip(LABELS.values(), values, strict=True):
            low, high = stats.central(found)
            scatter = f" ({low:.3f} to {high:.3f})" if len(found) > 1 else ""
            table[label].append(f"{found.mean():.3f}{scatter}")
    return table


def drawings(results: Results) -> Iterator[Drawing]:
    """Table 2 as clouds of runs."""
    both = Both.of(results)
    printed = paper.figures(NAME)
    n = both.better("throughput_packets_s").shape[1]
    yield Drawing(
        "table2",
        f"Table 2: each grey dot is one run of {SECONDS} s ({n} of each variant; fewer for time and delay); "
        "black: the mean with its 95% interval; red rings: the paper's one run. What differs between the "
        "paper's runs is what differs between any two runs.",
        lambda: pictures.clouds(
            {
                SHORT[column]: {
                    LABELS[variant]: (
                        both.columns[variant][column],
                        float(printed[f"{NAME}.table2.{variant}.{column}"]),  # type: ignore[arg-type]
                    )
                    for variant in VARIANTS
                }
                for column in COLUMNS
            },
            "table2",
        ),
    )


def text(results: Results) -> str:
    both = Both.of(results)
    n = both.better("throughput_packets_s").shape[1]
    best = both.shares("throughput_packets_s")["Reno best"]
    worst = both.shares("transfer_time_s")["Sack worst"]
    spread = float(np.std(both.better("throughput_packets_s")[1], ddof=1))
    means = {v: both.columns[v]["throughput_packets_s"].mean() for v in VARIANTS}
    printed = stats.mean(both.printed["reno"].throughput)
    widest = max(means.values()) - min(means.values())
    said = ", ".join(f"{LABELS[v]} {means[v]:.2f}" for v in VARIANTS)
    return f"""\
Here the paper ranks the four variants: Reno first in throughput, transfer time and delay, Sack behind. It
had one run of each. But one run of {SECONDS} s differs from another of the same variant by {spread:.1f}
packets/s (standard deviation), and the variants differ by {widest:.1f} at most ({said} packets/s, mean of
{n} runs).

So the paper's ranking is drawn by lot. A single run of each shows Reno with the best throughput in
{best.value:.0%} of {best.n} cases, and Sack with the longest transfer in {worst.value:.0%}; a quarter is
what four equal candidates would get. Compared pair by pair, under the same disconnections, the differences
called real below remain: Tahoe is the last, and NewReno and Sack are the first, as on wires. The verdict at
the end corrects for how many were looked at.

With bad periods of 8 packets, as printed, Reno manages {printed.value:.2f} packets/s: Table 2 too needs the
other reading.

**The delay** is the one column whose definition the paper leaves out. Six are tried below; first sending to
arrival is too short, and first sending to whichever ACK covers the packet too long. Nearest is what a
script finds that looks up, for each ACK in a trace, the packet with its number; what only a later ACK
covers has no line of its own and falls out. Two of the paper's four figures lie at the lower end of what
runs show by it, Sack's in the middle, and Reno's below."""


PART = Part("Table 2: disconnections and bit errors", rows=rows, drawings=drawings, tables=tables, text=text)
