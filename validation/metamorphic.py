"""Changes of a capture that must not change its answer (metamorphic tests).

    .venv/bin/python validation/metamorphic.py [FOLDER ...] [--draws 140] [--seed 1] [--show]
    .venv/bin/python validation/metamorphic.py --relations
    .venv/bin/python validation/metamorphic.py FOLDER --only timestamps --keep OUT

Reads each capture below the folders (default: ../shared/captures and tests/data), and the captures of drawn
transfers of validation/situations.py at both ends. Changes it by each relation in turn, and compares what
rexmit says of each connection with what it said before. *Kept* is the same cause, its seconds within 5%.
*Less certain* is a lower certainty, or `cannot-tell`. Anything else is *changed*. Connections that a relation
does not touch do not count. Of a capture that was cut off, each moment up to one round trip before the cut
has to wait for the same as before, and causes that were over by then have to keep their seconds.

Files over 20 MB are left out, and of the others the first 100,000 packets count. Exit code 1 if a relation
misses a bar: 80% kept, and 99.5% kept or less certain.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random

import rexmit as rx
from metamorphic_relations import answers
from metamorphic_relations.answers import CHANGED, KEPT, LESS_CERTAIN, Answer, Said
from metamorphic_relations.capture import Capture, LeftOut, read, write
from metamorphic_relations.listed import RELATIONS
from metamorphic_relations.packet import Ends, Packet, words
from metamorphic_relations.relation import Changed, Given, Relation
from situation.kinds import KINDS, kind_of

ROOT = Path(__file__).resolve().parents[1]
KEPT_BAR, WEAKER_BAR = 0.80, 0.995
SUFFIXES = (".pcap", ".pcapng", ".cap", ".dmp", ".trace")
RECORD = {"capture": ["client", "server"], "snap": "120B"}


@dataclass(frozen=True)
class Outcome:
    """One connection of one capture under one relation."""

    capture: str
    connection: str
    relation: str
    outcome: str
    before: str
    after: str
    #: Less certain, and the cause is another one that is not `cannot-tell`.
    other_cause: bool


@dataclass
class Found:
    outcomes: list[Outcome] = field(default_factory=list)
    #: Captures that were not read, by reason.
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Task:
    """A capture to be read, or a transfer to be simulated, and what to do with it."""

    source: Path | tuple[str, int]
    name: str
    relations: tuple[str, ...]
    seed: int
    keep: Path | None


def by_connection(capture: Capture) -> dict[Ends, list[Packet]]:
    found: dict[Ends, list[Packet]] = {}
    for p in capture.packets:
        if p.tcp >= 0:
            found.setdefault(p.connection, []).append(p)
    return found


def untouched(before: list[Packet], after: list[Packet]) -> bool:
    """The same packets at the same times."""
    return len(before) == len(after) and all(a is b for a, b in zip(before, after, strict=True))


def pairs(
    relation: Relation, changed: Changed, old: dict[Ends, list[Packet]], said: Said, now: Said
) -> Iterator[tuple[Ends, Answer, Answer | None]]:
    """Each connection that counts, with the answer before and after."""
    new: dict[Ends, list[Packet]] = {}
    for part in changed.parts:
        for ends, packets in by_connection(part).items():
            new.setdefault(ends, []).extend(packets)
    for ends, before in said.answers.items():
        target = changed.renamed.get(ends, ends)
        left = new.get(target, [])
        if ends in changed.left_out or not left:
            continue
        if not relation.counts_all and untouched(old.get(ends, []), left):
            continue
        after = now.answers.get(target, [])
        for number, answer in enumerate(before):
            if answer.cause in relation.not_of:
                continue
            if changed.cut is not None and (answer.begin >= changed.cut or number >= len(after)):
                # Nothing of this connection came before the cut, or no data did.
                continue
            yield ends, answer, after[number] if number < len(after) else None


def applied(
    relation: Relation, capture: Capture, said: Said, seed: int, folder: Path
) -> tuple[Changed, Said, list[Path]]:
    """A capture after a relation, and what rexmit says of it."""
    random = Random(f"{seed} {capture.name} {relation.name}")
    changed = relation.apply(Given(capture, said.flows, random))
    paths = [
        write(part, folder / f"{relation.name}.{number}.pcap") for number, part in enumerate(changed.parts)
    ]
    return changed, answers.asked(paths, waits=changed.cut is not None), paths


def outcomes(capture: Capture, task: Task, folder: Path) -> Iterator[Outcome]:
    """Every relation over one capture."""
    original = write(capture, folder / "original.pcap")
    said = answers.asked([original], waits="cut" in task.relations)
    if not said.answers:
        return
    old = by_connection(capture)
    for relation in (r for r in RELATIONS if r.name in task.relations):
        changed, now, paths = applied(relation, capture, said, task.seed, folder)
        worst = KEPT
        for ends, before, after in pairs(relation, changed, old, said, now):
            if changed.cut is not None:
                outcome = answers.compared_until(changed.cut, before, after)
            else:
                outcome = answers.compared(before, after)
            # Of a capture that was cut off another cause may well have most of the time.
            other = (
                outcome == LESS_CERTAIN
                and changed.cut is None
                and after is not None
                and after.cause not in (before.cause, "cannot-tell")
            )
            worst = CHANGED if CHANGED in (outcome, worst) else outcome if worst == KEPT else worst
            connection = " ".join(map(words, ends))
            yield Outcome(
                capture.name,
                connection,
                relation.name,
                outcome,
                str(before),
                str(after or "no answer"),
                other,
            )
        if worst != KEPT and task.keep:
            keep(task.keep, capture.name, original, paths)


def keep(folder: Path, name: str, original: Path, paths: list[Path]) -> None:
    """Copies a capture before and after a relation into a folder."""
    into = folder / name.replace("/", "_").replace(" ", "_").replace(",", "")
    into.mkdir(parents=True, exist_ok=True)
    for path in (original, *paths):
        (into / path.name).write_bytes(path.read_bytes())


def done(task: Task) -> Found:
    """All of one task. Top level, so that another process can do it."""
    os.nice(max(0, 10 - os.nice(0)))
    return worked(task)


def worked(task: Task) -> Found:
    found = Found()
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        if isinstance(task.source, Path):
            sources = [(task.source, task.name)]
        else:
            kind, seed = task.source
            rx.run(kind_of(kind).drawn(seed).scenario(kind, seed, RECORD), captures=folder)
            sources = [(folder / f"{node}.pcapng", f"{task.name}, {node}") for node in RECORD["capture"]]
        for path, name in sources:
            try:
                capture = read(path, name)
            except LeftOut as why:
                found.left_out[str(why)] += 1
                continue
            found.outcomes += outcomes(capture, task, folder)
    return found


def captures(folders: list[Path]) -> Iterator[tuple[Path, str]]:
    """Each capture below the folders, once, and its name."""
    known = set()
    for folder in folders:
        files = [folder] if folder.is_file() else sorted(p for p in folder.rglob("*") if p.is_file())
        for path in files:
            if not path.name.removesuffix(".gz").endswith(SUFFIXES):
                continue
            digest = hashlib.sha256(path.read_bytes()).digest()
            if digest not in known:
                known.add(digest)
                yield path, path.name if path == folder else str(path.relative_to(folder))


def rows(found: list[Outcome]) -> list[dict[str, object]]:
    """The figures of each relation."""
    made: list[dict[str, object]] = []
    for relation in RELATIONS:
        each = [o for o in found if o.relation == relation.name]
        if not each:
            continue
        counts = Counter(o.outcome for o in each)
        kept = counts[KEPT] / len(each)
        weaker = (counts[KEPT] + counts[LESS_CERTAIN]) / len(each)
        made.append(
            {
                "relation": relation.name,
                "connections": len(each),
                "kept": counts[KEPT],
                "less_certain": counts[LESS_CERTAIN],
                "other_cause": sum(o.other_cause for o in each),
                "changed": counts[CHANGED],
                "kept_share": kept,
                "kept_or_less_certain_share": weaker,
                "meets": kept >= KEPT_BAR and weaker >= WEAKER_BAR,
            }
        )
    return made


def table(figures: list[dict[str, object]], found: Found) -> None:
    print(
        f"{'relation':14} {'connections':>11} {'kept':>7} {'kept or less certain':>21} "
        f"{'changed':>8}   less certain, of another cause"
    )
    for r in figures:
        missed = "" if r["meets"] else "   MISSED"
        print(
            f"{r['relation']:14} {r['connections']:11,} {r['kept_share']:7.1%} "
            f"{r['kept_or_less_certain_share']:21.1%} {r['changed']:8}   {r['other_cause']}{missed}"
        )
    print(f"bars: {KEPT_BAR:.0%} kept, {WEAKER_BAR:.1%} kept or less certain")
    for why, count in sorted(found.left_out.items()):
        print(f"left out: {count} captures: {why}")


def parsed() -> argparse.Namespace:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("folder", type=Path, nargs="*", help="captures, or folders of them")
    ask.add_argument("--draws", type=int, default=0, help="simulated transfers besides")
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--only", action="append", metavar="RELATION", help="this relation; may be repeated")
    ask.add_argument("--relations", action="store_true", help="list the relations")
    ask.add_argument("--show", action="store_true", help="each connection whose answer was not kept")
    ask.add_argument("--json", action="store_true", help="one object: relations, outcomes that were not kept")
    ask.add_argument("--keep", type=Path, metavar="DIR", help="keep captures whose answer was not kept")
    ask.add_argument("--workers", type=int, default=1, help="processes")
    return ask.parse_args()


def list_relations() -> int:
    for relation in RELATIONS:
        print(f"{relation.name:14} {(relation.apply.__doc__ or '').splitlines()[0]}")
        print(f"{'':14} Less certain: {relation.may_weaken or 'nothing may be.'}")
    return 0


def main() -> int:
    o = parsed()
    if o.relations:
        return list_relations()
    every = tuple(r.name for r in RELATIONS)
    unknown = [name for name in o.only or () if name not in every]
    folders = o.folder or [ROOT.parent / "shared" / "captures", ROOT / "tests" / "data"]
    missing = [str(path) for path in o.folder if not path.exists()]
    if unknown or missing:
        if unknown:
            print(f"no relation: {', '.join(unknown)} ({', '.join(every)})", file=sys.stderr)
        if missing:
            print(f"does not exist: {', '.join(missing)}", file=sys.stderr)
        return 2
    common = (tuple(o.only or every), o.seed, o.keep)
    tasks = [Task(path, name, *common) for path, name in captures([f for f in folders if f.exists()])]
    kinds = list(KINDS)
    for n in range(o.draws):
        kind, seed = kinds[n % len(kinds)], o.seed + n // len(kinds)
        tasks.append(Task((kind, seed), f"{kind} --seed {seed}", *common))
    found, finished = Found(), 0
    with ProcessPoolExecutor(o.workers, get_context("spawn")) as pool:
        try:
            for one in pool.map(done, tasks, chunksize=1):
                finished += 1
                found.outcomes += one.outcomes
                found.left_out += one.left_out
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print(f"stopped after {finished} of {len(tasks)} captures and transfers", file=sys.stderr)
    figures = rows(found.outcomes)
    others = [x for x in found.outcomes if x.outcome != KEPT]
    if o.json:
        told = {"seed": o.seed, "relations": figures, "left_out": found.left_out}
        print(json.dumps(told | {"not_kept": [asdict(x) for x in others]}, indent=1))
    else:
        if o.show:
            for x in others:
                print(
                    f"{x.outcome}: {x.capture}, {x.connection}, {x.relation}, seed {o.seed}: "
                    f"{x.before}, then {x.after}"
                )
        table(figures, found)
    return int(not all(r["meets"] for r in figures))


if __name__ == "__main__":
    sys.exit(main())
