"""Scenarios: from a file, from text or built in code; overridden key by key; written as TOML."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.files.reach import WITHIN
from rexmit.screen.say import one_line

if TYPE_CHECKING:
    from typing import TypeAlias

    Source: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Scenario"


class Scenario:
    """A scenario: one TOML text says everything (docs/scenario.md), and overrides of single keys.

    Keyword arguments build one in code: `Scenario(name="t", nodes=["a", "b"], links=[{…}], flows=[{…}])`.
    Nodes may be names; links, flows, nodes and stacks stand for `[[link]]`, `[[flow]]`, `[[node]]` and
    `[[stack]]`, and a link's channels for `[[link.channel]]`.
    """

    def __init__(
        self,
        *,
        nodes: Sequence[str | Mapping[str, Any]] = (),
        links: Sequence[Mapping[str, Any]] = (),
        flows: Sequence[Mapping[str, Any]] = (),
        stacks: Sequence[Mapping[str, Any]] = (),
        **keys: Any,
    ) -> None:
        named = [{"name": n} if isinstance(n, str) else n for n in nodes]
        lists = {"node": named, "link": links, "flow": flows, "stack": stacks}
        whole = keys | {key: list(value) for key, value in lists.items() if value}
        self._start(text=toml(whole), label=str(keys.get("name", "scenario")), in_code=True)

    def _start(
        self,
        *,
        text: str | None = None,
        path: str | None = None,
        label: str,
        folder: str = "",
        set: tuple[tuple[str, str], ...] = (),
        mark: str = "",
        in_code: bool = False,
    ) -> None:
        self._text = text
        # Nobody has seen its lines: messages name keys only.
        self._in_code = in_code
        self._path = path
        self.label = label
        self._folder = folder
        self._set = set
        self._mark = mark

    @classmethod
    def _made(cls, **parts: Any) -> Scenario:
        made = cls.__new__(cls)
        made._start(**parts)
        return made

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """A scenario file. Files that it names are looked for beside it. It is read again by every run."""
        return cls._made(path=os.fspath(path), label=os.fspath(path))

    @classmethod
    def parse(cls, text: str, label: str = "scenario", folder: str | os.PathLike[str] = "") -> Scenario:
        """TOML text. label: its name in messages.  folder: where the files that it names are looked for."""
        return cls._made(text=text, label=label, folder=os.fspath(folder))

    @classmethod
    def of(cls, source: Any) -> Scenario:
        """Whatever says a scenario: a path, the name of one that ships, TOML text (it has a line break or an
        equals sign), a dictionary, or one already.
        """
        if isinstance(source, Scenario):
            return source
        if isinstance(source, Mapping):
            return cls._made(text=toml(source), label=str(source.get("name", "scenario")), in_code=True)
        if isinstance(source, str) and ("\n" in source or "=" in source):
            return cls.parse(source)
        if isinstance(source, str):
            from rexmit.running import shipped

            return shipped.opened(source)
        return cls.load(source)

    def with_(self, set: Mapping[str, Any] | None = None, **overrides: Any) -> Scenario:
        """The same with some keys set: `with_({"flow.upload.stack": "rfc-sack"})`, `with_(duration="5s")`.

        Names address the elements of lists (docs/scenario.md). Later values win.
        """
        more = {**(set or {}), **overrides}
        if not more:
            return self
        pairs = tuple(
            (key, value if isinstance(value, str) else inline(value)) for key, value in more.items()
        )
        return self._with(self._set + pairs, self._mark)

    def _with(self, set: tuple[tuple[str, str], ...], mark: str) -> Scenario:
        return Scenario._made(
            text=self._text,
            path=self._path,
            label=self.label,
            folder=self._folder,
            set=set,
            mark=mark,
            in_code=self._in_code,
        )

    def to_toml(self) -> str:
        """The scenario as resolved: presets expanded, defaults, overrides and stacks written out.

        Raises ScenarioError if it is none: a line for each mistake.
        """
        return _core.resolve(self._variant(None))

    def recorded(self) -> tuple[list[str], list[str]]:
        """The names of all nodes, and of those that `record.capture` names."""
        import tomllib

        whole = tomllib.loads(self.to_toml())
        return [node["name"] for node in whole["node"]], list(whole.get("record", {}).get("capture", ()))

    def _variant(self, seed: int | None) -> _core.Variant:
        """As the core takes it. Raises ValueError if that is no seed, and for what is no text."""
        for word in (self._text or "", *(part for pair in self._set for part in pair)):
            # Names of files may have any bytes.
            word.encode()
        return {
            "path": self._path,
            "text": self._text,
            "file": None if self._in_code else one_line(self.label),
            "folder": self._folder,
            "set": list(self._set),
            "label": self._mark,
            "seed": None if seed is None else whole_seed(seed),
            "within": WITHIN.get(),
        }

    def _arguments(self) -> list[str]:
        """The overrides as the command line takes them."""
        return [word for key, value in self._set for word in ("--set", f"{key}={value}")]

    def __repr__(self) -> str:
        said = "".join(f", {key}={value}" for key, value in self._set)
        return f"<scenario {one_line(self.label + said)}>"


def whole_seed(seed: Any) -> int:
    """A seed as a whole number, numpy's among them. Raises ValueError if it is none."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if not 0 <= number < 2**63:
        raise ValueError(f"seed = {seed!r}: a seed is a whole number from 0 up, below 2**63")
    return number


def inline(value: Any) -> str:
    """A value as it stands behind an equals sign in TOML. Raises TypeError for what TOML has none of."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str | os.PathLike):
        # TOML's basic strings are JSON's.
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(inline, value)) + "]"
    if hasattr(value, "item"):
        return inline(value.item())
    raise TypeError(
        f"{value!r} is no value of a scenario: text, numbers, true, false, lists and dictionaries are"
    )


def toml(whole: Mapping[str, Any]) -> str:
    """A dictionary as TOML: plain values first, tables inline, lists of tables as `[[…]]`."""
    plain, lists = [], []
    for key, value in whole.items():
        if _is_tables(value):
            for table in value:
                lists.append(f"\n[[{_key(key)}]]")
                lists += [f"{_key(k)} = {inline(v)}" for k, v in _named(key, table).items()]
        else:
            plain.append(f"{_key(key)} = {inline(value)}")
    return "\n".join(plain + lists) + "\n"


def _named(key: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    # The plural that reads better in code: channels of a link.
    if key == "link" and "channels" in table:
        return {("channel" if k == "channels" else k): v for k, v in table.items()}
    return table


def _is_tables(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and all(isinstance(v, Mapping) for v in value)
    )


def _key(key: str) -> str:
    plain = key.replace("-", "").replace("_", "")
    return key if plain.isascii() and plain.isalnum() else json.dumps(key)
