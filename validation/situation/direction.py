"""One direction of a conversation as the oracle replays it: which data was written, sent, lost and kept back.

X is the host that sends the data of the direction, Y the host that receives it. Offsets count payload from 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]

#: Most segments of a message that no window limits (the usual initial window).
SMALL_SEGMENTS = 10
SECOND = 1_000_000_000


@dataclass(frozen=True)
class Affected:
    """A copy that was lost, kept back or made late: [start, end) of the stream, and why."""

    start: int
    end: int
    cause: str


@dataclass
class Direction:
    from_client: bool
    segment: int = 1460
    written: int = 0
    unwritten: int = 0
    #: Where the message under way begins: all before it had arrived when the program wrote.
    message_from: int = 0
    next_new: int = 0
    arrived: int = 0
    #: Arrived beyond a hole: start to end.
    beyond: dict[int, int] = field(default_factory=dict)
    #: Copies of X (data and ACKs) on their way: copy number to (start, end, what it acknowledges).
    under_way: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    lost: list[Affected] = field(default_factory=list)
    kept: dict[int, Affected] = field(default_factory=dict)
    kept_before: list[Affected] = field(default_factory=list)
    #: Copies that wait for the slowest link.
    waiting: set[int] = field(default_factory=set)
    #: Whose packet the slowest link sends: "own", "other", or nobody's.
    serving: str | None = None
    serving_until: int = 0
    policed: bool = False
    #: The highest number that X has acknowledged, and the lost ACK with the highest number.
    acknowledges: int = 0
    lost_ack: int = -1
    lost_ack_cause: str = "ack-loss"
    #: What X does: the newest rows of `blocked` and `state`.
    by: str = "handshake"
    offered_most: int = 0
    state: Row = field(default_factory=dict)
    #: The cause of the cut that holds cwnd down, and what it was before the last cut.
    cut: str | None = None
    cut_before: tuple[str | None, float | None] = (None, None)
    #: The last moment at which X sent a packet or one arrived at X.
    active_at: int = 0

    @property
    def wanted(self) -> int:
        """All that the program has written or wants to write."""
        return self.written + self.unwritten

    @property
    def is_awaited(self) -> bool:
        return self.wanted > self.arrived

    @property
    def is_small(self) -> bool:
        return self.wanted - self.message_from <= SMALL_SEGMENTS * self.segment

    @property
    def is_busy(self) -> bool:
        """A packet of this direction waits for the slowest link, or is being sent there."""
        return bool(self.waiting) or self.serving == "own"

    @property
    def is_shut_by_reader(self) -> bool:
        """X waits for room in Y's window, and data that Y's program has not read takes most of it."""
        return self.by == "receive-window" and 2 * self.state["peer_window_bytes"] <= self.offered_most

    @property
    def acknowledged(self) -> int:
        """How much X knows to have arrived (SND.UNA)."""
        una: int = self.state.get("una", 1)
        return max(0, una - 1)

    def writes(self, bytes_: int, left: int) -> None:
        if not self.is_awaited:
            self.message_from = self.written
        self.written += bytes_
        self.unwritten = left

    def sends(self, copy: int, start: int, payload: int, acknowledges: int, now: int) -> None:
        self.under_way[copy] = (start, start + payload, acknowledges)
        self.acknowledges = max(self.acknowledges, acknowledges)
        self.next_new = max(self.next_new, start + payload if payload else 0)
        self.active_at = now

    def arrives(self, copy: int, start: int, payload: int) -> None:
        self.under_way.pop(copy, None)
        kept = self.kept.pop(copy, None)
        if kept:
            self.kept_before.append(kept)
        if not payload:
            return
        self.beyond[start] = max(self.beyond.get(start, 0), start + payload)
        for begin in sorted(self.beyond):
            if begin > self.arrived:
                break
            self.arrived = max(self.arrived, self.beyond.pop(begin))

    def loses(self, copy: int, payload: int, cause: str) -> None:
        start, end, acknowledges = self.under_way.pop(copy, (0, 0, 0))
        self.waiting.discard(copy)
        if payload:
            self.lost.append(Affected(start, end, cause))
            self.policed |= cause == "policer"
        if acknowledges > self.lost_ack:
            self.lost_ack = acknowledges
            self.lost_ack_cause = cause if payload or cause in ("outage", "path-died") else "ack-loss"

    def keeps(self, copy: int, cause: str) -> None:
        start, end, _ = self.under_way.get(copy, (0, 0, 0))
        self.kept[copy] = Affected(start, end, cause)

    def hole(self) -> str | None:
        """Why the first missing byte did not arrive, if a copy of it was lost or kept back."""
        if self.arrived >= self.next_new:
            return None
        return self._why_missing(self.arrived)

    def _why_missing(self, byte: int) -> str | None:
        found = [x for x in self.lost if x.start <= byte < x.end]
        if found:
            return found[-1].cause
        for kept in self.kept.values():
            if kept.start <= byte < kept.end and (kept.cause == "packets-held" or self.beyond):
                return kept.cause
        return None

    def why_resent(self, back: Direction) -> str:
        """Why X took the byte at SND.UNA for lost. back: the direction of the ACKs."""
        byte = self.acknowledged
        missing = self._why_missing(byte)
        if missing:
            return missing
        if back.lost_ack > byte:
            return back.lost_ack_cause
        held = [k.cause for k in (*self.kept_before, *self.kept.values()) if k.start <= byte < k.end]
        held += [k.cause for k in back.kept.values() if k.cause == "packets-held"]
        if held:
            return held[-1]
        return "timer" if self.state.get("phase") == "loss" else "reordering"

    def changes(self, row: Row, back: Direction) -> None:
        """A new row of `state`: remembers what cut cwnd, and forgets a cut that was taken back."""
        before = self.state
        self.state = row
        self.offered_most = max(self.offered_most, row["peer_window_bytes"] or 0)
        self.segment = row.get("smss_bytes") or self.segment
        if row["phase"] != "open" and before.get("phase", "open") == "open":
            self.cut_before = (self.cut, before.get("ssthresh_bytes"))
            self.cut = self.why_resent(back)
        elif row["phase"] == "loss" and before.get("phase") == "recovery":
            self.cut = self.why_resent(back)
        elif row["phase"] == "open" and before.get("phase") in ("recovery", "loss"):
            cause, threshold = self.cut_before
            now = row.get("ssthresh_bytes")
            if now is None or (threshold is not None and now >= threshold):
                self.cut = cause

    def allowed_wait(self) -> int:
        """The longest wait for a repair that RFC 6298 allows, its back-off included."""
        srtt, var = self.state.get("srtt_s"), self.state.get("rttvar_s") or 0.0
        wait = 1.0 if srtt is None else max(1.0, srtt + 4 * var)
        return round(min(60.0, wait * 2.0 ** min(self.state.get("backoff") or 0, 6)) * SECOND)
