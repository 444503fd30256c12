"""The table of a flow's loss episodes: what each lost, what repaired it, what it took and why."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from rexmit import _core
from rexmit.captured.vantage import is_away
from rexmit.screen.text_table import aligned
from rexmit.screen.units import count, seconds, size

#: Rows of the episode table, at most; the rest is summed up in one line.
EPISODES = 8
Json = dict[str, Any]

REPAIRED_BY = {
    "timer-rto": "timer, RTO",
    "timer-probe": "timer, probe",
    "intermittent": "one a timeout",
    "needless": "nothing was lost",
    "unrepaired": "not repaired",
}


def weight(e: Json, end_s: float | None = None) -> tuple[float, float]:
    """What an episode cost, or how long it took where the cost is unknown; seconds. end_s: of the flow, until
    which one lasted that is open.
    """
    end = e.get("end_s") if e.get("end_s") is not None else end_s
    took = float(end) - float(e["start_s"]) if end is not None else 0.0
    return (took if e.get("cost_s") is None else float(e["cost_s"]), took)


def worst_episodes(episodes: Sequence[Json], most: int = EPISODES, end_s: float | None = None) -> list[Json]:
    """The costliest, in order of time. end_s: as `weight` has it."""

    chosen = sorted(episodes, key=lambda e: weight(e, end_s), reverse=True)[:most]
    return sorted(chosen, key=lambda e: float(e["start_s"]))


def episode_table(episodes: Sequence[Json], flow: Json, width: int) -> list[str]:
    """The episodes, aligned in `width` columns; the costliest if there are many."""
    shown = worst_episodes(episodes, end_s=flow.get("end_s"))
    head = ("#", "at", "lost", "repaired by", "silence", "timeouts", "took", "")
    rows = [_episode_row(e, flow) for e in shown]
    told = [head, *rows]
    lines = []
    for row, cells in zip(told, aligned([row[:-1] for row in told], left=(3,)), strict=True):
        line = f"  {cells}"
        words = wrap(row[-1], max(20, width - len(line) - 3), break_on_hyphens=False) or [""]
        lines.append(f"{line}   {words[0]}".rstrip())
        lines += [" " * (len(line) + 3) + more for more in words[1:]]
    total = max(int(flow.get("episode_count") or 0), len(episodes))
    if total > len(shown):
        lines.append(f"  … and {count(total - len(shown), 'shorter one', 'shorter ones')}")
    return lines


def _episode_row(e: Json, flow: Json) -> tuple[str, ...]:
    lost = e.get("lost_copies")
    lost = e.get("lost_segments") if lost is None else lost
    end, start = e.get("end_s"), float(e["start_s"])
    silence = e.get("silence_s")
    if is_away(flow) and silence is not None:
        # Lost data should have arrived in the silence before the timer's repair; a needless one has none.
        start = min([start, *_silences(e, flow)])
        silence = None if e["kind"] == "needless" else silence
    return (
        str(int(e["number"]) + 1),
        f"{start:.3f}",
        "?" if lost is None else f"{int(lost):,}",
        _repaired_by(e, flow),
        "" if silence is None else seconds(float(silence)),
        str(int(e.get("timeouts") or 0)),
        "open" if end is None else seconds(float(end) - start),
        why(e, flow),
    )


def _silences(e: Json, flow: Json) -> list[float]:
    """When each silence before a timer's repair in the episode began."""
    bursts = [b for b in flow.get("bursts") or () if b["episode"] == e["number"]]
    timers = [b for b in bursts if b["trigger"] == "timer-rto" and b["silence_s"] is not None]
    return [float(b["first_repair_s"]) - float(b["silence_s"]) for b in timers]


def _repaired_by(e: Json, flow: Json) -> str:
    kind = str(e["kind"])
    if kind == "intermittent" and not one_per_timeout(e):
        kind = str(e["trigger"])
    if kind == "ack":
        sack = (flow.get("handshake") or {}).get("sack_permitted")
        return "ack, SACK" if sack else "ack, duplicates"
    return REPAIRED_BY.get(kind, kind)


def one_per_timeout(e: Json) -> bool:
    """Whether about one segment was repaired a timeout, not that two timeouts fell into one repair."""
    return _core.one_per_timeout(
        str(e["kind"]), int(e.get("timeouts") or 0), int(e.get("lost_segments") or 0)
    )


def why(e: Json, flow: Json) -> str:
    """What made this episode what it was, in words; empty where there is nothing to add."""
    kind, words = str(e["kind"]), []
    window = size(float(e.get("flight_bytes") or 0))
    # Where data arrives it does not show what held its sender back.
    far = is_away(flow)
    if kind in ("timer-rto", "timer-probe", "intermittent") and not far:
        limit = str(e.get("limit"))
        few = float(e.get("flight_bytes") or 0) <= 4 * float(flow.get("mss") or 1460)
        if limit == "application":
            words.append("tail lost: nothing behind it")
        elif few:
            words.append("too little in flight")
        elif limit == "receive-window":
            words.append(f"receiver's window ({window}) sent out")
        elif limit == "sender-window":
            words.append(f"window ({window}) sent out")
    if one_per_timeout(e):
        words.append("one segment a timeout")
    if kind == "unrepaired":
        words.append("not repaired by the end")
    if kind == "ack" and int(e.get("timeouts") or 0) > 0 and not far:
        words.append("the timer had to help")
    if int(e.get("max_backoff") or 0) > 0:
        words.append(f"{int(e['max_backoff']) + 1} timeouts in a row")
    copies, segments = e.get("lost_copies"), e.get("lost_segments")
    if copies is not None and segments is not None and int(copies) > int(segments):
        words.append(f"{count(int(copies) - int(segments), 'repair')} lost too")
    if int(e.get("needless") or 0) > 0:
        words.append(f"{int(e['needless']):,} needless")
    return "; ".join(words)
