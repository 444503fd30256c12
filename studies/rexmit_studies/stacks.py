"""`study run all --stacks A,B`: which of the papers' claims would hold had their senders run these stacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.screen import say
from rexmit.screen.notebook import Shown
from rexmit.screen.units import count
from rexmit_studies import answer, cells, vary_cells, vary_output
from rexmit_studies.html import document
from rexmit_studies.own import Own
from rexmit_studies.page import Block, Grid, Heading, Text, markdown
from rexmit_studies.progress import Watch
from rexmit_studies.terminal import hanging
from rexmit_studies.vary import Variation, vary

if TYPE_CHECKING:
    from rexmit.files.destination import Destination
    from rexmit_studies.axes import Axis, Value
    from rexmit_studies.study import Study

#: The axis of a study that is its sender's stack.
STACK = "stack"
#: What `write` writes.
FILES = ("stacks.md", "stacks.html", "results.json")
#: A study with its axis, and what is set at each of its values: the paper's stack first.
Job = tuple["Study", "Axis", list[tuple["Value", Own]]]


@dataclass(repr=False)
class UnderStacks(Shown):
    """Studies that were run under several stacks. without: names of studies that take no part, and why."""

    stacks: list[str]
    found: list[Variation]
    without: dict[str, str]

    def page(self) -> str:
        """The answer as `rexmit study run --stacks` prints it."""
        return "\n".join(lines(self))

    def _line(self) -> str:
        return f"{count(len(self.found), 'study', 'studies')} under {', '.join(self.stacks)}"

    @property
    def replications(self) -> int:
        """Runs in all."""
        return sum(one.replications for one in self.found)


def jobs_of(studies: Sequence[Study], stacks: Sequence[str]) -> tuple[list[Job], dict[str, str]]:
    """What is run, and which studies take no part. Raises ValueError, with the nearest name, for what is no
    stack, before anything runs.
    """
    if not stacks:
        raise ValueError("--stacks: no stack is named; linux-6-cubic,linux-6-bbr for example (rexmit stacks)")
    jobs: list[Job] = []
    without: dict[str, str] = {}
    for study in studies:
        axis = next((axis for axis in study.axes if axis.name == STACK), None)
        if axis is None:
            without[study.name] = "it has no axis for the stack"
            continue
        named = [axis.parsed(stack, f"--stacks {stack}") for stack in stacks]
        values = [(axis.paper, Own())]
        for value in dict.fromkeys(named):
            if value != axis.paper:
                values.append((value, Own(origin=(f"{STACK}={value}",), axes=((axis, value),))))
        jobs.append((study, axis, values))
    if not jobs:
        reasons = "; ".join(f"{name}: {why}" for name, why in without.items())
        raise ValueError(f"--stacks: no study takes part ({reasons})")
    return jobs, without


def under(
    jobs: Sequence[Job],
    without: dict[str, str],
    *,
    quick: bool = False,
    factor: float = 1.0,
    watch: Watch | None = None,
    into: Path | None = None,
) -> UnderStacks:
    """Runs them. The rest is as for `rexmit_studies.run.run_each`."""
    watch = watch or Watch()
    found = [
        vary(study, axis, values, Own(), quick=quick, factor=factor, watch=watch, into=into)
        for study, axis, values in jobs
    ]
    stacks = list(dict.fromkeys(str(value) for one in found for value in one.values[1:]))
    return UnderStacks(stacks, found, without)


def table(found: UnderStacks) -> tuple[list[str], list[list[str]]]:
    """Head and rows: a claim that depends on the stack, and its verdict under each stack."""
    rows = []
    for one in found.found:
        for key, each in one.claims().items():
            at = dict(zip(map(str, one.values), map(vary_cells.verdict, each), strict=True))
            papers = str(one.axis.paper)
            others = [
                at.get(stack, at[papers] if stack == papers else vary_cells.NONE) for stack in found.stacks
            ]
            rows.append([one.study.name, vary_cells.claim_text(key), f"{at[papers]} ({papers})", *others])
    return ["study", "the paper claims", "under the paper's stack", *found.stacks], rows


def _beside(found: UnderStacks) -> list[str]:
    """Sentences below the table."""
    said = [f"study {name} takes no part: {why}" for name, why in found.without.items()]
    for one in found.found:
        if named := [cells.short(key) for key in one.belong() if ".claim." in key]:
            said.append(
                f"{one.study.name}: these claims are judged on the paper's stack only: {', '.join(named)}"
            )
        said += [f"{one.study.name}, left out: {sentence}" for sentence in one.left_out()]
    return said


def lines(found: UnderStacks) -> list[str]:
    """On the terminal: each claim, and a line below it for each stack."""
    head, rows = table(found)
    width = max(len(name) for name in head[2:])
    told = [
        f"{count(found.replications, 'run')}; claims corrected for all tests of a study under a stack",
        "",
    ]
    for name, claim, *verdicts in rows:
        told += hanging(f"{name}: ", claim)
        told += [f"    {stack:<{width}}  {said}" for stack, said in zip(head[2:], verdicts, strict=True)]
        told.append("")
    return told + [line for sentence in _beside(found) for line in hanging("  ", cells.sentence(sentence))]


def blocks(found: UnderStacks, command: str) -> list[Block]:
    """The page."""
    head, rows = table(found)
    marked = [[*row[:2], *(f"**{cell}**" for cell in row[2:])] for row in rows]
    made: list[Block] = [
        Heading(1, f"The papers' claims under {', '.join(found.stacks)}"),
        Text(
            "Each verdict is corrected by Holm's method for everything that its study tests under that stack."
        ),
        Grid(head, marked, [False] * len(head)),
        Heading(2, "How it was made"),
    ]
    said = [f"{say.code(command)} makes this page again ({count(found.replications, 'run')})."]
    said += [say.markdown(cells.sentence(sentence)) for sentence in _beside(found)]
    said += [f"Failed: {say.markdown(one)}." for each in found.found for one in each.failures()]
    return [*made, Text("\n\n".join(said))]


def told(found: UnderStacks) -> dict[str, Any]:
    """The answer as JSON: each study that takes part as `--vary stack=…` has it."""
    return {
        "rexmit": _core.__version__,
        "format": answer.FORMAT,
        "stacks": found.stacks,
        "studies": [vary_output.told(one) for one in found.found],
        "without": [{"study": name, "why": why} for name, why in found.without.items()],
    }


def write(found: UnderStacks, into: Destination, command: str) -> str:
    """Writes the page and results.json; returns a sentence that says where. command: what makes it again."""
    page = blocks(found, command)
    with into.file("stacks.md") as (path,):
        path.write_text(markdown(page, lambda _: None), encoding="utf-8")
    with into.file("stacks.html") as (path,):
        path.write_text(
            document("The papers' claims under other stacks", page, lambda _: None), encoding="utf-8"
        )
    with into.file("results.json") as (path,):
        path.write_text(say.as_json(told(found), 1) + "\n", encoding="utf-8")
    return f"wrote {into.path / 'stacks.html'} and {into.path / 'results.json'}"
