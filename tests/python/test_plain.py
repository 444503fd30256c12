"""What a plain install has to do: no package of the development tools is there, pandas and Polars least."""

from __future__ import annotations

import ast
import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rexmit as rx
from conftest import DATA
from rexmit.tables import Table
from rexmit_studies import paper
from rexmit_studies.interruption.phases import Transfer, unfinished

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import causes  # noqa: E402

#: What makes Python find none of them.
BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in ("pandas", "polars", "duckdb", "jsonschema"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
"""


def plainly(code: str) -> str:
    """What code prints where only the runtime dependencies can be imported."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_rows_with_nanoseconds_need_no_pandas() -> None:
    said = plainly("""
import pyarrow as pa
from rexmit.tables import Table

at = pa.array([1_500_000_001_123_456_789, None], pa.timestamp("ns", tz="UTC"))
table = Table("few", lambda: pa.table({"time": at, "n": [1, 2]}))
first, second = table.head()
print(first["time"], second["time"], first["n"])
print(table)
print(table._repr_html_())
""")
    lines = said.splitlines()
    assert lines[0] == "1500000001123456789 None 1"
    assert "02:40:01.123456" in lines[3]
    assert "<td>02:40:01.123456</td>" in said


def test_every_table_becomes_python_lists_where_times_have_nanoseconds(tmp_path: Path) -> None:
    # Microseconds taken for nanoseconds: the magic number says which of them a file has.
    packets = gzip.decompress((DATA / "interruption.snd.pcap.gz").read_bytes())
    (tmp_path / "ns.pcap").write_bytes(b"\x4d\x3c\xb2\xa1" + packets[4:])
    said = plainly(f"""
from datetime import datetime, timedelta, timezone
import rexmit as rx
epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
NAMES = ("flows", "bursts", "episodes", "retransmissions", "probes", "idle", "intervals", "rtt", "packets")
OF_RUN = ("state", "queues", "drops", "truth", "hosts")
cap = rx.capture({str(tmp_path / "ns.pcap")!r})
run = rx.run("scenarios/interruption.toml", 1, duration="2s")
runs = rx.runs("scenarios/interruption.toml", [1, 2], duration="2s", tables=("flows", "episodes", "drops"))
fleet = rx.fleet({str(tmp_path / "ns.pcap")!r}, into={str(tmp_path / "fleet")!r})
sweep = rx.sweep("scenarios/interruption.toml", {{}}, runs=2, set={{"duration": "2s"}},
                 tables=("flows", "episodes"), into={str(tmp_path / "sweep")!r})
tables = [cap.table(name) for name in NAMES] + [run.table(name) for name in NAMES + OF_RUN]
tables += [fleet.table(name) for name in ("captures", "flows", "bursts", "episodes", "idle")]
tables += [sweep.table(name) for name in ("runs", "flows", "episodes")] + [sweep.summary]
tables += [runs.table(name) for name in ("flows", "episodes", "drops")] + [runs.summary]
tables += [cap.by("pair"), cap.by("cause"), rx.traffic(cap.paths[0]).bins]
tables += [rx.script("linux-6-cubic", [{{"at": 0.0, "write": 1}}]).table]
fine, whole = 0, 0
for table in tables:
    rows = table.to_pylist()
    cut = table.to_arrow().to_pylist()
    assert len(rows) == len(cut) == len(table) == sum(1 for _ in table), table.name
    for row, less in zip(rows, cut):
        for name, value in row.items():
            if isinstance(less[name], datetime):
                fine += value % 1000 > 0
                whole += 1
                assert (less[name] - epoch) // timedelta(microseconds=1) == value // 1000
assert 0 < fine < whole
print("rows", len(tables))
""")
    assert said.startswith("rows ")


def test_rows_come_one_by_one_with_exact_times() -> None:
    at = pa.array([1_500_000_001_123_456_789, None], pa.timestamp("ns", tz="UTC"))
    table = Table("few", lambda: pa.table({"time": at, "n": [1, 2]}))
    first, second = table
    assert (first["time"], first["n"]) == (1_500_000_001_123_456_789, 1)
    assert second == {"time": None, "n": 2}
    assert table.to_arrow()["time"].cast(pa.int64()).to_pylist() == [1_500_000_001_123_456, None]
    assert table.to_arrow(unit="ns").equals(pa.table(table))
    with pytest.raises(ValueError, match="unit = 'ms': us or ns"):
        table.to_arrow(unit="ms")  # type: ignore[arg-type]


def test_whatever_the_package_returns_says_what_it_is(tmp_path: Path) -> None:
    capture = str(DATA / "interruption.snd.pcap.gz")
    scenario, short = str(ROOT / "scenarios" / "interruption.toml"), {"duration": "2s"}
    cap = rx.capture(capture)
    both = rx.compare(capture, capture)
    returned = [
        *(cap, cap.flows, cap.flows[0], cap.worst(), cap.by("pair"), cap.flows[0].ladder(1)),
        *(cap.flows[0].time_sequence(), cap.report(), both, both.costs, both.matched_episodes),
        *(rx.replay(capture), rx.rank_stacks(capture), rx.traffic(capture), rx.traffic(capture).hurst),
        *(rx.run(scenario, 1, **short), rx.runs(scenario, [1, 2], **short), rx.Scenario.load(scenario)),
        *(rx.script("linux-6-cubic", [{"at": 0.0, "write": 1}]), rx.fleet(capture, into=tmp_path / "fleet")),
        rx.sweep(scenario, {}, runs=2, set=short, into=tmp_path / "sweep"),
    ]
    silent = [repr(one) for one in returned if " object at 0x" in repr(one) or " object at 0x" in str(one)]
    assert silent == []
    fleet = repr(next(one for one in returned if isinstance(one, rx.Fleet)))
    assert fleet == f"<fleet of 1 capture, {tmp_path / 'fleet'}>"


def test_the_tables_of_runs_are_read_without_pandas() -> None:
    said = plainly("""
import sys
sys.path.insert(0, "validation")
import rexmit as rx
import kernel
from rexmit_studies.interruption import server, setups
from rexmit_studies.study import Plan, Results

plan = Plan(quick=True)
server.declare(plan)
batch = plan.batches["server"]
results = Results(server=rx.runs(batch.scenario, tables=batch.tables))
results.quick = True
print(len(server.offered(results)))

run = rx.run("scenarios/interruption.toml", 1, duration="6s")
print(len(kernel.rows_of(run.drops)) > 0, run.drops.head(1)[0]["time"] > 0)
""")
    assert said.split() == ["4", "True", "True"]


SCRIPTS = sorted((ROOT / "validation").glob("*.py"))
PACKAGES = sorted((ROOT / "validation").glob("*/__init__.py"))
#: Its mutators of captures are used by the audit, too.
FUZZ = sorted((ROOT / "fuzz").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_validation_asks_for_no_package_of_the_development_tools(script: Path) -> None:
    tree = ast.parse(script.read_text())
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    own = {path.stem for path in (*SCRIPTS, *FUZZ)} | {path.parent.name for path in PACKAGES}
    runtime = {"rexmit", "markdown_it", "numpy", "packaging", "pyarrow", "scipy", "__future__"}
    assert imported - set(sys.stdlib_module_names) - own <= runtime
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not called & {"to_polars", "to_pandas"}


@pytest.mark.parametrize("part", ["kernel", "testbed", "clean"])
def test_captures_that_are_not_there_are_no_met_bar(
    part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["causes.py", "--captures", str(tmp_path), "--part", part])
    assert causes.main() == 2
    out, err = capsys.readouterr()
    assert "bars met" not in out
    assert f"{tmp_path} lacks {tmp_path / causes.KIND_OF[part]}" in err


def test_captures_that_lack_one_file_name_it(tmp_path: Path) -> None:
    bed = tmp_path / "testbed"
    bed.mkdir()
    for name in ("README.csv", "a.drops.csv.gz", "a.snd.pcap.gz"):
        (bed / name).touch()
    with pytest.raises(ValueError, match=r"lacks .*testbed/a\.trace\.txt\.gz; --part"):
        causes.folders(tmp_path, ["testbed"])
    (bed / "a.trace.txt.gz").touch()
    assert causes.folders(tmp_path, ["testbed", "clean", "simulated"]) == {"testbed": bed}


def test_without_a_folder_named_the_shipped_captures_are_scored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(causes, "SHARED", tmp_path)
    assert causes.folders(None, causes.PARTS) == {"kernel": causes.OWN, "testbed": causes.OWN}
    assert "tests/data is scored" in capsys.readouterr().err


def transfer(duration_s: float | None) -> Transfer:
    return Transfer("osx", 3.1, 5.2, [], duration_s, 55_488)


def test_a_transfer_that_did_not_end_has_no_cost_and_is_counted() -> None:
    every = [transfer(25.0), transfer(None), transfer(2.0)]
    # 7,242 packets of 1,500 bytes at 5.2 Mbps take 16.7 s; outages at 3.1, 8.1, 13.1, 18.1, 23.1 s.
    assert every[0].cost_s == pytest.approx((25.0 - 16.712) / 5, abs=1e-3)
    assert every[1].cost_s != every[1].cost_s
    assert every[2].cost_s != every[2].cost_s
    assert unfinished(every) == 1


def test_the_page_says_how_many_did_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    from rexmit_studies.interruption import phases, shares
    from rexmit_studies.study import Results

    def sweep(results: Results, name: str = "phases") -> dict[str, list[Any]]:
        left = None if name == "phases, small window" else 25.0
        return {"osx": [transfer(25.0), transfer(26.0), transfer(left)]}

    monkeypatch.setattr(phases, "sweep", sweep)
    assert "1 of 3 of OS X 10.7 with the window at most 55,488" in shares._not_ended(Results())
    column = shares.tables(Results())["kinds over all phases"]["did not end"]
    assert column == ["0 of 3", "0 of 3", "1 of 3"]
    assert paper.figures("interruption")


HEAVY = {"matplotlib", "numpy", "pyarrow", "pywt", "rich", "scipy"}
LOADED = """
import sys
from rexmit import cli
assert cli.main(sys.argv[1:]) == 0
print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    ["stacks", "stacks linux-2.6-reno", "stacks --json", "channels", "study list", "study list --json"],
)
def test_a_list_loads_no_library_of_tables_or_figures(words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words.split()], capture_output=True, text=True, check=True
    )
    assert done.stdout
    assert not HEAVY & set(done.stderr.split())
