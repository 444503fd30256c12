"""A study's page: what was asked, the verdicts, each part with its table and figures. Markdown and HTML are
made from the same blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rexmit.report.grades import GRADES
from rexmit.screen import say
from rexmit.screen.units import count
from rexmit_studies import cells, grades, paper
from rexmit_studies.terminal import ran

if TYPE_CHECKING:
    from rexmit_studies.run import Outcome, Section
    from rexmit_studies.study import Row, Statement
    from rexmit_studies.verdict import Judged

#: Longer tables are for files.
MOST_ROWS = 40


@dataclass(frozen=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """Markdown."""

    markdown: str


@dataclass(frozen=True)
class Grid:
    """A table. A row of a single cell spans it. numbers: which columns are aligned right. marks: a class for
    each row, for HTML.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[bool]
    marks: Sequence[str] = ()


@dataclass(frozen=True)
class Picture:
    """A figure. name: its file's stem."""

    name: str
    caption: str


Block = Heading | Text | Grid | Picture


def blocks(outcome: Outcome, command: str, timed: bool = True) -> list[Block]:
    """The whole page. command: what makes it again. timed: whether it says how long that took."""
    study = outcome.study
    made: list[Block] = [Heading(1, study.title), Text(f"*{study.source}*")]
    if not outcome.own:
        made += _count(outcome)
    if outcome.own:
        made.append(Text(f"**{cells.sentence(outcome.own.title())}**"))
    if outcome.quick:
        made.append(Text("**A quick run: too few runs to judge by.**"))
    if outcome.introduction:
        made.append(Text(outcome.introduction))
    made += _summary(outcome)
    reasons = cells.reasons(outcome.rows)
    for section in outcome.sections:
        made += _section(section, reasons)
    made += _reasons(reasons, outcome.rows)
    made += _claims(outcome)
    made += _made_by(outcome, command, timed)
    return made


def _summary(outcome: Outcome) -> list[Block]:
    """Verdicts in one table, first of all: that is what most come for."""
    if not outcome.claims:
        return []
    rows, marks = [], []
    for judged in outcome.claims:
        rows.append([_claim_text(judged.claim.key), _verdicts(judged)])
        marks.append(judged.verdict.replace(" ", "-"))
    return [
        Heading(2, "What its claims come to"),
        Grid(["the paper claims", "here it"], rows, [False, False], marks),
    ]


def _count(outcome: Outcome) -> list[Block]:
    """The figures by their grade: how much of the paper came out, and how much could not have failed."""
    if not outcome.rows:
        return []
    found = grades.counted(outcome.rows)
    lines = [f"{cells.sentence(grades.told(outcome.rows))}"]
    if outcome.statements:
        lines.append(cells.sentence(grades.statements_told(outcome.statements)))
    groups = [f"- {cells.sentence(grades.together_told(group))}" for group in outcome.together]
    if groups:
        lines.append("What one run has to give at once:\n\n" + "\n".join(groups))
    return [
        Grid(
            ["figures of the paper", "", "mark"],
            [[GRADES[grade], str(n), grades.MARKS[grade]] for grade, n in found.items()],
            [False, True, False],
        ),
        Text("\n\n".join(lines)),
    ]


def _section(section: Section, reasons: Mapping[str, int]) -> list[Block]:
    made: list[Block] = [Heading(2, section.title)]
    if section.text:
        made.append(Text(section.text))
    if section.rows:
        made.append(_figures(section.rows, reasons))
    if section.statements:
        made.append(_statements(section.statements))
    if section.papers:
        made.append(Text(cells.sentence(cells.belongs(section))))
    made += [Picture(drawing.name, drawing.caption) for drawing in section.drawings]
    for name, table in section.tables.items():
        shown = _data(name, table)
        if shown:
            made += shown
    return made


def _figures(rows: Sequence[Row], reasons: Mapping[str, int]) -> Grid:
    """The paper's figures beside ours. Columns that nothing stands in are left out."""
    head = ["figure", "paper", "rexmit", "unit", "ratio", cells.over(rows), ""]
    lines: list[list[str]] = []
    marks = []
    for definition, group in cells.groups(rows):
        lines.append([definition])
        marks.append("definition")
        for row in group:
            same = f"≠ [{reasons[row.why]}](#why)" if row.grade == "no" else grades.mark(row)
            line = [f"`{cells.short(row.key)}`", cells.as_printed(row), cells.found(row), row.unit]
            lines.append([*line, cells.ratio(row), cells.interval(row), same])
            marks.append("same" if row.reproduced else "other" if row.grade == "no" else "told")
    body = [line for line in lines if len(line) > 1]
    # Sentences are not aligned like numbers.
    numbers = max(max(len(line[1]), len(line[2])) for line in body) <= 30
    aligned = [False, numbers, numbers, False, True, True, False]
    kept = [i for i in range(len(head)) if i not in (3, 4, 5) or any(line[i] for line in body)]
    shown = [line if len(line) == 1 else [line[i] for i in kept] for line in lines]
    return Grid([head[i] for i in kept], shown, [aligned[i] for i in kept], marks)


