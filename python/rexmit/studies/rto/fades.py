"""Test 4 with two kinds of fade: short ones, and long ones. One bad state makes all alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rexmit.studies.paper import figures
from rexmit.studies.rto.channel import Channel, excess
from rexmit.studies.rto.compared import columns
from rexmit.studies.rto.measured import samples, tests
from rexmit.studies.rto.setting import SEGMENTS, transfer
from rexmit.studies.study import Part

if TYPE_CHECKING:
    from rexmit.studies.rto.measured import Sample
    from rexmit.studies.study import Plan, Results

TEST = 4
NAME = "two kinds of fade"
#: Mean lengths of the two kinds, frames: chosen.
SHORT, LONG = 5.5, 27.5


@dataclass(frozen=True)
class Fades:
    """Two bad states beside each other, either of which hits every frame; and errors besides.

    short, long: probability per frame that a fade of that kind begins. loss_good: of an error while there is
    none.
    """

    short: float
    long: float
    loss_good: float

    def channels(self) -> list[dict[str, Any]]:
        """As a scenario writes it: one channel behind the other."""
        kinds = (("short", self.short, SHORT, self.loss_good), ("long", self.long, LONG, 0.0))
        return [
            Channel(begins, 1 / mean, loss).spec(name=f"{name}-fades") for name, begins, mean, loss in kinds
        ]

    def hits(self) -> NDArray[np.float64]:
        """From state to state with the next frame hit: neither fade, the long one, the short one, both."""
        one, two = (
            np.array([[1 - begins, begins], [1 / mean, 1 - 1 / mean]])
            for begins, mean in ((self.short, SHORT), (self.long, LONG))
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
        good = 1 / (1 + self.short * SHORT) / (1 + self.long * LONG)
        return 1 - good * (1 - self.loss_good)


@cache
def fitted() -> Fades:
    """Error rate and mean burst of the test, exactly; of such channels the one whose longest burst is as
    likely above the paper's as below. Raises ValueError where there is none.
    """
    paper: Any = figures("rto")
    rate, mean, longest = (
        float(paper[f"rto.table1.{TEST}.{key}"])
        for key in ("fer", "avg_error_frame_burst", "max_error_frame_burst")
    )
    begins = rate / (mean * (1 - rate))
    last: tuple[float, Fades] | None = None
    for often in np.geomspace(1e-6, 1e-2, 400):
        fades = _with(rate, begins, float(often))
        if fades is None:
            continue
        short_by = excess(fades, int(longest), SEGMENTS)
        if short_by <= 0 and last is not None:
            return fades if -short_by < last[0] else last[1]
        last = short_by, fades
    raise ValueError(f"no two kinds of fade give bursts of {mean} and {longest:g} frames at a rate of {rate}")


def _with(rate: float, begins: float, often: float) -> Fades | None:
    """Those of this rate and mean burst in which long fades begin so often.

    (1 - short)(1 - loss) = (1 - begins) / (1 - often), and
    (1 - loss) / (1 + short SHORT) = (1 - rate) (1 + often LONG).
    """
    keeps, arrives = (1 - begins) / (1 - often), (1 - rate) * (1 + often * LONG)
    # (1 - s)(1 + s SHORT) = keeps / arrives; the smaller root.
    inside = (SHORT - 1) ** 2 - 4 * SHORT * (keeps / arrives - 1)
    if inside < 0:
        return None
    short = (SHORT - 1 - inside**0.5) / (2 * SHORT)
    loss = 1 - keeps / (1 - short)
    return Fades(short, often, loss) if short >= 0 and 0 <= loss < 1 else None


def declare(runs: Plan, seeds: Sequence[int]) -> None:
    scenario = transfer(None).with_({"link.air.channel": fitted().channels()})
    runs.runs(NAME, scenario, seeds, ("flows", "idle", "retransmissions"), idle=0.005)


def _sample(results: Results) -> Sample:
    if f"{NAME}: samples" not in results:
        results[f"{NAME}: samples"] = samples(results[NAME])
    found: Sample = results[f"{NAME}: samples"][0]
    return found


def _tables(results: Results) -> dict[str, Any]:
    return {"test 4 with one kind of fade and with two": columns(
        results, TEST, {"one kind": tests(results)[TEST], "two kinds": _sample(results)})}  # fmt: skip


def _text(results: Results) -> str:
    two, one = _sample(results), tests(results)[TEST]
    burst = {name: float(np.nanmean(s["avg_lost_packet_burst"])) for name, s in (("one", one), ("two", two))}
    paper: Any = figures("rto")
    printed = float(paper[f"rto.table1.{TEST}.avg_lost_packet_burst"])
    fades = fitted()
    return f"""
One bad state cannot have bursts of 2.2 frames on average, a longest of 50, and {printed:g} lost packets in a
row at once. Two can: fades of {SHORT:g} frames, one in {1 / fades.short:,.0f}, and of {LONG:g} frames, one in
{1 / fades.long:,.0f}, beside single errors. Both lengths are chosen, the three rates fitted to the same three
columns as before. Packets are then lost {burst["two"]:.2f} in a row, with one kind {burst["one"]:.2f}.
Table I above is judged with one kind, as all tests are.
""".strip()


PART = Part("Test 4: two kinds of fade", text=_text, tables=_tables)
