"""What a user asks of studies: which ones, and with which values, outages and captures of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rexmit_studies as there
from rexmit_studies.axes import Axis, Value, find, several
from rexmit_studies.own import Own, read_outages, setting

if TYPE_CHECKING:
    from rexmit_studies.study import Study

#: An axis of a study with a value.
Set = tuple[Axis, Value]


def chosen(words: Sequence[str]) -> list[Study]:
    """The studies that the words name. Raises ValueError with the nearest name for one there is not."""
    wanted = there.names() if "all" in words else list(dict.fromkeys(words))
    return [there.load(name) for name in wanted]


def of_ones_own(
    studies: Sequence[Study],
    sets: Sequence[str] = (),
    outages: str | None = None,
    captures: Sequence[str] = (),
) -> Own:
    """Settings (`KEY=VALUE`), a file of outages and captures of the user's. Raises ValueError for what does
    not go with the study.
    """
    said = [f"--set {text}" for text in sets]
    said += [f"--outages {outages}"] if outages else []
    said += [f"--capture {path}" for path in captures]
    if not said:
        return Own()
    study = _only(studies, said[0].split(" ")[0])
    if captures and sets:
        raise ValueError("--set changes what is simulated, and --capture simulates nothing; give one of them")
    if outages and not study.outages:
        raise ValueError(f"--outages: study {study.name} has no outages; {_having('outages')} have")
    settings, axes = [], {}
    for key, value in map(setting, sets):
        found = find(study.axes, key, value, study.name)
        if found:
            axes[found[0].name] = found
        else:
            settings.append((key, value))
    _check(study, list(axes.values()), bool(outages))
    for key, value in settings:
        if key in study.compares:
            raise ValueError(
                f"--set {key}={value}: that is what study {study.name} compares; change a part of one that "
                "it has, "
                "as in stack.NAME.rto.min=1s, or use rexmit run"
            )
    origin = [f"{axis.name}={axis.written(value)}" for axis, value in axes.values()]
    origin += [f"{key}={value}" for key, value in settings]
    origin += [f"the outages of {outages}"] if outages else []
    return Own(
        tuple(settings),
        read_outages(outages) if outages else (),
        study.outages,
        (*origin, *captures),
        tuple(said),
        bool(captures),
        tuple(axes.values()),
    )


def varied(studies: Sequence[Study], words: Sequence[str], own: Own) -> tuple[Axis, list[tuple[Value, Own]]]:
    """The axis of `--vary AXIS=a,b,c`, and for each value what is set with it. own: what else the user sets.

    The paper's value is the paper's experiment, unless the study draws values around it.
    Raises ValueError for what does not go with the study, before anything runs.
    """
    if len(words) > 1:
        raise ValueError("--vary is for one axis; the others take --set AXIS=VALUE")
    text = words[0]
    name, equals, listed = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"--vary {text}: AXIS=VALUE,VALUE is wanted, delay=20ms,50ms for example")
    study = _only(studies, "--vary")
    if own.capture:
        raise ValueError(
            "--vary changes what is simulated, and --capture simulates nothing; give one of them"
        )
    axis, values = several(study.axes, name.strip(), listed.split(","), study.name)
    if any(one.name == axis.name for one, _ in own.axes):
        raise ValueError(f"--set and --vary both say {axis.name}; give one of them")
    return axis, [(value, _with(study, own, axis, value)) for value in values]


def _with(study: Study, own: Own, axis: Axis, value: Value) -> Own:
    papers = value == axis.paper and not axis.drawn
    axes = own.axes if papers else (*own.axes, (axis, value))
    _check(study, axes, bool(own.outages))
    origin = own.origin if papers else (*own.origin, f"{axis.name}={axis.written(value)}")
    return Own(own.settings, own.outages, own.schedule, origin, own.command, False, axes)


def _check(study: Study, axes: Sequence[Set], outages: bool) -> None:
    """Raises ValueError for values that contradict each other, or the user's outages."""
    twice = [axis.name for axis, _ in axes if axis.key.startswith(f"{study.outages}.")]
    if outages and twice:
        raise ValueError(f"--outages and --set {twice[0]} both say when the link is down; give one of them")
    if study.checked:
        values: Mapping[str, Any] = {axis.name: value for axis, value in axes}
        study.checked(values)


def of_capture(study: Study, paths: Sequence[str]) -> Study:
    """What a study says of captures. Raises ValueError if it says nothing, or of so many."""
    if study.of_capture is None:
        raise ValueError(f"--capture: study {study.name} reads no capture; {_having('of_capture')} do")
    most = 2 if study.outages else 1
    if len(paths) > most:
        raise ValueError(
            f"--capture: study {study.name} reads {most} of them at most; {len(paths)} were given"
        )
    for path in paths:
        if not Path(path).is_file():
            raise ValueError(f"{path}: there is no such file")
    return study.of_capture([Path(path) for path in paths])


def _only(studies: Sequence[Study], option: str) -> Study:
    if len(studies) != 1:
        raise ValueError(f"{option} is for one study; {len(studies)} were named")
    return studies[0]


def _having(what: str) -> str:
    """The studies that have something of their own to be replaced."""
    return ", ".join(name for name in there.names() if getattr(there.load(name), what))
