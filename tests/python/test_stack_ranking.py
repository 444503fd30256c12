"""`rexmit replay --stack all`: which stack is a sender like?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rexmit as rx
from rexmit import cli
from test_replay import simulated

DATA = Path(__file__).parents[1] / "data"
#: Captures of Linux 6.18 at its sender, offloads on in the last, and the congestion control it had.
KERNELS = {
    "A1_reno_22M_deep_200ms": "linux-6-reno",
    "E2_reno_22M_tail10_x3": "linux-6-reno",
    "F1_cubic_22M_GE": "linux-6-cubic",
    "tsoblk": "linux-6-reno",
}


@pytest.mark.slow
@pytest.mark.parametrize("capture", KERNELS)
def test_a_kernel_is_like_its_stack(capture: str) -> None:
    ranking = rx.rank_stacks(DATA / f"{capture}.snd.pcap.gz")
    assert ranking.stacks[0] == KERNELS[capture]
    assert ranking.like == KERNELS[capture]
    found = ranking.to_dict()
    assert found["explained"] is True
    assert found["inference"]["stack"]["confidence"] > 0.9
    # What the analysis infers without any stack stands beside it.
    assert found["inference"]["growth"] is not None


@pytest.mark.parametrize("stack", ["linux-6-cubic", "linux-6-reno", "linux-2.6-cubic", "rfc-newreno"])
def test_a_simulated_sender_is_like_its_stack(tmp_path: Path, stack: str) -> None:
    ranking = rx.rank_stacks(simulated(tmp_path, stack) / "pc.pcapng")
    assert ranking.like is not None
    assert stack in [ranking.like, *ranking.equals]
    first, *others = ranking.to_dict()["ranking"]
    assert first["right"] == first["sends"]
    assert first["behind"] is None
    wrong = [row["sends"] - row["right"] for row in others]
    assert wrong == sorted(wrong)
    for row in others:
        assert row["behind"]["told_apart"] == (row["behind"]["chance"] < 0.05)


def test_the_page_says_what_tells_the_first_from_the_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = str(simulated(tmp_path, "linux-6-cubic") / "pc.pcapng")
    assert cli.main(["replay", capture, "--stack", "all"]) == 0
    page = capsys.readouterr().out
    assert "like linux-6-cubic (confidence 1.00)" in page
    assert "told from " in page
    assert cli.main(["replay", capture, "--stack", "all", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stack"] == "all"
    names = [row["stack"] for row in found["ranking"]]
    assert len(set(names)) == len(names)
    assert not any(name.startswith("ns2") for name in names)
    assumed = {row["stack"] for row in found["ranking"] if row["assumed"]}
    assert {"windows-11", "macos-14"} <= assumed
    assert {name for timer in found["timers"] for name in timer["stacks"]} == set(names)


def test_what_a_short_transfer_cannot_tell_is_not_told(tmp_path: Path) -> None:
    few = {"flow.upload.workload.size": "4kB", "link.wire.channel.air.loss": "0%"}
    ranking = rx.rank_stacks(simulated(tmp_path, "linux-6-cubic", **few) / "pc.pcapng")
    assert ranking.like is None
    assert "linux-6-cubic" in [ranking.stacks[0], *ranking.equals]
    assert "tells too few of them apart" in ranking.page()


def test_the_answer_says_which_stack_the_sender_is_like(capfd: pytest.CaptureFixture[str]) -> None:
    capture = str(DATA / "F1_cubic_22M_GE.snd.pcap.gz")
    assert cli.main(["analyze", capture, "--like"]) == 0
    assert "like     linux-6-cubic (confidence 1.00" in capfd.readouterr().out
    assert cli.main(["analyze", capture, "--like", "--json"]) == 0
    flow = json.loads(capfd.readouterr().out)["flows"][0]
    ranking = rx.rank_stacks(capture).to_dict()
    assert flow["inference"] == ranking["inference"]
    assert flow["inference"]["stack"]["value"] == "linux-6-cubic"
    # Not asked for, it is not looked for.
    assert cli.main(["analyze", capture, "--json"]) == 0
    flow = json.loads(capfd.readouterr().out)["flows"][0]
    assert flow["inference"]["stack"] is None


def test_a_sender_that_cannot_be_replayed_is_like_none_and_the_answer_says_why(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["analyze", str(DATA / "F1_cubic_22M_GE.rcv.pcap.gz"), "--like", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["flows"][0]["inference"]["stack"] is None
    (said,) = [text for text in found["capture"]["warnings"] if "was captured at its receiver" in text]
    assert "cannot be replayed" in said
    assert cli.main(["analyze", "-", "--like"]) == 2
    assert "--like reads the capture twice" in capfd.readouterr().err
