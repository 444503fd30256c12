"""What all studies share: running, and what a user gets of it. Their rows: test_studies_rows.py."""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import re
import signal
import time
import weakref
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet
import pytest

import rexmit as rx
import rexmit_studies as studies
from rexmit import cli
from rexmit.figures.style import Figure, canvas
from rexmit.files.destination import Destination
from rexmit.stats import Test
from rexmit_studies import ALL, grades, output, paper, rows, study, terminal
from rexmit_studies.answer import answer
from rexmit_studies.declared import Declared
from rexmit_studies.own import Own
from rexmit_studies.progress import Watch
from rexmit_studies.run import Outcome, Section, read, run
from rexmit_studies.study import Claim, Drawing, Part, Plan, Results, Row, Statement, Study
from studied import quick, quick_with_results

DOCS = Path(__file__).parents[2] / "docs"


def dot() -> Figure:
    fig, (ax,) = canvas()
    ax.plot([0, 1], [0, 1])
    return Figure(fig, "dot")


def plan(p: Plan) -> None:
    paths = [studies.scenario("wireless-ber"), studies.scenario("wireless-outage")]
    p.runs("pair", paths, seeds=p.seeds(8), duration="5s")
    p.runs("again", paths[0], seeds=p.seeds(3, quick=2), duration="5s")
    p.call("answer", lambda: 50)


def table(r: Results) -> Iterator[Row]:
    goodput = r["pair"].summary.to_arrow()["goodput_bps"].to_numpy() / 8192
    yield rows.exact("wireless.setup.window_packets", r["answer"], "set in the scenario", "packets")
    yield rows.exact("wireless.setup.ack_bytes", 41, "set | given", why="it was mistyped here")
    yield rows.sampled("wireless.table1.ber_1e-5.throughput_packets_s", goodput, "delivered packets", "1/s")
    yield rows.stated("wireless.proposal.text", "as the paper has it", True, "what was tried")


def again(r: Results) -> Iterator[Row]:
    yield rows.setup("wireless.setup.window_packets", 50)
    yield rows.exact("wireless.setup.packet_bytes", len(r["again"]), "runs", why="these are runs")


def claims(r: Results) -> Iterator[Claim]:
    found = r["pair"].summary.to_arrow().to_pylist()
    rate = [[row["goodput_bps"] for row in found if row["variant"] == k] for k in (0, 1)]
    yield Claim(
        "wireless.claim.disconnection_over_ber",
        "Both were run.",
        [Test.paired("errors less outages", rate[0], rate[1], "bps")],
        reading="as printed",
    )
    yield Claim("wireless.claim.ber", "One trace shows it.", settled="holds", effect="twice as much")


def small(**changed: Any) -> Study:
    parts = [
        Part("Table 1", table, lambda r: [Drawing("dot", "A **line**.", dot)], text="See [1 < 2]."),
        Part("Again", again, tables=lambda r: {"few": {"seed": [1, 2], "name": ["a", "b"]}}),
    ]
    whole: dict[str, Any] = {"title": "A <title>", "source": "Authors, 1998", "about": "Two runs."}
    whole |= {"introduction": "Hello.", "plan": plan, "parts": parts, "claims": claims}
    return Study("wireless", **(whole | changed))


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return next(run([small()], quick=True))


def test_a_statement_that_ours_contradicts_takes_its_rows_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"wireless.statement.falls": paper.Said("Fig. 4", "the line falls")}
    monkeypatch.setattr(paper, "statements", lambda study: said)
    key = "wireless.setup.window_packets"

    def says(agrees: bool | None) -> Study:
        statement = Statement("wireless.statement.falls", "it rises from 1 to 2", agrees, [key])
        return small(parts=[Part("Table 1", table, statements=lambda r: [statement])])

    outcomes = [next(run([says(agrees)], quick=True)) for agrees in (True, False, None)]
    assert [found.rows[0].grade for found in outcomes] == ["exact", "no", "exact"]
    assert (
        outcomes[1].rows[0].why
        == "Fig. 4 of the paper contradicts it: the line falls; here: it rises from 1 to 2"
    )
    schema = json.loads((DOCS / "study.schema.json").read_text())
    for found in outcomes:
        assert found.failures == []
        told = json.loads(json.dumps(answer([found], several=False), allow_nan=False))
        jsonschema.validate(told, schema)
        assert told["statements"][0]["agrees"] == found.statements[0].agrees
        assert "Fig. 4: the line falls" in "\n".join(terminal.page(found))


