"""What `rexmit report` and `rexmit view` show: META and blobs, whatever they are of."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.report.anonymize import Anonymous
from rexmit.report.document import deflated, inflated
from rexmit.report.plain import in_json
from rexmit.report.source import Source, without_folders

if TYPE_CHECKING:
    from rexmit.api import Capture, Progress
    from rexmit.report.source import Row
    from rexmit.report.swept import Found

Hide = Callable[[Any], Any]


def shown(value: Any) -> Any:
    """Nothing is hidden."""
    return value


@dataclass
class Made:
    """A page before it is written."""

    meta: Row
    #: In raw deflate, by their names.
    blobs: dict[str, bytes] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        """Sentences about what it does not show."""
        return [str(note) for note in self.meta["notes"]]

    def note(self, sentence: str, hide: Hide) -> None:
        """Adds one."""
        self.meta["notes"].append(hide(sentence))


def meta(kind: str, title: str, command: str, hide: Hide = shown) -> Row:
    """META as yet without sources."""
    made: Row = json.loads(_core.report_meta())
    return made | {
        "kind": kind,
        "title": hide(title),
        "command": hide(command),
        "anonymized": hide is not shown,
    }


def title(ends: Sequence[Source]) -> str:
    """What the page of one capture or run is called."""
    return without_folders(ends[0].capture, ends[0].capture.name)


def of_capture(pair: Sequence[Source], command: str, hide: Hide = shown) -> Made:
    """One capture or run."""
    kind = "capture" if pair[0].run is None else "run"
    made = Made(meta(kind, title(pair), command, hide))
    add(made, pair, [], hide)
    return made


def of_comparison(
    captures: Sequence[Capture],
    command: str,
    hide: Hide = shown,
    progress: Progress | None = None,
    put: Callable[[Made, Sequence[Source], Sequence[int], Hide], None] | None = None,
) -> Made:
    """Two captures or runs beside each other: the largest flow of each. put: puts sources into the page, of
    which the given flows are told first (default: as a file has them).
    """
    from rexmit.compared.episode_match import compare

    found = compare(*captures)
    names = [without_folders(one, name) for one, name in zip(captures, found.names, strict=True)]
    if names[0] == names[1]:
        names = list(found.names)
    if names[0] == names[1]:
        # The same scenario and seed: what differs is in the folders.
        names = [f"{name} ({which})" for name, which in zip(names, ("first", "second"), strict=True)]
    made = Made(meta("comparison", " beside ".join(names), command, hide))
    both = enumerate(zip(found.captures, names, strict=True))
    beside = [Source(capture, k, name, None, progress) for k, (capture, name) in both]
    firsts = [flow.id for flow in found.flows]
    (put or add)(made, beside, firsts, hide)
    matched = [
        {end: None if row is None else _in_ns(row) for end, row in (("first", p.first), ("second", p.second))}
        for p in found.episodes
    ]
    made.meta["comparison"] = {
        "labels": hide(names),
        "flows": [{"source": k, "flow": flow, "key": f"{k}/{flow}"} for k, flow in enumerate(firsts)],
        "differences": hide(found.costs.as_json()),
        "episodes": hide(matched),
        "assumed": found.assumed,
    }
    return made


#: Columns of the table of episodes that are instants; all others of the same unit are lengths of time.
TIMES = ("start", "end", "first_repair")


def _in_ns(row: Row) -> Row:
    """An episode with its instants as whole ns, under names that say so."""
    told = {}
    for name, value in row.items():
        if name in TIMES:
            told[f"{name}_ns"] = None if value is None else round(float(value) * 1e9)
        elif name != "flow":
            told[name] = value
    return told


def of_study(answer: Row, command: str, hide: Hide = shown) -> Made:
    """A study's answer with its figures."""
    made = Made(meta("study", str(answer["title"]), command, hide))
    made.meta["study"] = answer
    return made


def of_sweep(found: Found, command: str, hide: Hide = shown) -> Made:
    """A sweep's plan and what came of it."""
    told = hide(found.told)
    title = f"{told['plan']['name']}: sweep of {', '.join(told['plan']['keys']) or 'seeds'}"
    made = Made(meta("sweep", title, command, hide))
    made.meta["sweep"] = told
    for note in found.notes:
        made.note(note, hide)
    made.blobs |= {name: deflated(blob()) for name, blob in found.blobs.items()}
    return made


def add(made: Made, sources: Sequence[Source], firsts: Sequence[int], hide: Hide) -> None:
    """Puts sources into the page with their details and blobs. firsts: of two beside each other, the flow of
    each that is told of before the others.
    """
    for told, notes, blobs in _core.report_file([source.core for source in sources], list(firsts)):
        made.meta["sources"].append(hide(json.loads(told)))
        for note in notes:
            made.note(note, hide)
        if hide is not shown:
            # Of rows nothing has a name; details do.
            texts = {name for name in blobs if "/details/" in name}
            blobs |= {name: deflated(in_json(hide(json.loads(inflated(blobs[name]))))) for name in texts}
        made.blobs |= blobs


def hidden(captures: Sequence[Capture], names: Sequence[str] = (), scenario: str = "") -> Anonymous:
    """What `--anonymize` hides of captures and runs. names: as they were given. scenario: a sweep's TOML."""
    from rexmit.report import runs

    found = Anonymous()
    for name in names:
        found.path("capture", name)
    found.scenario(_tree(scenario, ", ".join(names)))
    for capture in captures:
        for path in [*capture.paths, *(capture.receiver or [])]:
            found.path("capture", path)
        _files(found, capture.info)
        told = runs.told(capture)
        if told is not None and told["scenario"]:
            found.scenario(_tree(told["scenario"], capture.name))
            found.name("run", told["name"])
    return found


def _tree(scenario: str, name: str) -> Row:
    """The values of a scenario's TOML. Raises ValueError, with the name of its owner, for another text."""
    try:
        return tomllib.loads(scenario)
    except RecursionError:
        raise ValueError(f"{name}: its scenario cannot be read: it is nested too deep") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name}: its scenario cannot be read: {error}") from None


def _files(found: Anonymous, info: Row) -> None:
    for file in info.get("files") or []:
        found.path("capture", file["name"])
        for interface in file.get("interfaces") or []:
            found.name("interface", interface.get("name"))
    pair = info.get("pair")
    if pair:
        _files(found, pair["receiver"])
