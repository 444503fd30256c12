"""The oracle: who owned each moment of a simulated conversation, from the simulator's own tables.

It imports nothing of the analysis, and reads only what the bench knows: when programs wrote and read, what
kept senders from sending, which packets waited for the slowest link, which were lost, kept back or made late,
and why.

Each moment in which something is owed has one owner. Owed are the handshake, data that a program has written
or wants to write and that has not arrived, and a message that a program will write. In this order:

1. The connection is not established: `handshake`.
2. The sender waits for room in a window that unread data has closed: `receiver-not-reading`.
3. The slowest link is busy with data of the conversation: `policer` once a policer has dropped some of it;
   else `shared-bottleneck` while the link sends a packet of another conversation, `bottleneck` while it
   sends one of this one. In a message of at most ten segments: `standing-queue` and `request-response`.
4. Packets are kept back: `packets-held`. The first missing byte was lost or overtaken: the cause of that,
   which is the last loss of it. From the moment on at which the timer of RFC 6298 would have expired:
   `sender-stalled` if three duplicate ACKs had reported the loss, and else `timer`.
5. Nothing is under way: `delayed-ack` where the receiver holds an ACK, and where an ACK was lost the cause
   of its loss.
6. The sender has data and does not send: `receive-window`, `send-window`, `pacing`; where cwnd holds it, the
   cause of the loss that cut cwnd last (a lost SYN leaves one segment: `handshake`), and `slow-start` before.
7. All is under way: `sender-idle` if the same program writes next, else `request-response`.
8. Nothing is under way and a program writes later: `sender-idle`, by that program.

`reset` and `nothing` are answers, not owners. Where the removal test showed an order wrong it was changed:

- Other flows own the time in which the link sends their packets, not all of the time in which they take 10%
  of the link: without a flow that takes 10%, a transfer is 10% shorter.
- A sender that ignores duplicate ACKs owns the time after the timer of RFC 6298 only: without the loss it
  would not have waited at all.
- The last half round trip of a large message is `request-response`, too: neither a faster link nor a larger
  window makes it shorter.
- While a message is under way and the same program writes the next one at a time of its own, nobody waits
  for the arrival: `sender-idle`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from situation.direction import SECOND, Direction
from situation.evidence import Evidence
from situation.replay import Replay

#: Less than so much time, or than so many round trips, explains itself.
SHORT_NS, SHORT_ROUND_TRIPS = 50_000_000, 2.5


@dataclass(frozen=True)
class Moment:
    """[begin, end) belongs to `cause`; `by` says which program of `sender-idle`."""

    begin_ns: int
    end_ns: int
    cause: str
    by: str | None = None

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.begin_ns


@dataclass(frozen=True)
class Truth:
    """cause: the answer.  by: of `sender-idle`, the program.  seconds: by owner; they add up to `owed_s`."""

    cause: str
    by: str | None
    seconds: dict[str, float]
    owed_s: float
    moments: list[Moment]

    def until(self, end_s: float) -> dict[str, float]:
        """The seconds of each owner up to a time of the run."""
        spent: dict[str, float] = {}
        for m in self.moments:
            within = min(m.end_ns / SECOND, end_s) - m.begin_ns / SECOND
            if within > 0:
                spent[m.cause] = spent.get(m.cause, 0.0) + within
        return spent

    def to_json(self) -> dict[str, Any]:
        rows = [[m.begin_ns / SECOND, m.end_ns / SECOND, m.cause, m.by] for m in self.moments]
        told = {"cause": self.cause, "by": self.by, "owed_s": self.owed_s, "seconds": self.seconds}
        return told | {"moments": rows}

    def __str__(self) -> str:
        seconds = ", ".join(f"{cause} {s:.3f}" for cause, s in self.seconds.items())
        by = f" ({self.by})" if self.by else ""
        return f"{self.cause}{by}: {self.owed_s:.3f} s: {seconds}"


def explain(evidence: Evidence) -> Truth:
    """The owners of a conversation's time."""
    replay = Replay(evidence)
    moments = list(_merged(m for begin, end in replay.intervals() for m in _owners(replay, begin, end)))
    spent: dict[str, int] = {}
    idle = {"client": 0, "server": 0}
    for m in moments:
        spent[m.cause] = spent.get(m.cause, 0) + m.length_ns
        if m.by:
            idle[m.by] += m.length_ns
    owed = sum(spent.values())
    ranked = dict(sorted(spent.items(), key=lambda item: -item[1]))
    cause = _answer(ranked, owed, replay)
    by = max(idle, key=lambda side: idle[side]) if cause == "sender-idle" else None
    return Truth(cause, by, {name: ns / SECOND for name, ns in ranked.items()}, owed / SECOND, moments)


