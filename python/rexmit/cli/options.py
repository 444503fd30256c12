"""Options that several commands have alike, and what must hold between them."""

from __future__ import annotations

import argparse
import os
from typing import Any

from rexmit import extras
from rexmit.cli.values import duration

FORMATS = ("png", "svg", "pdf")


def overwriting(group: Any) -> None:
    """Adds `--overwrite` to the options of a command that writes."""
    group.add_argument("--overwrite", action="store_true", help="replace files that rexmit did not write")


def reporting(group: Any) -> None:
    """Adds `--report` to the options of a command that writes a folder."""
    group.add_argument(
        "--report", action="store_true", help="and report.html, the page of rexmit report, with --out"
    )


def idle(group: Any) -> None:
    """Adds `--idle` and `--interval` to the options of an analysis."""
    group.add_argument(
        "--idle",
        type=duration,
        metavar="TIME",
        help="what counts as idle (default: two round trips, at least 50ms)",
    )
    group.add_argument(
        "--interval", type=duration, default=1.0, metavar="TIME", help="length of the intervals (default 1s)"
    )


def figures_and_tables(group: Any) -> None:
    """Adds the forms of what is written into a folder."""
    group.add_argument("--figures", choices=(*FORMATS, "none"), help="format of the figures (default png)")
    group.add_argument("--csv", action="store_true", help="tables as CSV only (default: Parquet and CSV)")
    group.add_argument("--parquet", action="store_true", help="tables as Parquet only")


def check_folder(option: str, file: str | None) -> str | None:
    """A file that is to be written needs a folder that is there."""
    folder = os.path.dirname(file or "")
    return f"{option} {file}: there is no folder {folder}" if folder and not os.path.isdir(folder) else None


def check_written(o: argparse.Namespace) -> str | None:
    """What is asked to be written needs a folder, and packages that write it."""
    if o.out:
        if o.parquet:
            extras.need("tables", "--parquet")
        if o.figures and o.figures != "none":
            extras.need("figures", "--figures")
        return None
    if o.figures and o.figures != "none":
        return "--figures needs --out DIR to write into"
    if o.csv or o.parquet:
        return f"{'--csv' if o.csv else '--parquet'} needs --out DIR to write into"
    if o.report:
        return "--report needs --out DIR to write into; rexmit report writes a file by itself"
    return None