def test_two_readings_of_a_claim_stand_side_by_side_and_are_corrected_together() -> None:
    key = "wireless.claim.ber"
    strong = Test.mean("strong", [1.0, 1.1, 0.9, 1.05, 0.95])
    against = Test.mean("against", [-1.0, -1.1, -0.9, -1.05, -0.95])
    two = Claim(
        key, "As it says.", [strong], reading="a", beside=Claim(key, "Or so.", [against], reading="b")
    )
    (found,) = run([small(claims=lambda r: [two])], quick=True)
    (judged,) = found.claims
    assert judged.told == "holds; by another reading: fails"
    # Holm over both: the stronger of two is doubled.
    assert judged.p == (pytest.approx(2 * strong.p),)
    told = json.loads(json.dumps(answer([found], several=False), allow_nan=False))
    jsonschema.validate(told, json.loads((DOCS / "study.schema.json").read_text()))
    (claim,) = told["claims"]
    assert (claim["verdict"], claim["beside"]["verdict"]) == ("holds", "fails")
    assert claim["quote"]
    text = " ".join("\n".join(terminal.page(found)).split())
    assert "by another reading it fails reading: b Or so." in text
    assert f"the paper: “{claim['quote']}”" in text


def test_what_was_scripted_counts_in_no_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {f"wireless.statement.{name}": paper.Said("Fig. 4", name) for name in ("falls", "rises")}
    monkeypatch.setattr(paper, "statements", lambda study: said)
    both = [
        Statement("wireless.statement.falls", "it falls", True),
        Statement("wireless.statement.rises", "told to rise", True, scripted=True),
    ]
    (found,) = run([small(parts=[Part("Table 1", table, statements=lambda r: both)])], quick=True)
    assert grades.statements_told(found.statements) == (
        "of 1 statement of the paper on its figures 1 agree with ours, 0 do not; scripted, and not counted: 1"
    )
    assert [grades.agrees(one) for one in found.statements] == ["=", "scripted"]


def test_every_claim_of_the_papers_has_a_quotation() -> None:
    for name in studies.names():
        for key in paper.claims(name):
            quoted = paper.quote(key)
            assert 10 < len(quoted) < 150, key
            assert not quoted.endswith(".")


def test_the_papers_column_holds_what_a_paper_prints_and_no_order_to_anybody() -> None:
    told = [
        str(one)
        for name in studies.names()
        for one in (*paper.figures(name).values(), *paper.claims(name).values())
    ]
    for words in ("give it", "to be explained", "fit it", "report the fit", "10,485,760"):
        assert not [one for one in told if words in one]


def test_a_statement_that_the_paper_does_not_make_is_a_failure() -> None:
    part = Part("Table 1", statements=lambda r: [Statement("wireless.statement.none", "x", True)])
    (found,) = run([small(parts=[part])], quick=True)
    assert "wireless.statement.none is no statement of the paper" in found.failures[0]


def test_shipped_scenarios_are_found_by_name() -> None:
    assert studies.scenario("wireless-ber") == studies.scenario("wireless-ber.toml")
    with pytest.raises(ValueError, match=r"did you mean wireless-ber\?"):
        studies.scenario("wireles-ber")


