"""Folders of sweeps and fleets that a stranger made: one sentence that names the file, and nothing outside is
touched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rexmit as rx
from rexmit import sweeps
from rexmit.cli import main
from rexmit.sweeps.axes import Axis
from rexmit.sweeps.block import RUNS, runs_schema
from rexmit.sweeps.plan import Plan
from rexmit.sweeps.quantities import read as read_quantity
from test_output import CAPTURE
from test_sweep import LOSS, SCENARIO

RATE = "link.line.rate"
TEXT = "</script><script>alert(1)</script>\x1b[31m\x00"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of two points and 16 runs, as rexmit left it."""
    into = tmp_path_factory.mktemp("made") / "sweep"
    rx.sweep(SCENARIO, {LOSS: ["1%", "5%"]}, runs=8, tables=("episodes",), into=into)
    return into


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "sweep"))


def alter_plan(folder: Path, **fields: Any) -> None:
    """Writes the plan with other fields and the digest that belongs to them."""
    path = folder / "plan.json"
    path.write_text(replace(Plan.of_json(path.read_text()), **fields).to_json())


def commands(folder: Path) -> list[list[str]]:
    out = folder.parent / "out"
    every = [
        ["report", str(folder), "--out", f"{out}.html", "--overwrite"],
        ["report", str(folder), "--out", f"{out}.html", "--overwrite", "--anonymize"],
        ["sweep", "--merge", str(folder), "--out", str(out)],
        ["sweep", "--merge", str(folder), "--out", str(out), "--json"],
    ]
    try:
        import duckdb
    except ImportError:
        return every
    assert duckdb
    return [*every, ["sql", str(folder), "from summary"], ["sql", str(folder), "from runs", "--json"]]


PLANS: dict[str, tuple[dict[str, Any], str]] = {
    "SQL as a table": (
        {"tables": ("x\" as select 1; copy (select 1) to 'pwned.csv'; create view \"y",)},
        "tables is [",
    ),
    "path as a table": ({"tables": ("../../esc",)}, 'tables is ["../../esc"]'),
    "absolute path as a table": ({"tables": ("/etc/passwd",)}, 'tables is ["/etc/passwd"]'),
    "table twice": ({"tables": ("episodes", "episodes")}, "tables is ["),
    "the table of runs": ({"tables": ("runs",)}, 'tables is ["runs"]'),
    "empty axis": ({"axes": (Axis((LOSS,), ()),)}, "axes is [{"),
    "axis without keys": ({"axes": (Axis((), ((),)),)}, "axes is [{"),
    "numbers as values": ({"axes": (Axis((LOSS,), ((5,), (None,))),)}, "axes is [{"),  # type: ignore[arg-type]
    "row too short": ({"axes": (Axis((LOSS, RATE), (("1",),)),)}, "axes is [{"),
    "key twice": ({"axes": (Axis((LOSS,), (("1",),)), Axis((LOSS,), (("1",),)))}, "varied twice"),
    "too many points": (
        {"axes": tuple(Axis((f"k{i}",), tuple((str(j),) for j in range(1000))) for i in range(7))},
        "points are too many",
    ),
    "pair of nothing": ({"pair": ("nix",)}, 'pair: "nix" is not varied'),
    "no runs": ({"runs": 0}, "runs is 0; allowed: a whole number from 1"),
    "fewer runs than none": ({"runs": -1}, "runs is -1"),
    "too many runs": ({"runs": 10**18}, "runs is 1000000000000000000"),
    "runs as yes": ({"runs": True}, "runs is true"),
    "empty block": ({"block": 0}, "block is 0"),
    "negative block": ({"block": -5}, "block is -5"),
    "block as text": ({"block": "x"}, 'block is "x"'),
    "vast block": ({"block": 10**12}, "block is 1000000000000"),
    "seed as text": ({"seed": "abc"}, 'seed is "abc"'),
    "until without most": ({"until": ("goodput ±1%",)}, "most and until"),
    "until of nothing": ({"until": (TEXT,), "most": 100}, "--until"),
    "most below runs": ({"until": ("goodput ±1%",), "most": 1}, "most is 1, below runs"),
    "texts of other points": ({"texts": ("x", "y", "z")}, "texts: 3 texts for 2 points"),
    "vantage point": ({"at": "nowhere"}, "at is"),
    "interval": ({"interval": float("nan")}, "interval is NaN; allowed: seconds above 0"),
    "idle": ({"idle": -1}, "idle is -1"),
    "settings": ({"set": (("a", "b", "c"),)}, "set is ["),  # type: ignore[dict-item]
    "name as a list": ({"name": ["x"]}, 'name is ["x"]'),
}


