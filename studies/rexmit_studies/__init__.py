"""The papers' experiments: each run again, its figures compared, its claims judged (docs/studies.md)."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.running.shipped import nearest, scenario

if TYPE_CHECKING:
    from rexmit_studies.study import Study

__all__ = ["load", "names", "scenario"]

#: In this order; `rexmit_studies.NAME` has `STUDY`.
ALL = ("interruption", "rto", "ns3", "wireless", "selfsimilar")


def names() -> list[str]:
    """The studies there are."""
    return [name for name in ALL if find_spec(f"rexmit_studies.{name}")]


def load(name: str) -> Study:
    """A study by its name, or from a Python file that has `STUDY`. Raises ValueError, with the nearest name,
    for one there is not.
    """
    if name.endswith(".py"):
        return _from_file(Path(name))
    known = names()
    if name not in known:
        raise ValueError(f"{name!r} is no study{nearest(name, known)}")
    study: Study = import_module(f"rexmit_studies.{name}").STUDY
    return study


def _from_file(path: Path) -> Study:
    """A study of one's own. Its figures lie in the TOML file that it names, beside it."""
    from dataclasses import replace

    from rexmit_studies import paper

    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} cannot be read as a Python module")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    study: Study | None = getattr(module, "STUDY", None)
    if study is None:
        raise ValueError(f"{path} has no STUDY")
    if study.name in ALL:
        raise ValueError(f"{path}: a study called {study.name} ships with rexmit; give it another name")
    facts = path.with_name(study.facts)
    if not study.facts or not facts.is_file():
        raise ValueError(f"{path}: facts={study.facts!r} names no file of the paper's figures beside it")
    paper.add(facts, study.name)
    return replace(study, origin=str(path))
