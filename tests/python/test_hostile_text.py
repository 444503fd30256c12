"""Names and texts that are anybody's, printed and written: they move no cursor, turn no line around,
break no table, and are no markup and no formula.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import struct
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rexmit.cli import main
from rexmit.screen import say
from test_output import CAPTURE, RECORDED

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="names of files are text here"),
    pytest.mark.filterwarnings("error"),
]

#: As a name of a file; a slash is all that it may not have.
EVIL = [
    "<script>alert(1)<script>",
    '"><img src=x onerror=alert(1)>',
    r"$\frac{1}{2}$",
    "$x_{$",
    "a\nb\r\n# c",
    "\x1b[31mred\x07\x9b",
    "\u202edesrever\u2066",
    "| a | b |",
    r"a\|b\\|c",
    "``a`b",
    "[x](javascript:alert(1))",
    "bytes \udcff\udcfe",
    "a\u2028b\x0bc\x85d",
    "\u4e2d\u6587 e\u0301",
]
WHOLE = "".join(EVIL)[:200]
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def read(text: str) -> str:
    """Nothing in it is obeyed by whatever shows it."""
    found = RAW.search(text)
    assert not found, (found, text[max(0, found.start() - 80) : found.end() + 20])
    return text


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


def rendered(text: str) -> Tags:
    """What Markdown makes of it, tags in it included, as GitHub takes them."""
    from markdown_it import MarkdownIt

    return Tags(MarkdownIt("commonmark").enable("table").render(text))


def files(folder: Path) -> None:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if path.suffix in (".md", ".html", ".json", ".svg", ".csv", ".toml"):
            text = read(path.read_text(encoding="utf-8"))
        if path.suffix == ".md":
            tags = rendered(text)
            assert not tags.found & {"script", "img"} or "![" in text
            assert not tags.found & {"script", "b", "i"}
            assert not [link for link in tags.links if link.lstrip().startswith("javascript:")]
            for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
                columns = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in block.splitlines()}
                assert len(columns) == 1, block
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        if path.suffix == ".svg":
            import xml.etree.ElementTree as ET

            ET.fromstring(text)
        if path.suffix == ".csv":
            assert len({len(row) for row in csv.reader(text.splitlines())}) == 1


@pytest.fixture(params=[*EVIL, WHOLE], ids=lambda text: ascii(text)[:24])
def evil(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def taken(evil: str, tmp_path: Path) -> str:
    path = tmp_path / (evil.replace("/", "") + ".pcap.gz")
    path.write_bytes(Path(CAPTURE).read_bytes())
    return str(path)


def said(capfd: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capfd.readouterr()
    assert main(list(words)) == code
    out, err = capfd.readouterr()
    assert "fault of rexmit" not in err
    assert "Warning" not in err
    read(out + err)
    return out if code == 0 else err


def test_pages_of_a_capture(taken: str, capfd: pytest.CaptureFixture[str]) -> None:
    plain = said(capfd, "analyze", CAPTURE, "--ladder", "1").splitlines()
    assert said(capfd, "analyze", taken, "--ladder", "1").splitlines() == plain
    page = said(capfd, "analyze", taken)
    # Below the header, whose name may take more lines, all is alike: nothing comes out of a name.
    assert page.splitlines()[-8:-1] == said(capfd, "analyze", CAPTURE).splitlines()[-8:-1]
    assert page.splitlines()[-1].startswith("  next     ")
    for words in (["analyze", taken, "--against", CAPTURE], ["compare", taken, taken]):
        lines = said(capfd, *words).splitlines()
        assert lines[0].startswith("first   ")
        assert lines[1].startswith("second  ")
        assert lines[2] == ""
    first, second = said(capfd, "traffic", taken).split("\n")[:2]
    assert " packets, " in first
    assert second == ""


def test_json(taken: str, evil: str, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["analyze", taken],
        ["analyze", taken, "--against", taken],
        ["analyze", taken, "--by", "pair"],
        ["compare", taken, taken],
        ["traffic", taken],
    ):
        told = said(capfd, *words, "--json")
        whole: Any = json.loads(told)
        if words[0] == "compare" and "\udcff" not in evil:
            # Escapes are JSON's own: who reads it gets the name.
            assert whole["first"]["name"] == taken


@pytest.mark.parametrize("evil", [WHOLE, EVIL[2]], ids=["all", "formula"], indirect=True)
def test_what_is_written_of_a_capture(
    taken: str, evil: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    said(capfd, "analyze", taken, "--out", str(out / "a"), "--figures", "none", "--csv")
    said(capfd, "traffic", taken, "--out", str(out / "t"), "--figures", "svg")
    said(capfd, "compare", taken, CAPTURE, "--out", str(out / "c"), "--figures", "svg")
    said(capfd, "compare", taken, CAPTURE, "--out", str(out / "c"), "--figures", "png")
    files(out)
    assert (out / "c" / "side-by-side.png").read_bytes().startswith(b"\x89PNG")
    labels = (out / "c" / "side-by-side.svg").read_text(encoding="utf-8")
    if evil.startswith("$"):
        assert f"first: {evil}" in labels.replace("&lt;", "<")


def told_by_the_capture(text: bytes) -> bytes:
    """The packets of a capture as pcapng, with `text` wherever that format has room for one."""
    plain = gzip.decompress(Path(CAPTURE).read_bytes())

    def block(kind: int, body: bytes) -> bytes:
        size = 12 + len(body)
        return struct.pack("<II", kind, size) + body + struct.pack("<I", size)

    def options(*numbers: int) -> bytes:
        padded = text + bytes(-len(text) % 4)
        return b"".join(struct.pack("<HH", n, len(text)) + padded for n in numbers) + bytes(4)

    order = "<" if plain[0] in (0xD4, 0x4D) else ">"
    unit = 1 if plain[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
    snap, link = struct.unpack(order + "II", plain[16:24])
    # Comment, hardware, system and program; comment, name and description of the interface, and its hardware.
    blocks = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + options(1, 2, 3, 4))]
    resolution = struct.pack("<HHB3x", 9, 1, 9)
    blocks.append(block(1, struct.pack("<HHI", link, 0, snap) + resolution + options(1, 2, 3, 12, 15)))
    at = 24
    while at < len(plain):
        seconds, parts, taken, whole = struct.unpack(order + "IIII", plain[at : at + 16])
        data = plain[at + 16 : at + 16 + taken]
        ns = seconds * 10**9 + parts * unit
        head = struct.pack("<IIIII", 0, ns >> 32, ns & 0xFFFFFFFF, taken, whole)
        blocks.append(block(6, head + data + bytes(-taken % 4) + options(1)))
        at += 16 + taken
    # An address with a name, and counts of the interface with a comment.
    name = b"\x0a\x00\x00\x01" + text.replace(b"\0", b"") + b"\0"
    record = struct.pack("<HH", 1, len(name)) + name + bytes(-len(name) % 4) + bytes(4)
    blocks += [block(4, record), block(5, struct.pack("<III", 0, 0, 0) + options(1))]
    return b"".join(blocks)


def test_what_a_capture_says_of_itself(evil: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Comments and names of interfaces, hosts and programs in a pcapng are anybody's: they change no page."""
    pages = {}
    for text in ("harmless", evil):
        path = tmp_path / "capture.pcapng"
        path.write_bytes(told_by_the_capture(text.encode("utf-8", "surrogateescape")))
        out = tmp_path / ascii(text)[1:9].encode().hex()
        # As long a name as the other: the header takes as many lines.
        noted = str(tmp_path / "another.pcapng")
        words = ["--out", str(out), "--figures", "none", "--csv", "--annotate", noted]
        page = said(capfd, "analyze", str(path), *words).replace(str(out), "OUT")
        page += said(capfd, "traffic", str(path))
        files(out)
        pages[text] = page
        annotated = said(capfd, "analyze", noted)
        assert annotated.splitlines()[1:] == said(capfd, "analyze", str(path)).splitlines()[1:]
    assert len(set(pages.values())) == 1


