"""What the hosts do: what the applications write and when, the windows of both, and how ACKs come."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rexmit.fitted.seen import Seen
from rexmit.fitted.value import Value, bound, median, unknown

#: An application that is waited for in so much of the time writes less than the path would take.
IDLE = 0.3
#: A flight within this share of the peer's window was limited by it.
LIMITED = 0.9
#: A cause with a smaller share of the time limited nothing.
LITTLE = 0.1
#: Messages of a program that show a habit.
MESSAGES = 3
#: A pause of so many round trips between an answer and the next request is the program's, and of so many s.
THINKS, AT_ONCE = 0.02, 0.0005
#: Packets that leave within this time were written together, s (docs/definitions.md: what released a packet).
TOGETHER = 100e-6
#: What of the answer's causes says that the receiver's window limited.
BY_WINDOW = ("receive-window", "receiver-not-reading")
#: Where data leaves evenly, the answer takes the sender to pace it, or to have no more buffer.
SPACED = ("pacing", "send-window", "sender-idle")
MOSTLY = 0.5
BY_APPLICATION = ("sender-idle", "request-response")


@dataclass(frozen=True)
class Hosts:
    """workload: as a scenario has it (docs/scenario.md).  source: where it comes from.

    from_client: the host that opened the connection sends the data.  window: the peer's largest, bytes,
    where it
    limited.  own_window: the largest that the sender's host offered.  buffer: the most that the sender had in
    flight.  others: share of what arrived that other flows of the capture brought.
    """

    workload: dict[str, Any]
    source: str
    from_client: bool
    window: Value
    own_window: Value
    buffer: Value
    others: Value


def of(seen: Seen) -> Hosts:
    """Of the connection."""
    workload, source = _workload(seen)
    return Hosts(
        workload,
        source,
        seen.flow.sender == seen.answer.get("client", seen.flow.sender),
        _window(seen),
        _own_window(seen),
        _buffer(seen),
        _others(seen),
    )


def _others(seen: Seen) -> Value:
    own = seen.path.get("own_share")
    if own is None:
        return unknown("share", "the capture does not show it")
    share = max(0.0, 1.0 - own)
    return Value(share, share, share, "share", "what other flows of the capture brought on the same path")


def _workload(seen: Seen) -> tuple[dict[str, Any], str]:
    answer, size = seen.answer, int(seen.row["bytes"])
    client, server = answer.get("client_messages") or 0, answer.get("server_messages") or 0
    turns = max(client, server)
    if turns >= MESSAGES and min(answer["client_bytes"], answer["server_bytes"]) > 0:
        return _turns(seen, turns)
    if turns >= MESSAGES and seen.share_of(BY_APPLICATION) >= IDLE:
        return _written(seen), f"{turns:,} messages with pauses between them"
    spaced = seen.share_of(SPACED) >= MOSTLY or (
        seen.path.get("at_least") and seen.share_of(BY_WINDOW) < LITTLE
    )
    if not seen.row["lost_copies"] and (_regular(seen) or (spaced and _even(seen))):
        words = "data left evenly, although path and windows had room; how it was written is not known"
        return _written(seen), words
    if seen.row["closed"] == "open" and seen.row["bytes"] > seen.row["acked_bytes"]:
        return {"kind": "endless"}, "data was still being sent as the capture ended"
    return {"kind": "file", "size": f"{max(size, 1)}B"}, "one message, all of it written at once"


def _written(seen: Seen) -> dict[str, Any]:
    """Messages at a steady rate. Each begins with a packet that no ACK released, a moment after the packet
    before it.
    """
    size = int(seen.row["bytes"])
    took = max(seen.row["last_data"] - seen.row["first_data"], 1e-3)
    apart = median(_apart(seen)) if len(_apart(seen)) >= MESSAGES else 0.0
    message = round(size / took * apart) if apart else seen.payload
    # The last message leaves as the time that is counted ends.
    rate = 8 * max(size - message, size / 2) / took
    return {"kind": "constant-rate", "rate": f"{rate:.0f}bps", "message": f"{max(message, 1)}B"}


def _apart(seen: Seen) -> list[float]:
    """How long after the message before it each message began, s."""
    starts = [
        r["time"]
        for before, r in pairwise(seen.sends)
        if r["release"] not in ("ack", "window") and r["time"] - before["time"] > TOGETHER
    ]
    return [b - a for a, b in pairwise(starts)]


def _regular(seen: Seen) -> bool:
    """The application was waited for, and wrote as often all the time."""
    if seen.share_of((*BY_APPLICATION, "delayed-ack")) < MOSTLY:
        return False
    apart = _apart(seen)
    middle = median(apart) if len(apart) >= MESSAGES else 0.0
    return bool(middle) and sum(abs(a - middle) <= IDLE * middle for a in apart) >= LIMITED * len(apart)


def _even(seen: Seen) -> bool:
    """In most round trips as much was sent as in the middle one."""
    sent = [r["sent_bytes"] / max(r["end"] - r["start"], 1e-6) for r in seen.rounds if r["sent_bytes"]]
    middle = median(sent) if sent else 0.0
    return bool(sent) and sum(abs(s - middle) <= IDLE * middle for s in sent) >= MOSTLY * len(sent)


def _turns(seen: Seen, turns: int) -> tuple[dict[str, Any], str]:
    answer = seen.answer
    asked, answered = answer["client_bytes"] / turns, answer["server_bytes"] / turns
    think = _think(seen)
    workload: dict[str, Any] = {
        "kind": "request-response",
        "request": f"{max(1, round(asked))}B",
        "response": f"{max(1, round(answered))}B",
        "requests": turns,
    }
    if think is not None:
        workload["think"] = f"{1e3 * think:.3f}ms"
    return workload, f"{turns:,} turns between the hosts"


def _think(seen: Seen) -> float | None:
    """How long the client takes from the end of an answer to its next request, s, in the middle; None
    where it asks at once.
    """
    own_is_client = seen.flow.sender == seen.answer["client"]
    own = [(r["packet"], r["time"], own_is_client) for r in seen.sends]
    others = [(r["packet"], r["time"], not own_is_client) for r in seen.others_sends]
    pauses = [b[1] - a[1] for a, b in pairwise(sorted(own + others)) if b[2] and not a[2]]
    if not pauses:
        return None
    # Away from the client the answer's way there and the request's way back are in it.
    away = own_is_client == seen.arriving
    sending = seen.serialisation or 0.0
    think = median(pauses) - (((seen.base or 0.0) + sending) if away else 0.0)
    return think if think > max(THINKS * (seen.base or 0.0), AT_ONCE, sending if away else 0.0) else None


def _window(seen: Seen) -> Value:
    largest, flight = seen.row["window_max_bytes"], seen.row["flight_max_bytes"]
    if not largest or not flight:
        return unknown("bytes", "the capture does not show the receiver's window")
    if seen.share_of(BY_WINDOW) < LITTLE and flight < LIMITED * largest:
        return Value(largest, largest, largest, "bytes", "the largest that was offered; it did not limit")
    # A window rounded to its scale is once larger than the buffer, as the handshake has none.
    usual = median(seen.windows) if seen.windows else largest
    least = seen.row["window_min_bytes"]
    return Value(
        usual, min(least, usual), largest, "bytes", "offered as a rule; the data in flight filled it"
    )


def _own_window(seen: Seen) -> Value:
    largest = seen.back.row["window_max_bytes"] if seen.back is not None else None
    if not largest:
        return unknown("bytes", "the capture does not show the window that the sender's host offers")
    return Value(largest, largest, largest, "bytes", "the largest that the sender's host offered")


def _buffer(seen: Seen) -> Value:
    flight = seen.row["flight_max_bytes"]
    if not flight:
        return unknown("bytes", "the capture does not show what was in flight")
    if seen.share_of(("send-window",)) >= LITTLE:
        return Value(flight, LIMITED * flight, flight, "bytes", "in flight as the sender's buffer limited it")
    return bound(flight, "bytes", "the most in flight")
