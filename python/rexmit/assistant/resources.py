"""What an assistant may read to understand an answer, or to write a scenario."""

from __future__ import annotations

from pathlib import Path

from rexmit import _core
from rexmit.running.shipped import FOLDER

#: Documents that travel in the extension, by name, and what they are.
DOCUMENTS = {
    "definitions": "What the words mean, and how it is decided: copy, burst, episode, cause.",
    "json": "Every key of an answer, with its unit.",
    "scenario-keys": "Every key of a scenario, with unit, range and default.",
}


def document(name: str) -> str:
    """A document of `DOCUMENTS` as Markdown. Raises KeyError for another name."""
    return _core.document(name)


def stacks() -> str:
    """The stacks there are, as JSON."""
    return _core.stacks()


def own_scenarios() -> dict[str, Path]:
    """rexmit's own scenarios that can be simulated, by name."""
    found = sorted(FOLDER.glob("*.toml"))
    return {path.stem: path for path in found if not path.stem.startswith("live-")}