def test_errors_are_one_line(evil: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name = evil.replace("/", "")
    missing = str(tmp_path / name)
    for words in (
        ["analyze", missing],
        ["traffic", missing],
        ["compare", missing, missing],
        ["run", missing + ".toml"],
        ["analyze", CAPTURE, "--annotate", f"{missing}/x"],
        [name],
    ):
        assert said(capfd, *words, code=2).count("\n") == 1
    text = tmp_path / f"{name}.txt"
    text.write_text(name.encode("utf-8", "replace").decode() * 40)
    assert said(capfd, "analyze", str(text), code=2).count("\n") == 1


def quoted(text: str) -> str:
    return json.dumps(text.encode("utf-8", "replace").decode())


def test_texts_of_a_scenario(evil: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Names in it are letters, digits and a few marks only; what is about it may be any text."""
    path = tmp_path / "scenario.toml"
    for key in ('name = "recorded"', 'name = "a"', 'name = "f"', '"a", "b"]\nrate'):
        wrong = RECORDED.replace('"f"', quoted(evil)) if '"f"' in key else RECORDED
        wrong = wrong.replace('"recorded"', quoted(evil)) if "recorded" in key else wrong
        if wrong == RECORDED:
            continue
        path.write_text(wrong)
        refusal = said(capfd, "run", str(path), code=2)
        assert "is no name" in refusal or "is too long" in refusal
    text = evil.encode("utf-8", "replace").decode()
    if "\x85" not in text:
        path.write_text(f"about = {quoted(text)}\nsource = [{quoted(text)}]\n" + RECORDED)
        said(capfd, "run", str(path), "--out", str(tmp_path / "out"), "--figures", "none", "--csv")
        files(tmp_path / "out")
        said(capfd, "run", str(path), "--json")


def test_a_study_of_ones_own(evil: str) -> None:
    """Texts in it are Markdown; what is said of its data and of what failed is none."""
    import pyarrow as pa

    from rexmit_studies.html import document
    from rexmit_studies.page import blocks, markdown
    from rexmit_studies.run import Outcome, Section
    from rexmit_studies.study import Study

    study = Study("rto", evil, evil, evil, lambda plan: None, [], lambda results: [], origin=evil)
    clean = evil.encode("utf-8", "replace").decode()
    data = pa.table({clean or "x": [clean], "n": [1.5]})
    outcome = Outcome(study, True, 1.0, introduction=evil, sections=[Section(evil, evil, tables={"d": data})])
    outcome.fail(evil, ValueError(evil))
    outcome.left_out.append(evil)
    page = blocks(outcome, f"rexmit study run {evil}")
    text = read(markdown(page, lambda name: None))
    rows = re.findall(r"(?:^\|.*\n)+", text, re.M)
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows[-1].splitlines()] == [3, 3, 3]
    tags = Tags(read(document(evil, page, lambda name: None)))
    assert not tags.found & {"script", "img"}
    assert not [link for link in tags.links if link.lstrip().startswith("javascript:")]


def test_no_medium_has_a_second_escape() -> None:
    """One function for each medium, in `rexmit.screen.say`."""
    package = Path(say.__file__).parent
    own = re.compile(r"html\.escape|import html\b|replace\(\"\|\"|ensure_ascii")
    found = {
        path.name
        for path in package.rglob("*.py")
        if own.search(path.read_text(encoding="utf-8")) and path.name != "say.py"
    }
    # TOML, whose strings are JSON's, and the copy of what the core wrote.
    assert found <= {"scenario.py"}
