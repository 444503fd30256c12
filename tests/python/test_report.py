"""`rexmit report`: one file that says what `--json` says, holds every packet, and runs nothing of theirs."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import rexmit
from conftest import DATA
from containers import inflated, unpack
from rexmit import _core
from rexmit.cli import main
from rexmit.cli.report import default

CAPTURE = DATA / "F1_cubic_22M_GE.snd.pcap.gz"


class Elements(HTMLParser):
    """The scripts of a page with their attributes, and every tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.addresses: list[str] = []
        self._open: dict[str, str | None] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")
        ]
        if tag == "script":
            self._open = dict(attrs)
            self.scripts.append((self._open, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            of, text = self.scripts[-1]
            self.scripts[-1] = of, text + data


class Page:
    """A report, read as the page reads it."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.elements = Elements(self.text)
        self.meta: dict[str, Any] = {}
        self.blobs: dict[str, bytes] = {}
        for of, text in self.elements.scripts:
            if of.get("id") == "rexmit-meta":
                self.meta = json.loads(text)
            elif "data-blob" in of:
                self.blobs[str(of["data-blob"])] = inflated(base64.b64decode(text))

    def details(self) -> list[dict[str, Any]]:
        """Of all sources, those in blobs too."""
        found = []
        for source in self.meta["sources"]:
            found += source["details"]
            for more in source["more"]:
                found += json.loads(self.blobs[more["blob"]])
        return found

    def packets(self, detail: dict[str, Any]) -> dict[str, Any]:
        """The packets of a flow, all of which are there."""
        (blob,) = detail["packets"]["blobs"]
        head, columns = unpack(self.blobs[blob])
        assert head["kind"] == "packets"
        assert head["complete"]
        a, z = detail["packets"].get("rows", [0, head["rows"]])
        return {name: values[a:z] for name, values in columns.items()}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    out = tmp_path_factory.mktemp("report") / "page.html"
    assert main(["report", str(CAPTURE), "-o", str(out)]) == 0
    return Page(out)


def test_what_it_counts_is_what_json_says(page: Page, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(CAPTURE), "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    (source,) = page.meta["sources"]
    assert source["totals"] == told["totals"]
    assert source["capture"] == told["capture"]
    by_number = {flow["flow"]: flow for flow in told["flows"]}
    details = page.details()
    assert {detail["flow"] for detail in details} == set(by_number)
    for detail in details:
        flow = by_number[detail["flow"]]
        assert detail["row"] == {k: v for k, v in flow.items() if k in detail["row"]}
        assert detail["row"]["bytes"] == flow["bytes"]
        assert detail["row"]["lost"] == flow["lost"]
        for name in ("episodes", "bursts", "idle"):
            times = [round(row["start_s"] * 1e9) for row in flow[name]]
            assert [row["start_ns"] for row in detail[name]] == sorted(times)
        if flow["answer"] is None:
            assert detail["answer"] is None
        else:
            assert detail["answer"] == flow["answer"]
            assert detail["outages"] == flow["outages"]


def test_every_packet_is_there_as_the_table_has_it(page: Page) -> None:
    capture = rexmit.capture(CAPTURE, tables=("packets", "retransmissions"))
    for detail in page.details():
        flow = next(f for f in capture.flows if f.id == detail["flow"])
        table, found = flow.frame("packets"), page.packets(detail)
        assert detail["packets"]["count"] == len(table)
        assert np.array_equal(found["packet"], table["packet"])
        assert np.abs(found["time_ns"] - table["time"] * 1e9).max() < 1
        for name in ("seq", "len", "ack", "flags"):
            assert np.array_equal(found[name].astype(np.int64), table[name]), name
        for k in range(1, 5):
            for end in ("start", "end"):
                there = np.maximum(table[f"sack{k}_{end}"], 0)
                assert np.array_equal(found.get(f"sack{k}_{end}", there * 0).astype(np.int64), there)
        assert found["lost"].sum() == (detail["row"]["lost"]["copies"] or 0)
        assert found["needless"].sum() == detail["row"]["retransmissions"]["needless"]
        assert (found["cause"] > 0).sum() == detail["row"]["retransmissions"]["packets"]


def test_each_moment_has_the_owner_that_the_table_has(page: Page) -> None:
    capture = rexmit.capture(CAPTURE)
    (detail, other) = page.details()
    rows = [row for row in capture.owners if row["flow"] in (detail["flow"], other["flow"])]
    told = detail["owners"]
    assert told == other["owners"]
    assert len({row["cause"] for row in rows}) > 3
    for name in ("cause", "by", "certainty"):
        assert told[name] == [row[name] for row in rows]
    for name in ("start", "end"):
        assert told[f"{name}_ns"] == [row[name] - capture.origin_ns for row in rows]
    # They are the seconds of the answer, but for what several causes have of one part.
    causes = {share["cause"] for share in detail["answer"]["causes"]}
    assert set(told["cause"]) <= causes | {"nothing"}


@pytest.mark.parametrize("name", ["nosack.snd", "notimestamps.rcv", "tsoblk.snd"])
def test_the_turns_of_a_connection_have_the_time_that_its_waits_have(name: str, tmp_path: Path) -> None:
    path = DATA / f"{name}.pcap.gz"
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 0
    page = Page(tmp_path / "page.html")
    # The control connection of iperf3, and its data, which nobody answers.
    named = {detail["flow"]: detail["turns"] for detail in page.details()}
    assert named == {0: "0/0/turns", 1: "0/0/turns", 2: None}
    head, turns = unpack(page.blobs["0/0/turns"])
    assert (head["kind"], head["words"]) == ("table", {"host": ["client", "server"]})
    assert (np.diff(turns["time_ns"]) >= 0).all()
    assert (turns["end_ns"] >= turns["time_ns"]).all()
    waits = list(rexmit.capture(path).waits)
    # A message whose first packet waited for an ACK is a turn, too: the waits may count one less.
    assert 0 <= turns["answers"].sum() - sum(row["turns"] for row in waits) <= 1
    row = {detail["flow"]: detail["row"] for detail in page.details()}
    for number, host in enumerate(head["words"]["host"]):
        of_host = turns["host"] == number
        what = (number, host, "program")
        program = sum(w["time_s"] for w in waits if (w["flow"] + number, w["host"], w["waits_for"]) == what)
        assert turns["program_us"][of_host].sum() / 1e6 == pytest.approx(program, rel=0.01, abs=0.1)
        assert turns["bytes"][of_host].sum() == row[number]["bytes"]


@pytest.mark.parametrize("kind", ["u4", "f4", "f8"])
@pytest.mark.parametrize("rows", [0, 1, 7, 4096])
def test_a_table_of_numbers_is_a_container_that_gives_them_back(kind: str, rows: int) -> None:
    values = np.random.default_rng(7).integers(0, 2**31, rows).astype(kind)
    head, found = unpack(_core.report_table(pa.table({"one": values, "other": values[::-1]})))
    assert (head["kind"], head["rows"]) == ("table", rows)
    assert np.array_equal(found["one"], values)
    assert np.array_equal(found["other"], values[::-1])
    with pytest.raises(ValueError, match="column one is Utf8"):
        _core.report_table(pa.table({"one": ["a"]}))


EVIL = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]><svg onload=alert(1)>",
    "\"'><img src=x onerror=alert(1)>",
    "};alert(1)//",
    "@import url(evil);",
    "\x1b[31m\u202egnp.exe\u2066",
    "line\u2028break\u2029",
    "\udcff\udcfe",
]


@pytest.mark.skipif(os.name != "posix", reason="names of files are text here")
@pytest.mark.parametrize("evil", EVIL, ids=ascii)
def test_a_name_runs_nothing_and_ends_no_element(evil: str, tmp_path: Path, page: Page) -> None:
    taken = tmp_path / (evil.replace("/", "\u2215") + ".pcap.gz")
    taken.write_bytes(CAPTURE.read_bytes())
    out = tmp_path / "page.html"
    assert main(["report", str(taken), "-o", str(out)]) == 0
    hostile = Page(out)
    assert hostile.elements.tags == page.elements.tags
    assert hostile.elements.attributes == page.elements.attributes
    # Nothing in the text of an element could begin or end another, however a browser reads scripts.
    for of, text in hostile.elements.scripts:
        if "type" in of and of["type"] != "module":
            assert not re.search("[<>&\u2028\u2029\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", text)
    assert "\u202e" not in hostile.meta["title"]


def test_a_file_of_somebody_else_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mine.html"
    out.write_text("<p>mine</p>")
    assert main(["report", str(CAPTURE), "-o", str(out)]) == 2
    assert "rexmit did not write this file" in capsys.readouterr().err
    assert out.read_text() == "<p>mine</p>"
    for _ in range(2):
        assert main(["report", str(CAPTURE), "-o", str(out), "--overwrite"]) == 0
    assert main(["report", str(CAPTURE), "-o", str(out)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine.html"]


def test_a_full_disk_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    assert main(["report", str(CAPTURE), "-o", "/dev/full"]) == 1
    assert capsys.readouterr().err == "rexmit: /dev/full: no space left on device\n"


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', page.text)
    assert policy is not None
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert "unsafe-inline" not in policy[1].split("script-src")[1].split(";")[0]
    assert not [address for address in page.elements.addresses if not address.startswith("data:")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "nothing named"),
        (["a", "b", "c"], "c: two at most"),
        (["--sender", "a"], "--receiver is missing"),
        (["a", "--sender", "a", "--receiver", "b"], "not all three"),
        (["not-there.pcap"], "not-there.pcap"),
        (["x.pcap", "-o", "not-there/x.html"], "-o not-there/x.html: there is no folder not-there"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", *words]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("named", "file"),
    [
        ("slow.pcap", "slow.html"),
        ("a/b/slow.snd.pcapng.gz", "slow.snd.html"),
        ("runs/1/", "1.html"),
        ("x.toml", "x.html"),
        ("-", "report.html"),
        (".pcap", "report.html"),
    ],
)
def test_the_file_is_called_as_what_it_shows(named: str, file: str) -> None:
    assert default(named) == file


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    command = [sys.executable, "-m", "rexmit", "report", "-", "-o", str(out)]
    with open(CAPTURE, "rb") as given:
        done = subprocess.run(command, stdin=given, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert Page(out).details()[0]["packets"]["count"] == 10_735
