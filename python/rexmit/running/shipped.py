"""The scenarios that ship with rexmit, by name."""

from __future__ import annotations

import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rexmit.scenario import Scenario

FOLDER = Path(__file__).parent.parent / "scenarios"
#: How the names of those begin that are made for real kernels, and wait in real time.
LIVE = "live-"


def names() -> list[str]:
    """Their names, sorted."""
    return sorted(found.stem for found in FOLDER.glob("*.toml"))


def scenario(name: str) -> Path:
    """The file of one: `scenario("wireless-ber")`. Raises ValueError if there is none."""
    path = FOLDER / f"{name.removesuffix('.toml')}.toml"
    if not path.is_file():
        raise ValueError(f"{name!r} is no scenario that ships with rexmit{nearest(name, names())}")
    return path


def about(name: str) -> str:
    """The sentence in which a scenario says what it is."""
    return str(tomllib.loads(scenario(name).read_text(encoding="utf-8")).get("about", ""))


def is_named(word: str) -> bool:
    """Whether a word stands for one of them: there is no file of this name."""
    return word in names() and not os.path.lexists(word)


def opened(word: str) -> Scenario:
    """A scenario by its file or, where there is no such file, by the name of one that ships.

    Raises ValueError for a word that can only be a name, and is none.
    """
    from rexmit.scenario import Scenario

    if os.path.exists(word) or word != os.path.basename(word) or word.endswith(".toml"):
        return Scenario.load(word)
    if word not in names():
        near = _near(word, names())
        hint = f"did you mean {near}?" if near else "rexmit scenarios lists them"
        raise ValueError(f"{word!r} is no file, and no scenario that ships with rexmit; {hint}")
    return Scenario._made(path=os.fspath(scenario(word)), label=word)


def nearest(word: str, known: list[str]) -> str:
    """The end of a sentence about a word that is unknown: the nearest of those that are, and all."""
    near = _near(word, known)
    return f"; did you mean {near}? ({', '.join(known)})" if near else f": there are {', '.join(known)}"


def _near(word: str, known: list[str]) -> str | None:
    return next(iter(get_close_matches(word, known, 1, 0.6)), None)