def test_a_study_runs_and_is_judged(outcome: Outcome) -> None:
    assert outcome.failures == outcome.left_out == []
    assert outcome.replications == 2 * 4 + 2
    assert [row.grade for row in outcome.rows] == ["exact", "no", "mean", "exact", "set", "no"]
    assert [row.reproduced for row in outcome.rows] == [True, False, True, True, False, False]
    assert [judged.verdict for judged in outcome.claims][1] == "holds"


def test_the_answer_as_json(outcome: Outcome) -> None:
    schema = json.loads((DOCS / "study.schema.json").read_text())
    for several in (False, True):
        told = json.loads(json.dumps(answer([outcome], several), allow_nan=False))
        jsonschema.validate(told, schema)
    one = told["studies"][0]
    assert one["study"] == "wireless"
    assert one["rows"][1]["why"] == "it was mistyped here"
    assert one["grades"] == {"exact": 2, "mean": 1, "scatter": 0, "no": 2, "fitted": 0, "set": 1}
    assert [row["grade"] for row in one["rows"]].count("no") == 2
    assert one["claims"][0]["n"] == 4
    assert one["claims"][0]["interval"][0] < one["claims"][0]["effect"]
    assert one["claims"][1]["effect"] is None


def test_the_terminal_lines_up_within_its_width(outcome: Outcome) -> None:
    lines = terminal.page(outcome)
    assert max(map(len, lines)) <= terminal.TABLE
    text = "\n".join(lines)
    assert "≠ [1]" in text
    assert "[1] it was mistyped here" in text
    assert "Of the 5 figures that could have come out otherwise 3 are reproduced" in " ".join(text.split())
    assert "holds        One order of magnitude" in text
    ends = {line.index(" = ") for line in lines if " = " in line and "setup.window_packets" in line}
    assert len(ends) <= 2