@pytest.mark.parametrize("what", PLANS)
def test_a_field_of_a_plan_that_is_none_is_named(
    what: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fields, sentence = PLANS[what]
    alter_plan(folder, **fields)
    before = sorted(folder.parent.rglob("*"))
    monkeypatch.chdir(folder.parent)
    for words in commands(folder):
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert f"{folder}/plan.json: " in err
        assert sentence in err
        assert err.count("\n") == 1
        assert "fault" not in err
        assert sorted(folder.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no plan of a sweep, or cut off"),
        ("[1]", "is no plan of a sweep, or cut off"),
        ('{"digest": 5, "axes": []}', "is no plan of a sweep, or cut off"),
        ('{"digest": "5", "axes": []}', "format is null, and this rexmit reads format 1"),
        ('{"digest": "5", "axes": [], "format": 1}', "name is missing"),
        ('{"digest": "5", "axes": [], "format": ' + "1" * 5000 + "}", "is no plan of a sweep, or cut off"),
        ("[" * 100_000, "is no plan of a sweep, or cut off"),
    ],
)
def test_what_is_no_plan_is_said(folder: Path, text: str, sentence: str) -> None:
    (folder / "plan.json").write_text(text)
    with pytest.raises(ValueError, match=r"plan\.json: ") as told:
        sweeps.load(folder)
    assert sentence in str(told.value)


def test_a_plan_with_a_field_of_somebody_elses_is_none(folder: Path) -> None:
    path = folder / "plan.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"command": "rm"}))
    with pytest.raises(ValueError, match='"command" is no field of a plan'):
        sweeps.load(folder)


def test_names_and_values_of_any_text_are_shown_and_not_obeyed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = (Axis((TEXT,), ((TEXT,), ("5Mbps",))),)
    alter_plan(folder, name=f"../../{TEXT}", label=TEXT, rexmit=TEXT, axes=axes)
    for words in commands(folder):
        assert main(words) == 0, capsys.readouterr().err
    assert "\x1b" not in capsys.readouterr().out
    page = (folder.parent / "out.html").read_text()
    assert "<script>alert" not in page
    # A page is called after the sweep, in the folder where the command runs.
    monkeypatch.chdir(folder)
    assert main(["report", str(folder)]) == 0
    (named,) = folder.glob("*.html")
    assert "\x1b" not in named.name


def test_a_number_with_a_huge_exponent_takes_no_time() -> None:
    assert read_quantity("1e999999999s") is None
    assert read_quantity("9" * 100_000) is None
    assert read_quantity("1e400") is None
    found = read_quantity("2.5e3ms")
    assert found is not None
    assert found.value == 2.5


def put(kind: Callable[[int], Any], column: str) -> Callable[[Path], None]:
    """Another column in the first block of runs; None drops it."""

    def spoil(path: Path) -> None:
        table = pq.read_table(path)
        place = table.column_names.index(column)
        found = kind(len(table))
        rest = table.drop_columns([column])
        pq.write_table(rest if found is None else rest.add_column(place, column, found), path)

    return spoil


def instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        path.unlink()
        make(path)

    return spoil


BLOCKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing column": (put(lambda n: None, "goodput_bps"), "column goodput_bps is there 0 times"),
    "text as numbers": (put(lambda n: pa.array(["x"] * n), "goodput_bps"), "goodput_bps is of type string"),
    "nested column": (put(lambda n: pa.array([[1.0]] * n), "goodput_bps"), "goodput_bps is of type list"),
    "flow of no type": (put(pa.nulls, "flow"), "column flow is of type null"),
    "point of another plan": (put(lambda n: pa.array([10**9] * n), "point"), "another point or replication"),
    "negative point": (put(lambda n: pa.array([-1] * n), "point"), "another point or replication"),
    "point of nobody": (put(lambda n: pa.nulls(n, pa.int64()), "point"), "does not say which run"),
    "run of another block": (put(lambda n: pa.array([10**9] * n), "run"), "is not of this block"),
    "no rows": (lambda path: pq.write_table(pq.read_table(path).slice(0, 0), path), "runs have rows"),
    "too many rows": (
        lambda path: pq.write_table(pa.concat_tables([pq.read_table(path)] * 9), path),
        "one for each run and flow",
    ),
    "column twice": (
        lambda path: pq.write_table((t := pq.read_table(path)).append_column("flow", t.column("flow")), path),
        "column flow is there 2 times",
    ),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:-9]), "cannot be read"),
    "empty file": (lambda path: path.write_bytes(b""), "cannot be read"),
    "no Parquet": (lambda path: path.write_bytes(b"PAR1" * 9), "cannot be read"),
    "pipe": (instead(os.mkfifo), "is no regular file"),
    "folder": (instead(os.mkdir), "cannot be read: is a directory"),
    "link to a device": (instead(lambda path: path.symlink_to("/dev/zero")), "leads out of"),
    "link to itself": (instead(lambda path: path.symlink_to(path)), "cannot be read"),
}


@pytest.mark.parametrize("what", BLOCKS)
def test_a_block_that_is_none_is_named(what: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil, sentence = BLOCKS[what]
    spoil(folder / "runs/000000.parquet")
    for words in commands(folder):
        if words[:1] == ["sql"] and "from runs" in words[2]:
            continue  # DuckDB reads it, and says what it finds
        assert main(words) == 2
        err = capsys.readouterr().err
        assert f"{folder}/runs/000000.parquet: " in err
        assert sentence in err
        assert err.count("\n") == 1
        assert not list(folder.parent.glob("out/runs/*"))


def test_rows_that_are_too_large_to_add_up_are_no_numbers(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for value in (1.7e308, float("inf"), float("nan")):
        for path in folder.glob("runs/*"):
            put(lambda n, value=value: pa.array([value] * n), "goodput_bps")(path)
        for words in commands(folder):
            assert main(words) == 0
            out, err = capfd.readouterr()
            assert "Warning" not in err
            if "--json" in words:
                json.loads(out, parse_constant=lambda constant: pytest.fail(constant))


def test_a_file_of_no_block_does_not_count(folder: Path) -> None:
    for name in ("99999999999999999999999", "999999", "1", "0000001", "١٢٣٤٥٦"):
        shutil.copy(folder / "runs/000000.parquet", folder / f"runs/{name}.parquet")
    assert sweeps.load(folder).store.done() == list(range(16))


def test_a_link_out_of_the_folder_is_not_written_through(made: Path, tmp_path: Path) -> None:
    into, outside = tmp_path / "into", tmp_path / "outside"
    into.mkdir()
    outside.mkdir()
    (into / "runs").symlink_to(outside)
    assert main(["sweep", "--merge", str(made), "--out", str(into)]) == 2
    assert not list(outside.iterdir())


def test_a_pipe_as_the_plan_is_said_at_once(folder: Path) -> None:
    (folder / "plan.json").unlink()
    os.mkfifo(folder / "plan.json")
    for words in commands(folder):
        assert main(words) == 2


def sql(folder: Path, query: str, *more: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("duckdb", reason="needs DuckDB: pip install 'rexmit[sweep]'")
    command = [sys.executable, "-m", "rexmit", "sql", str(folder), query, *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder.parent)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("copy (from runs) to 'x.csv'", "copy writes files, and a query reads only; -o FILE.parquet"),
        ("copy (from runs) to '{folder}/x.csv'", "copy writes files"),
        ("from runs; copy (from runs) to '{folder}/x.csv'", "copy writes files"),
        ("export database '{folder}/x'", "export writes files"),
        ("attach '{folder}/x.db'", "attach writes files"),
        ("explain analyze copy (from runs) to 'x.csv'", "a query reads files of"),
        ("from read_csv('/etc/passwd')", "a query reads files of"),
        ("from read_text('{folder}/../secret')", "a query reads files of"),
        ("from glob('/etc/*')", "a query reads files of"),
        ("set enable_external_access = true", "the configuration has been locked"),
        ("set allowed_directories = ['/']", "the configuration has been locked"),
        ("install httpfs", "a query reads files of"),
        ("from sweep", "Table with name sweep does not exist"),
    ],
)
def test_a_query_reads_the_folder_only_and_writes_nothing(folder: Path, query: str, sentence: str) -> None:
    (folder.parent / "secret").write_text("x")
    before = sorted(folder.parent.rglob("*"))
    done = sql(folder, query.replace("{folder}", str(folder)))
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(folder.parent.rglob("*")) == before


def test_a_query_may_name_files_of_the_folder_itself(folder: Path) -> None:
    count = "select count(*) as n from"
    named = sql(folder, f"{count} read_parquet('{folder}/runs/*.parquet')", "--json")
    assert json.loads(named.stdout) == json.loads(sql(folder, f"{count} runs", "--json").stdout)
    pivoted = sql(folder, f'pivot runs on flow using avg(goodput_bps) group by "{LOSS}"', "--json")
    assert len(json.loads(pivoted.stdout)) == 2


def test_every_column_of_runs_is_checked_for_what_a_plan_makes(made: Path) -> None:
    there = pq.read_schema(next(made.glob("runs/*")))
    assert {(f.name, f.type) for f in runs_schema()} < {(f.name, f.type) for f in there}
    assert RUNS not in Plan.of_json((made / "plan.json").read_text()).tables


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("fleet")
    (top / "captures").mkdir()
    shutil.copy(CAPTURE, top / "captures" / "a.pcap.gz")
    rx.fleet(top / "captures", into=top / "results")
    return top / "results"


FLEETS: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing column": (put(lambda n: None, "lost_s"), "captures/000000.parquet: cannot be read"),
    "nobody's rows": (put(lambda n: pa.nulls(n, pa.int64()), "capture"), "capture has rows without a value"),
    "another's rows": (put(lambda n: pa.array([7] * n), "capture"), "it has rows of another capture"),
    "text as numbers": (put(lambda n: pa.array(["x"] * n), "bytes"), "bytes is of type string"),
    "no number": (put(lambda n: pa.array([float("nan")] * n), "lost_s"), "lost_s has a number that is none"),
    "infinite time": (put(lambda n: pa.array([float("inf")] * n), "span_s"), "span_s has a number that"),
    "vast count": (put(lambda n: pa.array([2**63 - 1] * n), "bytes"), "bytes has a number that is none"),
    "no count": (put(lambda n: pa.nulls(n, pa.int64()), "episodes"), "episodes lacks the number"),
    "pipe": (instead(os.mkfifo), "is no regular file"),
    "link": (instead(lambda path: path.symlink_to("/etc/passwd")), "leads out of"),
}


