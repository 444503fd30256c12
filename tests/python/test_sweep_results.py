"""What a sweep's results say: summary, paired differences, SQL, addresses of fsspec's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy import stats as scipy_stats

import rexmit as rx
from rexmit import stats, sweeps
from rexmit.files.not_written import NotWrittenError
from test_sweep import LOSS, SCENARIO, rows

STACK = "flow.up.stack"
VARY: dict[str, Any] = {LOSS: ["1%", "5%"], STACK: ["rfc-tahoe", "rfc-sack", "rfc-reno"]}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> rx.Sweep:
    """Both losses with three stacks on the same random streams."""
    into = tmp_path_factory.mktemp("sweep") / "it's"
    return rx.sweep(SCENARIO, VARY, runs=12, pair=[STACK], tables=("episodes",), into=into)


def test_a_summary_has_what_scipy_says_of_each_point(swept: rx.Sweep) -> None:
    every = swept.runs.to_arrow().to_pylist()
    told = swept.summary.to_arrow().to_pylist()
    assert len(told) == 6 * 6
    for row in told:
        if row["measure"] != "goodput_bps":
            continue
        x = [one["goodput_bps"] for one in every if one["point"] == row["point"]]
        assert row["n"] == 12
        assert row[LOSS] == every[row["point"]][LOSS]
        assert row["mean"] == pytest.approx(np.mean(x))
        low, high = scipy_stats.t.interval(0.95, 11, np.mean(x), scipy_stats.sem(x))
        assert (row["t_low"], row["t_high"]) == pytest.approx((low, high))
        assert row["q50"] == pytest.approx(np.median(x))
        assert (
            row["t_low"] < row["bootstrap_low"] < row["mean"] < row["bootstrap_high"] < row["t_high"] * 1.05
        )


def test_differences_are_taken_pair_by_pair_and_corrected(swept: rx.Sweep) -> None:
    every = swept.runs.to_arrow().to_pylist()
    told = swept.differences.to_arrow().to_pylist()
    # Two stacks against the first, at two losses.
    assert len(told) == 4 * 6
    assert stats.holm([row["p"] for row in told]) == [row["p_holm"] for row in told]
    for row in told:
        assert row["against"] == f"{STACK}=rfc-tahoe"
        first = row["point"] // 3 * 3
        a, b = (
            [one[row["measure"]] for one in every if one["point"] == point] for point in (row["point"], first)
        )
        assert [one["seed"] for one in every if one["point"] == first] == [
            one["seed"] for one in every if one["point"] == row["point"]
        ]
        if None not in a and None not in b:
            assert row["difference"] == pytest.approx(np.mean(np.subtract(a, b)))
            if np.ptp(np.subtract(a, b)) > 0:
                assert row["p"] == pytest.approx(scipy_stats.ttest_rel(a, b).pvalue)
    assert not len(rx.sweep(SCENARIO, {LOSS: ["1%"]}, runs=2).differences)


def test_keys_that_are_sampled_together_are_paired_together() -> None:
    vary = {LOSS: "uniform(0,1%)", "link.line.delay": "uniform(1ms,9ms)"}
    with pytest.raises(ValueError, match=r"sampled together with link\.line\.delay; pair both"):
        rx.sweep(SCENARIO, vary, samples=3, pair=[LOSS])


def sql(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rexmit", "sql", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_sql_reads_runs_tables_summary_and_differences(swept: rx.Sweep, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    asked = f'select "{STACK}", count(*) as n from runs group by 1 order by 1'
    told = json.loads(sql(swept.where, asked, "--json").stdout)
    assert told == [{STACK: stack, "n": 24} for stack in sorted(VARY[STACK])]
    page = sql(swept.where, asked).stdout.splitlines()
    assert page[0].split() == [STACK, "n"]
    assert page[1].split() == ["rfc-reno", "24"]
    joined = "select count(distinct run) as n from episodes join runs using (run)"
    (found,) = json.loads(sql(swept.where, joined, "--json").stdout)
    assert found["n"] == len({row["run"] for row in rows(swept, "episodes")})
    for form, read in ((".parquet", pq.read_table), (".csv", pyarrow.csv.read_csv)):
        into = tmp_path / f"x{form}"
        assert sql(swept.where, "from summary", "-o", str(into)).returncode == 0
        assert read(into).num_rows == len(swept.summary)
    assert "does not replace it" in sql(swept.where, "from differences", "-o", str(into)).stderr


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("selec 1", "syntax error"),
        ("select nix from runs", '"nix" not found'),
        ("from nix", "nix does not exist"),
        ("select cast(stack as int) from runs", "Could not convert"),
    ],
)
def test_what_is_no_query_is_one_sentence(swept: rx.Sweep, asked: str, said: str) -> None:
    pytest.importorskip("duckdb")
    done = sql(swept.where, asked)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_is_no_folder_of_a_sweep_is_said(tmp_path: Path) -> None:
    done = sql(str(tmp_path), "from runs")
    assert done.returncode == 2
    assert "there is no plan.json" in done.stderr


def test_an_address_of_fsspecs_holds_the_same(swept: rx.Sweep) -> None:
    fsspec = pytest.importorskip("fsspec")
    into = "memory://sweeps/one"
    for _ in range(2):
        far = rx.sweep(SCENARIO, VARY, runs=12, pair=[STACK], tables=("episodes",), into=into)
        assert far.runs.to_arrow().equals(swept.runs.to_arrow())
    assert far.outcome is not None
    assert far.outcome.made == 0
    assert sweeps.load(into).table("episodes").to_arrow().equals(swept.table("episodes").to_arrow())
    with pytest.raises(ValueError, match="fsspec has no way there"):
        rx.sweep(SCENARIO, VARY, into="nix://sweeps/one")
    fsspec.filesystem("memory").rm("/sweeps", recursive=True)


def test_curves_have_a_line_for_each_stack_through_its_means(swept: rx.Sweep) -> None:
    told = [row for row in swept.summary.to_arrow().to_pylist() if row["measure"] == "goodput_bps"]
    (ax,) = swept.curves().fig.axes
    assert [line.get_label() for line in ax.get_lines()] == [f"stack {stack}" for stack in VARY[STACK]]
    for line, stack in zip(ax.get_lines(), VARY[STACK], strict=True):
        assert list(line.get_xdata()) == [0.01, 0.05]
        means = [row["mean"] / 1e6 for row in told if row[STACK] == stack]
        assert list(line.get_ydata()) == pytest.approx(means)
    assert ax.get_ylabel() == "goodput (Mbps)"
    # Along the stacks, which are no numbers, a line for each loss.
    (ax,) = swept.curves("duration", along=STACK).fig.axes
    assert len(ax.get_lines()) == 2
    assert [label.get_text() for label in ax.get_xticklabels()] == VARY[STACK]


def test_a_map_a_distribution_and_the_pairs_show_their_rows(swept: rx.Sweep) -> None:
    told = [row for row in swept.summary.to_arrow().to_pylist() if row["measure"] == "goodput_bps"]
    cells = swept.heat_map().fig.axes[0].get_images()[0].get_array()
    assert cells.T.ravel().tolist() == pytest.approx([row["mean"] / 1e6 for row in told])
    (ax,) = swept.distributions(where={LOSS: "5%"}).fig.axes
    every = [row for row in swept.runs.to_arrow().to_pylist() if row["point"] == 3]
    assert list(ax.get_lines()[0].get_xdata()) == pytest.approx(
        sorted(row["goodput_bps"] / 1e6 for row in every)
    )
    assert len(ax.get_lines()) == 3
    (ax,) = swept.paired().fig.axes
    assert len(ax.get_yticklabels()) == 4


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda s: s.curves("goodputs"), "did you mean goodput"),
        (lambda s: s.curves(flow="down"), "down is no flow that counts"),
        (lambda s: s.curves(where={"link.line.delay": "1ms"}), "link.line.delay is not varied"),
        (lambda s: s.curves(where={LOSS: "7%"}), "no point has"),
        (lambda s: s.heat_map(where={LOSS: "1%"}), "a map has two keys"),
        (lambda s: s.table("bursts"), "was not kept"),
    ],
)
def test_what_cannot_be_drawn_is_said(swept: rx.Sweep, ask: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as told:
        ask(swept)
    assert said in str(told.value)


def test_the_figures_that_a_plan_allows_are_drawn_into_the_folder(swept: rx.Sweep) -> None:
    names = swept.figures("svg")
    assert names == [f"figures/{name}-goodput-up.svg" for name in ("curves", "map", "runs", "pairs")]
    for name in names:
        assert (Path(swept.where) / name).read_text().startswith("<?xml")


def test_a_storage_that_fails_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = type(fsspec.filesystem("memory"))

    def refused(*args: object, **more: object) -> None:
        raise RuntimeError("no credentials\nwere found")

    monkeypatch.setattr(memory, "cat_file", refused)
    with pytest.raises(ValueError, match="memory://x: cannot be read: no credentials were found"):
        sweeps.load("memory://x")
    monkeypatch.undo()
    monkeypatch.setattr(memory, "pipe_file", refused)
    with pytest.raises(NotWrittenError, match=r"memory://x/plan\.json: not written: no credentials"):
        rx.sweep(SCENARIO, VARY, runs=1, into="memory://x")