class Ctrl(Watch):
    """Ctrl-C at the beginning of a batch."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self.at = at

    def batch(self, study: str, name: str) -> Any:
        self.stopped |= name == self.at
        return super().batch(study, name)


def test_ctrl_c_keeps_what_is_done_and_says_what_is_left_out() -> None:
    def slow(p: Plan) -> None:
        plan(p)
        p.batches["last"] = p.batches.pop("again")

    parts = [Part("Table 1", table), Part("Last", lambda r: [*again(r), len(r["last"])])]
    (stopped,) = run([small(plan=slow, parts=parts)], quick=True, watch=Ctrl("last"))
    assert not stopped.failures
    assert stopped.rows[0].key == "wireless.setup.window_packets"
    assert any("were not finished" in sentence for sentence in stopped.left_out)
    assert any(line.startswith("left out") for line in terminal.page(stopped))


@pytest.mark.parametrize("name", ALL)
def test_without_any_one_of_its_batches_a_study_says_what_it_lacks_and_fails_nowhere(name: str) -> None:
    _, results = quick_with_results(name)
    study = studies.load(name)
    for missing in results:
        rest = Results({batch: given for batch, given in results.items() if batch != missing})
        rest.quick = True
        found = Outcome(study, quick=True, factor=1.0)
        read(study, rest, found)
        assert not found.failures, missing


def test_what_is_reduced_comes_a_few_seeds_at_a_time_and_its_tables_are_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(study, "REDUCED_RUNS", 6)
    kept: list[weakref.ref[Any]] = []

    def reduced(runs: Any) -> list[tuple[int, int]]:
        gc.collect()
        assert not any(before() for before in kept), "the runs before are still there"
        kept.append(weakref.ref(runs))
        states = runs.table("state").to_arrow()
        return sorted(set(zip(states["variant"].to_pylist(), states["seed"].to_pylist(), strict=True)))

    def declared(p: Plan) -> None:
        pair = [studies.scenario("wireless-ber"), studies.scenario("wireless-outage")]
        p.runs("pair", pair, seeds=range(1, 9), duration="5s", tables=("state",), reduce=reduced)

    seen: list[Results] = []

    def looked_at(results: Results) -> list[Claim]:
        seen.append(results)
        return []

    watch = Watch()
    (found,) = run([small(plan=declared, parts=[], claims=looked_at)], quick=True, watch=watch)
    assert not found.failures
    assert found.replications == 16
    # Six runs of two variants are three seeds.
    parts = [[(k, seed) for k in (0, 1) for seed in seeds] for seeds in ((1, 2, 3), (4, 5, 6), (7, 8))]
    assert seen[0]["pair"] == parts

    def stops(runs: Any) -> int:
        watch.stopped = True
        return len(runs)

    def stopped(p: Plan) -> None:
        declared(p)
        p.batches["pair"] = dataclasses.replace(p.batches["pair"], reduce=stops)

    (found,) = run([small(plan=stopped, parts=[], claims=lambda r: r["pair"])], quick=True, watch=watch)
    assert found.replications < 16
    assert any("were not finished" in sentence for sentence in found.left_out)


def test_the_first_ctrl_c_stops_the_second_ends() -> None:
    with Watch() as watch:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        assert watch.stopped
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)


def test_a_batch_that_fails_costs_what_needs_it() -> None:
    def failing(p: Plan) -> None:
        plan(p)
        p.batches.pop("answer")
        p.call("answer", lambda: 1 / 0)

    (found,) = run([small(plan=failing)], quick=True)
    assert found.failures == ["answer: ZeroDivisionError: division by zero"]
    assert len(found.rows) == 2
    assert len(found.claims) == 2

    def unknown(p: Plan) -> None:
        p.runs("pair", studies.scenario("wireless-ber"), seeds=[1], nothing="5s")

    (found,) = run([small(plan=unknown)], quick=True)
    assert found.failures[0].startswith("pair: ScenarioError: ")
    assert found.claims == []


def test_the_time_that_remains_follows_the_pace() -> None:
    p = Plan(quick=True)
    plan(p)
    watch = Watch()
    watch.expect({"wireless": p.batches})
    before = watch.remaining_s()
    with watch.batch("wireless", "pair"):
        time.sleep(0.02)
    assert 0 < watch.remaining_s() < before + 1
    with watch.batch("wireless", "again"), watch.batch("wireless", "answer"):
        pass


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "names", lambda: ["wireless"])
    monkeypatch.setattr("rexmit_studies.import_module", lambda name: type("M", (), {"STUDY": small()}))


@pytest.mark.usefixtures("shipped")
def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["study", "list"]) == 0
    assert "51 figures, 7 claims" in capsys.readouterr().out
    assert cli.main(["study", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["study"] == "wireless"
    assert cli.main(["study", "run", "wireless", "--quick", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["quick"] is True
    assert cli.main(["study", "run", "all", "--quick", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["studies"]) == 1


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["wirelss"], "'wirelss' is no study; did you mean wireless? (wireless)"),
        (["wireless", "--replications", "0"], "'0' is no number above 0"),
        (["wireless", "--quick", "--replications", "2"], "give one of them"),
        (["wireless", "--figures", "svg"], "--figures needs --out DIR"),
        (["wireless", "--quik"], "--quik is no option; did you mean --quick?"),
    ],
)
def test_bad_words_are_one_sentence_with_the_mend(
    words: list[str], fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["study", "run", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert fix in err
    assert err.count("\n") == 1


class Sources(HTMLParser):
    """What a page loads, and whether its tags close."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [value or "" for name, value in attrs if name in ("src", "srcset")]
        if tag not in ("meta", "img", "br", "hr", "link", "input"):
            self.open.append(tag)
        else:
            assert tag != "link"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("form", ["png", "svg", "pdf", "none"])
