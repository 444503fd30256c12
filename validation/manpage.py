"""Writes the manual page `man rexmit` from the parser of the command line, which has every word of it.

    .venv/bin/python validation/manpage.py            (make man)

The page is part of the checkout, since neither maturin nor pip runs anything that could write it: wheels put
it into share/man/man1 of the environment. A test compares it with the parser.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path

from rexmit import cli

PAGE = Path(__file__).resolve().parent.parent / "python/rexmit.data/data/share/man/man1/rexmit.1"
EXIT_CODES = {
    "0": "an answer; also where part of a capture was damaged, which the answer says",
    "1": "a run that failed",
    "2": "bad input: a file, a key or an option",
}


def page() -> str:
    """The whole page, in man(7)."""
    top = cli.parser()
    return "\n".join(_page(top)) + "\n"


def _page(top: argparse.ArgumentParser) -> Iterator[str]:
    about = (top.description or "").strip().rstrip(".")
    # No date: the same parser gives the same page.
    yield '.TH REXMIT 1 "" "rexmit" "User Commands"'
    yield ".SH NAME"
    yield f"rexmit \\- {_text(about[0].lower() + about[1:])}"
    yield ".SH SYNOPSIS"
    for path, parser, _ in commands(top):
        yield from _synopsis(path, parser)
    yield ".SH OPTIONS"
    yield from _option(argparse.HelpFormatter("rexmit"), top._option_string_actions["--version"])
    yield from _tagged("\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "the options, here and after any command")
    yield ".SH COMMANDS"
    for path, parser, about in commands(top):
        yield f".SS {_text(path)}"
        yield from _paragraphs(parser.description or f"{about[:1].upper()}{about[1:]}.")
        yield from _options(path, parser)
        yield from _paragraphs(parser.epilog or "")
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from _tagged(f"\\fB{code}\\fR", _text(meaning))
    yield ".SH SEE ALSO"
    yield ".BR tcpdump (8),\n.BR tshark (1),\n.BR ss (8)"


def commands(parser: argparse.ArgumentParser, path: str = "rexmit") -> Iterator[tuple[str, cli.Parser, str]]:
    """Every command that does something, with its parser and its line of help."""
    for action in (a for a in parser._actions if isinstance(a, argparse._SubParsersAction)):
        about = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, child in action.choices.items():
            below = list(commands(child, f"{path} {name}"))
            yield from below or [(f"{path} {name}", child, about.get(name, ""))]


def _synopsis(path: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = argparse.HelpFormatter(path)
    values = [
        formatter._format_args(a, formatter._get_default_metavar_for_positional(a))
        for a in parser._get_positional_actions()
    ]
    yield f"\\fB{_text(path)}\\fR {_text(' '.join(['[option ...]', *values]))}"
    yield ".br"


def _options(path: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = argparse.HelpFormatter(path)
    standard = {parser._optionals.title, parser._positionals.title}
    for group in parser._action_groups:
        shown = [a for a in group._group_actions if a.help is not argparse.SUPPRESS and a.dest != "help"]
        if shown and group.title and group.title not in standard:
            yield ".PP"
            yield f"\\fI{_text(group.title)}\\fR"
        for action in shown:
            yield from _option(formatter, action)


def _option(formatter: argparse.HelpFormatter, action: argparse.Action) -> Iterator[str]:
    meaning = _text(formatter._expand_help(action)) if action.help else ""
    if not action.option_strings:
        default = formatter._get_default_metavar_for_positional(action)
        yield from _tagged(f"\\fI{_text(formatter._format_args(action, default))}\\fR", meaning)
        return
    tag = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
    if action.nargs != 0:
        default = formatter._get_default_metavar_for_optional(action)
        tag += f" \\fI{_text(formatter._format_args(action, default))}\\fR"
    yield from _tagged(tag, meaning)


def _tagged(tag: str, text: str) -> Iterator[str]:
    yield from (".TP", tag, text or "\\&")


def _paragraphs(text: str) -> Iterator[str]:
    """Indented lines stand as they are, what lies between them is filled."""
    for as_it_is, lines in itertools.groupby(
        text.strip("\n").splitlines(), lambda line: line.startswith("  ")
    ):
        if as_it_is:
            yield from (".EX", *map(_text, lines), ".EE")
            continue
        for blank, filled in itertools.groupby(lines, lambda line: not line.strip()):
            if not blank:
                yield from (".PP", *map(_text, filled))


def _text(text: str) -> str:
    """With what roff would understand otherwise escaped. A plain `-` would be shown as a hyphen."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def main() -> None:
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
