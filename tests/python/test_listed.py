"""Runs that are listed, as `rx.runs` and the studies have them, are made by the engines of sweeps."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from rexmit.files.not_written import NotWrittenError
from rexmit.sweeps import listed
from rexmit.sweeps.engine import Threads
from rexmit.sweeps.places import Unnamed

SCENARIOS = Path(__file__).parents[2] / "scenarios"
VARIANTS = [
    rx.Scenario.load(SCENARIOS / "wifi-bursts.toml").with_(
        {"flow.download.workload.size": "200kB", "link.air.delay": delay}
    )
    for delay in ("1ms", "5ms", "20ms")
]
OPTIONS: dict[str, Any] = {"seeds": range(1, 8), "tables": ("flows", "drops", "bursts"), "bin": 0.5}


def rows(runs: rx.Runs) -> dict[str, Any]:
    found = {name: runs.table(name).to_arrow().to_pylist() for name in OPTIONS["tables"]}
    return found | {
        "series": runs.series.to_arrow().to_pylist(),
        "summary": runs.summary.to_arrow().to_pylist(),
    }


def test_rows_are_the_same_whoever_makes_the_blocks() -> None:
    pytest.importorskip("distributed")
    one = rx.runs(VARIANTS, threads=1, **OPTIONS)
    assert [row["variant"] for row in rows(one)["summary"]] == [0] * 7 + [1] * 7 + [2] * 7
    assert rows(one) == rows(rx.runs(VARIANTS, threads=3, **OPTIONS))
    assert rows(one) == rows(rx.runs(VARIANTS, cluster="local:2", **OPTIONS))


def test_blocks_cross_variants_and_hold_few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rx.runs(VARIANTS, threads=2, **OPTIONS)
    monkeypatch.setattr(listed, "size_of", lambda runs, threads: 5)
    made: list[int] = []

    def counted(self: Threads, *args: Any) -> Any:
        for item, files in plain(self, *args):
            made.append(len(item[3]))
            yield item, files

    plain = Threads.made
    monkeypatch.setattr(Threads, "made", counted)
    assert rows(rx.runs(VARIANTS, threads=2, **OPTIONS)) == rows(whole)
    assert sorted(made) == [1, 5, 5, 5, 5]


def test_a_table_of_no_run_has_its_columns() -> None:
    none = rx.runs(VARIANTS[:1], seeds=range(40), tables=("flows",), progress=lambda *_: False)
    assert none.interrupted
    assert none.flows.columns == rx.runs(VARIANTS[:1], tables=("flows",)).flows.columns


def test_many_runs_that_do_not_fit_are_refused_before_any_has_run() -> None:
    with pytest.raises(rx.ScenarioError, match="in 2 runs at once, more than"):
        rx.runs(VARIANTS, range(4), threads=2, max_memory="1kB")


def test_rows_that_are_many_go_to_a_file_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Unnamed, "MOST", 100)
    place = Unnamed()
    place.write("a/0", b"x" * 60)
    place.write("a/1", b"y" * 70)
    assert place.names("a") == ["0", "1"]
    assert place.read("a/1") == b"y" * 70
    assert place.open("a/0").read() == b"x" * 60
    assert place.read("b/0") is None
    with pytest.raises(FileNotFoundError):
        place.open("b/0")


@pytest.mark.filterwarnings("error")
def test_the_file_without_a_name_is_closed_with_its_last_use() -> None:
    place = Unnamed()
    place.write("a/0", b"x")
    del place
    gc.collect()


def test_a_full_disk_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Unnamed()

    def full(content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(place._file, "write", full)
    with pytest.raises(NotWrittenError, match="the rows of these runs could not be kept in "):
        place.write("a/0", b"x")


UNGUARDED = """
import rexmit as rx
print("once")
if __name__ != "__main__":
    raise SystemExit("run again as " + __name__)
done = rx.sweep({scenario!r}, {{"link.air.delay": ["1ms", "2ms"]}}, runs=4, cluster="local:2",
                set={{"flow.download.workload.size": "50kB"}})
print(len(done.runs.to_arrow()))
"""


def test_a_script_without_a_guard_does_not_run_again_in_workers(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED.format(scenario=str(SCENARIOS / "wifi-bursts.toml")))
    said = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert (said.stdout, said.stderr, said.returncode) == ("once\n8\n", "", 0)
