"""Every axis of every study: what depends on it moves, and nothing else does (docs/studies.md)."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import refused
from rexmit_studies import load, names
from rexmit_studies.answer import answer
from rexmit_studies.axes import Value, find
from rexmit_studies.own import Own
from rexmit_studies.run import Outcome, run_each
from rexmit_studies.study import Study
from studied import quick

#: Study -> axis -> three values, the first of which is tried with the first of all others at once.
VALUES: dict[str, dict[str, tuple[Value, Value, Value]]] = {
    "ns3": {
        "stack": ("linux-6-cubic", "linux-6-bbr", "rfc-reno"),
        "rate": (2, 0.1, 30),
        "delay": (20, 0.01, 500),
        "queue": (3, 1, 10_000),
        "error_rate": (1e-5, 3e-6, 0.01),
    },
    "wireless": {
        "stack": ("linux-6-cubic", "linux-6-bbr", "rfc-reno"),
        "ber": (3e-6, 1e-7, 1e-4),
        "up": (4, 0.5, 100),
        "down": (0.1, 0.01, 10),
        "cycle_up": (1.5, 0.5, 9),
        "cycle_down": (1, 0.01, 9),
        "rate": (2, 0.1, 10),
        "delay": (20, 1, 1000),
    },
    "rto": {
        "stack": ("linux-6-cubic", "rfc-reno", "windows-7"),
        "fade": (20, 1, 200),
        "between": (40, 5, 100_000),
        "rate": (5.5, 1, 54),
        "tries": (6, 1, 16),
    },
    "selfsimilar": {
        "stack": ("linux-6-cubic", "linux-6-bbr", "rfc-reno"),
        "shape": (1.6, 1.05, 3),
        "sources": (20, 1, 100),
        "source_rate": (0.5, 0.01, 5),
        "flow_rate": (3, 0.1, 50),
        "rate": (20, 1, 200),
        "queue": (50, 2, 1000),
    },
    "interruption": {
        "stack": ("linux-6-cubic", "linux-6-bbr", "rfc-reno"),
        "outage": (500, 10, 10_000),
        "period": (4, 0.5, 60),
        "rate": (8, 0.5, 20),
        "queue": (100, 1, 10_000),
        "size": (4, 2, 50),
    },
}


def settings(study: Study, values: dict[str, Value]) -> Own:
    axes = [find(study.axes, name, str(value), study.name) for name, value in values.items()]
    return Own(axes=tuple(one for one in axes if one))


def contents(found: dict[str, Any]) -> dict[str, str]:
    """What each figure, statement and claim says, by its key."""
    said = {row["key"]: [row["rexmit"], row["interval"], row["n"]] for row in found["rows"]}
    said |= {one["key"]: [one["found"], one["agrees"]] for one in found["statements"]}
    for one in found["claims"]:
        # Corrected p values and verdicts hang on all other tests of the study.
        tests = [[test["what"], test["effect"], test["margin"]] for test in one["tests"]]
        said[one["key"]] = [one["evidence"], tests]
    return {key: json.dumps(value) for key, value in said.items()}


@cache
def papers(name: str) -> dict[str, str]:
    """The same with the paper's values."""
    return contents(answer([quick(name)], several=False))


def wrong_with(outcome: Outcome, all_move: bool) -> list[str]:
    """What a run with other values of axes does that it should not, one sentence each.

    all_move: whether everything that depends on the axes comes out otherwise.
    """
    found, before = answer([outcome], several=False), papers(outcome.study.name)
    after = contents(found)
    wrong = [f"failed: {one}" for one in found["failures"]]
    wrong += [one for one in found["left_out"] if one.endswith("does not come about here")]
    gone = set(before) - set(after)
    unnamed = [key for key in gone if not any(one.startswith(key) for one in found["left_out"])]
    wrong += [f"{key} is neither there nor left out by name" for key in unnamed]
    axes = [axis for axis, _ in outcome.own.axes]
    moved = gone | {key for key in after if after[key] != before[key]}
    depend = {key for key in before if any(axis.moves(key) for axis in axes)}
    wrong += [f"{key} moves, and does not depend on it" for key in moved - depend]
    marked = {one["key"]: one["depends"] for part in ("rows", "statements", "claims") for one in found[part]}
    wrong += [f"{key} is marked wrongly" for key in after if marked.get(key) != (key in depend)]
    wrong += [f"it prints “{words}”" for words in unreadable(outcome)]
    if all_move:
        patterns = [pattern for axis in axes for pattern in axis.drives]
        still = [p for p in patterns if not any(fnmatchcase(key, p) for key in moved)]
        wrong += [f"nothing of {pattern} moves" for pattern in still]
    return wrong


