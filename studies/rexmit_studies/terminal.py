"""A study on the terminal: its figures beside the paper's, the reasons below, then the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from rexmit.report.grades import GRADES
from rexmit.screen.units import count
from rexmit_studies import cells, grades, paper

if TYPE_CHECKING:
    from rexmit_studies.run import Outcome, Section
    from rexmit_studies.verdict import Judged

WIDTH = 100
#: Of tables; sentences that long are hard to read.
TABLE = 108
#: The column of units, which is aligned left.
UNIT = 3
#: A longer value gets lines of its own.
LONGEST = 22


def listed(names: Sequence[str]) -> list[str]:
    """`rexmit study list`."""
    width = max(map(len, names))
    lines = []
    for name in names:
        figures, claims = len(paper.figures(name)), len(paper.claims(name))
        lines.append(f"{name:<{width}}  {paper.about(name).title}")
        lines += _wrapped(paper.about(name).about, width + 2)
        lines += [" " * (width + 2) + f"{count(figures, 'figure')}, {count(claims, 'claim')}", ""]
    return [*lines, "next: rexmit study run NAME, or rexmit study run all"]


def page(outcome: Outcome) -> list[str]:
    """`rexmit study run`: one study."""
    reasons = cells.reasons(outcome.rows)
    lines = [*wrap(f"{outcome.study.name}: {outcome.study.title}", WIDTH), *_wrapped(outcome.study.source, 2)]
    lines += [f"  {ran(outcome)}", ""]
    lines += [*_wrapped(outcome.own.title() + ".", 2), ""] if outcome.own else _count(outcome)
    for section in outcome.sections:
        if outcome.own.capture and section.text:
            lines += ["" if section.rows else section.title, *section.text.splitlines(), ""]
        if section.rows:
            lines += [*_table(section, reasons), ""]
        if section.statements:
            lines += [*_statements(section), ""]
        if section.papers:
            lines += [*_wrapped(cells.belongs(section), 2), ""]
        if section.text and outcome.own.axes:
            lines += [*_wrapped(section.text, 2), ""]
    if reasons:
        lines += ["not reproduced, because"]
        for why, place in reasons.items():
            lines += hanging(f"  [{place}] ", why)
        lines.append("")
    if outcome.claims:
        lines += ["claims (corrected for all tests of the study)"]
        for judged in outcome.claims:
            lines += _claim(judged, outcome.own.depends(judged.claim.key))
    lines += [line for sentence in outcome.left_out for line in hanging("left out  ", sentence)]
    return lines


def ran(outcome: Outcome) -> str:
    """`1,200 runs, 12.1 s`, and what is unusual about them."""
    how = ", quick: too few runs to judge by" if outcome.quick else ""
    if outcome.factor != 1:
        how += f", {outcome.factor:g} times the usual number"
    return f"{count(outcome.replications, 'run')} in {outcome.seconds:.1f} s{how}"


def _count(outcome: Outcome) -> list[str]:
    """The figures by their grade, first of all."""
    if not outcome.rows:
        return []
    found = grades.counted(outcome.rows)
    lines = [f"  {n:>4}  {GRADES[grade]:<34}  {grades.MARKS[grade]}" for grade, n in found.items()]
    lines += ["", *_wrapped(cells.sentence(grades.told(outcome.rows)), 2)]
    if outcome.statements:
        lines += _wrapped(cells.sentence(grades.statements_told(outcome.statements)), 2)
    for group in outcome.together:
        lines += _wrapped(cells.sentence(grades.together_told(group)), 2)
    return [*lines, ""]


def _statements(section: Section) -> list[str]:
    """What the paper says of its figures, and what ours show."""
    known = paper.statements(section.statements[0].key.partition(".")[0])
    lines = [] if section.rows else [section.title]
    for one in section.statements:
        mark = "≠" if one.agrees is False else "?" if one.agrees is None else "s" if one.scripted else "="
        lines += hanging(f"  {mark} {known[one.key].figure}: ", known[one.key].text)
        lines += hanging("      here  ", one.found)
    return lines


def _table(section: Section, reasons: dict[str, int]) -> list[str]:
    lines: list[tuple[str, list[str]] | list[str]] = []
    for definition, rows in cells.groups(section.rows):
        lines.append(_wrapped(definition, 2))
        for row in rows:
            mark = f"≠ [{reasons[row.why]}]" if row.grade == "no" else grades.mark(row)
            line = [cells.short(row.key), cells.as_printed(row), cells.found(row), row.unit]
            line += [cells.ratio(row), cells.interval(row), mark]
            if max(len(line[1]), len(line[2])) > LONGEST:
                lines.append(_long(line))
            else:
                lines.append(("row", line))
    body = [entry[1] for entry in lines if isinstance(entry, tuple)]
    if not body:
        return [section.title] + [text for entry in lines if isinstance(entry, list) for text in entry]
    # A head only over what has anything below it.
    words = ["", "paper", "rexmit", "", "ratio", cells.over(section.rows), ""]
    head = [word if any(cell[i] for cell in body) else "" for i, word in enumerate(words)]
    widths = [max(len(cell[i]) for cell in [head, *body]) for i in range(len(head))]
    # The columns of numbers stand under one another in all sections, if they can; a key that is too long
    # stands above its numbers.
    room = TABLE - 4 - sum(widths[1:]) - 2 * len(head)
    widths[0] = min(max(widths[0], min(34, room)), max(room, 20))
    above = _line(head, widths)
    told = [section.title, above]
    if len(section.title) <= widths[0] + 4:
        told = [section.title + above[len(section.title) :]]
    for entry in lines:
        if isinstance(entry, tuple) and len(entry[1][0]) > widths[0]:
            told += [f"    {entry[1][0]}", _line(["", *entry[1][1:]], widths)]
        else:
            told += entry if isinstance(entry, list) else [_line(entry[1], widths)]
    return [text.rstrip() for text in told]


def _line(line: list[str], widths: list[int]) -> str:
    told = f"    {line[0]:<{widths[0]}}"
    for place in range(1, len(line)):
        if place == UNIT:
            told += f" {line[place]:<{widths[place]}}"
        elif widths[place]:
            told += f"  {line[place]:>{widths[place]}}" if place < len(line) - 1 else f"  {line[place]}"
    return told


def _long(line: list[str]) -> list[str]:
    """A row whose values are sentences."""
    name, theirs, ours, _, _, _, mark = line
    return [f"    {name}  {mark}", *hanging("      paper   ", theirs), *hanging("      rexmit  ", ours)]


def _claim(judged: Judged, depends: bool | None = None) -> list[str]:
    claim = judged.claim
    told = paper.claims(claim.key.partition(".")[0])[claim.key]
    lines = hanging(f"  {judged.verdict:<13}", told)
    if said := paper.quote(claim.key):
        lines += _wrapped(f"the paper: “{said}”", 15)
    if depends is False:
        lines += _wrapped(cells.CLAIM_OF_PAPER, 15)
    lines += _reading(judged)
    if judged.beside:
        lines += [*_wrapped(f"by another reading it {_stands(judged.beside)}", 15), *_reading(judged.beside)]
    return [*lines, ""]


def _stands(judged: Judged) -> str:
    return f"is {judged.verdict}" if judged.verdict == "not decided" else judged.verdict


def _reading(judged: Judged) -> list[str]:
    """One reading of a claim: what it is, its evidence and its tests."""
    claim, lines = judged.claim, []
    if claim.reading:
        lines += _wrapped(f"reading: {claim.reading}", 15)
    lines += _wrapped(cells.sentence(claim.evidence), 15)
    if claim.effect:
        lines += _wrapped(claim.effect, 15)
    for line in cells.tested(judged):
        lines += hanging(" " * 15 + "- ", line)
    return lines


def _wrapped(text: str, indent: int) -> list[str]:
    return hanging(" " * indent, text)


def hanging(first: str, text: str) -> list[str]:
    """A text behind its first words, its other lines below its beginning."""
    lines = wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False
    )
    return lines or [first.rstrip()]
