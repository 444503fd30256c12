"""Packet exchanges of episodes as plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import ladder

if TYPE_CHECKING:
    from rexmit.frame import Frame

Row = dict[str, Any]

#: Ladders that are drawn beforehand: those of the costliest episodes.
MOST_LADDERS = 24
#: An episode of more packets is drawn where somebody asks for it.
MOST_PACKETS = 50_000
#: Packets before and after an episode that its ladder shows.
MARGIN = 2
STEP = (
    *("to_receiver", "kind", "first_s", "last_s", "packets", "segments", "seq_start", "seq_end"),
    *("ack_first", "ack_last", "sack", "dsack", "cause", "lost", "needless", "folded"),
)


def costliest(episodes: Frame, most: int) -> list[Row]:
    """Those that cost most, then those that lost most, the worst first; rows of the table."""
    if not len(episodes) or most < 1:
        return []
    cost = np.nan_to_num(episodes["cost_s"], nan=0.0)
    order = np.lexsort((episodes["number"], -episodes["lost_segments"], -cost))[:most]
    chosen = np.zeros(len(episodes), dtype=bool)
    chosen[order] = True
    rows = {row["number"]: row for row in episodes.where(chosen).rows()}
    return [rows[int(episodes["number"][k])] for k in order]


def ladders(
    flow: Row,
    episodes: Sequence[Row],
    bursts: Sequence[Row],
    packets: Callable[[Row], Frame | None],
    resent: Frame,
) -> dict[str, Row]:
    """The exchanges of episodes, by the episode's number.

    flow, episodes, bursts: rows as the tables have them.  packets: those around an episode, None if it has
    too many.
    """
    made = {}
    for episode in episodes:
        around = packets(episode)
        if around is None or not len(around):
            continue
        built = ladder.build(around, episode, bursts, flow, resent)
        made[str(int(episode["number"]))] = exchange(built)
    return made


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
