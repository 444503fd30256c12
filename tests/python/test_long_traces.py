"""The folder of a run whose scenario has long traces runs again by itself."""

from __future__ import annotations

from pathlib import Path

import rexmit as rx
from rexmit import cli
from rexmit.running import traces

SCENARIO = """
name = "traced"
duration = "2s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "air"
between = ["a", "b"]
delay = "10ms"
queue = { kind = "droptail", packets = 50 }
[[link.channel]]
name = "cell"
kind = "rate-trace"
file = "cell.txt"
[[link.channel]]
name = "gaps"
kind = "outage"
schedule = { file = "gaps.txt" }
[[flow]]
name = "f"
from = "a"
to = "b"
stack = "rfc-sack"
workload = { kind = "file", size = "1MB" }
"""


def test_a_run_with_traces_larger_than_a_scenario_may_be_runs_again_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "traced.toml").write_text(SCENARIO)
    # The resolved text alone would have more than 8 MiB, the most that is read as a scenario.
    (tmp_path / "cell.txt").write_text(
        "".join(f"{1_000_000 + ms}\n" if ms > 9000 else f"{ms}\n" for ms in range(1, 1_200_000))
    )
    (tmp_path / "gaps.txt").write_text("0.700000001 0.2\n" + "".join(f"{2 + n} 0.25\n" for n in range(5000)))
    out = tmp_path / "out"
    assert cli.main(["run", str(tmp_path / "traced.toml"), "--out", str(out), "--figures", "none"]) == 0
    assert (out / "scenario.toml").stat().st_size < 1 << 16
    first = rx.Scenario.of(tmp_path / "traced.toml")
    assert len(first.to_toml()) > 8 << 20
    assert rx.Scenario.of(out / "scenario.toml").to_toml() == first.to_toml()
    assert sorted(path.name for path in (out / "traces").iterdir()) == ["outages-2.txt", "rates-1.txt"]
    assert "traces/rates-1.txt" in (out / "index.md").read_text()
    # Written again with short traces, the files go.
    (tmp_path / "cell.txt").write_text("1\n2\n3\n")
    (tmp_path / "gaps.txt").write_text("0.7 0.2\n")
    assert cli.main(["run", str(tmp_path / "traced.toml"), "--out", str(out), "--figures", "none"]) == 0
    assert not list((out / "traces").glob("*.txt"))


def test_short_traces_stay_in_the_scenario_and_times_are_exact() -> None:
    text = 'kind = "rate-trace"\nopportunities = [1, 2]\n'
    text += 'schedule = { intervals = [["1ns", "2us"]], anchor = "start" }'
    assert traces.apart(text) == (text, {})
    told, files = traces.apart(text, long=20)
    assert told.split("\n") == [
        'kind = "rate-trace"',
        'file = "traces/rates-1.txt"',
        'schedule = { file = "traces/outages-2.txt", anchor = "start" }',
    ]
    assert files == {"traces/rates-1.txt": "1\n2\n", "traces/outages-2.txt": "0.000000001 0.000002\n"}
    assert [traces.seconds(span) for span in ("700ms", "61s", "3ns", "0s")] == [
        "0.700",
        "61",
        "0.000000003",
        "0",
    ]
