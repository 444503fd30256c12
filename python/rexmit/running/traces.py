"""Long traces of a resolved scenario, as files beside it: a scenario's own text may have 8 MiB."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from decimal import Decimal

#: A line longer than this is put into a file of its own.
LONG = 1 << 16
#: The folder of the files, beside the scenario.
FOLDER = "traces"

_SECONDS = {"ns": "1e-9", "us": "1e-6", "ms": "1e-3", "s": "1"}


def apart(text: str, long: int = LONG) -> tuple[str, dict[str, str]]:
    """The scenario with its long traces named instead of written out, and the files by their names."""
    files: dict[str, str] = {}
    lines = [line if len(line) <= long else _line(line, files) for line in text.split("\n")]
    return "\n".join(lines), files


def _line(line: str, files: dict[str, str]) -> str:
    key = line.split(" = ", 1)[0]
    if key not in ("opportunities", "schedule"):
        return line
    value = tomllib.loads(line)[key]
    if key == "opportunities":
        return f'file = "{_kept(files, "rates", [str(ms) for ms in value])}"'
    if "intervals" not in value:
        return line
    pairs = [" ".join(seconds(span) for span in pair) for pair in value["intervals"]]
    return f'schedule = {{ file = "{_kept(files, "outages", pairs)}", anchor = "{value["anchor"]}" }}'


def _kept(files: dict[str, str], what: str, lines: Sequence[str]) -> str:
    name = f"{FOLDER}/{what}-{len(files) + 1}.txt"
    files[name] = "\n".join(lines) + "\n"
    return name


def seconds(span: str) -> str:
    """A scenario's time ("700ms") in seconds, exactly: "0.7"."""
    unit = span.lstrip("0123456789")
    return f"{Decimal(span.removesuffix(unit)) * Decimal(_SECONDS[unit]):f}"
