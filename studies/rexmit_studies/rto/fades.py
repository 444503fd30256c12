"""Tests 1 and 4 with two kinds of fade: short ones, and long ones. One bad state makes all alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rexmit import stats
from rexmit_studies.paper import figures
from rexmit_studies.rto.channel import Channel, excess
from rexmit_studies.rto.compared import columns
from rexmit_studies.rto.measured import samples, tests
from rexmit_studies.rto.setting import SEGMENTS, transfer
from rexmit_studies.rto.table1 import paper_value
from rexmit_studies.study import Part

if TYPE_CHECKING:
    from rexmit_studies.rto.measured import Sample
    from rexmit_studies.study import Plan, Results

#: Mean lengths of the two kinds in each test, frames: chosen such that as many packets are lost in a row.
LENGTHS = {1: (4.5, 14.0), 4: (5.5, 27.5)}
NAME = "two kinds of fade"
#: The figure that the lengths are chosen by.
CHOSEN_BY = ("avg_lost_packet_burst",)


@dataclass(frozen=True)
class Fades:
    """Two bad states beside each other, either of which hits every frame; and errors besides.

    short, long: probability per frame that a fade of that kind begins. loss_good: of an error while there is
    none. lengths: their mean lengths, frames.
    """

    short: float
    long: float
    loss_good: float
    lengths: tuple[float, float]

    def channels(self) -> list[dict[str, Any]]:
        """As a scenario writes it: one channel behind the other."""
        kinds = zip(
            ("short", "long"), (self.short, self.long), self.lengths, (self.loss_good, 0.0), strict=True
        )
        return [
            Channel(begins, 1 / mean, loss).spec(name=f"{name}-fades") for name, begins, mean, loss in kinds
        ]

    def hits(self) -> NDArray[np.float64]:
        """From state to state with the next frame hit: neither fade, the long one, the short one, both."""
        one, two = (
            np.array([[1 - begins, begins], [1 / mean, 1 - 1 / mean]])
            for begins, mean in zip((self.short, self.long), self.lengths, strict=True)
        )
        hits: NDArray[np.float64] = np.kron(one, two) * np.array([self.loss_good, 1, 1, 1])
        return hits

    @property
    def burst_begins(self) -> float:
        """Probability that the frame behind one that arrived is erroneous."""
        return 1 - (1 - self.short) * (1 - self.long) * (1 - self.loss_good)

    @property
    def frame_error_rate(self) -> float:
        """Erroneous frames over all frames, in the long run."""
        short, long = self.lengths
        good = 1 / (1 + self.short * short) / (1 + self.long * long)
        return 1 - good * (1 - self.loss_good)


@cache
def fitted(test: int) -> Fades:
    """Error rate and mean burst of the test, exactly; of such channels the one whose longest burst is as
    likely above the paper's as below. Raises ValueError where there is none.
    """
    paper: Any = figures("rto")
    rate, mean, longest = (
        float(paper[f"rto.table1.{test}.{key}"])
        for key in ("fer", "avg_error_frame_burst", "max_error_frame_burst")
    )
    begins = rate / (mean * (1 - rate))
    last: tuple[float, Fades] | None = None
    for often in np.geomspace(1e-6, 1e-2, 400):
        fades = _with(rate, begins, float(often), LENGTHS[test])
        if fades is None:
            continue
        short_by = excess(fades, int(longest), SEGMENTS)
        if short_by <= 0 and last is not None:
            return fades if -short_by < last[0] else last[1]
        last = short_by, fades
    raise ValueError(f"no two kinds of fade give bursts of {mean} and {longest:g} frames at a rate of {rate}")


def _with(rate: float, begins: float, often: float, lengths: tuple[float, float]) -> Fades | None:
    """Those of this rate and mean burst in which long fades begin so often.

    (1 - short)(1 - loss) = (1 - begins) / (1 - often), and
    (1 - loss) / (1 + short SHORT) = (1 - rate) (1 + often LONG).
    """
    mean_short, mean_long = lengths
    keeps, arrives = (1 - begins) / (1 - often), (1 - rate) * (1 + often * mean_long)
    # (1 - s)(1 + s SHORT) = keeps / arrives; the smaller root.
    inside = (mean_short - 1) ** 2 - 4 * mean_short * (keeps / arrives - 1)
    if inside < 0:
        return None
    short = (mean_short - 1 - inside**0.5) / (2 * mean_short)
    loss = 1 - keeps / (1 - short)
    return Fades(short, often, loss, lengths) if short >= 0 and 0 <= loss < 1 else None


def declare(runs: Plan, seeds: Sequence[int]) -> None:
    each = [transfer(None).with_({"link.air.channel": fitted(test).channels()}) for test in LENGTHS]
    runs.runs(NAME, each, seeds, ("flows", "idle", "retransmissions"), idle=0.005)


def _samples(results: Results) -> dict[int, Sample]:
    if f"{NAME}: samples" not in results:
        results[f"{NAME}: samples"] = dict(zip(LENGTHS, samples(results[NAME]), strict=True))
    found: dict[int, Sample] = results[f"{NAME}: samples"]
    return found


def _tables(results: Results) -> dict[str, Any]:
    return {
        f"test {test} with one kind of fade and with two": columns(
            results, test, {"one kind": tests(results)[test], "two kinds": two}, CHOSEN_BY
        )
        for test, two in _samples(results).items()
    }


def _text(results: Results) -> str:
    told = []
    for test, two in _samples(results).items():
        burst = [stats.known_mean(s["avg_lost_packet_burst"]) for s in (two, tests(results)[test])]
        found, (short, long) = fitted(test), LENGTHS[test]
        told.append(
            f"in test {test} fades of {short:g} frames, one in {1 / found.short:,.0f}, and of {long:g} "
            "frames, one "
            f"in {1 / found.long:,.0f}, beside single errors: {burst[0]:.2f} packets are then lost in a "
            "row, with "
            f"one kind {burst[1]:.2f}, in the paper {paper_value(test, 'avg_lost_packet_burst'):g}"
        )
    return f"""
One bad state cannot have the paper's mean burst of frames, its longest, and its packets lost in a row at
once. Two
can: {"; ".join(told)}. The lengths are chosen by that last figure, the three rates fitted to the same three
columns
as before. Table I above is judged with one kind, as all tests are; the tables say how each figure of the
paper
stands under either reading.
""".strip()


PART = Part("Tests 1 and 4: two kinds of fade", text=_text, tables=_tables)
