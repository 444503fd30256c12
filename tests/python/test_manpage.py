"""`man rexmit`: the page that is installed is the parser's, and man understands it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rexmit import cli

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import manpage  # noqa: E402


def test_the_page_is_what_the_parser_says() -> None:
    assert manpage.PAGE.read_text(encoding="utf-8") == manpage.page(), "out of date: make man"


@pytest.mark.skipif(not shutil.which("man"), reason="there is no man")
def test_man_shows_it_without_a_warning_and_with_every_command() -> None:
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", str(manpage.PAGE)],
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "MANWIDTH": "200", "LC_ALL": "C.UTF-8"},
        check=True,
    )
    assert done.stderr.decode() == ""
    # man underlines by going back.
    shown = re.sub(".\b", "", done.stdout.decode())
    for path, parser, _ in manpage.commands(cli.parser()):
        section = shown.partition(f"\n   {path}\n")[2].partition("\n   rexmit ")[0]
        options = [name for name in parser._option_string_actions if name not in ("-h", "--help")]
        assert section, f"no section {path}"
        assert not [name for name in options if name not in section]


def test_what_roff_would_take_for_its_own_is_shown() -> None:
    assert list(manpage._paragraphs(".hidden \\fB\n'too\n  --raw")) == [
        ".PP",
        "\\&.hidden \\efB",
        "\\&'too",
        ".EX",
        "  \\-\\-raw",
        ".EE",
    ]


def test_each_command_is_on_the_page() -> None:
    named = {path.split()[1] for path, _, _ in manpage.commands(cli.parser())}
    assert named == set(cli.COMMANDS)
