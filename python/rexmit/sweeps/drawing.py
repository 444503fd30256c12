"""The figures of a sweep: which rows go into which, by keys, flow and measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rexmit.sweeps import differences, summaries
from rexmit.sweeps.measures import MEASURES, Measure
from rexmit.sweeps.plan import Plan
from rexmit.sweeps.summaries import Values

if TYPE_CHECKING:
    from rexmit.figures.style import Figure

#: Lines, and paired differences, that one figure shows.
LINES, PAIRS = 8, 40
_UNITS = {"rate": "bps", "time": "s", "number": ""}


class Drawing:
    """Figures of one flow and measure, at the points where `where` holds.

    Raises ValueError for a measure, a flow or a key that is none.
    """

    def __init__(
        self, plan: Plan, values: Values, measure: str, flow: str | None, where: Mapping[str, str] | None
    ) -> None:
        self._plan = plan
        self.measure = _measure(measure)
        flows = list(dict.fromkeys(flow for _, flow in values))
        self.flow = flow if flow is not None else next(iter(flows), "")
        if self.flow not in flows:
            raise ValueError(f"{self.flow or 'no flow'} is no flow that counts ({', '.join(flows)})")
        fixed = dict(where or {})
        for key in fixed:
            self._known(key)
        self._values = {
            which: x
            for which, x in values.items()
            if which[1] == self.flow
            and all(plan.values(which[0])[key] == value for key, value in fixed.items())
        }
        if not self._values:
            raise ValueError(f"no point has {', '.join(f'{key}={value}' for key, value in fixed.items())}")
        self._fixed = fixed

    def _known(self, key: str) -> str:
        if key not in self._plan.keys:
            raise ValueError(f"{key} is not varied ({', '.join(self._plan.keys) or 'nothing is'})")
        return key

    @property
    def free(self) -> list[str]:
        """Keys that have several values here."""
        points = [self._plan.values(point) for point, _ in self._values]
        return [key for key in self._plan.keys if len({row[key] for row in points}) > 1]

    def curves(self, along: str | None = None) -> Figure:
        """Means with bands along a key; a line for each combination of the others."""
        from rexmit import figures

        free = self.free
        numeric = [key for key in free if self._plan.columns[key][1]]
        if along is None and not free:
            raise ValueError("nothing is varied here, so there is nothing to draw along")
        key = next(iter(numeric or free)) if along is None else self._known(along)
        axis = next(axis for axis in self._plan.axes if key in axis.keys)
        # Keys that were sampled together change together: they are no lines.
        lines = [other for other in free if other not in axis.keys]
        rows = self._rows(lines)
        self._few({row["line"] for row in rows}, lines)
        written, number = self._plan.columns[key]
        return figures.curves(
            rows,
            number or written,
            *self._words(),
            label=_axis_label(self._plan, key),
            key=key,
            written=written,
            joined=len(axis.keys) == 1,
        )

    def heat_map(self, across: str | None = None, up: str | None = None) -> Figure:
        """Means at each pair of two keys' values."""
        from rexmit import figures

        free = self.free
        if len(free) < 2:
            raise ValueError(f"a map has two keys, and here {', '.join(free) or 'none'} varies")
        x = self._known(across or next(key for key in free if key != up))
        y = self._known(up or next(key for key in free if key != x))
        rest = [key for key in free if key not in (x, y)]
        if rest or x == y:
            raise ValueError(f"a map has two keys; say which value of {', '.join(rest) or x} with where=")
        columns = [self._plan.columns[key][0] for key in (x, y)]
        return figures.heat_map(self._rows([]), columns[0], columns[1], *self._words(), labels=(x, y))

    def distributions(self) -> Figure:
        """Where single runs lie, a line for each point."""
        from rexmit import figures

        free = self.free
        points = {self._told(point, free): x[self.measure.column] for (point, _), x in self._values.items()}
        self._few(set(points), free)
        return figures.distributions(points, *self._words())

    def differences(self) -> Figure:
        """Paired differences with their intervals."""
        from rexmit import figures

        rows = [
            row | {"words": self._less(row)}
            for row in differences.rows(self._plan, self._values)
            if row["measure"] == self.measure.column
        ]
        if not rows:
            raise ValueError("nothing is paired here: --pair KEY pairs the values of a key")
        if len(rows) > PAIRS:
            raise ValueError(f"{len(rows)} pairs are too many for a figure: say which with where=")
        return figures.differences(rows, *self._words())

    def _less(self, row: dict[str, Any]) -> str:
        """Of a paired difference: what is told apart, and what it is taken from."""
        return f"{self._told(row['point'], self._plan.keys)}, less {row['against'].partition('=')[2]}"

    def _rows(self, lines: list[str]) -> list[dict[str, Any]]:
        return [
            row | {"line": self._told(row["point"], lines)}
            for row in summaries.rows(self._plan, self._values)
            if row["measure"] == self.measure.column
        ]

    def _told(self, point: int, keys: Any) -> str:
        values = self._plan.values(point)
        return ", ".join(f"{key.rpartition('.')[2]} {values[key]}" for key in keys)

    def _few(self, lines: set[str], keys: list[str]) -> None:
        if len(lines) > LINES:
            raise ValueError(
                f"{len(lines)} lines are too many for a figure: say which value of {' or '.join(keys)} with "
                "where="
            )

    def _words(self) -> tuple[str, str, str]:
        said = ", ".join(f"{key}={value}" for key, value in self._fixed.items())
        name = f"{self._plan.name}, {self.flow}" + (f", {said}" if said else "")
        return self.measure.noun, _UNITS[self.measure.kind], name


def every(plan: Plan, values: Values) -> Iterator[tuple[str, Figure]]:
    """The figures of the goodput that a plan allows, flow by flow, with their names."""
    for flow in dict.fromkeys(flow for _, flow in values):
        drawing = Drawing(plan, values, "goodput", flow, None)
        for name in ("curves", "heat_map", "distributions", "differences"):
            try:
                drawn: Figure = getattr(drawing, name)()
            except ValueError:
                # Too many lines, one key only, nothing paired: that figure has no sense here.
                continue
            yield f"{drawn.name}-{flow}", drawn


def _measure(name: str) -> Measure:
    from difflib import get_close_matches

    if name not in MEASURES:
        near = get_close_matches(name, MEASURES, 1, 0.6)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ValueError(f"{name} is no measure; {hint}({', '.join(MEASURES)})")
    return MEASURES[name]


def _axis_label(plan: Plan, key: str) -> str:
    numeric = plan.columns[key][1]
    unit = (numeric or "").rpartition("_")[2]
    return f"{key} ({unit})" if numeric and unit != "number" else key
