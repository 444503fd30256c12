"""`rexmit drill`: results, sentences, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rexmit import cli

SCRIPTS = Path(__file__).parents[2] / "crates/drill/tests/scripts"


def answers(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, object]]]:
    code = cli.main(["drill", "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def test_every_script_of_our_own_passes(capsys: pytest.CaptureFixture[str]) -> None:
    names = sorted(str(p) for p in SCRIPTS.glob("*.pkt"))
    code, found = answers(capsys, *names)
    assert code == 0
    assert [a["script"] for a in found] == names
    assert all(a == {"script": a["script"], "result": "pass", "why": None, "line": None} for a in found)


def test_a_script_that_fails_shows_its_ladder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (SCRIPTS / "tlp.pkt").read_text()
    script = tmp_path / "wrong.pkt"
    script.write_text(text.replace("> P. 9001:10001(1000)", "> P. 8001:9001(1000)"))
    assert cli.main(["drill", str(script)]) == 1
    out = capsys.readouterr().out
    assert "bytes 9001:10001(1000), not 8001:9001(1000)" in out
    row = next(line for line in out.splitlines() if "> P. 8001:9001(1000) ack 1" in line)
    assert row.endswith("> P. 9001:10001(1000) ack 1 win 256")


def test_what_rexmit_has_not_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "icmp.pkt"
    script.write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 < icmp unreachable port_unreachable\n")
    code, found = answers(capsys, str(script))
    assert (code, found[0]["result"], found[0]["why"], found[0]["line"]) == (1, "unsupported", "ICMP", 2)


def test_what_is_no_script_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "broken.pkt"
    script.write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 < Q. 1:1(0)\n")
    code, found = answers(capsys, str(script))
    assert (code, found[0]["result"], found[0]["line"]) == (2, "fail", 2)
    assert found[0]["why"] == "is no script: `Q` is no flag of F, S, R, P, E, W or `.`"
    script.write_bytes(b"\xff")
    assert cli.main(["drill", str(script)]) == 2
    assert cli.main(["drill", str(SCRIPTS / "tlp.pkt"), "--stack", "linux-6-cubix"]) == 2
    assert "linux-6-cubic" in capsys.readouterr().err
    assert cli.main(["drill", str(SCRIPTS / "tlp.pkt"), "--stack", "ns2-reno"]) == 1
