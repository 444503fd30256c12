"""`rexmit report` of runs, of both ends, of two transfers beside each other, and of studies."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rexmit
from conftest import DATA
from containers import unpack
from rexmit.cli import main
from rexmit.report.source import LIMITS
from test_damaged_folders import recording  # noqa: F401
from test_report import Page
from test_report_anonymize import SCENARIO

SENDER, RECEIVER = (DATA / f"A1_reno_22M_deep_200ms.{end}.pcap.gz" for end in ("snd", "rcv"))
OTHER = DATA / "F1_cubic_22M_GE.snd.pcap.gz"


def reported(tmp_path: Path, *words: str | Path) -> Page:
    out = tmp_path / "page.html"
    assert main(["report", *map(str, words), "-o", str(out)]) == 0
    return Page(out)


def packets(page: Page, source: int, row: int = 0) -> dict[str, Any]:
    return page.packets(page.meta["sources"][source]["details"][row])


def on_senders_clock(time_ns: Any, clock: dict[str, float] | None) -> Any:
    return time_ns if clock is None else time_ns * clock["rate"] + clock["shift_ns"]


def drifting(capture: Path, to: Path, ahead_s: int, ppm: float) -> None:
    """A capture by a clock that is so far ahead, and runs so much faster from its first packet on."""
    told = bytearray(gzip.decompress(capture.read_bytes()))
    magic = int.from_bytes(told[:4], "little")
    unit = {0xA1B2C3D4: 10**6, 0xA1B23C4D: 10**9}[magic]
    at, first = 24, None
    while at < len(told):
        seconds, fraction, kept = struct.unpack_from("<III", told, at)
        time = seconds * unit + fraction
        first = time if first is None else first
        time += ahead_s * unit + round((time - first) * ppm * 1e-6)
        struct.pack_into("<II", told, at, *divmod(time, unit))
        at += 16 + kept
    to.write_bytes(told)


def test_packets_line_up_at_both_ends_of_a_transfer_whose_clocks_drift(tmp_path: Path) -> None:
    sender, receiver = (DATA / f"interruption.{end}.pcap.gz" for end in ("snd", "rcv"))
    other = tmp_path / "drifting.pcap"
    drifting(receiver, other, 3200, 150)
    straight = reported(tmp_path, "--sender", sender, "--receiver", receiver)
    drifted = reported(tmp_path, "--sender", sender, "--receiver", other, "--overwrite")
    clocks = [page.meta["sources"][1]["clock"] for page in (straight, drifted)]
    true, seen = (
        on_senders_clock(packets(page, 1)["time_ns"], clock)
        for page, clock in zip((straight, drifted), clocks, strict=True)
    )
    # A constant would be wrong by half of the drift, more than 1 ms, at one end or the other.
    assert (true[-1] - true[0]) * 150e-6 > 2e6
    assert np.abs(seen - true).max() < 20e3
    told = drifted.meta["sources"][0]["capture"]["pair"]["clock"]
    assert 0 < told["at_s"] < (true[-1] - true[0]) / 1e9


@pytest.mark.parametrize("swapped", [False, True])
def test_both_ends_lie_over_each_other(tmp_path: Path, swapped: bool) -> None:
    ends = (RECEIVER, SENDER) if swapped else (SENDER, RECEIVER)
    page = reported(tmp_path, "--sender", ends[0], "--receiver", ends[1])
    first, second = page.meta["sources"]
    assert (first["place"], second["place"]) == ("sender", "receiver")
    assert first["clock"] is None
    sent, came = packets(page, 0), packets(page, 1)
    # Every copy that left arrived, or is one of the 429 that were lost.
    assert int(sent["lost"].sum()) == first["totals"]["lost"]["copies"] == 429
    left = int((sent["data"] * (sent["len"] > 0)).sum())
    assert left - 429 == int((came["data"] * (came["len"] > 0)).sum())

    # On one clock nothing arrives before it leaves, nor later than the longest round trip seen.
    def first_of(rows: dict[str, Any], clock: dict[str, float] | None) -> dict[int, float]:
        times: dict[int, float] = {}
        lost = rows["lost"] if clock is None else np.zeros(len(rows["seq"]))
        for seq, at, data, size, gone in zip(
            rows["seq"], rows["time_ns"], rows["data"], rows["len"], lost, strict=True
        ):
            if data and size and not gone:
                times.setdefault(int(seq), on_senders_clock(at, clock))
        return times

    start, end = first_of(sent, None), first_of(came, second["clock"])
    took = np.array([end[seq] - start[seq] for seq in end])
    assert len(took) > 6000
    assert took.min() > 5e6
    assert took.max() < 170e6


def test_a_run_has_its_scenario_and_what_its_sender_knew(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(SCENARIO)
    page = reported(tmp_path, file)
    assert page.meta["kind"] == "run"
    source = page.meta["sources"][0]
    run = rexmit.run(file)
    assert source["run"]["seed"] == run.seed
    assert source["run"]["scenario"] == run.scenario.with_(seed=run.seed).to_toml()
    assert source["run"]["simulation"] == run.summary
    head, state = unpack(page.blobs[source["details"][0]["state"]])
    table = run.worst(1)[0]
    rows = rexmit.frame.Frame(run.state, run.origin_ns, flow=table.id)
    assert head["rows"] == len(rows) > 100
    assert np.array_equal(state["cwnd"], rows["cwnd_bytes"])
    assert np.array_equal(state["rto_us"], np.nan_to_num(np.round(rows["rto_s"] * 1e6)).astype(int))
    assert [head["words"]["phase"][k] for k in state["phase"]] == rows.text("phase")


def test_a_run_tells_the_window_of_its_sender_unasked(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    assert "state = true" in SCENARIO
    file.write_text(SCENARIO.replace("state = true", ""))
    page = reported(tmp_path, file)
    source = page.meta["sources"][0]
    head, state = unpack(page.blobs[source["details"][0]["state"]])
    assert head["rows"] == len(state["cwnd"]) > 100
    # The scenario is shown as it was given.
    assert "state" not in source["run"]["scenario"]


def test_a_run_shows_both_its_ends_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.toml"
    file.write_text(SCENARIO)
    page = reported(tmp_path, file)
    first, second = page.meta["sources"]
    same = {"rate": 1.0, "shift_ns": 0.0}
    assert [(s["place"], s["clock"]) for s in (first, second)] == [("sender", None), ("receiver", same)]
    assert second["label"] == first["label"] + ", receiver's end"
    # Every copy that left arrived, or was lost.
    sent, came = packets(page, 0), packets(page, 1)
    data = [int((rows["data"] * (rows["len"] > 0)).sum()) for rows in (sent, came)]
    assert data[0] - int(sent["lost"].sum()) == data[1] > 500
    monkeypatch.setitem(LIMITS, "raw", 1000)
    (only,) = reported(tmp_path, file, "--overwrite").meta["sources"]
    assert only["place"] == "both"


def test_the_folder_of_a_run_is_the_run(tmp_path: Path) -> None:
    file, folder = tmp_path / "run.toml", tmp_path / "run"
    file.write_text(SCENARIO)
    assert main(["run", str(file), "--seed", "3", "--out", str(folder), "--figures", "none"]) == 0
    source = reported(tmp_path, folder).meta["sources"][0]
    assert source["run"]["seed"] == 3
    assert source["totals"] == rexmit.run(file, seed=3).overview(0)["totals"]


def test_two_transfers_lie_beside_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = reported(tmp_path, SENDER, OTHER)
    assert page.meta["kind"] == "comparison"
    capsys.readouterr()
    assert main(["compare", str(SENDER), str(OTHER), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = page.meta["comparison"]
    for key in ("longer_s", "differences", "answer", "withheld"):
        assert found["differences"][key] == told[key]
    assert len(found["episodes"]) == len(told["episodes"])
    assert found["labels"] == [SENDER.name, OTHER.name]
    for k, of in enumerate(found["flows"]):
        detail = page.meta["sources"][of["source"]]["details"][0]
        assert (of["source"], of["flow"], of["key"]) == (k, detail["flow"], detail["key"])
        assert len(packets(page, k)["seq"]) == detail["packets"]["count"]
    for pair, said in zip(found["episodes"], told["episodes"], strict=True):
        for end in ("first", "second"):
            if said[end] is not None:
                assert pair[end]["start_ns"] == round(said[end]["start"] * 1e9)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """As `rexmit study run` writes it, with one figure of each kind."""
    folder = tmp_path / "out"
    (folder / "small" / "figures").mkdir(parents=True)
    answer = {
        "rexmit": "0.1.0",
        "format": 1,
        "study": "small",
        "title": "A small </script> study",
        "grades": {"printed": 1},
        "rows": [
            {"key": "small.1", "printed": "1.0", "rexmit": 1.0, "grade": "printed", "interval": [0.9, None]}
        ],
        "statements": [],
        "claims": [{"key": "small.a", "verdict": "holds", "tests": []}],
    }
    (folder / "results.json").write_text(json.dumps(answer))
    figures = folder / "small" / "figures"
    (figures / "one.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    )
    fig = rexmit.capture(SENDER).worst(1)[0].causes()
    fig.save(figures / "two.png")
    (figures / "paper.jpg").write_bytes(b"not ours")
    return folder


def test_a_study_is_its_answer_with_our_figures(tmp_path: Path, study: Path) -> None:
    page = reported(tmp_path, study)
    assert page.meta["kind"] == "study"
    told = page.meta["study"]
    assert told["rows"][0]["interval"] == [0.9, None]
    assert [figure["name"] for figure in told["figures"]] == ["one", "two"]
    assert told["figures"][1]["svg"].startswith("<svg ")
    assert "data:image/png;base64," in told["figures"][1]["svg"]
    # What is in a figure or a title is text of the page's data.
    assert "alert(1)" not in "".join(text for of, text in page.elements.scripts if "type" not in of)
    assert "</script>" in told["title"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is no JSON, or cut off"),
        ("[]", "is no answer of rexmit study"),
        ('{"study": "x"}', "is no answer of rexmit study"),
        ('{"studies": []}', "is no answer of rexmit study"),
    ],
)
def test_another_folder_is_refused_in_a_sentence(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results.json").write_text(text)
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "x.html")]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", ["../elsewhere", "/ABSOLUTE", "linked"])
def test_a_study_has_no_figures_from_elsewhere(
    name: str, tmp_path: Path, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = study.parent / "elsewhere" / "figures"
    elsewhere.mkdir(parents=True)
    (elsewhere / "private.svg").write_text("<svg>private</svg>")
    (study / "linked" / "figures").mkdir(parents=True)
    (study / "linked" / "figures" / "x.svg").symlink_to(elsewhere / "private.svg")
    answer = json.loads((study / "results.json").read_text())
    answer["study"] = name.replace("/ABSOLUTE", str(elsewhere.parent))
    (study / "results.json").write_text(json.dumps(answer))
    assert main(["report", str(study), "-o", str(tmp_path / "x.html")]) == 2
    assert f"leads out of {study}" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()


def test_a_folder_of_several_studies_names_them(
    tmp_path: Path, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = json.loads((study / "results.json").read_text())
    (study / "results.json").write_text(json.dumps({"studies": [one, one | {"study": "other"}]}))
    assert main(["report", str(study), "-o", str(tmp_path / "x.html")]) == 2
    assert "holds several studies (small, other)" in capsys.readouterr().err


def test_beside_out_the_same_page_is_written(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(SCENARIO)
    plain = ("--figures", "none", "--report", "--out")
    assert main(["analyze", str(SENDER), *plain, str(tmp_path / "a")]) == 0
    assert main(["run", str(file), *plain, str(tmp_path / "r")]) == 0
    assert main(["compare", str(SENDER), str(OTHER), "--report", "--out", str(tmp_path / "c")]) == 0
    pages = {name: Page(tmp_path / name / "report.html") for name in "arc"}
    assert [page.meta["kind"] for page in pages.values()] == ["capture", "run", "comparison"]
    assert pages["a"].meta["command"] == f"rexmit analyze {SENDER}"
    for name, words in (("a", [SENDER]), ("r", [file]), ("c", [SENDER, OTHER])):
        alone = reported(tmp_path, *words)
        assert pages[name].blobs == alone.blobs
        assert pages[name].meta["sources"] == alone.meta["sources"]
    assert "`report.html`" in (tmp_path / "a" / "index.md").read_text()
    # A later answer without it takes it away.
    assert main(["analyze", str(SENDER), "--figures", "none", "--out", str(tmp_path / "a")]) == 0
    assert not (tmp_path / "a" / "report.html").exists()


def test_a_study_s_page_is_named_by_the_study_and_not_by_its_folder(
    tmp_path: Path, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = study.rename(tmp_path / "some folder")
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    assert main(["report", str(folder)]) == 0
    assert main(["report", str(folder), "--anonymize"]) == 0
    assert sorted(path.name for path in Path().iterdir()) == ["report.html", "small.html"]
    assert Page(Path("small.html")).meta["title"] == "A small </script> study"


@pytest.mark.parametrize(
    "words", [["analyze", "x.pcap"], ["run", "x.toml"], ["compare", "a", "b"], ["study", "run", "rto"]]
)
def test_report_without_out_is_a_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--report"]) == 2
    assert "--report needs --out DIR" in capsys.readouterr().err


@pytest.mark.slow
def test_a_study_writes_its_page_with_the_figures_it_drew(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["study", "run", "selfsimilar", "--quick", "--figures", "svg", "--report", "--out", str(out)]
    assert main(words) == 0
    page = Page(out / "selfsimilar" / "report.html")
    told = json.loads((out / "results.json").read_text())
    assert {key: page.meta["study"][key] for key in ("rows", "claims", "grades", "title")} == {
        key: told[key] for key in ("rows", "claims", "grades", "title")
    }
    drawn = sorted(path.stem for path in (out / "selfsimilar" / "figures").glob("*.svg"))
    assert [figure["name"] for figure in page.meta["study"]["figures"]] == drawn
    assert drawn
    assert reported(tmp_path, out).meta["study"]["rows"] == told["rows"]


def test_the_folder_of_a_comparison_is_the_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(SENDER), str(OTHER), "--out", str(tmp_path / "c")]) == 0
    page = reported(tmp_path, tmp_path / "c")
    assert page.meta["comparison"] == reported(tmp_path, SENDER, OTHER).meta["comparison"]
    told = json.loads((tmp_path / "c" / "comparison.json").read_text())
    told["first"]["name"] = "gone.pcap"
    (tmp_path / "c" / "comparison.json").write_text(json.dumps(told))
    capsys.readouterr()
    assert main(["report", str(tmp_path / "c"), "-o", str(tmp_path / "x.html")]) == 2
    assert "gone.pcap is no file here; name the two" in capsys.readouterr().err


def test_the_name_of_a_study_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "rto"]) == 2
    assert "rto: a study has to be run: rexmit study run rto --out DIR" in capsys.readouterr().err


def test_a_recording_is_a_capture(recording: Path, tmp_path: Path) -> None:  # noqa: F811
    page = reported(tmp_path, recording)
    assert page.meta["kind"] == "capture"
    assert page.details()[0]["packets"]["count"] > 0


@pytest.mark.parametrize(
    ("words", "view"),
    [
        ([OTHER], f"rexmit view {OTHER} shows every one"),
        (["--sender", SENDER, "--receiver", RECEIVER], f"view --sender {SENDER} --receiver {RECEIVER} shows"),
    ],
)
def test_what_is_not_all_there_says_what_shows_it(
    words: list[str | Path], view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "raw", 4000)
    notes = reported(tmp_path, *words).meta["notes"]
    assert any(view in note for note in notes)
    assert all("this file holds what happened in each moment" in note for note in notes)


def test_of_very_many_flows_each_is_told_briefly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = reported(tmp_path, OTHER).details()
    monkeypatch.setitem(LIMITS, "full", 1)
    monkeypatch.setitem(LIMITS, "at_once", 1)
    page = reported(tmp_path, OTHER)
    first, second = page.details()
    (more,) = page.meta["sources"][0]["more"]
    assert more["flows"] == [second["flow"]]
    assert first == whole[0]
    assert second["rtt"] is None
    # What the page shows of any flow (explorer/src/data/meta.ts, FlowRow and Intervals) is there.
    shown = (
        "flow sender receiver vantage bytes acked_bytes segments mss start_s end_s duration_s throughput_bps"
    )
    shown += " retransmissions lost burst_count episode_count timeouts idle_count idle_total_s rtt path"
    assert {key: second["row"][key] for key in shown.split()} == {
        key: whole[1]["row"][key] for key in shown.split()
    }
    names = ("start_ns", "sent_bytes", "new_bytes", "acked_bytes", "length_s")
    assert second["intervals"] == {name: whole[1]["intervals"][name] for name in names}
    assert page.packets(second)["packet"].tolist()
