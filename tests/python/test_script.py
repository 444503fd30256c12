"""A stack's endpoint driven by a script."""

from __future__ import annotations

from typing import Any

import pytest

import rexmit as rx


def opened(acks: int, rtt: float = 0.03) -> list[dict[str, Any]]:
    """A transfer whose first `acks` segments were acknowledged one by one, each after a round trip."""
    events: list[dict[str, Any]] = [{"at": 0, "write": 200}]
    # Slow start from one segment: 1, 2, 4 … of them in each round trip.
    rounds = [k.bit_length() for k in range(1, acks + 1)]
    return events + [{"at": r * rtt + 1e-4 * k, "ack": k} for k, r in enumerate(rounds, 1)]


def test_table_ii_of_paper_rto_through_the_whole_sender() -> None:
    events = opened(7)
    start = float(events[-1]["at"])
    # Segment 7 is lost on the way back four times; what then comes echoes its first copy.
    events += [{"at": start + 3.005, "ack": 10, "echo": start - 2e-4}]
    events += [{"at": start + 3.025, "ack": 12}, {"at": start + 3.045, "ack": 14}]
    steps = rx.script("linux-2.2", events, rtt=0.03)
    rows = [(r["cwnd"], r["ssthresh"], r["backoff"], r["loss_timeouts"]) for r in steps[-8:]]
    assert rows[0] == (8, None, 0, 0)
    assert rows[1:5] == [(1, 4, k, k) for k in (1, 2, 3, 4)]
    assert [r["event"] for r in steps[-7:-3]] == ["timer"] * 4
    assert [r["packets_out"] for r in steps[-8:-3]] == [8] * 5
    # The back-off outlives the segment that earned it: about a minute and a half for one more loss.
    assert [r["backoff"] for r in steps[-3:]] == [4, 4, 4]
    assert [r["cwnd"] for r in steps[-3:]] == [2, 3, 4]
    assert steps[-3]["srtt_s"] == pytest.approx(0.4, abs=0.02)
    assert steps[-3]["rto_s"] == pytest.approx(95.2, rel=0.05)
    assert steps[-1]["rto_s"] == pytest.approx(57.86, rel=0.05)
    cured = rx.script("linux-2.2-cured", events, rtt=0.03)
    assert cured[-3]["backoff"] == 0
    assert cured[-3]["rto_s"] == pytest.approx(steps[-3]["rto_s"] / 16, rel=0.05)


def test_a_script_reads_like_an_exchange() -> None:
    steps = rx.script(
        "rfc-sack",
        [
            {"at": 0, "write": 30},
            {"at": 0.1, "ack": 2},
            {"at": 0.11, "ack": 2, "sack": [(3, 4)]},
            {"at": 0.12, "ack": 2, "sack": [(3, 5)]},
            {"at": 0.13, "ack": 2, "sack": [(3, 6)]},
            {"at": 0.2, "data": (1, 2)},
        ],
    )
    assert steps[0]["sent"][0]["why"] == "new"
    assert steps[4]["phase"] == "recovery"
    first = steps[4]["sent"][0]
    assert (first["segment"], first["why"]) == (2, "recovery")
    [answer] = steps[5]["sent"][-1:]
    assert answer["ack"] == 0
    assert answer["sack"] == [{"start": 1448, "end": 2896}]
    text = repr(steps)
    assert "2 recovery" in text
    assert "ACK 2 SACK 3-6" in text
    table = steps.table.to_polars()
    assert table["cwnd_bytes"].to_list() == [row["cwnd_bytes"] for row in steps]


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([{"at": 0, "wirte": 1}], "event 0: .* needs one of write, ack, data, close, wait"),
        ([{"at": 0, "write": 1, "sack": []}], "event 0: sack is no key beside write: at, write"),
        ([{"ack": 1}], "event 0: it needs a time"),
        ([{"at": 1, "ack": 0}, {"at": 0.5, "ack": 1}], "event 1: 0.5 s is before 1 s"),
        ([{"at": 0, "ack": -1}], "a whole number from 0 up"),
    ],
)
def test_an_event_that_is_none_is_told_with_its_place(events: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        rx.script("rfc-sack", events)


def test_a_stack_that_hears_no_segments_is_refused() -> None:
    with pytest.raises(rx.ScenarioError, match="is a one-way agent"):
        rx.script("ns2-reno", [])
    with pytest.raises(rx.ScenarioError, match="did you mean"):
        rx.script("linux-2.6-ren", [])
