"""docs/own-rule-in-rust.md: the rule that it shows compiles where it says, with the lines that it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULE = ROOT / "examples" / "rules" / "gentle.rs"


def test_the_documents_show_the_examples() -> None:
    page = (ROOT / "docs" / "own-rule-in-rust.md").read_text()
    tutorial = (ROOT / "docs" / "tutorials" / "own-rule.md").read_text()
    assert f"```rust\n{RULE.read_text()}```\n" in page
    for name in ("gentle.py", "steady.py", "late.py"):
        assert f"```python\n{RULE.with_name(name).read_text()}```\n" in tutorial


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo")
def test_the_page_compiles_with_two_lines(tmp_path: Path) -> None:
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("crates", "benches", "fuzz"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("target", "__pycache__"))
    congestion = tmp_path / "crates" / "tcp" / "src" / "congestion"
    shutil.copy(RULE, congestion)
    listed = congestion / "mod.rs"
    text = listed.read_text()
    page = (ROOT / "docs" / "own-rule-in-rust.md").read_text()
    (line,) = re.findall(r"^    Gentle\(gentle\) in \w+,$", page, re.M)
    text, modules = re.subn(r"^mod hystart;$", "pub mod gentle;\nmod hystart;", text, flags=re.M)
    text, rules = re.subn(r"^    Own\(own\) in Plain,$", rf"{line}\n\g<0>", text, flags=re.M)
    assert (modules, rules) == (1, 1)
    listed.write_text(text)
    built = subprocess.run(
        ["cargo", "check", "--quiet", "--offline", "-p", "rexmit-tcp"],
        cwd=tmp_path,
        env={**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target" / "own-rule"), "RUSTFLAGS": "-Dwarnings"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert built.returncode == 0, built.stderr
