"""The benchmarks: what a machine lacks is skipped with a line, and the cost test measures as it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

import cost  # noqa: E402
import shapes  # noqa: E402

#: A program of benches/ on a machine that lacks a package.
WITHOUT = """
import runpy, sys
sys.path.insert(0, "benches")
for name in sys.argv[1].split(","):
    sys.modules[name] = None
import measure
measure.build = lambda *_: None if "no-maker" in sys.argv else measure.ROOT
sys.argv = [sys.argv[2], *sys.argv[3:]]
sys.exit(runpy.run_path(sys.argv[0], run_name="bench")["main"]())
"""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["dask,distributed", "benches/bench.py", "--quick", "--only", "cluster"], "distributed"),
        (["dask,distributed", "benches/cluster.py", "--quick"], "distributed"),
    ],
)
def test_a_benchmark_that_cannot_run_is_skipped_with_a_line(
    arguments: list[str], says: str, tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path / "bench.json")] if "bench.py" in arguments[1] else []
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments, *out], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"cluster: skipped, because {says} is not installed" in done.stdout
    assert not out or (tmp_path / "bench.json").read_text() == "[]\n"


def test_a_shape_is_as_large_as_asked_and_the_same_each_time(tmp_path: Path) -> None:
    assert len(shapes.SHAPES) == 31
    for name in shapes.SHAPES:
        first, again = (shapes.write(name, 900, tmp_path / f"{k}.pcap").read_bytes() for k in range(2))
        assert first == again
        packets, at = 0, 24
        while at < len(first):
            at += 16 + int.from_bytes(first[at + 8 : at + 12], "little")
            packets += 1
        assert 890 <= packets <= 910, name


def test_the_slope_is_the_exponent() -> None:
    sizes = (2_000, 8_000, 32_000)
    assert cost.slope(sizes, [3 * n for n in sizes]) == pytest.approx(1)
    assert cost.slope(sizes, [n**2 for n in sizes]) == pytest.approx(2)


def test_a_command_that_is_not_linear_or_takes_too_much_memory_misses_its_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def grows(exponent: float, peak: int) -> dict[str, Any]:
        found = iter([(0, 0.1, peak), (0, 0.1 * 16**exponent, peak)])
        monkeypatch.setattr(cost, "ran", lambda words, runs: next(found))
        return cost.command("analyze", "duplicate_acks", (100, 1_600), tmp_path)

    assert grows(1.2, 100 << 20)["met"]
    assert not grows(1.4, 100 << 20)["met"]
    assert not grows(1.0, 202 << 20)["met"]
    monkeypatch.setattr(cost, "ran", lambda words, runs: None)
    assert not cost.command("analyze", "duplicate_acks", (100, 1_600), tmp_path)["met"]


def test_a_command_of_the_table_is_measured(tmp_path: Path) -> None:
    # What this process holds is not the command's.
    large = b"x" * (300 << 20)
    row = cost.command("analyze", "many_episodes", (90, 900), tmp_path)
    assert 10 < row["peak_mib"] < 150
    assert len(row["costs"]) == 2
    assert len(large) > row["peak_mib"]


@pytest.mark.slow
def test_a_report_of_very_many_flows_takes_no_more_than_its_share_of_memory(tmp_path: Path) -> None:
    capture = shapes.write("many_flows", 40_000, tmp_path / "flows.pcap")
    found = cost.ran(["report", str(capture), "-o", str(tmp_path / "flows.html")], 1)
    assert found is not None
    code, _, peak = found
    assert code == 0
    assert peak <= cost.TIMES_INPUT * capture.stat().st_size + cost.BESIDES
