"""NewReno's recovery (RFC 6582), the twin of the built-in `newreno`: duplicates inflate cwnd, partial ACKs
deflate it.

It gives the same packets at the same times, and tests/python/test_own_rules.py holds it to that. In Rust:
crates/tcp/src/recovery/inflation.rs.
"""

from __future__ import annotations

from rexmit.rules import Recovery, RepairFacts, Window


class NewReno(Recovery):
    """impatient: the timer is restarted at the first partial ACK only (RFC 6582, section 4)."""

    def __init__(self, impatient: bool = True) -> None:
        self.impatient = impatient

    def enter(self, w: Window, dupthresh: int, f: RepairFacts) -> None:
        # RFC 5681, section 3.2 (3): the duplicates that led here have left the network.
        w.cwnd = w.ssthresh + dupthresh * w.smss

    def on_ack(self, w: Window, f: RepairFacts) -> None:
        if f.acked > 0:
            # RFC 6582, section 3.2 (5), partial acknowledgment.
            w.cwnd = max(0, w.cwnd - f.acked) + (w.smss if f.acked >= w.smss else 0)
        elif f.duplicate:
            # RFC 5681, section 3.2 (4).
            w.cwnd += w.smss

    def exit(self, w: Window, f: RepairFacts) -> None:
        # RFC 6582, section 3.2 (5), full acknowledgment, option (1): no burst when little is in flight.
        w.cwnd = min(w.ssthresh, max(f.flight, w.smss) + w.smss)

    def partial_ack_restarts_timer(self, first: bool) -> bool:
        return first or not self.impatient
