"""Sweeps of small scenarios, as they are run: what is planned, made, kept, and found again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rexmit as rx
from rexmit import sweeps
from rexmit.files.not_written import NotWrittenError
from rexmit.sweeps import axes, making, page
from rexmit.sweeps.engine import Threads
from rexmit.sweeps.merge import merge
from rexmit.sweeps.plan import Plan
from rexmit.sweeps.store import Store
from rexmit.sweeps.sweeping import run

SCENARIO = """
name = "small"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "line"
between = ["a", "b"]
rate = "10Mbps"
delay = "5ms"
queue = { kind = "droptail", packets = 50 }
[[link.channel]]
name = "loss"
kind = "random"
loss = "1%"
[[flow]]
name = "up"
from = "a"
to = "b"
stack = "rfc-sack"
workload = { kind = "file", size = "100kB" }
"""
LOSS = "link.line.channel.loss.loss"
VARY: dict[str, Any] = {LOSS: ["0", "1%", "5%"], "flow.up.stack": ["rfc-sack", "rfc-reno"]}


def rows(sweep: rx.Sweep, table: str = "runs") -> list[dict[str, Any]]:
    """All rows, whatever the order in which blocks were made."""
    return sorted(sweep.table(table).to_arrow().to_pylist(), key=repr)


def small(into: Path | None = None, **more: Any) -> rx.Sweep:
    """Six points of four replications if nothing else is said."""
    given: dict[str, Any] = {"vary": VARY, "runs": 4, "into": into} | more
    return rx.sweep(SCENARIO, **given)


def test_each_point_has_each_replication_once_and_rows_as_a_run_has(tmp_path: Path) -> None:
    done = small(tmp_path, tables=("flows", "episodes"))
    found = done.runs.to_arrow().to_pylist()
    assert len(found) == 3 * 2 * 4
    assert {(row["point"], row["replication"]) for row in found} == {
        (p, r) for p in range(6) for r in range(1, 5)
    }
    for row in found[:6]:
        one = rx.runs(SCENARIO, [row["seed"]], set={LOSS: row[LOSS], "flow.up.stack": row["flow.up.stack"]})
        (told,) = one.summary.to_arrow().to_pylist()
        assert {key: row[key] for key in told if key in row and key != "run"} == {
            key: told[key] for key in told if key in row and key != "run"
        }
    by_run = [row["run"] for row in done.table("flows").to_arrow().to_pylist()]
    assert sorted(set(by_run)) == list(range(24))
    assert done.table("flows").columns[:3] == ["run", "point", "replication"]
    assert {row[f"{LOSS}_number"] for row in found} == {0, 0.01, 0.05}


def test_one_and_two_threads_make_the_same_rows(tmp_path: Path) -> None:
    found = [small(tmp_path / str(n), threads=n, tables=("episodes",)) for n in (1, 2)]
    for table in ("runs", "episodes"):
        assert rows(found[0], table) == rows(found[1], table)


def test_paired_values_meet_the_same_seeds_and_others_do_not() -> None:
    plan = making.make(SCENARIO, VARY, runs=3, pair=["flow.up.stack"], seed=7)
    first = [plan.first_seed(point) for point in range(plan.points)]
    assert first[0] == first[1]
    assert first[2] == first[3]
    assert len(set(first)) == 3
    # A further value leaves the seeds of the others alone.
    wider = making.make(SCENARIO, VARY | {LOSS: ["0", "2%", "1%"]}, runs=3, pair=["flow.up.stack"], seed=7)
    assert wider.first_seed(0) == first[0]
    assert wider.first_seed(4) == first[2]
    # All paired: the seeds of `rexmit run --runs`.
    alone = making.make(SCENARIO, {LOSS: ["0", "1%"]}, runs=3, pair=[LOSS], seed=7)
    assert alone.seeds(range(6)) == [7, 7, 8, 8, 9, 9]


def test_every_run_of_a_plan_is_in_one_block_whatever_the_size() -> None:
    plan = making.make(SCENARIO, VARY, runs=4, until=["goodput ±1%"], most=10)
    for size in (1, 5, 7, 24, 1000):
        cut = plan.with_block(size)
        assert [run for k in range(cut.blocks) for run in cut.of_block(k)] == list(range(60))
        rounds = [[run for k in cut.of_round(r) for run in cut.of_block(k)] for r in range(cut.rounds)]
        assert [len(one) for one in rounds] == [24, 24, 12]
        assert cut.digest == plan.digest


def test_a_plan_comes_back_from_its_text_and_one_changed_by_hand_does_not() -> None:
    plan = making.make(SCENARIO, VARY, runs=4, tables=["flows"])
    assert Plan.of_json(plan.to_json()) == plan
    with pytest.raises(ValueError, match="changed by hand"):
        Plan.of_json(plan.to_json().replace('"runs": 4', '"runs": 5'))
    with pytest.raises(ValueError, match="cut off"):
        Plan.of_json(plan.to_json()[:100])


CHILD = """
import sys, rexmit as rx
from test_sweep import SCENARIO, VARY
rx.sweep(SCENARIO, VARY, runs=400, into=sys.argv[1], tables=("flows", "episodes"), threads=2)
"""


def test_after_kill_9_the_same_command_goes_on_and_has_the_rows_of_one_that_nobody_killed(
    tmp_path: Path,
) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(killed)], env=environment)
    ends = time.monotonic() + 60
    while len(Store(killed).done()) < 5:
        assert child.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    kept = Store(killed).done()
    plan = Store(killed).plan()
    assert plan is not None
    assert 5 <= len(kept) < plan.blocks
    times = {k: (killed / f"runs/{k:06d}.parquet").stat().st_mtime_ns for k in kept}
    given: dict[str, Any] = {"runs": 400, "tables": ("flows", "episodes")}
    again = small(killed, **given)
    assert again.outcome is not None
    assert not list(killed.rglob(".0*"))
    assert again.outcome.made == 2400 - sum(len(plan.of_block(k)) for k in kept)
    # What was done was not made again.
    assert times == {k: (killed / f"runs/{k:06d}.parquet").stat().st_mtime_ns for k in kept}
    alone = small(whole, **given)
    for table in ("runs", "flows", "episodes"):
        assert again.table(table).to_arrow().equals(alone.table(table).to_arrow())


def test_shards_in_one_folder_or_merged_are_the_whole(tmp_path: Path) -> None:
    whole = small(tmp_path / "whole", tables=("flows",))
    for part in ("1/3", "2/3", "3/3"):
        small(tmp_path / "one", tables=("flows",), part=part)
        small(tmp_path / part.replace("/", "-"), tables=("flows",), part=part)
    merged = merge([tmp_path / f"{k}-3" for k in (3, 1, 2)], tmp_path / "merged")
    for table in ("runs", "flows"):
        told = whole.table(table).to_arrow()
        assert sweeps.load(tmp_path / "one").table(table).to_arrow().equals(told)
        assert merged.table(table).to_arrow().equals(told)
    assert len(sweeps.load(tmp_path / "1-3").runs) < 24


def test_parts_that_are_missing_are_said(tmp_path: Path) -> None:
    small(tmp_path / "1", part="1/2")
    half = merge([tmp_path / "1"], tmp_path / "half")
    done = half.runs.to_arrow().num_rows
    told = page.page(half.plan, half.store, None, None)
    assert f"NOT ALL PARTS: {done} of 24 runs are done" in told
    small(tmp_path / "half", part="2/2")
    whole = sweeps.load(tmp_path / "half")
    assert "NOT ALL PARTS" not in "\n".join(page.page(whole.plan, whole.store, None, None))


@pytest.mark.slow
def test_until_makes_the_same_runs_whatever_the_block_and_the_threads(tmp_path: Path) -> None:
    plan = making.make(SCENARIO, {LOSS: ["0", "5%"]}, runs=10, until=["goodput ±12%"], most=200)
    found = []
    for size, threads in ((1, 1), (3, 2), (1000, 2)):
        store = Store(tmp_path / str(size))
        cut = plan.with_block(size)
        store.begin(cut)
        found.append(run(plan, tmp_path / str(size), engine=Threads(threads)))
    counts = [len(one.runs) for one in found]
    # Narrower than ten replications give, and far from the cap.
    assert counts[0] > 20
    assert counts[0] < 400
    assert all(one.outcome is not None and not one.outcome.wide for one in found)
    assert rows(found[0]) == rows(found[1]) == rows(found[2])
    summary = found[0].summary.to_arrow().to_pylist()
    for row in summary:
        if row["measure"] == "goodput_bps":
            assert row["t_high"] - row["mean"] <= 0.12 * row["mean"] * 1.000001


def test_until_ends_at_its_cap_and_says_so(tmp_path: Path) -> None:
    done = small(tmp_path, vary={LOSS: ["5%"]}, runs=3, until="goodput ±0.01%", most=7)
    assert done.outcome is not None
    assert done.outcome.runs == 7
    assert done.outcome.wide == 1


def test_a_run_that_fails_is_a_row_with_its_seed_and_the_rest_goes_on(tmp_path: Path) -> None:
    # The link never opens: a connection that cannot be made has an end of its own.
    done = small(tmp_path, vary={LOSS: ["0", "100%"]}, runs=2)
    ends = {row[LOSS]: row for row in done.runs.to_arrow().to_pylist()}
    assert ends["0"]["end"] == "done"
    assert ends["0"]["ended"] == 1
    assert ends["100%"]["failed"] == 1 or ends["100%"]["failure"]
    assert len(done.runs) == 4


def test_another_plan_s_folder_is_left_alone(tmp_path: Path) -> None:
    small(tmp_path, runs=2)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=r"another plan \(--runs differs\)"):
        small(tmp_path, runs=3)
    with pytest.raises(ValueError, match=r"what --vary says"):
        small(tmp_path, runs=2, vary={LOSS: ["0"]})
    with pytest.raises(ValueError, match=r"the scenario's text"):
        rx.sweep(SCENARIO.replace("5ms", "6ms"), VARY, runs=2, into=tmp_path)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("vary", "more", "said"),
    [
        ({"link.line.nix": ["1"]}, {}, "nix is no key of a link"),
        ({"link.line.delay": ["5Mbps"]}, {}, "link.line.delay=5Mbps is no time"),
        ({"link.line.delay": []}, {}, "says no value"),
        ({"link.line.delay": "1ms,,2ms"}, {}, "an empty one"),
        ({"link.line.delay": "1ms,1ms"}, {}, "stands there twice"),
        ({"link.line.delay": "1ms..9ms"}, {}, "how many values"),
        ({"link.line.delay": "1ms..9Mbps/3"}, {}, "1ms is a time and 9Mbps a rate"),
        ({"link.line.delay": "9ms..1ms/3"}, {}, "the lower end comes first"),
        ({"link.line.delay": "0ms..1ms/3log"}, {}, "ends above 0"),
        ({"link.line.delay": "uniform(1ms,2ms)"}, {}, "--samples says how many"),
        ({"link.line.delay": ["1ms"]}, {"samples": 5}, "no key is sampled"),
        ({"link.line.delay": ["1ms"]}, {"pair": ["flow.up.stack"]}, "it is not varied"),
        ({"seed": ["1"]}, {}, "seed is not varied"),
        ({}, {"tables": ["episode"]}, "did you mean episodes"),
        ({}, {"until": "goodput ±1%"}, "--most says"),
        ({}, {"until": "goodputs ±1%", "most": 9}, "did you mean goodput"),
        ({}, {"until": "goodput ±1ms", "most": 9}, "1ms is no rate above 0"),
        ({}, {"until": "goodput", "most": 9}, "a measure and a width"),
        ({}, {"until": "down goodput ±1%", "most": 9}, "down is no flow"),
        ({}, {"until": "goodput ±1%", "most": 3}, "--most 3 is below --runs 4"),
        ({}, {"part": "0/3"}, "names no part"),
        ({}, {"part": "1/2", "until": "goodput ±1%", "most": 9}, "--shard makes a part"),
    ],
)
def test_what_cannot_be_is_one_sentence_before_anything_is_written(
    tmp_path: Path, vary: dict[str, Any], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=r"\w") as told:
        small(tmp_path / "new", vary=vary, **more)
    assert said in str(told.value)
    assert "\n" not in str(told.value)
    assert not list(tmp_path.rglob("*.parquet"))


def test_axes_in_steps_ratios_and_samples() -> None:
    def read(key: str, said: str, samples: int | None = None) -> list[tuple[str, ...]]:
        return [row for axis in axes.read({key: said}, samples, 1) for row in axis.values]

    assert read("k", "1ms..100ms/10") == [(f"{n}ms",) for n in range(1, 101, 11)]
    assert read("k", "1kbps..1Mbps/4log") == [("1kbps",), ("10kbps",), ("100kbps",), ("1Mbps",)]
    assert read("k", "0..1/3") == [("0",), ("0.5",), ("1",)]
    assert read("k", '[1, 2],{ a = "x,y" }') == [("[1, 2]",), ('{ a = "x,y" }',)]
    sampled = axes.read({"a": "uniform(0ms,100ms)", "b": "x,y", "c": "loguniform(1,1000)"}, 100, 5)
    assert [axis.keys for axis in sampled] == [("a", "c"), ("b",)]
    # One value in each hundredth, of each key: that is what a Latin hypercube is.
    cells = sorted(int(float(a.removesuffix("ms"))) for a, _ in sampled[0].values)
    assert cells == list(range(100))
    assert sampled == axes.read({"a": "uniform(0ms,100ms)", "b": "x,y", "c": "loguniform(1,1000)"}, 100, 5)
    assert sampled != axes.read({"a": "uniform(0ms,100ms)", "b": "x,y", "c": "loguniform(1,1000)"}, 100, 6)


def test_keys_of_whole_numbers_are_rounded() -> None:
    plan = making.make(SCENARIO, {"link.line.queue.packets": "1..100/6log"}, runs=1)
    assert [row for (row,) in plan.axes[0].values] == ["1", "3", "6", "16", "40", "100"]


def test_a_scenario_with_files_takes_them_along(tmp_path: Path) -> None:
    (tmp_path / "dark.txt").write_text("0.1 0.2\n")
    outage = '[[link.channel]]\nname = "dark"\nkind = "outage"\nschedule = { file = "dark.txt" }\n'
    scenario = tmp_path / "s.toml"
    scenario.write_text(SCENARIO.replace("[[flow]]", outage + "[[flow]]"))
    plan = making.make(scenario, {LOSS: ["0", "1%"]}, runs=2)
    (tmp_path / "dark.txt").unlink()
    assert len(plan.texts) == 2
    assert "dark.txt" not in plan.scenario(0).to_toml()


def test_a_full_disk_is_told_and_what_is_done_stays(tmp_path: Path) -> None:
    done = small(tmp_path, runs=20)
    whole = rows(done)
    victim = sorted((tmp_path / "runs").iterdir())[3]
    victim.unlink()
    # Nothing can be written under that name while a folder has it.
    victim.mkdir()
    (victim / "x").write_text("")
    store = Store(tmp_path)
    with pytest.raises(NotWrittenError, match=r"000003\.parquet: not written"):
        store.keep(3, {"runs": b"x"})
    (victim / "x").unlink()
    victim.rmdir()
    assert rows(small(tmp_path, runs=20)) == whole


def test_a_damaged_block_is_named_and_made_again_once_it_is_removed(tmp_path: Path) -> None:
    whole = rows(small(tmp_path, runs=20))
    victim = sorted((tmp_path / "runs").iterdir())[2]
    victim.write_bytes(victim.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"000002\.parquet: cannot be read .*; remove it"):
        rows(sweeps.load(tmp_path))
    victim.unlink()
    assert rows(small(tmp_path, runs=20)) == whole


def test_stopping_keeps_what_is_done(tmp_path: Path) -> None:
    def stop(done: int, of: int | None, packets: int) -> bool:
        return done < 200

    stopped = small(tmp_path, runs=200, progress=stop)
    assert stopped.interrupted
    assert stopped.outcome is not None
    assert len(stopped.runs) == stopped.outcome.runs < 1200
    assert rows(small(tmp_path, runs=200)) == rows(small(tmp_path / "whole", runs=200))


def sweep(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rexmit", "sweep", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_command_says_plan_and_answer(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(SCENARIO)
    words = [str(scenario), "--vary", f"{LOSS}=0,2%", "--runs", "3", "--out", str(tmp_path / "out")]
    planned = sweep(*words, "--plan")
    assert planned.returncode == 0
    assert "small: 2 points × 3 replications = 6 runs" in planned.stdout
    assert not (tmp_path / "out").exists()
    cost = json.loads(sweep(*words, "--plan", "--json").stdout)
    assert (cost["points"], cost["runs"], cost["tried_runs"]) == (2, 6, 6)
    made = sweep(*words)
    assert made.returncode == 0, made.stderr
    assert f"6 runs done and kept in {tmp_path / 'out'}" in made.stdout
    told = json.loads(sweep(*words, "--json").stdout)
    assert told["runs"] == 6
    assert {row["measure"] for row in told["summary"]} >= {"goodput_bps", "duration_s"}
    assert pq.read_table(tmp_path / "out" / "runs").num_rows == 6
    bad = sweep(str(scenario), "--vary", "link.line.nix=1")
    assert bad.returncode == 2
    assert "nix is no key of a link" in bad.stderr
    assert bad.stderr.startswith("link.line.nix=1: ")
    assert len(bad.stderr.splitlines()) == 1
    bad = sweep(str(scenario), "--out", str(scenario))
    assert bad.returncode == 2
    assert bad.stderr.endswith("s.toml: is no folder; name one, or what is not there yet\n")


def test_transfers_that_did_not_end_are_counted_beside_how_long_the_others_took(tmp_path: Path) -> None:
    scenario = tmp_path / "short.toml"
    scenario.write_text('duration = "500ms"\n' + SCENARIO)
    done = sweep(str(scenario), "--vary", f"{LOSS}=0,20%", "--runs", "6")
    head, clean, lossy = [line.split() for line in done.stdout.splitlines()[-3:]]
    assert " ".join(head).startswith(f"{LOSS} runs not ended goodput")
    assert clean[:3] == ["0", "6", "0"]
    assert lossy[:2] == ["20%", "6"]
    assert 0 < int(lossy[2]) <= 6
    # Where all ended, nothing is said of it.
    done = sweep(str(scenario), "--vary", f"{LOSS}=0", "--runs", "6")
    assert "not ended" not in done.stdout


def test_rows_are_read_block_by_block(tmp_path: Path) -> None:
    done = small(tmp_path, runs=20)
    reader = pa.RecordBatchReader.from_stream(done.runs)
    assert [batch.num_rows for batch in reader] == [
        len(done.plan.of_block(k)) for k in range(done.plan.blocks)
    ]


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(SCENARIO)
    words = [str(scenario), "--vary", f"{LOSS}=0,2%,5%", "--runs", "3000", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "rexmit", "sweep", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        ends = time.monotonic() + 60
        while len(Store(tmp_path / "out").done()) < 2:
            assert child.poll() is None
            assert time.monotonic() < ends
            time.sleep(0.005)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "of 9,000 runs are done and kept in" in out
    assert "the same command goes on" in out
    assert "stopped before all runs were done" in err
    assert "Traceback" not in err


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a small file system: root"
)
def test_a_disk_that_is_full_in_the_middle_is_one_sentence_and_the_sweep_goes_on_later(
    tmp_path: Path,
) -> None:
    small_disk = tmp_path / "disk"
    small_disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "none", str(small_disk)]).returncode:
        pytest.skip("cannot mount here")
    try:
        given: dict[str, Any] = {"runs": 100, "tables": ("flows",)}
        with pytest.raises(NotWrittenError, match="no space left on device") as told:
            small(small_disk / "out", **given)
        assert "\n" not in str(told.value)
        kept = sweeps.load(small_disk / "out")
        assert 0 < len(kept.store.done()) < kept.plan.blocks
        # What is there is whole: each block that is done has all its tables.
        assert len(kept.runs) == sum(len(kept.plan.of_block(k)) for k in kept.store.done())
        assert not list((small_disk / "out").rglob(".0*"))
        subprocess.run(["mount", "-o", "remount,size=10m", str(small_disk)], check=True)
        done = small(small_disk / "out", **given)
        assert rows(done) == rows(small(tmp_path / "whole", **given))
    finally:
        subprocess.run(["umount", str(small_disk)], check=False)
