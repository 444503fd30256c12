"""`--stacks A,B`: the papers' claims under other stacks, in one table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from conftest import refused
from rexmit import cli
from rexmit_studies import load, names
from rexmit_studies.axes import find
from rexmit_studies.own import Own
from rexmit_studies.run import run
from rexmit_studies.stacks import UnderStacks, jobs_of, lines, table, told, under
from studied import quick

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "study.schema.json").read_text())


@pytest.fixture(scope="module")
def found() -> UnderStacks:
    # Two studies, one whose paper has the first of the stacks.
    jobs, without = jobs_of([load(name) for name in ("rto", "ns3")], ["linux-6-cubic", "linux-2.2"])
    assert without == {}
    return under(jobs, without, quick=True)


def test_each_verdict_is_that_of_the_study_under_the_stack(found: UnderStacks) -> None:
    study = load("rto")
    cubic = find(study.axes, "stack", "linux-6-cubic", "rto")
    assert cubic is not None
    papers = quick("rto")
    (other,) = run([study], quick=True, own=Own(axes=(cubic,)))
    head, rows = table(found)
    assert head[2:] == ["under the paper's stack", "linux-6-cubic", "linux-2.2"]
    moving = [k for k, judged in enumerate(papers.claims) if cubic[0].moves(judged.claim.key)]
    mine = [row for row in rows if row[0] == "rto"]
    assert len(mine) == len(moving) > 0
    assert [row[2] for row in mine] == [f"{papers.claims[k].told} (linux-2.2)" for k in moving]
    assert [row[3] for row in mine] == [other.claims[k].told for k in moving]
    # The paper's own stack is one of those asked for.
    assert [row[4] for row in mine] == [papers.claims[k].told for k in moving]
    # The two stacks differ in what they leave idle, or this test could not fail.
    one = next(one for one in found.found if one.study.name == "rto")
    idle = next(line for line in one.lines() if line.first.key == "rto.table1.2.total_idle_s")
    assert len({row.rexmit for row in idle.rows if row}) == 2
    assert {row[0] for row in rows} == {"rto", "ns3"}


def test_every_study_takes_part() -> None:
    jobs, without = jobs_of([load(name) for name in names()], ["linux-6-bbr"])
    assert without == {}
    assert [study.name for study, _, _ in jobs] == list(names())


def test_a_study_without_the_axis_is_named_with_the_reason() -> None:
    plain = replace(load("ns3"), axes=())
    jobs, without = jobs_of([load("rto"), plain], ["linux-6-bbr"])
    assert [study.name for study, _, _ in jobs] == ["rto"]
    assert without == {"ns3": "it has no axis for the stack"}
    page = "\n".join(lines(UnderStacks(["linux-6-bbr"], [], without)))
    assert "tudy ns3 takes no part: it has no axis for the stack" in page
    with pytest.raises(ValueError, match=r"no study takes part \(ns3: it has no axis"):
        jobs_of([plain], ["linux-6-bbr"])


def test_the_answer_as_json(found: UnderStacks) -> None:
    answer = json.loads(json.dumps(told(found), allow_nan=False))
    jsonschema.validate(answer, SCHEMA)
    assert answer["stacks"] == ["linux-6-cubic", "linux-2.2"]
    assert answer["studies"][0]["values"] == ["linux-2.2", "linux-6-cubic"]


def test_the_command_writes_its_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "run", "rto", "--stacks", "linux-6-bbr", "--quick", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    assert "stacks.html" in capsys.readouterr().out
    assert "| study | the paper claims | under the paper's stack | linux-6-bbr |" in (
        (tmp_path / "stacks.md").read_text()
    )
    assert "rexmit study run rto --stacks linux-6-bbr --quick" in (tmp_path / "stacks.md").read_text()
    jsonschema.validate(json.loads((tmp_path / "results.json").read_text()), SCHEMA)


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["all", "--stacks", "linux-6-cubi"], "linux-6-cubi is none; did you mean linux-6-cubic?"),
        (["all", "--stacks", ","], "no stack is named"),
        (["rto", "--stacks", "linux-6-bbr", "--set", "rate=2"], "--vary stack=A,B goes with values"),
        (["rto", "--stacks", "linux-6-bbr", "--docs", "x"], "--docs is for one value; --stacks with --out"),
    ],
)
def test_bad_words_are_one_sentence(words: list[str], fix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fix in refused(["study", "run", "--quick", *words], capsys)