def _statements(statements: Sequence[Statement]) -> Grid:
    """What the paper says of its figures beside what ours show."""
    known = paper.statements(statements[0].key.partition(".")[0])
    lines = [
        [known[one.key].figure, known[one.key].text, one.found, grades.agrees(one)] for one in statements
    ]
    marks = ["other" if one.agrees is False else "same" for one in statements]
    return Grid(["the paper's", "shows, it says", "here", ""], lines, [False] * 4, marks)


def _data(name: str, table: Any) -> list[Block]:
    """A table of the study's own, where it is short."""
    import pyarrow as pa

    from rexmit.arrow import values

    found = pa.table(table)
    if not 0 < found.num_rows <= MOST_ROWS:
        return []
    columns = [cells.column(values(found.column(i))) for i in range(found.num_columns)]
    numeric = [not (pa.types.is_string(f.type) or pa.types.is_large_string(f.type)) for f in found.schema]
    head = [column.replace("_", " ") for column in found.column_names]
    told = name.replace("_", " ").replace("-", " ")
    return [Text(f"*{told}*"), Grid(head, list(zip(*columns, strict=True)), numeric)]


def _reasons(reasons: Mapping[str, int], rows: Sequence[Row]) -> list[Block]:
    if not reasons:
        return []
    lines = []
    for why, place in reasons.items():
        keys = [f"`{cells.short(row.key)}`" for row in rows if row.why == why and row.grade == "no"]
        told = ", ".join(keys[:6]) + (f" and {len(keys) - 6} more" if len(keys) > 6 else "")
        lines.append(f"{place}. {cells.sentence(why)} ({told})")
    return [Heading(2, "Why"), Text("\n".join(lines))]


def _claims(outcome: Outcome) -> list[Block]:
    if not outcome.claims:
        return []
    made: list[Block] = [
        Heading(2, "The claims, with their evidence"),
        Text(
            "Intervals cover 95%. The p values are corrected by Holm's method for everything that this study "
            "tests; an effect above zero speaks for the claim."
        ),
    ]
    for judged in outcome.claims:
        key = judged.claim.key
        made.append(Heading(3, _claim_text(key)))
        lines = [f"The paper: “{said}”.", ""] if (said := paper.quote(key)) else []
        lines += _reading(judged)
        if outcome.own.depends(key) is False:
            lines += ["", cells.sentence(cells.CLAIM_OF_PAPER)]
        if judged.beside:
            lines += ["", "By another reading:", "", *_reading(judged.beside)]
        made.append(Text("\n".join(lines)))
    return made


def _reading(judged: Judged) -> list[str]:
    """The verdict by one reading, with its evidence and its tests."""
    claim = judged.claim
    lines = [f"**{judged.verdict.capitalize()}.** {cells.sentence(claim.evidence)}"]
    if claim.reading:
        lines += ["", f"Reading: {claim.reading}."]
    told = ([claim.effect] if claim.effect else []) + cells.tested(judged)
    return [*lines, "", *(f"- {line}" for line in told)] if told else lines


def _verdicts(judged: Judged) -> str:
    """The verdict, and that by another reading."""
    beside = f"; by another reading: **{judged.beside.verdict}**" if judged.beside else ""
    return f"**{judged.verdict}**{beside}"


def _claim_text(key: str) -> str:
    return paper.claims(key.partition(".")[0])[key].rstrip(".")


def _made_by(outcome: Outcome, command: str, timed: bool) -> list[Block]:
    told = ran(outcome) if timed else count(outcome.replications, "run")
    lines = [f"{say.code(command)} makes this page again ({told})."]
    lines += [f"Left out: {say.markdown(sentence)}." for sentence in outcome.left_out]
    lines += [f"Failed: {say.markdown(sentence)}." for sentence in outcome.failures]
    return [Heading(2, "How it was made"), Text("\n\n".join(lines))]


def markdown(page: Sequence[Block], link: Callable[[str], str | None]) -> str:
    """As Markdown. link: where a figure's file lies, by its name; None: it was not drawn."""
    lines: list[str] = []
    for block in page:
        if isinstance(block, Heading):
            # GitHub's own anchors are made of the heading: "Why" is #why.
            lines += ["#" * block.level + " " + say.one_line(block.text), ""]
        elif isinstance(block, Text):
            lines += [block.markdown.strip(), ""]
        elif isinstance(block, Grid):
            lines += [*_markdown_table(block), ""]
        else:
            where = link(block.name)
            if where:
                lines += [f"![{block.name}]({where})", ""]
            lines += [block.caption, ""]
    return say.visible("\n".join(lines).rstrip() + "\n")


def _markdown_table(grid: Grid) -> list[str]:
    rule = "|".join("---:" if number else "---" for number in grid.numbers)
    rows = []
    for row in grid.rows:
        told = row if len(row) > 1 else [f"*{row[0]}*"] + [""] * (len(grid.head) - 1)
        rows.append("| " + " | ".join(map(say.cell, told)) + " |")
    return ["| " + " | ".join(map(say.cell, grid.head)) + " |", f"|{rule}|", *rows]
