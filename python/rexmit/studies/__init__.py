"""The papers' experiments: each run again, its figures compared, its claims judged (docs/studies.md)."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rexmit.studies.study import Study

__all__ = ["load", "names", "scenario"]

#: In this order; `rexmit.studies.NAME` has `STUDY`.
ALL = ("interruption", "rto", "ns3", "wireless", "selfsimilar")

SCENARIOS = Path(__file__).parent.parent / "scenarios"


def names() -> list[str]:
    """The studies there are."""
    return [name for name in ALL if find_spec(f"rexmit.studies.{name}")]


def load(name: str) -> Study:
    """A study by its name. Raises ValueError, with the nearest name, for one there is not."""
    known = names()
    if name not in known:
        raise ValueError(f"{name!r} is no study{_nearest(name, known)}")
    study: Study = import_module(f"rexmit.studies.{name}").STUDY
    return study


def scenario(name: str) -> Path:
    """A scenario that ships with rexmit: `scenario("wireless-ber")`. Raises ValueError if there is none."""
    path = SCENARIOS / f"{name.removesuffix('.toml')}.toml"
    if not path.is_file():
        known = sorted(found.stem for found in SCENARIOS.glob("*.toml"))
        raise ValueError(f"{name!r} is no scenario that ships with rexmit{_nearest(name, known)}")
    return path


def _nearest(word: str, known: list[str]) -> str:
    near = next(iter(get_close_matches(word, known, 1, 0.6)), None)
    hint = f"; did you mean {near}?" if near else ""
    return f"{hint} ({', '.join(known)})" if hint else f": there are {', '.join(known)}"
