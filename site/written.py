"""Pages that are written from the program itself, so that they cannot say anything else."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from rexmit import _core, cli


def pages() -> dict[str, str]:
    """Their text by their place below docs/."""
    return {"reference/stacks.md": stacks(), "reference/commands.md": commands()}


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
