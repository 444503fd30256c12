"""ARCHITECTURE.md against the workspace: its crates, who uses whom, and every file that it names."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
CRATES = sorted(folder.name for folder in (ROOT / "crates").iterdir() if (folder / "Cargo.toml").exists())


def uses(crate: str) -> set[str]:
    cargo = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
    named = set(cargo.get("dependencies", {}))
    for target in cargo.get("target", {}).values():
        named |= set(target.get("dependencies", {}))
    return named & set(CRATES)


def test_the_table_has_every_crate_and_what_it_uses() -> None:
    rows = dict(re.findall(r"^\| `([a-z]+)` \| .* \| ([^|]*) \|$", TEXT, re.M))
    assert sorted(rows) == CRATES
    told = {crate: set(re.findall(r"[a-z]+", used)) for crate, used in rows.items()}
    assert told == {crate: uses(crate) for crate in CRATES}


def test_every_place_that_is_named_exists() -> None:
    # Of the project (`stacks/`), of the crates (`tcp/src/recovery/`), or a file of the folder named before.
    files = {path.name for path in (ROOT / "crates").rglob("*.rs")}
    spans = [s for s in re.findall(r"`([^`\n]+)`", TEXT) if re.fullmatch(r"[\w./]+", s)]
    places = [s for s in spans if ("/" in s or s.endswith((".rs", ".py"))) and "NAME" not in s]
    assert len(places) > 40
    missing = [
        place
        for place in places
        if not (ROOT / place).exists()
        and not (ROOT / "crates" / place).exists()
        and place not in files
        and not any(path.match(f"*/{place}") for path in (ROOT / "crates").rglob(Path(place).name))
    ]
    assert missing == []
