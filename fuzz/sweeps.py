#!/usr/bin/env python3
"""Folders of sweeps that a stranger made: plans, blocks of rows, and the commands that read them.

An execution reads a plan and asks it for all that is worked out of one, or reads a block, or runs a command:
`rexmit sql`, `report`, `sweep --merge`, and the rows and drawings from Python. Each has to end in time and
in bounded memory, with an answer or with sentences of which one names the folder. Nothing outside of the
folder is opened, and only the results are written.

  .venv/bin/python fuzz/sweeps.py --seed 1 --seconds 60
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import random
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import fuzzing
from fuzzing import MB, FaultError, Limits, Run, Target, mutated, number
from watching import Watched

SCENARIO = """
name = "x"
duration = "1s"
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
name = "up"
from = "a"
to = "b"
stack = "rfc-sack"
workload = { kind = "file", size = "50kB" }
[[link]]
name = "l"
between = ["a", "b"]
rate = "8Mbps"
delay = "10ms"
[[link.channel]]
name = "n"
kind = "random"
loss = "2%"
"""
VARY = {"link.l.rate": ["5Mbps", "8Mbps"], "flow.up.stack": ["rfc-sack", "ns2-reno"]}
#: Folders in a round, commands on each of them, and the plans and blocks that are read by themselves.
FOLDERS, COMMANDS, PLANS, BLOCKS = 2, 2, 1000, 10
MANY = tuple((str(k),) for k in range(1000))
HTML = "</script><img src=x onerror=alert(1)>\x1b[31m\0"
SQL = "x\" as select 1; copy (select 1) to 'OUT/written'; create view \"y"
#: What stands for a text in a plan.
TEXTS = (
    "", "x", HTML, SQL, "../../out/esc", "OUT/esc", "/etc/passwd", "episodes", "runs", "a\nb", "é" * 500,
    "%s{0}", "\ud83d",
)  # fmt: skip
QUANTITIES = (
    "1Mbps", "1e400Mbps", "-5Mbps", "nan", "1e308s", "0s", "3ms", "7us", "9 GiB", "10%", "1e-400", "10 SMSS",
    "0x10", "1_000", "٣ms", "5m s", "5 packets", "1e5kB", "inf ms", "true", "[1, 2]", "{ a = 1 }",
    "9" * 400 + "s", "9" * 5000 + "Mbps", "0." + "0" * 400 + "1s", f"1e{'9' * 50}s",
)  # fmt: skip
WISHES = (
    "goodput ±1%", "goodput +-1%", "timeouts ±1", "goodput ±1kbps", "goodput +-1Mbps, timeouts +-5%",
    "goodput", "±", "goodput ±", "goodput ±0%", "goodput ±nan%", "goodput ±-1%", "goodput ±1e400%",
    "none ±1%",
    "duration ±10ms", "lost ±5%", "duration ±" + "9" * 400 + "s", "duration ±" + "9" * 5000 + "s",
    "goodput ±0." + "0" * 400 + "1%", "up duration ±1%", "\x1b[31m duration ±1%",
)  # fmt: skip
TABLES = ("episodes", "runs", "flows", "bursts", "summary", "none", *TEXTS)
QUERIES = (
    "select count(*) from runs", "from runs limit 3", "from summary", "from differences", "from episodes",
    'select "link.l.rate_bps", avg(goodput_bps) from runs group by 1', "select 1", "from nothing",
)  # fmt: skip


@functools.cache
def sweeps() -> dict[str, bytes]:
    """The files of a small sweep, by name."""
    import rexmit

    with fuzzing.scratch() as folder:
        rexmit.sweep(
            rexmit.Scenario.parse(SCENARIO),
            VARY,
            runs=3,
            pair=["flow.up.stack"],
            tables=("episodes",),
            into=folder,
        )
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }


class Place:
    """`read` holds sweeps, `results` takes what is written, `out` is outside."""

    def __init__(self, rng: random.Random, top: Path) -> None:
        self.rng = rng
        self.read, self.results, self.out = top / "read", top / "results", top / "out"
        for folder in (self.read, self.results, self.out):
            folder.mkdir()
        (self.out / "000000.parquet").write_bytes(sweeps()["runs/000000.parquet"])
        (self.out / "plan.json").write_bytes(sweeps()["plan.json"])
        self.folders = [self._folder(f"s{k}") for k in range(FOLDERS)]

    def _folder(self, name: str) -> Path:
        folder, rng = self.read / name, self.rng
        self.sweep(folder)
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
            if rng.random() < 0.5:
                self.change_plan(folder / "plan.json")
            else:
                self.change_block(folder)
        return folder

    def sweep(self, folder: Path) -> None:
        """A sweep as rexmit made it."""
        for file, content in sweeps().items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def text(self) -> str:
        return self.rng.choice(TEXTS).replace("OUT", str(self.out))

    def anything(self, deep: int = 2) -> Any:
        rng = self.rng
        made: tuple[Callable[[], Any], ...] = (
            lambda: None,
            lambda: rng.random() < 0.5,
            lambda: number(rng),
            lambda: float(rng.choice(("nan", "inf", "-inf"))),
            self.text,
            lambda: [self.anything(deep - 1) for _ in range(rng.choice((0, 1, 3)))] if deep else [],
            lambda: {self.text(): self.anything(deep - 1)} if deep else {},
        )
        return rng.choice(made)()

    def change_plan(self, path: Path) -> None:
        """A plan with another value somewhere, and mostly with the digest that belongs to it."""
        from rexmit.sweeps.plan import Plan

        rng = self.rng
        if rng.random() < 0.25:
            words = (b"null", b"1e999", b"[]", b"{}", b"-1", b"\xff", b'"')
            path.write_bytes(mutated(rng, path.read_bytes(), words))
            return
        try:
            plan = Plan.of_json(path.read_text("utf-8"))
        except ValueError:
            return
        key = rng.choice([*(field.name for field in fields(plan)), "axes", "tables"])
        value: Any = self.anything()
        if key == "tables" and rng.random() < 0.8:
            names = [name.replace("OUT", str(self.out)) for name in TABLES]
            value = tuple(rng.choice(names) for _ in range(rng.choice((0, 1, 2))))
        elif key == "axes" and rng.random() < 0.8:
            value = self._axes(plan.axes)
        elif rng.random() < 0.5:
            value = self._plausible().get(key, value)
        values = {key: value}
        if key in ("until", "most") and rng.random() < 0.7:
            values = {"until": self._plausible()["until"], "most": rng.choice((1, 3, 5, 1000, 10**12))}
        with contextlib.suppress(TypeError, ValueError, AttributeError, RecursionError):
            text = replace(plan, **values).to_json()
            path.write_text(text, "utf-8", "surrogatepass")

    def _plausible(self) -> dict[str, Any]:
        """Values that a plan can have, if an odd one."""
        rng = self.rng
        return {
            "name": self.text(),
            "label": self.text(),
            "text": rng.choice((SCENARIO, SCENARIO + "\n# " + self.text(), self.text())),
            "set": rng.choice(((), (("duration", "2s"),), (("duration", "1s"), ("duration", "3s")))),
            "pair": rng.choice(((), ("link.l.rate",), ("link.l.rate", "flow.up.stack"))),
            "seed": rng.choice((0, 1, 2**62, 2**63 - 1)),
            "runs": rng.choice((1, 2, 7, 1000, 10**6)),
            "most": rng.choice((None, 1, 5, 10**9)),
            "until": tuple(rng.choice(WISHES) for _ in range(rng.choice((0, 1, 1, 2)))),
            "block": rng.choice((1, 2, 5, 1000)),
            "at": rng.choice(("both", "sender", "receiver")),
            "idle": rng.choice((None, 0.0, 0.05, 1e6)),
            "interval": rng.choice((1e-9, 0.1, 1.0, 1e6)),
            "texts": rng.choice(((), (SCENARIO,) * 4, (SCENARIO,))),
        }

    def _axes(self, axes: tuple[Any, ...]) -> tuple[Any, ...]:
        from rexmit.sweeps.axes import Axis

        rng, rate = self.rng, ("link.l.rate",)
        few = [(f"{k}Mbps",) for k in range(rng.choice((1, 3, 3, 300)))]
        some = tuple((rng.choice(QUANTITIES),) for _ in range(rng.choice((1, 1, 2, 5))))
        return rng.choice((
            (), (Axis((), ()),), (Axis((), ((),)),), (Axis(rate, ()),), (Axis(rate, ((5,), (None,))),),
            (Axis((self.text(),), ((self.text(),),)),), axes * 2, axes[:1], (Axis(rate, tuple(few)),),
            (Axis(rate, some),), (Axis((rng.choice(("link.l.delay", "seed", "no.such", "x")),), some),),
            (Axis(("a", "b"), (("1",), ("2",))),), tuple(Axis((f"k{i}",), MANY) for i in range(7)),
        ))  # fmt: skip

    def change_block(self, folder: Path) -> None:
        """A block that is damaged, of another shape, or no file at all."""
        rng = self.rng
        blocks = sorted(folder.glob("*/*.parquet"))
        if not blocks:
            return
        path = rng.choice(blocks)
        what = rng.randrange(10)
        if what < 5:
            self._table(path)
        elif what == 5:
            path.write_bytes(mutated(rng, path.read_bytes(), (b"PAR1", b"\0" * 8)))
        elif what == 6:
            data = path.read_bytes()
            path.write_bytes(
                rng.choice((b"", data[: len(data) // 2], data[:-4] + b"PARX", b"PAR1" * 5, b"\0" * 100))
            )
        elif what == 7:
            names = ("99999999999999999999999", "000099", "-00001", "x", " 00001", "000001.bak", "١")
            shutil.copy(path, path.with_name(f"{rng.choice(names)}.parquet"))
        else:
            path.unlink()
            odd = rng.choice(("gone", "fifo", "folder", "zero", "out", "none", "self"))
            if odd == "fifo":
                os.mkfifo(path)
            elif odd == "folder":
                path.mkdir()
            elif odd != "gone":
                targets = {
                    "zero": "/dev/zero",
                    "out": f"{self.out}/000000.parquet",
                    "none": f"{self.out}/none",
                }
                path.symlink_to(targets.get(odd, path.name))

    def _table(self, path: Path) -> None:
        """A block with another column."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        rng = self.rng
        try:
            table = pq.read_table(path)
        except (pa.ArrowException, OSError):
            return
        rows = len(table)
        names = (
            "goodput_bps",
            "point",
            "flow",
            "run",
            "replication",
            "seed",
            "link.l.rate",
            "link.l.rate_bps",
            *table.column_names,
        )
        name = rng.choice([name for name in names if name in table.column_names] or [""])
        place = table.column_names.index(name) if name else -1
        columns: tuple[Callable[[], Any], ...] = (
            lambda: pa.nulls(rows),
            lambda: pa.array([self.text().encode("utf-8", "replace").decode()] * rows),
            lambda: pa.array([rng.choice((float("nan"), float("inf"), -float("inf"), 1.7e308, -0.0))] * rows),
            lambda: pa.array([rng.choice((-1, 10**9, 2**62, 0, 7))] * rows, pa.int64()),
            lambda: pa.array([[1.0]] * rows),
            lambda: pa.array([{"a": 1}] * rows),
            lambda: pa.array([b"\xff"] * rows),
            lambda: pa.array([True] * rows),
            lambda: pa.array([rng.choice((0, -(2**62)))] * rows, pa.timestamp("ns")),
        )
        what = rng.random()
        if what < 0.15 and place >= 0:
            table = table.drop_columns([name])
        elif what < 0.25:
            table = table.slice(0, rng.choice((0, 1)))
        elif what < 0.35:
            table = pa.concat_tables([table] * rng.choice((2, 50)))
        elif what < 0.45:
            table = table.append_column(rng.choice((name, HTML, SQL, "point")), rng.choice(columns)())
        elif place >= 0:
            table = table.set_column(place, name, rng.choice(columns)())
        with contextlib.suppress(pa.ArrowException, OSError, UnicodeEncodeError):
            pq.write_table(table, path)


