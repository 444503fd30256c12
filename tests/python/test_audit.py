"""validation/audit.py: each law is broken by what it forbids, and a few answers of each part are audited."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from conftest import DATA

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "validation"), str(ROOT / "fuzz")]

import audit  # noqa: E402
import audit_arrivals as arrivals  # noqa: E402
import audit_laws as laws  # noqa: E402
import captures as mutate  # noqa: E402

CAPTURE = DATA / "interruption.snd.pcap.gz"
#: Laws that answers about these samples break today. A law is to be taken out as soon as it holds.
STILL_BROKEN = {
    "captures": {"agree: JSON"},
    "simulated": {"agree: JSON", "known"},
    "mutated": {"agree: JSON", "capacity", "rust", "vanished: burst"},
}


@pytest.fixture
def seen() -> laws.Seen:
    return laws.Seen.of(rx.capture(CAPTURE, threads=1))


def heaviest(seen: laws.Seen) -> dict[str, Any]:
    return max(seen.answers.values(), key=lambda a: a["client_bytes"] + a["server_bytes"])


def longer(answer: dict[str, Any]) -> None:
    answer["owed_s"] += Decimal(1)


def sure(answer: dict[str, Any]) -> None:
    first = answer["causes"][0]
    first["certainty"] = "open" if first["certainty"] != "open" else "likely"


def of_nothing(answer: dict[str, Any]) -> None:
    answer["causes"][0]["text"] = "0 packets were lost."


def early(answer: dict[str, Any]) -> None:
    answer["causes"][0]["last_s"] = answer["causes"][0]["first_s"]


def never_known(answer: dict[str, Any]) -> None:
    answer["causes"][0] |= {"cause": "loss-random", "certainty": "known"}


@pytest.mark.parametrize(
    ("law", "change", "broken"),
    [
        (laws.sums, longer, "sum"),
        (laws.sums, early, "whole"),
        (laws.sums, sure, "agree: JSON"),
        (laws.table, sure, "agree: table"),
        (laws.page, sure, "agree: page"),
        (laws.reported, sure, "agree: report"),
        (laws.words, of_nothing, "zero"),
        (laws.known, never_known, "known"),
    ],
)
def test_a_law_is_broken_by_what_it_forbids(
    seen: laws.Seen,
    law: Callable[[laws.Seen], Any],
    change: Callable[[dict[str, Any]], None],
    broken: str,
) -> None:
    assert broken not in {name for name, _ in law(seen)}
    change(heaviest(seen))
    assert broken in {name for name, _ in law(seen)}


def test_a_path_carries_what_it_carried(seen: laws.Seen) -> None:
    flow = max(seen.json["flows"], key=lambda f: f["acked_bytes"])
    flow["path"] |= {"capacity_bps": Decimal(1000), "at_least": False}
    assert {law for law, _ in laws.capacity(seen)} == {"capacity"}


@pytest.mark.parametrize("text", ["0 packets were lost.", "It fired 0 times.", "resent 0 segments"])
def test_an_event_that_was_counted_0_times(text: str) -> None:
    assert laws.COUNTED_NONE.search(text)


@pytest.mark.parametrize("text", ["10 packets were lost.", "1.0 segments", "It took 0 s.", "0 bytes/s"])
def test_counts_above_0(text: str) -> None:
    assert not laws.COUNTED_NONE.search(text.replace("bytes/s", "bps"))


def data(packet: int, time: int, seq: int) -> dict[str, Any]:
    return {"data": True, "packet": packet, "time": time, "seq": seq, "len": 100, "flags": 16, "ack": None}


def ack(packet: int, time: int, number: int, *sack: int) -> dict[str, Any]:
    row: dict[str, Any] = {"data": False, "packet": packet, "time": time, "len": 0, "flags": 16}
    row |= {"ack": number, "window_bytes": 1000, "seq": 0}
    for k in range(1, 5):
        row |= {f"sack{k}_{end}": None for end in ("start", "end")}
    if sack:
        row |= {"sack1_start": sack[0], "sack1_end": sack[1]}
    return row


def test_an_ack_proves_the_first_copy_only_before_the_second() -> None:
    rows = [data(1, 0, 1), data(2, 10, 101), ack(3, 20, 101), data(4, 30, 101), ack(5, 40, 201)]
    assert [row["packet"] for row, _ in arrivals.proved(rows)] == [1]


def test_a_sack_block_that_grows_proves_each_packet_once() -> None:
    rows = [data(n, n, 100 * n) for n in range(1, 5)]
    rows += [ack(5, 20, 100, 200, 300), ack(6, 30, 100, 200, 500)]
    assert [row["packet"] for row, _ in arrivals.proved(rows)] == [2, 3, 4]


def test_a_duplicate_ack_needs_data_outstanding() -> None:
    rows = [ack(1, 0, 1), ack(2, 5, 1), data(3, 10, 1), ack(4, 20, 1), ack(5, 30, 1), ack(6, 40, 101)]
    assert [row["packet"] for row in arrivals.duplicates(rows)] == [4, 5]


def test_a_claim_has_the_interval_of_its_sentence(seen: laws.Seen) -> None:
    text = "From 3.92 s on nothing that the client sent got through, for at least 0.9 s and at most 1.5 s."
    number, answer = next(iter(seen.answers.items()))
    cause = {"cause": "outage", "certainty": "likely", "text": text}
    found = [(c.start, c.end) for c in arrivals.of_sentence(seen, number, answer, cause)]
    assert found == [(3_925_000_000, 4_715_000_000)] * len(found)
    assert found


@pytest.mark.parametrize("mutation", mutate.MUTATIONS, ids=lambda m: str(m.__name__))
def test_a_seed_mutates_packets_alike(mutation: mutate.Mutation) -> None:
    packets = mutate.frames(mutate.plain(CAPTURE))
    assert packets
    few = mutate.window(random.Random(3), packets)
    assert mutation(random.Random(5), few) == mutation(random.Random(5), few)


def test_the_packets_that_are_written_are_those_that_were_read() -> None:
    packets = mutate.frames(mutate.plain(CAPTURE))
    assert packets
    assert mutate.frames(packets.pcap()) == packets


@pytest.mark.parametrize(
    ("part", "options"),
    [
        ("captures", ["--captures", str(DATA / "cases")]),
        ("simulated", ["--simulated", "12", "--seed", "20"]),
        ("mutated", ["--mutated", "60", "--seed", "3", "--base", str(DATA)]),
    ],
)
def test_a_few_answers_keep_the_laws(
    part: str, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[audit.Tally] = []
    run_part = audit.run_part
    monkeypatch.setattr(audit, "FUZZERS", [])
    monkeypatch.setattr(audit, "run_part", lambda *given: found.append(run_part(*given)) or found[-1])
    code = audit.main([*options, "--keep", str(tmp_path)])
    assert code == bool(found[0].laws)
    assert found[0].captures["answers"] >= 10
    assert set(found[0].laws) <= STILL_BROKEN[part]
