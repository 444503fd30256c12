"""validation/thirty.py on answers that are made up: no capture of the list is analysed here."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import reports  # noqa: E402
import thirty  # noqa: E402
from reports.packets import Report, capture, frame, micros, packets  # noqa: E402

#: What issue 41 lists.
CAUSES = {
    *(
        "request-response",
        "sender-idle",
        "receiver-not-reading",
        "receive-window",
        "delayed-ack",
        "receiver-stack",
    ),
    *("send-window", "slow-start", "pacing", "timer", "sender-stalled", "handshake", "bottleneck"),
    *("shared-bottleneck", "policer", "standing-queue", "loss-random", "loss-queue", "outage", "path-died"),
    *("packets-held", "mtu", "reordering", "ack-loss", "middlebox", "reset", "nothing", "cannot-tell"),
}
CASES = thirty.cases()
BY_NAME = {case.name: case for case in CASES}


def digests(name: str) -> set[str]:
    return {digest for case in thirty.cases(ROOT / "validation" / f"{name}.csv") for digest in case.digests}


def answer(name: str, cause: str, certainty: str, seconds: float, **also: Any) -> dict[str, Any]:
    """Format 2, as far as it is read; the connection stands among others, on both of its flows."""
    told = {
        "cause": cause,
        "certainty": certainty,
        "causes": [{"cause": cause, "certainty": certainty, "seconds": seconds, "share": 0.9}],
    }
    told["causes"] += also.get("causes", [])
    left, right = sorted(BY_NAME[name].connection)
    other = {"cause": "nothing", "certainty": "likely", "causes": []}
    return {
        "format": 2,
        "flows": [
            {"sender": "203.0.113.9:9", "receiver": "203.0.113.8:8", "answer": other},
            {"sender": right, "receiver": left, "answer": told},
            {"sender": left, "receiver": right, "answer": told},
        ],
    }


def test_the_third_list_is_whole() -> None:
    path = ROOT / "validation" / "thirty_third.csv"
    third = thirty.cases(path)
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len({case.name for case in third}) == len(rows) == 30
    assert [row["number"] for row in rows] == [str(number) for number in range(1, 31)]
    earlier = {digest for name in ("thirty", "thirty_more") for digest in digests(name)}
    for case, row in zip(third, rows, strict=True):
        assert case.accepted <= CAUSES, case.name
        assert len(case.accepted) <= 3, case.name
        assert len(case.connection) == 2, case.name
        assert re.fullmatch(r"[0-9a-f]{40}", case.commit), case.name
        assert [bool(re.fullmatch(r"[0-9a-f]{64}", digest)) for digest in case.digests] == [True], case.name
        assert not earlier & set(case.digests), case.name
        assert case.seconds is None or case.seconds[0] < case.seconds[1], case.name
        assert row["place"] in ("sender", "receiver", "middle"), case.name
        assert (row["by"] in ("client", "server")) or row["cause"] != "sender-idle", case.name
        assert all(row[column] for column in ("why", "place_known_by", "must_not_say")), case.name
        re.compile(case.must_not_match)
    sources = [case.source for case in third]
    assert max(sources.count(source) for source in sources) <= 3
    assert len({case.cause for case in third}) >= 14


def test_the_list_is_whole() -> None:
    assert len(CASES) == 30
    assert len(BY_NAME) == 30
    for case in CASES:
        assert case.accepted <= CAUSES, case.name
        assert len(case.connection) == 2, case.name
        assert len(case.files) == len(case.digests) <= 2, case.name
        assert case.is_rebuilt or re.fullmatch(r"[0-9a-f]{40}", case.commit), case.name
        assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in case.digests), case.name
        assert case.seconds is None or case.seconds[0] < case.seconds[1], case.name
        re.compile(case.must_not_match)
    pages = {path.stem for path in (ROOT / "validation" / "thirty").glob("*.md")}
    assert pages == set(BY_NAME)
    named = [len(case.accepted) for case in CASES]
    assert max(named) <= 4
    assert len({case.cause for case in CASES}) >= 15


def test_what_is_rebuilt_has_the_digest_of_the_list(tmp_path: Path) -> None:
    for report in reports.ALL:
        thirty.write(report, tmp_path)
    rebuilt = [case for case in CASES if case.is_rebuilt]
    assert {name for case in rebuilt for name in case.files} == {
        f"{report.name}.pcap" for report in reports.ALL
    }
    for case in rebuilt:
        assert thirty.lacking(case, tmp_path) == []
        assert case.source in {report.url for report in reports.ALL}


@pytest.mark.parametrize("report", reports.ALL, ids=lambda report: report.name)
def test_tables_run_forward_in_time(report: Report) -> None:
    rows = list(packets(report.table))
    assert [row.at_us for row in rows] == sorted(row.at_us for row in rows)
    frames = [frame(report, number, row) for number, row in enumerate(rows, start=1)]
    assert len(capture(report)) == 24 + sum(16 + len(data) for data in frames)
    assert all(row.window < 65536 and row.length <= 2736 for row in rows)


def test_a_clock_is_exact() -> None:
    assert micros("13:57:39.812123") == 50259812123
    assert micros("0.0013") == 1300


def test_what_lacks_is_named_with_where_it_is_had(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert thirty.main([str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert told.count("lacks:") == sum(len(case.files) for case in CASES)
    assert "https://github.com/USC-NSL/policing-detection, commit 95dcfbd7" in told
    assert "then xz -d" in told
    assert "--rebuild writes it" in told
    (tmp_path / "gilsho-curl.pcap").write_bytes(b"something else")
    assert "is another file" in " ".join(thirty.lacking(BY_NAME["gilsho-curl"], tmp_path))


def test_a_right_answer() -> None:
    verdict = thirty.judged(
        BY_NAME["usc-policer"],
        answer("usc-policer", "policer", "likely", 52.0),
        "A policer drops at 1.5 Mbps.",
    )
    assert verdict.right
    assert verdict.seconds_right
    assert not verdict.forbidden
    assert not verdict.known_and_false


def test_seconds_far_off_are_told_and_do_not_make_it_wrong() -> None:
    verdict = thirty.judged(BY_NAME["usc-policer"], answer("usc-policer", "policer", "known", 5.0), "")
    assert verdict.right
    assert verdict.seconds_right is False


def test_what_a_careful_engineer_may_say_is_right() -> None:
    verdict = thirty.judged(
        BY_NAME["neukum-pairs"], answer("neukum-pairs", "loss-random", "known", 0.41), "losses in pairs"
    )
    assert verdict.right
    assert verdict.seconds_right is None


def test_known_and_wrong_is_counted_likely_and_wrong_is_not() -> None:
    known = thirty.judged(BY_NAME["joy-hydra"], answer("joy-hydra", "sender-idle", "known", 0.08), "")
    assert not known.right
    assert known.known_and_false
    likely = thirty.judged(BY_NAME["joy-hydra"], answer("joy-hydra", "sender-idle", "likely", 0.08), "")
    assert not likely.known_and_false


def test_a_second_cause_that_is_known_and_not_the_truth_is_shown() -> None:
    more = [{"cause": "outage", "certainty": "known", "seconds": 9.0, "share": 0.4}]
    told = answer("usc-shaped", "bottleneck", "known", 27.0, causes=more)
    assert thirty.judged(BY_NAME["usc-shaped"], told, "").also_known == ["outage"]


def test_no_answer_is_wrong() -> None:
    for told in (
        {},
        {"flows": []},
        {"flows": [{"sender": "1.2.3.4:5", "receiver": "1.2.3.4:6", "answer": None}]},
    ):
        verdict = thirty.judged(BY_NAME["joy-hydra"], told, "")
        assert verdict.said is None
        assert not verdict.right
        assert not verdict.known_and_false


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("rfc2525-rto-too-low", "3 of 6 segments were\n   lost on the way"),
        ("gilsho-curl", "11 packets were sent again"),
        ("aliawa-rtsp", "An outage of 16.7 s held it"),
        ("mlab-5B90B", "10.0.0.2 closed its window for 3 s"),
        ("wichert-no-acks", "Nothing to look at: 8.2 kB in 0.5 s."),
    ],
)
def test_what_a_page_must_not_say_is_found(name: str, page: str) -> None:
    assert thirty.judged(BY_NAME[name], {}, page).forbidden


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("rfc2525-rto-too-low", "Nothing was lost. The timer fired before the ACK could come."),
        ("gilsho-curl", "0 segments lost, 0 packets sent again; no outage"),
        ("mlab-5B90B", "The receiver never closed its window."),
        ("rfc2923-black-hole", "This is not congestion: 4 packets of 1460 bytes vanished."),
    ],
)
def test_what_may_be_said_is_not_found(name: str, page: str) -> None:
    assert not thirty.judged(BY_NAME[name], {}, page).forbidden


def kept(folder: Path, wrong: int, certainty: str = "likely") -> None:
    for number, case in enumerate(CASES):
        cause = "pacing" if number < wrong else case.cause
        (folder / f"{case.name}.json").write_text(json.dumps(answer(case.name, cause, certainty, 1.0)))
        (folder / f"{case.name}.txt").write_text("A page.")


@pytest.mark.parametrize(
    ("wrong", "certainty", "code"), [(0, "known", 0), (6, "likely", 0), (7, "likely", 1), (1, "known", 1)]
)
def test_kept_answers_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: int, certainty: str, code: int
) -> None:
    kept(tmp_path, wrong, certainty)
    assert thirty.main([str(tmp_path), "--score", "--answers", str(tmp_path)]) == code
    known = wrong if certainty == "known" else 0
    assert f"{30 - wrong} of 30 right, {known} known and wrong, 0 pages" in capsys.readouterr().out


def test_both_ends_are_given_as_two_captures() -> None:
    both = BY_NAME["teto-both-ends"].command(Path("f"))
    assert both == ["--sender", "f/teto-client.pcap", "--receiver", "f/teto-server.pcap"]
    assert BY_NAME["joy-hydra"].command(Path("f")) == ["f/joy-hydra.pcap"]


def test_digests_are_of_the_bytes(tmp_path: Path) -> None:
    case = BY_NAME["wichert-no-acks"]
    report = next(report for report in reports.ALL if report.name == case.name)
    assert hashlib.sha256(capture(report)).hexdigest() == case.digests[0]
