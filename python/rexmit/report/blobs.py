"""Tables of a flow that a page reads when it needs them: what came again, and the sender's state."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from rexmit.report.containers import Column, pack
from rexmit.screen.words import closed_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rexmit.frame import Frame


def _numbers(words: Sequence[str | None], known: Sequence[str]) -> bytes:
    """Words by their place among those that there are."""
    place = {word: k for k, word in enumerate(known)}
    return bytes([place[word or ""] for word in words])


def retransmissions(frame: Frame) -> bytes:
    """What packets do not say of those that came again."""
    sets = closed_sets()
    words = {
        "trigger": list(sets["trigger"]),
        "evidence": list(sets["evidence"]),
        "proof": ["", *sets["needless_proof"]],
    }
    names = {"trigger": "trigger", "evidence": "evidence", "proof": "needless_proof"}
    columns = [Column("packet", array("I", frame.plain("packet")), delta=True)]
    for name, known in words.items():
        columns.append(Column(name, _numbers(frame.text(names[name]), known)))
    for name in ("backoff", "copy"):
        columns.append(Column(name, bytes([min(value, 255) for value in frame.plain(name)])))
    return pack("table", columns, words=words)


def state(frame: Frame) -> bytes:
    """A sender's own word: cwnd, ssthresh, phase and timer at every change."""
    phases = sorted({word or "" for word in frame.text("phase")})

    def micro(name: str) -> array[int]:
        return array("I", [0 if value is None else round(value * 1e6) for value in frame.raw(name)])

    columns = [
        Column("time_ns", array("d", [round(time * 1e9) for time in frame.plain("time")]), delta=True),
        *(Column(name, array("d", frame.plain(f"{name}_bytes"))) for name in ("cwnd", "ssthresh")),
        Column("phase", _numbers(frame.text("phase"), phases)),
        *(Column(f"{name}_us", micro(f"{name}_s")) for name in ("srtt", "rto")),
    ]
    return pack("table", columns, words={"phase": phases})
