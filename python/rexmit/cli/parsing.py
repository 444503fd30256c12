"""The parser: an error is one sentence with the nearest valid option; examples stand as they are written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any, NoReturn

from rexmit.cli.ending import BAD_INPUT
from rexmit.screen.say import one_line, tell
from rexmit.screen.streams import printing


class Help(argparse.RawDescriptionHelpFormatter):
    """Fills paragraphs as wide as the terminal. Indented lines, such as examples, stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines: list[str] = []
        for is_kept, found in groupby(text.splitlines(), lambda line: line[:1] in ("", " ", "-")):
            group = list(found)
            lines += group if is_kept else wrap(" ".join(group), width, break_on_hyphens=False)
        return "".join(f"{indent}{line}\n" for line in lines)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence with the nearest valid option."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", Help)
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        hint = ""
        if message.startswith("argument ") and message.endswith(": expected one argument"):
            name = message.removeprefix("argument ").removesuffix(": expected one argument")
            message = f"{name} needs a value"
            after = next((w for w in sys.argv if w.startswith("-") and w[1:2].isdigit()), None)
            hint = f"; {after} is below 0, which it cannot be" if after else f"; see {self.prog} --help"
        elif message.startswith("unrecognized arguments: "):
            unknown = message.removeprefix("unrecognized arguments: ").split()[0]
            near = self._near(unknown.split("=")[0], self._known())
            message = f"{unknown} is no option"
            hint = f"; did you mean {near}?" if near else f"; see {(self._asked() or self).prog} --help"
        elif "invalid choice: " in message:
            name, _, rest = message.removeprefix("argument ").partition(": invalid choice: ")
            wrong, _, choices = rest.partition(" (choose from ")
            allowed = [c.strip(" '") for c in choices.rstrip(")").split(",")]
            near = self._near(wrong.strip("'"), allowed)
            message = f"{name}: {wrong.strip(chr(39))} is none of {', '.join(allowed)}"
            hint = f"; did you mean {near}?" if near else ""
        self.exit(BAD_INPUT, one_line(f"{self.prog}: {message}{hint}") + "\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        # The library's own passes over what cannot be written.
        if file is sys.stdout and message:
            with printing():
                file.write(message)
        elif message:
            tell(message.removesuffix("\n"))

    def _commands(self) -> dict[str, Parser]:
        """The parsers of its commands by name."""
        subparsers = (a for a in self._actions if isinstance(a, argparse._SubParsersAction))
        return next((dict(action.choices) for action in subparsers), {})

    def _asked(self) -> Parser | None:
        """The parser of the command that was given, whose help has its options."""
        commands = self._commands()
        return next((commands[word] for word in sys.argv[1:] if word in commands), None)

    def _known(self) -> list[str]:
        # An option of another command would be none here either.
        asked = self._asked()
        commands = [asked] if asked else self._commands().values()
        return [*self._option_string_actions, *(option for of in commands for option in of._known())]

    @staticmethod
    def _near(word: str, known: Sequence[str]) -> str | None:
        from difflib import get_close_matches

        return next(iter(get_close_matches(word, known, 1, 0.6)), None)
