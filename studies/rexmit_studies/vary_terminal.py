"""A variation on the terminal: the claims at each value, then the paper's table with a column per value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from rexmit.screen.units import count
from rexmit_studies import cells, paper, vary_cells
from rexmit_studies.terminal import TABLE, WIDTH, hanging

if TYPE_CHECKING:
    from rexmit_studies.vary import Line, Variation

#: A longer value gets lines of its own.
LONGEST = 18
#: Names of figures take at least and at most so much.
NAMES = (20, 40)


def page(found: Variation) -> list[str]:
    """`rexmit study run NAME --vary AXIS=a,b,c`."""
    lines = [*wrap(f"{found.study.name}: {found.study.title}", WIDTH), *hanging("  ", found.study.source)]
    lines += [f"  {ran(found)}", "", *hanging("  ", cells.sentence(found.title())), ""]
    for section, groups in vary_cells.by_section(found.lines()).items():
        lines += [*_table(found, section, groups), ""]
    lines += _yours(found)
    lines += _statements(found)
    lines += _claims(found)
    if any(map(found.of_paper, range(len(found.values)))):
        lines += hanging("  ", vary_cells.STAR)
    if belongs := vary_cells.belongs(found):
        lines += hanging("  ", belongs)
    return lines + [line for sentence in found.left_out() for line in hanging("left out  ", sentence)]


def ran(found: Variation) -> str:
    """`1,200 runs in 12.1 s`, and what is unusual about them."""
    how = ", quick: too few runs to judge by" if found.quick else ""
    if found.factor != 1:
        how += f", {found.factor:g} times the usual number"
    return f"{count(found.replications, 'run')} in {found.seconds:.1f} s{how}"


def _table(found: Variation, section: str, groups: dict[str, list[Line]]) -> list[str]:
    """Numbers with a column for each value, then what is said in sentences."""
    lines: list[list[str] | str] = []
    sentences: list[str] = []
    for definition, each in groups.items():
        rows = [[cells.short(one.first.key), *vary_cells.line(one), one.first.unit] for one in each]
        for long, into in ((False, lines), (True, sentences)):
            kept = [row for row in rows if (max(map(len, row[1:-1])) > LONGEST) is long]
            into += hanging("  ", definition) if kept else []
            for row in kept:
                into += _long(found, row) if long else [row]
    head = ["", "paper", *vary_cells.heads(found), ""]
    return [section, *_aligned(head, lines), *sentences]


def _aligned(head: Sequence[str], lines: Sequence[list[str] | str]) -> Iterator[str]:
    """Rows under their head, all columns of values right; where they do not fit, some columns at a time."""
    rows = [line for line in lines if not isinstance(line, str)]
    if not rows:
        yield from (line for line in lines if isinstance(line, str))
        return
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    names = min(max(widths[0], NAMES[0]), NAMES[1])
    for columns in _fitting(widths, TABLE - 4 - names - widths[-1]):
        yield _row(head, columns, names, widths)
        for line in lines:
            if isinstance(line, str):
                yield line
            elif len(line[0]) > names:
                yield f"    {line[0]}"
                yield _row(["", *line[1:]], columns, names, widths)
            else:
                yield _row(line, columns, names, widths)


def _fitting(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Columns 1 to n - 2, as many at a time as there is room for; the paper's stands before each lot."""
    lot, used = [1], 2 + widths[1]
    for column in range(2, len(widths) - 1):
        if used + 2 + widths[column] > room and len(lot) > 1:
            yield lot
            lot, used = [1], 2 + widths[1]
        lot.append(column)
        used += 2 + widths[column]
    yield lot


def _row(line: Sequence[str], columns: Sequence[int], names: int, widths: Sequence[int]) -> str:
    values = "".join(f"  {line[i]:>{widths[i]}}" for i in columns)
    return f"    {line[0]:<{names}}{values} {line[-1]}".rstrip()


def _long(found: Variation, row: Sequence[str]) -> list[str]:
    """A row whose values are sentences."""
    names = ["paper", *found.heads()]
    width = max(map(len, names))
    lines = [f"    {row[0]}"]
    for name, said in zip(names, row[1:-1], strict=True):
        lines += hanging(f"      {name:<{width}}  ", said)
    return lines


def _statements(found: Variation) -> list[str]:
    made = found.statements()
    if not made:
        return []
    known = paper.statements(found.study.name)
    lines = ["what the paper says of its figures, at each value"]
    for key, each in made.items():
        said = ", ".join(
            f"{vary_cells.agrees(one)} {head}" for head, one in zip(found.heads(), each, strict=True)
        )
        lines += hanging("  ", f"{known[key].figure}: {known[key].text}")
        lines += hanging("      ", said)
    return [*lines, ""]


def _claims(found: Variation) -> list[str]:
    made = found.claims()
    if not made:
        return []
    width = max(map(len, found.heads()))
    lines = ["claims at each value (corrected for all tests of the study at that value)"]
    for key, each in made.items():
        lines += hanging("  ", vary_cells.claim_text(key))
        for head, judged in zip(found.heads(), each, strict=True):
            verdict = vary_cells.verdict(judged)
            said = vary_cells.effect(judged) if judged else ""
            told = f"      {head:>{width}}  {verdict:<13}"
            if len(verdict) < 13:
                lines += hanging(told, said)
            else:
                # By two readings: what the first one rests on stands below.
                lines += [told, *hanging(" " * (width + 21), said)]
    return [*lines, ""]


def _yours(found: Variation) -> list[str]:
    """What the study says of each value where no figure of the paper has it."""
    width = max(map(len, found.heads()))
    lines: list[str] = []
    for section, each in found.yours().items():
        lines += [f"{section}: what is no figure of the paper"]
        for head, said in zip(found.heads(), each, strict=True):
            lines += hanging(f"      {head:>{width}}  ", said) if said else []
    return [*lines, ""] if lines else []