def test_the_folder_of_a_study(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new"
    assert cli.main(["study", "run", "wireless", "--quick", "--out", str(out), "--figures", form]) == 0
    assert "wrote 1 page" in capsys.readouterr().out
    drawn = [path.name for path in (out / "wireless").glob("figures/*")]
    assert drawn == ([] if form == "none" else [f"dot.{form}"])
    told = json.loads((out / "results.json").read_text())
    assert told["study"] == "wireless"
    found = pyarrow.parquet.read_table(out / "wireless/tables/rows.parquet")
    assert found["key"].to_pylist() == [row["key"] for row in told["rows"]]
    assert {path.name for path in (out / "wireless/tables").iterdir()} == {
        f"{name}.{kind}" for name in ("rows", "claims", "few") for kind in ("csv", "parquet")
    }
    markdown = (out / "wireless.md").read_text()
    assert "| *set \\| given* |" in markdown
    assert "1. It was mistyped here. (`setup.ack_bytes`)" in markdown
    assert ("![dot](wireless/figures/dot." in markdown) == (form != "none")
    page = Sources()
    html = (out / "wireless.html").read_text()
    page.feed(html)
    assert page.open == []
    kind = {"png": "png", "svg": "svg+xml", "pdf": "png"}.get(form)
    assert [source.split(";")[0] for source in page.loads] == ([f"data:image/{kind}"] if kind else [])
    assert "A &lt;title&gt;" in html
    assert "http" not in html.replace("http-equiv", "")


def test_a_figure_of_what_a_run_with_other_values_lacks_costs_that_figure(
    outcome: Outcome, tmp_path: Path
) -> None:
    def nothing() -> Figure:
        raise ValueError("Axis limits cannot be NaN or Inf")

    def left_out(own: Own) -> list[str]:
        section = Section("A part", drawings=[Drawing("lacking", "What is not there.", nothing)])
        found = dataclasses.replace(outcome, own=own, sections=[section], left_out=[])
        with Destination(tmp_path / "there") as into:
            assert output._draw(found, into, "figures", "png") == {}
        return found.left_out

    said = left_out(Own(settings=(("link.air.rate", "1Mbps"),)))
    assert said == ["figure lacking: there is nothing to draw with your values"]
    with pytest.raises(ValueError, match="NaN"):
        left_out(Own())


def test_small_figures_for_the_documents(outcome: Outcome, tmp_path: Path) -> None:
    from rexmit.files.destination import Destination
    from rexmit_studies.output import write_docs

    with Destination(tmp_path) as into:
        write_docs(outcome, into)
    assert (tmp_path / "wireless" / "dot.png").stat().st_size < 30_000
    assert "](wireless/dot.png)" in (tmp_path / "wireless.md").read_text()


def said(found: Outcome) -> Iterator[str]:
    """What a study says in sentences."""
    yield found.introduction
    for section in found.sections:
        yield section.text
        yield from (drawing.caption for drawing in section.drawings)
        yield from (word for row in section.rows for word in (row.definition, row.why))
    for judged in found.claims:
        yield judged.claim.evidence


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.names())
def test_every_figure_has_a_row_and_every_claim_a_verdict(name: str) -> None:
    found = quick(name)
    keys = [row.key for row in found.rows]
    assert set(keys) == set(paper.figures(name))
    assert len(keys) == len(set(keys))
    assert not [text for text in said(found) if re.search(r"[a-z],[a-z]", text)], "a space is missing"
    assert sorted(judged.claim.key for judged in found.claims) == sorted(paper.claims(name))
    assert sorted(one.key for one in found.statements) == sorted(paper.statements(name))
    named = {key for one in found.statements for key in one.rows}
    assert named <= set(keys)
    drawn = {drawing.name for drawing in found.drawings}
    assert {one.drawing for one in found.statements if one.drawing} <= drawn
    assert max(map(len, terminal.page(found))) <= terminal.TABLE
    told = json.loads(json.dumps(answer([found], several=False), allow_nan=False))
    jsonschema.validate(told, json.loads((DOCS / "study.schema.json").read_text()))


