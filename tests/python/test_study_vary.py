"""`--vary AXIS=a,b,c`: a column is the study at that value; what does not depend is left out by name."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet
import pytest

import rexmit as rx
import rexmit_studies as studies
from conftest import refused
from rexmit import cli
from rexmit.running import many_runs
from rexmit_studies import load, rows, vary_cells, vary_figure, vary_output, vary_terminal
from rexmit_studies.asked import varied
from rexmit_studies.axes import Axis, several
from rexmit_studies.own import Own
from rexmit_studies.progress import Watch
from rexmit_studies.run import run
from rexmit_studies.study import Claim, Part, Plan, Results, Row, Study
from rexmit_studies.vary import Line, Variation, vary
from studied import quick

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "study.schema.json").read_text())


def made(study: Study, text: str, **options: Any) -> Variation:
    axis, values = varied([study], [text], Own())
    return vary(study, axis, values, Own(), quick=True, **options)


@pytest.fixture(scope="module")
def delays() -> Variation:
    return made(load("ns3"), "delay=5,20,50ms")


def test_each_column_is_the_study_at_that_value(delays: Variation) -> None:
    for place, text in enumerate(("", "20", "50")):
        axes = tuple(filter(None, [several_one("ns3", "delay", text)])) if text else ()
        alone = next(run([load("ns3")], quick=True, own=Own(axes=axes))) if axes else quick("ns3")
        expected = {row.key: (row.rexmit, row.mean) for row in alone.rows if delays.axis.moves(row.key)}
        found = {row.key: (row.rexmit, row.mean) for line in delays.lines() if (row := line.rows[place])}
        assert found == expected
        verdicts = {j.claim.key: j.verdict for j in alone.claims if delays.axis.moves(j.claim.key)}
        assert {key: each[place].verdict for key, each in delays.claims().items() if each[place]} == verdicts
    assert [delays.of_paper(k) for k in range(3)] == [True, False, False]


def several_one(name: str, axis: str, text: str) -> Any:
    one, values = several(load(name).axes, axis, [text, "5"], name)
    return one, values[0]


def test_throughput_of_the_base_case_is_of_each_delay(delays: Variation) -> None:
    (base,) = [line for line in delays.lines() if line.first.key == "ns3.base_throughput_mbps"]
    assert [round(float(row.rexmit), 3) for row in base.rows if row] == [4.2, 2.625, 0.597]  # type: ignore[arg-type]


def test_what_does_not_depend_on_the_axis_is_left_out_by_name(delays: Variation) -> None:
    shown = {line.first.key for line in delays.lines()} | set(delays.statements()) | set(delays.claims())
    belong = set(delays.belong())
    assert not shown & belong
    assert shown | belong == set(delays.keys())
    assert "ns3.table1.1ms.throughput_mbps" not in shown
    assert {"ns3.claim.min_rtt", "ns3.setup.error_rate"} <= belong
    said = vary_cells.belongs(delays)
    assert "table1 (all 5)" in said
    assert "setup.error_rate" in said
    assert "setup.delay_ms" not in said


def test_the_answer_as_json(delays: Variation) -> None:
    told = json.loads(json.dumps(vary_output.told(delays), allow_nan=False))
    jsonschema.validate(told, SCHEMA)
    assert told["vary"] == {
        "axis": "delay",
        "about": "propagation delay of the link, one way",
        "unit": "ms",
        "paper": 5.0,
    }
    assert told["values"] == [5, 20, 50]
    assert all(len(one["at"]) == 3 for part in ("rows", "statements", "claims") for one in told[part])
    assert _flat_is_lacking(told) == [False, False, False]


def test_what_a_value_lacks_is_null_in_the_answer_and_left_out_by_name(delays: Variation) -> None:
    named = "ns3.statement.fig1a_flat: none of it is there"
    lacking = dataclasses.replace(delays.outcomes[2], sections=[], left_out=[named])
    told = vary_output.told(dataclasses.replace(delays, outcomes=[*delays.outcomes[:2], lacking]))
    assert _flat_is_lacking(told) == [False, False, True]
    assert f"at 50 ms: {named}" in told["left_out"]


def _flat_is_lacking(told: dict[str, Any]) -> list[bool]:
    flat = next(one for one in told["statements"] if one["key"] == "ns3.statement.fig1a_flat")
    return [at is None for at in flat["at"]]


def test_the_terminal_keeps_its_width_and_has_every_value(delays: Variation) -> None:
    lines = vary_terminal.page(delays)
    assert max(map(len, lines)) <= 110
    head = next(line for line in lines if "paper " in line and "5 ms *" in line)
    assert head.split() == ["paper", "5", "ms", "*", "20", "ms", "50", "ms"]
    row = next(line for line in lines if "base_throughput_mbps" in line)
    assert row.split() == ["base_throughput_mbps", "4.2", "4.200", "2.625", "0.5970", "Mbps"]
    assert str(delays) == "\n".join(lines)


def test_the_figure_has_a_point_for_each_value(delays: Variation) -> None:
    figure = vary_figure.draw(delays)
    kinds = [kind for kind, _ in vary_figure.panels(delays)]
    assert {"Mbps", "s", "B"} <= {kind.unit for kind in kinds}
    first = figure.fig.axes[0]
    assert first.get_xlabel() == "delay (ms)"
    points = [list(line.get_xdata()) for line in first.lines if len(line.get_xdata()) > 2]
    assert [5, 20, 50] in points
    shown = {line.first.key for _, lines in vary_figure.panels(delays) for line in lines}
    assert "ns3.setup.delay_ms" not in shown


def test_out_writes_page_figure_and_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "run", "ns3", "--quick", "--vary", "queue=3,10", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    assert "ns3-by-queue.html" in capsys.readouterr().out
    page = (tmp_path / "ns3-by-queue.md").read_text()
    assert "| figure | paper | 3 | 10 \\* |" in page
    assert "rexmit study run ns3 --vary queue=3,10 --quick" in page
    assert "![by_queue](ns3-by-queue/figures/by_queue.png)" in page
    html = (tmp_path / "ns3-by-queue.html").read_text()
    assert 'src="data:image/png' in html
    assert "<script" not in html
    table = pyarrow.parquet.read_table(tmp_path / "ns3-by-queue" / "tables" / "rows.parquet").to_pylist()
    base = [one for one in table if one["key"] == "ns3.base_throughput_mbps"]
    assert [one["value_number"] for one in base] == [3, 10]
    assert base[0]["rexmit_number"] < base[1]["rexmit_number"]
    jsonschema.validate(json.loads((tmp_path / "results.json").read_text()), SCHEMA)
    assert not (tmp_path / ".rexmit-runs").exists()


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["ns3", "--vary", "delay=5,600"], "--vary delay=600: delay is from 0.01 to 500 ms"),
        (["ns3", "--vary", "delay=5"], "two different values are wanted; --set delay=5 is for one"),
        (["ns3", "--vary", "delay=20ms,0.02s"], "two different values are wanted"),
        (["ns3", "--vary", "delay=5ms,20,50ms"], "some values have a unit and some have none"),
        (["ns3", "--vary", "dela=5,20"], "dela is no axis of study ns3; did you mean delay?"),
        (
            ["ns3", "--vary", "seed=5,20"],
            "seed is no axis of study ns3 (stack, rate, delay, queue, error_rate)",
        ),
        (["ns3", "--vary", "delay"], "AXIS=VALUE,VALUE is wanted"),
        (["ns3", "--vary", "delay=5,9", "--vary", "queue=5,9"], "--vary is for one axis"),
        (["ns3", "--vary", "delay=5,9", "--set", "delay=7"], "--set and --vary both say delay"),
        (["ns3", "rto", "--vary", "delay=5,9"], "--vary is for one study; 2 were named"),
        (["ns3", "--vary", "delay=5,9", "--capture", "x.pcap"], "--capture simulates nothing"),
        (["ns3", "--vary", "delay=5,9", "--docs", "x"], "--docs is for one value"),
        (["rto", "--vary", "stack=linux-2.2,linux-6-cubi"], "did you mean linux-6-cubic?"),
        (["interruption", "--vary", "outage=200,6000ms", "--set", "period=5"], "outages of 6000 ms leave"),
    ],
)
def test_bad_words_are_refused_before_anything_runs(
    words: list[str], fix: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any, **__: Any) -> None:
        raise AssertionError("something ran")

    monkeypatch.setattr(many_runs, "runs", none)
    monkeypatch.setattr("rexmit_studies.vary.run_each", none)
    assert fix in refused(["study", "run", "--quick", *words], capsys)


def test_a_unit_behind_the_last_value_is_that_of_all() -> None:
    axes = load("ns3").axes
    assert several(axes, "delay", ["0.01", "0.02s"], "ns3")[1] == [10, 20]
    assert several(axes, "delay", ["10", " 20"], "ns3")[1] == [10, 20]
    assert several(axes, "error_rate", ["1e-5", "1e-06"], "ns3")[1] == [1e-5, 1e-6]


def test_a_value_in_the_middle_of_what_the_study_draws_is_an_experiment_of_its_own() -> None:
    _, rates = varied([load("interruption")], ["rate=4,4.7"], Own())
    assert [bool(own) for _, own in rates] == [True, True]
    _, outages = varied([load("interruption")], ["outage=200,500ms"], Own())
    assert [bool(own) for _, own in outages] == [False, True]


AXIS = Axis(
    "seconds", "how long a run is", 5.0, ("wireless.table1.*",), low=1, high=9, unit="s",
    sets=lambda value: {"link.wireless.delay": f"{value:g}ms"},
)  # fmt: skip


def small() -> Study:
    def plan(p: Plan) -> None:
        path = studies.scenario("wireless-ber")
        kept = rx.Scenario.of(path).with_({"link.wireless.delay": "7ms"})
        p.runs("varied", path, seeds=p.seeds(3, quick=3), duration="2s")
        p.runs("kept", kept, seeds=p.seeds(2, quick=2), duration="2s")

    def table(r: Results) -> Iterator[Row]:
        goodput = r["varied"].summary.to_arrow()["goodput_bps"].to_numpy() / 8192
        yield rows.sampled("wireless.table1.ber_1e-5.throughput_packets_s", goodput, "delivered", "1/s")
        yield rows.exact("wireless.setup.packet_bytes", len(r["kept"]), "runs", why="these are runs")

    def claims(r: Results) -> Iterator[Claim]:
        yield Claim("wireless.claim.ber", "One trace shows it.", settled="holds", effect="so")

    about = {"title": "T", "source": "S", "about": "A"}
    return Study("wireless", **about, plan=plan, parts=[Part("", table)], claims=claims, axes=(AXIS,))


def test_runs_that_are_the_same_at_several_values_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    true = many_runs.runs
    monkeypatch.setattr(many_runs, "runs", lambda *a, **k: (calls.append(a[1]), true(*a, **k))[1])
    found = made(small(), "seconds=2,5,9")
    assert found.failures() == found.left_out() == []
    assert sorted(map(len, calls)) == [2, 3, 3, 3]
    assert found.replications == 11
    (line,) = found.lines()
    assert len({row.rexmit for row in line.rows if row}) == 3
    assert found.belong() == ["wireless.setup.packet_bytes", "wireless.claim.ber"]


def test_ctrl_c_keeps_the_values_that_were_run(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    true = many_runs.runs

    def until_the_third(*given: Any, **more: Any) -> Any:
        made = true(*given, **more)
        calls.append(made)
        # The third call makes the runs of 5 s.
        watch.stopped = len(calls) == 3
        return made

    monkeypatch.setattr(many_runs, "runs", until_the_third)
    with Watch() as watch:
        found = made(small(), "seconds=2,5,9", watch=watch)
    (line,) = found.lines()
    assert [row is None for row in line.rows] == [False, False, True]
    assert found.stopped
    assert any(one.endswith("9 s: stopped before it was run") for one in found.left_out())
    assert "–" in "\n".join(vary_terminal.page(found))


def test_words_of_a_definition_that_differ_from_value_to_value_are_an_ellipsis() -> None:
    def row(said: str) -> Row:
        return rows.exact("wireless.setup.ack_bytes", 41, said, why="it was mistyped here")

    assert Line("", (row("1 s up and 2 s down"), None, row("3 s up and 2 s down"))).definition == (
        "… s up and 2 s down"
    )


def test_python_takes_the_same_axes() -> None:
    with pytest.raises(ValueError, match=r"delay is from 0.01 to 500 ms"):
        rx.study("ns3", vary={"delay": [5, 600]})
    with pytest.raises(ValueError, match=r"delay is from 0.01 to 500 ms"):
        rx.study("ns3", set={"delay": "600ms"})
    found = rx.study("ns3", set={"queue": 3}, vary={"delay": [5, "20ms"]}, quick=True)
    assert isinstance(found, Variation)
    assert not found.of_paper(0)
    assert "with queue=3" in found.title()
    one = rx.study("ns3", set={"queue": "3", "delay": 20}, quick=True)
    base = "ns3.base_throughput_mbps"
    (line,) = [line for line in found.lines() if line.first.key == base]
    assert line.rows[1] is not None
    assert line.rows[1].rexmit == next(row.rexmit for row in one.rows if row.key == base)
