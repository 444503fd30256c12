"""What answers say that helps, as changes of a scenario: each sentence has one, and the measure is right.

`python validation/situations.py helps --draws 207 --seed S` tries the advice of fresh answers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation"))
import situations
from situation import helps
from situation.advice import ADVICE, advised, all_at_once
from situation.helps import Advice, Sentence, tried
from situation.kinds import KINDS, kind_of

CAUSES = Path(__file__).resolve().parents[2] / "crates/explain/src/cause"
#: A string of Rust, and the lists in which sentences stand.
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
LISTS = re.compile(r"\b(?:helps|does_not_help): vec!\[(.*?)\],\n", re.DOTALL)


def sentences(source: str) -> Iterator[str]:
    """The sentences that the file of a cause can give. A host stands for what is filled in."""
    for found in LISTS.findall(source):
        texts = TEXT.findall(found)
        # `vec![helps.into()]`: the sentence was chosen before.
        for name in re.findall(r"\b(\w+)\.into\(\)", found):
            chosen = re.search(rf"let {name} = match .*?;\n", source, re.DOTALL)
            texts += TEXT.findall(chosen[0]) if chosen else []
        assert texts, f"no sentence in {found!r}"
        for text in texts:
            yield re.sub(r"\{\w*\}", "the server", text.replace('\\"', '"'))


@pytest.mark.parametrize("cause", sorted(path.stem for path in CAUSES.glob("*.rs")))
def test_each_sentence_of_a_cause_is_mapped_to_a_change(cause: str) -> None:
    source = (CAUSES / f"{cause}.rs").read_text()
    found = list(sentences(source))
    assert len(found) >= source.count("vec![")
    setting = kind_of("upload-fills-link").drawn(1)
    assert not [text for text in found if advised(setting, text, 1000) is None]


def test_each_row_of_the_table_has_a_sentence() -> None:
    found = [text for path in CAUSES.glob("*.rs") for text in sentences(path.read_text())]
    assert not [row for row in ADVICE if not any(re.fullmatch(row, text) for text in found)]


@pytest.mark.parametrize("name", KINDS)
def test_advice_makes_a_scenario_and_leaves_the_setting_as_it_was(name: str) -> None:
    setting = kind_of(name).drawn(3)
    before = setting.copy()
    for path in CAUSES.glob("*.rs"):
        for text in sentences(path.read_text()):
            for said in (text, text.replace("the server", "the client")):
                changed = advised(setting, said, 100_000)
                if changed and changed != setting:
                    changed.scenario(name, 3)
    assert setting == before


def test_advice_changes_the_host_that_it_names() -> None:
    setting = kind_of("upload-small-window").drawn(1)
    at_server = advised(setting, "a larger receive buffer on the server", 0)
    assert at_server
    assert at_server.stacks["client"] == setting.stacks["client"]
    assert at_server.stacks["server"]["receive"]["window"]["buffer"] == "8MB"
    assert advised(setting, "a larger monitor", 0) is None


@pytest.mark.parametrize(
    ("name", "sentence", "helps_here"),
    [
        ("upload-small-window", "a larger receive buffer on the server", True),
        ("upload-small-window", "a larger receive buffer on the client", False),
        ("upload-small-window", "more bandwidth", False),
        ("slow-server", "a program on the server that writes sooner, or more at a time", True),
        ("slow-server", "a program on the client that writes sooner, or more at a time", False),
        ("slow-server", "more bandwidth", False),
    ],
)
def test_the_measure_tells_what_helps(name: str, sentence: str, helps_here: bool) -> None:
    kind = kind_of(name)
    share = {"cause": kind.cause, "seconds": 1.5}
    found = tried(name, 5, share, [Sentence(sentence, of) for of in helps.LISTS])
    assert [one.is_right for one in found] == [helps_here, not helps_here]


def test_half_of_the_seconds_is_enough_and_a_tenth_is_a_change() -> None:
    def is_right(of: str, after_s: float | None) -> bool:
        return Advice(Sentence("more bandwidth", of), 4.0, 10.0, after_s, True).is_right

    assert is_right("helps", 8.0)
    assert not is_right("helps", 8.1)
    assert is_right("does_not_help", 9.1)
    assert not is_right("does_not_help", 9.0)
    assert not is_right("does_not_help", 11.0)
    assert not is_right("helps", None)
    assert not is_right("does_not_help", None)


def test_messages_at_times_of_their_own_are_there_at_once() -> None:
    setting = kind_of("messages-fill-link").drawn(1)
    assert all_at_once(setting, 5000).workload == {"kind": "file", "size": "5000B"}
    assert "stop" not in all_at_once(setting, 5000).flow
    other = kind_of("slow-server").drawn(1)
    assert all_at_once(other, 5000) == other


def test_the_advice_of_an_answer_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    found = helps.named("upload-small-window", 5, every=True)
    assert found.cause == "receive-window"
    assert [found.is_right(of) for of in helps.LISTS] == [True, True]
    assert not list(found.failures())
    assert not helps.named("one-exchange", 5).has_advice
    situations.print_sentences([found])
    assert "1 of    1 right   receive-window, helps: a larger receive buffer\n" in capsys.readouterr().out
