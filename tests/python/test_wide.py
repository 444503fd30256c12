"""Pages are as wide as the terminal that they are printed on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")

#: Tables keep their columns: what is broken into lines is text.
TEXTS = (["help"], ["help", "causes"], ["scenarios"], ["sample"], ["stacks"], ["wireshark"])


def printed(words: list[str], columns: int) -> list[str]:
    """Lines of a command on a terminal of so many columns."""
    child, terminal = pty.fork()
    if child == 0:
        told = {**os.environ, "COLUMNS": str(columns)}
        os.execve(sys.executable, [sys.executable, "-m", "rexmit", *words], told)
    said = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    assert os.waitpid(child, 0)[1] == 0
    return said.decode().replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize("words", TEXTS, ids=" ".join)
@pytest.mark.parametrize("columns", [80, 40])
def test_no_text_is_wider_than_the_terminal(words: list[str], columns: int) -> None:
    lines = printed(words, columns)
    # Commands to be copied stay on one line.
    wide = [
        line for line in lines if len(line) > columns and not line.lstrip().startswith(("next ", "wireshark"))
    ]
    assert wide == []
    assert len(lines) > 8


def test_an_answer_is_as_wide_as_the_terminal_and_the_same_otherwise() -> None:
    data = Path(__file__).resolve().parents[1] / "data" / "nosack.snd.pcap.gz"
    narrow, wide = (printed([str(data)], columns) for columns in (60, 100))
    said = [" ".join(" ".join(lines).split()).split(" segments were lost")[0] for lines in (narrow, wide)]
    assert said[0] == said[1]
    texts = [line for line in narrow if line.startswith(("  known ", "  likely ", " " * 11 + "helps"))]
    assert 50 < max(map(len, texts)) <= 60


def test_the_script_goes_into_a_pipe_and_not_onto_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    from rexmit.cli import main

    assert main(["wireshark"]) == 0
    assert "register_postdissector" in capsys.readouterr().out
    said = "\n".join(printed(["wireshark"], 100))
    assert "register_postdissector" not in said
    assert "rexmit wireshark --install" in said
