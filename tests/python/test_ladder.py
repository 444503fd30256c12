"""Ladders: runs of alike packets are folded, what a timer sent is not, and labels are tcpdump's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rexmit.captured import ladder
from rexmit.captured.ladder import Step
from rexmit.captured.lost import copies
from rexmit.frame import Frame
from story import Story, arrow


def data(at: float, first: int, n: int = 1448, **more: object) -> Step:
    return Step(True, "new", at, at, seq_start=first, seq_end=first + n, **more)  # type: ignore[arg-type]


def test_labels_are_written_as_tcpdump_does() -> None:
    assert data(0, 1967433).label() == "1967433:1968881(1448)"
    ack = Step(False, "ack", 0, 0, ack_first=1965985, ack_last=1965985)
    assert ack.label() == "ack 1965985"
    sack = replace(ack, kind="duplicate", sack=((2094857, 2096305), (3000000, 3001448)))
    assert sack.label() == "ack 1965985, SACK 2094857-2096305 3000000-3001448"
    dsack = replace(sack, kind="dsack", dsack=True)
    assert dsack.label() == "ack 1965985, DSACK 2094857-2096305, SACK 3000000-3001448"


def test_a_run_of_alike_packets_is_one_step() -> None:
    run = [data(i * 0.001, 1 + i * 1448) for i in range(88)]
    [folded] = ladder._fold(run, quiet_s=0.02)
    assert folded.packets == 88
    assert folded.label() == f"… 88 segments, 1:{1 + 88 * 1448}"


def test_three_packets_stay_three_arrows() -> None:
    run = [data(i * 0.001, 1 + i * 1448) for i in range(3)]
    assert ladder._fold(run, quiet_s=0.02) == run


def test_a_pause_ends_a_run() -> None:
    run = [data(i * 0.001, 1 + i * 1448) for i in range(5)] + [
        data(1 + i * 0.001, 9000 + i) for i in range(6)
    ]
    assert [s.packets for s in ladder._fold(run, quiet_s=0.02)] == [5, 6]


def test_lost_and_delivered_packets_are_not_alike() -> None:
    run = [data(i * 0.001, 1 + i, lost=4 <= i < 9) for i in range(14)]
    assert [(s.packets, s.lost) for s in ladder._fold(run, quiet_s=0.02)] == [
        (4, False),
        (5, True),
        (5, False),
    ]


def test_the_first_repair_of_a_run_stands_alone() -> None:
    run = [replace(data(i * 0.001, 1 + i), kind="repair", cause="recovery") for i in range(10)]
    assert [s.packets for s in ladder._fold(run, quiet_s=0.02)] == [1, 9]


def test_the_middle_of_a_long_exchange_is_summed_up_and_timeouts_stay() -> None:
    found = [
        replace(data(i * 1.0, 1 + i), kind="repair", cause="recovery" if i % 2 else None) for i in range(200)
    ]
    found[100] = replace(found[100], cause="timeout")
    folded = ladder.fold_middle(found, 40)
    assert len(folded) <= 44
    assert found[100] in folded
    assert folded[:10] == found[:10]
    assert folded[-10:] == found[-10:]
    assert sum(s.segments for s in folded) == 200
    assert any("repairs" in s.label() for s in folded)


def test_an_outage_reads_as_loss_silence_and_repair(story: Story, frames: dict[str, Frame]) -> None:
    first, second = frames["episodes"].rows()
    flow, bursts = frames["flows"].rows()[0], frames["bursts"].rows()
    exchange = ladder.build(frames["packets"], first, bursts, flow, frames["retransmissions"])
    labels = [s.label() for s in exchange.steps]
    lost = next(s for s in exchange.steps if s.lost)
    assert lost.segments == first["lost_copies"] == 109
    assert "ack 1251073, SACK 1408905-1410353" in labels
    trigger = labels.index("ack 1251073, SACK 1408905-1410353")
    assert labels[trigger + 1] == "1251073:1252521(1448)", "the repair follows the ACK that set it off"

    text = ladder.text(ladder.build(frames["packets"], second, bursts, flow, frames["retransmissions"]))
    assert text[0] == "episode 2: 243 copies lost, repaired after a timeout, 2 timeouts, cost 1.18 s"
    silent = next(i for i, line in enumerate(text) if "no data sent for 312 ms" in line)
    assert "again: timeout, lost" in text[silent + 1]
    assert not any(line != line.rstrip() for line in text)


def test_needless_repairs_and_lost_acks_are_told(frames: dict[str, Frame]) -> None:
    first = frames["episodes"].rows()[0] | {"lost_acks": 7}
    resent = frames["retransmissions"].rows()
    number = resent[1]["packet"]
    rows = [row | {"needless": row["packet"] == number} for row in resent]
    again = Frame(arrow(rows), 0)
    exchange = ladder.build(
        frames["packets"], first, frames["bursts"].rows(), frames["flows"].rows()[0], again
    )
    [needless] = [s for s in exchange.steps if s.needless]
    assert (needless.packets, needless.remark()) == (1, "again: fast recovery, needless")
    [lost] = [s for s in exchange.steps if s.kind == "lost-acks"]
    assert (lost.label(), lost.lost) == ("… 7 ACKs lost on the way", True)
    assert (lost.first_s, lost.last_s) == (first["start"], first["first_repair"])
    assert any("✕" in line and line.endswith("7 ACKs lost on the way") for line in ladder.text(exchange))


def test_at_the_receiver_a_lost_run_is_a_hole(story: Story, frames: dict[str, Frame]) -> None:
    first = frames["episodes"].rows()[0]
    flow = frames["flows"].rows()[0] | {"vantage": "receiver", "handshake_s": 0.042}
    exchange = ladder.build(
        frames["packets"], first, frames["bursts"].rows(), flow, frames["retransmissions"]
    )
    holes = [s for s in exchange.steps if s.kind == "hole"]
    assert [h.label() for h in holes] == ["… 109 segments missing, 1251073:1408905"]
    assert exchange.observed == "receiver"
    assert exchange.one_way_s == pytest.approx(0.021), "its own ACKs say nothing about the path"


def test_a_capture_without_the_packets_says_so(frames: dict[str, Frame], story: Story) -> None:
    nothing = frames["packets"].where(frames["packets"]["time"] < 0)
    with pytest.raises(ValueError, match="no packets of episode 1"):
        ladder.build(
            nothing, frames["episodes"].rows()[0], [], frames["flows"].rows()[0], frames["retransmissions"]
        )


def test_super_packets_count_as_the_segments_they_hold() -> None:
    rows = [
        {"packet": i, "time": i * 0.001, "data": True, "seq": 1 + i, "len": n}
        | {"cause": None, "ack": None, "dsack": False}
        | {f"sack{k}_{end}": None for k in range(1, 5) for end in ("start", "end")}
        for i, n in enumerate([1448] * 9 + [1448 * 40])
    ]
    frame = Frame(arrow(rows), 1_700_000_000_000_000_000)
    found = ladder._singles(frame, [], 1448, np.array([]))
    assert [s.segments for s in found] == [1] * 9 + [40]


def test_a_copy_that_left_in_the_instant_of_the_first_lost_one_is_not_lost() -> None:
    # The bytes of the burst reach back to a repair that was lost with it.
    sent = [(0.0, 1448), (0.0, 2896), (0.001, 4344), (0.002, 1)]
    rows = [{"time": at, "data": True, "seq": seq, "len": 1448} for at, seq in sent]
    frame = Frame(arrow(rows), 1_700_000_000_000_000_000)
    burst = {"start": 0.0, "last": 0.002, "lost_copies": 3, "seq_start": 1, "seq_end": 4344 + 1448}
    assert list(copies(frame, [burst])) == [0, 1, 1, 1]


def test_an_episode_that_cost_nothing_costs_no_less_than_nothing() -> None:
    episode = {"lost_copies": 2, "kind": "ack", "timeouts": 0, "cost_s": -1.31}
    assert ladder.headline(episode, []).endswith("cost 0.00 s")


def test_the_first_repair_of_an_episode_is_not_summed_up() -> None:
    found = [replace(data(i * 1.0, 1 + i), lost=i % 2 == 0) for i in range(120)]
    found[70:] = [replace(s, kind="repair", cause="recovery") for s in found[70:]]
    folded = ladder.fold_middle(found, 40)
    assert found[70] in folded
    assert sum(s.segments for s in folded) == 120


def test_few_timeouts_for_many_copies_are_not_one_segment_a_timeout() -> None:
    episode = {"lost_copies": 33, "lost_segments": 33, "kind": "intermittent", "timeouts": 2}
    said = "33 copies lost, repaired with progress between its timeouts, 2 timeouts"
    assert ladder.headline(episode, []) == said
    slow = episode | {"timeouts": 33}
    assert "repaired one segment per timeout" in ladder.headline(slow, [])
