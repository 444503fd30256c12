"""The page of a variation: Markdown and HTML are made from the same blocks as a study's own page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rexmit.screen import say
from rexmit.screen.units import count
from rexmit_studies import cells, paper, vary_cells, vary_figure
from rexmit_studies.page import Block, Grid, Heading, Picture, Text
from rexmit_studies.vary_terminal import ran

if TYPE_CHECKING:
    from rexmit_studies.vary import Line, Variation

#: Above this many characters a cell is a sentence, which is not aligned as a number.
LONGEST = 30


def picture(found: Variation) -> str:
    """The stem of the figure's file."""
    return f"by_{found.axis.name}"


def blocks(found: Variation, timed: bool = True) -> list[Block]:
    """The whole page. timed: whether it says how long the runs took."""
    made: list[Block] = [
        Heading(1, f"{found.study.title}, by {found.axis.name}"),
        Text(f"*{found.study.source}*"),
        Text(f"**{cells.sentence(found.title())}**"),
    ]
    if found.quick:
        made.append(Text("**A quick run: too few runs to judge by.**"))
    if any(map(found.of_paper, range(len(found.values)))):
        made.append(Text(say.markdown(f"{vary_cells.STAR}.")))
    made += _verdicts(found)
    if vary_figure.panels(found):
        made += [
            Heading(2, f"The figures against {found.axis.name}"),
            Picture(picture(found), say.markdown(vary_figure.caption(found))),
        ]
    for section, groups in vary_cells.by_section(found.lines()).items():
        made += [Heading(2, section), _table(found, groups)]
    made += _yours(found)
    made += _statements(found)
    made += _claims(found)
    made += _made_by(found, timed)
    return made


def _heads(found: Variation) -> list[str]:
    return [say.markdown(head) for head in vary_cells.heads(found)]


def _verdicts(found: Variation) -> list[Block]:
    rows = [
        [vary_cells.claim_text(key), *(f"**{vary_cells.verdict(judged)}**" for judged in each)]
        for key, each in found.claims().items()
    ]
    if not rows:
        return []
    head = ["the paper claims", *_heads(found)]
    return [Heading(2, "What its claims come to"), Grid(head, rows, [False] * len(head))]


def _table(found: Variation, groups: dict[str, list[Line]]) -> Grid:
    rows: list[list[str]] = []
    for definition, lines in groups.items():
        rows.append([definition])
        rows += [[f"`{cells.short(one.first.key)}`", *vary_cells.line(one), one.first.unit] for one in lines]
    marks = ["definition" if len(row) == 1 else "" for row in rows]
    whole = [row for row in rows if len(row) > 1]
    numbers = max(len(cell) for row in whole for cell in row[1:-1]) <= LONGEST
    head = ["figure", "paper", *_heads(found), "unit"]
    aligned = [False, *[numbers] * (len(head) - 2), False]
    if not any(row[-1] for row in whole):
        head, aligned = head[:-1], aligned[:-1]
        rows = [row if len(row) == 1 else row[:-1] for row in rows]
    return Grid(head, rows, aligned, marks)


def _yours(found: Variation) -> list[Block]:
    made: list[Block] = []
    for section, each in found.yours().items():
        lines = [
            f"- {head}: {say.markdown(said)}" for head, said in zip(found.heads(), each, strict=True) if said
        ]
        made += [Heading(2, f"{section}: what is no figure of the paper"), Text("\n".join(lines))]
    return made


def _statements(found: Variation) -> list[Block]:
    made = found.statements()
    if not made:
        return []
    known = paper.statements(found.study.name)
    rows = [[known[key].figure, known[key].text, *map(vary_cells.agrees, each)] for key, each in made.items()]
    head = ["the paper's", "shows, it says", *_heads(found)]
    return [Heading(2, "What it says of its figures"), Grid(head, rows, [False] * len(head))]


def _claims(found: Variation) -> list[Block]:
    made: list[Block] = []
    for key, each in found.claims().items():
        made.append(Heading(3, vary_cells.claim_text(key)))
        lines = []
        for head, judged in zip(found.heads(), each, strict=True):
            if judged:
                said = f"{cells.sentence(judged.claim.evidence)} {vary_cells.effect(judged)}"
                lines.append(f"- {head}: **{judged.told}.** {said}")
        made.append(Text("\n".join(lines)))
    if not made:
        return []
    explained = (
        "At each value the p values are corrected by Holm's method for everything that the study tests."
    )
    return [Heading(2, "The claims, with their evidence"), Text(explained), *made]


def _made_by(found: Variation, timed: bool) -> list[Block]:
    told = ran(found) if timed else count(found.replications, "run")
    lines = [f"{say.code(found.command())} makes this page again ({told})."]
    if belongs := vary_cells.belongs(found):
        lines.append(say.markdown(cells.sentence(belongs)))
    lines += [f"Left out: {say.markdown(sentence)}." for sentence in found.left_out()]
    lines += [f"Failed: {say.markdown(sentence)}." for sentence in found.failures()]
    return [Heading(2, "How it was made"), Text("\n\n".join(lines))]
