"""What `rexmit report` and `rexmit view` show: META and blobs, whatever they are of."""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from shlex import join
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.captured.flows import ON_DEMAND
from rexmit.report.anonymize import Anonymous
from rexmit.report.held import RAW, Whole, hold
from rexmit.report.plain import in_json
from rexmit.report.source import MOST_CAUSES, Source
from rexmit.running.one_run import Run
from rexmit.screen.words import closed_sets, looks

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.report.columns import Told
    from rexmit.report.source import Row
    from rexmit.report.swept import Found

#: Of the format that explorer/FORMAT.md describes.
FORMAT = 2
#: Flows that a page tells everything of at once; of further ones in blobs of so many.
AT_ONCE, IN_A_BLOB = 16, 256
#: Flows that it tells everything of: where all packets are there, and where not.
MOST_DETAILED, MOST_OF_MANY = 50_000, 500

#: Of further flows the round trips are left out: there are very many of them, and none is large.
FULL = 400

Hide = Callable[[Any], Any]


def shown(value: Any) -> Any:
    """Nothing is hidden."""
    return value


@dataclass
class Made:
    """A page before it is written."""

    meta: Row
    blobs: dict[str, Callable[[], bytes]] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        """Sentences about what it does not show."""
        return [str(note) for note in self.meta["notes"]]

    def note(self, sentence: str, hide: Hide) -> None:
        """Adds one."""
        self.meta["notes"].append(hide(sentence))


def meta(kind: str, title: str, command: str, hide: Hide = shown) -> Row:
    """META as yet without sources."""
    return {
        "format": FORMAT,
        "kind": kind,
        "title": hide(title),
        "version": f"rexmit {_core.__version__}",
        "command": hide(command),
        "anonymized": hide is not shown,
        "notes": [],
        "words": closed_sets(),
        "looks": looks(),
        "sources": [],
        "comparison": None,
        "study": None,
        "sweep": None,
    }


def without_folders(capture: Capture, name: str) -> str:
    """A capture's name as a page has it, whose reader has not its folders. What was run is named as it is."""
    files = [] if isinstance(capture, Run) else [*capture.paths, *(capture.receiver or ())]
    for path in (*files, str(getattr(capture, "folder", ""))):
        if path:
            name = name.replace(path, PurePath(path).name)
    return name


def sources(capture: Capture, told: Told | None = None) -> list[Source]:
    """A capture or a run as sources: where both ends were seen, the receiver's end as well."""
    ends, labels = [capture], [without_folders(capture, capture.name)]
    if capture.receiver:
        from rexmit.api import capture as read
        from rexmit.running.folder import LiveFolder

        ways = [capture.paths, capture.receiver]
        sent, came = reversed(ways) if capture.analysis.swapped() else ways
        ends.append(read(*came, at="receiver", tables=ON_DEMAND))
        if not isinstance(capture, LiveFolder):
            labels = [PurePath(paths[0]).name for paths in (sent, came)]
    elif isinstance(capture, Run) and _has_room_for_both(capture):
        ends.append(capture.at_receiver(ON_DEMAND))
    if len(labels) < len(ends):
        labels.append(labels[0] + ", receiver's end")
    places = ["sender", "receiver"] if len(ends) > 1 else [None]
    return [
        Source(end, k, labels[k], place, told)
        for k, (end, place) in enumerate(zip(ends, places, strict=True))
    ]


def _has_room_for_both(run: Run) -> bool:
    """A simulated run whose packets at both ends can all be in the page; of a longer one the sender's are."""
    return run.bench == "sim" and run.at_both and 2 * int(run.info["packets"]) <= RAW


def clock(pair: Sequence[Source]) -> Row | None:
    """What makes times of the second those of the first: `rate * t + shift_ns`."""
    first, second = pair
    told = (first.capture.info.get("pair") or {}).get("clock")
    if told is None:
        return None
    # Where the offset holds, both show the same instant; from there the second's seconds have another length.
    rate = 1 / (1 + float(told["drift_ppm"]) * 1e-6)
    at_ns, offset_ns = (round(float(told[key]) * 1e9) for key in ("at_s", "offset_s"))
    # Whole numbers first: their difference is small, and they are not.
    apart = second.capture.origin_ns - first.capture.origin_ns - offset_ns - at_ns
    return {"rate": rate, "shift_ns": apart * rate + at_ns}


def title(ends: Sequence[Source]) -> str:
    """What the page of one capture or run is called."""
    return without_folders(ends[0].capture, ends[0].capture.name)


