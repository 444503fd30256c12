"""Answers in a notebook: escaped, whatever the names in them are; and one line as `repr`."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from rexmit_studies.run import Outcome, Section, Study

DATA = Path(__file__).parents[1] / "data"
#: A name that is markup, breaks the line, turns it around and colours it.
EVIL = "<img src=x onerror=alert(1)>\n\u202e\x1b[31m.pcap"


class Tags(HTMLParser):
    """Which tags there are, and whether they close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("evil") / EVIL
    path.write_bytes((DATA / "interruption.snd.pcap.gz").read_bytes())
    cap = rx.capture(path)
    text = Path("scenarios/interruption.toml").read_text()
    scenario = rx.Scenario.parse(text, EVIL)
    short = scenario.with_(duration="5s")
    study = Study("rto", EVIL, EVIL, EVIL, lambda p: None, [], lambda r: [])
    return {
        "capture": cap,
        "flow": cap.worst()[0],
        "run": rx.run(short, 1),
        "runs": rx.runs(short, seeds=[1, 2]),
        "comparison": rx.compare(cap, rx.run(short, 1)),
        "study": Outcome(study, True, 1.0, sections=[Section(EVIL)]),
        "traffic": rx.traffic(str(path)),
        "flows": cap.flows,
    }


KINDS = ["capture", "flow", "run", "runs", "comparison", "study", "traffic", "flows"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_it_and_obeys_no_name(kind: str, shown: dict[str, Any]) -> None:
    text = shown[kind]._repr_html_()
    tags = Tags(text)
    assert tags.open == []
    assert tags.found <= {"pre", "p", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert not {"\x1b", "\u202e"} & set(text)
    assert len(text) > 80


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_repr_is_one_line(kind: str, shown: dict[str, Any]) -> None:
    text = repr(shown[kind])
    assert not {"\n", "\x1b", "\u202e"} & set(text)
    assert text.startswith("<")
    assert text.endswith(">")
    assert len(text) < 400


def test_a_page_is_what_is_printed(shown: dict[str, Any]) -> None:
    assert "with --ladder 1" in str(shown["capture"])
    assert "bottleneck: " in str(shown["run"])
    assert str(shown["runs"]).count("\n") >= 3
