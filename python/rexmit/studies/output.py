"""`rexmit study run --out DIR`: a page for each study, its figures, its tables, and all answers as JSON."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.studies import cells
from rexmit.studies.html import document
from rexmit.studies.page import blocks, markdown
from rexmit.units import count

if TYPE_CHECKING:
    import pyarrow as pa

    from rexmit.studies.run import Outcome

#: Figures of the documents: small, in few colours.
DOCS_DPI, DOCS_COLOURS = 100, 64


def write(outcome: Outcome, folder: str, form: str | None) -> None:
    """Writes NAME.html, NAME.md and NAME/ with figures and tables. form: png, svg, pdf or None."""
    name = outcome.study.name
    out = Path(folder)
    own = out / name
    (own / "tables").mkdir(parents=True, exist_ok=True)
    pictures = _draw(outcome, own / "figures", form) if form else {}
    _write_tables(outcome, own / "tables")
    page = blocks(outcome, _command(outcome))

    def link(picture: str) -> str | None:
        path = pictures.get(picture)
        return path.relative_to(out).as_posix() if path else None

    (out / f"{name}.md").write_text(markdown(page, link), encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        # A page can not hold a PDF: it gets PNGs of its own.
        held = _draw(outcome, Path(scratch), "png") if form == "pdf" else pictures
        whole = document(outcome.study.title, page, held.get)
    (out / f"{name}.html").write_text(whole, encoding="utf-8")


def write_docs(outcome: Outcome, folder: str) -> None:
    """Writes NAME.md and NAME/*.png, small enough to be kept beside the code."""
    name = outcome.study.name
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    pictures = _draw(outcome, out / name, "png", DOCS_DPI)
    for path in pictures.values():
        _fewer_colours(path)
    page = blocks(outcome, _command(outcome), timed=False)

    def link(picture: str) -> str | None:
        return f"{name}/{pictures[picture].name}" if picture in pictures else None

    (out / f"{name}.md").write_text(markdown(page, link), encoding="utf-8")


def finish(outcomes: Sequence[Outcome], folder: str, several: bool) -> str:
    """Writes results.json; returns a sentence that says where everything is."""
    from rexmit.studies.answer import answer

    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    if outcomes:
        told = json.dumps(answer(outcomes, several), indent=1, ensure_ascii=False)
        (out / "results.json").write_text(told + "\n", encoding="utf-8")
    pages = ", ".join(f"{out / outcome.study.name}.html" for outcome in outcomes)
    return f"wrote {count(len(outcomes), 'page')} ({pages}), figures, tables and {out / 'results.json'}"


def _command(outcome: Outcome) -> str:
    more = " --quick" if outcome.quick else ""
    if outcome.factor != 1:
        more += f" --replications {outcome.factor:g}"
    return f"rexmit study run {outcome.study.origin or outcome.study.name}{more}"


def _draw(outcome: Outcome, folder: Path, form: str, dpi: float | None = None) -> dict[str, Path]:
    drawn: dict[str, Path] = {}
    for drawing in outcome.drawings:
        if drawing.name in drawn:
            raise ValueError(f"two figures of {outcome.study.name} are called {drawing.name}")
        folder.mkdir(parents=True, exist_ok=True)
        drawn[drawing.name] = drawing.draw().save(folder / f"{drawing.name}.{form}", dpi=dpi)
    return drawn


def _fewer_colours(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as image:
        # Rare colours are kept: a few marks in orange are what a figure is about.
        small = image.convert("RGB").quantize(
            DOCS_COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    small.save(path, optimize=True)


def _write_tables(outcome: Outcome, folder: Path) -> None:
    import pyarrow as pa

    from rexmit.output import write_table

    tables: dict[str, Any] = {"rows": _rows(outcome), "claims": _claims(outcome)}
    for section in outcome.sections:
        for name, table in section.tables.items():
            if name in tables:
                raise ValueError(f"two tables of {outcome.study.name} are called {name}")
            tables[name] = table
    for name, table in tables.items():
        write_table(pa.table(table), [folder / f"{name}.parquet", folder / f"{name}.csv"])


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
            "reproduced": bool(row.reproduced),
            "why": row.why or None,
        }
        for row in outcome.rows
    ]
    texts = ("key", "definition", "unit", "paper", "rexmit", "why")
    kinds: dict[str, Any] = {"n": pa.int64(), "reproduced": pa.bool_()}
    numbers = ("paper_number", "rexmit_number", "ratio", "low", "high", "mean_low", "mean_high")
    kinds |= dict.fromkeys(texts, pa.string()) | dict.fromkeys(numbers, pa.float64())
    order = list(rows[0]) if rows else [*texts, *numbers, "n", "reproduced"]
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, kinds[name]) for name in order]))


def _claims(outcome: Outcome) -> pa.Table:
    """A row for each test; a claim without tests has one row all the same."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    for judged in outcome.claims:
        told = {"key": judged.claim.key, "verdict": judged.verdict, "evidence": judged.claim.evidence}
        tests = list(zip(judged.claim.tests, judged.p, strict=True))
        for test, p in tests:
            found = {"test": test.what, "effect": float(test.effect), "unit": test.unit, "n": int(test.n)}
            low, high = (float(end) for end in test.interval)
            rows.append(
                told | found | {"low": low, "high": high, "p": float(test.p), "p_corrected": float(p)}
            )
        if not tests:
            rows.append(told)
    kinds = [(name, pa.string()) for name in ("key", "verdict", "test", "unit", "evidence")]
    kinds += [(name, pa.float64()) for name in ("effect", "low", "high", "p", "p_corrected")]
    return pa.Table.from_pylist(rows, schema=pa.schema([*kinds, ("n", pa.int64())]))
