"""`--until "goodput ±1%"`: whether the mean of every point is known well enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from rexmit.sweeps import quantities
from rexmit.sweeps.measures import MEASURES, Measure
from rexmit.sweeps.plan import Plan

_TEXT = re.compile(r"\s*(?:(?P<flow>[^\s]+)\s+)?(?P<measure>[a-z_-]+)\s*(?:±|\+-|\+/-)\s*(?P<width>\S.*?)\s*")


@dataclass(frozen=True)
class Wish:
    """A half-width of the 95% interval of a measure's mean: a share of the mean, or in the measure's unit."""

    measure: Measure
    width: float
    relative: bool
    flow: str | None = None


def read(text: str) -> Wish:
    """Raises ValueError for what names no measure, or no width of its kind."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f'--until {text!r}: a measure and a width, as in "goodput ±1%" or "duration ±10ms"')
    measure = MEASURES.get(match["measure"])
    if measure is None:
        near = get_close_matches(match["measure"], MEASURES, 1, 0.6)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ValueError(f"--until {text!r}: {match['measure']} is no measure; {hint}({', '.join(MEASURES)})")
    width = quantities.read(match["width"])
    relative = width is not None and width.unit == "%"
    if width is None or width.value <= 0 or not (relative or width.kind.name == measure.kind):
        raise ValueError(
            f"--until {text!r}: {match['width']} is no {measure.kind} above 0, and no share as 1% is"
        )
    return Wish(measure, float(width.value), relative, match["flow"])


class Judge:
    """Means and deviations of what is wished, point by point, from the rows of whole rounds."""

    def __init__(self, plan: Plan) -> None:
        self._points = plan.points
        self.wishes = [read(text) for text in plan.until]
        #: By wish, flow and point: n, mean, sum of squares (Welford), in the order of the plan.
        self._found: dict[tuple[int, str], list[tuple[int, float, float]]] = {}

    @property
    def columns(self) -> list[str]:
        """What it reads of the runs."""
        return ["point", "flow", *dict.fromkeys(wish.measure.column for wish in self.wishes)]

    def add(self, batches: Iterable[Any]) -> None:
        """Takes in rows of `runs`."""
        for batch in batches:
            points, flows = batch.column("point").to_pylist(), batch.column("flow").to_pylist()
            for k, wish in enumerate(self.wishes):
                values = batch.column(wish.measure.column).to_pylist()
                for point, flow, value in zip(points, flows, values, strict=True):
                    if flow is not None and wish.flow in (None, flow):
                        self._take(k, flow, point, value)

    def _take(self, wish: int, flow: str, point: int, value: float | None) -> None:
        every = self._found.setdefault((wish, flow), [(0, 0.0, 0.0)] * self._points)
        if value is not None:
            n, mean, squares = every[point]
            step = value - mean
            mean += step / (n + 1)
            every[point] = (n + 1, mean, squares + step * (value - mean))

    def wide(self) -> list[tuple[Wish, str, int]]:
        """What is not known well enough yet: wish, flow and point."""
        return [
            (self.wishes[k], flow, point)
            for (k, flow), every in self._found.items()
            for point, found in enumerate(every)
            if not _is_narrow(self.wishes[k], found)
        ]


def _is_narrow(wish: Wish, found: Sequence[float]) -> bool:
    from math import sqrt

    from rexmit.stats import student

    n, mean, squares = int(found[0]), found[1], found[2]
    if n < 2:
        return False
    half = student(n) * sqrt(squares / (n - 1) / n)
    return half <= (wish.width * abs(mean) if wish.relative else wish.width)