def _answer(ranked: dict[str, int], owed: int, replay: Replay) -> str:
    if replay.was_reset:
        return "reset"
    # One exchange takes two round trips with its handshake, and the time in which its packets are sent.
    short = max(SHORT_NS, SHORT_ROUND_TRIPS * (replay.round_trip or 0))
    if not ranked or (owed < short and replay.is_complete):
        return "nothing"
    return max(ranked, key=lambda name: ranked[name])


def _merged(moments: Iterator[Moment]) -> Iterator[Moment]:
    last: Moment | None = None
    for m in moments:
        if last and (last.cause, last.by, last.end_ns) == (m.cause, m.by, m.begin_ns):
            last = Moment(last.begin_ns, m.end_ns, m.cause, m.by)
            continue
        if last:
            yield last
        last = m
    if last:
        yield last


def _owners(replay: Replay, begin: int, end: int) -> Iterator[Moment]:
    """The owners of an interval in which nothing happens: several where a timer should have expired in it."""
    while begin < end:
        owner, until = _owner(replay, begin)
        until = min(end, until or end)
        if owner:
            cause, _, by = owner.partition(" by ")
            yield Moment(begin, until, cause, by or None)
        begin = until


def _owner(replay: Replay, now: int) -> tuple[str | None, int | None]:
    """The owner of the moment, and until when at most it is, if that is before the next row."""
    if not replay.established:
        return "handshake", None
    awaited = [way for way in replay.ways.values() if way.is_awaited]
    if not awaited:
        return (_idle(replay.coming[1]) if replay.coming else None), None
    busy = [way for way in awaited if way.is_busy]
    way = max(busy or awaited, key=replay.ends_at)
    back = replay.ways[not way.from_client]
    if way.is_shut_by_reader:
        return "receiver-not-reading", None
    if way.is_busy:
        return _busy(way), None
    if any(kept.cause == "packets-held" for kept in (*way.kept.values(), *back.kept.values())):
        return "packets-held", None
    missing = way.hole()
    if missing:
        return _missing(way, missing, now)
    return _unanswered(way, back) or _limit(replay, way), None


def _idle(is_client: bool) -> str:
    return f"sender-idle by {'client' if is_client else 'server'}"


def _busy(way: Direction) -> str:
    if way.policed:
        return "policer"
    other = way.serving == "other"
    if way.is_small:
        return "standing-queue" if other else "request-response"
    return "shared-bottleneck" if other else "bottleneck"


def _missing(way: Direction, missing: str, now: int) -> tuple[str, int | None]:
    expires = way.active_at + way.allowed_wait()
    if missing == "path-died":
        return missing, None
    if now < expires:
        return missing, expires
    return "sender-stalled" if way.state["dupacks"] >= 3 else "timer", None


def _unanswered(way: Direction, back: Direction) -> str | None:
    """X waits for an ACK that Y holds back, or that was lost on its way."""
    if way.acknowledged >= way.arrived or any(end > way.arrived for _, end, _ in way.under_way.values()):
        return None
    coming = max((acknowledges for _, _, acknowledges in back.under_way.values()), default=-1)
    if way.acknowledged < back.lost_ack and coming < back.lost_ack:
        return back.lost_ack_cause
    if back.acknowledges < way.arrived and coming <= way.acknowledged:
        return "delayed-ack"
    return None


def _limit(replay: Replay, way: Direction) -> str:
    """The owner where the sender could send: its window, its pacing or its program holds it."""
    if way.by == "receive-window":
        return "receive-window"
    if way.by == "send-buffer":
        return "send-window"
    if way.by == "cwnd" or (way.by == "pacing" and way.cut):
        return way.cut or "slow-start"
    if way.by == "pacing":
        return "policer" if way.policed else "pacing"
    if way.by == "application" and replay.coming and replay.coming[1] == way.from_client:
        return _idle(way.from_client)
    return "request-response"
