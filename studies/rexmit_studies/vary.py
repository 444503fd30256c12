"""`--vary AXIS=a,b,c`: a study at several values of one of its axes, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rexmit.screen.notebook import Shown
from rexmit.screen.units import count
from rexmit_studies.own import Own
from rexmit_studies.progress import Watch
from rexmit_studies.run import Outcome, run_each
from rexmit_studies.verdict import Judged

if TYPE_CHECKING:
    from rexmit_studies.axes import Axis, Value
    from rexmit_studies.study import Row, Statement, Study

One = TypeVar("One", "Row", "Statement", Judged)


@dataclass(frozen=True)
class Line:
    """A figure at each value; None: it is left out there. section: the title of its part of the study."""

    section: str
    rows: tuple[Row | None, ...]

    @property
    def first(self) -> Row:
        """At the first value that has it."""
        return next(row for row in self.rows if row is not None)

    @property
    def definition(self) -> str:
        """What was computed, with an ellipsis for each word that differs from value to value."""
        said = [row.definition.split(" ") for row in self.rows if row is not None]
        if len({len(words) for words in said}) > 1:
            return self.first.definition
        return " ".join(each[0] if len(set(each)) == 1 else "…" for each in zip(*said, strict=True))


@dataclass(repr=False)
class Variation(Shown):
    """A study that was run at several values of an axis.

    own: what else the user sets. values: in the axis's unit. outcomes: of each value, as far as it was run.
    stopped: whether it was ended early.
    """

    study: Study
    axis: Axis
    own: Own
    values: list[Value]
    outcomes: list[Outcome]
    stopped: bool = False

    def page(self) -> str:
        """The answer as `rexmit study run --vary` prints it."""
        from rexmit_studies import vary_terminal

        return "\n".join(vary_terminal.page(self))

    def _line(self) -> str:
        values = ", ".join(self.heads())
        return f"study {self.study.name} by {self.axis.name} ({values}): {count(len(self.lines()), 'figure')}"

    @property
    def quick(self) -> bool:
        """Whether it was run with the fewest runs."""
        return self.outcomes[0].quick

    @property
    def factor(self) -> float:
        """Times as many runs as usual."""
        return self.outcomes[0].factor

    @property
    def replications(self) -> int:
        """Runs in all; those that several values have alike were made once."""
        return sum(outcome.replications for outcome in self.outcomes)

    @property
    def seconds(self) -> float:
        """What runs and their reading took."""
        return sum(outcome.seconds for outcome in self.outcomes)

    def heads(self) -> list[str]:
        """The values with their unit, as the columns are headed."""
        return [self.axis.shown(value) for value in self.values]

    def of_paper(self, place: int) -> bool:
        """Whether a column is the paper's experiment."""
        return not self.outcomes[place].own

    def lines(self) -> list[Line]:
        """The figures that depend on the axis, in the order of the study."""
        sections = {
            row.key: section.title
            for outcome in self.outcomes
            for section in outcome.sections
            for row in section.rows
        }
        each = [{row.key: row for row in outcome.rows} for outcome in self.outcomes]
        order = {outcome: place for place, outcome in enumerate(dict.fromkeys(sections.values()))}
        found = [Line(sections[key], tuple(rows.get(key) for rows in each)) for key in self._depending(each)]
        return sorted(found, key=lambda line: order[line.section])

    def statements(self) -> dict[str, tuple[Statement | None, ...]]:
        """The statements that depend on the axis, at each value."""
        each = [{one.key: one for one in outcome.statements} for outcome in self.outcomes]
        return {key: tuple(found.get(key) for found in each) for key in self._depending(each)}

    def claims(self) -> dict[str, tuple[Judged | None, ...]]:
        """The claims that depend on the axis, at each value."""
        each = [{one.claim.key: one for one in outcome.claims} for outcome in self.outcomes]
        return {key: tuple(found.get(key) for found in each) for key in self._depending(each)}

    def _depending(self, each: Sequence[dict[str, One]]) -> list[str]:
        return [key for key in dict.fromkeys(key for found in each for key in found) if self.axis.moves(key)]

    def yours(self) -> dict[str, tuple[str, ...]]:
        """What is said of each value in parts whose figures do not have it; empty at the paper's."""
        each = [{section.title: section.text for section in outcome.sections} for outcome in self.outcomes]
        titles = dict.fromkeys(title for texts in each for title, text in texts.items() if text)
        return {title: tuple(texts.get(title, "") for texts in each) for title in titles}

    def keys(self) -> list[str]:
        """All figures, statements and claims that some value has."""
        named: list[str] = []
        for outcome in self.outcomes:
            named += [row.key for row in outcome.rows] + [one.key for one in outcome.statements]
            named += [judged.claim.key for judged in outcome.claims]
        return list(dict.fromkeys(named))

    def belong(self) -> list[str]:
        """Keys of what does not depend on the axis: it belongs to the paper's value, and is left out."""
        return [key for key in self.keys() if not self.axis.moves(key)]

    def left_out(self) -> list[str]:
        """What is missing at some value, each sentence once, with the values."""
        return self._said([self._lacking(outcome) for outcome in self.outcomes])

    def failures(self) -> list[str]:
        """What went wrong, likewise."""
        return self._said([outcome.failures for outcome in self.outcomes])

    def _lacking(self, outcome: Outcome) -> list[str]:
        if self.stopped and outcome.left_out and not outcome.replications:
            return ["stopped before it was run"]
        # A figure that does not depend on the axis is left out as a whole.
        return [one for one in outcome.left_out if not self._belongs(one)]

    def _belongs(self, sentence: str) -> bool:
        key = sentence.partition(": ")[0]
        return key.startswith(f"{self.study.name}.") and not self.axis.moves(key)

    def _said(self, each: Sequence[Sequence[str]]) -> list[str]:
        at: dict[str, list[str]] = {}
        for head, sentences in zip(self.heads(), each, strict=True):
            for sentence in sentences:
                at.setdefault(sentence, []).append(head)
        every = len(self.values)
        return [
            sentence if len(heads) == every else f"at {', '.join(heads)}: {sentence}"
            for sentence, heads in at.items()
        ]

    def title(self) -> str:
        """What is varied, and what else the user sets."""
        values = ", ".join(
            f"{head} (the paper's)" if self.of_paper(place) else head
            for place, head in enumerate(self.heads())
        )
        more = f", with {', '.join(self.own.origin)}" if self.own else ""
        return (
            f"The same experiment at several values of {self.axis.name} ({self.axis.about}): {values}{more}"
        )

    def command(self) -> str:
        """What makes it again."""
        words = [f"--vary {self.axis.name}={','.join(map(self.axis.written, self.values))}"]
        words += self.own.command
        if self.quick:
            words.append("--quick")
        if self.factor != 1:
            words.append(f"--replications {self.factor:g}")
        return f"rexmit study run {self.study.origin or self.study.name} {' '.join(words)}"


def vary(
    study: Study,
    axis: Axis,
    values: Sequence[tuple[Value, Own]],
    own: Own,
    *,
    quick: bool = False,
    factor: float = 1.0,
    watch: Watch | None = None,
    into: Path | None = None,
) -> Variation:
    """Runs a study at each value. own: what else the user sets. The rest is as for `run_each`."""
    watch = watch or Watch()
    jobs = [(study, mine) for _, mine in values]
    outcomes = list(run_each(jobs, quick=quick, factor=factor, watch=watch, then=_light, into=into))
    return Variation(study, axis, own, [value for value, _ in values], outcomes, watch.stopped)


def _light(outcome: Outcome) -> None:
    """Lets go what holds the runs: the figure of a variation needs the rows only."""
    for section in outcome.sections:
        section.drawings, section.tables = [], {}
        # A text on the paper's values is long, and says nothing of others.
        section.text = section.text if outcome.own.axes else ""
