"""Tables of a flow that a page reads when it needs them: what came again, and the sender's state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit.report.containers import Column, pack
from rexmit.screen.words import closed_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rexmit.frame import Frame


def _numbers(words: Sequence[str | None], known: Sequence[str]) -> Any:
    """Words by their place among those that there are."""
    place = {word: k for k, word in enumerate(known)}
    return np.array([place[word or ""] for word in words], np.uint8)


def retransmissions(frame: Frame) -> bytes:
    """What packets do not say of those that came again."""
    sets = closed_sets()
    words = {
        "trigger": list(sets["trigger"]),
        "evidence": list(sets["evidence"]),
        "proof": ["", *sets["needless_proof"]],
    }
    names = {"trigger": "trigger", "evidence": "evidence", "proof": "needless_proof"}
    columns = [Column("packet", frame["packet"].astype(np.uint32), delta=True)]
    for name, known in words.items():
        columns.append(Column(name, _numbers(frame.text(names[name]), known)))
    for name in ("backoff", "copy"):
        columns.append(Column(name, np.minimum(frame[name], 255).astype(np.uint8)))
    return pack("table", columns, words=words)


def state(frame: Frame) -> bytes:
    """A sender's own word: cwnd, ssthresh, phase and timer at every change."""
    phases = sorted({word or "" for word in frame.text("phase")})

    def micro(name: str) -> Any:
        values = frame[name]
        return np.where(np.isnan(values), 0, np.round(values * 1e6)).astype(np.uint32)

    columns = [
        Column("time_ns", np.round(frame["time"] * 1e9), delta=True),
        *(Column(name, frame[f"{name}_bytes"].astype(np.float64)) for name in ("cwnd", "ssthresh")),
        Column("phase", _numbers(frame.text("phase"), phases)),
        *(Column(f"{name}_us", micro(f"{name}_s")) for name in ("srtt", "rto")),
    ]
    return pack("table", columns, words={"phase": phases})
