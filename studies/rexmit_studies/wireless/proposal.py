"""The paper's proposal: fast recovery instead of slow start after a timeout; tried with paired runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies.rows import given, stated
from rexmit_studies.study import Drawing, Part, Plan, Results, Row
from rexmit_studies.wireless import pictures
from rexmit_studies.wireless.measures import LABELS, NAME, counts, load, random_outages, table2

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rexmit.scenario import Scenario

    Numbers = NDArray[np.float64]

TRIED = ("reno", "newreno", "sack")
SECONDS = 200
OTHER = (5.0, 2.0)
#: RFC 6298's least RTO, and one that lets the timer follow the RTT, as ns-2's of 1998 did.
LEAST_RTO = ("1s", "200ms")
AFTER = ("slow start", "fast recovery")


def points() -> list[tuple[tuple[float, float], str, str, str]]:
    """Mean up and down time, least RTO, variant, and what follows a timeout."""
    each = ((table2(), "1s"), (OTHER, "1s"), (table2(), "200ms"))
    return [
        (outage, least, variant, after)
        for outage, least in dict.fromkeys(each)
        for variant in TRIED
        for after in AFTER
    ]


def main() -> tuple[tuple[float, float], str]:
    """The disconnections of Table 2."""
    return table2(), "1s"


def _scenario(outage: tuple[float, float], least: str, variant: str, after: str) -> Scenario:
    stack = f"mobile-{variant}"
    keys = {"flow.ftp.stack": stack, f"stack.{stack}.rto.min": least, "duration": f"{SECONDS}s"}
    if after == "fast recovery":
        keys[f"stack.{stack}.recovery.after_timeout"] = "fast-recovery"
    return load("wireless-proposal", random_outages(*outage) | keys)


def on_average() -> str:
    """`2.0 s up and 0.3 s down on average`."""
    up, down = table2()
    return f"{up:.1f} s up and {down:.1f} s down on average"


def declare(plan: Plan) -> None:
    """Each variant with and without the proposal, under the same disconnections."""
    plan.runs("proposal", [_scenario(*point) for point in points()], plan.seeds(100))


@dataclass(frozen=True)
class Pair:
    """One variant without and with the proposal, seed by seed: new packets/s, and the share resent."""

    without: Numbers
    with_it: Numbers
    resent_without: Numbers
    resent_with: Numbers

    @property
    def gain(self) -> stats.Estimate:
        """Packets/s that the proposal adds, pair by pair."""
        return stats.paired(self.with_it, self.without)

    @property
    def relative(self) -> float:
        """The same as a share of the mean without it."""
        return self.gain.value / float(self.without.mean())


def pairs(results: Results) -> dict[tuple[tuple[float, float], str, str], Pair]:
    """By mean up and down time, least RTO and variant."""
    found = dict(zip(points(), counts(results["proposal"]), strict=True))
    made = {}
    for outage, least, variant, after in points():
        if after == "fast recovery":
            old, new = (found[outage, least, variant, each] for each in AFTER)
            made[outage, least, variant] = Pair(
                old.delivered, new.delivered, old.resent / old.sent, new.resent / new.sent
            )
    return made


def rows(results: Results) -> Iterator[Row]:
    """The proposal itself."""
    found = pairs(results)
    said = ", ".join(f"{LABELS[v]} {found[*main(), v].relative:+.0%}" for v in TRIED)
    better = all(found[*main(), v].gain.low > 0 for v in TRIED)
    tried = stated(
        f"{NAME}.proposal.text", f"throughput with it: {said}", better,
        f"what was tried: RFC senders with the paper's window and packets, {on_average()}, "
        "paired; the window after a timeout is half of what was in flight, in place of one packet",
        "it does not raise the throughput of all three",
    )  # fmt: skip
    yield given(tried)


def tables(results: Results) -> dict[str, Any]:
    """What it does, by disconnections, least RTO and variant."""
    names = ("up_s", "down_s", "least RTO", "variant", "slow start (packets/s)", "fast recovery (packets/s)",
             "gain", "from", "to", "better in", "resent before", "resent with it")  # fmt: skip
    table: dict[str, list[Any]] = {name: [] for name in names}
    for (outage, least, variant), pair in pairs(results).items():
        gain, wins = pair.gain, int((pair.with_it > pair.without).sum())
        cells = (
            *outage, least, LABELS[variant],
            *(round(float(v.mean()), 2) for v in (pair.without, pair.with_it)),
            *(round(v, 2) for v in (gain.value, gain.low, gain.high)), f"{wins} of {gain.n}",
            *(f"{float(v.mean()):.1%}" for v in (pair.resent_without, pair.resent_with)),
        )  # fmt: skip
        for name, cell in zip(names, cells, strict=True):
            table[name].append(cell)
    return {"proposal": table}


def drawings(results: Results) -> Iterator[Drawing]:
    """Run by run."""
    found = pairs(results)
    yield Drawing(
        "proposal",
        f"The paper's proposal: each grey line is one course of disconnections ({on_average()}), "
        "met by the same sender with slow start and with fast recovery after a timeout; black and "
        "red: means with their 95% intervals.",
        lambda: pictures.pairs(
            {LABELS[v]: (found[*main(), v].without, found[*main(), v].with_it) for v in TRIED},
            ("slow start", "fast recovery"),
            "new packets/s",
            "proposal",
        ),
    )


def text(results: Results) -> str:
    found = pairs(results)
    gains = [found[*main(), v].relative for v in TRIED]
    more = [
        float(v.mean()) for v in (found[*main(), "reno"].resent_without, found[*main(), "reno"].resent_with)
    ]
    return f"""\
The paper ends with a proposal that it does not try: let Reno, NewReno and Sack go through fast recovery
instead of slow start after a timeout. rexmit's senders by the RFCs can (`after_timeout = "fast-recovery"`);
ns-2's cannot. They have the paper's path, window, packets and an ACK for each packet, and after a timeout
either one packet or half of what was in flight.

**It helps**: {min(gains):.0%} to {max(gains):.0%} more new packets per second under Table 2's
disconnections, since the pipe is empty after an outage and slow start takes a second to fill it, half of
the two that the link stays up. It resends more ({more[0]:.0%} of all packets before, {more[1]:.0%} with
it): after a lost ACK, packets go out again that had arrived. What it would do where a full queue took the
packets was not asked by the paper, and is not tried here: there the timer's caution is for a reason (RFC
5681, section 3.1)."""


PART = Part("The proposal", rows=rows, drawings=drawings, tables=tables, text=text)
