"""AIMD (RFC 5681), the twin of the built-in `aimd`: one SMSS up in each round trip, half down.

It gives the same packets at the same times, and tests/python/test_own_rules.py holds it to that. In Rust:
crates/tcp/src/congestion/aimd.rs.
"""

from __future__ import annotations

from rexmit.rules import AckFacts, LossFacts, Window, WindowRule

COUNTS = ("bytes", "segments", "acks", "per-ack")


class Aimd(WindowRule):
    """beta: what a loss leaves of the window.  count: how a round trip's worth of ACKs is counted."""

    def __init__(self, beta: float = 0.5, count: str = "bytes") -> None:
        if not 0 < beta < 1:
            raise ValueError(f"beta = {beta}: above 0 and below 1")
        if count not in COUNTS:
            raise ValueError(f"count = {count!r}: one of {', '.join(COUNTS)}")
        self.beta = beta
        self.count = count
        self.counts_segments = count == "segments"
        # Bytes, segments or ACKs towards the next SMSS.
        self.counted = 0

    def in_slow_start(self, w: Window) -> bool:
        # Linux before 4.3 had slow start where they are equal.
        return w.cwnd <= w.ssthresh if self.count == "acks" else w.cwnd < w.ssthresh

    def avoid(self, w: Window, a: AckFacts, acked: int) -> None:
        if self.count == "bytes":
            # RFC 3465, section 2.1: a window's worth of bytes earns one SMSS, however few ACKs carried them.
            self.counted += acked
            if self.counted >= w.cwnd:
                self.counted -= w.cwnd
                w.cwnd += w.smss
        elif self.count == "segments":
            self.counted += -(-acked // w.smss)
            grown, self.counted = divmod(self.counted, max(1, w.cwnd // w.smss))
            w.cwnd += grown * w.smss
        elif self.count == "acks":
            # Linux before 2015: cwnd ACKs are counted, and the next one adds a segment.
            if self.counted >= w.cwnd // w.smss:
                self.counted = 0
                w.cwnd += w.smss
            else:
                self.counted += 1
        else:
            # RFC 5681 (3), in integers: at least one byte, so that large windows still grow.
            w.cwnd += max(1, w.smss * w.smss // w.cwnd)

    def ssthresh(self, w: Window, loss: LossFacts) -> int:
        self.counted = 0
        if self.count in ("segments", "acks") and self.beta == 0.5:
            # Linux: half of cwnd, in whole segments.
            return max(2, w.cwnd // w.smss // 2) * w.smss
        # RFC 5681 (4): a part of FlightSize, two segments at least.
        return max(int(loss.flight * self.beta), 2 * w.smss)