def view_of(capture: Capture) -> str:
    """The command that shows every packet of a capture or a run, as far as it can be named."""
    from rexmit.running.folder import LiveFolder

    if isinstance(capture, LiveFolder):
        named = [str(capture.folder)]
    elif capture.receiver:
        named = ["--sender", *capture.paths, "--receiver", *capture.receiver]
    else:
        # Of a rotation, which file is asked for is not known here.
        named = capture.paths if len(capture.paths) == 1 else []
    return join(["rexmit", "view", *named])


def of_capture(pair: Sequence[Source], command: str, hide: Hide = shown) -> Made:
    """One capture or run."""
    kind = "capture" if pair[0].run is None else "run"
    made = Made(meta(kind, title(pair), command, hide))
    small = sum(int(source.capture.info["packets"]) for source in pair) <= RAW
    for source in pair:
        # A SYN has a row in each direction: there are more rows than packets.
        _add(made, source, len(source.packets) if small else RAW // len(pair), hide)
    if len(pair) > 1:
        made.meta["sources"][1]["clock"] = clock(pair)
    return made


def of_comparison(
    captures: Sequence[Capture],
    command: str,
    hide: Hide = shown,
    told: Told | None = None,
    add: Callable[[Made, Source, int], None] | None = None,
) -> Made:
    """Two captures or runs beside each other: the largest flow of each. add: puts a source into the page, of
    which the given flow is told first (default: as a file has it).
    """
    from rexmit.compared.episode_match import compare
    from rexmit.report.tables import in_ns

    found = compare(*captures)
    names = [without_folders(one, name) for one, name in zip(captures, found.names, strict=True)]
    if names[0] == names[1]:
        names = list(found.names)
    if names[0] == names[1]:
        # The same scenario and seed: what differs is in the folders.
        names = [f"{name} ({which})" for name, which in zip(names, ("first", "second"), strict=True)]
    made = Made(meta("comparison", " beside ".join(names), command, hide))
    flows = []
    for k, (capture, name, flow) in enumerate(zip(found.captures, names, found.flows, strict=True)):
        source = Source(capture, k, name, None, told)
        if add is None:
            _add(made, source, RAW // 2, hide, first=flow.id)
        else:
            add(made, source, flow.id)
        flows.append({"source": k, "flow": flow.id, "key": f"{k}/{flow.id}"})
    matched = [
        {end: None if row is None else in_ns(row) for end, row in (("first", p.first), ("second", p.second))}
        for p in found.episodes
    ]
    made.meta["comparison"] = {
        "labels": hide(names),
        "flows": flows,
        "differences": hide(found.costs.as_json()),
        "episodes": hide(matched),
        "assumed": found.assumed,
    }
    return made


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
    made.blobs.update(found.blobs)
    return made


def _add(made: Made, source: Source, room: int, hide: Hide, first: int | None = None) -> None:
    """A source with its details and blobs. first: a flow that is told of before the others."""
    most = MOST_DETAILED if len(source.packets) <= room else MOST_OF_MANY
    worst = source.capture.analysis.worst(most)
    said = source.meta(source.some(worst[:MOST_CAUSES]))
    if first is not None:
        worst.sort(key=lambda flow: flow != first)
    full = set(worst[:FULL])
    fits = len(source.packets) <= room
    every, some = Whole(source), {} if fits else {flow: source.held(flow) for flow in worst}
    if not fits:
        hold(source, list(some.values()), room)

    def held(flow: int) -> Row:
        # One after another: of very many flows even this is more than the capture.
        return every.take(source.held(flow)) if fits else some[flow]

    def details(flows: list[int]) -> list[Row]:
        told = zip(flows, source.some(flows), strict=True)
        return [source.detail(row, flow not in full, held(flow)) for flow, row in told]

    said["details"] = details(worst[:AT_ONCE])
    made.meta["sources"].append(hide(said))
    # In the order in which the core has them: it passes over those that are not asked for.
    others = sorted(worst[AT_ONCE:])
    for start in range(0, len(others), IN_A_BLOB):
        part = others[start : start + IN_A_BLOB]
        name = f"{source.number}/details/{start + AT_ONCE}"
        said["more"].append({"blob": name, "flows": part})
        source.blobs[name] = partial(zlib.decompress, zlib.compress(in_json(hide(details(part))), 1))
    every.end()
    made.meta["sources"][-1]["more"] = said["more"]
    made.blobs |= source.blobs
    if source.capture.interrupted:
        made.note(f"{source.label}: reading was stopped; what was read until then is here", hide)
    if not fits or len(worst) < len(source.capture.table("flows")):
        n = f"{source.capture.info['packets']:,}"
        told = (
            f"{source.label}: of {n} packets this file holds what happened in each moment, and the packets of"
        )
        made.note(f"{told} the worst episodes; {view_of(source.capture)} shows every one", hide)


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
