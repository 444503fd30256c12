"""The benchmarks: what a machine lacks is skipped with a line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

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
