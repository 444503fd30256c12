"""One's own numbers in a paper's experiment: `--set`, `--outages`, `--capture`."""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import refused
from rexmit import cli
from rexmit_studies import load
from rexmit_studies.interruption import setups
from rexmit_studies.own import CURRENT, Own, read_outages
from rexmit_studies.run import run_each

DATA = Path(__file__).parents[1] / "data"
LAN = files("rexmit_studies.selfsimilar") / "lan.pcap.gz"


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "begin_s,end_s\n3,3.4\n8.1,8.2\n",
        "# seen on Monday\nbegin_s length_ms\n\n3 400 # long\n8.1 100\n",
        "begin_ms;length_ms\n3000;400\n8100;100\n",
    ],
)
def test_a_file_of_outages_says_what_its_columns_are(text: str, tmp_path: Path) -> None:
    found = read_outages(written(tmp_path / "seen.csv", text))
    assert np.array(found) == pytest.approx(np.array([(3.0, 3.4), (8.1, 8.2)]))


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("3,3.4\n", ":1: the first line names the columns, begin_s,end_s or begin_s,length_s"),
        ("begin,end\n3,4\n", ":1: the first line names the columns"),
        ("begin_s,end_s\n3,4\n3.5,5\n", ":3: the outage begins before the one before it has ended, at 4 s"),
        ("begin_s,end_s\n4,3\n", ":2: the outage from 4 to 3 s has no length"),
        ("begin_s,length_s\n3\n", ":2: two numbers are wanted"),
        ("begin_s,length_s\nx,1\n", ":2: two numbers are wanted"),
        ("begin_s,length_s\n", ": has a header and no outage"),
        ("", ": is empty"),
    ],
)
def test_what_is_no_file_of_outages_is_told_with_its_line(text: str, fix: str, tmp_path: Path) -> None:
    path = written(tmp_path / "seen.csv", text)
    with pytest.raises(ValueError, match=r"seen\.csv") as told:
        read_outages(path)
    assert fix in str(told.value)


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["interruption", "--set", "link.ari.rate=3Mbps"], 'link.ari does not exist; did you mean "air"?'),
        (["interruption", "--set", "link.air.rate=3"], "has no unit"),
        (["interruption", "--set", "x"], "--set x: KEY=VALUE is wanted"),
        (["interruption", "--set", "flow.upload.stack=rfc-sack"], "is what study interruption compares"),
        (["rto", "ns3", "--set", "seed=3"], "--set is for one study; 2 were named"),
        (["rto", "--outages", "seen.csv"], "study rto has no outages; interruption, wireless have"),
        (["rto", "--capture", "x.pcap"], "study rto reads no capture; interruption, ns3, selfsimilar do"),
        (["ns3", "--capture", "nowhere.pcap"], "nowhere.pcap: there is no such file"),
        (["ns3", "--capture", "a", "--capture", "b"], "study ns3 reads 1 of them at most; 2 were given"),
        (["ns3", "--capture", "a", "--set", "seed=3"], "give one of them"),
    ],
)
def test_bad_words_are_one_sentence_with_the_mend(
    words: list[str], fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fix in refused(["study", "run", "--quick", *words], capsys)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.main(["study", "run", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.slow
def test_outages_and_settings_of_ones_own_go_into_the_papers_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = written(tmp_path / "seen.csv", "begin_s,end_s\n1.5,2.5\n")
    words = ("interruption", "--quick", "--set", "link.air.rate=8Mbps", "--outages", str(seen))
    found = told(capsys, *words)
    assert found["own"] == ["rate=8Mbps", f"the outages of {seen}"]
    assert found["failures"] == []
    rows = {row["key"].removeprefix("interruption."): row for row in found["rows"]}
    assert rows["setup.first_interruption_s_about"]["rexmit"] == 1.5
    assert rows["setup.interruption_ms"]["grade"] == "no"
    # One outage of a second at 8 Mbps takes some 660 packets, less where the window ends before.
    assert 200 < rows["episode.reno_1.lost_segments"]["rexmit"] < 700
    # What varies the outages by itself is left out, and said; the rate is an axis that all follow.
    assert not any("link.air.rate" in text for text in found["left_out"])
    assert any("the runs “osx” vary" in text for text in found["left_out"])
    assert cli.main(["study", "run", *words]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Not the paper's experiment, but the same with rate=8Mbps, the outages of" in out
    assert "could have come out otherwise" not in out


def test_sections_follow_the_outages_that_are_set() -> None:
    at = setups.SCHEDULE
    usual = setups.down(3.1, 5.0, 9.0)
    assert np.array(usual) == pytest.approx(np.array([(3.1, 3.3), (8.1, 8.3)]))
    cases = {
        ((f"{at}.for", "400ms"),): [(3.1, 3.5), (8.1, 8.5)],
        ((f"{at}.every", "3s"), (f"{at}.phase", "1s")): [(1.0, 1.2), (4.0, 4.2), (7.0, 7.2)],
        ((f"{at}.intervals", '[["2s", "1s"]]'),): [(2.0, 3.0)],
    }
    for settings, wanted in cases.items():
        token = CURRENT.set(Own(settings))
        try:
            assert np.array(setups.down(3.1, 5.0, 9.0)) == pytest.approx(np.array(wanted))
        finally:
            CURRENT.reset(token)
    token = CURRENT.set(Own(((f"{at}.up", "3s"), (f"{at}.down", "1s"))))
    try:
        with pytest.raises(ValueError, match="which up and down draw"):
            setups.down(3.1, 5.0, 9.0)
    finally:
        CURRENT.reset(token)


def test_a_capture_of_ones_own_takes_the_place_of_the_papers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with as_file(LAN) as path:
        found = told(capsys, "selfsimilar", "--capture", str(path))
        rows = {row["key"]: row for row in found["rows"]}
        assert rows["selfsimilar.capture.packets"]["rexmit"] == 8082
        assert rows["selfsimilar.capture.packets"]["definition"] == "of your capture"
        assert found["replications"] == 0
    ends = [str(DATA / f"interruption.{end}.pcap.gz") for end in ("snd", "rcv")]
    words = [word for path in ends for word in ("--capture", path)]
    seen = written(tmp_path / "seen.csv", "begin_s,length_s\n5,0.2\n10,0.2\n15,0.2\n")
    out = tmp_path / "out"
    assert cli.main(["study", "run", "interruption", *words, "--outages", str(seen), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "Of a capture of your own" in said
    assert "Discontinuous sections: (1) without time lag" in said
    assert "nobody said" not in said
    assert (out / "interruption/figures/ladder-1.png").is_file()
    # Another capture than the study's own, and at the sender.
    found = told(capsys, "ns3", "--capture", ends[1])
    rows = {row["key"].removeprefix("ns3.download."): row for row in found["rows"]}
    assert rows["file_megabytes"]["rexmit"] == pytest.approx(10.5, abs=0.6)
    assert found["failures"] == []


def test_with_settings_of_ones_own_no_text_and_no_reason_says_what_the_papers_show() -> None:
    """What depends on a key is not known: what the paper's settings show is left out, as with axes."""
    study = load("ns3")
    mine = Own((("stack.ns3.20-newreno.rto.min", "300ms"),), origin=("rto.min=300ms",))
    (outcome,) = run_each([(study, mine)], quick=True)
    assert outcome.introduction == ""
    assert [section.text for section in outcome.sections if section.text] == []
    assert all(one.caption.startswith("With rto.min=300ms. ") for one in outcome.drawings)
    reasons = {row.why for row in outcome.rows if row.grade == "no"}
    assert reasons == {"not the paper's settings, but yours"}
