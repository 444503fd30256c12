"""A variation as JSON, and as files: `--vary` with `--json` and `--out DIR`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.files import passing
from rexmit.screen.say import as_json
from rexmit_studies import answer, cells, vary_figure
from rexmit_studies.html import document
from rexmit_studies.page import markdown
from rexmit_studies.vary_page import blocks, picture

if TYPE_CHECKING:
    import pyarrow as pa

    from rexmit.files.destination import Destination
    from rexmit_studies.study import Row
    from rexmit_studies.vary import Line, Variation

#: Of a row, what differs from value to value; the rest is the same at all.
OF_ROW = ("rexmit", "interval", "mean_interval", "n")
OF_CLAIM = ("verdict", "effect", "unit", "interval", "n", "evidence", "effect_text", "tests", "beside")


def told(found: Variation) -> dict[str, Any]:
    """The answer as JSON (docs/studies.md)."""
    axis = found.axis
    return {
        "rexmit": _core.__version__,
        "format": answer.FORMAT,
        "study": found.study.name,
        "title": found.study.title,
        "quick": found.quick,
        "factor": found.factor,
        "own": list(found.own.origin),
        "vary": {"axis": axis.name, "about": axis.about, "unit": axis.unit or None, "paper": axis.paper},
        "values": list(found.values),
        "replications": found.replications,
        "seconds": round(found.seconds, 3),
        "rows": [_row(line) for line in found.lines()],
        "statements": _at(
            found.statements(), answer.statement, ("found", "agrees"), ("key", "figure", "statement")
        ),
        "claims": _at(found.claims(), answer.claim, OF_CLAIM, ("key", "claim")),
        "belong": found.belong(),
        "left_out": found.left_out(),
        "failures": found.failures(),
    }


def _row(line: Line) -> dict[str, Any]:
    each = [None if row is None else answer.row(row) for row in line.rows]
    first = answer.row(line.first)
    same = {key: first[key] for key in ("key", "unit", "paper", "printed")}
    same["definition"] = line.definition
    return same | {"at": [None if one is None else {key: one[key] for key in OF_ROW} for one in each]}


def _at(
    made: dict[str, Any], say: Callable[[Any], dict[str, Any]], here: Sequence[str], same: Sequence[str]
) -> list[dict[str, Any]]:
    """Statements or claims: what is the same at all values, and what is said at each."""
    found = []
    for each in made.values():
        said = [None if one is None else say(one) for one in each]
        first = next(one for one in said if one is not None)
        at = [None if one is None else {key: one[key] for key in here} for one in said]
        found.append({key: first[key] for key in same} | {"at": at})
    return found


def _stem(name: str, axis: str) -> str:
    return f"{name}-by-{axis}"


def planned(name: str, axis: str) -> list[str]:
    """What `write` may write, for `Destination`."""
    return [
        "results.json",
        *(f"{_stem(name, axis)}{rest}" for rest in (".md", ".html", "/tables/*", "/figures/*")),
    ]


def write(found: Variation, into: Destination, form: str | None) -> str:
    """Writes NAME-by-AXIS.html and .md, the figure, the table and results.json; returns a sentence that says
    where. form: png, svg, pdf or None: no figure.
    """
    stem = _stem(found.study.name, found.axis.name)
    name, page = picture(found), blocks(found)
    drawn: dict[str, str] = {}
    with passing.folder() as scratch:
        held = {}
        if form and vary_figure.panels(found):
            figure = vary_figure.draw(found)
            target = f"{stem}/figures/{name}.{form}"
            with into.file(target) as (path,):
                figure.save(path)
            if not into.lacks(target):
                drawn[name] = target
                # A page cannot hold a PDF: it gets a PNG of its own.
                held[name] = figure.save(scratch / f"{name}.png") if form == "pdf" else into.path / target
        with into.file(f"{stem}.md") as (path,):
            path.write_text(markdown(page, drawn.get), encoding="utf-8")
        with into.file(f"{stem}.html") as (path,):
            path.write_text(document(found.study.title, page, held.get), encoding="utf-8")
    _write_table(found, into, f"{stem}/tables")
    with into.file("results.json") as (path,):
        path.write_text(as_json(told(found), 1) + "\n", encoding="utf-8")
    return f"wrote {into.path / stem}.html, figure, table and {into.path / 'results.json'}"


def _write_table(found: Variation, into: Destination, folder: str) -> None:
    from rexmit.files.output import write_table

    with into.file(*(f"{folder}/rows.{form}" for form in ("parquet", "csv"))) as paths:
        write_table(table(found), paths)


def table(found: Variation) -> pa.Table:
    """A row for each figure and value. Numbers as numbers; a text or a list as a text."""
    import pyarrow as pa

    lines = [_cell(found, line, k, row) for line in found.lines() for k, row in enumerate(line.rows) if row]
    texts = ("key", "definition", "unit", "paper", "value", "rexmit")
    numbers = ("value_number", "rexmit_number", "low", "high", "mean_low", "mean_high")
    kinds: list[Any] = [(name, pa.string()) for name in texts] + [(name, pa.float64()) for name in numbers]
    return pa.Table.from_pylist(lines, schema=pa.schema([*kinds, ("n", pa.int64())]))


def _cell(found: Variation, line: Line, place: int, row: Row) -> dict[str, Any]:
    def number(value: Any) -> float | None:
        plain = cells.plain(value)
        return float(plain) if isinstance(plain, int | float) else None

    value = found.values[place]
    interval, mean = row.interval or (None, None), row.mean
    return {
        "key": row.key,
        "definition": line.definition,
        "unit": row.unit or None,
        "paper": cells.value(row.paper),
        "value": found.axis.shown(value),
        "rexmit": None if row.rexmit is None else cells.value(row.rexmit),
        "value_number": number(value),
        "rexmit_number": number(row.rexmit),
        "low": number(interval[0]),
        "high": number(interval[1]),
        "mean_low": number(mean.low) if mean else None,
        "mean_high": number(mean.high) if mean else None,
        "n": row.n,
    }
