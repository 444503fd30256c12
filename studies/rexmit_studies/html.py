"""A study's page as one HTML file: nothing is loaded from anywhere, and it prints well."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rexmit.screen.say import markup, visible
from rexmit_studies.page import Block, Grid, Heading, Text

STYLE = """
:root { --ink: #222; --soft: #666; --line: #d9d9d9; --good: #00795a; --bad: #b34700; --open: #6b6b6b; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: #fff; font: 17px/1.55 Charter, "Bitstream Charter",
  "Iowan Old Style", Georgia, "DejaVu Serif", serif; }
main { max-width: 52rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; text-wrap: balance; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .6rem; padding-top: .5rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; max-width: 42rem; }
p, ul, ol { margin: .7rem 0; max-width: 42rem; }
a { color: #0072b2; text-decoration: none; } a:hover { text-decoration: underline; }
code { font: .84em/1.4 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { overflow-x: auto; padding: .8rem 1rem; background: #f7f7f5; border-radius: 4px; }
nav { font: .85rem/1.6 system-ui, "Helvetica Neue", "DejaVu Sans", sans-serif; color: var(--soft); }
nav a { white-space: nowrap; } nav a + a::before { content: " · "; color: var(--soft); }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font: .8rem/1.4 system-ui, "Helvetica Neue", "DejaVu Sans",
  sans-serif; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); border-bottom: 1.5px solid var(--ink); }
td { border-bottom: 1px solid #ececec; vertical-align: top; }
th, td { padding: .28rem .9rem .28rem 0; } th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; } td.number, td.short { white-space: nowrap; } th { vertical-align: bottom; }
tr.definition td { color: #444; font-style: italic; padding-top: .7rem; border-bottom: none; }
tr.definition { break-after: avoid; } tr.same td:first-child, tr.other td:first-child, tr.told td:first-child
{ padding-left: 1rem; } tr.other td:last-child { color: var(--bad); white-space: nowrap; }
tr.same td:last-child { color: var(--good); white-space: nowrap; } tr.told td { color: var(--soft); }
tr.holds strong { color: var(--good); } tr.fails strong { color: var(--bad); }
tr.not-decided strong { color: var(--open); } tr.not-decided td:last-child { white-space: nowrap; }
figure { margin: 1.6rem 0 1.8rem; } figure img { max-width: 100%; height: auto; display: block; }
figcaption { font: .85rem/1.5 system-ui, "Helvetica Neue", "DejaVu Sans", sans-serif; color: #444;
  margin-top: .5rem; max-width: 46rem; }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
@media print { body { font-size: 10.5pt; } main { max-width: none; padding: 0; } nav { display: none; }
  h2, h3 { break-after: avoid; } figure, tr { break-inside: avoid; } thead { display: table-header-group; }
  .scroll { overflow: visible; } a { color: inherit; } @page { margin: 18mm; } }
"""
#: Texts up to here stay on one line.
SHORT = 18
KINDS = {".png": "image/png", ".svg": "image/svg+xml"}


def document(title: str, page: Sequence[Block], picture: Callable[[str], Path | None]) -> str:
    """The whole file. picture: the file of a figure, by its name; it goes into the page."""
    render = _renderer()
    headings = [block.text for block in page if isinstance(block, Heading) and block.level == 2]
    made, first = [], True
    for block in page:
        if isinstance(block, Heading):
            if block.level == 2 and first:
                made.append(_contents(headings))
                first = False
            made.append(f'<h{block.level} id="{_anchor(block.text)}">{markup(block.text)}</h{block.level}>')
        elif isinstance(block, Text):
            made.append(render.render(block.markdown))
        elif isinstance(block, Grid):
            made.append(_table(block, render))
        else:
            made.append(_figure(picture(block.name), render.renderInline(block.caption), block.name))
    body = visible("\n".join(made))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{markup(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{STYLE}</style>\n'
        f"</head>\n<body>\n<main>\n{body}\n<footer>Made by rexmit.</footer>\n</main>\n</body>\n</html>\n"
    )


def _renderer() -> Any:
    from markdown_it import MarkdownIt

    # Tags in it are no part of Markdown here; links to scripts are none of MarkdownIt's either.
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _anchor(heading: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in heading.lower()).split())


def _contents(headings: Sequence[str]) -> str:
    return "<nav>" + "".join(f'<a href="#{_anchor(h)}">{markup(h)}</a>' for h in headings) + "</nav>"


def _table(grid: Grid, render: Any) -> str:
    whole = [row for row in grid.rows if len(row) > 1]
    longest = [max(len(row[i]) for row in whole) for i in range(len(grid.head))]
    kinds = [
        ' class="number"' if number else ' class="short"' if most <= SHORT else ""
        for number, most in zip(grid.numbers, longest, strict=True)
    ]
    head = "".join(f"<th{k}>{markup(cell)}</th>" for cell, k in zip(grid.head, kinds, strict=True))
    rows = []
    for place, row in enumerate(grid.rows):
        mark = f' class="{grid.marks[place]}"' if grid.marks else ""
        if len(row) == 1:
            told = f'<td colspan="{len(kinds)}">{render.renderInline(row[0])}</td>'
        else:
            told = "".join(f"<td{k}>{render.renderInline(c)}</td>" for c, k in zip(row, kinds, strict=True))
        rows.append(f"<tr{mark}>{told}</tr>")
    body = "\n".join(rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _figure(path: Path | None, caption: str, name: str) -> str:
    image = ""
    if path is not None:
        data = base64.b64encode(path.read_bytes()).decode("ascii")
        image = f'<img alt="{markup(name)}" src="data:{KINDS[path.suffix]};base64,{data}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"