OWN = """
import rexmit as rx
from pathlib import Path
from rexmit_studies import rows
from rexmit_studies.study import Claim, Part, Study

TINY = Path(__file__).with_name("tiny.toml")

def table(r):
    yield rows.setup("mine.setup.rate_mbps", 2.5)
    yield rows.exact("mine.table1.reno.runs", len(r["runs"]), "runs")

STUDY = Study(
    name="mine", title="Mine", source="me", about="small", facts="figures.toml",
    plan=lambda p: p.runs("runs", TINY, seeds=[1, 2]), parts=[Part("Table 1", table)],
    claims=lambda r: [Claim("mine.claim.works", "It does.", settled="holds")],
)
"""
FIGURES = """
[mine]
setup = { rate_mbps = 2.50 }
table1 = { reno = { runs = 2 } }
claim.works = { text = "It works" }
"""


def test_a_study_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("mine.py", OWN), ("figures.toml", FIGURES)):
        (tmp_path / name).write_text(text)
    tiny = rx.Scenario.load(studies.scenario("wireless-ber")).with_(duration="1s")
    (tmp_path / "tiny.toml").write_text(tiny.to_toml())
    assert cli.main(["study", "run", str(tmp_path / "mine.py"), "--out", str(tmp_path / "out")]) == 0
    assert "Of the 1 figure that could have come out otherwise 1 are reproduced" in capsys.readouterr().out
    assert f"`rexmit study run {tmp_path}/mine.py` makes" in (tmp_path / "out" / "mine.md").read_text()
    (tmp_path / "mine.py").write_text(OWN.replace("figures.toml", "nothing.toml"))
    assert cli.main(["study", "run", str(tmp_path / "mine.py")]) == 2
    assert "names no file of the paper's figures" in capsys.readouterr().err
    assert cli.main(["study", "run", "nowhere.py"]) == 2


def test_studies_are_found() -> None:
    assert set(studies.names()) <= set(studies.ALL)
    assert isinstance(rx.__version__, str)


def broken(_: Results) -> str:
    raise ValueError("a window\nof none")


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("trace", ["", "1"])
def test_a_part_that_fails_costs_that_part_and_shows_its_trace(
    trace: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [Part("Bad", text=broken), Part("Table 1", table)]
    monkeypatch.setattr(studies, "load", lambda name: small(parts=parts))
    monkeypatch.setenv("REXMIT_TRACE", trace)
    assert cli.main(["study", "run", "wireless", "--quick", "--out", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "Of the 4 figures that could have come out otherwise 3 are reproduced" in " ".join(out.split())
    assert "wireless: the text of “Bad”: ValueError: a window of none" in err
    assert ("Traceback" in err) == ("in broken" in err) == bool(trace)
    assert ("REXMIT_TRACE=1 shows where" in err) == (not trace)
    assert (
        "Failed: the text of “Bad”: ValueError: a window of none." in (tmp_path / "wireless.md").read_text()
    )


@pytest.mark.usefixtures("shipped")
def test_pages_are_counted_that_were_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def undrawn() -> Figure:
        raise ValueError("no figure")

    parts = [Part("Table 1", table, lambda r: [Drawing("dot", "A line.", undrawn)])]
    monkeypatch.setattr(studies, "load", lambda name: small(parts=parts))
    assert cli.main(["study", "run", "wireless", "--quick", "--out", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert f"wrote {tmp_path / 'results.json'}\n" in out
    assert "writing it: ValueError: no figure" in err


def test_what_a_scenario_sets_is_read_from_it_as_resolved() -> None:
    set = Declared(rx.Scenario.load(studies.scenario("rto")).with_({"link.air.rate": "5.5Mbps"}))
    assert set.number("link.air.rate", "Mbps") == 5.5
    assert set.number("flow.transfer.workload.size") == 10_860_000
    assert set.number("stack.linux-2.2.rto.min", "ms") == 200
    assert set["flow.transfer.stack"] == "linux-2.2"
