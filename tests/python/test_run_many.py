"""Many runs on the command line; runs that cannot go on, and runs that are stopped."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import rexmit as rx
from rexmit import cli, stats
from rexmit.cli import runs as many
from stopping import stopped

INTERRUPTION = str(Path(__file__).parent.parent.parent / "scenarios" / "interruption.toml")
SHORT = [
    "--set",
    "flow.upload.workload.size=1MB",
    "--set",
    "link.wire.channel.interruption.schedule.phase=300ms",
]

#: No rate and no delay: whatever is sent is acknowledged at the same moment, for ever.
STILL = """
name = "still"
seed = 1
duration = "10s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "l"
between = ["a", "b"]
[[link.channel]]               # a way with a channel on it is not refused before it starts
name = "none"
kind = "random"
loss = 0
[[flow]]
name = "f"
from = "a"
to = "b"
stack = "rfc-reno"
workload = { kind = "endless" }
"""


def test_many_runs_are_told_with_their_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", INTERRUPTION, *SHORT, "--runs", "6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["seeds"], found["failed"]) == (6, [1, 2, 3, 4, 5, 6], 0)
    sizes = dict(pair.split("=") for pair in SHORT[1::2])
    runs = rx.runs(INTERRUPTION, seeds=range(1, 7), set=sizes)
    goodput = runs.summary.to_polars()["goodput_bps"].to_list()
    mean = stats.mean(goodput)
    [flow] = found["flows"]
    told = flow["goodput_bps"]
    assert (told["mean"], told["n"]) == (pytest.approx(mean.value), 6)
    assert told["interval"] == [pytest.approx(mean.low), pytest.approx(mean.high)]
    assert cli.main(["run", INTERRUPTION, *SHORT, "--seeds", "1-4,5,6"]) == 0
    said = capsys.readouterr().out
    assert "interruption: 6 runs, seeds 1 to 6" in said
    assert "95% interval of the mean" in said
    assert "upload (linux-2.6-reno)" in said
    assert all(len(line) <= 110 for line in said.splitlines())


def test_no_interval_reaches_below_what_can_be(capsys: pytest.CaptureFixture[str]) -> None:
    """A timeout in one of three runs: Student's t alone would reach below no timeout at all."""
    rows = [{"timeouts": n} for n in (0, 0, 9)]
    assert many._told(rows, "timeouts")["interval"][0] == 0
    assert many._told(rows[:1], "timeouts")["interval"] == [None, None]


def test_runs_that_were_stopped_before_one_was_done_say_so() -> None:
    endless = rx.Scenario.of(STILL).with_(
        {"link.l.rate": "20Mbps", "link.l.delay": "5ms"}, duration="1000000s"
    )
    found = many.summary(rx.runs(endless, seeds=range(3), progress=lambda *_: False))
    assert found["runs"] == 0
    (said,) = many.page(found)
    assert said.endswith(": 0 runs of 3, stopped early: none was done, so there is nothing to tell")


@pytest.mark.parametrize("seed", [-1, 1.5, 2**70, "7"])
def test_what_is_no_seed_is_refused_in_a_sentence(seed: object) -> None:
    said = "a seed is a whole number from 0 up"
    with pytest.raises(ValueError, match=said):
        rx.run(INTERRUPTION, seed=seed)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=said):
        rx.runs(INTERRUPTION, seeds=[1, seed])  # type: ignore[list-item]


def test_a_number_is_no_list_of_seeds() -> None:
    with pytest.raises(ValueError, match=r"seeds = 5: several of them, as in seeds=range\(1, 101\)"):
        rx.runs(INTERRUPTION, seeds=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--runs", "3", "--out", "x"], "--out is of one run"),
        (["--runs", "3", "--seeds", "1-3"], "ask for one of them"),
        (["--seeds", "3-1"], "is no range of seeds"),
        (["--seeds", "a"], "says no seeds"),
        (["--seeds", "1-3", "--ladder", "1"], "--ladder is of one run"),
    ],
)
def test_options_that_do_not_go_with_many_runs_are_refused(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", INTERRUPTION, *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_run_that_can_not_go_on_says_so_and_keeps_what_it_has_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    still = tmp_path / "still.toml"
    still.write_text(STILL)
    assert cli.main(["run", str(still), "--at", "sender"]) == 1
    told = capsys.readouterr()
    assert "stuck at 0.000 s" in told.err
    assert "so time does not pass any more (flow f)" in told.err
    # What was seen until then is shown.
    assert told.out.startswith("simulated: still, seed 1, ")
    assert "10.0.0.1:1024 (client) → 10.0.0.2:5001 (server)" in told.out
    # Among others it fails alone.
    fine = rx.Scenario.of(STILL).with_({"link.l.rate": "10Mbps", "link.l.delay": "1ms", "duration": "200ms"})
    runs = rx.runs([rx.Scenario.of(STILL), fine], seeds=(1,), tables=("flows",), at="sender")
    assert runs.summary.to_polars()["end"].to_list() == ["standstill", "duration"]
    assert runs.flows.to_polars()["run"].to_list() == [0, 1]
    assert runs.failure is not None
    assert "1 of 2 runs failed" in runs.failure


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_ctrl_c_on_the_command_line_shows_and_writes_what_there_is(tmp_path: Path) -> None:
    endless = tmp_path / "endless.toml"
    scenario = rx.Scenario.of(STILL).with_(
        {"link.l.rate": "20Mbps", "link.l.delay": "5ms"}, duration="1000000s"
    )
    endless.write_text(scenario.to_toml())
    out = tmp_path / "out"
    words = ["run", str(endless), "--out", str(out), "--figures", "none", "--parquet"]
    _, code, said, complaint = stopped(2.5, *words)
    assert code == 0, complaint
    assert "stopped early" in said
    summary = json.loads((out / "summary.json").read_text())
    assert summary["simulation"]["end"] == "stopped"
    assert (out / "tables" / "flows.parquet").exists()


#: Where nothing arrives any more after the first second.
DEAD = """
name = "dead"
seed = 1
duration = "20s"
[chain]
nodes = ["a", "b"]
rate = "10Mbps"
delay = "20ms"
[[chain.channel]]
name = "dark"
kind = "outage"
schedule = { intervals = [["1s", "600h"]] }
[[flow]]
name = "f"
from = "a"
to = "b"
stack = "rfc-sack"
receiver = "rfc-sack"
workload = { kind = "file", size = "10MB" }
"""


def test_a_transfer_that_never_ends_is_not_taken_for_a_fast_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dead.toml"
    path.write_text(DEAD)
    assert cli.main(["run", str(path), "--runs", "2", "--json"]) == 0
    [flow] = json.loads(capsys.readouterr().out)["flows"]
    assert (flow["unfinished"], flow["duration_s"]["n"], flow["goodput_bps"]["n"]) == (2, 0, 2)
    [row, _] = rx.runs(str(path), seeds=[1, 2]).summary.to_arrow().to_pylist()
    since = row["run_s"] - row["first_sent_s"]
    assert row["goodput_bps"] == pytest.approx(row["delivered_bytes"] * 8 / since)
    assert cli.main(["run", str(path), "--runs", "2"]) == 0
    assert "not ended 2 of 2 runs" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["run", str(path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "path-died" in page
    assert "on nothing that the client sent got through any more" in page
    assert "nothing was lost" not in page.lower()
