"""A new cause of retransmission, idle reason and finding: a small patch each, and no list but the set's own.

tests/changes/ has a patch that adds one of each. A copy of the tree takes them, is built, and analyses a
capture.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
PATCHES = ROOT / "tests" / "changes"
#: What each patch adds: the set and the name.
ADDED = {
    "cause": ("cause", "go-back"),
    "idle_reason": ("idle_cause", "rest"),
    "finding": ("finding", "duplicate-acks"),
}
#: A sender without SACK that had timeouts, and rested.
CAPTURE = ROOT / "tests" / "data" / "nosack.snd.pcap.gz"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "changes"


@pytest.mark.parametrize("name", ADDED)
def test_a_new_value_touches_at_most_four_files(name: str) -> None:
    touched = re.findall(r"^diff --git a/(\S+)", (PATCHES / f"{name}.patch").read_text(), re.MULTILINE)
    assert 0 < len(touched) <= 4, touched


def _run(words: list[str], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        words, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
    return done.stdout


@pytest.mark.parametrize("name", ADDED)
def test_a_patch_applies_to_the_tree_as_it_is(name: str) -> None:
    _run(["git", "apply", "--check", "-C1", str(PATCHES / f"{name}.patch")], ROOT)


def _copy(tree: Path) -> None:
    """The sources as they stand here. What is the same stays as it is: then cargo does not build it again."""
    listed = _run(["git", "ls-files", "-co", "--exclude-standard", "-z"], ROOT).split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for old in [p for p in tree.rglob("*") if p.is_file()]:
        if old.relative_to(tree).as_posix() not in wanted:
            old.unlink()
    for name in sorted(wanted):
        source, copy = ROOT / name, tree / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)


@pytest.fixture(scope="module")
def changed() -> Path:
    """A copy of the tree with all three patches, built, its documents written anew."""
    tree = TARGET / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    _copy(tree)
    for name in ADDED:
        # Outside of any repository: paths are those of the copy.
        patch = ["git", "apply", "-C1", str(PATCHES / f"{name}.patch")]
        _run(patch, tree, GIT_CEILING_DIRECTORIES=str(TARGET))
    # One command: the features of what both need are the same, and nothing is built twice.
    what = ["-p", "rexmit-py", "-p", "rexmit-results", "--features", "rexmit-py/python"]
    words = ["cargo", "build", "--quiet", *what, "--lib", "--example", "write_docs"]
    _run(words, tree, CARGO_TARGET_DIR=str(TARGET / "target"))
    _run([str(TARGET / "target" / "debug" / "examples" / "write_docs")], tree)
    shutil.copyfile(TARGET / "target" / "debug" / "lib_core.so", tree / "python" / "rexmit" / "_core.abi3.so")
    return tree


def _rexmit(tree: Path, *words: str) -> str:
    return _run([sys.executable, "-m", "rexmit", *words], tree, PYTHONPATH=str(tree / "python"))


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the extension is named as Linux has it")
def test_a_new_value_comes_out_wherever_its_set_is_read(changed: Path, tmp_path: Path) -> None:
    answer: dict[str, Any] = json.loads(_rexmit(changed, "analyze", str(CAPTURE), "--json"))
    flow = max(answer["flows"], key=lambda f: int(f["retransmissions"]["total"]))
    assert flow["retransmissions"]["by_cause"]["go-back"] > 300
    assert flow["retransmissions"]["by_cause"]["loss-state"] == 0
    assert "rest" in {gap["cause"] for f in answer["flows"] for gap in f["idle"]}
    found = {finding["kind"]: finding["text"] for finding in flow["answer"]["findings"]}
    assert re.fullmatch(r"The capture has [0-9,]+ duplicate ACKs\.", found["duplicate-acks"])

    schema = json.loads((changed / "docs" / "json.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(answer)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(
            json.loads((ROOT / "docs" / "json.schema.json").read_text())
        ).validate(answer)
    definitions = (changed / "docs" / "definitions.md").read_text()
    for name in ("go-back", "rest"):
        assert re.search(rf"^\| `{name}` \| \S", definitions, re.MULTILINE), name
    assert '"duplicate-acks"' in json.dumps(schema["$defs"]["finding_kind"])

    page = _rexmit(changed, "analyze", str(CAPTURE))
    assert re.search(r"[0-9]+ go-back", page)
    assert "duplicate ACKs" in page

    out = tmp_path / "out"
    _rexmit(changed, "analyze", str(CAPTURE), "--out", str(out))
    _rexmit(changed, "report", str(CAPTURE), "--out", str(tmp_path / "report.html"))
    assert '"go-back":{"colour":"brown"' in (tmp_path / "report.html").read_text().replace('": ', '":')
    told = """
import json, sys
import pyarrow as pa
from rexmit import _core
from rexmit.figures.style import CAUSE_STYLE, IDLE_COLOUR
from rexmit.screen.words import closed_sets
flows = pa.table(_core.analyze([sys.argv[1]]).table("flows"))
print(json.dumps([closed_sets(), CAUSE_STYLE, IDLE_COLOUR, flows.column_names]))
"""
    sets, causes, reasons, columns = json.loads(
        _run([sys.executable, "-c", told, str(CAPTURE)], changed, PYTHONPATH=str(changed / "python"))
    )
    for of, name in ADDED.values():
        assert name in sets[of]
    assert causes["go-back"] == ["#8f3b00", "s"]
    assert "rest" in reasons
    assert "retransmitted_go_back" in columns
