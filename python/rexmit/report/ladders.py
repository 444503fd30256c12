"""Packet exchanges of episodes as plain values."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rexmit import ladder

if TYPE_CHECKING:
    from rexmit.frame import Frame
    from rexmit.report.packets import Packets

Row = dict[str, Any]

#: Ladders that are drawn beforehand: those of the costliest episodes.
MOST_LADDERS = 24
STEP = (
    *("to_receiver", "kind", "first_s", "last_s", "packets", "segments", "seq_start", "seq_end"),
    *("ack_first", "ack_last", "sack", "dsack", "cause", "lost", "needless", "folded"),
)


def ladders(
    flow: Row,
    episodes: Sequence[Row],
    bursts: Sequence[Row],
    packets: Callable[[Row], Frame],
    resent: Frame,
) -> dict[str, Row]:
    """The exchanges of the costliest episodes, by the episode's number.

    flow, episodes, bursts: rows as the tables have them.  packets: those around an episode.
    """
    chosen = heapq.nlargest(MOST_LADDERS, episodes, key=costliest)
    made = {}
    for episode in chosen:
        try:
            built = ladder.build(packets(episode), episode, bursts, flow, resent)
        except ValueError:  # none of its packets is in the capture
            continue
        made[str(int(episode["number"]))] = exchange(built)
    return made


def costliest(episode: Row) -> tuple[float, int]:
    """The more an episode cost, and the more it lost, the greater."""
    return episode.get("cost_s") or 0.0, episode["lost_segments"]


def exchange(built: ladder.Ladder) -> Row:
    """A ladder as plain values."""
    return {
        "number": built.number - 1,
        "one_way_s": built.one_way_s,
        "observed": built.observed,
        "start_s": built.start_s,
        "end_s": built.end_s,
        "headline": built.headline,
        "silences": built.silences,
        "steps": [step(one) for one in built.steps],
    }


def step(one: ladder.Step) -> Row:
    """A step of a ladder as plain values."""
    told = {name: getattr(one, name) for name in STEP}
    return told | {"label": one.label(), "remark": one.remark(), "packets_of": one.numbers}


def window_ns(episode: Row, bursts: Sequence[Row], last_ns: int) -> tuple[int, int]:
    """From when to when the packets of an episode lie, ns since the origin."""
    mine = [float(b["start"]) for b in bursts if b.get("episode") == episode["number"]]
    start = round(min([float(episode["start"]), *mine]) * 1e9)
    end = last_ns if episode.get("end") is None else round(float(episode["end"]) * 1e9)
    # Tables count in doubles of seconds.
    return start - 1, end + 1


def packets_of(store: Packets, number: int, since: str, around: tuple[int, int]) -> Frame:
    """The packets of a flow in a stretch of time, and two more at each end."""
    rows, whole_flow = store.within(number, *around), store.of(number)
    wider = slice(max(whole_flow.start, rows.start - 2), min(whole_flow.stop, rows.stop + 2))
    return store.frame(wider, since)
