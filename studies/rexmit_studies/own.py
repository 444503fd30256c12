"""One's own numbers in a paper's experiment: settings and outages that stand in place of the study's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit import _core

if TYPE_CHECKING:
    from rexmit.scenario import Scenario
    from rexmit_studies.axes import Axis, Value

Pair = tuple[str, str]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Own:
    """What the user sets. capture: the packets are the user's too. settings: overrides, later ones win.
    outages: beginning and end, s, or none of one's own; their key in the scenarios is `schedule`. origin:
    for the title; command: the words that say it. axes: axes of the study with the user's values.
    """

    settings: tuple[Pair, ...] = ()
    outages: tuple[Interval, ...] = ()
    schedule: str = ""
    origin: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    capture: bool = False
    axes: tuple[tuple[Axis, Value], ...] = ()
    #: Which settings met a scenario that knows them.
    met: set[str] = field(default_factory=set, compare=False)

    def __bool__(self) -> bool:
        return bool(self.settings or self.outages or self.capture or self.axes)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All of it as overrides."""
        if not self.outages:
            return self.settings
        each = ", ".join(f'["{begin:.9g}s", "{end - begin:.9g}s"]' for begin, end in self.outages)
        return (*self.settings, (f"{self.schedule}.intervals", f"[{each}]"))

    def value(self, key: str) -> str | None:
        """What a key is set to, or None."""
        return next((value for name, value in reversed(self.settings) if name == key), None)

    def depends(self, key: str) -> bool | None:
        """Whether a figure, statement or claim depends on an axis that is set; None: none is set, or keys
        besides them are, of which it is not known.
        """
        if not self.axes or self.pairs:
            return None
        return any(axis.moves(key) for axis, _ in self.axes)

    def said_axes(self) -> str:
        """`delay 20 ms, queue 5`."""
        return ", ".join(f"{axis.name} {axis.shown(value)}" for axis, value in self.axes)

    @property
    def changes(self) -> bool:
        """Whether it changes the paper's experiment: texts that say what the paper's values show do not
        hold then. A capture is another experiment, with texts of its own.
        """
        return bool(self.axes or self.pairs) and not self.capture

    def said(self) -> str:
        """All that is changed, in words: the axes with their values, or what the user typed."""
        return ", ".join(self.origin) if self.pairs else self.said_axes()

    def title(self) -> str:
        """What is not the paper's: it stands above everything."""
        said = ", ".join(self.origin)
        if self.capture:
            return f"Of a capture of your own, {said}, not of the paper's: no count of what is reproduced"
        return (
            f"Not the paper's experiment, but the same with {said}: beside the paper's figures stand those "
            "of these "
            "settings, and there is no count of what is reproduced"
        )


CURRENT: ContextVar[Own | None] = ContextVar("own", default=None)


def current() -> Own:
    """What the user sets for the study that runs now."""
    return CURRENT.get() or Own()


def mine(name: str) -> Any:
    """The user's value of an axis, or None where it is the paper's."""
    return next((value for axis, value in current().axes if axis.name == name), None)


def value(name: str, papers: Any) -> Any:
    """The value of an axis: the user's, or else the paper's."""
    found = mine(name)
    return papers if found is None else found


def applied(scenario: Scenario, keeps: Sequence[str] = ()) -> Scenario:
    """The scenario with the user's settings, which win over the study's own. A study has several scenarios:
    a key that this one has not is left out of it. An axis leaves a scenario alone in which the study itself
    sets its keys, since these runs vary it; and those that say so (keeps: names of axes). Raises
    ScenarioError for a value that is none.
    """
    own = current()
    made = on_axes = _on_axes(scenario, own, keeps)
    for key, value in own.pairs:
        tried = made.with_({key: value})
        try:
            tried.to_toml()
        except _core.ScenarioError as error:
            if not _unknown(str(error)):
                # Half of a pair (up without down) is whole with the next one.
                made = tried
                continue
        else:
            own.met.add(key)
            made = tried
    if made is not on_axes:
        made.to_toml()
        own.met.update(key for key, _ in own.pairs if key in dict(made._set))
    return made


