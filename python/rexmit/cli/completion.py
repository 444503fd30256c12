"""`rexmit completion`: a script that lets a shell complete commands, options and their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rexmit.cli.ending import ANSWER

if TYPE_CHECKING:
    import argparse

SHELLS = ("bash", "zsh", "fish")
ABOUT = """\
Prints a script for the shell, to be read when it starts:
  bash   eval "$(rexmit completion bash)"                              in ~/.bashrc
  zsh    rexmit completion zsh > DIR/_rexmit                           DIR in $fpath
  fish   rexmit completion fish > ~/.config/fish/completions/rexmit.fish
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    c = commands.add_parser(
        "completion",
        help="a script for bash, zsh or fish",
        description=ABOUT,
    )
    c.add_argument("shell", choices=SHELLS, help="for which shell")


def run(o: argparse.Namespace) -> int:
    """Shows the script."""
    import shtab

    from rexmit.cli import parser
    from rexmit.cli.shown import show

    show(str(shtab.complete(parser(), o.shell)).splitlines())
    return ANSWER