@pytest.mark.parametrize("what", FLEETS)
def test_a_damaged_table_of_a_fleet_is_named(what: str, fleet: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(fleet, tmp_path / "results"))
    spoil, sentence = FLEETS[what]
    spoil(folder / "captures/000000.parquet")
    from rexmit.fleets.results import load

    with pytest.raises(ValueError, match=r"captures/000000\.parquet: ") as told:
        print(load(folder).summary)
    assert sentence in str(told.value)


def test_a_cause_that_is_none_is_named(fleet: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(fleet, tmp_path / "results"))
    put(lambda n: pa.array([TEXT] * n), "cause")(folder / "causes/000000.parquet")
    from rexmit.fleets.results import load

    with pytest.raises(ValueError, match=r"causes/000000\.parquet: .*column cause has a word that is none"):
        print(load(folder).summary)


@pytest.mark.parametrize(
    "change",
    [
        {"rexmit": 5},
        {"options": []},
        {"captures": [[]]},
        {"captures": [[{"path": 5, "bytes": 1, "mtime_ns": 1}]]},
        {"captures": [[{"path": "a"}]]},
    ],
)
def test_a_plan_of_captures_that_is_none_is_said(change: dict[str, Any], fleet: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(fleet, tmp_path / "results"))
    path = folder / "plan.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    from rexmit.fleets.results import load

    with pytest.raises(ValueError, match=r"plan\.json: is no plan of captures that this rexmit reads"):
        load(folder)
