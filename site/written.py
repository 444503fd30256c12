"""Pages that are written from the program itself, so that they cannot say anything else."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rexmit import _core, cli


def pages() -> dict[str, str]:
    """Their text by their place below docs/."""
    return {
        "reference/stacks.md": stacks(),
        "reference/tables.md": tables(),
        "reference/commands.md": commands(),
    }


#: What the end of a column's name says of its unit.
UNITS = {"_s": "s", "_bps": "bit/s", "_bytes": "bytes", "_us": "µs", "_ms": "ms", "_segments": "segments"}


def tables() -> str:
    """Every table with its columns."""
    import pyarrow as pa

    import rexmit
    from rexmit.files.output import ABOUT, RUN_ABOUT

    scenario = str(Path(rexmit.__file__).parent / "scenarios" / "interruption.toml")
    run: Any = rexmit.run(scenario, duration="1s", tables=("state", "queues", "drops", "truth", "hosts"))
    lines = [
        "# Tables",
        "",
        "They leave as Arrow, and lie in `tables/` of a folder. Times are points in UTC; of a run",
    ]
    lines += [
        "they count from the first of January 1970. [JSON](../json.md) says what each figure means.",
        "",
    ]
    for name, about in (ABOUT | RUN_ABOUT).items():
        lines += [
            f"## {name}",
            "",
            about[0].upper() + about[1:] + ".",
            "",
            "| column | kind | unit |",
            "|---|---|---|",
        ]
        for field in pa.table(run.table(name)).schema:
            unit = next((unit for end, unit in UNITS.items() if field.name.endswith(end)), "")
            lines.append(f"| `{field.name}` | {field.type} | {unit} |")
        lines.append("")
    return "\n".join(lines)


def stacks() -> str:
    """Every stack with what it is made of and where that is from."""
    lines = [
        "# The stacks",
        "",
        "A stack is a file in `stacks/`; `rexmit stacks NAME` prints one as it is resolved.",
        "",
    ]
    listed: list[dict[str, Any]] = json.loads(_core.stacks())
    lines += ["| stack | |", "|---|---|"]
    lines += [f"| [`{s['name']}`](#{s['name'].replace('.', '')}) | {_cell(s['about'])} |" for s in listed]
    for one in listed:
        lines += ["", f"## {one['name']}", "", one["about"] or ""]
        if one.get("based_on"):
            lines += ["", f"Based on [`{one['based_on']}`](#{one['based_on'].replace('.', '')})."]
        if one.get("sources"):
            lines += ["", "Sources:", "", *(f"- {source}" for source in one["sources"])]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """The help of every command."""
    lines = ["# The command line", ""]
    for name, parser in _parsers(cli.parser(), "rexmit"):
        lines += [f"## {name}", "", "```text", parser.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def _parsers(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, sub in action.choices.items():
                yield from _parsers(sub, f"{name} {word}")


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("\n", " ")