#: What a program prints and no colleague says: a number that is none, and a share of nothing.
NO_WORDS = re.compile(r".{0,30}(?:\bnan\b|\bnone s\b|\binf\b|\b0 of 0\b|0\.\d{13,}| index ).{0,30}")


def unreadable(outcome: Outcome) -> list[str]:
    """Words of the page that say nothing."""
    return NO_WORDS.findall(outcome.page())


def drawn(outcome: Outcome) -> None:
    """Draws all figures; what goes wrong is a failure of the outcome."""
    for drawing in outcome.drawings:
        try:
            drawing.draw()
        except Exception as error:
            outcome.failures.append(f"figure {drawing.name}: {error!r}")


def walk(
    name: str, every: list[dict[str, Value]], all_move: bool = True, figures: bool = False
) -> dict[str, list[str]]:
    """What is wrong with the study at each of these settings. What they have alike is run once."""
    study = load(name)
    jobs = [(study, settings(study, values)) for values in every]
    outcomes = run_each(jobs, quick=True, then=drawn if figures else None)
    found = {outcome.own.said_axes(): wrong_with(outcome, all_move) for outcome in outcomes}
    assert len(found) == len(every)
    return {said: wrong for said, wrong in found.items() if wrong}


@pytest.mark.parametrize("name", VALUES)
def test_all_axes_of_a_study_at_once_move_what_depends_on_them_and_nothing_else(name: str) -> None:
    assert set(VALUES[name]) == {axis.name for axis in load(name).axes}
    assert walk(name, [{axis: values[0] for axis, values in VALUES[name].items()}], figures=True) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", VALUES)
def test_each_axis_alone_moves_what_depends_on_it_and_nothing_else(name: str) -> None:
    assert walk(name, [{axis: values[0]} for axis, values in VALUES[name].items()]) == {}


@pytest.mark.slow
@pytest.mark.slowest
@pytest.mark.parametrize("name", VALUES)
def test_so_does_each_axis_at_both_ends_of_its_range(name: str) -> None:
    ends = [{axis: value} for axis, values in VALUES[name].items() for value in values[1:]]
    # There some figures coincide: the run is then limited by something else.
    assert walk(name, ends, all_move=False) == {}


def test_every_study_of_the_package_has_axes_that_drive_something_there_is() -> None:
    for name in VALUES:
        known = papers(name)
        for axis in load(name).axes:
            for pattern in (*axis.drives, *axis.may):
                assert any(fnmatchcase(key, pattern) for key in known), (name, axis.name, pattern)
    assert set(VALUES) == set(names())


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["ns3", "--set", "dela=3"], "dela is no axis of study ns3; did you mean delay?"),
        (["ns3", "--set", "delay=3s"], "delay is from 0.01 to 500 ms"),
        (["ns3", "--set", "delay=3kB"], "'kB' is no unit of delay; it is from 0.01 to 500 ms"),
        (["ns3", "--set", "delay=fast"], "a number is wanted, 5 ms for example"),
        (["ns3", "--set", "queue=2.5"], "queue is a whole number from 1 to 10000"),
        (["ns3", "--set", "link.link.delay=20"], "20 has no unit; 20ms for example"),
        (["ns3", "--set", "link.link.channel.errors.kind=random"], "sets this key by its axis error_rate"),
        (["wireless", "--set", "up=3", "--outages", "seen.csv"], "--outages and --set up both say when"),
        (["rto", "--set", "stack=linux-6-cubi"], "linux-6-cubi is none; did you mean linux-6-cubic?"),
        (["interruption", "--set", "period=1", "--set", "outage=2s"], "outages of 2000 ms leave nothing"),
    ],
)
def test_a_value_that_is_none_is_one_sentence_with_the_fix(
    words: list[str], fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fix in refused(["study", "run", "--quick", *words], capsys)


def test_a_key_of_the_scenario_that_is_an_axis_is_the_axis() -> None:
    study = load("ns3")
    found = find(study.axes, "link.link.delay", "0.02s", "ns3")
    assert found is not None
    assert (found[0].name, found[1]) == ("delay", 20)
    assert find(study.axes, "stack.ns3.20-newreno.oneway.window", "1", "ns3") is None


def test_the_document_has_every_axis_with_its_range() -> None:
    rows = [
        f"| `{name}` | `{axis.name}` | {axis.about} | {axis.shown(axis.paper)} | {axis.range()} |"
        for name in names()
        for axis in load(name).axes
    ]
    said = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    assert [row for row in rows if row not in said] == []