class Fuzzer:
    """The target: commands on a few folders each round."""

    def __init__(self) -> None:
        self.watched = Watched()

    def play(self, rng: random.Random, folder: Path, run: Run) -> None:
        """One round."""
        place = Place(rng, folder)
        try:
            with self.watched.over(place.read, place.results, place.out):
                for sweep in place.folders:
                    for k in range(COMMANDS):
                        self._command(rng, place, sweep, f"{sweep.name}-{k}", run)
                self._parts(place, place.results / "parts", run)
        except FaultError as fault:
            with run.execution("a round"):
                raise fault

    def warm(self) -> None:
        """Each command once on a good sweep: what it imports is no cost of an execution."""
        with fuzzing.scratch() as top:
            place = Place(random.Random(0), top)
            folder = place.read / "good"
            place.sweep(folder)
            for words in self._all(place.results / "good", QUERIES[0], folder, folder):
                done = self._done(folder, words)
                assert done in ("answered", "exit code 0"), (words, done)
                self._plain(place)

    def _all(self, into: Path, query: str, folder: Path, other: Path) -> list[list[str]]:
        made = (
            ["sql", folder, query],
            ["sql", folder, query, "--json"],
            ["sql", folder, "from runs", "-o", f"{into}.parquet"],
            ["report", folder, "-o", f"{into}.html"],
            ["sweep", "--merge", folder, "--out", into],
            ["sweep", "--merge", folder, other, "--out", into, "--json"],
            ["rows"],
            ["figures"],
        )
        return [[str(word) for word in words] for words in made]

    def _command(self, rng: random.Random, place: Place, folder: Path, name: str, run: Run) -> None:
        made = self._all(place.results / name, rng.choice(QUERIES), folder, rng.choice(place.folders))
        words = rng.choice(made)
        if words == ["figures"] and rng.random() < 0.9:
            words = ["rows"]
        with run.execution(f"{folder.name}: {' '.join(words)}"), self.watched.call():
            run.outcomes[self._done(folder, words)] += 1
        self._plain(place)

    def _done(self, folder: Path, words: list[str]) -> str:
        return self._asked(folder, words[0]) if len(words) == 1 else self._ran(folder, words)

    def _parts(self, place: Place, folder: Path, run: Run) -> None:
        """Plans and blocks by themselves: most of what can be wrong is found without a command."""
        from rexmit.sweeps.results import load

        place.sweep(folder)
        plan, base = folder / "plan.json", sweeps()["plan.json"]
        for _ in range(PLANS):
            plan.write_bytes(base)
            for _ in range(place.rng.choice((1, 1, 2))):
                place.change_plan(plan)
            with run.execution(f"plan {plan.read_bytes()!r}"), self.watched.call(python=False):
                run.outcomes[self._refusing(folder, lambda: _used(load(folder).plan))] += 1
        plan.write_bytes(base)
        for _ in range(BLOCKS):
            blocks = {path: path.read_bytes() for path in folder.glob("*/*.parquet")}
            place.change_block(folder)
            with run.execution(f"block of {folder.name}"), self.watched.call():
                run.outcomes[self._refusing(folder, lambda: _read(load(folder)))] += 1
            for path in folder.glob("*/*"):
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
            for path, content in blocks.items():
                path.write_bytes(content)
        shutil.rmtree(folder)

    def _refusing(self, folder: Path, work: Callable[[], None]) -> str:
        """What it does, or a sentence that names the folder."""
        try:
            work()
        except (ValueError, OSError) as error:
            if isinstance(error, UnicodeError) or str(folder) not in str(error):
                raise
            return "refused"
        return "answered"

    def _ran(self, folder: Path, words: list[str]) -> str:
        """The command line, as its own process would run it."""
        from rexmit.cli import main

        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words)
            except SystemExit as ended:
                code = int(ended.code or 0)
        said = err.getvalue()
        if code not in (0, 1, 2):
            raise FaultError("answer", f"exit code {code}: {said}")
        if "a fault of rexmit" in said or "Traceback" in said:
            raise FaultError("traceback", said)
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", said + out.getvalue()):
            raise FaultError("answer", f"control characters: {(said + out.getvalue())[:500]!r}")
        if code and "sql:" not in said and folder.parent.name not in said:
            raise FaultError("answer", f"names no file: {said}")
        if not code and "--json" in words:
            json.loads(out.getvalue(), parse_constant=_no_number)
        if not code and words[0] == "report" and b"<img src=x" in Path(words[-1]).read_bytes():
            raise FaultError("answer", "the page has an element that a plan made")
        return f"exit code {code}"

    def _asked(self, folder: Path, what: str) -> str:
        """Rows and drawings, as a script asks for them."""
        import pyarrow as pa

        from rexmit.sweeps.results import load

        def work() -> None:
            sweep = load(folder)
            for table in (sweep.runs, sweep.summary, sweep.differences, *map(sweep.table, sweep.plan.tables)):
                pa.table(table)
            if what == "figures":
                for draw in (sweep.curves, sweep.heat_map, sweep.distributions, sweep.paired):
                    with contextlib.suppress(ValueError):
                        draw()

        return self._refusing(folder, work)

    def _plain(self, place: Place) -> None:
        """Results are files below the folder for them, and the next command finds none."""
        for path in place.results.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _used(plan: Any) -> None:
    """All that is worked out of a plan."""
    from rexmit import _core
    from rexmit.sweeps.plan import Plan

    again = Plan.of_json(plan.to_json())
    assert again.digest == plan.digest
    assert not again.differences(plan)
    assert plan.keys is not None
    assert plan.columns is not None
    assert plan.rounds > 0
    for point in {0, plan.points - 1}:
        assert set(plan.values(point)) == set(plan.keys)
        plan.told(point)
        plan.seeds([point])
        with contextlib.suppress(_core.ScenarioError):
            plan.scenario(point).to_toml()
    for block in {0, plan.blocks - 1, *plan.of_round(plan.rounds - 1)[:1]}:
        assert len(plan.of_block(block)) > 0


def _read(sweep: Any) -> None:
    """All rows of all tables."""
    import pyarrow as pa

    for table in (sweep.runs, *map(sweep.table, sweep.plan.tables)):
        pa.table(table)


def _no_number(text: str) -> None:
    raise FaultError("answer", f"{text} is no number in JSON")


def main() -> int:
    """Fuzzes as the command line says."""
    os.environ["REXMIT_TRACE"] = "1"
    with fuzzing.covered("rexmit.sweeps"):
        import duckdb
        import matplotlib.pyplot

        import rexmit.report.make

        assert duckdb
        assert rexmit.report.make
        fuzzer = Fuzzer()
        fuzzer.warm()
        limits = Limits(seconds=10, cpu_seconds=10, memory=600 * MB)
        done = fuzzing.main(Target("sweeps", fuzzer.play, limits, "rexmit.sweeps"), __doc__)
        matplotlib.pyplot.close("all")
        return done


if __name__ == "__main__":
    sys.exit(main())
