"""`rexmit study run --out DIR`: a page for each study, its figures, its tables, and all answers as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.files import passing
from rexmit.screen.say import as_json
from rexmit.screen.units import count
from rexmit_studies import cells, paper
from rexmit_studies.html import document
from rexmit_studies.page import blocks, markdown
from rexmit_studies.study import Unfinished

if TYPE_CHECKING:
    import pyarrow as pa

    from rexmit.files.destination import Destination
    from rexmit_studies.run import Outcome

#: Figures of the documents: small, in few colours.
DOCS_DPI, DOCS_COLOURS = 100, 64


def planned(names: Sequence[str]) -> list[str]:
    """What `write` and `finish` may write of studies, for `Destination`."""
    own = [
        f"{name}{rest}"
        for name in names
        for rest in (".md", ".html", "/report.html", "/tables/*", "/figures/*")
    ]
    return ["results.json", *own]


def planned_docs(names: Sequence[str]) -> list[str]:
    """What `write_docs` may write."""
    return [f"{name}{rest}" for name in names for rest in (".md", "/*.png")]


def _goes_on() -> bool:
    return False


def write(
    outcome: Outcome, into: Destination, form: str | None, stopped: Callable[[], bool] = _goes_on
) -> None:
    """Writes NAME.html, NAME.md and NAME/ with figures and tables. form: png, svg, pdf or None.

    stopped: whether somebody waits for the end; then no more figures are drawn.
    """
    name = outcome.study.name
    pictures = _draw(outcome, into, f"{name}/figures", form, stopped=stopped) if form else {}
    _write_tables(outcome, into, f"{name}/tables")
    page = blocks(outcome, _command(outcome))
    with into.file(f"{name}.md") as (path,):
        path.write_text(markdown(page, pictures.get), encoding="utf-8")
    held = {picture: into.path / target for picture, target in pictures.items()}
    with passing.folder() as scratch:
        if form == "pdf":
            # A page cannot hold a PDF: it gets PNGs of its own.
            drawn = [d for d in outcome.drawings if d.name in pictures]
            held = {d.name: d.draw().save(scratch / f"{d.name}.png") for d in drawn}
        with into.file(f"{name}.html") as (path,):
            path.write_text(document(outcome.study.title, page, held.get), encoding="utf-8")


def write_report(outcome: Outcome, into: Destination) -> None:
    """Writes NAME/report.html, the page of `rexmit report`, with the figures that were written."""
    from rexmit.report import beside, studied
    from rexmit_studies.answer import one

    name = outcome.study.name
    told = one(outcome) | {"figures": studied.figures(into.path, f"{name}/figures")}
    with into.file(f"{name}/{beside.NAME}") as (path,):
        beside.of_study(told, _command(outcome), path)


def write_docs(outcome: Outcome, into: Destination, stopped: Callable[[], bool] = _goes_on) -> None:
    """Writes NAME.md and NAME/*.png, small enough to be kept beside the code."""
    name = outcome.study.name
    pictures = _draw(outcome, into, name, "png", DOCS_DPI, _fewer_colours, stopped)
    page = blocks(outcome, _command(outcome), timed=False)
    with into.file(f"{name}.md") as (path,):
        path.write_text(markdown(page, pictures.get), encoding="utf-8")


def finish(outcomes: Sequence[Outcome], into: Destination, several: bool, written: Sequence[str]) -> str:
    """Writes results.json; returns a sentence that says where everything is. written: studies with a page."""
    from rexmit_studies.answer import answer

    if outcomes:
        told = as_json(answer(outcomes, several), 1)
        with into.file("results.json") as (path,):
            path.write_text(told + "\n", encoding="utf-8")
    pages = ", ".join(f"{into.path / name}.html" for name in written)
    told = f"wrote {count(len(written), 'page')} ({pages}), figures, tables and " if written else "wrote "
    return told + f"{into.path / 'results.json'}"


def _command(outcome: Outcome) -> str:
    more = " --quick" if outcome.quick else ""
    if outcome.factor != 1:
        more += f" --replications {outcome.factor:g}"
    more += "".join(f" {words}" for words in outcome.own.command)
    return f"rexmit study run {outcome.study.origin or outcome.study.name}{more}"


def _draw(
    outcome: Outcome,
    into: Destination,
    folder: str,
    form: str,
    dpi: float | None = None,
    then: Callable[[Path], None] = lambda _: None,
    stopped: Callable[[], bool] = _goes_on,
) -> dict[str, str]:
    """Draws all figures; returns the files, as seen from the folder, of those that could be written. What
    needs runs that were not finished is left out.
    """
    drawn: dict[str, str] = {}
    for drawing in outcome.drawings:
        target = f"{folder}/{drawing.name}.{form}"
        if target in drawn.values():
            raise ValueError(f"two figures of {outcome.study.name} are called {drawing.name}")
        try:
            figure = None if stopped() else drawing.draw()
        except Unfinished as missing:
            outcome.left_out.append(f"figure {drawing.name}: {missing}")
            continue
        except (LookupError, ValueError):
            # With the user's values a run may lack what a figure shows: the page has the others.
            if not outcome.own:
                raise
            outcome.left_out.append(f"figure {drawing.name}: there is nothing to draw with your values")
            continue
        if figure is None or stopped():  # to write it takes as long again as to make it
            outcome.left_out.append(f"figure {drawing.name}: stopped before it was drawn")
            continue
        with into.file(target) as (path,):
            figure.save(path, dpi=dpi)
            then(path)
        if not into.lacks(target):
            drawn[drawing.name] = target
    return drawn


def _fewer_colours(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as image:
        # Rare colours are kept: a few marks in orange are what a figure is about.
        small = image.convert("RGB").quantize(
            DOCS_COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    small.save(path, optimize=True)


def _write_tables(outcome: Outcome, into: Destination, folder: str) -> None:
    import pyarrow as pa

    from rexmit.files.output import write_table

    tables: dict[str, Any] = {"rows": _rows(outcome), "claims": _claims(outcome)}
    if outcome.statements:
        tables["statements"] = _statements(outcome)
    for section in outcome.sections:
        for name, table in section.tables.items():
            if name in tables:
                raise ValueError(f"two tables of {outcome.study.name} are called {name}")
            tables[name] = table
    for name, table in tables.items():
        with into.file(*(f"{folder}/{name}.{form}" for form in ("parquet", "csv"))) as paths:
            write_table(pa.table(table), paths)


def _rows(outcome: Outcome) -> pa.Table:
    """Numbers as numbers; what is a text or a list only as a text."""
    import pyarrow as pa

    def number(value: Any) -> float | None:
        plain = cells.plain(value)
        return float(plain) if isinstance(plain, int | float) else None

    rows = [
        {
            "key": row.key,
            "definition": row.definition,
            "unit": row.unit or None,
            "paper": cells.value(row.paper),
            "paper_number": number(row.paper),
            "rexmit": None if row.rexmit is None else cells.value(row.rexmit),
            "rexmit_number": number(row.rexmit),
            "ratio": number(cells.ratio_of(row)),
            "low": number(row.interval[0]) if row.interval else None,
            "high": number(row.interval[1]) if row.interval else None,
            "mean_low": number(row.mean.low) if row.mean else None,
            "mean_high": number(row.mean.high) if row.mean else None,
            "n": row.n,
            "grade": row.grade,
            "share": number(row.share),
            "reproduced": bool(row.reproduced),
            "why": row.why or None,
        }
        for row in outcome.rows
    ]
    texts = ("key", "definition", "unit", "paper", "rexmit", "grade", "why")
    kinds: dict[str, Any] = {"n": pa.int64(), "reproduced": pa.bool_()}
    numbers = ("paper_number", "rexmit_number", "ratio", "low", "high", "mean_low", "mean_high", "share")
    kinds |= dict.fromkeys(texts, pa.string()) | dict.fromkeys(numbers, pa.float64())
    order = list(rows[0]) if rows else [*texts, *numbers, "n", "reproduced"]
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, kinds[name]) for name in order]))


def _statements(outcome: Outcome) -> pa.Table:
    """What the paper says of its figures, and what ours show."""
    import pyarrow as pa

    known = paper.statements(outcome.study.name)
    rows = [
        {
            "key": one.key,
            "figure": known[one.key].figure,
            "statement": known[one.key].text,
            "found": one.found,
            "agrees": one.agrees,
            "drawing": one.drawing or None,
        }
        for one in outcome.statements
    ]
    texts = [(name, pa.string()) for name in ("key", "figure", "statement", "found", "drawing")]
    return pa.Table.from_pylist(rows, schema=pa.schema([*texts, ("agrees", pa.bool_())]))


def _claims(outcome: Outcome) -> pa.Table:
    """A row for each test; a claim without tests has one row all the same."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    each = [one for judged in outcome.claims for one in (judged, judged.beside) if one]
    for judged in each:
        told = {
            "key": judged.claim.key,
            "reading": judged.claim.reading,
            "verdict": judged.verdict,
            "evidence": judged.claim.evidence,
        }
        tests = list(zip(judged.claim.tests, judged.p, strict=True))
        for test, p in tests:
            found = {"test": test.what, "effect": float(test.effect), "unit": test.unit, "n": int(test.n)}
            low, high = (float(end) for end in test.interval)
            rows.append(
                told | found | {"low": low, "high": high, "p": float(test.p), "p_corrected": float(p)}
            )
        if not tests:
            rows.append(told)
    kinds = [(name, pa.string()) for name in ("key", "verdict", "reading", "test", "unit", "evidence")]
    kinds += [(name, pa.float64()) for name in ("effect", "low", "high", "p", "p_corrected")]
    return pa.Table.from_pylist(rows, schema=pa.schema([*kinds, ("n", pa.int64())]))