def _on_axes(scenario: Scenario, own: Own, keeps: Sequence[str]) -> Scenario:
    made = scenario
    for axis, value in own.axes:
        keys = axis.sets(value) if axis.sets and axis.name not in keeps else {}
        if not keys or any(_of(scenario, key, whole=False) for key in keys):
            continue
        tried = made.with_(keys)
        try:
            tried.to_toml()
        except _core.ScenarioError as error:
            if not _unknown(str(error)):
                raise
        else:
            made = tried
    return made


def _unknown(message: str) -> bool:
    return " does not exist" in message or " is no key of " in message


def varied(scenarios: Sequence[Any]) -> str | None:
    """The first of the user's keys that a batch varies by itself: it has nothing to say then."""
    for key, _ in current().pairs:
        found = {_of(one, key) for one in scenarios}
        if len(found) > 1:
            return key
    return None


def _of(scenario: Any, key: str, whole: bool = True) -> tuple[Pair, ...]:
    """What a study itself sets at a key, above it or below it. whole: a schedule is one thing, however it is
    said.
    """
    pairs: Iterable[Pair] = getattr(scenario, "_set", ())
    stem = key.partition(".schedule.")[0] + ".schedule" if whole and ".schedule." in key else key
    return tuple(
        (name, value)
        for name, value in pairs
        if name == stem or name.startswith(f"{stem}.") or stem.startswith(f"{name}.")
    )


def setting(text: str) -> Pair:
    """`KEY=VALUE`. Raises ValueError for what is none."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"--set {text}: KEY=VALUE is wanted, link.air.rate=20Mbps for example")
    key = key.strip()
    if key.endswith(".file"):
        # As seen from here, not from the folder of the scenario.
        value = str(Path(value.strip().strip('"')).absolute())
    return key, value


#: The columns that a file of outages may have, and how many seconds one of a unit is.
UNITS = {"s": 1.0, "ms": 1e-3}
FORMS = "begin_s,end_s or begin_s,length_s (_ms for milliseconds)"


def read_outages(path: str | Path) -> tuple[Interval, ...]:
    """The outages of a file: its first line says what its two columns are, and nothing is guessed.

    Raises ValueError with the file, the line, what stands there and what is wanted.
    """
    where = Path(path)
    try:
        text = where.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = "is no text" if isinstance(error, UnicodeDecodeError) else (error.strerror or "cannot be read")
        raise ValueError(f"{path}: {why}; a file of outages begins with {FORMS}") from None
    lines = [(n, line.split("#")[0].strip()) for n, line in enumerate(text.splitlines(), 1)]
    lines = [(n, line) for n, line in lines if line]
    if not lines:
        raise ValueError(f"{path}: is empty; a file of outages begins with {FORMS}")
    scales, until = _header(path, *lines[0])
    found: list[Interval] = []
    for n, line in lines[1:]:
        found.append(_interval(path, n, line, scales, until))
        if len(found) > 1 and found[-1][0] < found[-2][1]:
            raise ValueError(
                f"{path}:{n}: the outage begins before the one before it has ended, at {found[-2][1]:g} s"
            )
    if not found:
        raise ValueError(f"{path}: has a header and no outage")
    return tuple(found)


def _words(line: str) -> list[str]:
    return [word for word in line.replace(",", " ").replace(";", " ").split() if word]


def _header(path: str | Path, n: int, line: str) -> tuple[tuple[float, float], bool]:
    """How many seconds a unit of each column is, and whether the second is an end."""
    columns = [word.rpartition("_") for word in _words(line.lower())]
    names = [name for name, _, _ in columns]
    if names not in (["begin", "end"], ["begin", "length"]) or any(u not in UNITS for _, _, u in columns):
        raise ValueError(
            f"{path}:{n}: the first line names the columns, {FORMS}; whether the second is an end is not "
            "guessed"
        )
    first, second = (UNITS[unit] for _, _, unit in columns)
    return (first, second), names[1] == "end"


def _interval(path: str | Path, n: int, line: str, scales: tuple[float, float], until: bool) -> Interval:
    words = _words(line)
    try:
        begin, second = (float(word) * scale for word, scale in zip(words, scales, strict=True))
    except ValueError:
        raise ValueError(f"{path}:{n}: two numbers are wanted, as the first line names them") from None
    end = second if until else begin + second
    if not (0 <= begin < end < 1e9):
        raise ValueError(
            f"{path}:{n}: the outage from {begin:g} to {end:g} s has no length or lies before zero"
        )
    return begin, end
