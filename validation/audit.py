"""Holds every answer against laws that none may break: of captures, simulated transfers and mutated captures.

    .venv/bin/python validation/audit.py --captures tests/data ../shared/captures
    .venv/bin/python validation/audit.py --simulated 5000 --seed 1
    .venv/bin/python validation/audit.py --mutated 100000 --seed 1 --workers 2
    .venv/bin/python validation/audit.py --mutated 1 --from 4711 --seed 1

Without an option all captures of the default folders are audited. `--simulated` draws situations of all kinds
in turn and asks at the sender, at the receiver and of both. `--mutated` changes packets or bytes of the
captures below the folders, and builds captures from decisions with the fuzzer's program (`cargo build -p
rexmit-fuzz`). A seed gives the same captures again. Those that break a law are kept in a folder whose name
has the seed, each with a text that says which law. docs/validation.md lists the laws. Exit code 1 if any is
broken.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "fuzz"))

import captures as mutate  # noqa: E402
import rexmit as rx  # noqa: E402
from audit_arrivals import Fates, beside_the_other_capture  # noqa: E402
from audit_laws import Seen, broken, ends  # noqa: E402
from rexmit import _core  # noqa: E402
from situation.evidence import in_ns  # noqa: E402
from situation.kinds import KINDS  # noqa: E402

FOLDERS = [ROOT / "tests" / "data", ROOT / ".." / "shared" / "captures"]
#: Files that are no captures, though they lie beside some.
OTHERS = (".md", ".csv", ".csv.gz", ".toml", ".txt", ".txt.gz", ".py", ".short", ".long", ".cksum", ".json")
FUZZERS = [ROOT / "target" / profile / "fuzz" for profile in ("fuzz", "debug")]
RECORD = {"capture": ["client", "server"], "snap": "120B"}
#: In memory, where there is such a folder: files are small, and there are very many.
SCRATCH = next((folder for folder in ("/dev/shm",) if os.access(folder, os.W_OK)), None)
#: Of a capture that is mutated, these bytes at most.
BASE_BYTES, BYTES_MUTATED = 4_000_000, (4 << 10, 12 << 10, 48 << 10)
#: One in so many mutated captures and simulated transfers is audited in the report as well.
REPORTED = 10
#: Violations of one law that are printed, at most.
SHOWN = 10
#: Captures that break one law that a process keeps, at most, and how many it has kept.
KEPT = 100
_kept: Counter[str] = Counter()
#: Two ends exclude each other if each has a known cause with this share of the time.
MOST_OF_IT = 0.5


@dataclass(frozen=True)
class Job:
    """What is audited: a capture by its path, or what a seed and a number give."""

    part: str
    number: int
    seed: int = 0
    path: Path | None = None

    def __str__(self) -> str:
        return str(self.path) if self.path else f"{self.part} --seed {self.seed} --from {self.number}"


@dataclass
class Audited:
    job: Job
    kind: str
    #: Captures that were read, those that could not be read, and answers in them.
    read: int = 0
    unread: int = 0
    answers: int = 0
    broken: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """Where captures come from, and where those that break a law go."""

    folders: tuple[Path, ...]
    keep: Path
    fuzzer: Path | None


def every_capture(folders: Iterable[Path]) -> list[Path]:
    """Every file below the folders but those that are known to be none."""
    files = (path for folder in folders for path in sorted(folder.rglob("*")))
    return [path for path in files if path.is_file() and not path.name.endswith(OTHERS)]


def other_end_of(path: Path) -> Path | None:
    """The receiver's capture beside the sender's."""
    for here, there in ((".snd.", ".rcv."), ("sender.", "receiver."), ("client.", "server.")):
        other = path.with_name(path.name.replace(here, there))
        if here in path.name and other.is_file():
            return other
    return None


def audit(job: Job, place: Place) -> Audited:
    """Top level, for other processes."""
    with tempfile.TemporaryDirectory(prefix="rexmit-audit-", dir=SCRATCH) as folder:
        done = {"captures": of_file, "simulated": of_situation, "mutated": of_mutation}[job.part](
            job, place, Path(folder)
        )
        if done.broken:
            keep(done, place, Path(folder))
    return done


def keep(done: Audited, place: Place, folder: Path) -> None:
    """Keeps a capture of each law up to `KEPT`; its number gives any other again."""
    laws = {law for law, _, _ in done.broken}
    if all(_kept[law] >= KEPT for law in laws):
        return
    _kept.update(laws)
    job = done.job
    at = place.keep / ("captures" if job.path else f"seed-{job.seed}")
    at.mkdir(parents=True, exist_ok=True)
    name = job.path.name if job.path else f"{job.part}-seed-{job.seed}-{job.number}"
    for path in [job.path] if job.path else sorted(folder.glob("*.pcap*")):
        if path:
            shutil.copyfile(path, at / (name if job.path else f"{name}-{path.name}"))
    lines = [f"{law}: {where}: {what}" for law, where, what in done.broken]
    (at / f"{name}.broken.txt").write_text(f"{job}\n" + "\n".join(lines) + "\n")


def asked(
    done: Audited, where: str, path: Path, receiver: Path | None = None, report: bool = False
) -> Seen | None:
    """Audits one capture, or a pair; None where it cannot be read, or where reading fails."""
    try:
        tables: Any = ("packets", "rtt", "intervals", "retransmissions") if report else ()
        capture = rx.capture(path, receiver=receiver, threads=1, tables=tables)
        done.read += 1
        seen = Seen.of(capture)
        done.broken += [(law, where, what) for law, what in broken(seen, report)]
        done.answers += len(seen.answers)
        return seen
    except _core.CaptureError:
        done.unread += 1
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # A panic of the core is no Exception.
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__} in {at.name}, line {at.lineno}: {error}"
        done.broken.append(("exception", where, said))
    return None


def of_file(job: Job, place: Place, folder: Path) -> Audited:
    assert job.path
    done = Audited(job, "capture")
    asked(done, "alone", job.path, report=True)
    other = other_end_of(job.path)
    if other:
        asked(done, "both", job.path, other, report=True)
    return done


def of_situation(job: Job, place: Place, folder: Path) -> Audited:
    """One transfer of a kind, at the sender, at the receiver, and both."""
    names = list(KINDS)
    kind, seed = KINDS[names[job.number % len(names)]], job.seed + job.number // len(names)
    done = Audited(job, kind.name)
    scenario = kind.drawn(seed).scenario(kind.name, seed, RECORD)
    run = rx.run(scenario, tables=("hosts",), captures=folder)
    report = job.number % REPORTED == 0
    found: dict[str, Seen] = {}
    fates = fates_of(run)
    for parity, node in enumerate(RECORD["capture"]):
        seen = asked(done, node, folder / f"{node}.pcapng", report=report)
        if seen:
            found[node] = seen
            done.broken += [
                (law, f"{kind.name}, {node}", what)
                for law, what in beside_the_other_capture(seen, fates[node], parity)
            ]
    uploads = sum(a["client_bytes"] - a["server_bytes"] for s in found.values() for a in s.answers.values())
    one, other = (f"{node}.pcapng" for node in RECORD["capture"][:: 1 if uploads >= 0 else -1])
    seen = asked(done, "both", folder / one, folder / other, report)
    if seen:
        found["both"] = seen
        node = one.removesuffix(".pcapng")
        checks = beside_the_other_capture(seen, fates[node], RECORD["capture"].index(node))
        done.broken += [(law, f"{kind.name}, both", what) for law, what in checks]
    done.broken += [("known: two ends", kind.name, what) for what in excluded(found)]
    return done


def fates_of(run: rx.Run) -> dict[str, Fates]:
    """By node, what became of the packets in its capture."""
    rows = in_ns(run.table("hosts").to_arrow(unit="ns"))
    seen = {node: [row for row in rows if row["node"] == node] for node in RECORD["capture"]}
    sent = {row["copy"]: (row["node"], row["time"]) for row in rows if row["event"] == "sent"}
    found = {}
    for node, other in zip(seen, reversed(seen), strict=True):
        there = {row["copy"] for row in seen[other]}
        numbered = list(enumerate((row["copy"] for row in seen[node]), 1))
        own = {n: copy in there for n, copy in numbered if sent[copy][0] == node}
        came = {n: sent[copy][1] for n, copy in numbered if sent[copy][0] == other}
        found[node] = Fates(own, came)
    return found


def excluded(found: dict[str, Seen]) -> Iterator[str]:
    """Known answers of two places that exclude each other: each owns most of the time."""
    by_place = [
        (place, ends(answer), answer)
        for place, seen in found.items()
        for answer in seen.answers.values()
        if answer["certainty"] == "known" and answer["share"] > MOST_OF_IT
    ]
    for at, (place, who, c) in enumerate(by_place):
        for other, whose, d in by_place[at + 1 :]:
            if who == whose and (c["cause"], c["by"]) != (d["cause"], d["by"]):
                yield f"{who}: {c['cause']} ({c['share']:.0%}) at {place}, {d['cause']} at {other}"


@cache
def bases(folders: tuple[Path, ...]) -> list[Path]:
    """Captures that are mutated: those with TCP that are read here."""
    found = []
    for path in every_capture(folders):
        packets = base(path)
        if packets and any(mutate.tcp(packets.link, f.bytes) for f in packets.frames):
            found.append(path)
    return found


@cache
def base(path: Path) -> mutate.Packets | None:
    try:
        return mutate.frames(mutate.plain(path)[:BASE_BYTES])
    except (OSError, EOFError, ValueError):
        return None


def of_mutation(job: Job, place: Place, folder: Path) -> Audited:
    """One mutated or built capture, or a pair of which one is mutated."""
    rng = random.Random(f"{job.seed}:{job.number}")
    kinds = ("packets", "packets", "packets", "pair", "bytes", "bytes", "built", "built")
    kind = kinds[job.number % len(kinds)]
    if kind == "built" and place.fuzzer is None:
        kind = "packets"
    done = Audited(job, kind)
    one, other = folder / "mutated.pcap", None
    path = rng.choice(bases(place.folders))
    packets = base(path)
    assert packets
    if kind == "built":
        assert place.fuzzer
        one.write_bytes(mutate.built(rng, place.fuzzer, folder / "decisions"))
    elif kind == "bytes":
        data = mutate.window(rng, packets).pcap() if rng.random() < 0.7 else mutate.plain(path)
        one.write_bytes(mutate.of_bytes(rng, data[: rng.choice(BYTES_MUTATED)]))
    else:
        packets = mutate.window(rng, packets)
        if kind == "pair":
            other = folder / "receiver.pcap"
            other.write_bytes(mutate.other_end(rng, packets).pcap())
        if kind == "packets" or rng.random() < 0.3:
            packets = mutate.of_packets(rng, packets)
        one.write_bytes(packets.pcap())
    where = f"{kind} of {path.name}" if kind != "built" else kind
    # The numbers that are reported are of all kinds in turn.
    asked(done, where, one, other, report=job.number // len(kinds) % REPORTED == 0)
    return done


@dataclass
class Tally:
    """What was audited, and the violations by law."""

    captures: Counter[str] = field(default_factory=Counter)
    laws: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    jobs: int = 0

    def add(self, done: Audited) -> None:
        self.jobs += 1
        self.captures.update(read=done.read, unread=done.unread, answers=done.answers)
        for law in dict.fromkeys(law for law, _, _ in done.broken):
            self.kinds[law, done.kind] += 1
        for law, where, what in done.broken:
            self.laws[law] += 1
            if self.laws[law] <= SHOWN:
                print(f"BROKEN {law}: {done.job} ({where}): {what}", flush=True)

    def __str__(self) -> str:
        read, unread, answers = (self.captures[k] for k in ("read", "unread", "answers"))
        total = self.laws.total()
        told = f"{read:,} captures with {answers:,} answers, {unread:,} captures without TCP or unreadable"
        return f"{told}: {total:,} violation{'' if total == 1 else 's'}"


def carried_out(jobs: list[Job], place: Place, workers: int) -> Iterator[Audited]:
    if workers == 1:
        yield from (audit(job, place) for job in jobs)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        yield from pool.map(audit, jobs, [place] * len(jobs), chunksize=8)


def run_part(part: str, jobs: list[Job], place: Place, workers: int) -> Tally:
    tally, began = Tally(), time.monotonic()
    told = began
    try:
        for done in carried_out(jobs, place, workers):
            tally.add(done)
            now = time.monotonic()
            if now - told > 10:
                told = now
                print(f"{part}: {tally.jobs:,} of {len(jobs):,}, {tally}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"{part}: stopped after {tally.jobs:,} of {len(jobs):,}", file=sys.stderr)
    print(f"{part}: {tally}; {time.monotonic() - began:.0f} s")
    for law, n in sorted(tally.laws.items()):
        of = ", ".join(f"{kind} {k}" for (of_law, kind), k in tally.kinds.most_common() if of_law == law)
        print(f"  {law:32} {n:7,}   by capture or transfer: {of}"[:300])
    return tally


def main(arguments: list[str] | None = None) -> int:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--captures", nargs="*", type=Path, metavar="DIR", help="audit all captures of these")
    ask.add_argument("--simulated", type=int, default=0, metavar="N", help="simulated transfers")
    ask.add_argument("--mutated", type=int, default=0, metavar="N", help="mutated captures")
    ask.add_argument("--base", nargs="+", type=Path, default=FOLDERS, metavar="DIR", help="what is mutated")
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--from", dest="first", type=int, default=0, metavar="K", help="begin with number K")
    ask.add_argument("--workers", type=int, default=1)
    ask.add_argument("--fuzzer", type=Path, help="the fuzzer's program (default: in target/)")
    ask.add_argument("--keep", type=Path, default=ROOT / "target" / "audit", help="where captures are kept")
    o = ask.parse_args(arguments)
    fuzzer = o.fuzzer or next((path for path in FUZZERS if path.is_file()), None)
    place = Place(tuple(folder for folder in o.base if folder.is_dir()), o.keep, fuzzer)
    parts: list[tuple[str, list[Job]]] = []
    if o.captures is not None or not (o.simulated or o.mutated):
        folders = o.captures or [folder for folder in FOLDERS if folder.is_dir()]
        if missing := [str(folder) for folder in folders if not folder.is_dir()]:
            print(f"no folder: {', '.join(missing)}", file=sys.stderr)
            return 2
        paths = every_capture(folders)
        parts.append(("captures", [Job("captures", n, 0, path) for n, path in enumerate(paths)]))
    for part, n in (("simulated", o.simulated), ("mutated", o.mutated)):
        if n:
            parts.append((part, [Job(part, k, o.seed) for k in range(o.first, o.first + n)]))
    if o.mutated and not bases(place.folders):
        print("there are no captures to mutate: name a folder with --base", file=sys.stderr)
        return 2
    if o.mutated and fuzzer is None:
        print("without the fuzzer's program (cargo build -p rexmit-fuzz) no capture is built from decisions")
    found = [run_part(part, jobs, place, o.workers) for part, jobs in parts]
    if any(tally.laws for tally in found):
        print(f"captures that break a law are in {o.keep}")
    return int(any(tally.laws for tally in found))


if __name__ == "__main__":
    sys.exit(main())
